"""Makes a Python with a torch that cannot be imported: the files that dsbuild reads, and libraries that link.

The interpreter is this one behind a script that gives it the folder `site`; a sitecustomize there makes sysconfig
say what the tests expect instead of what this machine's Python has.
"""

import os
import pathlib
import sys

SITECUSTOMIZE = """import sysconfig
real = sysconfig.get_config_var
ours = {{"EXT_SUFFIX": ".cpython-399-fake.so", "py_version_nodot": "399"}}
sysconfig.get_config_var = lambda name: ours.get(name) or real(name)
sysconfig.get_path = lambda name, scheme=None: {include!r}
"""

# What the builders of three torch releases pass, by the words that dsbuild looks for.
BUILDERS = {
    "2.0": "cpp_flag = cpp_flag_prefix + 'c++17'\n-D_GLIBCXX_USE_CXX11_ABI=\nos.path.join(lib_include, 'TH')\n",
    "2.4": "cpp_flag = cpp_flag_prefix + 'c++17'\ngetattr(torch._C, f'_PYBIND11_{name}')\n-D_GLIBCXX_USE_CXX11_ABI=\n",
    "2.11": "cpp_flag = cpp_flag_prefix + 'c++17'\n",
    "2.15": "cpp_flag = cpp_flag_prefix + 'c++20'\n",
}
LIBRARIES = ("c10", "c10_cuda", "torch", "torch_cpu", "torch_cuda", "torch_python")


class FakeTorch:
    def __init__(self, root):
        self.root = root
        self.site = root / "site"
        self.home = self.site / "torch"
        self.include = root / "python_include"
        self.python = root / "bin" / "python3"
        self._log = root / "starts"

    def starts(self):
        """How often the interpreter was started."""
        return len(self._log.read_text().splitlines()) if self._log.exists() else 0

    def write_version(self, version, cuda=None, hip=None):
        (self.home / "version.py").write_text(
            f"__version__ = {version!r}\ndebug = False\ncuda: Optional[str] = {cuda!r}\nhip: Optional[str] = {hip!r}\n")

    def write_library(self, name, content=""):
        """An empty library for the linker (a script of its), which holds this text."""
        (self.home / "lib" / f"lib{name}.so").write_text(f"/* {content} */\n")


def make_fake_torch(root, version="2.11.0+cu130", cuda="13.0", hip=None, builder="2.11"):
    torch = FakeTorch(pathlib.Path(root))
    headers = torch.home / "include" / "torch" / "csrc" / "api" / "include" / "torch"
    for folder in (headers, torch.home / "lib", torch.home / "utils", torch.include, torch.python.parent):
        folder.mkdir(parents=True)
    (torch.site / "sitecustomize.py").write_text(SITECUSTOMIZE.format(include=str(torch.include)))
    dist_info = torch.site / f"torch-{version.split('+')[0]}.dist-info"
    dist_info.mkdir()
    (dist_info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version.split('+')[0]}\n")
    (torch.home / "__init__.py").write_text("raise SystemExit('torch was imported')\n")
    (torch.home / "utils" / "cpp_extension.py").write_text(BUILDERS[builder])
    torch.write_version(version, cuda, hip)
    (headers / "all.h").write_text("#pragma once\n")
    (headers / "extension.h").write_text("#pragma once\n#include <Python.h>\n")
    (torch.include / "Python.h").write_text("#pragma once\n")
    for name in LIBRARIES:
        torch.write_library(name)
    torch.write_library("c10", "_ZN3c105ErrorC1ENSt7__cxx1112basic_stringE")
    torch.write_library("torch_python", "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1013__")
    torch.python.write_text(f"#!/bin/sh\necho >> '{torch._log}'\n"
                            f"PYTHONPATH='{torch.site}' exec '{os.path.realpath(sys.executable)}' \"$@\"\n")
    torch.python.chmod(0o755)
    return torch
