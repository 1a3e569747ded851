#!/usr/bin/env python3
"""A build with nothing to do runs no edge, starts no process but Ninja and writes no file but the lock."""

import os
import pathlib
import re
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from testspace import TestSpace  # noqa: E402
from wrappers import Wrapper  # noqa: E402

WRITING = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC")
CHANGING = "openat,open,creat,execve,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,symlink,symlinkat," \
           "link,linkat,truncate,ftruncate,chmod,fchmod,fchmodat,utimensat"
# A build is remembered for its environment: the plan is not made again in the first, and is in the second.
REMEMBERED, PLANNED = ENVIRONMENTS = ({"REMEMBERED": "yes"}, {})
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def snapshot(folder):
    """What any write would change: content, times, the folder itself."""
    return {str(path): (path.lstat().st_ino, path.lstat().st_mtime_ns, path.lstat().st_size)
            for path in [folder, *folder.rglob("*")]}


def calls_in(trace):
    """[(name of the call, its text)] of those that succeeded, from one file per process."""
    calls = []
    for file in sorted(trace.parent.glob(trace.name + ".*")):
        for line in file.read_text(errors="replace").splitlines():
            match = re.match(r"(\w+)\((.*)\) += (-?\d+)", line)
            if match and not match.group(3).startswith("-"):
                calls.append((match.group(1), match.group(2)))
        file.unlink()
    return calls


class TracedTest(unittest.TestCase):
    def trace(self, must_succeed=True, env=None):
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        trace = self.space.root / "trace.txt"
        run = self.space.build(prefix=("strace", "-ff", "-e", "trace=" + CHANGING, "-o", str(trace)), env=env)
        if run.code != 0 and "ptrace" in run.err:
            self.skipTest("processes cannot be traced here")
        if must_succeed:
            self.assertEqual(run.code, 0, run)
        return calls_in(trace)


class NullBuildTest(TracedTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(steps=True)
        cls.space.environment["ASAN_OPTIONS"] += ":detect_leaks=0"  # LeakSanitizer cannot run under a tracer
        for env in (PLANNED, REMEMBERED):  # the second has what edges took in the first, and orders them by it
            (cls.space.out / "alpha.so").unlink(missing_ok=True)  # only a build that does something is remembered
            run = cls.space.build(env=env)
            assert run.code == 0, run

    def check_that_nothing_happens(self, env):
        before = {name: snapshot(folder) for name, folder in
                  (("bundle", self.space.out), ("build folder", self.space.build_dir),
                   ("cache", self.space.root / "cache"))}
        self.space.compiled()
        run = self.space.build(env=env)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.edges_run(), 0)
        self.assertEqual(self.space.compiled(), [])
        self.assertIn("unchanged", run.out)
        after = snapshot(self.space.build_dir)
        lock = str(self.space.build_dir / "lock")
        changed = {name for name in {*before["build folder"], *after}
                   if before["build folder"].get(name) != after.get(name)}
        self.assertLessEqual(changed, {lock})
        self.assertEqual(snapshot(self.space.out), before["bundle"])
        self.assertEqual(snapshot(self.space.root / "cache"), before["cache"])

    def test_the_second_run_has_no_edge_and_changes_nothing_on_the_disk(self):
        for env in ENVIRONMENTS:
            self.check_that_nothing_happens(env)

    def test_the_plan_is_not_made_again(self):
        plans = [any("op.yaml" in text for _, text in self.trace(env=env)) for env in ENVIRONMENTS]
        self.assertEqual(plans, [False, True])

    def test_no_process_is_started(self):
        for env in ENVIRONMENTS:
            programs = [QUOTED.search(text).group(1) for name, text in self.trace(env=env) if name == "execve"]
            self.assertEqual([os.path.basename(program) for program in programs], ["dsbuild"], env)

    def test_nothing_is_opened_for_writing_but_the_lock(self):
        for env in ENVIRONMENTS:
            opened = {QUOTED.search(text).group(1) for name, text in self.trace(env=env)
                      if name in ("open", "openat", "creat") and any(flag in text for flag in WRITING)}
            devices = {path for path in opened if path.startswith("/dev/")}
            self.assertEqual(opened - devices, {str(self.space.build_dir / "lock")}, env)

    def test_nothing_is_renamed_made_or_removed(self):
        kinds = ("rename", "unlink", "mkdir", "symlink", "link", "chmod", "utimens", "truncate", "fchmod")
        for env in ENVIRONMENTS:
            calls = [(name, text) for name, text in self.trace(env=env) if name.startswith(kinds)
                     and ".ninja_" not in text]
            # The lock's content is the holder's name, for those who wait.
            self.assertEqual([call for call in calls if call[0] != "ftruncate"], [], env)
            self.assertLessEqual(len(calls), 1, env)

    def files(self):
        return {file: file.stat().st_mtime_ns for file in self.space.build_dir.rglob("*") if file.is_file() and file.name != "lock"}

    def test_plan_starts_no_process_and_leaves_nothing_behind(self):
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        trace, before = self.space.root / "trace-plan.txt", self.files()
        run = self.space.run(*self.space.arguments("plan"), prefix=("strace", "-ff", "-e", "trace=" + CHANGING, "-o", str(trace)))
        self.assertEqual(run.code, 0, run)
        calls = calls_in(trace)
        started = [text for name, text in calls if name == "execve"]
        self.assertEqual(len(started), 1, started)  # dsbuild itself
        self.assertEqual([text for name, text in calls if name in ("open", "openat")
                          and any(flag in text for flag in WRITING) and '"/dev/' not in text
                          and "/build/lock" not in text], [])
        self.assertEqual(before, self.files())

    def test_the_trace_sees_a_build_that_has_work(self):
        """The check of the tests above."""
        with open(self.space.pack.source("alpha/alpha.cu"), "a", encoding="ascii") as file:
            file.write("// changed\n")
        calls = self.trace(must_succeed=False)  # edges do not get our sanitizer's options
        self.assertGreater(len([name for name, _ in calls if name == "execve"]), 2)
        self.assertTrue(any(name.startswith("rename") and "alpha" in text for name, text in calls))


class WrapperTest(TracedTest):
    """CXX starts another compiler, and is asked again in each build."""

    def setUp(self):
        self.space = TestSpace(steps=True)
        self.space.environment["ASAN_OPTIONS"] += ":detect_leaks=0"

    def check(self, kind):
        wrapper = Wrapper(self.space.root / "w/g++", shutil.which("g++"), kind, "-DFIRST")
        self.space.environment["CXX"] = str(wrapper.path)
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        calls = self.trace()
        self.assertFalse(any("op.yaml" in text for _, text in calls))
        asked = [text.split("[", 1)[1].split("]")[0] for name, text in calls if name == "execve" and f'"{wrapper.path}", [' in text]
        self.assertGreater(len(asked), 2, calls)
        self.assertEqual(sorted(asked), sorted(set(asked)))
        started = {QUOTED.search(text).group(1) for name, text in calls if name == "execve"}
        self.assertFalse({program for program in started if "nvcc" in program}, started)
        wrapper.put_first("-DSECOND")
        self.assertGreater(self.space.build().edges_run(), 0)

    def test_a_program(self):
        self.check("program")

    def test_a_script(self):
        self.check("script")


if __name__ == "__main__":
    testspace.main()
