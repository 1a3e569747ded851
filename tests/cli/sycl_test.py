#!/usr/bin/env python3
"""fused_adam for SYCL, compiled by a stand-in for icpx that makes real code: device images for Intel's GPUs, which nothing
here can run, and SPIR-V, which runs on the CPU."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, TestSpace, testspace  # noqa: E402

import sycl  # noqa: E402

KERNELS = REPOSITORY / "kernels"
DEVICES = ("pvc", "dg2-g10", "tgllp")


class SyclTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.interpreter = os.environ.get("DSBUILD_TEST_PYTHON")
        if not cls.interpreter or not os.access(cls.interpreter, os.X_OK):
            testspace.skip("DSBUILD_TEST_PYTHON is not set (a Python with numpy and tvm_ffi)")
        cls.space = TestSpace()
        cls.work = cls.space.root
        cls.compiler = sycl.make_compiler(cls.work / "compiler")
        cls.tvm_ffi = pathlib.Path(testspace.find_tvm_ffi()) / "include"
        cls.bundle = cls.work / "bundle"
        cls.bundle.mkdir()
        cls.build()

    @classmethod
    def run_tool(cls, *words, check=True):
        run = subprocess.run([str(w) for w in words], cwd=cls.work, capture_output=True, text=True, timeout=testspace.TIME_LIMIT)
        assert run.returncode == 0 or not check, run.stdout + run.stderr
        return run

    @classmethod
    def icpx(cls, *words, **options):
        return cls.run_tool(cls.compiler / "bin" / "icpx", "-fsycl", *words, **options)

    @classmethod
    def compile(cls, output, *words):
        flags = ["-O3", "-std=c++17", "-fPIC", f"-I{KERNELS / 'include'}"]
        cls.icpx("-sycl-std=2020", *flags, "-fsycl-targets=spir64_gen,spir64", "-fsycl-host-compiler=g++",
                 f"-fsycl-host-compiler-options={' '.join(flags)} -fvisibility=hidden", "-c", "-x", "c++", *words,
                 KERNELS / "fused_adam" / "fused_adam.sycl.cpp", "-o", output)

    @classmethod
    def build(cls):
        cls.compile("kernel.o", "-MD", "-MF", "kernel.d")
        cls.icpx("-fsycl-link", "-fsycl-targets=spir64_gen,spir64", "-Xs", "-device " + ",".join(DEVICES), "kernel.o", "-o",
                 "images.o")
        cls.run_tool("g++", "-O2", "-std=c++17", "-fPIC", "-fvisibility=hidden", f"-I{KERNELS / 'include'}", "-isystem",
                     cls.tvm_ffi, "-c", KERNELS / "fused_adam" / "fused_adam_sycl_binding.cpp", "-o", "binding.o")
        cls.run_tool("g++", "-shared", "kernel.o", "images.o", "binding.o", f"-L{cls.compiler / 'lib'}", "-lsycl", "-o",
                     cls.bundle / "fused_adam.so")

    def section(self, name):
        file = self.work / "section"
        self.run_tool("objcopy", "--dump-section", f"{name}={file}", self.bundle / "fused_adam.so", self.work / "copy.so")
        return file.read_bytes()

    def test_there_is_code_for_each_device_and_spirv(self):
        images = self.section("__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen")
        self.assertEqual(images.count(b"!<arch>\n"), 2)  # kernels with and without fp16
        for device in DEVICES:
            product = self.run_tool(self.compiler / "bin" / "ocloc", "ids", device).stdout.split()[-1]
            self.assertEqual(images.count(f"64.{product}".encode()), 2, device)
        self.assertEqual(self.section("__CLANG_OFFLOAD_BUNDLE__sycl-spir64")[:4], b"\x03\x02\x23\x07")

    def test_an_object_is_the_same_each_time(self):
        self.compile("again.o")
        self.assertEqual((self.work / "again.o").read_bytes(), (self.work / "kernel.o").read_bytes())

    def test_the_depfile_names_our_headers_and_those_of_sycl_and_they_are_there(self):
        files = (self.work / "kernel.d").read_text().replace("\\\n", " ").split()[1:]
        self.assertEqual([file for file in files if not (self.work / file).exists()], [])
        for name in (KERNELS / "include" / "adam_formula.h", self.compiler / "include" / "sycl" / "sycl.hpp"):
            self.assertIn(str(name), files)

    def test_a_device_that_ocloc_does_not_know_ends_the_link(self):
        run = self.icpx("-fsycl-link", "-fsycl-targets=spir64_gen", "-Xs", "-device nosuch", "kernel.o", "-o", "no.o", check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("nosuch", run.stderr)

    def test_an_error_in_a_kernel_is_the_compilers(self):
        (self.work / "broken.cpp").write_text("#include <sycl/sycl.hpp>\nint f() { return nothing; }\n")
        run = self.icpx("-c", "broken.cpp", "-o", "broken.o", check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("broken.cpp:2:18: error: use of undeclared identifier 'nothing'", run.stderr)

    def test_fused_adam_agrees_with_float64_on_the_cpu(self):
        shim = self.work / "shim.so"
        self.run_tool("g++", "-std=c++17", "-fPIC", "-shared", "-isystem", self.compiler / "include",
                      REPOSITORY / "tests" / "python" / "sycl_shim.cpp", "-o", shim, f"-L{self.compiler / 'lib'}", "-lsycl")
        run = subprocess.run([self.interpreter, "-B", REPOSITORY / "tests" / "python" / "test_fused_adam_sycl.py"],
                             env={**self.space.environment, **sycl.runtime(), "DSBUILD_BUNDLE": str(self.bundle),
                                  "DSBUILD_SYCL_SHIM": str(shim)},
                             capture_output=True, text=True, timeout=testspace.TIME_LIMIT)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        print(run.stderr.splitlines()[0], file=sys.stderr)


if __name__ == "__main__":
    testspace.main()
