#!/usr/bin/env python3
"""Damage to the files that dsbuild and Ninja keep: the next run repairs it, or says which file is to blame; it neither
crashes nor hangs nor uses what is damaged, and it writes through no link that it did not make."""

import os
import pathlib
import random
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from testspace import SEED, TestSpace  # noqa: E402

OBJECT, LIBRARY = "obj/beta/beta/one.cu/one.o", "lib/beta.so"
# Files whose loss must heal by itself.
KEPT_BY_NINJA = [".ninja_log"]
KEPT_BY_DSBUILD = ["build.ninja", "facts.json", "check/beta.json", "check/beta.ok", "tools/nvcc.id", "tools/cxx.id",
                   "obj/beta/beta/one.cu/one.o.record", "lib/beta.so.record", "lock"]
MARKER = "dsbuild-build-folder"
MADE = [OBJECT, LIBRARY, "obj/alpha/alpha/alpha.cpp/alpha.o"]


def truncate(path, generator):
    os.truncate(path, generator.randrange(max(path.stat().st_size, 1)))


def empty(path, _):
    os.truncate(path, 0)


def flip_bits(path, generator):
    data = bytearray(path.read_bytes())
    for _ in range(generator.randrange(1, 9)):
        if data:
            data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
    path.write_bytes(data)


def write_garbage(path, generator):
    path.write_bytes(generator.randbytes(4096))


def append_half(path, generator):
    """As when two writers mixed their output."""
    data = path.read_bytes()
    path.write_bytes(data + data[generator.randrange(len(data) + 1):])


def remove(path, _):
    path.unlink()


DAMAGES = [truncate, empty, flip_bits, write_garbage, append_half, remove]


class DamageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.generator = random.Random(SEED)
        assert cls.space.build().code == 0
        cls.reference = cls.space.hash()
        cls.good = cls.space.root / "good build"
        shutil.copytree(cls.space.build_dir, cls.good, symlinks=True)

    def restore(self):
        self.space.remove_build()
        shutil.copytree(self.good, self.space.build_dir, symlinks=True)

    def check_healed(self, run):
        self.assertEqual(run.code, 0, run)
        self.assertEqual(self.space.hash(), self.reference)
        self.assertEqual(self.space.verify().code, 0)

    def pairs(self, files, number):
        """Every (file, damage) at night, else so many of them."""
        every = [(file, damage) for file in files for damage in DAMAGES]
        return every * 20 if testspace.NIGHTLY else self.generator.sample(every, min(number, len(every)))

    def test_what_ninja_and_dsbuild_keep_heals_by_itself(self):
        for name, damage in [*self.pairs(KEPT_BY_NINJA, 9), *self.pairs(KEPT_BY_DSBUILD, 15)]:
            with self.subTest(file=name, damage=damage.__name__):
                self.restore()
                damage(self.space.build_dir / name, self.generator)
                self.check_healed(self.space.build())

    def test_a_folder_without_its_marker_is_not_taken_for_ours(self):
        for damage in DAMAGES:
            self.restore()
            damage(self.space.build_dir / MARKER, self.generator)
            run = self.space.build()
            if damage is not remove:
                self.check_healed(run)
                continue
            self.assertEqual(run.code, 2, run)
            self.assertIn(str(self.space.build_dir), run.err)

    def test_damaged_logs_heal_when_there_is_work_too(self):
        for name, damage in self.pairs(KEPT_BY_NINJA, 6):
            with self.subTest(file=name, damage=damage.__name__):
                self.restore()
                damage(self.space.build_dir / name, self.generator)
                (self.space.build_dir / LIBRARY).unlink()
                self.check_healed(self.space.build())

    def test_damage_to_objects_and_libraries_heals_or_is_named(self):
        """What cannot be healed is never published, and `clean` is the way out. Damage that leaves a
        readable ELF file is left out: no digest of what was built is kept that would tell."""
        for name, damage in [(name, damage) for name in MADE for damage in (truncate, empty, write_garbage, remove)]:
            with self.subTest(file=name, damage=damage.__name__):
                self.restore()
                damage(self.space.build_dir / name, self.generator)
                run = self.space.build()
                self.assertIn(run.code, (0, 1), run)
                self.assertEqual(self.space.hash(), self.reference)
                if run.code == 1:
                    self.assertIn(pathlib.Path(name).parts[1].removesuffix(".so"), run.err)
                    self.assertIn("`dsbuild clean --build-dir ", self.space.build().err)
                    self.assertEqual(self.space.run(*self.space.arguments("clean")).code, 0)
                    self.check_healed(self.space.build())

    def test_a_ninja_that_crashes_on_its_logs_is_started_again_without_them(self):
        """The real one does so on some flips of its logs; here a Ninja that always does."""
        self.restore()
        ninja = self.space.root / "crashing ninja"
        real = self.space.environment["DSBUILD_NINJA"]
        ninja.write_text(f'#!/bin/sh\n[ "$1" != --version ] && [ -e .ninja_log ] && kill -SEGV $$\nexec {real} "$@"\n')
        ninja.chmod(0o755)
        (self.space.build_dir / LIBRARY).unlink()
        run = self.space.build(env={"DSBUILD_NINJA": str(ninja)})
        self.check_healed(run)
        self.assertIn("Ninja crashed", run.err)

    def test_every_changed_byte_of_a_bundle_is_found_by_verify(self):
        files = ["alpha.so", "beta.so", "gamma.so", "host.so", "manifest.json", testspace.STATEMENT]
        for _ in range(testspace.count(8, 1000, deep_too=40)):
            path = self.space.out / self.generator.choice(files)
            good = path.read_bytes()
            place = self.generator.randrange(len(good))
            changed = bytearray(good)
            changed[place] ^= 1 << self.generator.randrange(8)
            path.write_bytes(changed)
            with self.subTest(file=path.name, place=place):
                found = self.space.verify().code
                # The statement also holds words that describe and that no byte of a library depends on.
                self.assertIn(found, (0, 1) if path.name == testspace.STATEMENT else (1,))
            path.write_bytes(good)

    def test_a_damaged_bundle_is_published_again(self):
        files = ["alpha.so", "beta.so", "manifest.json", testspace.STATEMENT]
        every = [(file, damage) for file in files for damage in DAMAGES]
        for name, damage in every if testspace.NIGHTLY else self.generator.sample(every, testspace.count(4, 8, deep_too=8)):
            with self.subTest(file=name, damage=damage.__name__):
                self.restore()
                damage(self.space.out / name, self.generator)
                run = self.space.build()
                if run.code == 2:  # a manifest.json that no longer tells whose it is
                    self.assertEqual(name, "manifest.json")
                    self.assertIn(str(self.space.out), run.err)
                    self.space.remove_out()
                    run = self.space.build()
                self.check_healed(run)

    def test_files_of_another_version_start_over(self):
        self.restore()
        (self.space.build_dir / ".ninja_log").write_text("# ninja log v99\nfoo\n")
        (self.space.build_dir / "facts.json").write_text('{"schema": 99, "facts": {"x": 3}}')
        self.check_healed(self.space.build())

    def test_things_that_are_no_files_heal_or_are_named(self):
        names = [*KEPT_BY_NINJA, *KEPT_BY_DSBUILD, MARKER, *MADE]
        for name, make in [(name, make) for name in names for make in (os.mkdir, os.mkfifo)]:
            with self.subTest(name=name, make=make.__name__):
                self.restore()
                path = self.space.build_dir / name
                path.unlink()
                make(path)
                run = self.space.build(timeout=30)
                self.assertIn(run.code, (0, 1, 2), run)
                self.assertEqual(self.space.hash(), self.reference)
                if run.code != 0:
                    self.assertRegex(run.err, "(?m)^(error|failed)")


