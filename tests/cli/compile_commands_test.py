#!/usr/bin/env python3
"""compile_commands.json: whole commands and real paths, in flags that clang has; clangd reads kernels by it."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace  # noqa: E402
import testspace  # noqa: E402
from packs import Pack, binding, kernel  # noqa: E402

NVCC_FLAGS = ["-O3", "--use_fast_math", "-lineinfo", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-Xptxas=-v",
              "-Xcompiler=-fno-strict-aliasing", "--maxrregcount=64", "--diag-suppress=20012", "-DMINE=1", "--fmad=false",
              "-Xcudafe=--diag_suppress=declared_but_not_referenced", "--default-stream=per-thread", "--resource-usage",
              "-Werror=all-warnings", "--restrict", "--generate-line-info", "-src-in-ptx"]
CXX_FLAGS = ["-O2", "-Wall", "-fno-gnu-unique", "-fmax-errors=3", "-fconstexpr-loop-limit=100", "--param=inline-unit-growth=3",
             "-fconstexpr-ops-limit=1000", "-fopenmp", "-fno-plt", "-fconstexpr-depth=600", "-ftemplate-depth=900", "-fno-trapping-math",
             "-fno-rounding-math", "-ffp-contract=fast", "-fno-signed-zeros", "-fstack-protector-strong", "-mavx512vl", "-mamx-tile",
             "-mprefer-vector-width=256", "-mtune=haswell", "-fvisibility-inlines-hidden", "-pipe", "-pthread", "-Wno-maybe-uninitialized"]


class CompileCommandsTest(CliTest):
    def setUp(self):
        self.space = TestSpace(steps=True)
        pack = Pack(self.space.root / "mypack", "mypack")
        pack.add_op("scale", {"scale/scale.cu": kernel("scale_kernel"), "scale/scale.cpp": binding("scale_run", "scale_kernel")},
                    {"exports": ["scale_run"], "include_dirs": ["scale"], "flags": {"nvcc": NVCC_FLAGS, "cxx": CXX_FLAGS}})
        pack.add_op("host", {"host.cpp": binding("host_run")}, {"backend": "cpu", "exports": ["host_run"]})
        self.space.pack = pack
        self.space.arch = "8.0;9.0a+PTX"
        self.file = self.space.build_dir / "compile_commands.json"

    def planned(self, *words):
        run = self.run_in(self.space, "plan", "--format", "compile_commands", *words)
        self.assertEqual(run.code, 0, run)
        return run.out

    def entry(self, name, *words):
        return next(entry for entry in json.loads(self.planned(*words)) if entry["file"].endswith(name))

    def test_a_build_writes_what_plan_prints(self):
        planned = self.planned()
        self.assertFalse(self.space.build_dir.exists())
        self.assertEqual(self.space.build().code, 0)
        self.assertEqual(self.file.read_text(), planned)
        self.file.unlink()
        self.assertEqual(self.space.build().edges_run(), 0)
        self.assertEqual(self.file.read_text(), planned)

    def test_every_source_is_there_once_with_paths_that_are(self):
        entries = json.loads(self.planned())
        sources = sorted(str(self.space.pack.source(path)) for path in ("host.cpp", "scale/scale.cpp", "scale/scale.cu"))
        self.assertEqual(sorted(entry["file"] for entry in entries), sources)
        for entry in entries:
            self.assertTrue(os.path.isfile(entry["file"]), entry)
            self.assertTrue(os.path.isdir(entry["directory"]), entry)
            self.assertEqual(entry["arguments"][-4:], ["-c", entry["file"], "-o", entry["output"]])
            self.assertTrue(entry["output"].startswith(str(self.space.build_dir) + "/obj/"), entry)
            self.assertEqual([word for word in entry["arguments"] if re.search(r"(^|=|-I)pack(/|$)", word)], [])
            self.assertTrue(os.path.isabs(entry["arguments"][0]), entry)

    def test_the_words_of_a_kernel(self):
        words = self.entry("scale.cu")["arguments"]
        self.assertEqual(words[:5], [str(self.space.toolkit.home / "bin" / "nvcc"), "-x", "cuda",
                                     f"--cuda-path={self.space.toolkit.home}", "--cuda-gpu-arch=sm_90a"])
        self.assertIn(f"-I{self.space.pack.source('scale')}", words)
        for kept in ("-DMINE=1", "-O3", "-ffast-math", "-fno-strict-aliasing", "-fPIC"):
            self.assertIn(kept, words)
        for gone in ("-ccbin", "-lineinfo", "-gencode", "Xptxas", "--expt", "maxrregcount", "-MD", "fmad", "Xcompiler", "-Werror"):
            self.assertEqual([word for word in words if gone in word], [], gone)

    def test_sliced_or_not_is_the_same(self):
        self.assertEqual(self.planned(), self.planned("--backend", "nvcc"))

    def test_only_what_is_selected(self):
        self.assertEqual([pathlib.Path(entry["file"]).name for entry in json.loads(self.planned("--ops", "host"))], ["host.cpp"])


@testspace.deep
class ClangdTest(CliTest):
    """The real clangd, and real toolkits' headers (11.8 as `dsbuild toolkits get` fetches it)."""

    @classmethod
    def setUpClass(cls):
        cls.clangd = os.environ.get("DSBUILD_CLANGD", "")
        if not os.path.isfile(cls.clangd):
            raise unittest.SkipTest("no clangd 22 (DSBUILD_CLANGD)")
        cls.tvm_ffi = testspace.find_tvm_ffi()

    def check(self, file, folder):
        run = subprocess.run([self.clangd, f"--check={file}", f"--compile-commands-dir={folder}"], text=True, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=testspace.TIME_LIMIT)
        return run.returncode, [line for line in run.stdout.splitlines() if line.startswith("E[") or "0 errors" in line]

    def toolkits(self):
        homes = [os.environ.get("DSBUILD_CUDA_11_8", ""), "/usr/local/cuda"]
        found = [home for home in homes if os.path.isfile(os.path.join(home, "bin", "nvcc"))]
        if not found:
            raise unittest.SkipTest("no real toolkit")
        return found

    def written(self, space, home, *words):
        run = space.run("plan", "--cuda-home", home, "--format", "compile_commands", *words, env={"TVM_FFI_HOME": self.tvm_ffi})
        self.assertEqual(run.code, 0, run)
        folder = space.root / ("commands-" + str(len(list(space.root.glob("commands-*")))))
        folder.mkdir()
        (folder / "compile_commands.json").write_text(run.out)
        return folder, [entry["file"] for entry in json.loads(run.out)]

    def test_an_op_of_dsbuild_new_without_an_error(self):
        for home in self.toolkits():
            space = TestSpace()
            self.assertEqual(space.run("new", "scale").code, 0)
            folder, files = self.written(space, home, "--pack", "mypack", "--ops", "scale", "--arch", "8.0")
            self.assertEqual(len(files), 2)
            for file in files:
                code, lines = self.check(file, folder)
                self.assertEqual((code, len(lines)), (0, 1), f"{home} {file}\n" + "\n".join(lines))
            kernel_file = space.root / "mypack" / "scale" / "scale.cu"
            kernel_file.write_text(kernel_file.read_text() + "\n__global__ void wrong() { undeclared = threadIdx.x; }\n")
            self.assertNotEqual(self.check(kernel_file, folder)[0], 0)

    def test_no_flag_of_a_spec_is_one_that_clang_does_not_know(self):
        for home in self.toolkits():
            space = TestSpace()
            pack = Pack(space.root / "mypack", "mypack")
            pack.add_op("flags", {"k.cu": "__global__ void k() {}\n", "k.cpp": 'extern "C" int f() { return 1; }\n'},
                        {"flags": {"nvcc": NVCC_FLAGS, "cxx": CXX_FLAGS}})
            folder, files = self.written(space, home, "--pack", "mypack", "--ops", "flags", "--arch", "8.0", "--debug")
            for file in files:
                code, lines = self.check(file, folder)
                self.assertEqual((code, len(lines)), (0, 1), f"{home} {file}\n" + "\n".join(lines))


if __name__ == "__main__":
    testspace.main()
