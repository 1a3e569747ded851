#!/usr/bin/env python3
"""Limits of the system (ulimit) from hopeless to enough: each run ends with an exit code of docs/reference/cli.md. One that cannot
work names the limit; none dies of a signal or is an internal error."""

import os
import pathlib
import resource
import shutil
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from packs import Pack, binding  # noqa: E402
from testspace import NOBODY, TestSpace  # noqa: E402

KIB = 1024
# Exit codes of what cannot work: a step or a file failed; the request cannot be met.
FAILED = (1, 3)


def host_pack(folder):
    pack = Pack(folder)
    pack.add_op("host", {"host.cpp": binding("host_run")}, {"backend": "cpu", "exports": ["host_run"]})
    return pack


def limited(kind, value, user=None):
    """What a child does before it becomes the program."""
    def apply():
        resource.setrlimit(kind, (value, value))
        if user is not None:
            os.setuid(user)
    return apply


@unittest.skipIf(testspace.is_sanitized(), "the sanitizers take memory, stack and descriptors of their own")
class LimitsTest(unittest.TestCase):
    def setUp(self):
        self.space = TestSpace(pack=host_pack)
        self.space.arch = "8.0"
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        shutil.copytree(self.space.out, self.space.root / "bundle")

    def words(self, command):
        bundle = str(self.space.root / "bundle")
        return {"build": self.space.arguments(), "plan": self.space.arguments("plan"),
                "report": self.space.arguments("report"), "inspect": ["inspect", bundle], "verify": ["verify", bundle]}[command]

    def run_limited(self, command, kind, value, option, user=None):
        self.space.remove_build()
        self.space.remove_out()
        run = self.space.run(*self.words(command), timeout=60, preexec_fn=limited(kind, value, user))
        shown = f"{command}, limit {value}: {run}"
        if run.code == 127 and "error while loading shared libraries" in run.err:
            return None  # ld.so ended it before it began
        if run.code == -signal.SIGABRT and run.err.startswith("terminate called"):
            return None  # so did the C++ library, while libraries began: from main on, dsbuild says it in its own words
        self.assertIn(run.code, (0, *FAILED), shown)
        for word in ("internal error", "please report it", "killed by signal"):
            self.assertNotIn(word, run.err, shown)
        if run.code != 0:
            self.assertIn("error[", run.err, shown)
            self.assertIn(f"ulimit {option}", run.err, shown)
        return run.code

    def try_values(self, kind, option, values, fails=("build",), commands=("build", "plan", "report", "inspect", "verify"), **more):
        for command in commands:
            codes = [self.run_limited(command, kind, value, option, **more) for value in values]
            self.assertEqual(codes[-1], 0, f"{command}: {codes}: the last limit is enough")
            if command in fails:
                self.assertTrue(set(codes) & set(FAILED), f"{command}: {codes}: no limit was too low")

    def test_size_of_files(self):
        self.try_values(resource.RLIMIT_FSIZE, "-f", [n * KIB for n in (0, 1, 4, 8, 12, 1 << 20)])

    def test_stack(self):
        self.try_values(resource.RLIMIT_STACK, "-s", [n * KIB for n in (64, 128, 256, 512, 1024, 8192)],
                        fails=("build", "plan", "report", "inspect", "verify"))

    def test_memory(self):
        values = [n * KIB for n in (12_000, 16_000, 20_000, 25_000, 30_000, 40_000, 4_000_000)]
        self.try_values(resource.RLIMIT_AS, "-v", values)

    def test_data(self):
        self.try_values(resource.RLIMIT_DATA, "-d", [n * KIB for n in (100, 300, 600, 1000, 2000, 5000, 12_000, 4_000_000)])

    def test_open_files(self):
        self.try_values(resource.RLIMIT_NOFILE, "-n", [4, 8, 16, 24, 32, 64], fails=("build", "plan"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become a user without other processes")
    def test_processes(self):
        self.space.copy_programs()
        self.space.give_to_nobody()
        self.try_values(resource.RLIMIT_NPROC, "-u", sorted([2, 64, *testspace.some_of((1, 3, 4, 5, 6, 8), 2)]), user=NOBODY, commands=("build", "plan", "report"))

    def test_a_limit_that_may_be_raised_is_raised(self):
        for kind, value in ((resource.RLIMIT_STACK, 64 * KIB), (resource.RLIMIT_NOFILE, 12)):
            self.space.remove_build()
            run = self.space.build(preexec_fn=lambda kind=kind, value=value:
                                   resource.setrlimit(kind, (value, resource.getrlimit(kind)[1])))
            self.assertEqual(run.code, 0, run)


if __name__ == "__main__":
    testspace.main(each_commit=4)
