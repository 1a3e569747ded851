#!/usr/bin/env python3
"""A C++ compiler that starts another one, and what a compiler takes in place of what a source names: files that configure
it, files that flags name."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from compiler_test import PATCHED, real_cc1plus  # noqa: E402
from stale import ToolsTest, add_tests, change_text, replace, write_program  # noqa: E402
from wrappers import Wrapper  # noqa: E402

SITE = '#ifndef SITE\n#define SITE 0\n#endif\nextern "C" int v() { return SITE; }\n'


class WrapperTest(ToolsTest):
    """CXX starts another compiler."""

    def setUp(self):
        super().setUp()
        self.space.add_cpu_op("tool", {"b.cpp": SITE}, ["b.cpp"])

    def use(self, kind, target=None, name="g++", options=""):
        wrapper = Wrapper(self.space.root / "w" / name, target or shutil.which("g++"), kind, options)
        self.space.environment["CXX"] = str(wrapper.path)
        return wrapper

    def other(self, options='-DSITE=2'):
        return write_program(self.space.root / "real/g++", f'exec "{shutil.which("g++")}" {options} "$@"\n')

    def check_target_changes(self, kind):
        real = self.other("-DSITE=1")
        self.use(kind, real)
        self.check_change(lambda: change_text(real, "SITE=1", "SITE=2"))

    def check_another_target(self, kind):
        wrapper = self.use(kind)
        self.check_change(lambda: wrapper.start(self.other()))

    def check_options(self, kind):
        wrapper = self.use(kind, options="-O1 -DSITE=1")
        self.check_change(lambda: wrapper.put_first("-O1 -DSITE=2"))

    def check_options_after_clean(self, kind):
        """The cache is asked."""
        wrapper = self.use(kind, options="-DSITE=1")
        self.check_change(lambda: (wrapper.put_first("-DSITE=2"), self.clean()))

    def check_options_that_nobody_sees_in_the_text(self, kind):
        wrapper = self.use(kind)
        self.check_change(lambda: wrapper.put_first("-frecord-gcc-switches"))

    def check_options_of_the_linker(self, kind):
        wrapper = self.use(kind)
        self.check_change(lambda: wrapper.put_first("-Wl,--hash-style=sysv"))

    def check_chain(self, kind):
        last = Wrapper(self.space.root / "last/c++", shutil.which("g++"), "script", "-DSITE=1")
        middle = Wrapper(self.space.root / "middle/cxx", last.path)
        self.use(kind, middle.path)
        self.check_change(lambda: last.put_first("-DSITE=2"))

    def check_one_program_of_many_names(self, kind):
        """Which it is, and where it starts from, the name says alone."""
        box = self.use(kind, name="toolbox")
        for name, site in (("one-g++", 1), ("two-g++", 2)):
            link = box.path.with_name(name)
            link.symlink_to("toolbox")
            box.path.with_name(f"{name}.target").write_text(shutil.which("g++") + "\n")
            box.path.with_name(f"{name}.options").write_text(f"-DSITE={site}\n")
        self.space.environment["CXX"] = str(box.path.with_name("one-g++"))
        self.check_change(lambda: self.space.environment.update({"CXX": str(box.path.with_name("two-g++"))}))
        self.check_change(lambda: box.path.with_name("two-g++.options").write_text("-DSITE=3\n"))

    def check_by_a_variable(self, kind):
        self.use(kind)
        self.space.environment["SPACK_OPTIONS"] = "-DSITE=1"
        self.check_change(lambda: self.space.environment.update({"SPACK_OPTIONS": "-DSITE=2"}))

    def check_by_a_variable_that_is_asked_for(self, kind):
        self.use(kind)
        self.space.more = ["--pass-environment", "SITE_*"]
        self.space.environment["SITE_OPTIONS"] = "-DSITE=1"
        self.check_change(lambda: self.space.environment.update({"SITE_OPTIONS": "-DSITE=2"}))

    def check_by_a_variable_that_the_pack_asks_for(self, kind):
        self.use(kind)
        file = self.space.pack.folder / "pack.yaml"
        file.write_text(file.read_text() + "pass_environment: [SITE_OPTIONS]\n")
        self.space.environment["SITE_OPTIONS"] = "-DSITE=1"
        self.check_change(lambda: self.space.environment.update({"SITE_OPTIONS": "-DSITE=2"}))

    def check_by_the_current_folder(self, kind):
        """It looks for a file there and above."""
        self.use(kind)
        file = self.space.root / ".site-options"
        file.write_text("-DSITE=1\n")
        self.check_change(lambda: file.write_text("-DSITE=2\n"))

    def check_by_the_build_folder(self, kind):
        self.use(kind)
        self.build()
        (self.space.build_dir / ".site-options").write_text("-DSITE=2\n")
        run = self.space.build()
        self.assertGreater(run.edges_run(), 0, run)

    def test_the_assembler_is_a_script_that_reads_its_options(self):
        wrapper = Wrapper(self.space.root / "parts/as", shutil.which("as"), "script", "--defsym patched=1")
        text = f'exec "{wrapper.path.with_name("real-as")}" $(cat "{wrapper.path.with_name("as.options")}") "$@"\n'
        wrapper.path.with_name("real-as").symlink_to(shutil.which("as"))
        write_program(wrapper.path, text)
        self.space.add_cpu_op("asm", {"c.cpp": PATCHED + 'extern "C" int c() { return 1; }\n'}, ["c.cpp"])
        self.space.environment["COMPILER_PATH"] = str(wrapper.path.parent)
        self.check_change(lambda: wrapper.put_first("--defsym patched=2"))

    def check_one_that_stays(self, kind):
        self.use(kind, options="-DSITE=3")
        self.build()
        run = self.space.build()
        self.assertEqual((run.code, run.edges_run()), (0, 0), run)
        self.clean()
        run = self.space.build("--json")
        found = json.loads(run.out.splitlines()[-1])["store"]
        self.assertEqual((found["hits"], found["misses"]), (2, 0), run)  # the object and the library


class SpecsTest(ToolsTest):
    """A gcc of its own folder, whose specs are files there."""

    def setUp(self):
        super().setUp()
        real = pathlib.Path(os.path.realpath(shutil.which("g++")))
        asked = subprocess.run([real, "-print-libgcc-file-name"], stdout=subprocess.PIPE, text=True, check=True)
        libraries = pathlib.Path(asked.stdout.strip()).parent  # lib/gcc/<machine>/<version>
        root = self.space.root / "gcc"
        self.own = root / "lib/gcc" / libraries.parent.name / libraries.name
        self.own.mkdir(parents=True)
        for file in libraries.iterdir():
            (self.own / file.name).symlink_to(file)
        (root / "bin").mkdir()
        shutil.copy(real, root / "bin/g++")
        self.space.environment["CXX"] = str(root / "bin/g++")
        self.space.add_cpu_op("tool", {"b.cpp": SITE}, ["b.cpp"])
        self.dumped = subprocess.run([real, "-dumpspecs"], stdout=subprocess.PIPE, text=True, check=True).stdout

    def specs(self, number):
        return self.dumped.replace("*cc1plus:\n", f"*cc1plus:\n-DSITE={number} ")

    def write(self, folder, number):
        folder.mkdir(exist_ok=True)
        (folder / "specs").write_text(self.specs(number))

    def test_specs_come(self):
        self.check_change(lambda: self.write(self.own, 2))

    def test_specs_change(self):
        self.write(self.own, 2)
        self.check_change(lambda: replace(self.own / "specs", self.specs(3).encode(), keep_time=True))

    def test_specs_go(self):
        self.write(self.own, 2)
        self.check_change((self.own / "specs").unlink)

    def test_specs_come_in_LIBRARY_PATH(self):
        folder = self.space.root / "libraries"
        self.space.environment["LIBRARY_PATH"] = str(folder)
        self.check_change(lambda: self.write(folder, 2))

    def test_it_is_asked_once(self):
        self.build()
        run = self.space.build()
        self.assertEqual((run.code, run.edges_run()), (0, 0), run)


@unittest.skipUnless(shutil.which("clang++"), "no clang++")
class ClangConfigurationTest(ToolsTest):
    """A clang of its own folder, with the name of a machine before its own: it reads a file of that name."""

    def setUp(self):
        super().setUp()
        real = pathlib.Path(os.path.realpath(shutil.which("clang++")))
        self.bin = self.space.root / "clang/bin"
        self.bin.mkdir(parents=True)
        shutil.copy(real, self.bin / "clang")
        (self.bin.parent / "lib").symlink_to(real.parent.parent / "lib")
        (self.bin / "x86_64-linux-gnu-clang++").symlink_to("clang")
        self.space.environment["CXX"] = str(self.bin / "x86_64-linux-gnu-clang++")
        self.configuration = self.bin / "x86_64-linux-gnu-clang++.cfg"
        self.space.add_cpu_op("tool", {"b.cpp": SITE}, ["b.cpp"])

    def test_it_comes(self):
        self.check_change(lambda: self.configuration.write_text("-DSITE=2\n"))

    def test_it_changes(self):
        self.configuration.write_text("-DSITE=2\n")
        self.check_change(lambda: replace(self.configuration, b"-DSITE=3\n", keep_time=True))

    def test_what_it_names(self):
        (self.bin / "more.txt").write_text("-DSITE=2\n")
        self.configuration.write_text("@more.txt\n")
        self.check_change(lambda: (self.bin / "more.txt").write_text("-DSITE=3\n"))


class FlagsTest(ToolsTest):
    """Files that CFLAGS names, which are flags of an op whose probe used them."""

    def setUp(self):
        super().setUp()
        self.space.add_cpu_op("tool", {"b.cpp": SITE}, ["b.cpp"], requires=[{"library": "m", "function": "cos"}])

    def check_file(self, flag):
        file = self.space.root / "flags.txt"
        is_specs = "specs" in flag
        text = "*cc1plus:\n+ -DSITE={}\n\n" if is_specs else "-DSITE={}\n"
        file.write_text(text.format(2))
        self.space.environment["CFLAGS"] = flag.replace("FILE", str(file))
        self.check_change(lambda: file.write_text(text.format(3)))

    def test_a_file_that_a_file_names(self):
        file = self.space.root / "flags.txt"
        file.write_text("-DSITE=2\n")
        (self.space.root / "first.txt").write_text(f"-O1 @{file}\n")
        self.space.environment["CFLAGS"] = f"@{self.space.root / 'first.txt'}"
        self.check_change(lambda: file.write_text("-DSITE=3\n"))

    def test_what_specs_include(self):
        file = self.space.root / "more"
        file.write_text("*cc1plus:\n+ -DSITE=2\n\n")
        (self.space.root / "first").write_text(f"%include <{file}>\n")
        self.space.environment["CFLAGS"] = f"-specs={self.space.root / 'first'}"
        self.check_change(lambda: file.write_text("*cc1plus:\n+ -DSITE=4\n\n"))

    def test_the_programs_of_B(self):
        folder = self.space.root / "parts"
        folder.mkdir()
        self.space.environment["CFLAGS"] = f"-B{folder}"
        self.check_change(lambda: write_program(folder / "cc1plus", f'exec "{real_cc1plus()}" -DSITE=4 "$@"\n'))


add_tests(FlagsTest, "file_of", FlagsTest.check_file, ["@FILE", "-specs=FILE", "--specs=FILE"])
for name in ("target_changes", "another_target", "options", "options_after_clean", "options_of_the_linker",
             "options_that_nobody_sees_in_the_text", "chain", "one_program_of_many_names", "by_a_variable",
             "by_a_variable_that_is_asked_for", "by_a_variable_that_the_pack_asks_for", "by_the_current_folder", "by_the_build_folder",
             "one_that_stays"):
    add_tests(WrapperTest, name, getattr(WrapperTest, f"check_{name}"), ["program", "script"])

if __name__ == "__main__":
    testspace.main(each_commit=8)
