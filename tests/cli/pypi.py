"""Packages of PyPI as they are, built by torch's own Python and a real nvcc in dsbuild's three ways. A distribution that pip
cannot fetch is a test skipped, with the reason."""

import json
import os
import pathlib
import subprocess
import tarfile
import unittest

from cli import TestSpace, testspace
from hook_test import install_package
from real_torch_test import find_torch_python


def fetch(package, python):
    """The source distribution, kept in the cache folder; skips where pip cannot have it."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    folder = cache / "dsbuild" / "sdists" / package.replace("==", "-")
    if not folder.exists() or not any(folder.iterdir()):
        folder.mkdir(parents=True, exist_ok=True)
        run = subprocess.run([python, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation", "--no-binary",
                              ":all:", "-d", str(folder), package], capture_output=True, text=True, timeout=600,
                             env={**os.environ, "CUDA_HOME": testspace.find_real_toolkit()}, check=False)
        if run.returncode != 0:
            raise unittest.SkipTest(f"pip cannot fetch {package}: {(run.stderr.strip() or '?').splitlines()[-1]}")
    return next(folder.iterdir())


class PackageSpace(TestSpace):
    """Where packages are built for 8.0."""

    def __init__(self, **environment):
        super().__init__(store=True)
        self.python = find_torch_python()
        self.use_real_toolkit()
        install_package(self.root / "site")
        if ninja := self.environment.get("DSBUILD_NINJA"):
            self.environment["PATH"] = f"{pathlib.Path(ninja).parent}:{self.environment['PATH']}"
        self.environment.update({"DSBUILD_PROGRAM": str(self.program), "CUDA_HOME": str(self.toolkit.home), **environment,
                                 "TORCH_CUDA_ARCH_LIST": "8.0", "FORCE_CUDA": "1", "PYTHONPATH": str(self.root / "site")})

    def unpack(self, package, folder):
        with tarfile.open(fetch(package, self.python)) as archive:
            archive.extractall(self.root / folder, filter="data")
        return next((self.root / folder).iterdir())

    def checked(self, *words, timeout=testspace.TIME_LIMIT * 10, **environment):
        """What a command says that ends well."""
        run = subprocess.run([str(word) for word in words], cwd=self.root, env={**self.environment, **environment}, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=timeout)
        if run.returncode != 0:
            raise AssertionError(f"{words}: exit code {run.returncode}\n{run.stdout[-8000:]}")
        return run.stdout

    def build_in_place(self, source):
        return self.checked(self.program, "build", source, "--inplace", "--python", self.python, "--build-dir", self.build_dir,
                            "--out", self.out)

    def pip_install(self, source, folder, *before, **environment):
        """Into a folder of the space; `before`: words in front of the command."""
        return self.checked(*before, self.python, "-m", "pip", "install", "-v", "--no-build-isolation", "--no-deps", "--no-index",
                            "--target", folder, source, **environment)

    def archs(self, library):
        images = json.loads(self.checked(self.program, "inspect", library, "--json"))
        return {image["arch"] for each in images["files"] for image in each["images"]}

    def ask(self, folder, script):
        """What a script prints that imports what lies in the folder."""
        return self.checked(self.python, "-c", script, PYTHONPATH=str(folder)).strip()


def built_by_the_hook(said):
    """The modules of which it says so."""
    return sorted(said.rpartition("dsbuild: built ")[2].splitlines()[0].split(", "))
