#!/usr/bin/env python3
"""README's five lines, and the CPU ops' own tests, on a bundle that dsbuild built. DSBUILD_TEST_PYTHON names a Python
with NumPy and tvm_ffi."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, TESTS, CliTest, TestSpace, testspace  # noqa: E402
from pages import find_python, page_files, read_page  # noqa: E402

EXAMPLE = TESTS / "python" / "readme_example.py"


class ReadmeTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.python, cls.space.environment["TVM_FFI_HOME"] = find_python()
        cls.built = cls.space.run("--ops", "all", env={"DS_ACCELERATOR": "cpu"})

    def setUp(self):
        self.assertEqual(self.built.code, 0, self.built)

    def run_python(self, script, **env):
        return subprocess.run([self.python, "-B", script], cwd=self.space.root, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **env})

    def test_the_readme_shows_the_file_that_is_run(self):
        shown = page_files(read_page("README.md"))["tests/python/readme_example.py"]
        self.assertEqual(shown, EXAMPLE.read_text())
        self.assertEqual(len(shown.splitlines()), 5)

    def test_the_five_lines_print_what_they_say(self):
        run = self.run_python(EXAMPLE)
        self.assertEqual(run.returncode, 0, run.stdout)
        promised = re.search(r"print\(.*\)  # (.*)$", EXAMPLE.read_text()).group(1)
        self.assertEqual(run.stdout.strip(), promised)

    def op_tests_pass(self, op):
        bundle = self.space.root / "dsbuild-out"
        run = self.run_python(TESTS / "python" / f"test_{op}.py", DSBUILD_BUNDLE=str(bundle))
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertRegex(run.stdout, r"OK|passed")

    def test_cpu_optimizers_with_this_bundle(self):
        for op in ("cpu_adam", "cpu_adagrad", "cpu_lion"):
            with self.subTest(op):
                self.op_tests_pass(op)

    def test_pin_memory_with_this_bundle(self):
        self.op_tests_pass("pin_memory")

    def test_async_io_with_this_bundle(self):
        if not (self.space.root / "dsbuild-out" / "async_io.so").exists():
            self.skipTest("async_io is not in the bundle: " + self.built.err)
        self.op_tests_pass("async_io")


class PageTest(unittest.TestCase):
    def test_the_figures_are_those_that_the_script_makes_of_its_rows(self):
        table = subprocess.run([sys.executable, "scripts/bench_deepspeed.py", "--readme", "docs/guides/deepspeed.md"], cwd=REPOSITORY,
                               capture_output=True, text=True, check=True).stdout
        self.assertIn("\n" + table + "\n", read_page("README.md"))

    def test_what_it_is_for_fits_on_a_screen(self):
        self.assertLessEqual(read_page("README.md").split("## How it works")[0].count("\n"), 60)


if __name__ == "__main__":
    testspace.main(each_commit=2)
