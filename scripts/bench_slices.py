#!/usr/bin/env python3
"""What each kind of change costs by whole nvcc commands and by slices: medians of rounds in which both take turns.

  scripts/bench_slices.py [--ops LIST] [--rounds N] [--dsbuild FILE] [-- DSBUILD-OPTION…]

The project's own CUDA ops, from a copy of their sources. Each round starts cold, with an empty store, and then makes the
changes one after the other; the last is the same state in another folder, with the store that the slices have by then. `wall`: seconds until dsbuild ends. `cores`: user and system seconds of everything it started. `ratio`: slices over nvcc.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARCHS, MORE_ARCHS = "7.5;8.0;8.6;9.0;10.0;12.0+PTX", "7.5;8.0;8.6;9.0;10.0;10.3;12.0+PTX"
FILE, HEADER = "fused_adam/fused_adam.cu", "fused_adam/fused_adam.h"
DEVICE_CODE = ("* c.v_scale + c.eps)", "* c.v_scale + 2 * c.eps)")
HOST_CODE = ("<<<blocks, k_threads, 0, stream>>>", "<<<blocks, k_threads, 16, stream>>>")
MIDDLE = ("\nnamespace {\n", "\n// in the middle\nnamespace {\n")
BACKENDS = ("nvcc", "slices")


class Run:
    def __init__(self, command):
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(done.stdout)
        self.wall = time.monotonic() - begin
        self.cores = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.edges = int(re.search(r", (\d+) edges? run", done.stdout).group(1))


class Bench:
    def __init__(self, options, work):
        self.options, self.work, self.rows = options, work, {}
        self.source = work / "first" / "source"

    def build(self, what, archs=ARCHS, checkout="first"):
        for backend in BACKENDS:
            folder = self.work / checkout / backend
            run = Run([self.options.dsbuild, "--backend", backend, "--ops", self.options.ops, "--source",
                       self.work / checkout / "source", "--arch", archs, "--build-dir", folder, "--out", f"{folder}-out",
                       "--cache-dir", self.work / "store", *self.options.more])
            self.rows.setdefault(what, {}).setdefault(backend, []).append(run)

    def replace(self, pair):
        file = self.source / FILE
        text = file.read_text(encoding="utf-8")
        if text.count(pair[0]) != 1:
            sys.exit(f"{FILE} does not hold one '{pair[0]}'")
        file.write_text(text.replace(*pair), encoding="utf-8")

    def round(self):
        for folder in ("first", "other", "store"):
            shutil.rmtree(self.work / folder, ignore_errors=True)
        shutil.copytree(ROOT / "kernels", self.source)
        self.build("cold")
        self.build("nothing to do")
        (self.source / FILE).touch()
        self.build("source touched")
        (self.source / HEADER).touch()
        self.build("header touched")
        with open(self.source / FILE, "a", encoding="utf-8") as file:
            file.write("// the end\n")
        self.build("comment at the end")
        self.replace(MIDDLE)
        self.build("comment line in the middle")
        self.replace(DEVICE_CODE)
        self.build("device code edited")
        self.replace(HOST_CODE)
        self.build("host code edited")
        self.build("one arch more", MORE_ARCHS)
        self.build("one arch less")
        shutil.copytree(self.source, self.work / "other" / "source")
        self.build("another checkout", checkout="other")
        for library in (self.work / "first" / "slices-out").glob("*.so"):
            if library.read_bytes() != (self.work / "other" / "slices-out" / library.name).read_bytes():
                sys.exit(f"{library.name} is another one in another folder")

    def table(self):
        print("| | nvcc: wall, cores, edges | slices: wall, cores, edges | ratio of wall | of cores |\n|---|---|---|---|---|")
        for what, runs in self.rows.items():
            wall, cores = ({backend: statistics.median(getattr(run, name) for run in runs[backend]) for backend in BACKENDS}
                           for name in ("wall", "cores"))
            texts = [f"{wall[backend]:.2f} s, {cores[backend]:.2f} s, {runs[backend][-1].edges}" for backend in BACKENDS]
            print(f"| {what} | {texts[0]} | {texts[1]} | {wall['slices'] / wall['nvcc']:.2f} | {cores['slices'] / cores['nvcc']:.2f} |")


def main():
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", default="fused_adam,quantizer,fp_quantizer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dsbuild", default=ROOT / "build/release/apps/dsbuild/dsbuild", type=pathlib.Path)
    options = parser.parse_args(words[:end])
    options.more, options.dsbuild = words[end + 1:], options.dsbuild.resolve()
    print(f"cores: {len(os.sched_getaffinity(0))}; ops: {options.ops}; archs: {ARCHS}; medians of {options.rounds}\n")
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, pathlib.Path(work))
        for _ in range(options.rounds):
            bench.round()
        bench.table()


if __name__ == "__main__":
    main()
