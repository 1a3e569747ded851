#!/usr/bin/env python3
"""Builds of several ops whose device compilers run elsewhere, while workers, the server and builds are killed: each bundle is that of
a build on this machine alone, byte for byte, and nothing is left over. Each test says what turns it red."""

import contextlib
import pathlib
import random
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import testspace  # noqa: E402
from exec_process import ExecProcess  # noqa: E402
from sliced import make_space  # noqa: E402
from testspace import SEED, count, deep, processes_in, wait_until  # noqa: E402

OPS = "scaling,inner"
TOOLS = 15  # of their three sources: cudafe++, and of each arch cicc and ptxas
MOST_LATE = 30


class CrowdTest(unittest.TestCase):
    local = None  # the bundle as it is built here alone, and how long that took
    rounds = 0
    generator = random.Random(SEED)

    def setUp(self):
        if CrowdTest.local is None:
            space = make_space("local")
            run = space.build("--ops", OPS)
            self.assertEqual(run.code, 0, run)
            CrowdTest.local = (testspace.bundle_hash(space.out), run.seconds)

    def serve(self, slots=2):
        self.server = ExecProcess(self, "--slots", slots, "--zstd")

    def start(self):
        """A build on a new machine, which has no result at the server: a platform of its own makes other actions."""
        CrowdTest.rounds += 1
        self.space = make_space(f"elsewhere{CrowdTest.rounds}")
        return self.space.start_build("--ops", OPS, "--json", "--remote-exec", self.server.url, "--remote-local", "never",
                                      "--remote-platform", f"round={CrowdTest.rounds}")

    def end(self, process):
        """What ran elsewhere."""
        out, err = process.communicate(timeout=testspace.TIME_LIMIT)
        run = testspace.Run(process.returncode, out, err, 0)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(testspace.bundle_hash(self.space.out), self.local[0])
        return run.result()["execution"]

    def counts(self):
        return self.server.state()["counts"]

    def wait_for_tools(self, process, number):
        """Until the server has begun so many more."""
        begun = self.counts().get("executed", 0)
        self.assertTrue(wait_until(lambda: process.poll() is not None or self.counts().get("executed", 0) >= begun + number, 60, 0.02))
        self.assertIsNone(process.poll(), "the build has ended before")


class WorkersTest(CrowdTest):
    """Red where the client takes a lost worker's action for one that has ended well: the step finds no outputs."""

    def lose_some(self, most):
        """How many workers were lost while a build ran. Now and then two in a row, which may be of one action."""
        process = self.start()
        lost = 0
        while process.poll() is None:
            wait_until(lambda: process.poll() is not None, self.generator.uniform(0.02, 0.6))
            for _ in range(self.generator.choice((1, 1, 2))):
                if lost < most and process.poll() is None:
                    lost += self.server.lose_worker(self.generator.randrange(100))
        self.end(process)
        return lost

    def test_workers_are_lost(self):
        left = count(5, 100, deep_too=100)
        while left > 0:
            self.serve(slots=self.generator.randint(2, 4))
            lost = 0
            begin = time.monotonic()
            for _ in range(4):  # a server is told of the tools once for all of them
                lost += self.lose_some(left - lost)
                if lost == left:
                    break
            self.assertGreater(lost, 0)
            self.assertLess(time.monotonic() - begin, 4 * (self.local[1] + MOST_LATE))
            left -= lost
            self.server.stop()


class ServerTest(CrowdTest):
    def test_a_server_is_frozen_for_a_while(self):
        """Red where a deadline is that of a short call: all tools that ran there then run here."""
        self.serve()
        process = self.start()
        self.wait_for_tools(process, 2)
        self.server.freeze()
        time.sleep(6)
        self.server.thaw()
        uses = self.end(process)
        self.assertEqual((uses["executed"], uses["failed"], uses["off"]), (TOOLS, 0, None))

    @deep
    def test_a_server_freezes(self):
        """Red without deadlines: the build never ends."""
        self.serve()
        begin = time.monotonic()
        process = self.start()
        self.wait_for_tools(process, 2)
        self.server.freeze()
        uses = self.end(process)
        self.assertLess(time.monotonic() - begin, self.local[1] + MOST_LATE)
        self.assertIsNotNone(uses["off"])

    @deep
    def test_a_server_starts_again(self):
        """Without what it had: it lacks the tools, too. Red where the client does not send them again."""
        self.serve()
        begin = time.monotonic()
        process = self.start()
        self.wait_for_tools(process, 3)
        self.server.kill()
        self.server.start()
        uses = self.end(process)
        self.assertLess(time.monotonic() - begin, self.local[1] + MOST_LATE)
        self.assertIsNone(uses["off"])
        self.assertGreaterEqual(uses["executed"], TOOLS - 2)  # two were running, and may run here after three tries


class BuildsTest(CrowdTest):
    """No step is left, and the server hears of it."""

    def check_gone(self, before, *names):
        self.assertTrue(wait_until(lambda: not processes_in(self.space.root), 15),
                        [testspace.command_of(pid) for pid in processes_in(self.space.root)])
        self.assertTrue(wait_until(lambda: sum(self.counts().get(name, 0) - before.get(name, 0) for name in names) > 0, 10),
                        self.counts())

    def end_by(self, number, code, *counted):
        self.serve()
        process = self.start()
        self.wait_for_tools(process, 2)
        before = self.counts()
        process.send_signal(number)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, code)
        self.check_gone(before, *counted)

    def test_a_build_is_interrupted(self):
        """Red where the client does not cancel its operations: workers would go on with them."""
        self.end_by(signal.SIGINT, 130, "operations_cancelled")

    @deep
    def test_a_build_is_killed(self):
        """Red where processes outlive the one that started them (PR_SET_PDEATHSIG): Ninja and its steps go on."""
        self.end_by(signal.SIGKILL, -signal.SIGKILL, "streams_given_up")
        with contextlib.suppress(OSError):
            testspace.shutil.rmtree(self.space.out)
        run = self.space.build("--ops", OPS)  # goes on from there
        self.assertEqual((run.code, testspace.bundle_hash(self.space.out)), (0, self.local[0]), run)


if __name__ == "__main__":
    testspace.main(each_commit=1)
