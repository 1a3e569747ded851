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
from testspace import TestSpace  # noqa: E402

RECIPES = testspace.TESTS.parent / "docs" / "recipes"


def lines_of(name, start):
    """Those of a recipe that call dsbuild."""
    text = (RECIPES / name).read_text().replace("\\\n", " ")
    lines = [match.group(1) for match in re.finditer(rf"^{start}(.*)$", text, re.M)]
    return [line for line in lines if re.search(r"(^|[|&] ?)dsbuild ", line) and "toolkits get" not in line]


class RecipesTest(unittest.TestCase):
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


if __name__ == "__main__":
    testspace.main()
