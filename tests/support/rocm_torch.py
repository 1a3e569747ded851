"""A torch for ROCm as far as its files go, made of the installed torch's: its headers for CUDA as hipify makes those for HIP,
stubs for the headers of ROCm that HIP's packages lack (fakes/rocm_headers), and libraries without symbols. Ops compile and
link with it; nothing can be loaded."""

import os
import pathlib
import shutil
import subprocess

HEADERS = pathlib.Path(__file__).resolve().parent.parent / "fakes" / "rocm_headers"
LIBRARIES = ("c10", "c10_hip", "torch", "torch_cpu", "torch_hip", "torch_python")
OF_CUDA = ("c10/cuda", "ATen/cuda")

# As torch's own build makes its headers (tools/amd_build/build_amd.py).
HIPIFY_HEADERS = """
import importlib.util, sys
sys.dont_write_bytecode = True
package, root = sys.argv[1:]
spec = importlib.util.spec_from_file_location("hipify", package + "/__init__.py", submodule_search_locations=[package])
sys.modules["hipify"] = importlib.util.module_from_spec(spec)
from hipify import hipify_python
hipify_python.hipify(project_directory=root, output_directory=root, includes=[root + "/*"], is_pytorch_extension=False,
                     show_progress=False)
"""


def home_of(python):
    """The folder of torch in the site-packages of this Python."""
    found = subprocess.run([python, "-c", "import importlib.util; print(importlib.util.find_spec('torch').origin)"],
                           check=True, capture_output=True, text=True)
    return pathlib.Path(found.stdout.strip()).parent


def link_folder(real, place, without=()):
    place.mkdir(parents=True, exist_ok=True)
    for entry in real.iterdir():
        if entry.name not in without:
            (place / entry.name).symlink_to(entry)


def make_headers(python, real, include, scratch):
    for folder in OF_CUDA:
        shutil.copytree(real / "include" / folder, scratch / folder)
    subprocess.run([python, "-I", "-c", HIPIFY_HEADERS, real / "utils" / "hipify", scratch], check=True, capture_output=True)
    tops = {folder.split("/")[0] for folder in OF_CUDA}
    link_folder(real / "include", include, without=tops | {entry.name for entry in HEADERS.iterdir()})
    for top in tops:
        link_folder(real / "include" / top, include / top, without={"hip"})
        for hip in (real / "include" / top / "hip", scratch / top / "hip"):
            if hip.is_dir():
                shutil.copytree(hip, include / top / "hip", dirs_exist_ok=True)
    for stub in HEADERS.iterdir():
        shutil.copytree(stub, include / stub.name)
    shutil.rmtree(scratch)


def make_rocm_torch(root, python, version="2.11.0+rocm6.3", hip="6.3.42134"):
    """The interpreter that has it. `python`: one with torch, of whatever kind."""
    real, site = home_of(python), root / "site"
    home = site / "torch"
    make_headers(python, real, home / "include", root / "scratch")
    (home / "utils").symlink_to(real / "utils")
    (home / "version.py").write_text(f"__version__ = {version!r}\ncuda = None\nhip = {hip!r}\n")
    (home / "__init__.py").write_text("raise SystemExit('torch was imported')\n")
    (home / "lib").mkdir()
    for name in LIBRARIES:
        (home / "lib" / f"lib{name}.so").write_text("/* _ZN3c105ErrorC1ENSt7__cxx1112basic_stringE */\n")
    number = version.split("+")[0]
    (site / f"torch-{number}.dist-info").mkdir()
    (site / f"torch-{number}.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {number}\n")
    program = root / "bin" / "python3"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nPYTHONPATH='{site}' exec '{os.path.abspath(python)}' \"$@\"\n")
    program.chmod(0o755)
    return program
