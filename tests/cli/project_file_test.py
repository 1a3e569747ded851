#!/usr/bin/env python3
"""dsbuild.yaml: found from the folders of a project, below all else that says something, paths relative to it."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace  # noqa: E402
import testspace  # noqa: E402


class ProjectTest(CliTest):
    def setUp(self):
        self.space = TestSpace()
        self.project = self.space.root / "project"
        self.below = self.project / "src" / "deep"
        self.below.mkdir(parents=True)
        self.file = self.project / "dsbuild.yaml"
        self.write()

    def write(self, **entries):
        entries = {"pack": "../pack", "cuda_home": "../toolkit", "ops": "alpha", "arch": "[8.0, 9.0+PTX]", **entries}
        self.file.write_text("".join(f"{key}: {text}\n" for key, text in entries.items()))

    def run_below(self, *words, folder=None, **options):
        return self.space.run(*map(str, words), cwd=folder or self.below, **options)

    def plan(self, *words, **options):
        run = self.run_below("plan", "--json", *words, **options)
        self.assertEqual(run.code, 0, run)
        return json.loads(run.out)

    def rows(self, *words, **options):
        """Of plan -v: {setting: (value, origin)}."""
        run = self.run_below("plan", "-v", *words, **options)
        self.assertEqual(run.code, 0, run)
        rows = {}
        for line in run.out.split("\n\n")[-1].splitlines():
            cells = [cell for cell in line.split("  ") if cell]
            rows[cells[0].strip()] = (cells[1].strip() if len(cells) > 2 else "", cells[-1].strip())
        return rows

    def built(self, plan):
        return [op["name"] for op in plan["ops"] if op["status"] == "build"]


class OrderTest(ProjectTest):
    def test_it_is_found_above_and_in_the_folder_itself(self):
        for folder in (self.below, self.below.parent, self.project):
            plan = self.plan(folder=folder)
            self.assertEqual((self.built(plan), plan["requested"]), (["alpha"], ["8.0", "9.0+PTX"]), folder)

    def test_the_nearest_is_read_alone(self):
        (self.below / "dsbuild.yaml").write_text("pack: ../../../pack\nops: beta\narch: 8.0\ncuda_home: ../../../toolkit\n")
        plan = self.plan()
        self.assertEqual((self.built(plan), plan["requested"]), (["beta"], ["8.0"]))

    def test_the_command_line_the_environment_and_config_are_above_it(self):
        (self.below / "own.yaml").write_text("arch: 8.6\njobs: 3\n")
        self.write(jobs="1", memory="3G")
        arch = lambda *words, **env: self.rows(*words, env=env)["arch"]  # noqa: E731
        self.assertEqual(arch(), ("8.0;9.0+PTX", "../../dsbuild.yaml:4:1"))
        self.assertEqual(arch("--config", "own.yaml"), ("8.6", "own.yaml:1:1"))
        self.assertEqual(arch("--config", "own.yaml", TORCH_CUDA_ARCH_LIST="8.9"), ("8.9", "TORCH_CUDA_ARCH_LIST"))
        self.assertEqual(arch("--config", "own.yaml", "--arch", "9.0", TORCH_CUDA_ARCH_LIST="8.9"), ("9.0", "--arch"))
        rows = self.rows("--config", "own.yaml")
        self.assertEqual((rows["jobs"], rows["memory"]), (("3", "own.yaml:2:1"), ("3.0 GiB", "../../dsbuild.yaml:6:1")))

    def test_it_can_be_left_unread(self):
        run = self.run_below("plan", "--no-config")
        self.assertEqual(run.code, 2, run)
        self.assertIn("error[nothing_selected]", run.err)

    def test_it_ends_at_the_root_of_a_repository(self):
        (self.below.parent / ".git").mkdir()
        self.assertIn("error[nothing_selected]", self.run_below("plan").err)
        self.assertEqual(self.built(self.plan(folder=self.project)), ["alpha"])
        (self.project / ".git").mkdir()
        self.assertEqual(self.built(self.plan(folder=self.project)), ["alpha"])

    def test_that_of_another_user_is_not_read(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files away")
        os.chown(self.file, 12345, 12345)
        run = self.run_below("plan")
        self.assertEqual(run.code, 2, run)
        # An error comes before warnings are shown.
        words = ("plan", "--pack", self.space.pack.folder, "--ops", "host")
        self.expect("foreign_config", self.space, self.run_below(*words), 0, words)
        os.chown(self.below, 12345, 12345)  # then it is that user's folder that we work in
        self.assertEqual(self.built(self.plan()), ["alpha"])

    def test_load_does_not_read_it(self):
        run = self.run_below("load", "alpha", "--gpu", "8.0")
        self.assertIn("no op 'alpha' in pack 'native'", run.err)


class PathTest(ProjectTest):
    def test_its_folders_are_relative_to_it(self):
        self.write(out="bundles/mine", build_dir="work")
        run = self.run_below()
        self.assertEqual(run.code, 0, run)
        self.assertIn("../../bundles/mine", run.out)
        self.assertTrue((self.project / "bundles" / "mine" / "alpha.so").is_file())
        self.assertTrue((self.project / "work" / "build.ninja").is_file())

    def test_what_it_does_not_name_lies_beside_it(self):
        self.assertEqual(self.run_below().code, 0)
        self.assertEqual(sorted(os.listdir(self.project)), [".dsbuild", "dsbuild-out", "dsbuild.yaml", "src"])
        again = self.run_below(folder=self.project)
        self.assertEqual((again.code, again.edges_run()), (0, 0), again)

    def test_a_pack_by_its_name_and_by_its_folder(self):
        self.space.pack.folder.rename(self.project / "mypack")
        for pack in ("mypack", "./mypack", "mypack/", str(self.project / "mypack")):
            self.write(pack=pack)
            self.assertEqual(self.built(self.plan()), ["alpha"], pack)

    def test_a_workload(self):
        (self.project / "workload.yaml").write_text(f'packs:\n  {json.dumps(str(self.space.pack.folder))}:\n    beta: ["8.0"]\n')
        self.write(ops='"@workload.yaml"')
        self.assertEqual(self.built(self.plan()), ["beta"])

    def test_what_is_relative_on_the_command_line_stays_so(self):
        rows = self.rows("--out", "mine", "--cache-dir", "store")
        self.assertEqual((rows["out"], rows["cache_dir"]), (("mine", "--out"), ("store", "--cache-dir")))


class ErrorTest(ProjectTest):
    def test_a_key_that_there_is_not(self):
        self.write(arhc="8.0")
        run = self.run_below("plan")
        self.assertEqual(run.code, 2, run)
        self.assertIn("error[bad_config]: ../../dsbuild.yaml:5:1: unknown key 'arhc' (did you mean 'arch'?)\n", run.err)

    def test_a_value_of_the_wrong_kind(self):
        self.write(jobs="many")
        self.assertIn("error[bad_number]: ../../dsbuild.yaml:5:1: 'many' is not", self.run_below("plan").err)

    def test_text_that_is_no_yaml(self):
        self.file.write_text("arch: [8.0\njobs: 2\n")
        self.assertRegex(self.run_below("plan").err, r"error\[bad_yaml\]: \.\./\.\./dsbuild\.yaml:2:\d+: ")


class CommandTest(ProjectTest):
    """All that read settings read it."""

    def test_from_the_first_build_to_clean(self):
        self.assertEqual(self.run_below().code, 0)
        explained = self.run_below("explain", "alpha", "8.0")
        self.assertEqual(explained.code, 0, explained)
        self.assertIn("it is in ../../dsbuild-out", explained.out)
        self.assertEqual(self.run_below("verify").code, 0)
        report = self.run_below("report")
        self.assertEqual(report.code, 0, report)
        self.assertRegex(report.out, r"(?m)^alpha \.* \[(YES|INSTALLED|yes)")
        words = self.space.run("complete", "dsbuild --ops al", cwd=self.below).out
        self.assertIn("alpha", words)
        self.assertEqual(self.run_below("clean", "--bundle").code, 0)
        self.assertEqual(sorted(os.listdir(self.project)), ["dsbuild.yaml", "src"])

    def test_a_build_that_is_remembered_sees_an_edit_and_a_nearer_file(self):
        self.assertEqual(self.run_below().code, 0)
        self.assertEqual(self.run_below().edges_run(), 0)
        self.write(ops="[alpha, host]")
        self.assertIn("2 ops", self.run_below().out)
        (self.below / "dsbuild.yaml").write_text("pack: ../../../pack\nops: host\nout: ../../dsbuild-out\nbuild_dir: ../../.dsbuild\n")
        self.assertIn("1 op,", self.run_below().out)


if __name__ == "__main__":
    testspace.main()
