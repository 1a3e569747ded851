#!/usr/bin/env python3
"""The torch side of the native ops, without a GPU: the operators of the CPU ops run, those of the CUDA ops have schemas and
fakes, optimisers and FP8 layers keep their rules. With the torch of the GPU tests, in `deep` with the newest too:
DSBUILD_TORCH_PYTHON and DSBUILD_NEWEST_TORCH_PYTHON name a Python with torch and NumPy each."""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, TESTS, CliTest, TestSpace, testspace  # noqa: E402
from pages import find_python  # noqa: E402

PYTHONS = ("DSBUILD_TORCH_PYTHON", "DSBUILD_NEWEST_TORCH_PYTHON")[:2 if testspace.TIER == "deep" else 1]
OWN = TESTS / "python" / "test_torch_operators.py"
OTHERS = ("test_optim", "test_fp8_recipe", "test_fp8_compiled", "test_cublaslt", "test_cpu_adam.AgainstTorch",
          "test_cpu_adagrad.AgainstTorch")


def pythons():
    return {name: os.environ[name] for name in PYTHONS if os.access(os.environ.get(name, ""), os.X_OK)}


class OperatorsTest(CliTest):
    @classmethod
    def setUpClass(cls):
        if not pythons():
            testspace.skip(f"{' and '.join(PYTHONS)} are not set (a Python with torch and NumPy)")
        cls.space = TestSpace(store=True)
        _, home = find_python()
        built = cls.space.run("--ops", "cpu_adam,cpu_adagrad,cpu_lion", env={"DS_ACCELERATOR": "cpu", "TVM_FFI_HOME": home})
        assert built.code == 0, built
        script = REPOSITORY / "scripts" / "make_torch_operators.py"
        samples = cls.space.root / "samples.json"
        samples.write_bytes(subprocess.run([sys.executable, "-B", script, "--samples"], check=True, stdout=subprocess.PIPE).stdout)
        cls.environment = {
            **os.environ, "DSBUILD_BUNDLE": str(cls.space.root / "dsbuild-out"), "DSBUILD_PROGRAM": cls.space.program,
            "DSBUILD_TORCH_SAMPLES": str(samples), "DSBUILD_JIT": "0", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": f"{REPOSITORY / 'python'}:{pathlib.Path(home).parent}:{TESTS / 'python'}"}

    def python(self, interpreter, *words, **env):
        return subprocess.run([interpreter, *map(str, words)], text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**self.environment, **env}, timeout=testspace.TIME_LIMIT * 5)

    def test_torch_finds_nothing_wrong_with_them(self):
        for name, interpreter in pythons().items():
            with self.subTest(name):
                run = self.python(interpreter, OWN)
                self.assertEqual(run.returncode, 0, run.stdout)
                self.assertRegex(run.stdout, r"Ran \d+ tests")

    def test_optimisers_and_layers_keep_their_rules(self):
        for interpreter in pythons().values():
            with self.subTest(python=interpreter):
                run = self.python(interpreter, "-m", "unittest", *OTHERS)
                self.assertEqual(run.returncode, 0, run.stdout)
                self.assertGreater(int(re.search(r"Ran (\d+) tests", run.stdout)[1]), 70)

    def test_an_operator_that_is_wrong_is_seen(self):
        """Its source is changed in a copy of the package."""
        interpreter = next(iter(pythons().values()))
        for wrong, test, file, pattern, replacement, seen in testspace.some_of((
                ("a write that the schema does not say", "written", "_torch_operators.py", r"Tensor\(b!\)\[\] exp_avgs",
                 "Tensor[] exp_avgs", "exp_avgs"),
                ("a fake that answers", "nothing_wrong", "_torch_library.py", r"    return None\n", "    return torch.empty(1)\n",
                 "cpu_adam_step"),
                ("a library at import", "importing", "_torch_library.py", r"self\._name = name", "self._name = name; load(name)",
                 "import dsbuild.torch")), 1):
            with self.subTest(wrong):
                package = self.space.root / "changed"
                subprocess.run(["rm", "-rf", package], check=True)
                subprocess.run(["cp", "-r", REPOSITORY / "python", package], check=True)
                text = (package / "dsbuild" / file).read_text()
                changed, count = re.subn(pattern, replacement, text)
                self.assertGreater(count, 0)
                (package / "dsbuild" / file).write_text(changed)
                run = self.python(interpreter, OWN, "-k", test,
                                  PYTHONPATH=f"{package}:{self.environment['PYTHONPATH']}")
                self.assertEqual(run.returncode, 1, run.stdout)
                self.assertRegex(run.stdout, seen)


if __name__ == "__main__":
    testspace.main(each_commit=1)
