#!/usr/bin/env python3
"""The Python package and the loader of wheels in each Python that is here, from 3.8 on: pyenv's, those on PATH, and those that
DSBUILD_PYTHONS names (paths, separated by ':'). Tools are made up."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, TestSpace, testspace  # noqa: E402
from distributions import edit_manifest, make_pack  # noqa: E402
from fake_driver import make_fake_driver  # noqa: E402

OLDEST, NEWEST = (3, 8), (3, 14)
ASK = "import json, sys, sysconfig; print(json.dumps([sys.version_info[:2], sys.executable, bool(sysconfig.get_config_var('Py_GIL_DISABLED'))]))"

LOAD = """
import json, os
import dsbuild
from dsbuild import _loader
_loader.open_op = lambda answer: type("Module", (), {"answer": answer})()
module = dsbuild.load("gamma", os.environ["PACK"])
print(json.dumps([module.answer["op"], module.answer["archs"], dsbuild.load("gamma", os.environ["PACK"]) is module, dsbuild.__version__]))
"""

# Of a bundle that is for CPython 9.9, which none is.
IMPORT = """
import dsbuild_deepspeed_ops
try:
    import mypackage.fused_adam_op
except ImportError as error:
    print(error)
"""


def pythons():
    """{(3, 11, "t" or ""): program}"""
    places = [pathlib.Path(text) for text in os.environ.get("DSBUILD_PYTHONS", "").split(":") if text]
    places += sorted((pathlib.Path.home() / ".pyenv" / "versions").glob("3.*/bin/python3"))
    for folder in os.environ["PATH"].split(":"):
        places += sorted(pathlib.Path(folder).glob("python3*"))
    found = {}
    for place in places:
        name = place.name.replace("python", "")
        if not name.rstrip("t").replace(".", "").isdigit():
            continue
        asked = subprocess.run([place, "-c", ASK], capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            version, program, is_free_threaded = json.loads(asked.stdout)
            found.setdefault((*version, "t" if is_free_threaded else ""), program)
    return {key: program for key, program in sorted(found.items()) if OLDEST <= key[:2] <= NEWEST}


class PythonVersionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pythons = pythons()
        print("  Pythons here:", ", ".join(f"{major}.{minor}{kind}" for major, minor, kind in cls.pythons))
        cls.space = TestSpace()
        cls.space.environment.update(make_fake_driver(cls.space.root / "driver"), FAKE_GPUS="90", PACK=str(cls.space.pack.folder),
                                     CUDA_HOME=str(cls.space.toolkit.home), DSBUILD_PROGRAM=cls.space.program)

    def each(self):
        for version, program in self.pythons.items():
            with self.subTest(python="{}.{}{}".format(*version)):
                yield version, program

    def start(self, program, *words, path):
        return subprocess.run([program, "-B", "-W", "error", *words], cwd=self.space.root, capture_output=True, text=True,
                              env={**self.space.environment, "PYTHONPATH": str(path)}, check=False)

    def test_every_file_is_read_without_a_warning(self):
        code = "import pathlib, sys; [compile(p.read_text(), str(p), 'exec') for f in sys.argv[1:] for p in sorted(pathlib.Path(f).rglob('*.py'))]"
        for _, program in self.each():
            read = self.start(program, "-c", code, REPOSITORY / "python", REPOSITORY / "templates", path="")
            self.assertEqual((read.returncode, read.stderr), (0, ""))

    def test_an_op_is_loaded(self):
        for _, program in self.each():
            loaded = self.start(program, "-c", LOAD, path=REPOSITORY / "python")
            self.assertEqual(loaded.returncode, 0, loaded.stderr)
            said = json.loads(loaded.stdout)
            self.assertEqual(said[:3], ["gamma", ["9.0+PTX"], True])

    def test_the_bundle_of_an_installed_wheel_is_found(self):
        space = TestSpace()
        self.assertEqual(space.build("--ops", "host").code, 0)
        site = space.root / "site-packages"
        self.assertEqual(space.run("install", str(space.out), "--target", str(site)).code, 0)
        code = "import sys; sys.path.append(sys.argv[1]); from dsbuild import _loader; print(*_loader.installed_bundles())"
        for _, program in self.each():
            found = self.start(program, "-c", code, site, path=REPOSITORY / "python")
            self.assertEqual((found.returncode, found.stdout.split()), (0, [str(next(site.glob("dsbuild_*_ops")))]), found.stderr)

    def test_a_wheel_for_a_different_python_says_so(self):
        space = TestSpace(pack=make_pack)
        self.assertEqual(space.build().code, 0)
        edit_manifest(space.out, source_version="", torch={"python": "cp99", "ext_suffix": ".cpython-99-x86_64-linux-gnu.so"},
                      fused_adam={"module": "mypackage.fused_adam_op"}, cpu_adam={"module": ""}, spatial_inference={"module": ""})
        site = space.root / "site-packages"
        self.assertEqual(space.run("install", str(space.out), "--target", str(site)).code, 0)
        (site / "mypackage").mkdir()
        (site / "mypackage" / "__init__.py").write_text("")
        for version, program in self.each():
            refused = self.start(program, "-c", IMPORT, path=site)
            self.assertIn(f"fused_adam is built for Python cp99, and this is cpython-{version[0]}{version[1]}", refused.stdout, refused.stderr)


if __name__ == "__main__":
    testspace.main()
