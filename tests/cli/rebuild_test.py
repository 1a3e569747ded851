#!/usr/bin/env python3
"""`dsbuild verify --rebuild`: the same sources and tools make the same bytes from the provenance alone; of others the first cause
is named (docs/reference/provenance.md)."""

import json
import pathlib
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from provenance_test import Attack, pack_with_time  # noqa: E402


class RebuildTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.first = cls.space.build("--ops", "alpha,host")

    def setUp(self):
        self.assertEqual(self.first.code, 0, self.first)

    def rebuild(self, *more, space=None, **options):
        space = space or self.space
        pack = ["--pack", str(space.pack.folder)]
        home = [] if "--cuda-home" in more else ["--cuda-home", str(space.toolkit.home)]
        return space.run("verify", str(space.out), "--rebuild", *pack, *home, *more, **options)

    def check_refused(self, run, *said):
        self.assertEqual(run.code, 1, run)
        self.assertIn("error[rebuild_differs]", run.err)
        for text in said:
            self.assertIn(text, run.err)

    def edited(self, name, text):
        """With a source or header that ends otherwise, for as long as it takes."""
        file = self.space.pack.source(name)
        before = file.read_text()
        self.addCleanup(file.write_text, before)
        file.write_text(before + text)

    def test_the_same_sources_make_the_same_bytes_whatever_the_environment_asks_for(self):
        run = self.rebuild("--json", env={"TORCH_CUDA_ARCH_LIST": "7.0", "DS_BUILD_STRING": "other", "CFLAGS": "-DX=1",
                                          "SOURCE_DATE_EPOCH": "3"})
        self.assertEqual(run.code, 0, run)
        self.assertTrue(json.loads(run.out)["rebuilt"])
        self.assertIn("the same bytes", self.rebuild().out)

    def test_an_edited_source_is_named(self):
        self.edited("alpha/alpha.cu", "// edited\n")
        self.check_refused(self.rebuild(), "alpha.so is not what", "source pack/alpha/alpha.cu has another sha256 here")

    def test_an_edited_header_is_named(self):
        self.edited("alpha/shared.h", "// edited\n")
        self.check_refused(self.rebuild(), "alpha.so is not what", "header pack/alpha/shared.h has another sha256 here")

    def test_what_is_said_of_a_comment(self):
        self.edited("host/host.cpp", "// edited\n")
        self.check_alone("rebuild_differs", self.space, "verify", "out", "--rebuild", "--pack", "pack", "--cuda-home",
                         self.space.toolkit.home, code=1)

    def test_another_toolkit_is_named_with_both_versions(self):
        other = testspace.make_fake_toolkit(self.space.root / "older", "12.4")
        self.check_refused(self.rebuild("--cuda-home", str(other.home)), "toolkit CUDA was 13.0.", "here it is 12.4.")

    def test_options_and_the_time_that_was_pinned_are_those_of_the_build(self):
        space = TestSpace("pinned", pack=pack_with_time)
        self.assertEqual(space.build("--cpu-baseline", "x86-64-v2", env={"SOURCE_DATE_EPOCH": "17", "LDFLAGS": "-Wl,-z,now"}).code, 0)
        run = self.rebuild(space=space)
        self.assertEqual(run.code, 0, run)

    def test_the_ops_of_a_workload_are_for_their_own_archs_again(self):
        space = TestSpace("workload")
        workload = space.root / "workload.yaml"
        workload.write_text(f'packs:\n  {space.pack.folder}:\n    alpha: ["8.0"]\n    gamma: ["8.0", "9.0+PTX"]\n    host: []\n')
        built = space.run("--ops", "@workload.yaml", "--out", str(space.out), "--build-dir", str(space.build_dir), "--cuda-home",
                          str(space.toolkit.home))
        self.assertEqual(built.code, 0, built)
        said = json.loads((space.out / testspace.STATEMENT).read_text())
        self.assertEqual(said["predicate"]["buildDefinition"]["externalParameters"]["workload"],
                         {"alpha": ["8.0"], "gamma": ["8.0", "9.0+PTX"]})
        workload.unlink()
        run = self.rebuild(space=space)
        self.assertEqual(run.code, 0, run)

    def test_a_time_that_was_not_pinned_is_the_cause(self):
        space = TestSpace("not pinned", pack=pack_with_time)
        self.assertEqual(space.build().code, 0)
        time.sleep(1.1)
        self.check_refused(self.rebuild(space=space), "host.so is not what", "SOURCE_DATE_EPOCH")

    def test_a_bundle_that_was_changed_with_its_manifest_and_statement_is_found(self):
        bundle = self.space.root / "forged"
        shutil.copytree(self.space.out, bundle)
        Attack(bundle).swap_a_library_and_make_all_right()
        self.assertEqual(self.space.verify(bundle).code, 0)
        run = self.space.run("verify", str(bundle), "--rebuild", "--pack", str(self.space.pack.folder), "--cuda-home",
                             str(self.space.toolkit.home))
        self.check_refused(run, "host.so is not what", "may have been changed after its build")

    def test_without_the_pack_or_a_statement_it_says_what_is_missing(self):
        run = self.space.run("verify", str(self.space.out), "--rebuild")
        self.assertEqual(run.code, 2, run)
        self.assertIn("--pack DIR", run.err)
        bundle = self.space.root / "older bundle"
        shutil.copytree(self.space.out, bundle)
        (bundle / testspace.STATEMENT).unlink()
        self.assertIn("error[no_statement]", self.space.run("verify", str(bundle), "--rebuild").err)


if __name__ == "__main__":
    testspace.main()
