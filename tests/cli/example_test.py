#!/usr/bin/env python3
"""examples/build_a_bundle.cpp: a program of somebody else's makes what dsbuild makes."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402


class ExampleTest(unittest.TestCase):
    def run_example(self, space, op, out):
        environment = {**space.environment, "CUDA_HOME": str(space.toolkit.home)}
        environment["PATH"] = f"{pathlib.Path(os.environ['DSBUILD']).parent}:{environment['PATH']}"
        return subprocess.run([os.environ["DSBUILD_EXAMPLE"], str(space.pack.folder), op, str(out)], env=environment,
                              cwd=space.root, capture_output=True, text=True)

    def test_it_makes_the_bundle_that_the_program_makes(self):
        space = testspace.TestSpace()
        self.assertEqual(space.build("--ops", "host").code, 0)
        out = space.root / "other"
        run = self.run_example(space, "host", out)
        self.assertEqual(run.returncode, 0, run)
        self.assertIn("3 of 3: check/host.ok\n", run.stdout)
        self.assertTrue(run.stdout.endswith(f"1 ops in {out}\n"), run.stdout)
        self.assertEqual(testspace.bundle_hash(out), space.hash())

    def test_what_is_wrong_is_its_exit_code(self):
        space = testspace.TestSpace()
        run = self.run_example(space, "nothing", space.root / "other")
        self.assertEqual(run.returncode, 1, run)
        self.assertFalse((space.root / "other").exists())


if __name__ == "__main__":
    testspace.main()
