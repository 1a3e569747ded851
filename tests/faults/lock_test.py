#!/usr/bin/env python3
"""Several dsbuilds in one build folder: each source is compiled once, who waits says for whom, and the lock lives as
long as the last process that can still write."""

import os
import pathlib
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from testspace import TestSpace, children, kill_all, wait_until  # noqa: E402

EVERY_SOURCE = ["alpha/alpha.cu", "beta/one.cu", "beta/two.cu", "gamma/one.cu", "gamma/two.cu"]

NO_FLOCK = "int flock(int file, int what) { (void)file; (void)what; return 0; }\n"


class LockTest(unittest.TestCase):
    def build_at_once(self, space, number):
        """Runs so many builds; their Runs, in the order they were started."""
        processes = [space.start_build() for _ in range(number)]
        ended = []
        for process in processes:
            out, err = process.communicate(timeout=testspace.TIME_LIMIT)
            ended.append(testspace.Run(process.returncode, out, err, 0))
        return ended

    def holding_build(self, space, **options):
        """A build that is compiling, and so holds the lock."""
        space.toolkit.forget_starts()
        holder = space.start_build(**options)
        self.assertTrue(wait_until(lambda: space.toolkit.starts()), "no compilation started")
        return holder

    def test_builds_at_once_compile_each_source_exactly_once(self):
        space = TestSpace(sleep=0.05)
        self.assertEqual(space.build().code, 0)
        undisturbed = space.hash()
        for number in (2, 4):
            for _ in range(testspace.count(2, 25)):
                space.remove_build()
                space.remove_out()
                space.compiled()
                ended = self.build_at_once(space, number)
                for run in ended:
                    self.assertEqual(run.code, 0, run)
                self.assertEqual(space.compiled(), EVERY_SOURCE)
                self.assertEqual(space.hash(), undisturbed)

    def test_builds_at_once_make_each_slice_exactly_once(self):
        space = TestSpace(sleep=0.05, steps=True)
        self.assertEqual(space.build().code, 0)
        undisturbed = space.hash()
        for _ in range(testspace.count(1, 25)):
            space.remove_build()
            space.remove_out()
            space.toolkit.forget_starts()
            ended = self.build_at_once(space, 3)
            self.assertEqual([run.code for run in ended], [0, 0, 0], "\n".join(map(str, ended)))
            self.assertEqual(sorted(space.toolkit.sliced()), sorted(
                (f"pack/{source}", arch) for source in EVERY_SOURCE for arch in ("compute_80", "compute_90")))
            self.assertEqual(space.hash(), undisturbed)

    def test_without_the_lock_the_check_above_goes_red(self):
        """The second starts while the first compiles, and nothing ends before a source is compiled twice."""
        space = TestSpace(sleep=600)
        shim = testspace.compile_shim(NO_FLOCK, space.root / "no_flock.so")

        def compiled_again():
            sources = space.toolkit.compiled()
            return len(sources) > len(set(sources))

        holder = self.holding_build(space, env={"LD_PRELOAD": shim})
        second = space.start_build(env={"LD_PRELOAD": shim})
        red = wait_until(compiled_again)
        for process in (holder, second):
            kill_all(process.pid)
            process.communicate()
        self.assertTrue(red, "each source was compiled once")

    def test_the_waiter_names_the_holder_within_a_second(self):
        space = TestSpace(sleep=0.6)
        holder = self.holding_build(space)
        waiter = space.start_build(bufsize=1)
        begin = time.monotonic()
        line = next(line for line in waiter.stderr if "waiting for another dsbuild" in line)
        self.assertLess(time.monotonic() - begin, 1.5)
        self.assertIn(str(holder.pid), line)
        self.assertIn("--build-dir", line)
        for process in (holder, waiter):
            process.communicate(timeout=testspace.TIME_LIMIT)
            self.assertEqual(process.returncode, 0)

    def test_a_lock_time_out_is_exit_75_and_disturbs_nobody(self):
        space = TestSpace(sleep=1.2)
        holder = self.holding_build(space)
        run = space.build("--lock-timeout", "1")
        self.assertEqual(run.code, 75, run)
        self.assertIn(f"{holder.pid} ", run.err)
        self.assertIn("still locked after 1 s", run.err)
        self.assertLess(run.seconds, 2.5)
        holder.communicate(timeout=testspace.TIME_LIMIT)
        self.assertEqual(holder.returncode, 0)

    def test_a_stopped_holder_is_waited_for(self):
        space = TestSpace(sleep=0.3)
        holder = self.holding_build(space)
        holder.send_signal(signal.SIGSTOP)
        run = space.build("--lock-timeout", "0")
        self.assertEqual(run.code, 75, run)
        holder.send_signal(signal.SIGCONT)
        holder.communicate(timeout=testspace.TIME_LIMIT)
        self.assertEqual(holder.returncode, 0)

    def test_compilers_that_outlive_dsbuild_hold_the_lock(self):
        """Ninja is stopped, so that it neither dies with dsbuild nor ends."""
        space = TestSpace(sleep=0.5)
        self.assertEqual(space.build().code, 0)
        undisturbed = space.hash()
        space.remove_build()
        holder = self.holding_build(space)
        orphans = children(holder.pid)
        os.kill(orphans[0], signal.SIGSTOP)
        holder.kill()
        holder.communicate()
        run = space.build("--lock-timeout", "1")
        self.assertEqual(run.code, 75, run)
        waiter = space.start_build()
        time.sleep(0.3)
        self.assertIsNone(waiter.poll(), "the waiter went on beside living compilers")
        for orphan in orphans:
            kill_all(orphan)
        begin = time.monotonic()
        _, err = waiter.communicate(timeout=testspace.TIME_LIMIT)
        self.assertEqual(waiter.returncode, 0, err)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(space.hash(), undisturbed)

    def test_foreign_leftovers_are_no_lock(self):
        """A lock file with any content, PyTorch's baton, an old Ninja's lock: nobody holds them."""
        space = TestSpace()
        self.assertEqual(space.build().code, 0)
        (space.build_dir / "lock").write_bytes(b"\xff\x00garbage 99999999\n" * 100)
        (space.build_dir / ".ninja_lock").write_bytes(b"")
        (space.build_dir / "lock.baton").write_bytes(b"")
        run = space.build("--lock-timeout", "0")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.edges_run(), 0)

    def test_two_selections_in_one_folder_are_never_mixed(self):
        """Different archs and bundles, one build folder: each bundle equals its own reference."""
        space = TestSpace(sleep=0.02)
        outs = {"8.0": space.root / "out-a", "9.0": space.root / "out-b"}

        def arguments(arch):
            words = space.arguments("--arch", arch)
            words[words.index("--out") + 1] = str(outs[arch])
            return words

        references = {}
        for arch, out in outs.items():
            self.assertEqual(space.run(*arguments(arch)).code, 0)
            references[arch] = testspace.bundle_hash(out)
        self.assertNotEqual(references["8.0"], references["9.0"])
        for _ in range(testspace.count(2, 25)):
            processes = [space.start(*arguments(arch)) for arch in outs]
            for process in processes:
                _, err = process.communicate(timeout=testspace.TIME_LIMIT)
                self.assertEqual(process.returncode, 0, err)
            for arch, out in outs.items():
                self.assertEqual(testspace.bundle_hash(out), references[arch])
                self.assertEqual(space.verify(out).code, 0)


if __name__ == "__main__":
    testspace.main(each_commit=3)
