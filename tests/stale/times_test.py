#!/usr/bin/env python3
"""Macros by which what a compile makes depends on times: __TIMESTAMP__ on the file's, __DATE__ and __TIME__ on the clock."""

import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from stale import TICK, StaleSpace, StaleTest  # noqa: E402

SOURCE = 'extern "C" const char* v() { return WHEN; }\n'
LONG_AGO, LATER = (1_000_000_000, 1_000_000_000), (1_100_000_000, 1_100_000_000)


class FileTimeTest(StaleTest):
    def setUp(self):
        super().setUp()
        self.space.pack.source("inc").mkdir()

    def check_touched(self, files, touched):
        self.space.add_cpu_op("hosty", files, include_dirs=["inc"])
        for path in files:
            os.utime(self.space.pack.source(path), LONG_AGO)
        self.check_change(lambda: os.utime(self.space.pack.source(touched), LATER))
        self.assertEqual(self.space.build().edges_run(), 0)

    def test_of_a_source(self):
        self.check_touched({"a.cpp": SOURCE.replace("WHEN", "__TIMESTAMP__")}, "a.cpp")

    def test_of_a_source_by_a_macro_of_a_header(self):
        self.check_touched({"a.cpp": '#include "v.h"\n' + SOURCE, "inc/v.h": "#define WHEN __TIMESTAMP__\n"}, "a.cpp")

    def test_of_a_header(self):
        header = "inline const char* when() { return __TIMESTAMP__; }\n"
        self.check_touched({"a.cpp": '#include "v.h"\n' + SOURCE.replace("WHEN", "when()"), "inc/v.h": header}, "inc/v.h")

    def test_by_a_define_of_the_spec(self):
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE}, defines={"WHEN": "__TIMESTAMP__"})
        os.utime(self.space.pack.source("a.cpp"), LONG_AGO)
        self.check_change(lambda: os.utime(self.space.pack.source("a.cpp"), LATER))

    def test_in_another_checkout(self):
        """One store, the same bytes, another time."""
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE.replace("WHEN", "__TIMESTAMP__")})
        os.utime(self.space.pack.source("a.cpp"), LONG_AGO)
        before = self.build()
        other = StaleSpace("other", cache=self.space.environment["XDG_CACHE_HOME"])
        other.add_cpu_op("hosty", {"a.cpp": SOURCE.replace("WHEN", "__TIMESTAMP__")})
        os.utime(other.pack.source("a.cpp"), LATER)
        self.check(before=before, space=other)


class ClockTest(StaleTest):
    def setUp(self):
        super().setUp()
        self.space.pack.source("inc").mkdir()

    def built_at(self):
        """The time that the library has, by a build that says why it compiles again."""
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        self.assertIn("SOURCE_DATE_EPOCH", run.err)
        self.assertEqual(re.findall(r"warning\[time_of_build\]: (\S+):", run.err), [self.named])
        library = (self.space.out / "hosty.so").read_bytes()
        return re.search(rb"\d\d:\d\d:\d\d", library).group()

    def check_clock(self, files, named, **keys):
        self.named = named
        self.space.add_cpu_op("hosty", files, include_dirs=["inc"], **keys)
        first = self.built_at()
        time.sleep(1.1)
        second = self.built_at()
        self.assertNotEqual(first, second)
        self.clean()
        time.sleep(1.1)
        self.assertNotEqual(second, self.built_at())

    def test_in_a_source(self):
        self.check_clock({"a.cpp": SOURCE.replace("WHEN", "__TIME__")}, "a.cpp")

    def test_in_a_header(self):
        self.check_clock({"a.cpp": '#include "v.h"\n' + SOURCE, "inc/v.h": '#define WHEN __DATE__ " " __TIME__\n'}, "inc/v.h")

    def test_by_a_define_of_the_spec(self):
        self.check_clock({"a.cpp": SOURCE}, "a.cpp", defines={"WHEN": "__TIME__"})

    def test_a_name_that_only_looks_like_it(self):
        self.space.add_cpu_op("hosty", {"a.cpp": "int my__TIME__;\n" + SOURCE.replace("WHEN", '""')})
        self.build()
        time.sleep(TICK)
        run = self.space.build()
        self.assertEqual(run.edges_run(), 0)
        self.assertNotIn("time_of_build", run.err)


if __name__ == "__main__":
    testspace.main(each_commit=7)
