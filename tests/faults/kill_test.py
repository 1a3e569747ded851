#!/usr/bin/env python3
"""SIGKILL at a random moment of a cold build: the published bundle is the old one or the new one, whole, and the next
run ends with the bytes of an undisturbed build."""

import os
import pathlib
import random
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from testspace import SEED, TestSpace, children, command_of, program_of, send  # noqa: E402


def is_ninja(pid):
    return os.path.basename((command_of(pid) or [""])[0]) == "ninja"


def kill_one(processes, choose):
    """SIGKILL to one of them; nothing when there is none at this moment."""
    if processes:
        send(choose(processes), 9)


def kill_dsbuild(process, _):
    process.kill()


def kill_ninja(process, generator):
    kill_one([pid for pid in children(process.pid) if is_ninja(pid)], generator.choice)


def kill_compiler(process, generator):
    """Any program but Ninja; and not dsbuild's own program, which is what the leak check of a sanitized dsbuild
    forks to look at its parent: the parent waits for ever when that one is killed."""
    own = program_of(process.pid)
    kill_one([pid for pid in children(process.pid) if not is_ninja(pid) and program_of(pid) != own], generator.choice)


def kill_everything(process, _):
    for pid in [process.pid, *children(process.pid)]:
        send(pid, 9)


VICTIMS = [kill_dsbuild, kill_ninja, kill_compiler, kill_everything]


def leftovers(space):
    """Half-written files of killed runs, in the build folder or beside the bundle."""
    kinds = ("*.tmp", "*.dsbuild-tmp", "*.dsbuild-staging", "*.run", "*.fatbin", "*.fatbin.s")
    folders = ("*.dsbuild-staging", "*.run")
    return sorted(str(path) for kind in kinds for path in space.root.rglob(kind) if path.is_file() or kind in folders)


class KillTest(unittest.TestCase):
    def prepare(self, space):
        """The old bundle, kept aside, and the hash of the new one."""
        self.assertEqual(space.build("--arch", "8.0").code, 0)
        old = space.root / "old"
        shutil.move(space.out, old)
        space.remove_build()
        undisturbed = space.build()
        self.assertEqual(undisturbed.code, 0, undisturbed)
        return old, testspace.bundle_hash(old), space.hash(), undisturbed.seconds

    def one_round(self, space, prepared, victim, moment):
        old, old_hash, new_hash, _ = prepared
        space.remove_build()
        space.remove_out()
        shutil.copytree(old, space.out)
        process = space.start_build()
        time.sleep(moment)
        victim(process, self.generator)
        process.communicate(timeout=testspace.TIME_LIMIT)
        self.assertIn(space.hash(), (old_hash, new_hash), "the bundle is neither the old nor the new one")
        verified = space.verify()
        self.assertEqual(verified.code, 0, verified)
        again = space.build()
        self.assertEqual(again.code, 0, again)
        self.assertEqual(space.hash(), new_hash, "other bytes than an undisturbed build")
        self.assertEqual(leftovers(space), [], "half-written files stay")

    def rounds(self, space, number):
        self.generator = random.Random(SEED)
        prepared, victims = self.prepare(space), self.generator.sample(VICTIMS, len(VICTIMS))
        for index in range(number):
            victim = victims[index % len(victims)]
            moment = self.generator.uniform(0, prepared[3])
            with self.subTest(round=index, victim=victim.__name__, moment=f"{moment:.3f}"):
                self.one_round(space, prepared, victim, moment)

    def test_a_killed_build_leaves_a_whole_bundle_and_the_next_run_heals(self):
        self.rounds(TestSpace(sleep=0.05), testspace.count(5, 200, deep_too=20))

    def test_the_same_by_slices(self):
        self.rounds(TestSpace(steps=True, sleep=0.05), testspace.count(2, 100, deep_too=4))

    def test_a_killed_build_of_an_edit_by_slices_leaves_nothing_stale(self):
        """Parts of the old and of the new source must never meet in one library."""
        self.generator = random.Random(SEED)
        space, source = TestSpace(steps=True, sleep=0.02), "beta/one.cu"
        text = space.pack.source(source).read_text()
        texts = [text + f"constexpr int k_version = {number};\n" for number in range(2)]
        hashes, seconds = [], 0
        for edited in texts:
            space.pack.source(source).write_text(edited)
            run = space.build()
            hashes.append(space.hash())
            seconds = run.seconds
        self.assertNotEqual(*hashes)
        for index in range(testspace.count(4, 200, deep_too=12)):
            space.pack.source(source).write_text(texts[index % 2])
            moment = self.generator.uniform(0, seconds)
            with self.subTest(round=index, moment=f"{moment:.3f}"):
                process = space.start_build()
                time.sleep(moment)
                self.generator.choice(VICTIMS)(process, self.generator)
                process.communicate(timeout=testspace.TIME_LIMIT)
                again = space.build()
                self.assertEqual(again.code, 0, again)
                self.assertEqual(space.hash(), hashes[index % 2])
                self.assertEqual(leftovers(space), [])

    def test_the_folder_of_a_step_that_was_killed_at_its_very_end_goes(self):
        """Its record is written and holds, so it does not run again; only its own folder is still there."""
        space = TestSpace(steps=True)
        self.assertEqual(space.build().code, 0)
        of_step = space.build_dir / "obj/beta/beta/one.cu/one.compute_80.run"
        self.assertTrue(of_step.parent.is_dir())
        of_step.mkdir()
        (of_step / "one.ptx").write_text("half")
        with open(space.pack.source("alpha/alpha.cu"), "a", encoding="ascii") as file:
            file.write("// as an edit whose build was killed\n")
        self.assertNotEqual(leftovers(space), [])
        self.assertEqual(space.build().code, 0)
        self.assertEqual(leftovers(space), [])

    def test_a_half_written_memo_of_digests_goes_without_a_step(self):
        """As after a build that was killed at its very end: everything is made, and digests are noted again."""
        space = TestSpace(steps=True)
        self.assertEqual(space.build().code, 0)
        noted = next(path for path in (space.cache_folder() / "digests").rglob("*") if path.is_file())
        (noted.parent / ".1.dsbuild-tmp").write_text("half")
        os.utime(space.pack.source("alpha/alpha.cu"))
        time.sleep(0.1)
        self.assertNotEqual(leftovers(space), [])
        self.assertEqual(space.build().edges_run(), 0)
        self.assertEqual(leftovers(space), [])

    def test_what_a_killed_comparison_left_half_written_goes(self):
        space = TestSpace(steps=True)
        self.assertEqual(space.build("--verify-against-nvcc").code, 0)
        compared = next((space.build_dir / "against_nvcc").rglob("*.nvcc.o"))
        for name in (compared.name + ".tmp", compared.name + ".1.dsbuild-tmp"):
            (compared.parent / name).write_text("half")
        self.assertNotEqual(leftovers(space), [])
        with open(space.pack.source("beta/one.cu"), "a", encoding="ascii") as file:
            file.write("// as an edit whose build was killed\n")
        self.assertEqual(space.build("--verify-against-nvcc").code, 0)
        self.assertEqual(leftovers(space), [])

    def test_the_same_with_the_real_nvcc(self):
        space = testspace.RealSpace()
        self.rounds(space, testspace.count(1, 20, deep_too=2))


if __name__ == "__main__":
    testspace.main(each_commit=2)
