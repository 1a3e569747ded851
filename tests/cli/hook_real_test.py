#!/usr/bin/env python3
"""DSBUILD=1 pip install of packages of PyPI as they are, by torch's own Python and a real nvcc: into a folder of their own,
from which they are imported."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from hook_test import install_package  # noqa: E402
from packages_test import fetch  # noqa: E402
from real_torch_test import find  # noqa: E402

# What Python must say of the package where no GPU is, by hand.
SCATTER = """
import torch, torch_scatter
print(torch_scatter.scatter(torch.tensor([1., 2., 4.]), torch.tensor([0, 1, 0]), reduce="sum").tolist())
"""


class HookRealTest(CliTest):
    def setUp(self):
        self.python = find("DSBUILD_TORCH_PYTHON", "torch/venv/bin/python")
        self.space = TestSpace()
        self.space.use_real_toolkit()
        install_package(self.space.root / "site")
        self.environment = {**self.space.environment, "DSBUILD_PROGRAM": str(self.space.program),
                            "CUDA_HOME": str(self.space.toolkit.home), "TORCH_CUDA_ARCH_LIST": "8.0", "FORCE_CUDA": "1",
                            "PYTHONPATH": f"{self.space.root / 'site'}:{self.space.root / 'into'}"}

    def pip_install(self, package):
        run = subprocess.run([self.python, "-m", "pip", "install", "-v", "--no-build-isolation", "--no-deps", "--no-index",
                              "--target", "into", str(fetch(package, self.python))], cwd=self.space.root, text=True,
                             capture_output=True, env={**self.environment, "DSBUILD": "1"}, check=False)
        self.assertEqual(run.returncode, 0, run.stdout[-8000:] + run.stderr)
        return run.stdout + run.stderr

    def test_torch_scatter(self):
        said = self.pip_install("torch-scatter==2.1.2")
        built = sorted(said.rpartition("dsbuild: built ")[2].splitlines()[0].split(", "))
        self.assertEqual(len(built), 8, said[-8000:])
        self.assertNotIn("the project's own build_ext", said)
        for module in built:
            file = self.space.root / "into" / (module.replace(".", "/") + ".so")
            images = json.loads(self.space.run("inspect", str(file), "--json").out)
            self.assertEqual({image["arch"] for each in images["files"] for image in each["images"]},
                             {"sm_80"} if module.endswith(("scatter_cuda", "segment_coo_cuda", "segment_csr_cuda"))
                             else set(), module)
        answer = subprocess.run([self.python, "-c", SCATTER], env=self.environment, text=True, capture_output=True,
                                cwd=os.sep, check=False)
        self.assertEqual(answer.stdout, "[5.0, 2.0]\n", answer.stderr)


if __name__ == "__main__":
    testspace.main()
