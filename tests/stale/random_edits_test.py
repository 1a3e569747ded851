#!/usr/bin/env python3
"""Random changes of everything that a build is made of; after each of them the bundle is that of a build from scratch with
an empty cache, byte for byte. With tools that are made up, so that there can be many; with DSBUILD_NIGHTLY=1 more, and with real
tools too.

Each commit is tested with the same changes, `deep` with others each time. DSBUILD_SEED replays a run, DSBUILD_STEPS says how
many steps it has. With DSBUILD_GO_ON=1 it begins anew behind what is wrong and says at the end which changes were not seen."""

import collections
import concurrent.futures
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import compiler_edits  # noqa: E402
import edits  # noqa: E402
import testspace  # noqa: E402
from edits import Checkout, World  # noqa: E402
from fake_toolkit import make_made_up_compiler  # noqa: E402
from stale import StaleSpace, StaleTest  # noqa: E402
from testspace import SEED  # noqa: E402
from wrappers import Wrapper  # noqa: E402

SHM = "/dev/shm"
GO_ON = os.environ.get("DSBUILD_GO_ON") == "1"
CHANGES_OF_COMMITS = "1"
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
        self.test, self.generator, self.since = test, generator, []
        self.done, self.unseen = collections.Counter(), collections.Counter()
        self.spaces = [StaleSpace("first", steps=True, text=1), StaleSpace("other", steps=True, text=1)]
        first, other = self.spaces
        other.toolkit = first.toolkit
        other.environment["XDG_CACHE_HOME"] = first.environment["XDG_CACHE_HOME"]
        self.known = {}  # by what was built: how a build from scratch ends
        self.caches, self.tools, self.site = 0, None, None
        self.system_cache = self.ask_system()
        self.forget_all()

    def ask_system(self):
        """A cache folder with what dsbuild knows of the machine's own compilers and toolkits, which nothing here changes."""
        space = testspace.TestSpace()
        space.run("report", env={"CUDA_HOME": str(space.root / "none")})
        shutil.rmtree(space.toolkit.home)
        return space.cache_folder().parent

    def put_wrapper_in_front(self, compiler):
        root = self.spaces[0].root
        other = make_made_up_compiler(root / "other compiler")
        for name in ("cc1plus", "as", "ld"):
            (other.program.parent / name).write_bytes(b"2000\n")
        kind = self.generator.choice(["program", "script"])
        wrapper = Wrapper(root / "wrapper/g++", compiler.program, kind)
        self.site = compiler_edits.Site(wrapper, [compiler.program, other.program], root / "site")
        return wrapper.path

    def use_made_up_tools(self, with_wrapper=False):
        first, home = self.spaces[0], self.spaces[0].toolkit.home
        folder = first.root / "compiler"
        compiler = make_made_up_compiler(folder)
        used = self.put_wrapper_in_front(compiler) if with_wrapper else compiler.program
        for space in self.spaces:
            space.environment.update({"CXX": str(used), "CUDAHOSTCXX": str(used)})
        (folder / "include").mkdir()
        (home / "nvvm/libdevice").mkdir(parents=True)
        parts = {home / "bin" / name: marked(home / "bin" / name) for name in PROGRAMS}
        parts[compiler.program] = marked(compiler.program)
        for name in ("cc1plus", "as", "ld"):
            parts[folder / name] = lambda number: b"%d\n" % number
        parts[home / "bin/nvcc.profile"] = lambda number: b"INCLUDES += -I$(TOP)/include -DPROFILE=%d\n" % number
        parts[home / "nvvm/libdevice/libdevice.10.bc"] = lambda number: b"%d\n" % number
        parts[home / "include/crt/host_runtime.h"] = lambda number: b"static int runtime = %d;\n" % number
        parts[home / "lib64/libcudart_static.a"] = lambda number: b"!<arch>\n%d\n" % number
        for path, content in parts.items():
            path.write_bytes(content(1000))
        self.world = World([Checkout(space) for space in self.spaces], parts, [folder / "include/own.h"], self.generator)
        self.world.site = self.site or compiler_edits.Site(None, [compiler.program], first.root / "site")
        # Whole commands make the same bytes; real ones do not, for nvcc numbers its modules otherwise.
        self.reference_options = ["--backend", "nvcc"]

    def use_real_tools(self):
        from toolkit_test import USED, private_toolkit
        home = private_toolkit(self.spaces[0].root / "private")
        for space in self.spaces:
            space.toolkit.home = home
        header = home / "include/crt/host_runtime.h"
        text = header.read_bytes()
        # It is included twice in one file.
        parts = {header: lambda number: text + f"#ifndef PATCHED\n#define PATCHED\n{USED.format(number)}#endif\n".encode()}
        self.reference_options = []
        self.world = World([Checkout(space) for space in self.spaces], parts, [], self.generator)

    # ---- steps

    def change(self):
        changes = [each for each in edits.CHANGES + compiler_edits.CHANGES if each is not edits.own_header or self.world.own_headers]
        change = self.generator.choice(changes)
        said = change(self.world)
        self.since.append((said if change is edits.tool else change.__name__, said))
        if self.generator.random() < 0.25:  # several at once
            self.change()

    def reference(self, space):
        """What a build from scratch gives, of nothing that was built or kept before: as the last one of the same files, tools,
        options and environment. What it knows of tools it may know for as long as these and the variables stay as they are."""
        state = self.world.digest()
        if state not in self.known:
            tools = dict(self.world.tools), dict(self.world.environment)
            if self.tools != tools:
                self.tools = tools
                self.caches += 1
                shutil.copytree(self.system_cache, self.reference_cache())
            run, files = space.scratch(*self.reference_options, env=self.world.environment, cache=self.reference_cache())
            self.known[state] = run, dict((name, rest) for name, *rest in files)
            self.references += 1
        return self.known[state]

    def reference_cache(self):
        return self.spaces[0].root / f"reference {self.caches}"

    def check(self):
        """"" or what is wrong."""
        space = self.world.checkout.space
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            scratch = pool.submit(self.reference, space)
            run = space.build(env=self.world.environment)
            reference, expected = scratch.result()
        if run.code != reference.code:
            return f"exit code {run.code}, from scratch {reference.code}\n{run}\nfrom scratch: {reference}"
        if run.code != 0 and self.world.unreadable:
            self.unreadable += 1
            return ""
        if run.code != 0:
            self.failed += 1
            if self.failed == 1:
                print(f"the first that does not build: {run}", flush=True)
            if self.failed > FEW_FAILURES:
                raise RuntimeError(f"hardly anything compiles: {run}")
            return ""
        found = dict((name, rest) for name, *rest in testspace.bundle_files(space.out))
        found.pop(testspace.STATEMENT)  # that of another backend names its options
        expected = {name: rest for name, rest in expected.items() if name != testspace.STATEMENT}
        other = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
        return f"not the bundle of a build from scratch: {', '.join(other)}" if other else ""

    def forget_all(self):
        """As if nothing had been built."""
        cache = self.spaces[0].environment["XDG_CACHE_HOME"]
        shutil.rmtree(cache, ignore_errors=True)
        shutil.copytree(self.system_cache, cache)
        for space in self.spaces:
            space.remove_build()

    def run(self, steps):
        self.failed, self.unreadable, self.references, begin = 0, 0, 0, time.monotonic()
        for number in range(steps):
            edits.mend(self.world)
            if number > 0:
                self.change()
            wrong = self.check()
            self.count(self.done)
            if wrong:
                self.note_wrong(number, wrong)
            self.since = []
        seconds = time.monotonic() - begin
        print(f"{steps} steps in {seconds:.1f} s, {steps / seconds:.1f} each second; {self.references} builds from scratch; "
              f"{self.failed} did not build, {self.unreadable} by what cannot be read", flush=True)
        self.tell_of_wrong()

    def note_wrong(self, number, wrong):
        text = f"step {number}: {wrong}\nthe last step:\n  " + "\n  ".join(said for _, said in self.since)
        if not GO_ON:
            self.test.fail(text)
        print(text, flush=True)
        self.count(self.unseen)
        self.forget_all()

    def count(self, counter):
        """The kinds of a step, each by itself and, where it was the only one, once more."""
        kinds = sorted({kind for kind, _ in self.since})
        counter.update((kind, len(kinds) == 1) for kind in kinds)

    def tell_of_wrong(self):
        """For each kind of change: how many steps of nothing else there were, and how many of them were not seen; then the
        steps that it shared with others."""
        if not self.unseen:
            return
        for kind in sorted({kind for kind, _ in self.done}):
            alone, shared = ((self.unseen[kind, is_alone], self.done[kind, is_alone]) for is_alone in (True, False))
            print(f"  {kind}: alone {alone[0]} of {alone[1]} not seen, with others {shared[0]} of {shared[1]}")
        self.test.fail("steps were not seen")


