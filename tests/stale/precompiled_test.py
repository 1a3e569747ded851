#!/usr/bin/env python3
"""What g++ and clang take in place of a header that a source names: v.h.gch next to it, a file or a folder. No depfile says so,
and where one is taken the depfile does not name the header either."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from stale import TICK, StaleSpace, StaleTest  # noqa: E402

SOURCE = '#include "v.h"\nextern "C" int v() { return V; }\n'
SYSTEM = '#include <vector>\nextern "C" int v() {\n#ifdef V\n  return V;\n#else\n  return 1;\n#endif\n}\n'
COMPUTED = '#define H "v.h"\n#include H\nextern "C" int v() { return V; }\n'


def header_with(value):
    return f"#pragma once\n#define V {value}\n"


@testspace.deep_but("test_one_comes_changes_and_goes", "test_a_folder_of_them", "test_in_an_earlier_folder_that_has_no_header",
                    "test_another_checkout_has_none", "test_another_op_has_none")
class PrecompiledTest(StaleTest):
    def setUp(self):
        super().setUp()
        self.flags = self.flags_of_compiles()

    def flags_of_compiles(self):
        """gcc refuses a precompiled header of other flags: those that dsbuild gives, but the files."""
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE, "inc/v.h": header_with(1)}, include_dirs=["inc0", "inc"],
                              flags={"cxx": ["-O1"]})
        self.space.pack.source("inc0").mkdir()
        run = self.space.build()
        if run.code != 0:
            raise RuntimeError(str(run))
        command = json.loads((self.space.build_dir / "compile_commands.json").read_text())[0]
        words = command.get("arguments") or shlex.split(command["command"])
        self.space.remove_build()
        shutil.rmtree(self.space.cache_folder(), ignore_errors=True)
        shutil.rmtree(self.space.out)
        return [word for word in words if word.startswith(("-O", "-std", "-m", "-f", "-g", "-p", "-D"))]

    def precompile(self, path, value, *more):
        """In the pack's sources."""
        header, made = self.space.root / "g.h", self.space.pack.source(path)
        header.write_text(header_with(value))
        made.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["g++", *self.flags, *more, "-w", "-x", "c++-header", str(header), "-o", str(made)], check=True)
        time.sleep(TICK)
        return made

    def test_one_comes_changes_and_goes(self):
        before = self.build()
        made = self.precompile("inc/v.h.gch", 2)
        self.check(before=before)
        before = testspace.bundle_files(self.space.out)
        self.precompile("inc/v.h.gch", 3)
        self.check(before=before)
        before = testspace.bundle_files(self.space.out)
        made.unlink()
        self.check(before=before)

    def test_a_folder_of_them(self):
        before = self.build()
        made = self.precompile("inc/v.h.gch/any name", 2)
        self.check(before=before)
        (made.parent / "0").write_text("none of gcc's")
        self.check()
        before = testspace.bundle_files(self.space.out)
        self.precompile("inc/v.h.gch/any name", 3)
        self.check(before=before)
        before = testspace.bundle_files(self.space.out)
        shutil.rmtree(made.parent)
        self.check(before=before)

    def test_in_an_earlier_folder_that_has_no_header(self):
        self.check_change(lambda: self.precompile("inc0/v.h.gch", 2))

    def test_in_place_of_no_header(self):
        made = self.precompile("inc0/v.h.gch", 2)
        self.space.pack.source("inc/v.h").unlink()
        before = self.build()
        self.check_change(lambda: self.precompile("inc0/v.h.gch", 3))
        made.unlink()
        self.check(before=before, fails=True)

    def test_next_to_the_source(self):
        self.check_change(lambda: self.precompile("v.h.gch", 2))

    def test_in_a_folder_of_the_name(self):
        self.space.write("a.cpp", SOURCE.replace('"v.h"', "<sub/v.h>"))
        self.space.write("inc/sub/v.h", header_with(1))
        self.check_change(lambda: self.precompile("inc0/sub/v.h.gch", 2))
        before = testspace.bundle_files(self.space.out)
        shutil.rmtree(self.space.pack.source("inc0/sub"))
        self.check(before=before)

    def test_through_dots(self):
        self.space.write("a.cpp", SOURCE.replace('"v.h"', '"../src/inc/v.h"'))
        self.check_change(lambda: self.precompile("inc/v.h.gch", 2))

    def test_of_a_name_that_a_macro_gives(self):
        self.space.write("a.cpp", COMPUTED)
        before = self.build()
        made = self.precompile("inc/v.h.gch/x", 2)
        self.check(before=before)
        before = testspace.bundle_files(self.space.out)
        made.unlink()
        self.check(before=before)

    def test_of_a_header_of_the_system(self):
        self.space.write("a.cpp", SYSTEM)
        before = self.build()
        made = self.precompile("inc/vector.gch", 2)
        self.check(before=before)
        before = testspace.bundle_files(self.space.out)
        made.unlink()
        self.check(before=before)

    def test_of_a_header_that_no_source_names(self):
        """gcc's own first one, in whose place it takes one that was made without it. It was there from the first build on."""
        self.space.write("a.cpp", SYSTEM.replace("#include <vector>\n", ""))
        self.space.write("none/stdc-predef.h", "")
        made = self.precompile("inc/stdc-predef.h.gch", 2, f"-I{self.space.pack.source('none')}")
        before = self.build()
        made.unlink()
        self.check(before=before)

    def test_through_a_link_and_under_its_old_time(self):
        two, three = self.precompile("kept/two", 2), self.precompile("kept/three", 3)
        os.utime(two, (1, 1))
        os.utime(three, (1, 1))
        link = self.space.pack.source("inc/v.h.gch")
        link.symlink_to("../kept/two")
        before = self.build()
        link.unlink()
        link.symlink_to("../kept/three")
        self.check(before=before)

    def test_another_checkout_has_none(self):
        """One store; the same header."""
        self.precompile("inc/v.h.gch", 2)
        before = self.build()
        other = StaleSpace("other", cache=self.space.environment["XDG_CACHE_HOME"])
        shutil.copytree(self.space.pack.folder, other.pack.folder, dirs_exist_ok=True)
        other.pack.source("inc/v.h.gch").unlink()
        self.check(before=before, space=other)

    def test_another_op_has_none(self):
        """Of two ops with the source one looks in the folder that has one."""
        keys = {"flags": {"cxx": ["-O1"]}}
        self.space.write("more/w.h", "")
        self.space.pack.add_op("second", {}, {"sources": ["a.cpp"], "backend": "cpu", "include_dirs": ["inc"], **keys})
        self.check_change(lambda: self.precompile("inc0/v.h.gch", 2))


if __name__ == "__main__":
    testspace.main(each_commit=2)
