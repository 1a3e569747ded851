#!/usr/bin/env python3
"""Ranks of a program that want the same op at the same moment, on one node and on two that share a cache, while those that
build are killed: all the others get the right bytes, none waits for ever, and each node compiles once. The same on torch's
FileBaton hangs, and without locks there are compiles too many: the harness sees both."""

import collections
import glob
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from mounts import enter_namespace  # noqa: E402
from packs import Pack, binding, kernel  # noqa: E402
from ranks import NO_LOCK, Counter, Killer, Node, Rank, digest_of, holder_in, run_round  # noqa: E402
from testspace import SEED, TestSpace, compile_shim, kill_all, wait_until  # noqa: E402

LIMIT = 120  # seconds after which a round hangs; one takes a few
SOURCES = ("pack/scale/scale.cu", "pack/scale/scale.cpp")


def make_pack(folder):
    pack = Pack(folder)
    pack.add_op("scale", {"scale/scale.cu": kernel("scale_kernel"), "scale/scale.cpp": binding("scale_run", "scale_kernel")},
                {"exports": ["scale_run"]})
    return pack


class RanksTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.generator = random.Random(SEED)
        self.space = TestSpace(pack=make_pack, store=True)
        self.counter = Counter(self.space.root / "counted")
        self.counter.stand_before(self.space.toolkit.program)
        (self.space.root / "compiler").mkdir()
        self.counter.stand_for("/usr/bin/g++", self.space.root / "compiler" / "g++")
        self.space.environment["CXX"] = str(self.space.root / "compiler" / "g++")
        self.here = os.uname().nodename
        self.longest = 0.0

    def words(self):
        return ["load", "scale", "--gpu", "9.0", "--pack", str(self.space.pack.folder), "--cuda-home",
                str(self.space.toolkit.home)]

    def edit(self, number):
        """Another source, and what it comes to."""
        self.space.toolkit.set(sleep=0)
        for name, text in (("scale/scale.cu", kernel("scale_kernel", text=f"// {number}\n__global__ void k{number}() {{}}\n")),
                           ("scale/scale.cpp", binding("scale_run", "scale_kernel") + f"int scale_{number} = {number};\n")):
            self.space.pack.source(name).write_text(text)
        built = self.space.build("--arch", "9.0+PTX", env={"DSBUILD_CACHE_SIZE": "0"})
        self.assertEqual(built.code, 0, built)
        self.space.toolkit.set(sleep=0.3)
        self.counter.forget()
        return digest_of(self.space.out / "scale.so")

    def start(self, rank, node=None, env=None):
        return Rank(self.space.start(*self.words(), env={"RANK": str(rank), **(env or {})}, prefix=node.prefix if node else ()),
                    node.name if node else self.here)

    def jit(self):
        return self.space.cache_folder() / "jit"

    def killer(self, holders):
        return Killer(self.generator, holders, self.generator.choice([0, 1, 2]), self.counter.is_compiling)

    def round(self, ranks, expected, killer):
        """What is wrong with it, in words."""
        def look(rank):
            if rank.process.returncode == 0:
                place = pathlib.Path(self.root_of(rank.node) + rank.out.rstrip("\n"))
                rank.digest = digest_of(place) if place.exists() else "no file"

        started, hanging = run_round(ranks, killer, LIMIT, look)
        problems = [f"{rank.pid} hangs" for rank in hanging]
        for rank in started:
            if rank.was_killed or rank.seconds is None:
                continue
            self.longest = max(self.longest, rank.seconds)
            if rank.process.returncode != 0:
                problems.append(f"exit code {rank.process.returncode}: {rank.err}")
            elif rank.digest != expected:
                problems.append(f"wrong bytes of {rank.out}")
        return problems + self.too_many_compiles(killer.kills)

    def root_of(self, node):  # pylint: disable=unused-argument
        return ""

    def too_many_compiles(self, kills):
        """A kill may cost the compile that it ends, or the one that had just ended."""
        started, ended = self.counter.counts("start"), self.counter.counts("end")
        problems = [f"{node} compiled {key} {number} times, with {kills[node]} kills"
                    for (node, key), number in started.items() if number > 1 + kills[node]]
        return problems + [f"nobody compiled {key}" for key in SOURCES
                           if not any(ended[each] for each in ended if each[1] == key)]


