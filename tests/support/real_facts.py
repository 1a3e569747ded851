#!/usr/bin/env python3
"""Builds an op with the machine's own C++ compiler and a kernel with each real toolkit there is, so that dsbuild finds out what
it wants to know of them, and leaves that in the folder DSBUILD_TEST_FACTS. Tests start from a copy (testspace.copy_facts)."""

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
    pack.add_op("host", {"host.cpp": 'extern "C" int host() { return 1; }\n'}, {"backend": "cpu"})
    pack.add_op("fill", {"fill.cu": KERNEL})
    add_device_op(pack, "fill_hip", {"fill.hip.cu": "#include <hip/hip_runtime.h>\n" + KERNEL}, "hip")
    return pack


def build(space, *words):
    run = space.build(*words)
    print(run, flush=True)
    if run.code != 0 or "not_sliced" in run.err:
        sys.exit(1)


def learn_compilers(space):
    build(space, "--ops", "host")


def learn_cuda(space):
    old = os.environ.get("DSBUILD_CUDA_11_8", "")
    homes = [testspace.find_real_toolkit(), *([old] if os.path.isfile(os.path.join(old, "bin", "nvcc")) else [])]
    learn_compilers(space)
    space.arch = "8.0"
    for home in homes:
        for more in ([], ["--debug"]):  # line information has a self-test of its own
            space.use_real_toolkit(home)
            build(space, "--ops", "fill", *more)


def learn_hip(space):
    if testspace.TIER == "fast":
        raise unittest.SkipTest("a real clang is not for `scripts/test.sh fast`")
    home = find_hip_toolchain()
    learn_compilers(space)
    use_device_compiler(space, "hip", home)
    build(space, "--ops", "fill_hip")


def main():
    testspace.dsbuild_program()
    folder = pathlib.Path(os.environ.pop("DSBUILD_TEST_FACTS"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, learn in (("compilers", learn_compilers), ("cuda", learn_cuda), ("hip", learn_hip)):
        space = testspace.TestSpace(pack=make_pack)
        try:
            learn(space)
        except unittest.SkipTest as reason:
            print(f"{name}: {reason}", flush=True)
            continue
        shutil.copyfile(space.cache_folder() / "facts.json", folder / f"{name}.json")


if __name__ == "__main__":
    main()