class LinkTest(unittest.TestCase):
    """Links planted in the build folder before a build: the file that they point to stays as it is."""

    PLACES = [".ninja_log", "build.ninja", "facts.json", "check/beta.json", "check/beta.ok",
              "tools/nvcc.id", OBJECT + ".record", OBJECT + ".stale", "lock", MARKER, "log/dsbuild.log",
              OBJECT, OBJECT + ".tmp", OBJECT + ".d", LIBRARY, LIBRARY + ".tmp", LIBRARY + ".rsp"]

    def test_a_planted_link_is_replaced_or_refused_never_written_through(self):
        space = TestSpace()
        self.assertEqual(space.build().code, 0)
        reference = space.hash()
        victim = space.root / "victim"
        for place in self.PLACES:
            with self.subTest(place):
                victim.write_text("precious\n")
                path = space.build_dir / place
                path.unlink(missing_ok=True)
                path.symlink_to(victim)
                for output in (OBJECT, LIBRARY):
                    if output != place:
                        (space.build_dir / output).unlink(missing_ok=True)
                run = space.build()
                self.assertEqual(victim.read_text(), "precious\n", "the link was followed")
                self.assertIn(run.code, (0, 1, 2), run)
                if run.code != 0:
                    self.assertIn(place.split("/")[0], run.err)
                    path.unlink()
                    run = space.build()
                self.assertEqual(run.code, 0, run)
                self.assertEqual(space.hash(), reference)

    def test_links_at_the_bundle_are_not_written_through(self):
        space = TestSpace()
        self.assertEqual(space.build().code, 0)
        reference = space.hash()
        victim = space.root / "victim"
        victim.write_text("precious\n")
        staging = space.root / ".out.dsbuild-staging"
        for path in (space.out / "alpha.so", space.out / "manifest.json", staging):
            with self.subTest(path.name):
                path.unlink(missing_ok=True)
                path.symlink_to(victim)
                run = space.build()
                self.assertEqual(victim.read_text(), "precious\n", "the link was followed")
                self.assertIn(run.code, (0, 1, 2), run)
                if path.is_symlink():
                    path.unlink()
                space.remove_out()
                self.assertEqual(space.build().code, 0)
                self.assertEqual(space.hash(), reference)


if __name__ == "__main__":
    testspace.main(each_commit=3)
