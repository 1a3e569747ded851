#!/usr/bin/env python3
"""How long a build with nothing to do takes, and `dsbuild plan`: medians over the project's own ops.

  scripts/bench_null.py [DSBUILD]      default: build/release/apps/dsbuild/dsbuild
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = 25


def seconds_of(command, folder):
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return time.perf_counter() - begin


def row(name, command, folder):
    times = sorted(seconds_of(command, folder) for _ in range(RUNS))
    milliseconds = [1000 * each for each in (statistics.median(times), times[0], times[-1])]
    return f"| {name} | {milliseconds[0]:.1f} ms | {milliseconds[1]:.1f} ms | {milliseconds[2]:.1f} ms | {RUNS} |"


def main():
    program = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/apps/dsbuild/dsbuild").resolve()
    with tempfile.TemporaryDirectory() as folder:
        build = [str(program), "--ops", "all", "--quiet"]
        first = seconds_of(build, folder)
        print(f"Cold build: {first:.1f} s.\n")
        print("| | median | fastest | slowest | runs |\n|---|---|---|---|---|")
        print(row("null build", build, folder))
        print(row("plan", [str(program), "plan", "--ops", "all"], folder))
        print(row("--version", [str(program), "--version"], folder))


if __name__ == "__main__":
    main()
