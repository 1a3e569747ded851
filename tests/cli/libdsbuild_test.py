#!/usr/bin/env python3
"""libdsbuild: examples/load_an_op.cpp with the program, as a C or C++ program uses both. What the library does by itself is
in tests/unit/libdsbuild."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, TestSpace, testspace  # noqa: E402
from pages import page_files, read_page  # noqa: E402

LIBRARY = pathlib.Path(os.environ.get("DSBUILD_LIBRARY", "libdsbuild.so.0"))
HEADERS = REPOSITORY / "apps" / "libdsbuild"

# Loaded before the example: initialises CUDA in its process, whose GPUs are FAKE_GPUS (tests/fakes/libcuda.cpp has four). The
# program, which is started later, sees none.
INITIALISED = r"""
#include <dlfcn.h>
__attribute__((constructor)) static void start(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  ((int (*)(unsigned))dlsym(driver, "cuInit"))(0);
}
"""


class LibraryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.driver = cls.space.root / "driver"
        cls.driver.mkdir()
        shutil.copy(os.environ["DSBUILD_FAKE_CUDA"], cls.driver / "libcuda.so.1")
        # The example names no more than the op: the rest is in the environment.
        cls.space.environment.update(CUDA_HOME=str(cls.space.toolkit.home), DSBUILD_PROGRAM=cls.space.program,
                                     LD_LIBRARY_PATH=str(cls.driver))

    def example(self, *words, env=None, program=None):
        run = subprocess.run([program or os.environ["DSBUILD_EXAMPLE"], *words], cwd=self.space.root, capture_output=True, text=True,
                             timeout=testspace.TIME_LIMIT, env={**self.space.environment, **(env or {})}, check=False)
        self.assertEqual(run.stderr, "")
        return run

    def op(self, name):
        return f"{self.space.pack.folder}/{name}"

    def test_it_builds_opens_and_finds_the_functions(self):
        run = self.example(self.op("host"))
        self.assertRegex(run.stdout, r"^\S+/host\.so \(built\)\nhost_run is there\n$")
        self.assertEqual(run.returncode, 0)
        self.assertTrue(pathlib.Path(run.stdout.split(" ")[0]).is_file())

    def test_a_bundle_that_does_not_fit_is_told_and_the_op_built_for_the_gpus(self):
        bundle = self.space.root / "bundle"
        self.space.out = bundle
        self.assertEqual(self.space.build("--arch", "8.0", "--ops", "gamma").code, 0)
        run = self.example(self.op("gamma"), env={"DSBUILD_BUNDLE": str(bundle)})
        self.assertEqual(run.returncode, 0, run)
        self.assertIn(f"| dsbuild: DSBUILD_BUNDLE {bundle}: gamma/one.cu has no image for 9.0 (it has 8.0); it is built for "
                      "this machine\n", run.stdout)
        self.assertIn("GPU 9.0: native by sm_90\nGPU 8.0: native by sm_80\nGPU 9.0: native by sm_90\nGPU 12.0: native by sm_120\n", run.stdout)
        self.assertIn("gamma_more is there\ngamma_run is there\n", run.stdout)

    def test_where_cuda_is_initialised_its_gpus_count_and_not_those_the_program_sees(self):
        shim = testspace.compile_shim(INITIALISED, self.space.root / "initialised.so")
        # The program is found through a script that hides the driver from it: it would find no GPU.
        blind = self.space.root / "blind"
        blind.write_text(f'#!/bin/sh\nunset LD_PRELOAD LD_LIBRARY_PATH\nexec {self.space.program} "$@"\n')
        blind.chmod(0o755)
        env = {"DSBUILD_PROGRAM": str(blind), "CUDA_VISIBLE_DEVICES": "of this test"}
        without = self.example(self.op("beta"), env=env)
        self.assertEqual(without.returncode, 3, without)
        self.assertTrue(without.stdout.startswith("no_gpu: "), without)
        run = self.example(self.op("beta"), env={**env, "LD_PRELOAD": shim})
        self.assertEqual(run.returncode, 0, run)
        self.assertIn("GPU 9.0: native by sm_90\nGPU 8.0: native by sm_80\nGPU 12.0: native by sm_120\n", run.stdout)

    def test_what_is_wrong_is_the_programs_error_and_exit_code(self):
        for words, env, code, exit_code in (([self.op("nothing")], {}, "unknown_op", 2), ([self.op("beta")], {"DSBUILD_JIT": "0"}, "jit_off", 3),
                                            (["nowhere/gamma"], {}, "unknown_pack", 2), (["-h"], {}, "bad_option", 2)):
            with self.subTest(code):
                run = self.example(*words, env=env)
                self.assertEqual((run.stdout.split(":")[0], run.returncode), (code, exit_code), run)

    def install(self):
        """The library as an installation has it, and the program in its bin/."""
        prefix = self.space.root / "prefix"
        for folder in ("bin", "include", "lib/pkgconfig"):
            (prefix / folder).mkdir(parents=True)
        (prefix / "bin" / "dsbuild").symlink_to(self.space.program)
        shutil.copy(LIBRARY, prefix / "lib" / LIBRARY.name)
        (prefix / "lib" / "libdsbuild.so").symlink_to(LIBRARY.name)
        shutil.copy(HEADERS / "dsbuild.h", prefix / "include")
        pc = (HEADERS / "dsbuild.pc.in").read_text().replace("@headers@", "../../include").replace("@PROJECT_VERSION@", "0")
        (prefix / "lib" / "pkgconfig" / "dsbuild.pc").write_text(pc)
        return prefix

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not installed")
    def test_the_page_s_line_links_with_an_installation_which_finds_its_own_program(self):
        prefix = self.install()
        self.space.environment.pop("DSBUILD_PROGRAM")
        self.addCleanup(self.space.environment.update, DSBUILD_PROGRAM=self.space.program)
        shutil.copy(REPOSITORY / "examples" / "load_an_op.cpp", self.space.root)
        page = read_page("docs/guides/c.md")
        self.assertEqual(page_files(page)["examples/load_an_op.cpp"], read_page("examples/load_an_op.cpp"))
        line = re.search(r"^(c\+\+ .*pkg-config.*)$", page, re.M).group(1)
        sanitizer = ["-fsanitize=address,undefined"] if testspace.is_sanitized(LIBRARY) else []
        subprocess.run(["bash", "-c", " ".join([line, *sanitizer])], cwd=self.space.root, check=True,
                       env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")})
        run = self.example(self.op("host"), program="./load_an_op",
                           env={"LD_LIBRARY_PATH": str(prefix / "lib"), "PATH": "/usr/bin:/bin"})
        self.assertEqual(run.returncode, 0, run)
        self.assertIn("host_run is there\n", run.stdout)

    def test_it_exports_what_its_header_declares_and_needs_no_more_than_the_system(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        exported = set(re.findall(r" T (\w+)@@DSBUILD_0$", listed, re.M))
        header = (HEADERS / "dsbuild.h").read_text()
        self.assertEqual(exported, set(re.findall(r"^(?:int|void) (\w+)\(", header, re.M)))
        self.assertEqual(set(re.findall(r" [TWVBDu] (\w+)", listed)) - exported - {"DSBUILD_0"}, set())
        needed = set(re.findall(r"\(NEEDED\).*\[(.*?)\.so", subprocess.run(
            ["readelf", "-dW", LIBRARY], capture_output=True, text=True, check=True).stdout))
        self.assertLessEqual(needed, {"libc", "libm", "libdl", "libpthread", "libstdc++", "libgcc_s", "libasan", "libubsan"})

    def test_its_header_is_c(self):
        source = self.space.root / "header.c"
        source.write_text('#include <dsbuild.h>\nstruct dsbuild_load_options options = DSBUILD_LOAD_OPTIONS;\n')
        for standard in ("c99", "c11", "c17"):
            subprocess.run(["gcc", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", HEADERS, source],
                           check=True)


if __name__ == "__main__":
    testspace.main()
