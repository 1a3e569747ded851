#!/usr/bin/env python3
"""load: a library that runs here. The GPUs are those of a libcuda.so.1 that is made up; what fits is in tests/unit/load."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402

# FAKE_GPUS: the compute capabilities of the GPUs, "90 80".
LIBCUDA = r"""
#include <stdio.h>
#include <stdlib.h>
static int gpus[8], number;
int cuInit(unsigned flags) {
  for (const char* at = getenv("FAKE_GPUS"); at && *at; ) { gpus[number++] = strtol(at, (char**)&at, 10); while (*at == ' ') ++at; }
  if (getenv("FAKE_LOG")) { FILE* log = fopen(getenv("FAKE_LOG"), "a"); fputs("cuInit\n", log); fclose(log); }
  return 0;
}
int cuDriverGetVersion(int* version) { *version = 13000; return 0; }
int cuDeviceGetCount(int* count) { *count = number; return 0; }
int cuDeviceGet(int* device, int place) { *device = place; return 0; }
int cuDeviceGetAttribute(int* value, int what, int device) {
  *value = what == 75 ? gpus[device] / 10 : gpus[device] % 10;
  return 0;
}
"""


class LoadTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        driver = cls.space.root / "driver"
        driver.mkdir()
        (driver / "cuda.c").write_text(LIBCUDA)
        subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", driver / "libcuda.so.1", driver / "cuda.c"], check=True)
        cls.log = cls.space.root / "starts.log"
        cls.space.environment.update(LD_LIBRARY_PATH=str(driver), FAKE_LOG=str(cls.log))

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

    def test_refusals(self):
        without = ("--arch", "--ops", "--out", "--build-dir")
        for name, words, env in (("load_no_gpu", ["load", "gamma"], {}),
                                 ("load_jit_off", ["load", "gamma", "--gpu", "9.0"], {"DSBUILD_JIT": "0"}),
                                 ("load_no_fit", ["load", "gamma", "--gpu", "8.0"], {"TORCH_CUDA_ARCH_LIST": "9.0"}),
                                 ("load_nothing", ["load"], {})):
            with self.subTest(name):
                run = self.run_in(self.space, *words, without=without, env=env)
                self.expect(name, self.space, run, 2 if name == "load_nothing" else 3, words, env)


if __name__ == "__main__":
    testspace.main()
