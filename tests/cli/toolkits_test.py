#!/usr/bin/env python3
"""`dsbuild toolkits` and `report` beside a ROCm, whose clang is made up: it knows what data/clang-22 says, and has device
libraries for some of it."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import TestSpace  # noqa: E402
from fake_rocm import make_fake_rocm  # noqa: E402

class RocmTest(unittest.TestCase):
    def setUp(self):
        self.space = TestSpace()
        self.home = self.space.root / "rocm"
        self.add_rocm("gfx90a", "gfx942", "gfx12-generic")

    def add_rocm(self, *targets):
        make_fake_rocm(self.home, *targets)

    def listed(self, *words, **env):
        run = self.space.run("toolkits", "--json", *words, env=env)
        self.assertEqual(run.code, 0, run)
        return json.loads(run.out)

    def ours(self, said):
        found = [toolkit for toolkit in said["toolkits"] if toolkit["path"] == str(self.home)]
        return found[0] if found else None

    def test_it_is_listed_with_what_its_clang_finds_device_libraries_for(self):
        ours = self.ours(self.listed(ROCM_HOME=str(self.home)))
        self.assertEqual((ours["name"], ours["origin"]), ("HIP clang 22.1.8", "ROCM_HOME"))
        self.assertEqual({arch for arch in ours["archs"] if ":" not in arch}, {"gfx90a", "gfx942", "gfx12-generic"})
        self.assertIn("gfx90a:sramecc+:xnack-", ours["archs"])
        run = self.space.run("toolkits", env={"ROCM_PATH": str(self.home)})
        self.assertRegex(run.out, r"HIP clang +targets .*\n22\.1\.8 with HIP 6\.3 +gfx90a to gfx942 .* ROCM_PATH ")

    def test_the_option_names_it_too(self):
        self.assertEqual(self.ours(self.listed("--rocm-home", str(self.home)))["origin"], "--rocm-home")

    def test_another_clang_in_its_place_is_asked_anew(self):
        env = {"ROCM_HOME": str(self.home)}
        self.assertNotIn("gfx1100", self.ours(self.listed(**env))["archs"])
        self.add_rocm("gfx1100")
        self.assertEqual(self.ours(self.listed(**env))["archs"], ["gfx1100"])

    def test_one_that_compiles_nothing_is_not_usable_and_says_why(self):
        self.add_rocm("nothing")
        said = self.listed(ROCM_HOME=str(self.home))
        self.assertIsNone(self.ours(said))
        mine = next(one for one in said["rejected"] if one["path"] == str(self.home))
        self.assertRegex(mine["reason"], r"^llvm/bin/clang\+\+: cannot find ROCm device library for gfx")

    def test_report_lists_it(self):
        run = self.space.run("report", env={"HIP_PATH": str(self.home)})
        self.assertRegex(run.out, r"HIP toolkits found\s.*22\.1\.8 with HIP 6\.3 in " + str(self.home))

    def test_without_one_it_says_how_to_get_one(self):
        self.assertIn("no oneAPI toolkit found; install Intel's oneAPI DPC++/C++ compiler and ocloc: ", self.space.run("toolkits").out)
        self.assertNotRegex(self.space.run("toolkits").out, r"; +fetches one|  fetches")
        self.assertIn("no HIP toolkit found; `dsbuild toolkits get hip` (AMD's) fetches one", self.space.run("toolkits").out)

    def test_offline_what_is_in_the_cache_will_do(self):
        compiler = self.space.root / "cache" / "dsbuild" / "toolkits" / "hip-22" / "llvm" / "bin" / "clang++"
        compiler.parent.mkdir(parents=True)
        compiler.write_text("")
        run = self.space.run("toolkits", "get", "hip", "--offline")
        self.assertEqual(run.code, 0, run)
        self.assertIn("HIP with clang 22 is already in", run.err)


if __name__ == "__main__":
    unittest.main()
