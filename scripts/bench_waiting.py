#!/usr/bin/env python3
"""What edges cost that wait: with a remote runner, hundreds of `dsbuild action` wait for tools that run elsewhere.

  scripts/bench_waiting.py [DSBUILD] [--edges N] [--single N]

Starts N edges (512) at once, each with a compiler that waits until all are there. Prints the proportional memory (PSS: shared
pages count once for all who have them) of all `dsbuild action` and of one, the CPU time of all, and the median
time of one edge alone whose compiler does nothing (--single times), with that of the compiler itself."""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from programs import RELEASE, Program

COMPILER = """#!/bin/sh
for word; do case $before in -o) out=$word;; -MF) depfile=$word;; esac; before=$word; done
echo > "$out"; echo "object: a.cpp" > "$depfile"
[ -e gate ] || exit 0
echo >> begun
read line < gate
"""
PLANNED = {"tools/cxx.id": "1 g++\n", "tools/store": "", "tools/digests": "", "tools/folders": "", "tools/assemblers": "", "a.cpp": "\n"}


def make_folder(folder):
    for name in ("tools", "obj"):
        (folder / name).mkdir()
    for name, text in PLANNED.items():
        (folder / name).write_text(text)
    (folder / "digests").mkdir()
    (folder / "tools/digests").write_text(str(folder / "digests"))
    compiler = folder / "g++"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)


def words_of(folder, number):
    output = f"obj/{number}.o"
    return [str(folder / "g++"), "-MD", "-MF", output + ".d", "-MT", output, "-c", "a.cpp", "-o", output + ".tmp"]


def edge_of(program, folder, number):
    return [str(program.file), "action", "run", "tools/cxx.id", f"obj/{number}.o", "--", *words_of(folder, number)]


def memory_of(pid):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def waiting(program, folder, edges):
    gate, begun = folder / "gate", folder / "begun"
    os.mkfifo(gate)
    begun.write_text("")
    start = time.monotonic()
    running = [subprocess.Popen(edge_of(program, folder, number), cwd=folder, env=program.environment()) for number in range(edges)]
    while begun.stat().st_size < edges:
        time.sleep(0.01)
    wall = time.monotonic() - start
    memory, cpu = [memory_of(each.pid) for each in running], cpu_of_children()
    end = os.open(gate, os.O_RDWR)  # open for both it needs no reader
    os.write(end, b"\n" * edges)
    codes = [each.wait() for each in running]
    os.close(end)
    gate.unlink()
    if any(codes):
        sys.exit("an edge failed")
    print(f"| {edges} edges wait | {wall:.2f} s until all tools run | {cpu_of_children() - cpu:.2f} s CPU with compilers | "
          f"{sum(memory) / 2**20:.0f} MiB | {statistics.median(memory) / 2**20:.2f} MiB each |")


def alone(program, folder, times):
    rows = {"an edge alone": lambda number: edge_of(program, folder, f"alone{number}"),
            "its compiler alone": lambda number: words_of(folder, f"alone{number}")}
    for name, words in rows.items():
        seconds = []
        before = cpu_of_children()
        for number in range(times):
            start = time.monotonic()
            subprocess.run(words(number), cwd=folder, env=program.environment(), check=True)
            seconds.append(time.monotonic() - start)
        cpu = (cpu_of_children() - before) / times
        print(f"| {name} | {statistics.median(seconds) * 1000:.1f} ms | {cpu * 1000:.1f} ms CPU | | |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dsbuild", nargs="?", default=RELEASE, type=pathlib.Path)
    parser.add_argument("--edges", default=512, type=int)
    parser.add_argument("--single", default=50, type=int)
    options = parser.parse_args()
    print("| | wall | CPU | memory | |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        make_folder(folder)
        program = Program("dsbuild", options.dsbuild, folder / "cache")
        alone(program, folder, options.single)
        waiting(program, folder, options.edges)


if __name__ == "__main__":
    main()
