#!/usr/bin/env python3
"""Builds an op with the machine's own C++ compiler and a kernel with each real toolkit there is, so that dsbuild finds out what
it wants to know of them, and leaves that in the file DSBUILD_TEST_FACTS. Tests start from a copy (testspace.copy_facts)."""

import os
import pathlib
import shutil
import sys
import unittest

import testspace
from devices import add_device_op, find_hip_toolchain, use_device_compiler
from packs import Pack

KERNEL = "__global__ void fill(int* to) { *to = 1; }\n"


def make_pack(folder):
    pack = Pack(folder, "facts")
    pack.add_op("fill", {"fill.cu": KERNEL})
    pack.add_op("host", {"host.cpp": 'extern "C" int host() { return 1; }\n'}, {"backend": "cpu"})
    add_device_op(pack, "fill_hip", {"fill.hip.cu": "#include <hip/hip_runtime.h>\n" + KERNEL}, "hip")
    return pack


def toolkits():
    try:
        homes = [testspace.find_real_toolkit()]
    except unittest.SkipTest:
        return []
    old = os.environ.get("DSBUILD_CUDA_11_8", "")
    return homes + ([old] if os.path.isfile(os.path.join(old, "bin", "nvcc")) else [])


def hip_toolchains():
    try:
        return [] if testspace.TIER == "fast" else [find_hip_toolchain()]
    except unittest.SkipTest:
        return []


def build(space, *words):
    run = space.build(*words)
    print(run, flush=True)
    if run.code != 0 or "not_sliced" in run.err:
        sys.exit(1)


def main():
    testspace.dsbuild_program()
    result = pathlib.Path(os.environ.pop("DSBUILD_TEST_FACTS"))
    result.unlink(missing_ok=True)
    space = testspace.TestSpace(pack=make_pack)
    space.arch = "8.0"
    build(space, "--ops", "host")
    for home in toolkits():
        for more in ([], ["--debug"]):  # line information has a self-test of its own
            space.use_real_toolkit(home)
            build(space, "--ops", "fill", *more)
    for home in hip_toolchains():
        use_device_compiler(space, "hip", home)
        build(space, "--ops", "fill_hip")
    result.parent.mkdir(parents=True, exist_ok=True)
    new = result.with_suffix(".new")
    shutil.copyfile(space.cache_folder() / "facts.json", new)
    os.replace(new, result)  # whole or absent, for whoever does not wait for it


if __name__ == "__main__":
    main()
