#!/usr/bin/env python3
"""The recipes of docs/recipes for a cache that machines share: each line that calls dsbuild is run, as the second machine's as
the first's. What installs dsbuild is that of the other recipes (tests/packaging/recipes_test.py)."""

import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from bad_server import Server  # noqa: E402
from entries import Key  # noqa: E402
from slurm import Slurm  # noqa: E402
from testspace import TestSpace  # noqa: E402

RECIPES = testspace.TESTS.parent / "docs" / "recipes"


def lines_of(name, start):
    """Those of a recipe that call dsbuild."""
    text = (RECIPES / name).read_text().replace("\\\n", " ")
    lines = [match.group(1) for match in re.finditer(rf"^{start}(.*)$", text, re.M)]
    return [line for line in lines if re.search(r"(^|[|&] ?)dsbuild ", line) and "toolkits get" not in line]


class Recipes(unittest.TestCase):
    def machine(self, name):
        """With what a recipe's checkout and image have: a project, a toolkit, dsbuild on PATH."""
        space = TestSpace(name, steps=True, store=True)
        (space.root / "bin").mkdir()
        (space.root / "bin" / "dsbuild").symlink_to(space.program)
        (space.root / "dsbuild.yaml").write_text(f"pack: {space.pack.folder}\ncuda_home: {space.toolkit.home}\n")
        space.environment.update(PATH=f"{space.root}/bin:{space.environment['PATH']}", OPS="alpha,host", TORCH_CUDA_ARCH_LIST="8.0;9.0+PTX")
        return space

    def run_lines(self, space, lines, **variables):
        self.assertGreater(len(lines), 0)
        out = ""
        for line in lines:
            run = subprocess.run(["sh", "-e", "-c", line], cwd=space.root, env={**space.environment, **variables},
                                 capture_output=True, text=True, timeout=testspace.TIME_LIMIT, check=False)
            self.assertEqual(run.returncode, 0, (line, run.stdout, run.stderr))
            out += run.stdout
        return out


class RecipesTest(Recipes):
    def test_github_archive(self):
        lines = lines_of("github_archive.yml", r" +- run: ")
        first, second = self.machine("first"), self.machine("second")
        self.run_lines(first, lines)
        self.assertNotEqual(first.compiled(), [])
        (second.root / "dsbuild-cache.tar").write_bytes((first.root / "dsbuild-cache.tar").read_bytes())
        self.assertIn("import: ", self.run_lines(second, lines))
        self.assertEqual(second.compiled(), [])
        third = self.machine("third")
        (third.root / "dsbuild-cache.tar").write_bytes(b"damaged")
        self.run_lines(third, lines)
        self.assertNotEqual(third.compiled(), [])

    def test_gitlab_shared(self):
        lines = lines_of("gitlab_shared.yml", r" +- ")
        server, keys = Server(self), TestSpace("keys").root
        key, credentials = Key(keys, "ci"), keys / "credentials"
        credentials.write_text("Bearer 5ecret\n")
        variables = {"DSBUILD_REMOTE": server.url, "DSBUILD_REMOTE_TRUST": str(key.public)}
        protected, other = self.machine("protected"), self.machine("other")
        self.run_lines(protected, lines, DSBUILD_REMOTE_CREDENTIALS=str(credentials), DSBUILD_REMOTE_SIGN=str(key.private), **variables)
        files = dict(server.files)
        self.run_lines(other, lines, **variables)
        self.assertEqual(other.compiled(), [])
        self.assertEqual(server.files, files)

    def test_an_image(self):
        lines = lines_of("Dockerfile.cache", "RUN ")
        server, keys = Server(self), TestSpace("keys").root
        key = Key(keys, "ci")
        first, image = self.machine("first"), self.machine("image")
        words = ["dsbuild", "--ops", "all", "--remote", server.url, "--remote-upload", "always", "--remote-sign", str(key.private)]
        self.run_lines(first, [" ".join(words)])
        variables = {"ARCH": "8.0;9.0+PTX", "DSBUILD_REMOTE_TRUST": str(key.public)}
        self.run_lines(image, lines, REMOTE=server.url, **variables)
        self.run_lines(image, ['dsbuild --ops "$OPS" --arch "$ARCH"'], **variables)  # a pod, without a network
        self.assertEqual(image.compiled(), [])
        with self.assertRaises(AssertionError):  # the image is not built
            self.run_lines(self.machine("early"), lines, REMOTE=server.url + "/empty", **variables)

    def test_slurm(self):
        script = f"sh {RECIPES / 'slurm.sh'}"
        share = TestSpace("share").root / "cache"
        first, second = self.machine("first"), self.machine("second")
        for node in (first, second):
            self.run_lines(node, [script], CACHE=str(share), SLURM_TMPDIR=str(node.root / "disk"))
        self.assertNotEqual(first.compiled(), [])
        self.assertEqual(second.compiled(), [])
        with self.assertRaises(AssertionError):
            self.run_lines(first, [script])  # without the folder's name


