#!/usr/bin/env python3
"""Real ops through the Python package: right values, installed wheels, a third party's setup.py. DSBUILD_TEST_PYTHON names a
Python with numpy and tvm_ffi."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402

# One step of AdamW, against its formula in float64.
STEP = """
import json, sys
sys.path.insert(0, {reference!r})
import numpy, tvm_ffi
from adam_reference import Options, reference_step
import dsbuild
adam = {load}
options = Options(lr=0.1, weight_decay=0.01)
arrays = [numpy.linspace(-1, 1, 37, dtype="float32") * scale for scale in (1, 0.5, 0.1, 0)]
tensors = [tvm_ffi.from_dlpack(array.copy()) for array in arrays]
adam.cpu_adam_step(*[[tensor] for tensor in tensors], *options.arguments())
expected = reference_step(arrays[0].astype("float64"), *(array.astype("float64") for array in arrays[1:]), options)
numpy.testing.assert_allclose(numpy.from_dlpack(tensors[0]), expected[0], rtol=1e-6, atol=1e-7)
print(json.dumps(dsbuild.stats().__dict__))
"""

SETUP = """
from setuptools import setup
import dsbuild, dsbuild.setuptools

setup(name="mypkg", version="1", packages=["mypkg"],
      ext_modules=[dsbuild.op("cpu_adam").builder("mypkg.cpu_adam"), dsbuild.op("pin_memory").builder("mypkg.pin_memory")],
      cmdclass={"build_ext": dsbuild.setuptools.BuildExtension})
"""


class PythonOpsTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.interpreter = os.environ.get("DSBUILD_TEST_PYTHON")
        if not cls.interpreter or not os.access(cls.interpreter, os.X_OK):
            testspace.skip("DSBUILD_TEST_PYTHON is not set (a Python with numpy and tvm_ffi)")
        cls.space = TestSpace(store=True)
        cls.space.environment.update(PYTHONPATH=str(REPOSITORY / "python"), DSBUILD_PROGRAM=cls.space.program)
        cls.bundle = cls.space.root / "bundle"
        built = cls.space.run("--ops", "cpu_adam,pin_memory", "--out", str(cls.bundle), "--build-dir", str(cls.space.root / "own"),
                              "--python", cls.interpreter)
        assert built.code == 0, built

    def python(self, *words, env=None, cwd=None):
        run = subprocess.run([self.interpreter, "-B", *words], cwd=cwd or self.space.root, capture_output=True, text=True,
                             env={**self.space.environment, **(env or {})}, timeout=testspace.TIME_LIMIT)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run

    def step(self, load='dsbuild.load("cpu_adam")', **options):
        run = self.python("-c", STEP.format(reference=str(REPOSITORY / "tests" / "python"), load=load), **options)
        return json.loads(run.stdout), run.stderr

    def test_it_is_built_once_and_right(self):
        own = {"TORCH_EXTENSIONS_DIR": str(self.space.root / "extensions")}
        first, _ = self.step(env=own)
        self.assertEqual((first["prebuilt"], first["built"]), (0, 1))
        self.assertEqual(len(list((self.space.root / "extensions" / "dsbuild").glob("cpu_adam-*/bundle/cpu_adam.so"))), 1)
        again, said = self.step(env=own)
        self.assertEqual((again["built"], again["compiles"], said), (0, 0, ""))

    def test_a_bundle_is_taken_as_it_is_without_any_compiler(self):
        # As in a container of a program: no compiler, and a bundle of another machine.
        bare = {"PATH": "/nowhere", "DSBUILD_BUNDLE": str(self.bundle), "CXX": "/nowhere/g++", "DSBUILD_JIT": "0"}
        counts, said = self.step(env=bare)
        self.assertEqual((counts["prebuilt"], counts["compiles"], said), (1, 0, ""))
        for path in (self.bundle, self.bundle / "cpu_adam.so"):
            counts, _ = self.step(f'dsbuild.load("cpu_adam", path={str(path)!r})', env={"DSBUILD_JIT": "0"})
            self.assertEqual(counts["prebuilt"], 1)

    def test_an_installed_wheel_is_found(self):
        target = self.space.root / "installed" / "site-packages"
        run = self.space.run("install", str(self.bundle), "--target", str(target))
        self.assertEqual(run.code, 0, run)
        env = {"PYTHONPATH": f"{REPOSITORY / 'python'}:{target}", "DSBUILD_JIT": "0"}
        counts, said = self.step(env=env)
        self.assertEqual((counts["prebuilt"], said), (1, ""))
        (target / "dsbuild_native_ops" / "cpu_adam.so").write_bytes(b"damaged")
        built, said = self.step(env={**env, "DSBUILD_JIT": "1"})
        self.assertEqual(built["prebuilt"], 0)
        self.assertIn("cpu_adam.so is not what its manifest says; it is built for this machine", said)

    def test_a_setup_py_has_ops_as_extensions(self):
        project = self.space.root / "project"
        (project / "mypkg").mkdir(parents=True)
        (project / "mypkg" / "__init__.py").write_text("")
        (project / "setup.py").write_text(SETUP)
        self.python("setup.py", "-q", "build_ext", "--inplace", cwd=project)
        self.assertEqual(sorted(file.name for file in (project / "mypkg").glob("*.so")), ["cpu_adam.so", "pin_memory.so"])
        for op in ("cpu_adam", "pin_memory"):
            self.assertEqual((project / "mypkg" / f"{op}.so").read_bytes(), (self.bundle / f"{op}.so").read_bytes())
        counts, _ = self.step('tvm_ffi.load_module("mypkg/cpu_adam.so")', cwd=project)
        self.assertEqual(counts["loaded"], 0)

    def test_a_library_that_cannot_be_opened_is_an_error_with_the_loaders_words(self):
        broken = self.space.root / "broken"
        shutil.copytree(self.bundle, broken)
        manifest = json.loads((broken / "manifest.json").read_text())
        (broken / "cpu_adam.so").write_bytes(b"no library")
        for op in manifest["ops"]:
            if op["name"] == "cpu_adam":
                op["sha256"] = hashlib.sha256(b"no library").hexdigest()
        testspace.forge_manifest(broken, manifest)
        run = self.python("-c", "import dsbuild\n"
                          f"try: dsbuild.load('cpu_adam', path={str(broken)!r})\n"
                          "except dsbuild.DsbuildError as error: print(error.code, error)")
        self.assertRegex(run.stdout, rf"^not_a_module .*(invalid ELF header|file too short).* \({broken}/cpu_adam.so\)")


if __name__ == "__main__":
    testspace.main()
