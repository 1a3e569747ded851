#!/usr/bin/env python3
"""import dsbuild.deepspeed with the real DeepSpeed and torch, on the CPU; and its wheel. What is not there is skipped: torch
and the sources of DeepSpeed are installed by the scripts."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, TestSpace, testspace  # noqa: E402

HOOK = REPOSITORY / "python" / "deepspeed_hook"
FINDER = REPOSITORY / "python" / "dsbuild" / "_deepspeed_finder.py"


def from_cache(variable, default):
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    found = pathlib.Path(os.environ.get(variable) or cache / "dsbuild" / default)
    if not found.exists():
        raise unittest.SkipTest(f"{found} is not there ({variable}): `scripts/test.sh deep` installs it")
    return found


class RealDeepSpeedTest(unittest.TestCase):
    """DeepSpeed 0.19.8 without any op, beside the real torch, on its CPU accelerator."""

    STEP = """
import json, torch
import dsbuild.deepspeed
from deepspeed.ops.op_builder import CPUAdamBuilder
from deepspeed.ops.adam import DeepSpeedCPUAdam
module = CPUAdamBuilder().load()
torch.manual_seed(7)
start, gradient = torch.randn(10007), torch.randn(10007)
ours, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
ours.grad, theirs.grad = gradient.clone(), gradient.clone()
settings = dict(lr=1e-2, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.1)
DeepSpeedCPUAdam([ours], adamw_mode=True, **settings).step()
torch.optim.AdamW([theirs], **settings).step()
print(json.dumps([module.__file__, CPUAdamBuilder().load() is module, dsbuild.stats().compiles,
                  (ours - theirs).abs().max().item(), (ours - start).abs().min().item()]))
"""

    SAID = """
import json, sys, warnings, torch
if sys.argv[1:]: import dsbuild.deepspeed
from deepspeed.ops.op_builder import CPUAdamBuilder
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try: said = CPUAdamBuilder().load().__file__
    except RuntimeError as error: said = f"{type(error).__name__}: {error}"
print(json.dumps([said, [str(one.message) for one in caught if one.category is RuntimeWarning]]))
"""

    @classmethod
    def setUpClass(cls):
        cls.torch_python = from_cache("DSBUILD_TORCH_PYTHON", "torch/venv/bin/python")
        source = from_cache("DSBUILD_DEEPSPEED_SOURCES", "deepspeed") / "0.19.8"
        cls.space = TestSpace(store=True)
        shutil.copytree(source, cls.space.root / "source")  # pip writes into it
        cls.site = cls.space.root / "site-packages"
        cls.environment = {**cls.space.environment, "DS_ACCELERATOR": "cpu", "DSBUILD_PROGRAM": cls.space.program,
                           "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "python"), str(cls.site)])}
        subprocess.run([cls.torch_python, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-compile", "--quiet",
                        "--disable-pip-version-check", "--target", cls.site, cls.space.root / "source"], check=True,
                       env={**cls.environment, "PYTHONPATH": "", "DS_BUILD_OPS": "0"}, stdout=subprocess.DEVNULL)

    def run_python(self, *words, **variables):
        """What the last line of its output says."""
        run = subprocess.run([self.torch_python, "-B", "-c", *words], cwd=self.space.root, capture_output=True, text=True,
                             env={**self.environment, **variables}, timeout=1800)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout.splitlines()[-1])

    def test_cpu_adam_steps_as_torch_does_and_a_second_process_compiles_nothing(self):
        for compiles in (2, 0):
            file, is_kept, compiled, difference, moved = self.run_python(self.STEP)
            self.assertIn(str(self.space.cache_folder() / "jit"), file)
            self.assertTrue(is_kept)
            self.assertEqual(compiled, compiles)
            self.assertLess(difference, 2e-6)  # of values up to 4: three units in the last place
            self.assertGreater(moved, 1e-3)

    def test_installed_for_another_torch(self):
        """The record says so; nothing is installed. What DeepSpeed says of it by itself is what the hook passes on."""
        record = self.site / "deepspeed" / "git_version_info_installed.py"
        text = record.read_text()
        self.addCleanup(record.write_text, text)
        record.write_text(text + "installed_ops['cpu_adam'] = True\naccelerator_name = 'cpu'\ntorch_info['version'] = '1.2'\n")
        alone, _ = self.run_python(self.SAID)
        self.assertRegex(alone, "^RuntimeError: PyTorch version mismatch! ")
        self.assertEqual(self.run_python(self.SAID, "hook", DSBUILD_JIT="0"), [alone, []])
        file, warnings = self.run_python(self.SAID, "hook")
        self.assertIn(str(self.space.cache_folder() / "jit"), file)
        self.assertEqual(warnings, [alone[len("RuntimeError: "):]])


class HookWheelTest(unittest.TestCase):
    def test_it_holds_the_two_files_and_asks_for_dsbuild(self):
        folder = TestSpace().root
        run = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--disable-pip-version-check",
                              "--wheel-dir", folder, HOOK], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        wheel, = folder.glob("*.whl")
        self.assertRegex(wheel.name, r"^dsbuild_deepspeed-[0-9.]+-py3-none-any\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        self.assertEqual({name: data for name, data in files.items() if ".dist-info/" not in name},
                         {"dsbuild_deepspeed.pth": (HOOK / "dsbuild_deepspeed.pth").read_bytes(),
                          "dsbuild_deepspeed_finder.py": FINDER.read_bytes()})
        metadata = next(data.decode() for name, data in files.items() if name.endswith("/METADATA"))
        self.assertEqual(re.findall(r"^Requires-Dist: (.*)$", metadata, re.M), ["dsbuild"])


if __name__ == "__main__":
    testspace.main()