class ShardsTest(Recipes):
    """A cold build on several machines. Each has its own disk; the bundle is that of one machine."""

    def setUp(self):
        self.server = Server(self)
        self.credentials = TestSpace("keys").root / "credentials"
        self.credentials.write_text("Bearer 5ecret\n")
        self.variables = {"DSBUILD_REMOTE": self.server.url, "DSBUILD_REMOTE_CREDENTIALS": str(self.credentials)}

    def check_bundle(self, folder):
        alone = self.machine("alone")
        self.run_lines(alone, ['dsbuild --ops "$OPS"'])
        self.assertEqual(testspace.bundle_files(folder), testspace.bundle_files(alone.root / "dsbuild-out"))

    def run_shards(self, line, number, variables_of):
        compiled = []
        for i in range(number):
            shard = self.machine(f"shard {i}")
            self.run_lines(shard, [line], **self.variables, **variables_of(i))
            compiled += shard.toolkit.sliced()
        return [each for each in compiled if each[0] != "pack/probe.cu"]

    def run_merge(self, lines):
        merge = self.machine("merge")
        self.run_lines(merge, lines, **self.variables)
        self.assertEqual(merge.compiled(), [])
        self.check_bundle(merge.root / "dsbuild-out")

    def check_shards(self, line, merge, number, variables_of):
        self.assertNotEqual(self.run_shards(line, number, variables_of), [])
        self.run_merge(merge)

    def test_github_matrix(self):
        shard, *merge = lines_of("github_shards.yml", r" +- run: ")
        matrix = re.search(r"matrix: {shard: \[(.*)\]}", (RECIPES / "github_shards.yml").read_text()).group(1).split(", ")
        self.check_shards(shard, merge, len(matrix), lambda i: {"SHARD": matrix[i]})

    def test_gitlab_parallel(self):
        shard, *merge = lines_of("gitlab_shards.yml", r" +- ")
        self.check_shards(shard, merge, 4, lambda i: {"CI_NODE_INDEX": str(i + 1), "CI_NODE_TOTAL": "4"})

    def test_kubernetes_index(self):
        """Only the variable of an indexed job: there is no cluster."""
        (line,) = lines_of("kubernetes_shards.yml", r" +- ")
        self.check_shards(line, ['dsbuild --ops "$OPS" --shard merge'], 8, lambda i: {"JOB_COMPLETION_INDEX": str(i)})

    def slurm(self):
        """(a cluster, a machine with the recipe, what the recipe says to type)"""
        slurm, space = Slurm(self, TestSpace("slurm").root / "slurm", cpus=128), self.machine("cluster")
        script = (RECIPES / "slurm_shards.sh").read_text()
        (space.root / "slurm_shards.sh").write_text(script)
        lines = "\n".join(re.findall(r"^#   (.*)$", script, re.M)).replace("/cluster/dsbuild", f"'{space.root}/share'")
        self.assertEqual(lines.count("sbatch"), 2)
        return slurm, space, lines

    def outputs_of_tasks(self, space, number):
        logs = [path.read_text() for path in space.root.glob("slurm-*.out")]
        self.assertEqual(len(logs), number + 1)
        return "".join(logs)

    def test_slurm_array(self):
        slurm, space, lines = self.slurm()
        slurm.run_to_end(lines, space.root, {**space.environment, "SLURM_TMPDIR": f"{space.root}/disk"})
        logs = self.outputs_of_tasks(space, 8)
        self.assertEqual(len(set(re.findall(r"^shard (\d)/8 of plan \w+: \d+ compile edges? in ", logs, re.M))), 8, logs)
        self.assertRegex(logs, r"merge of plan \w+: of (\d+) compile edges .* 0 were compiled here")
        self.check_bundle(space.root / "dsbuild-out")
        merge = self.machine("other")  # by the share alone
        run = merge.run("--ops", "alpha,host", "--remote", f"file://{space.root}/share", "--shard", "merge")
        self.assertRegex(run.out, r"of (\d+) compile edges \1 came from the shared cache", run)

    def test_slurm_array_without_a_task(self):
        """It costs its own share."""
        slurm, space, lines = self.slurm()
        lines = lines.replace("--array=1-8", "--array=1,3-8").replace("sbatch --dep", "SLURM_TMPDIR=$PWD/other sbatch --dep")
        script = space.root / "slurm_shards.sh"
        script.write_text(script.read_text().replace("$SLURM_ARRAY_TASK_COUNT", "8"))
        slurm.run_to_end(lines, space.root, {**space.environment, "SLURM_TMPDIR": f"{space.root}/disk"})
        logs = self.outputs_of_tasks(space, 7)
        made = sum(map(int, re.findall(r"^shard \d/8 of plan \w+: (\d+) compile edges? in ", logs, re.M)))
        edges, shared, compiled = map(int, re.search(r"merge of plan \w+: of (\d+) compile edges (\d+) came .* (\d+) were", logs).groups())
        self.assertEqual((shared, compiled), (made, edges - made), logs)
        self.assertGreater(compiled, 0)
        self.check_bundle(space.root / "dsbuild-out")


if __name__ == "__main__":
    testspace.main(each_commit=3)
