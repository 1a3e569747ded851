#!/usr/bin/env python3
"""docs/guides/first_op.md, word for word: its files are written, its lines typed, in a folder outside the project."""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from pages import page_commands, page_files, read_page, type_line, use_python  # noqa: E402

PAGE = read_page("docs/guides/first_op.md")
GPU_PART, CPU_PART = re.split(r"^## The same on the CPU$", PAGE, flags=re.M)


class FirstOpTest(CliTest):
    def setUp(self):
        self.space = TestSpace()
        use_python(self.space)

    def follow(self, text, **env):
        """What the part's lines printed, by line."""
        for name, content in page_files(text).items():
            file = self.space.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        printed = {}
        for line in page_commands(text):
            code, printed[line] = type_line(self.space, line, **env)
            self.assertEqual(code, 0, f"{line}\n{printed[line]}")
        return printed

    def promised(self, text):
        return re.search(r"^It prints `(.*?)`", text, re.M).group(1) + "\n"

    def test_the_gpu_op_is_built_and_loaded_and_runs_where_there_is_a_gpu(self):
        toolkit = testspace.find_real_toolkit()
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("this machine has a GPU, and the page's --arch may not be its own")
        testspace.copy_facts(self.space.cache_folder())
        printed = self.follow(GPU_PART, CUDA_HOME=toolkit)
        self.assertEqual(printed["python3 use_scale.py"], "scale.so is loaded; there is no GPU here to run it on\n")
        self.assertEqual(sorted(file.name for file in (self.space.root / "dsbuild-out").iterdir()),
                         ["manifest.json", "provenance.intoto.json", "scale.so"])

    def test_the_cpu_op_computes_and_so_does_the_one_that_new_writes(self):
        printed = self.follow(CPU_PART)
        self.assertEqual(printed["python3 use_scale_cpu.py"], self.promised(CPU_PART))
        self.assertRegex(printed["python3 mypack/triple/test_triple.py"], r"Ran 3 tests in .*\n\nOK\n$")


if __name__ == "__main__":
    testspace.main()
