#!/usr/bin/env python3
"""How long a build with nothing to do takes, and `dsbuild plan`: medians, for both backends.

  scripts/bench_null.py [DSBUILD] [--files N] [--keep DIR]      default: build/release/apps/dsbuild/dsbuild, the project's own ops

--files: a pack of N small CUDA files for six archs instead (200 take 8 minutes of two cores by nvcc, and as long by slices).
--keep: where it is built; a second run there measures alone."""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
from packs import Pack  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = 25
FILES_PER_OP = 10
ARCHS = "7.5;8.0;8.6;9.0;10.0;12.0+PTX"
SOURCE = """__global__ void kernel_{0}(float* data) {{ data[threadIdx.x] *= {0}; }}
extern "C" void run_{0}(float* data) {{ kernel_{0}<<<1, 32>>>(data); }}
"""


def make_pack(folder, files):
    pack = Pack(folder, "many")
    for first in range(0, files, FILES_PER_OP):
        pack.add_op(f"op{first}", {f"op{first}/k{number}.cu": SOURCE.format(number)
                                   for number in range(first, min(first + FILES_PER_OP, files))})


def seconds_of(command, folder):
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(done.stdout)
    return time.perf_counter() - begin


def row(name, command, folder):
    times = sorted(seconds_of(command, folder) for _ in range(RUNS))
    milliseconds = [1000 * each for each in (statistics.median(times), times[0], times[-1])]
    return f"| {name} | {milliseconds[0]:.1f} ms | {milliseconds[1]:.1f} ms | {milliseconds[2]:.1f} ms | {RUNS} |"


def measure(program, folder, more):
    print("| | median | fastest | slowest | runs |\n|---|---|---|---|---|", flush=True)
    for backend in ("nvcc", "slices"):
        options = ["--ops", "all", "--backend", backend, "--build-dir", backend, "--out", f"{backend}-out", *more]
        first = seconds_of([program, *options], folder)
        for name, command in (("null build", [program, *options, "--quiet"]), ("plan", [program, "plan", *options]),
                              ("Ninja alone", ["ninja", "-C", backend])):
            print(row(f"{backend}: {name}", command, folder), flush=True)
        print(f"{backend}: the build before took {first:.1f} s", file=sys.stderr)
    print(row("--version", [program, "--version"], folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dsbuild", nargs="?", default=ROOT / "build/release/apps/dsbuild/dsbuild", type=pathlib.Path)
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if options.files and not (folder / "pack").exists():
            make_pack(folder / "pack", options.files)
        measure(str(options.dsbuild.resolve()), folder, ["--pack", "./pack", "--arch", ARCHS] if options.files else [])


if __name__ == "__main__":
    main()
