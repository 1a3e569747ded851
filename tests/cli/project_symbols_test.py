#!/usr/bin/env python3
"""Projects whose modules leave symbols undefined that something else has loaded before: real torch, real links, real imports.
What the project's own build makes dsbuild makes too, with a warning that names the symbols; where dsbuild left something out
of the link they are an error."""

import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, testspace  # noqa: E402
from pypi import PackageSpace  # noqa: E402

SETUP = """
import os
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension
here = os.path.dirname(os.path.abspath(__file__))
setup(name="served", version="1", packages=["served"], cmdclass={"build_ext": BuildExtension},
      ext_modules=[%s])
"""
MODULE = """#include <Python.h>
%(code)s
static PyObject* run(PyObject*, PyObject*) { return PyLong_FromLong(serve()); }
static PyMethodDef methods[] = {{"run", run, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "%(name)s", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};
PyMODINIT_FUNC PyInit_%(name)s() { return PyModule_Create(&module); }
"""
SERVES = "int serve() { return 42; }\n"
BY_CTYPES = """
import ctypes, os, torch
ctypes.CDLL(os.path.join(os.path.dirname(__file__), "libserve.so"), ctypes.RTLD_GLOBAL)
from served._user import run
"""
BY_SIBLING = """
import os, sys, torch
usual = sys.getdlopenflags()
sys.setdlopenflags(usual | os.RTLD_GLOBAL)
from served import _server
sys.setdlopenflags(usual)
from served._user import run
"""
USER = "CppExtension('served._user', ['csrc/user.cpp']%s)"
SERVER = "CppExtension('served._server', ['csrc/server.cpp'])"
NEEDS = "served_user: served_user.so needs serve(), which neither its libraries nor Python has"


class ProjectSymbolsTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = PackageSpace()
        cls.library = cls.space.root / "libserve.so"
        subprocess.run(["c++", "-shared", "-fPIC", "-x", "c++", "-", "-o", cls.library,
                        "-Wl,-soname,libserve.so"], input=SERVES, text=True, check=True)

    def make_project(self, name, extensions, init):
        folder = self.space.root / name
        shutil.rmtree(folder, ignore_errors=True)
        files = {"setup.py": SETUP % extensions, "served/__init__.py": init,
                 "csrc/user.cpp": MODULE % {"name": "_user", "code": "int serve();"},
                 "csrc/server.cpp": MODULE % {"name": "_server", "code": SERVES}}
        for file, text in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        shutil.copy(self.library, folder / "served")
        return folder

    def build(self, way, extensions, init=BY_CTYPES):
        """(the project's folder, exit code, what was said)"""
        folder = self.make_project(way, extensions, init)
        space = self.space
        words = [space.python, "setup.py", "build_ext", "--inplace"]
        if way == "build":
            words = [space.program, "build", ".", "--inplace", "--python", space.python]
        hook = {"hook": {"DSBUILD": "1"}, "required": {"DSBUILD": "require"}}.get(way, {})
        run = subprocess.run(list(map(str, words)), cwd=folder, env={**space.environment, **hook}, text=True, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=testspace.TIME_LIMIT * 5)
        return folder, run.returncode, run.stdout

    def answer_of(self, folder):
        return self.space.ask(folder, "import served; print(served.run())")

    def check_built(self, extensions, init):
        """By each way the module works where what it needs is loaded; dsbuild's ways name what that is."""
        for way in ("own", "required", "build"):
            with self.subTest(way):
                folder, code, said = self.build(way, extensions, init)
                self.assertEqual(code, 0, said[-4000:])
                self.assertEqual(self.answer_of(folder), "42")
                lines = [line.partition(";")[0] for line in said.splitlines() if NEEDS in line]
                self.assertEqual(lines, [] if way == "own" else [f"warning: {NEEDS}"], said[-4000:])

    def test_of_a_library_that_the_package_loads_before(self):
        self.check_built(USER % "", BY_CTYPES)

    def test_of_another_extension_that_the_package_imports_before(self):
        self.check_built(f"{SERVER}, {USER % ''}", BY_SIBLING)

    def test_of_a_library_that_is_named_and_missing(self):
        for way in ("own", "hook", "build"):
            with self.subTest(way):
                folder, code, said = self.build(way, USER % ", libraries=['gone']")
                self.assertNotEqual(code, 0, said[-4000:])
                self.assertRegex(said, "-lgone|the library gone")
                self.assertEqual(list((folder / "served").glob("_user*")), [])

    def test_of_a_library_that_dsbuild_leaves_out(self):
        """The hook leaves the extension to the project's own build; `build DIR` makes no module that would not load."""
        extensions = USER % ", libraries=[':libserve.so'], library_dirs=[here + '/served']"
        for way in ("own", "hook"):
            with self.subTest(way):
                folder, code, said = self.build(way, extensions)
                self.assertEqual(code, 0, said[-4000:])
                self.assertNotIn("dsbuild: built", said)
                self.assertEqual(self.answer_of(folder), "42")
        folder, code, said = self.build("build", extensions)
        self.assertEqual(code, 1, said[-4000:])
        self.assertRegex(said, "left out of .*library :libserve.so")
        self.assertIn(f"error: {NEEDS}\n", said)
        self.assertEqual(list((folder / "served").glob("_user*")), [])


if __name__ == "__main__":
    testspace.main(each_commit=1)
