#!/usr/bin/env python3
"""A good build, one output deleted, and a kill while it is written again: plain Ninja then takes the half file for
finished (its log entry is still valid and the file is newer than its inputs). Each rule's rename prevents that."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from testspace import TestSpace, kill_all, wait_until  # noqa: E402

# Each kind of edge whose tool writes piece by piece: its output, and what its tool calls the file.
COMPILE_CUDA, COMPILE_CXX, LINK = "obj/beta/beta/one.cu/one.o", "obj/beta/beta/beta.cpp/beta.o", "lib/beta.so"
NEVER_ENDS = 60  # seconds


def has_bytes(path):
    return path.is_file() and path.stat().st_size > 0


class HalfOutputTest(unittest.TestCase):
    def setUp(self):
        self.space = TestSpace(payload=4096)
        self.space.use_fake_compiler()
        self.assertEqual(self.space.build().code, 0)
        self.undisturbed = self.space.hash()

    def path(self, output):
        found = self.space.build_dir / output
        self.assertTrue(found.is_file(), f"no {output} in {sorted(self.space.build_dir.rglob('*.o'))}")
        return found

    def stall(self, name):
        """The tool that writes `name` stops half way."""
        for tool in (self.space.toolkit, self.space.compiler):
            tool.set(slow={name: NEVER_ENDS})

    def go_on(self):
        for tool in (self.space.toolkit, self.space.compiler):
            tool.set(slow={})

    def kill_half_way(self, process, half_file):
        self.assertTrue(wait_until(lambda: has_bytes(half_file)), f"{half_file} was never written")
        kill_all(process.pid)
        process.communicate()

    def check(self, output):
        """Delete, rebuild, kill half way, rebuild."""
        whole = self.path(output)
        temporary = whole.with_name(whole.name + ".tmp")
        whole.unlink()
        self.stall(temporary.name)
        self.kill_half_way(self.space.start_build(), temporary)
        self.assertFalse(whole.exists(), "a half-written output stands under its final name")
        self.go_on()
        again = self.space.build()
        self.assertEqual(again.code, 0, again)
        self.assertEqual(self.space.hash(), self.undisturbed)
        self.assertEqual(self.space.build().edges_run(), 0)

    def test_a_half_written_object_of_a_cuda_compile_is_made_again(self):
        self.check(COMPILE_CUDA)

    def test_a_half_written_object_of_a_cxx_compile_is_made_again(self):
        self.check(COMPILE_CXX)

    def test_a_half_written_library_is_linked_again(self):
        self.check(LINK)

    def test_deleted_files_of_the_other_edges_are_made_again(self):
        """Those that dsbuild writes itself, whole or not at all."""
        for name in ("check/beta.ok", "check/beta.json", "build.ninja", "tools/nvcc.id"):
            with self.subTest(name):
                self.path(name).unlink()
                again = self.space.build()
                self.assertEqual(again.code, 0, again)
                self.assertEqual(self.space.hash(), self.undisturbed)

    def test_a_bundle_file_that_is_gone_or_half_is_published_again(self):
        library = self.space.out / "beta.so"
        for damage in (library.unlink, lambda: os.truncate(library, library.stat().st_size // 2)):
            damage()
            again = self.space.build()
            self.assertEqual(again.code, 0, again)
            self.assertEqual(self.space.hash(), self.undisturbed)


class HalfSliceTest(unittest.TestCase):
    """Tools of slices write into a folder of the part, or a file that is renamed; what they made is then put in its place."""

    def setUp(self):
        self.space = TestSpace(payload=4096, steps=True)
        self.assertEqual(self.space.build().code, 0)
        self.undisturbed = self.space.hash()

    def check(self, lost, half):
        """`lost` is deleted; the tool that writes `half` on the way to it is killed half way."""
        unit = self.space.build_dir / "obj/beta/beta/one.cu"
        (unit / lost).unlink()
        self.space.toolkit.set(slow={(unit / half).name: NEVER_ENDS})
        process = self.space.start_build()
        self.assertTrue(wait_until(lambda: has_bytes(unit / half)), f"{half} was never written")
        kill_all(process.pid)
        process.communicate()
        self.assertFalse((unit / lost).exists(), "a half-written output stands under its final name")
        self.space.toolkit.set(slow={})
        again = self.space.build()
        self.assertEqual(again.code, 0, again)
        self.assertEqual(self.space.hash(), self.undisturbed)
        self.assertEqual(self.space.build().edges_run(), 0)

    def test_half_a_front_is_made_again(self):
        self.check("one.cudafe1.cpp", "one.front.run/one.cudafe1.cpp")

    def test_half_an_image_of_a_slice_is_made_again(self):
        self.check("one.compute_80.sm_80.cubin", "one.compute_80.run/one.compute_80.sm_80.cubin")

    def test_half_a_fatbin_is_made_again(self):
        self.check("one.o", "one.fatbin")


if __name__ == "__main__":
    testspace.main(each_commit=5)
