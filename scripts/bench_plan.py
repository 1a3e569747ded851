#!/usr/bin/env python3
"""Wall time and memory of `dsbuild plan` over 1,000 generated op specs. Aim: under 1 s and 256 MB.

  scripts/bench_plan.py [DSBUILD] [OPS] [--before FILE]      default: build/release/apps/dsbuild/dsbuild 1000

--before: another dsbuild, with which it takes turns.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

from programs import RELEASE, ratio, turn_takers

RUNS = 5
SPEC = """name: {name}
backend: cuda
archs: {{min: "{minimum}"}}
include_dirs: [include]
defines: {{USE_FAST_EXP: 1, BF16: {{value: 1, when: {{every_arch: ">=8.0"}}}}}}
flags: {{cxx: [-O3], nvcc: [-O3, --use_fast_math]}}
sources:
  - {name}/forward.cu
  - {name}/backward.cu
  - {{path: {name}/inst.cu, for: {{HEAD_DIM: [32, 64]}}}}
  - {name}/binding.cpp
exports: [{name}_forward]
"""


def make_pack(folder, number):
    (folder / "src" / "include").mkdir(parents=True)
    (folder / "pack.yaml").write_text("name: generated\nsource_root: src\n")
    for index in range(number):
        name = f"op_{index:05}"
        (folder / name).mkdir()
        (folder / name / "op.yaml").write_text(SPEC.format(name=name, minimum=("7.0", "8.0", "9.0")[index % 3]))
        (folder / "src" / name).mkdir()
        for source in ("forward.cu", "backward.cu", "inst.cu", "binding.cpp"):
            (folder / "src" / name / source).write_text(f"// {name} {source}\n" * 50)


def measure(command, environment, output):
    """Seconds and peak resident KiB of one run."""
    begin = time.perf_counter()
    child = os.posix_spawn(command[0], command, environment, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)])
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)} failed")
    return time.perf_counter() - begin, usage.ru_maxrss


def columns(runs):
    """Median, fastest, slowest, most memory."""
    times = sorted(seconds for seconds, _ in runs)
    return [f"{seconds:.3f} s" for seconds in (statistics.median(times), times[0], times[-1])] + [
        f"{max(kib for _, kib in runs) / 1024:.0f} MB"]


def print_rows(programs, number, folder, form):
    """One row for each program; the runs take turns, behind one of each that is not counted."""
    runs = {program: [] for program in programs}
    for _ in range(RUNS + 1):
        for program in programs:
            command = [str(program.file), "plan", "--format", form, "--ops", "all", "--arch", "8.0;9.0+PTX", "--pack", str(folder / "pack"),
                       "--build-dir", str(folder / program.name), "--out", str(folder / "out")]
            runs[program].append(measure(command, program.environment(), str(folder / "plan.txt")))
    medians = [statistics.median(seconds for seconds, _ in each[1:]) for each in runs.values()]
    for (program, each), median in zip(runs.items(), medians):
        print(f"| {program.name} | {number} | {form} | {' | '.join(columns(each[1:]))} | {ratio(median, medians[0])} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dsbuild", nargs="?", default=RELEASE, type=pathlib.Path)
    parser.add_argument("ops", nargs="?", default=1000, type=int)
    parser.add_argument("--before", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        programs = turn_takers(options.before, options.dsbuild, folder)
        make_pack(folder / "pack", options.ops)
        print("| program | ops | format | median | fastest | slowest | peak memory | of the first |\n|---|---|---|---|---|---|---|---|")
        for form in ("table", "json"):
            print_rows(programs, options.ops, folder, form)


if __name__ == "__main__":
    main()