class RandomEditsTest(StaleTest):
    def setUp(self):
        self.steps = int(os.environ.get("DSBUILD_STEPS") or testspace.count(45, 1000, deep_too=100))

    def session(self, number):
        is_fixed = testspace.TIER != "deep" and "DSBUILD_SEED" not in os.environ
        seed = CHANGES_OF_COMMITS if is_fixed else SEED
        print(f"DSBUILD_SEED={seed}, round {number}", flush=True)
        return Session(self, random.Random(f"{seed}-{number}"))

    def test_made_up_tools(self):
        for number in range(1 if GO_ON else testspace.count(1, 10, deep_too=2)):
            session = self.session(number)
            session.use_made_up_tools()
            session.run(self.steps)

    def test_made_up_tools_behind_a_wrapper(self):
        for number in range(1 if GO_ON else testspace.count(1, 5)):
            session = self.session(f"wrapper-{number}")
            session.use_made_up_tools(with_wrapper=True)
            session.run(self.steps)

    def test_real_tools(self):
        if not testspace.NIGHTLY:
            self.skipTest("takes long: DSBUILD_NIGHTLY=1")
        session = self.session("real")
        session.use_real_tools()
        session.run(int(os.environ.get("DSBUILD_STEPS") or 200))


if __name__ == "__main__":
    use_memory_for_files()
    testspace.main()
