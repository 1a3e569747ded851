#!/usr/bin/env python3
"""SIGINT, SIGTERM and SIGHUP in mid-build: the exit code says which, within two seconds, no child stays, the old
bundle does, and the next run ends well."""

import os
import pathlib
import random
import signal
import stat
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from testspace import SEED, TestSpace, children, processes_in, wait_until  # noqa: E402

QUICK = 0.3  # seconds of a compilation
ENDLESS = {"two.o.tmp": 600}  # a compilation of the pack that does not end by itself, however slow this machine is

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


class SignalsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.generator = random.Random(SEED)
        assert cls.space.build().code == 0
        cls.reference = cls.space.hash()

    def setUp(self):
        self.let_compilers_end()

    def let_compilers_end(self):
        self.space.toolkit.set(sleep=QUICK, slow={})

    def start_cold_build(self, *more, slow=ENDLESS):
        """A build whose compilers have started; `slow` is the fake toolkit's."""
        self.space.toolkit.set(slow=slow)
        self.space.remove_build()
        self.space.compiled()
        process = self.space.start_build(*more)
        self.assertTrue(wait_until(self.space.toolkit.starts))
        return process

    def check_end(self, process, expected, since):
        out, err = process.communicate(timeout=testspace.TIME_LIMIT)
        self.assertLess(time.monotonic() - since, 2)
        self.assertEqual(process.returncode, expected, f"{out}\n{err}")
        self.assertRegex(err, r"error\[interrupted\]: build: it was ended by signal \d+ with \d+ edges? left, of \w+")
        self.assertIn(f"; {self.space.out} is as it was\n  fix: The same command goes on from there", err)
        self.assertTrue(wait_until(lambda: not processes_in(self.space.root), 5),
                        [testspace.command_of(pid) for pid in processes_in(self.space.root)])
        self.assertEqual(self.space.hash(), self.reference)

    def end_steps(self):
        """Those of a killed Ninja go on, and would start their compilers in the time of the next build."""
        def none_is_left():
            left = processes_in(self.space.root)
            for pid in left:
                testspace.send(pid, signal.SIGKILL)
            return not left

        self.assertTrue(wait_until(none_is_left, 5))

    def check_next_run(self):
        self.let_compilers_end()
        again = self.space.build()
        self.assertEqual(again.code, 0, again)
        self.assertEqual(self.space.hash(), self.reference)

    def test_a_signal_ends_the_build_and_the_next_run_heals(self):
        for number, expected in SIGNALS.items():
            for _ in range(testspace.count(2, 50)):
                with self.subTest(number.name):
                    process = self.start_cold_build()
                    time.sleep(self.generator.uniform(0, 0.6))
                    process.send_signal(number)
                    self.check_end(process, expected, time.monotonic())
            self.check_next_run()

    def test_a_signal_to_the_whole_group_counts_once(self):
        """As a terminal sends it: dsbuild and, by itself, its children."""
        process = self.start_cold_build()
        begin = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        self.check_end(process, 130, begin)

    def test_keep_going_is_interrupted_all_the_same(self):
        process = self.start_cold_build("--keep-going")
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        self.check_end(process, 143, begin)

    def test_what_a_compiler_started_ends_with_the_build(self):
        """A driver's compiler is no child of ours: cicc would work on for minutes, for nobody."""
        space = TestSpace(inner=600)
        for number in (*SIGNALS, signal.SIGKILL):
            with self.subTest(signal.Signals(number).name):
                process = space.start_build()
                inner = ["sleep", "600"]
                working = lambda: [pid for pid in processes_in(space.root) if testspace.command_of(pid) == inner]  # noqa: E731
                self.assertTrue(wait_until(working))
                process.send_signal(number)
                process.communicate(timeout=testspace.TIME_LIMIT)
                self.assertTrue(wait_until(lambda: not processes_in(space.root), 5),
                                [testspace.command_of(pid) for pid in processes_in(space.root)])

    def test_a_signal_while_waiting_for_the_lock_ends_the_waiter_alone(self):
        holder = self.start_cold_build(slow={"two.o.tmp": 3})
        waiter = self.space.start_build()
        next(line for line in waiter.stderr if "waiting for another dsbuild" in line)
        begin = time.monotonic()
        waiter.send_signal(signal.SIGTERM)
        waiter.wait(timeout=testspace.TIME_LIMIT)
        waiter.communicate()
        self.assertLess(time.monotonic() - begin, 2)
        self.assertIn(waiter.returncode, (143, -signal.SIGTERM))
        holder.communicate(timeout=testspace.TIME_LIMIT)
        self.assertEqual(holder.returncode, 0)

    def test_a_ninja_that_is_killed_is_exit_1_with_its_signal(self):
        """As the kernel does when memory runs out."""
        for more in ([], ["--keep-going"]):
            process = self.start_cold_build(*more)
            os.kill(children(process.pid)[0], signal.SIGKILL)
            _, err = process.communicate(timeout=testspace.TIME_LIMIT)
            self.assertEqual(process.returncode, 1, err)
            self.assertIn("Ninja was killed by signal 9", err)
            self.assertEqual(self.space.hash(), self.reference)
            self.end_steps()
        self.check_next_run()

    def test_a_compiler_that_is_killed_is_a_failed_edge(self):
        def has_ended(process, number):
            started = {start["pid"] for start in self.space.toolkit.starts()}
            for pid in started.intersection(children(process.pid)):
                testspace.send(pid, number)
            return process.poll() is not None

        for number in (signal.SIGKILL, signal.SIGTERM):
            self.space.toolkit.set(sleep=600)
            process = self.start_cold_build()
            self.assertTrue(wait_until(lambda: has_ended(process, number), 60))
            _, err = process.communicate(timeout=testspace.TIME_LIMIT)
            self.assertEqual(process.returncode, 1, err)
            self.assertIn("failed: compile", err)
            self.assertEqual(self.space.hash(), self.reference)
        self.check_next_run()

    def test_output_that_nobody_reads_does_not_stop_the_build(self):
        """stdout and stderr closed at once, as by `| head -1`; the exit code says that the result was not told."""
        self.space.remove_build()
        process = self.space.start_build()
        process.stdout.close()
        process.stderr.close()
        self.assertIn(process.wait(timeout=testspace.TIME_LIMIT), (0, 1))
        self.check_next_run()

    def test_a_full_device_as_stdout_is_exit_1(self):
        if not os.path.exists("/dev/full") or not stat.S_ISCHR(os.stat("/dev/full").st_mode):
            self.skipTest("there is no /dev/full")
        with open("/dev/full", "w", encoding="ascii") as full:
            process = testspace.subprocess.run([self.space.program, *self.space.arguments("plan", "--json")],
                                               env=self.space.environment, stdout=full, check=False,
                                               stderr=testspace.subprocess.PIPE, text=True)
        self.assertEqual(process.returncode, 1)


if __name__ == "__main__":
    testspace.main(each_commit=5)
