"""A setup.py whose extensions are ops:

    from setuptools import setup
    import dsbuild, dsbuild.setuptools

    setup(name="mypkg", packages=["mypkg"],
          ext_modules=[dsbuild.op("fused_adam").builder("mypkg.fused_adam"), dsbuild.op("cpu_adam").builder("mypkg.cpu_adam")],
          cmdclass={"build_ext": dsbuild.setuptools.BuildExtension})

All ops of a pack are built by one run of dsbuild, for TORCH_CUDA_ARCH_LIST or else what dsbuild builds for without one.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys

from setuptools import Extension
from setuptools.command.build_ext import build_ext

from ._loader import source_words
from ._program import find_program


class DsbuildExtension(Extension):
    """op, pack: as of dsbuild.op. is_module: Python imports it; else tvm-ffi loads it."""

    def __init__(self, name, op, pack, sources, is_module):
        super().__init__(name, sources)
        self.op = op
        self.pack = pack
        self.is_module = is_module


class BuildExtension(build_ext):
    """Extensions of other kinds are built as ever."""

    def build_extensions(self):
        ours = [extension for extension in self.extensions if isinstance(extension, DsbuildExtension)]
        for pack in sorted({extension.pack for extension in ours}):
            self._build_pack(pack, [extension for extension in ours if extension.pack == pack])
        with without(self, ours):
            super().build_extensions()

    def get_ext_filename(self, fullname):
        """The library of an op that is no Python module carries no Python's name."""
        filename = super().get_ext_filename(fullname)
        extension = self.ext_map.get(fullname) if self.ext_map else None
        if isinstance(extension, DsbuildExtension) and not extension.is_module:
            return os.path.join(*fullname.split(".")) + ".so"
        return filename

    def _build_pack(self, pack, extensions):
        work = os.path.join(os.path.abspath(self.build_temp), "dsbuild", os.path.basename(pack))
        out = os.path.join(work, "bundle")
        ops = ",".join(sorted({extension.op for extension in extensions}))
        jobs = ["--jobs", str(self.parallel)] if self.parallel else []
        os.makedirs(work, exist_ok=True)
        code = subprocess.call([find_program(), "build", "--pack", pack, "--ops", ops, "--python", sys.executable,
                                "--out", out, "--build-dir", os.path.join(work, "build"), *jobs, *source_words(pack)])
        if code:
            raise SystemExit(f"dsbuild could not build {ops} of the pack {pack} (its messages are above)")
        for extension in extensions:
            to = os.path.abspath(self.get_ext_fullpath(extension.name))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copyfile(library_of(out, "name", extension.op), to)


@contextlib.contextmanager
def without(command, extensions):
    """A build_ext meanwhile has the others alone."""
    everything = command.extensions
    command.extensions = [extension for extension in everything if extension not in extensions]
    try:
        yield
    finally:
        command.extensions = everything


def library_of(bundle, key, value):
    """Of the op that the manifest says this of; None where it has none."""
    with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    return next((os.path.join(bundle, row["file"]) for row in manifest["ops"] if row.get(key) == value), None)
