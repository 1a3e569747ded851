#!/usr/bin/env python3
"""A write through a shared mapping moves no time on tmpfs, so no identity tells of it: --paranoid reads each file again."""

import mmap
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from stale import TICK, StaleTest  # noqa: E402

SHM = "/dev/shm"
SOURCE = '#include "v.h"\nextern "C" int v() { return V + 10; }\n'


def write_unseen(file, old, new):
    """Through a mapping."""
    before = file.stat()
    with open(file, "r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
        at = mapped.find(old)
        assert at >= 0 and len(old) == len(new)
        mapped[at:at + len(new)] = new
    after = file.stat()
    if (before.st_mtime_ns, before.st_ctime_ns) != (after.st_mtime_ns, after.st_ctime_ns):
        testspace.skip(f"a write through a mapping moves the time of a file in {SHM}")
    assert new in file.read_bytes()


class ParanoidTest(StaleTest):
    def setUp(self):
        super().setUp()
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE, "inc/v.h": "#define V 1\n"}, include_dirs=["inc"])
        time.sleep(TICK)  # what was written within a tick is read again anyway

    def change_unseen(self, path="inc/v.h", old=b"V 1", new=b"V 2"):
        before = self.build()
        write_unseen(self.space.pack.source(path), old, new)
        if self.space.build().edges_run() != 0:
            raise RuntimeError("the change is seen by identity: this shows nothing")
        return before

    def test_a_header(self):
        self.check("--paranoid", before=self.change_unseen())

    def test_a_source(self):
        self.check("--paranoid", before=self.change_unseen("a.cpp", b"V + 10", b"V + 20"))

    def test_by_its_variable(self):
        self.check(env={"DSBUILD_PARANOID": "1"}, before=self.change_unseen())

    def test_in_config(self):
        before = self.change_unseen()
        config = self.space.root / "paranoid.yaml"
        config.write_text("paranoid: true\n")
        self.check("--config", str(config), before=before)

    def test_what_was_found_counts_later(self):
        """The new digests are remembered in place of the old ones."""
        self.check("--paranoid", before=self.change_unseen())
        self.check()

    def test_an_object(self):
        """Of the build itself. It is the same as before, once it is made again."""
        before = self.build()
        made = next(self.space.build_dir.rglob("*.o"))
        write_unseen(made, b"ELF", b"XXX")
        self.assertEqual(self.space.build().edges_run(), 0)
        self.assertGreater(self.check("--paranoid").edges_run(), 0)
        self.assertEqual(testspace.bundle_files(self.space.out), before)

    def test_nothing_to_do(self):
        self.build("--paranoid")
        self.assertEqual(self.check("--paranoid").edges_run(), 0)


if __name__ == "__main__":
    if not os.access(SHM, os.W_OK):
        testspace.skip("no tmpfs")
    tempfile.tempdir = SHM
    testspace.main()
