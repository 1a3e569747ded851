#!/usr/bin/env python3
"""Whether a cache that was copied to another machine serves there: every file has another path, inode and time.

  scripts/check_moved_cache.py [DSBUILD…] [--cuda HOME] [--second-cuda HOME] [--ops LIST] [--arch LIST]

Builds with copies of the toolkit and of tvm-ffi. Then toolkit, tvm-ffi, sources and cache folder move to other folders without
their times, as a new machine would get them. A build there, with another home and build folder, must find everything in the
cache, and its libraries must equal the first ones byte for byte. The C++ compiler stays where it is. With
--second-cuda the second machine has that toolkit: the same release from another package (PyPI's). The script judges the last
program; the others are for comparison. Exit code 1: a result is missing in the cache, or a library differs.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile

from programs import RELEASE, ROOT, Program

# What compiling takes of a toolkit, which may have gigabytes of other libraries.
PARTS = ("bin", "nvvm", "include", "targets", "lib", "lib64", "version.json")
LIBRARIES = ("libcudart", "libcudadevrt")


def skip_libraries(_, names):
    return [name for name in names if name.startswith("lib") and (".so" in name or name.endswith(".a")) and not name.startswith(LIBRARIES)]


def copy_toolkit(home, to):
    for part in PARTS:
        if (home / part).is_dir() and not (home / part).is_symlink():
            shutil.copytree(home / part, to / part, symlinks=True, ignore=None if part == "nvvm" else skip_libraries)
        elif (home / part).exists():
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy2(home / part, to / part, follow_symlinks=False)


def move(folder, to):
    """To other inodes, without times."""
    away = folder.with_name(folder.name + "-away")
    folder.rename(away)
    shutil.copytree(away, to, symlinks=True, copy_function=shutil.copy)
    shutil.rmtree(away)


def libraries(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.so"))}


def check(program, options, work):
    """One row; gives whether the cache served."""

    def build(machine):
        folder = work / machine
        program.cache = folder / "cache"
        program.more_environment = {"TVM_FFI_HOME": str(folder / "tvm_ffi"), "HOME": str(folder)}
        return program.build("--ops", options.ops, "--arch", options.arch, "--cuda-home", folder / "toolkit", "--source", folder / "source",
                             "--out", folder / "out", "--build-dir", folder / "build")

    copy_toolkit(options.cuda.resolve(), work / "first" / "toolkit")
    shutil.copytree(os.environ["TVM_FFI_HOME"], work / "first" / "tvm_ffi", symlinks=True)
    shutil.copytree(ROOT / "kernels", work / "first" / "source")
    first = build("first")
    if options.second_cuda:
        shutil.rmtree(work / "first" / "toolkit")
        copy_toolkit(options.second_cuda.resolve(), work / "first" / "toolkit")
    for part in ("toolkit", "tvm_ffi", "cache", "source"):
        move(work / "first" / part, work / "second of another name" / part)
    second = build("second of another name")
    hits, misses = second["store"]["hits"], second["store"]["misses"]
    same = libraries(work / "first" / "out") == libraries(work / "second of another name" / "out")
    print(f"| {program.name} | {first['wall']:.2f} s, {first['edges_run']} | {second['wall']:.2f} s, {second['edges_run']} | "
          f"{hits} of {hits + misses} | {'the same' if same else 'others'} |", flush=True)
    return hits > 0 and misses == 0 and same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dsbuild", nargs="*", default=[RELEASE], type=pathlib.Path)
    parser.add_argument("--cuda", default=pathlib.Path("/usr/local/cuda"), type=pathlib.Path)
    parser.add_argument("--second-cuda", type=pathlib.Path)
    parser.add_argument("--ops", default="fused_adam,quantizer,fp_quantizer")
    parser.add_argument("--arch", default="8.0;9.0+PTX")
    options = parser.parse_args()
    served = []
    print("| program | cold: wall, edges | moved: wall, edges | found | libraries |\n|---|---|---|---|---|", flush=True)
    for file in options.dsbuild:
        with tempfile.TemporaryDirectory() as work:
            served.append(check(Program(file, file, pathlib.Path(work) / "cache"), options, pathlib.Path(work)))
    return 0 if served[-1] else 1


if __name__ == "__main__":
    sys.exit(main())
