"""SYCL without Intel's compiler: a folder like oneAPI's compiler/latest, with the stand-in for icpx (tests/tools/icpx), and
what runs the libraries on this machine's CPU. DSBUILD_SYCL_HOME is the folder of `get_toolkit.sh sycl`,
DSBUILD_STAND_IN_ICPX the program."""

import os
import pathlib
import shutil

import testspace


def home():
    folder = os.environ.get("DSBUILD_SYCL_HOME")
    if not folder or not os.path.exists(os.path.join(folder, "bin", "ocloc")):
        testspace.skip("DSBUILD_SYCL_HOME is not set, or nothing is there (scripts/get_toolkit.sh sycl)")
    return pathlib.Path(folder)


def make_compiler(folder):
    """Returns `folder`, made, with bin/icpx, bin/ocloc, include/sycl and lib/libsycl.so."""
    program = os.environ.get("DSBUILD_STAND_IN_ICPX")
    if not program:
        testspace.skip("DSBUILD_STAND_IN_ICPX is not set (the stand-in for icpx)")
    (folder / "bin").mkdir(parents=True)
    shutil.copy(program, folder / "bin" / "icpx")
    for part in ("include", "lib", "bin/ocloc"):
        (folder / part).symlink_to(home() / part)
    return folder


def runtime():
    """Variables with which a process finds SYCL's runtime, and OpenCL for CPUs."""
    lib = home() / "lib"
    return {"LD_LIBRARY_PATH": str(lib), "OCL_ICD_FILENAMES": str(lib / "libintelocl.so")}
