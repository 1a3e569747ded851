"""The device compilers that a test can be the same for: nvcc, and clang for HIP (DSBUILD_HIP names its toolchain;
scripts/get_toolkit.sh hip)."""

import os
import pathlib
import unittest

import testspace

BACKENDS = ["cuda", "hip"]
# Two of each; code of the later one is what this condition is for, code of the host alone what that one is for.
ARCHS = {"cuda": "8.0;9.0+PTX", "hip": "gfx90a;gfx942"}
IS_LATER = {"cuda": "__CUDA_ARCH__ >= 900", "hip": "defined(__gfx942__)"}
IS_HOST = {"cuda": "!defined(__CUDA_ARCH__)", "hip": "!defined(__HIP_DEVICE_COMPILE__)"}
# What clang's host code calls, of a runtime that is in no test's library: they are read and not run.
HIP_RUNTIME = 'extern "C" {\n' + "".join(f"int {name}() {{ return 0; }}\n" for name in (
    "__hipRegisterFatBinary", "__hipUnregisterFatBinary", "__hipRegisterFunction", "__hipPushCallConfiguration",
    "__hipPopCallConfiguration", "hipLaunchKernel")) + "}\n"


def find_hip_toolchain():
    home = os.environ.get("DSBUILD_HIP", "")
    if not home or not (pathlib.Path(home) / "llvm/bin/clang++").exists():
        raise unittest.SkipTest("DSBUILD_HIP names no HIP toolchain (scripts/get_toolkit.sh hip)")
    return pathlib.Path(home)


def use_device_compiler(space, backend, home=None):
    """From now on the space builds for this backend's GPUs, with a real compiler."""
    space.arch = ARCHS[backend]
    if backend == "cuda":
        space.use_real_toolkit(home)
    else:
        space.environment["ROCM_HOME"] = str(home or find_hip_toolchain())
        if home is None:
            testspace.copy_facts(space.cache_folder(), "hip")


def add_device_op(pack, name, files, backend, **keys):
    """An op for this backend alone."""
    if backend == "hip":
        files = {**files, "runtime.cpp": HIP_RUNTIME}
    pack.add_op(name, files, {"backend": backend, **keys})
