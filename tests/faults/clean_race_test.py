#!/usr/bin/env python3
"""`clean` beside builds that wait for the same folder: each waits for the other, and none fails of a folder, a lock or
a file that is gone or has come meanwhile. Some processes are stopped for a while, wherever they are."""

import pathlib
import random
import signal
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from testspace import TestSpace, send, wait_until  # noqa: E402

# What else people run meanwhile. `verify` may find no bundle: none is there before the first build has ended.
BESIDE = (["cache", "prune"], ["cache", "clear"], ["report"], ["verify"])


class CleanRaceTest(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(testspace.SEED)
        self.space = TestSpace(sleep=0.05, store=True)
        self.assertEqual(self.space.build().code, 0)
        self.undisturbed = self.space.hash()
        self.processes = []

    def start(self, *words):
        """[what it is, the process, what it has said]; somebody has to read what it says while it is stopped."""
        if words == ("build",):
            process = self.space.start_build()
        elif words[0] == "verify":
            process = self.space.start("verify", str(self.space.out))
        elif words[0] == "cache":
            process = self.space.start(*words)
        else:
            process = self.space.start(*self.space.arguments(*words))
        said = []
        reader = threading.Thread(target=lambda: said.extend(process.communicate()))
        reader.start()
        self.processes.append((words, process, said, reader))

    def stop_some_for_a_while(self, seconds):
        """Until then; all go on afterwards."""
        end, stopped = time.monotonic() + seconds, {}
        while time.monotonic() < end:
            for pid, until in list(stopped.items()):
                if time.monotonic() >= until:
                    send(pid, signal.SIGCONT)
                    del stopped[pid]
            alive = [process for _, process, _, _ in self.processes if process.returncode is None and process.pid not in stopped]
            if alive and len(stopped) < 3:
                process = self.random.choice(alive)
                send(process.pid, signal.SIGSTOP)
                stopped[process.pid] = time.monotonic() + self.random.uniform(0.005, 0.15)
            time.sleep(self.random.uniform(0.001, 0.02))
        for pid in stopped:
            send(pid, signal.SIGCONT)

    def check_all_end_well(self):
        wrong = []
        for words, process, said, reader in self.processes:
            reader.join(timeout=testspace.TIME_LIMIT)
            self.assertFalse(reader.is_alive(), f"{words} does not end")
            if process.returncode != 0 and words[0] != "verify":
                wrong.append(f"{' '.join(words)}: exit code {process.returncode}\n{said[1]}")
        ended, self.processes = len(self.processes), []
        self.assertEqual(wrong, [], f"{len(wrong)} of {ended}:\n" + "\n".join(wrong))

    def check_the_next_build(self):
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        self.assertEqual(self.space.hash(), self.undisturbed)
        self.assertEqual(self.space.verify().code, 0)

    def test_builds_and_cleans_that_wait_for_one_build(self):
        self.space.environment["DSBUILD_CACHE_SIZE"] = "0"
        for _ in range(testspace.count(1, 20, deep_too=3)):
            self.space.remove_build()
            self.space.toolkit.forget_starts()
            self.start("build")
            self.assertTrue(wait_until(lambda: self.space.toolkit.starts()), "no compilation started")
            for words in self.random.sample([("build",)] * 3 + [("clean",)] * 3, 6):
                self.start(*words)
            self.check_all_end_well()
            self.check_the_next_build()

    def test_builds_and_cleans_at_once_of_which_some_are_stopped(self):
        for _ in range(testspace.count(2, 40, deep_too=6)):
            for words in self.random.sample([("build",)] * 5 + [("clean",)] * 5 + [tuple(words) for words in BESIDE], 14):
                self.start(*words)
                time.sleep(self.random.uniform(0, 0.05))
            self.stop_some_for_a_while(self.random.uniform(0.5, 1.5))
            self.check_all_end_well()
            self.check_the_next_build()

    def test_cleans_at_once_remove_the_folder(self):
        for _ in range(testspace.count(2, 40, deep_too=5)):
            self.assertEqual(self.space.build().code, 0)
            for _ in range(6):
                self.start("clean")
            self.stop_some_for_a_while(0.1)
            self.check_all_end_well()
            self.assertFalse(self.space.build_dir.exists())

    def test_a_bundle_that_is_removed_beside_builds(self):
        for _ in range(testspace.count(1, 20, deep_too=3)):
            for words in self.random.sample([("build",)] * 4 + [("clean", "--bundle")] * 4, 8):
                self.start(*words)
            self.stop_some_for_a_while(self.random.uniform(0.2, 0.6))
            self.check_all_end_well()
            self.check_the_next_build()


if __name__ == "__main__":
    testspace.main(each_commit=2)
