#!/usr/bin/env python3
"""Content decides what is rebuilt, not times: a change under an old mtime is seen, a future mtime is warned of."""

import os
import pathlib
import random
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from testspace import SEED, TestSpace  # noqa: E402

SOURCES = ["alpha/alpha.cu", "alpha/alpha.cpp", "beta/one.cu", "gamma/two.cu", "host/host.cpp"]
DAY = 86400


def set_time(path, offset):
    when = 0 if offset is None else time.time() + offset
    os.utime(path, (when, when))


class MtimeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.space.use_fake_compiler()
        cls.generator = random.Random(SEED)
        cls.names = iter(range(1 << 20))

    def setUp(self):
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        self.forget()

    def forget(self):
        self.space.compiled()
        self.space.compiler.forget_starts()

    def recompiled(self):
        """Sources given to either compiler since the last call."""
        by_cxx = [start["argv"][start["argv"].index("-c") + 1].removeprefix("pack/")
                  for start in self.space.compiler.starts() if "-c" in start["argv"] and "-###" not in start["argv"]]
        self.space.compiler.forget_starts()
        return sorted([*self.space.compiled(), *by_cxx])

    def build(self):
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        return run

    def change(self, path):
        """Other bytes of the same length, which give another object, under the old mtime."""
        times = path.stat()
        text = path.read_text().rstrip("\n").split("// change ")[0]
        path.write_text(f"{text.rstrip()}\n// change {next(self.names):06}\n")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def test_a_source_changed_under_its_old_mtime_is_compiled_again(self):
        for name in SOURCES:
            self.change(self.space.pack.source(name))
            self.build()
        self.forget()
        for _ in range(testspace.count(8, 50)):
            name = self.generator.choice(SOURCES)
            before = self.space.hash()
            self.change(self.space.pack.source(name))
            self.build()
            self.assertEqual(self.recompiled(), [name])
            if name.endswith(".cu"):
                self.assertNotEqual(self.space.hash(), before)

    def test_a_source_whose_time_alone_changed_gives_the_same_bundle_and_then_nothing(self):
        source = self.space.pack.source("beta/one.cu")
        before = self.space.hash()
        os.utime(source)
        self.build()
        self.assertEqual(self.space.hash(), before)
        self.forget()
        self.assertEqual(self.build().edges_run(), 0)

    def test_an_old_time_rebuilds_nothing(self):
        for offset in (None, -365 * DAY):
            for source in ("beta/one.cu", "beta/beta.cpp"):
                with self.subTest(offset=offset, source=source):
                    set_time(self.space.pack.source(source), offset)
                    self.assertEqual(self.build().edges_run(), 0)

    def test_a_future_time_compiles_nothing(self):
        """Ninja goes by times, and would compile such a source every time."""
        before = self.space.hash()
        for offset in (DAY, 3650 * DAY):
            set_time(self.space.pack.source("beta/one.cu"), offset)
            self.assertEqual(self.build().edges_run(), 0)
            self.assertEqual(self.recompiled(), [])
        self.assertEqual(self.space.hash(), before)

    def test_a_header_changed_under_a_newer_mtime_is_seen(self):
        header = self.space.pack.source("alpha/shared.h")
        header.write_text(f"// change {next(self.names)}\n")
        self.build()
        self.assertEqual(self.recompiled(), ["alpha/alpha.cu"])

    def test_a_toolkit_replaced_under_its_old_mtime_rebuilds_its_edges(self):
        nvcc = self.space.toolkit.program
        times = nvcc.stat()
        nvcc.write_bytes(nvcc.read_bytes() + b"another build of it\n")
        os.utime(nvcc, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.build()
        self.assertEqual(len([name for name in self.recompiled() if name.endswith(".cu")]), 5)

    def test_an_older_source_put_in_place_of_a_newer_one_is_compiled(self):
        """As `git stash` or `rsync -a` do."""
        source = self.space.pack.source("gamma/one.cu")
        old = source.parent / "one.cu.old"
        old.write_text(source.read_text() + f"// older {next(self.names)}\n")
        set_time(old, -30 * DAY)
        os.replace(old, source)
        self.build()
        self.assertEqual(self.recompiled(), ["gamma/one.cu"])


if __name__ == "__main__":
    testspace.main()
