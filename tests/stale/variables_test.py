#!/usr/bin/env python3
"""Variables that compilers read get through to them, by a closed list, and are a part of what they are."""

import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from compiler_test import CALLING, PATCHED, SOURCE  # noqa: E402
from stale import ToolsTest, add_tests, replace, write_program  # noqa: E402
from wrappers import Wrapper  # noqa: E402

FOUND = '#if __has_include(<w.h>)\n#include <w.h>\n#else\n#define W 0\n#endif\nextern "C" int v() { return W; }\n'
DATED = 'extern "C" const char* v() { return __DATE__ " " __TIME__; }\n'


class VariablesTest(ToolsTest):
    """In dsbuild's own environment: compilers get those of a closed list, and those that are asked for."""

    def folder_with(self, number, name, text):
        folder = self.space.root / f"folder {number}"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        return folder

    def set(self, variable, value):
        self.space.environment[variable] = str(value)

    def headers_of(self, variable):
        first, second = (self.folder_with(number, "w.h", f"#define W {number}\n") for number in (1, 2))
        self.space.add_cpu_op("tool", {"b.cpp": FOUND}, ["b.cpp"])
        self.set(variable, first)
        return first, second

    def check_another_folder(self, variable):
        _, second = self.headers_of(variable)
        self.check_change(lambda: self.set(variable, second))

    def check_unset(self, variable):
        self.headers_of(variable)
        self.check_change(lambda: self.space.environment.pop(variable))

    def check_header_in_it(self, variable):
        first, _ = self.headers_of(variable)
        self.check_change(lambda: replace(first / "w.h", b"#define W 3\n", keep_time=True))

    def check_header_that_comes(self, variable):
        first, second = self.headers_of(variable)
        (first / "w.h").unlink()
        self.set(variable, f"{self.space.root / 'none'}:{first}:{second}:")
        self.check_change(lambda: self.folder_with(1, "w.h", "#define W 4\n"))

    def check_folder_that_comes(self, variable):
        first, second = self.headers_of(variable)
        nowhere = self.space.root / "none"
        self.set(variable, f"{nowhere}:{first}:{second}")
        self.check_change(lambda: first.rename(nowhere) and (nowhere / "w.h").write_text("#define W 5\n"))

    def check_what_is_relative(self, variable):
        """It would be another folder for each tool."""
        self.headers_of(variable)
        self.space.environment.pop(variable)
        before = self.build()
        self.set(variable, ":first:.")
        run = self.check()
        self.assertEqual((testspace.bundle_files(self.space.out), run.edges_run()), (before, 0), run)

    def archives_of(self):
        folders = []
        for number in (1, 2):
            folder = self.folder_with(number, "w.cpp", f'extern "C" int w() {{ return {number}; }}')
            subprocess.run("g++ -fPIC -c w.cpp -o w.o && ar rcsD libw.a w.o", cwd=folder, shell=True, check=True)
            folders.append(folder)
        self.space.add_cpu_op("tool", {"b.cpp": CALLING}, ["b.cpp"], libraries=["w"])
        self.set("LIBRARY_PATH", folders[0])
        return folders

    def test_another_folder_in_LIBRARY_PATH(self):
        _, second = self.archives_of()
        self.check_change(lambda: self.set("LIBRARY_PATH", second))

    def test_a_library_comes_in_LIBRARY_PATH(self):
        first, second = self.archives_of()
        data = (first / "libw.a").read_bytes()
        (first / "libw.a").unlink()
        self.set("LIBRARY_PATH", f"{first}:{second}")
        self.check_change(lambda: (first / "libw.a").write_bytes(data))

    def check_programs(self, variable, end):
        """Another assembler."""
        folders = []
        for number in (1, 2):
            text = f'exec "{shutil.which("as")}" --defsym patched={number} "$@"\n'
            folders.append(self.space.root / f"parts{number}")
            write_program(folders[-1] / "as", text)
        self.space.write("inc/v.h", "#define V 1\n")
        self.space.add_cpu_op("tool", {"b.cpp": SOURCE + PATCHED}, ["b.cpp"], include_dirs=["inc"])
        self.set(variable, f"{folders[0]}{end}")
        self.check_change(lambda: self.set(variable, f"{folders[1]}{end}"))

    def test_another_assembler_by_COMPILER_PATH(self):
        self.check_programs("COMPILER_PATH", "")

    def test_an_assembler_comes_in_COMPILER_PATH(self):
        folder = self.space.root / "first"
        folder.mkdir()
        self.set("COMPILER_PATH", folder)
        self.space.add_cpu_op("tool", {"b.cpp": SOURCE.replace("#include <v.h>", "#define V 1") + PATCHED}, ["b.cpp"])
        self.check_change(lambda: write_program(folder / "as", f'exec "{shutil.which("as")}" --defsym patched=3 "$@"\n'))

    def test_SOURCE_DATE_EPOCH(self):
        self.space.add_cpu_op("tool", {"b.cpp": DATED}, ["b.cpp"])
        self.set("SOURCE_DATE_EPOCH", 1_000_000_000)
        self.check_change(lambda: self.set("SOURCE_DATE_EPOCH", 1_100_000_000))
        self.assertIn(b"Nov  9 2004", (self.space.out / "tool.so").read_bytes())

    def test_a_date_that_is_said_is_the_same_in_each_build(self):
        self.space.add_cpu_op("tool", {"b.cpp": DATED}, ["b.cpp"])
        self.set("SOURCE_DATE_EPOCH", 1_000_000_000)
        before = self.build()
        time.sleep(1)
        self.assertEqual(self.space.scratch()[1], before)

    def test_nothing_is_built_again_while_they_are_the_same(self):
        first, _ = self.headers_of("CPATH")
        for name in ("CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH"):
            self.set(name, first)
        for name in ("SPACK_CC", "NIX_LDFLAGS", "CCACHE_DIR", "SOURCE_DATE_EPOCH"):
            self.set(name, 1)
        self.build()
        run = self.space.build()
        self.assertEqual((run.code, run.edges_run()), (0, 0), run)

    def test_what_nobody_asked_for_does_not_get_through(self):
        wrapper = Wrapper(self.space.root / "w/g++", shutil.which("g++"))
        self.set("CXX", wrapper.path)
        self.space.add_cpu_op("tool", {"b.cpp": FOUND}, ["b.cpp"])
        before = self.build()
        self.set("SITE_OPTIONS", "-DW=7")
        self.check()
        self.assertEqual(testspace.bundle_files(self.space.out), before)


PATHS = ["CPATH", "CPLUS_INCLUDE_PATH"]
for name in ("another_folder", "unset", "header_in_it", "header_that_comes", "folder_that_comes", "what_is_relative"):
    add_tests(VariablesTest, name, getattr(VariablesTest, f"check_{name}"), PATHS)

if __name__ == "__main__":
    testspace.main(each_commit=10)
