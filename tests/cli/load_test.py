#!/usr/bin/env python3
"""load: a library that runs here. The GPUs are those of a libcuda.so.1 that is made up; what fits is in tests/unit/load."""

import json
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from fake_driver import make_fake_driver  # noqa: E402

class LoadTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.space.environment.update(make_fake_driver(cls.space.root / "driver"))
        cls.log = pathlib.Path(cls.space.environment["FAKE_LOG"])

    def load(self, *words, gpus="90", **options):
        env = {"FAKE_GPUS": gpus, "CUDA_VISIBLE_DEVICES": gpus, **options.pop("env", {})}
        return self.run_in(self.space, "load", *words, without=("--arch", "--ops", "--out", "--build-dir"), env=env, **options)

    def test_the_path_alone_is_on_stdout_and_a_second_time_nothing_is_compiled(self):
        first = self.load("gamma")
        self.assertEqual(first.code, 0, first)
        self.assertTrue(os.path.samefile(first.out.rstrip("\n"), pathlib.Path(first.out.rstrip("\n"))))
        self.assertEqual(first.out.count("\n"), 1)
        again = json.loads(self.load("gamma", "--json").out)
        self.assertEqual(again["edges_run"], 0)
        self.assertEqual(again["path"] + "\n", first.out)
        self.assertEqual(again["archs"], ["9.0+PTX"])
        self.assertEqual(again["coverage"], [{"gpu": "9.0", "runs": "native", "by": "sm_90", "module": 0}])

    def test_what_is_built_is_there_where_building_is_off(self):
        built = self.load("gamma", gpus="89")
        self.assertEqual(built.code, 0, built)
        self.assertEqual(self.load("gamma", gpus="89", env={"DSBUILD_JIT": "0"}).out, built.out)

    def test_each_of_several_gpus_is_served(self):
        loaded = json.loads(self.load("gamma", "--json", gpus="80 90").out)
        self.assertEqual(loaded["archs"], ["8.0", "9.0+PTX"])
        self.assertEqual([one["by"] for one in loaded["coverage"]], ["sm_80", "sm_90"])

    def test_the_driver_is_asked_once_for_each_choice_of_gpus(self):
        self.log.unlink(missing_ok=True)
        for gpus in ("120", "120", "100 120", "120"):
            self.assertEqual(self.load("gamma", gpus=gpus).code, 0)
        self.assertEqual(self.log.read_text(), "cuInit\ncuInit\n")

    def test_a_bundle_comes_first_where_it_fits(self):
        bundle = self.space.root / "bundle"
        self.space.out = bundle
        self.assertEqual(self.space.build("--arch", "8.0", "--ops", "gamma").code, 0)
        env = {"DSBUILD_BUNDLE": str(bundle)}
        self.assertEqual(self.load("gamma", gpus="86", env=env).out, f"{bundle}/gamma.so\n")
        other = self.load("gamma", gpus="90", env=env)
        self.assertNotIn(str(bundle), other.out)
        self.assertIn(f"dsbuild: DSBUILD_BUNDLE {bundle}: gamma/one.cu has no image for 9.0 (it has 8.0); it is built for this "
                      "machine\n", other.err)

    def test_a_bundle_of_another_pack_is_passed_over(self):
        bundle = self.space.root / "bundle_of_another_pack"
        shutil.copytree(self.space.out, bundle)
        manifest = json.loads((bundle / "manifest.json").read_text())
        (bundle / "manifest.json").write_text(json.dumps({**manifest, "pack": "other"}))
        run = self.load("gamma", gpus="80", env={"DSBUILD_BUNDLE": str(bundle)})
        self.assertIn(f"dsbuild: DSBUILD_BUNDLE {bundle}: it is of the pack other; it is built for this machine\n", run.err)

    def test_installed_bundles_come_behind_the_named_one(self):
        self.space.out = self.space.root / "bundle_80"
        self.assertEqual(self.space.build("--arch", "8.0", "--ops", "gamma").code, 0)
        first, second = self.space.out, self.space.root / "bundle_80_again"
        shutil.copytree(first, second)
        words = ["--installed", f"{self.space.root / 'x'}:{second}", "--json"]
        (self.space.root / "x").mkdir()
        shutil.copytree(first, self.space.root / "x", dirs_exist_ok=True)
        (self.space.root / "x" / "gamma.so").write_text("damaged")
        loaded = json.loads(self.load("gamma", *words, gpus="86").out)
        self.assertEqual((loaded["path"], loaded["from"]), (f"{second}/gamma.so", "--installed"))
        self.assertEqual(loaded["passed_over"], [f"--installed {self.space.root / 'x'}: gamma.so is not what its manifest says"])
        named = json.loads(self.load("gamma", *words, gpus="86", env={"DSBUILD_BUNDLE": str(first)}).out)
        self.assertEqual(named["path"], f"{first}/gamma.so")
        built = json.loads(self.load("gamma", *words, "--build", gpus="86").out)
        self.assertEqual((built["from"], built["passed_over"]), ("built", []))

    def test_compiles_are_counted_and_results_of_the_cache_are_none(self):
        space = TestSpace(store=True)
        words = ("load", "beta", "--gpu", "9.0", "--json")
        without = ("--arch", "--ops", "--out", "--build-dir")
        first = json.loads(self.run_in(space, *words, without=without).out)
        self.assertGreater(first["compiles"], 0)
        shutil.rmtree(pathlib.Path(first["path"]).parents[1])
        again = json.loads(self.run_in(space, *words, without=without).out)
        self.assertEqual((again["compiles"], again["edges_run"]), (0, first["edges_run"]))

    def test_a_gpu_that_is_newer_than_this_program_runs_ptx(self):
        self.space.out = self.space.root / "bundle_ptx"
        self.assertEqual(self.space.build("--arch", "9.0+PTX", "--ops", "gamma").code, 0)
        loaded = json.loads(self.load("gamma", "--gpu", "13.7", "--json", env={"DSBUILD_BUNDLE": str(self.space.out)}).out)
        self.assertEqual(loaded["coverage"], [{"gpu": "13.7", "runs": "ptx", "by": "compute_90", "module": 0}])

    def test_refusals(self):
        without = ("--arch", "--ops", "--out", "--build-dir")
        for name, words, env in (("load_no_gpu", ["load", "gamma"], {}),
                                 ("load_jit_off", ["load", "alpha", "--gpu", "10.3"], {"DSBUILD_JIT": "0"}),
                                 ("load_no_fit", ["load", "gamma", "--gpu", "8.0"], {"TORCH_CUDA_ARCH_LIST": "9.0"}),
                                 ("load_nothing", ["load"], {})):
            with self.subTest(name):
                run = self.run_in(self.space, *words, without=without, env=env)
                self.expect(name, self.space, run, 2 if name == "load_nothing" else 3, words, env)


