#!/usr/bin/env python3
"""Random changes of everything that a build is made of; after each of them the bundle is that of a build from scratch with
an empty cache, byte for byte. With tools that are made up, so that there can be many; at night with real ones too.

DSBUILD_SEED replays a run, DSBUILD_STEPS says how many steps it has. With DSBUILD_GO_ON=1 it begins anew behind what is wrong and
says at the end which changes were not seen."""

import collections
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import edits  # noqa: E402
import testspace  # noqa: E402
from edits import Checkout, World  # noqa: E402
from fake_toolkit import make_made_up_compiler  # noqa: E402
from stale import StaleSpace, StaleTest  # noqa: E402
from testspace import SEED  # noqa: E402

SHM = "/dev/shm"
GO_ON = os.environ.get("DSBUILD_GO_ON") == "1"
FEW_FAILURES = 20  # of the builds from scratch
PROGRAMS = ["nvcc", "cudafe++", "cicc", "ptxas"]


def use_memory_for_files():
    """Thousands of builds: nothing of them has to reach a disk."""
    if os.access(SHM, os.W_OK):
        system = os.statvfs(SHM)
        if not system.f_flag & os.ST_NOEXEC and system.f_bavail * system.f_frsize > 1 << 30:
            tempfile.tempdir = SHM


def marked(program):
    """What a program becomes: another, by its mark."""
    data = program.read_bytes()
    return lambda number: data + b"\nFAKE:%d" % number


class Session:
    """One run of steps."""

    def __init__(self, test, generator):
        self.test, self.generator, self.since, self.wrong = test, generator, [], []
        self.spaces = [StaleSpace("first", steps=True, text=1), StaleSpace("other", steps=True, text=1)]
        first, other = self.spaces
        other.toolkit = first.toolkit
        other.environment["XDG_CACHE_HOME"] = first.environment["XDG_CACHE_HOME"]
        self.references, self.reference_caches = 0, 0

    def use_made_up_tools(self):
        first, home = self.spaces[0], self.spaces[0].toolkit.home
        folder = first.root / "compiler"
        compiler = make_made_up_compiler(folder)
        for space in self.spaces:
            space.environment.update({"CXX": str(compiler.program), "CUDAHOSTCXX": str(compiler.program)})
        (folder / "include").mkdir()
        (home / "nvvm/libdevice").mkdir(parents=True)
        parts = {home / "bin" / name: marked(home / "bin" / name) for name in PROGRAMS}
        parts[folder / "g++"] = marked(compiler.program)
        for name in ("cc1plus", "as", "ld"):
            parts[folder / name] = lambda number: b"%d\n" % number
        parts[home / "bin/nvcc.profile"] = lambda number: b"INCLUDES += -I$(TOP)/include -DPROFILE=%d\n" % number
        parts[home / "nvvm/libdevice/libdevice.10.bc"] = lambda number: b"%d\n" % number
        parts[home / "include/crt/host_runtime.h"] = lambda number: b"static int runtime = %d;\n" % number
        parts[home / "lib64/libcudart_static.a"] = lambda number: b"!<arch>\n%d\n" % number
        for path, content in parts.items():
            path.write_bytes(content(1000))
        self.world = World([Checkout(space) for space in self.spaces], parts, [folder / "include/own.h"], self.generator)

    def use_real_tools(self):
        from toolkit_test import USED, private_toolkit
        home = private_toolkit(self.spaces[0].root / "private")
        for space in self.spaces:
            space.toolkit.home = home
        header = home / "include/crt/host_runtime.h"
        text = header.read_bytes()
        parts = {header: lambda number: text + USED.format(number).encode()}
        self.world = World([Checkout(space) for space in self.spaces], parts, [], self.generator)

    # ---- steps

    def change(self):
        changes = [each for each in edits.CHANGES if each is not edits.own_header or self.world.own_headers]
        if self.generator.random() < 0.1:
            changes = [self.kill]
        said = self.generator.choice(changes)(self.world)
        self.since.append(said)
        if self.generator.random() < 0.25:  # several at once
            self.change()

    def kill(self, world):
        """A build that is killed at some moment, behind an edit."""
        said = edits.edit(world)
        process = world.checkout.space.start_build(env=world.environment)
        time.sleep(self.generator.uniform(0, 0.4))
        testspace.kill_all(process.pid)
        process.communicate(timeout=testspace.TIME_LIMIT)
        return f"{said}, and kill a build of it"

    def reference(self, space):
        """What a build from scratch gives. What it knows of tools it may know for as long as these stay as they are."""
        if self.world.tools_changed:
            self.reference_caches += 1
            self.world.tools_changed = False
        return space.scratch(env=self.world.environment, cache=self.spaces[0].root / f"reference {self.reference_caches}")

    def check(self):
        """"" or what is wrong."""
        space = self.world.checkout.space
        run = space.build(env=self.world.environment)
        reference, expected = self.reference(space)
        if run.code != reference.code:
            return f"exit code {run.code}, from scratch {reference.code}\n{run}\nfrom scratch: {reference}"
        if run.code != 0:
            self.failed += 1
            if self.failed > FEW_FAILURES:
                raise RuntimeError(f"hardly anything compiles: {run}")
            return ""
        found = testspace.bundle_files(space.out)
        other = sorted({name for name, *_ in set(found) ^ set(expected)})
        return f"not the bundle of a build from scratch: {', '.join(other)}" if other else ""

    def begin_anew(self):
        """As if nothing had been built."""
        for space in self.spaces:
            space.remove_build()
        shutil.rmtree(self.spaces[0].environment["XDG_CACHE_HOME"], ignore_errors=True)

    def run(self, steps):
        self.failed, begin = 0, time.monotonic()
        for number in range(steps):
            if number > 0:
                self.change()
            wrong = self.check()
            if not wrong:
                self.since = []
                continue
            text = f"{wrong}\nsteps since the last good state, up to step {number}:\n  " + "\n  ".join(self.since)
            if not GO_ON:
                self.test.fail(f"step {number}: {text}")
            self.wrong.append((number, self.since))
            self.since = []
            self.begin_anew()
        seconds = time.monotonic() - begin
        print(f"{steps} steps in {seconds:.1f} s, {steps / seconds:.1f} each second; {self.failed} did not build", flush=True)
        self.tell_of_wrong()

    def tell_of_wrong(self):
        """Of the changes that were not seen: when first, how often, and what was the last thing before."""
        first, often = {}, collections.Counter()
        for number, since in self.wrong:
            key = "; ".join(since)
            first.setdefault(key, number)
            often[key] += 1
        for key, number in sorted(first.items(), key=lambda item: item[1]):
            print(f"  step {number:4}, {often[key]} times: {key}")
        if self.wrong:
            self.test.fail(f"{len(self.wrong)} steps were not seen")


class RandomEditsTest(StaleTest):
    def setUp(self):
        self.steps = int(os.environ.get("DSBUILD_STEPS") or testspace.count(200, 1000))

    def session(self, number):
        print(f"DSBUILD_SEED={SEED}, round {number}", flush=True)
        return Session(self, random.Random(f"{SEED}-{number}"))

    def test_made_up_tools(self):
        for number in range(1 if GO_ON else testspace.count(2, 10)):
            session = self.session(number)
            session.use_made_up_tools()
            session.run(self.steps)

    def test_real_tools(self):
        if not testspace.NIGHTLY:
            self.skipTest("takes an hour: DSBUILD_NIGHTLY=1")
        session = self.session("real")
        session.use_real_tools()
        session.run(int(os.environ.get("DSBUILD_STEPS") or 200))


if __name__ == "__main__":
    use_memory_for_files()
    testspace.main()
