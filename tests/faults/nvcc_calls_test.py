#!/usr/bin/env python3
"""Many calls of `dsbuild nvcc` at once, some of them killed; the compilers are made up. What is left gives the bytes that an
undisturbed call gives, nobody waits for ever, and together they stay below the memory and the cores that they are given."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from fake_toolkit import make_fake_toolkit  # noqa: E402
from testspace import count, wait_until  # noqa: E402

GIB = 1 << 30


def gencodes(*archs):
    return [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in archs]


class CallsTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-nvcc-calls-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.toolkit = make_fake_toolkit(self.root / "toolkit", "13.0", steps=True)
        self.project = self.root / "project"
        self.project.mkdir()
        self.log = self.root / "log"

    def write(self, name, text=""):
        (self.project / name).write_text(f"__global__ void k() {{}}\n// {text}\n")

    def start(self, name, *archs, **environment):
        return subprocess.Popen([testspace.dsbuild_program(), "nvcc", self.toolkit.program, *gencodes(*archs),
                                 "-c", name, "-o", name + ".o"], cwd=self.project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, "XDG_CACHE_HOME": str(self.root / "cache"), "TMPDIR": str(self.root),
                                     "DSBUILD_CALL_LOG": str(self.log), **environment})

    def end(self, process):
        said, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, said)

    def call(self, name, *archs, **environment):
        """The object, and how the call ended."""
        self.end(self.start(name, *archs, **environment))
        return (self.project / (name + ".o")).read_bytes(), json.loads(self.log.read_text().splitlines()[-1])

    def forget_results(self):
        shutil.rmtree(self.root / "cache" / "dsbuild" / "store", ignore_errors=True)

    def turns(self):
        """What is held now, by the file of each turn."""
        held = []
        for file in self.root.glob("dsbuild-*/nvcc/turns/*.turn"):
            try:
                held.append(int(file.read_text() or 0))
            except (OSError, ValueError):
                continue
        return held


class SlicesTest(CallsTest):
    def test_an_arch_more_compiles_that_arch_alone(self):
        self.write("a.cu")
        self.call("a.cu", 75, 80)
        self.toolkit.forget_starts()
        _, end = self.call("a.cu", 75, 80, 90)
        self.assertEqual(end["kind"], "sliced", end)
        self.assertEqual(self.toolkit.sliced(), [("pack/a.cu", "compute_90")])
        self.toolkit.forget_starts()
        self.call("a.cu", 80, 90)
        self.assertEqual(self.toolkit.sliced(), [], "one less needs none")

    def test_a_step_that_nobody_knows(self):
        self.toolkit.set(steps=False)
        self.write("a.cu")
        _, end = self.call("a.cu", 80)
        self.assertEqual(end["kind"], "left")
        self.assertIn("nvcc's dry run has a step that dsbuild does not know", end["why"])

    def test_slices_that_are_not_what_nvcc_makes(self):
        self.toolkit.set(apart=True)
        self.write("a.cu")
        bytes_made, end = self.call("a.cu", 75, 90)
        self.assertEqual(end["kind"], "left", end)
        direct = subprocess.run([self.toolkit.program, *gencodes(75, 90), "-c", "a.cu", "-o", "b.o"],
                                cwd=self.project, check=False)
        self.assertEqual(direct.returncode, 0)
        self.assertEqual((self.project / "b.o").read_bytes(), bytes_made)


class KillTest(CallsTest):
    def test_any_call_is_killed(self):
        names = [f"s{i}.cu" for i in range(6)]
        for name in names:
            self.write(name)
        undisturbed = {name: self.call(name, 75, 80)[0] for name in names}
        chance = random.Random(testspace.SEED)
        for _ in range(count(12, 500, deep_too=60)):
            self.forget_results()
            processes = {name: self.start(name, 75, 80, DSBUILD_JOBS="2") for name in names}
            time.sleep(chance.random() * 0.3)
            killed = chance.sample(names, chance.randrange(1, 4))
            for name in killed:
                processes[name].send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM]))
            for name, process in processes.items():
                if name in killed:
                    process.communicate(timeout=120)
                else:
                    self.end(process)
                    self.assertEqual((self.project / (name + ".o")).read_bytes(), undisturbed[name])
            for name in killed:
                self.assertEqual(self.call(name, 75, 80, DSBUILD_JOBS="2")[0], undisturbed[name])
        self.assertTrue(wait_until(lambda: not testspace.processes_in(self.project)))
        self.assertEqual(self.turns(), [])


class BoundTest(CallsTest):
    def turns_of(self, number, **environment):
        """What was held at any time while so many calls ran at once."""
        names = ["first.cu", *(f"s{i}.cu" for i in range(number))]
        for name in names:
            self.write(name)
        self.call(names.pop(0), 75)
        self.toolkit.set(sleep=0.02)
        held, ended = [], threading.Event()

        def sample():
            while not ended.wait(0.002):
                held.append(self.turns())

        sampler = threading.Thread(target=sample)
        sampler.start()
        try:
            for process in [self.start(name, 75, 80, **environment) for name in names]:
                self.end(process)
        finally:
            ended.set()
            sampler.join()
        return held

    def test_many_calls_stay_below_the_memory_that_they_are_given(self):
        """A part that nobody has measured counts as 1 GiB."""
        most = max(map(sum, self.turns_of(64, DSBUILD_MEMORY="4G", DSBUILD_JOBS="16")))
        self.assertLessEqual(most, 4 * GIB)
        self.assertGreater(most, 2 * GIB, "more than two at a time")

    def test_no_more_tools_than_cores(self):
        self.assertEqual(max(map(len, self.turns_of(12, DSBUILD_MEMORY="400G", DSBUILD_JOBS="3"))), 3)


if __name__ == "__main__":
    testspace.main(each_commit=2)
