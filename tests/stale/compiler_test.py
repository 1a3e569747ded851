#!/usr/bin/env python3
"""A C++ compiler is more than its program: the parts that it starts, and the folders in which it looks by itself."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from stale import ToolsTest, add_tests, change_text, replace, write_program  # noqa: E402

# What a symbol that the assembler is given is worth stays in the library, which has no local symbols.
PATCHED = 'asm(".pushsection .rodata\\n.ifdef patched\\n.quad patched\\n.endif\\n.popsection");\n'
SOURCE = '#ifndef PATCHED\n#define PATCHED 1\n#endif\n#include <v.h>\nextern "C" int v() { return PATCHED + V; }\n'
# A part that is next to nothing without its library.
LOADING = """#include <stdio.h>
#include <unistd.h>
int patched(void);
int main(int count, char** words) {
  char* all[count + 2], word[32];
  for (int i = 0; i <= count; ++i) all[i + 1] = words[i];
  snprintf(word, sizeof(word), "-DPATCHED=%d", patched());
  all[0] = words[0], all[1] = word;
  execv("REAL", all);
  return 1;
}
"""
CALLING = 'extern "C" int w();\nextern "C" int v() { return w(); }\n'


def real_cc1plus():
    asked = subprocess.run(["g++", "-print-prog-name=cc1plus"], stdout=subprocess.PIPE, text=True, check=True)
    return asked.stdout.strip()


class CompilerTest(ToolsTest):
    """All that this compiler is made of are scripts, so that they can be changed."""

    def setUp(self):
        super().setUp()
        self.parts = self.space.root / "gxx" / "parts"
        for tool in ("as", "ld"):
            write_program(self.parts / tool, f'exec "{shutil.which(tool)}" "$@"\n')
        write_program(self.parts / "cc1plus", f'exec "{real_cc1plus()}" "$@"\n')
        self.make_driver(f'-B"{self.parts}/" ')

    def make_driver(self, options="", variables=""):
        self.driver = write_program(self.parts.parent / "g++", f'{variables}exec "{shutil.which("g++")}" {options}"$@"\n')
        self.space.environment["CXX"] = str(self.driver)

    def add_op(self):
        self.space.write("inc/v.h", "#define V 1\n")
        self.space.add_cpu_op("tool", {"b.cpp": SOURCE + PATCHED}, ["b.cpp"], include_dirs=["inc"])


@testspace.deep_but("test_cc1plus_after_clean", "test_ld", "test_as_of_same_size_and_time",
                    "test_another_as_comes_to_be_found_first")
class PartsTest(CompilerTest):
    def check_part(self, part, options):
        self.add_op()
        file = self.driver if part == "g++" else self.parts / part
        self.check_change(lambda: change_text(file, '"$@"', options))

    def test_cc1plus(self):
        self.check_part("cc1plus", '-DPATCHED=2 "$@"')

    def test_as(self):
        self.check_part("as", '--defsym patched=3 "$@"')

    def test_ld(self):
        self.check_part("ld", '"$@" --hash-style=sysv')

    def test_the_script_itself(self):
        self.check_part("g++", '-DPATCHED=2 "$@"')

    def test_as_of_same_size_and_time(self):
        self.add_op()
        change_text(self.parts / "as", '"$@"', '--defsym patched=3 "$@"')
        self.check_change(lambda: change_text(self.parts / "as", "patched=3", "patched=4", keep_time=True))

    def test_cc1plus_after_clean(self):
        """The cache is asked."""
        self.add_op()

        def change():
            change_text(self.parts / "cc1plus", '"$@"', '-DPATCHED=2 "$@"')
            self.clean()

        self.check_change(change)

    def test_another_as_comes_to_be_found_first(self):
        first = self.space.root / "first"
        first.mkdir()
        self.make_driver(variables=f'export COMPILER_PATH="{first}"\n')
        self.add_op()
        self.check_change(lambda: write_program(first / "as", f'exec "{shutil.which("as")}" --defsym patched=3 "$@"\n'))


@testspace.deep_but("test_a_library_is_replaced", "test_a_library_comes_to_be_found_first", "test_other_folders_after_clean",
                    "test_folders_that_lead_to_the_same_libraries_change_nothing")
class LoadedLibrariesTest(CompilerTest):
    """cc1plus is a program of a library, which LD_LIBRARY_PATH leads to."""

    def setUp(self):
        super().setUp()
        self.add_op()
        self.first, self.second = (self.space.root / name for name in ("first", "second"))
        self.first.mkdir()
        self.make_library(self.second, 2)
        (self.parts / "cc1plus").unlink()
        self.compile(LOADING.replace("REAL", real_cc1plus()), self.parts / "cc1plus", f"-L{self.second}", "-lpatched")
        self.use(self.first, self.second)

    def compile(self, text, output, *options):
        subprocess.run(["gcc", "-xc", "-", "-xnone", "-o", output, *options], input=text.encode(), check=True)

    def make_library(self, folder, value):
        folder.mkdir(exist_ok=True)
        new = folder / "new"
        self.compile(f"int patched(void) {{ return {value}; }}", new, "-shared", "-fPIC", "-Wl,--build-id=none")
        new.rename(folder / "libpatched.so")

    def use(self, *folders):
        self.space.environment["LD_LIBRARY_PATH"] = ":".join(map(str, folders))

    def test_a_library_is_replaced(self):
        self.check_change(lambda: self.make_library(self.second, 3))

    def test_a_library_of_same_size_and_time(self):
        self.make_library(self.first, 4)
        data = (self.first / "libpatched.so").read_bytes()
        (self.first / "libpatched.so").unlink()
        self.check_change(lambda: replace(self.second / "libpatched.so", data, keep_time=True))

    def test_a_library_comes_to_be_found_first(self):
        self.check_change(lambda: self.make_library(self.first, 3))

    def test_a_library_comes_to_be_found_in_a_folder_for_processors(self):
        if os.uname().machine != "x86_64":
            self.skipTest("the folder's name is of x86_64")
        below = self.first / "glibc-hwcaps" / "x86-64-v2"
        below.mkdir(parents=True)
        self.check_change(lambda: self.make_library(below, 3))

    def test_other_folders(self):
        self.make_library(self.first, 3)
        self.use(self.second, self.first)
        self.check_change(lambda: self.use(self.first, self.second))

    def test_other_folders_after_clean(self):
        """The cache is asked."""
        self.make_library(self.first, 3)
        self.use(self.second, self.first)

        def change():
            self.use(self.first, self.second)
            self.clean()

        self.check_change(change)

    def test_folders_that_lead_to_the_same_libraries_change_nothing(self):
        self.build()
        for folders in ([self.second], [self.space.root / "absent", self.first, self.second, ""]):
            self.use(*folders)
            run = self.check()
            self.assertEqual(run.edges_run(), 0, run)
            self.clean()
            run = self.check("--json")
            found = json.loads(run.out.splitlines()[-1])["store"]
            self.assertEqual((found["hits"], found["misses"]), (2, 0), run)  # the object and the library


class FoldersTest(CompilerTest):
    """The script in front of the compiler sets a variable, as environments of packages do."""

    def folders_of(self, variable):
        folders = [self.space.root / name for name in ("first", "second")]
        for folder in folders:
            folder.mkdir()
        self.make_driver(variables=f'export {variable}="{":".join(map(str, folders))}"\n')
        return folders

    def headers_of(self, variable):
        folders = self.folders_of(variable)
        self.space.add_cpu_op("tool", {"b.cpp": SOURCE}, ["b.cpp"])
        (folders[-1] / "v.h").write_text("#define V 1\n")
        return folders

    def check_new_header(self, variable):
        first, _ = self.headers_of(variable)
        self.check_change(lambda: (first / "v.h").write_text("#define V 2\n"))

    def check_edited_header(self, variable):
        _, second = self.headers_of(variable)
        self.check_change(lambda: (second / "v.h").write_text("#define V 20\n"))

    def check_header_of_same_time(self, variable):
        _, second = self.headers_of(variable)
        self.check_change(lambda: replace(second / "v.h", b"#define V 2\n", keep_time=True))

    def check_folder_that_comes(self, variable):
        """Compilers do not name what is not there among the folders where they look."""
        first, _ = self.headers_of(variable)
        first.rmdir()

        def change():
            first.mkdir()
            (first / "v.h").write_text("#define V 2\n")

        self.check_change(change)

    def check_other_folders(self, variable):
        first, _ = self.headers_of(variable)
        (first / "v.h").write_text("#define V 2\n")
        nowhere = self.space.root / "third"
        nowhere.mkdir()
        change_text(self.driver, str(first), str(nowhere))
        self.check_change(lambda: change_text(self.driver, str(nowhere), str(first)))


    # ---- libraries

    def make_archive(self, folder, value):
        subprocess.run(["g++", "-fPIC", "-c", "-xc++", "-", "-o", "w.o"], cwd=folder, check=True,
                       input=f'extern "C" int w() {{ return {value}; }}'.encode())
        subprocess.run(["ar", "rcsD", "libw.a", "w.o"], cwd=folder, check=True)

    def libraries_of(self):
        folders = self.folders_of("LIBRARY_PATH")
        self.make_archive(folders[-1], 1)
        self.space.add_cpu_op("tool", {"b.cpp": CALLING}, ["b.cpp"], libraries=["w"])
        return folders

    def test_a_library_is_made_anew(self):
        _, second = self.libraries_of()
        self.check_change(lambda: self.make_archive(second, 2))

    def test_a_linker_that_does_not_say_what_it_reads(self):
        """Its link is made anew each time, and a warning says so."""
        _, second = self.libraries_of()
        old = 'case "$*" in *-Wl,--help*) exit 1;; esac\n'
        self.make_driver(f'-L"{second}" ', variables=old)
        self.check_change(lambda: self.make_archive(second, 2))
        run = self.space.build()
        self.assertEqual((run.code, run.edges_run()), (0, 1), run)
        self.assertIn("lib/tool.so: its linker does not say which libraries it read", run.err)

    def test_a_library_comes_to_stand_before_another(self):
        first, _ = self.libraries_of()
        self.check_change(lambda: self.make_archive(first, 2))

    def test_a_library_comes_with_its_folder(self):
        first, _ = self.libraries_of()
        first.rmdir()

        def change():
            first.mkdir()
            self.make_archive(first, 2)

        self.check_change(change)


PATHS = ["CPATH", "CPLUS_INCLUDE_PATH"]
add_tests(FoldersTest, "new_header_in", FoldersTest.check_new_header, PATHS)
add_tests(FoldersTest, "edited_header_in", FoldersTest.check_edited_header, PATHS)
add_tests(FoldersTest, "header_of_same_time_in", FoldersTest.check_header_of_same_time, PATHS)
add_tests(FoldersTest, "folder_comes_in", FoldersTest.check_folder_that_comes, PATHS)
add_tests(FoldersTest, "other_folders_in", FoldersTest.check_other_folders, PATHS)

if __name__ == "__main__":
    testspace.main(each_commit=7)
