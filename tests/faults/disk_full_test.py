#!/usr/bin/env python3
"""A disk that fills up, or that cannot be written: exit 1 with path and reason, the old bundle as it was; with space
again the next run ends well. Needs a mount namespace of its own, in which this script starts itself again."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from mounts import enter_namespace, make_read_only, mount, mount_disk  # noqa: E402
from testspace import TestSpace  # noqa: E402

PAYLOAD = 32768  # bytes of each device image, so that objects outweigh the small files


def size_of(folder):
    """KiB on a tmpfs: whole pages."""
    files = [path.lstat().st_size for path in folder.rglob("*")]
    return sum((size + 4095) // 4096 * 4 for size in files)


class DiskFullTest(unittest.TestCase):
    def use_space(self, **settings):
        self.space = TestSpace(payload=PAYLOAD, **settings)
        self.disk = self.space.root / "disk"
        mount_disk(self, self.disk)
        self.space.build_dir, self.space.out = self.disk / "build", self.disk / "out"

    def resize(self, kib):
        mount("-o", f"remount,size={kib}k", self.disk)

    def make_references(self):
        """The new bundle's hash, the KiB that it takes; then the old bundle is in place and no build folder."""
        self.assertEqual(self.space.build().code, 0)
        new, needed = self.space.hash(), size_of(self.space.build_dir) + size_of(self.space.out)
        self.put_old_bundle()
        return new, self.space.hash(), needed

    def put_old_bundle(self):
        self.space.remove_build()
        self.space.remove_out()
        self.assertEqual(self.space.build("--arch", "8.0", "--ops", "alpha").code, 0)
        self.space.remove_build()

    def check_message(self, run):
        """Tools do not always give the reason: then dsbuild says how much room it sees."""
        self.assertEqual(run.code, 1, run)
        self.assertRegex(run.err, "No space left on device|are left on the disk of ")
        self.assertIn(str(self.disk), run.err)

    def check_size(self, room, old, new):
        """A build with so many KiB of room. Whether the disk got full."""
        self.resize(size_of(self.space.out) + room)
        run = self.space.build()
        full = run.code != 0
        if full:
            self.check_message(run)
            self.assertEqual(self.space.hash(), old, "the old bundle was touched")
        self.resize(1 << 20)
        again = self.space.build()
        self.assertEqual(again.code, 0, again)
        self.assertEqual(self.space.hash(), new)
        beside = [path.name for path in self.disk.iterdir()]
        self.assertEqual(sorted(beside), ["build", "out"])
        return full

    def test_a_disk_that_fills_up_costs_neither_the_old_bundle_nor_the_next_run(self):
        self.use_space()
        self.check_sizes(testspace.count(3, 60, deep_too=10))

    def test_the_same_by_slices(self):
        self.use_space(steps=True)
        self.check_sizes(testspace.count(2, 60, deep_too=5))

    def check_sizes(self, steps):
        new, old, needed = self.make_references()
        filled = 0
        for step in range(steps):
            room = 16 + needed * step // steps
            with self.subTest(room=f"{room} KiB of {needed}"):
                filled += self.check_size(room, old, new)
            self.put_old_bundle()
        self.assertGreaterEqual(filled, steps * 2 // 3, "the disk was hardly ever full: nothing was tested")

    def test_a_full_disk_under_the_cache_folder_does_no_harm(self):
        """Nothing is sliced then: there is no room for the self-test."""
        self.use_space(steps=True)
        self.resize(64)
        (self.disk / "fill").write_bytes(b"x" * 65536)
        self.space.build_dir, self.space.out = self.space.root / "build", self.space.root / "out"
        run = self.space.build(env={"XDG_CACHE_HOME": str(self.disk)})
        self.assertEqual(run.code, 0, run)
        self.assertEqual(self.space.verify().code, 0)


class ReadOnlyTest(unittest.TestCase):
    def setUp(self):
        self.space = TestSpace()
        self.assertEqual(self.space.build().code, 0)
        self.space.compiled()

    def change_a_source(self):
        with open(self.space.pack.source("alpha/alpha.cu"), "a", encoding="ascii") as file:
            file.write("// changed\n")

    def test_a_read_only_build_folder_stops_the_build_before_any_compiler(self):
        before = self.space.hash()
        make_read_only(self, self.space.build_dir)
        self.change_a_source()
        run = self.space.build()
        self.assertEqual(run.code, 1, run)
        self.assertIn("Read-only file system", run.err)
        self.assertIn(str(self.space.build_dir), run.err)
        self.assertEqual(self.space.compiled(), [])
        self.assertEqual(self.space.hash(), before)

    def test_a_bundle_in_a_read_only_place_stays_and_is_named(self):
        before = self.space.hash()
        make_read_only(self, self.space.out)
        self.change_a_source()
        run = self.space.build()
        self.assertEqual(run.code, 1, run)
        self.assertIn("Read-only file system", run.err)
        self.assertIn(str(self.space.out), run.err)
        self.assertEqual(self.space.hash(), before)

    def test_a_read_only_bundle_is_no_trouble_when_nothing_changed(self):
        make_read_only(self, self.space.out)
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.edges_run(), 0)

    def test_read_only_specs_and_sources_are_enough(self):
        make_read_only(self, self.space.pack.folder)
        self.space.remove_build()
        run = self.space.build()
        self.assertEqual(run.code, 0, run)

    def test_without_a_cache_folder_the_bundle_is_published_all_the_same(self):
        self.space.remove_build()
        self.space.remove_out()
        self.space.environment.update(HOME="/proc/no-home", XDG_CACHE_HOME="/proc/no-cache")
        self.space.toolkit.set(steps=True)
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        self.assertIn("warning[cache_not_writable]: /proc/no-cache/dsbuild: ", run.err)
        self.assertEqual(self.space.verify().code, 0)

    def test_without_a_home_nothing_is_left_in_the_current_folder(self):
        here = self.space.root / "here"
        here.mkdir()
        self.space.remove_build()
        for name in ("HOME", "XDG_CACHE_HOME"):
            del self.space.environment[name]
        run = self.space.build("--ops", "alpha", cwd=here)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(list(here.iterdir()), [])


if __name__ == "__main__":
    enter_namespace()
    testspace.main(each_commit=5)