class OneNodeTest(RanksTest):
    def test_all_get_it_whoever_is_killed(self):
        ranks, rounds = testspace.count(12, 64), testspace.count(2, 50, deep_too=4)
        kills = compiles = number = 0
        while number < rounds or (kills == 0 and number < max(40, 10 * rounds)):  # whom it finds at work is chance
            expected = self.edit(number)
            killer = self.killer(lambda: holder_in(self.jit()))
            problems = self.round((self.start(rank) for rank in range(ranks)), expected, killer)
            self.assertEqual(problems, [], f"round {number}")
            kills += sum(killer.kills.values())
            compiles += sum(self.counter.counts("start").values())
            number += 1
        print(f"{ranks} processes x {number} rounds: {kills} builders killed, {compiles} compiles of {2 * number} keys, "
              f"longest wait {self.longest:.2f} s", flush=True)
        self.assertGreater(kills, 0, "nobody was killed: what is tested here?")

    def test_without_locks_it_is_seen(self):
        """The build folder's lock is off too: they compile beside one another, and fail or find what others write."""
        shim = compile_shim(NO_LOCK, self.space.root / "no_lock.so")
        problems = []
        for number in range(5):
            expected = self.edit(number)
            ranks = (self.start(rank, env={"LD_PRELOAD": shim}) for rank in range(8))
            problems += self.round(ranks, expected, Killer(self.generator, lambda: [], 0))
            if problems:
                return
        self.fail("the harness sees nothing wrong where there are no locks")


class TakeoverTest(RanksTest):
    def builder_and_waiter(self, seconds):
        expected = self.edit(0)
        self.space.toolkit.set(sleep=seconds)
        self.space.toolkit.forget_starts()
        builder = self.start(0)
        self.assertTrue(wait_until(self.space.toolkit.starts))  # it knows by then how long it takes
        return builder, self.start(1), expected

    def compiles_again(self):
        return self.counter.counts("start")[(self.here, SOURCES[0])] > 1

    def kill_and_measure(self, builder):
        self.space.toolkit.set(sleep=0)
        begun = time.monotonic()
        builder.process.send_signal(signal.SIGKILL)
        self.assertTrue(wait_until(self.compiles_again))
        seconds = time.monotonic() - begun
        print(f"the next compiles {seconds:.2f} s after the builder's end", flush=True)
        return seconds

    def assert_in_time(self, seconds, limit):
        """A machine that does other things too tells no times: each commit it counts that it happens at all."""
        if testspace.TIER == "deep":
            self.assertLess(seconds, limit)

    def end(self, waiter, expected):
        self.assertTrue(wait_until(waiter.is_over))
        self.assertEqual(waiter.process.returncode, 0, waiter.err)
        self.assertEqual(digest_of(waiter.out.rstrip("\n")), expected)

    def test_who_waits_is_told_whom_for_and_takes_over_within_a_second(self):
        builder, waiter, expected = self.builder_and_waiter(30)
        time.sleep(8)  # the waiter says it after 5 s, and has to start first
        self.assert_in_time(self.kill_and_measure(builder), 1)
        self.end(waiter, expected)
        self.assertRegex(waiter.err, rf"(?m)^dsbuild: waiting for process {builder.pid} on {self.here}, which has been building "
                                     r"scale for \d+ s \(\d of \d+ edges\); it takes about \d+ s in all$")
        builder.process.communicate()

    def test_compilers_that_do_not_end_with_their_builder_are_left_alone(self):
        """They hold the lock of their build folder; the next builds in another."""
        (self.counter.folder / "ignore").touch()
        builder, waiter, expected = self.builder_and_waiter(30)
        orphans = testspace.children(builder.pid)
        self.assert_in_time(self.kill_and_measure(builder), 4)
        self.end(waiter, expected)
        self.assertIn("/turn1/", waiter.out)
        for orphan in orphans:
            kill_all(orphan)
        builder.process.communicate()

    def test_what_fails_for_one_fails_for_those_who_waited(self):
        self.edit(0)
        self.space.toolkit.set(sleep=1, fail=["scale.cu"])
        ranks, hanging = run_round((self.start(rank) for rank in range(4)), Killer(self.generator, lambda: [], 0), LIMIT)
        self.assertEqual(hanging, [])
        self.assertEqual([rank.process.returncode for rank in ranks], [1] * 4, ranks[0].err)
        self.assertEqual(self.counter.counts("start")[(self.here, SOURCES[0])], 1)
        self.assertEqual(sum("error[edge_failed]: scale: another process built it" in rank.err for rank in ranks), 3)
        self.space.toolkit.set(fail=[])
        again = self.start(0)
        self.assertTrue(wait_until(again.is_over))
        self.assertEqual(again.process.returncode, 0, again.err)