class UnchangedTest(CliTest):
    """What was built is there again where nothing that counts has changed, and never where something has."""

    def setUp(self):
        self.space = TestSpace(store=True)

    def compiles(self, env=None, home=None):
        run = self.run_in(self.space, "load", "alpha", "--gpu", "9.0", "--json", "--cuda-home", home or self.space.toolkit.home,
                          without=("--arch", "--ops", "--out", "--build-dir"), env=env)
        self.assertEqual(run.code, 0, run)
        loaded = json.loads(run.out)
        return loaded["compiles"], pathlib.Path(loaded["path"]).read_bytes()

    def test_touched_and_installed_again(self):
        first, library = self.compiles()
        self.assertGreater(first, 0)
        for file in self.space.pack.folder.rglob("*"):
            os.utime(file)
        self.assertEqual(self.compiles(), (0, library))
        again = self.space.root / "again"
        shutil.copytree(self.space.pack.folder, again)
        shutil.rmtree(self.space.pack.folder)
        again.rename(self.space.pack.folder)
        self.assertEqual(self.compiles(), (0, library))

    def test_a_header_that_is_edited_and_put_back(self):
        header = self.space.pack.source("alpha/shared.h")
        text = header.read_text()
        _, library = self.compiles()
        header.write_text(text + "static const int k_more = 1;\n// export: alpha_more\n")
        edited, other = self.compiles()
        self.assertGreater(edited, 0)
        header.write_text(text)
        self.assertEqual(self.compiles(), (0, library))

    def test_a_toolkit_through_a_link(self):
        _, library = self.compiles()
        link = self.space.root / "cuda"
        link.symlink_to(self.space.toolkit.home)
        self.assertEqual(self.compiles(home=link), (0, library))

    def test_a_cache_that_is_copied(self):
        _, library = self.compiles()
        copy = self.space.root / "another_cache"
        shutil.copytree(self.space.root / "cache", copy, symlinks=True, ignore=shutil.ignore_patterns("jit"))
        self.assertEqual(self.compiles(env={"XDG_CACHE_HOME": str(copy)}), (0, library))


if __name__ == "__main__":
    testspace.main()
