#!/usr/bin/env python3
"""The hook asks torch for its commands by a private name: the same rule by the oldest and the newest torch. That of 2.11 is
random_setup_test.py."""

import collections
import os
import pathlib
import sys
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import random_setup_test  # noqa: E402
from cli import CliTest, testspace  # noqa: E402


class TorchVersionsTest(CliTest):
    check, compared = random_setup_test.RandomSetupTest.check, random_setup_test.RandomSetupTest.compared

    def compare(self, variable, toolkit):
        python = os.environ.get(variable, "")
        if not os.access(python, os.X_OK):
            self.skipTest(f"{variable} is not set (the deep tests fetch it)")
        with unittest.mock.patch.dict(os.environ, DSBUILD_TORCH_PYTHON=python, **toolkit):
            self.space = random_setup_test.SetupSpace()
        self.addCleanup(self.space.torch.communicate)
        self.seed, self.counts = testspace.SEED, collections.Counter()
        self.check(self.compared, 60, 300)

    def test_the_oldest(self):
        home = os.environ.get("DSBUILD_CUDA_11_8", "")
        if not os.path.isdir(home):
            self.skipTest("no CUDA 11.8 (DSBUILD_CUDA_11_8), which torch 2.0 goes with")
        self.compare("DSBUILD_OLDEST_TORCH_PYTHON", {"DSBUILD_CUDA_13": home})

    def test_the_newest(self):
        self.compare("DSBUILD_NEWEST_TORCH_PYTHON", {})


if __name__ == "__main__":
    testspace.main()