class TwoNodesTest(RanksTest):
    """What is shared lies in a folder in which names show up late and which has no locks."""

    def setUp(self):
        if b"__asan_init" in pathlib.Path(testspace.dsbuild_program()).read_bytes():
            self.skipTest("sanitizers let no shim before them")
        super().setUp()
        self.log = self.space.root / "late.log"
        self.log.write_text("")
        self.nodes = {}
        for name in ("north", "south"):
            self.nodes[name] = Node(self.space.root / name, name, self.space.cache_folder(), self.log)
            self.addCleanup(self.nodes[name].end)

    def root_of(self, node):
        """A path of a node's, as it is seen from here: all that it makes lies in its /tmp."""
        return str(self.nodes[node].folder)

    def holders(self):
        return [pid for node in self.nodes.values() for pid in holder_in(node.tmp / f"dsbuild-{os.geteuid()}" / "jit")]

    def start_all(self, number):
        """Both nodes at once, or one when the other has compiled."""
        names = self.generator.sample(sorted(self.nodes), 2)
        waits = self.generator.random() < 0.5
        for rank in range(number):
            yield self.start(rank, self.nodes[names[0]])
            if not waits:
                yield self.start(rank, self.nodes[names[1]])
        if not waits:
            return
        wait_until(lambda: len(self.counter.counts("end")) == len(SOURCES))
        for rank in range(number):
            yield self.start(rank, self.nodes[names[1]])

    def sees(self, node, path):
        return subprocess.run([*self.nodes[node].prefix, "cat", str(path)], capture_output=True, check=False).returncode == 0

    def look_for_names_that_will_come(self):
        """So that they show up late: that of a file here, of the store's marker in the first round."""
        name = self.space.cache_folder() / "late"
        name.parent.mkdir(parents=True, exist_ok=True)
        self.assertFalse(self.sees("south", name))
        name.touch()
        self.assertEqual([self.sees(node, name) for node in ("north", "south")], [True, False])
        for node in self.nodes:
            self.assertFalse(self.sees(node, name.parent / "store" / "CACHEDIR.TAG"))

    def test_each_node_compiles_once_at_most(self):
        ranks, rounds = testspace.count(4, 16), testspace.count(1, 50, deep_too=3)
        kills, compiles = 0, collections.Counter()
        for number in range(rounds):
            expected = self.edit(number)
            killer = self.killer(self.holders)
            if number == 0:
                self.look_for_names_that_will_come()
            problems = self.round(self.start_all(ranks), expected, killer)
            self.assertEqual(problems, [], f"round {number}")
            kills += sum(killer.kills.values())
            for (name, _), count in self.counter.counts("start").items():
                compiles[name] += count
        hidden = len(self.log.read_text().splitlines())
        print(f"2 nodes x {ranks} processes x {rounds} rounds: {kills} builders killed, compiles {dict(compiles)} of "
              f"{2 * rounds} keys, {hidden} times a name showed up late, longest wait {self.longest:.2f} s", flush=True)
        self.assertEqual(list(self.space.cache_folder().glob("jit/*")), [], "something was built in the shared folder")


# As torch.utils.cpp_extension uses it: who gets the baton builds, the others wait for its end.
BATON = """
import importlib.util, os, sys, time
spec = importlib.util.spec_from_file_location("file_baton", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
baton = module.FileBaton(sys.argv[2] + "/lock")
if baton.try_acquire():
    try:
        open(sys.argv[2] + "/holder", "w").write(str(os.getpid()))
        time.sleep(0.5)
        open(sys.argv[2] + "/made", "w").write("right")
    finally:
        baton.release()
else:
    baton.wait()
"""


class FileBatonTest(unittest.TestCase):
    def find_baton(self):
        python = os.environ.get("DSBUILD_TORCH_PYTHON", "")
        venv = os.path.dirname(os.path.dirname(python))
        found = glob.glob(os.path.join(glob.escape(venv), "lib/python*/site-packages/torch/utils/file_baton.py")) if venv else []
        if not found:
            self.skipTest("torch's FileBaton is not here (DSBUILD_TORCH_PYTHON names no venv with torch)")
        return found[0]

    def round(self, baton, kills):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-test-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)

        def holder():
            try:
                return [int((folder / "holder").read_text())]
            except (OSError, ValueError):
                return []

        ranks = (Rank(subprocess.Popen([sys.executable, "-c", BATON, baton, str(folder)], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE), "one") for _ in range(testspace.count(8, 64)))
        started, hanging = run_round(ranks, Killer(random.Random(SEED), holder, kills, longest=0.2), testspace.count(5, 15))
        return hanging, len(started)

    def test_it_hangs_where_the_holder_is_killed(self):
        baton = self.find_baton()
        hung, _ = self.round(baton, 0)
        self.assertEqual(hung, [], "it hangs by itself")
        hung, ranks = self.round(baton, 1)
        print(f"torch's FileBaton: {len(hung)} of {ranks} processes hang after one kill", flush=True)
        self.assertGreater(len(hung), 0)


if __name__ == "__main__":
    tempfile.tempdir = "/var/tmp"  # nodes have a /tmp of their own
    enter_namespace()
    testspace.main(each_commit=1)
