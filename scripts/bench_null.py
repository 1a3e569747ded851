#!/usr/bin/env python3
"""How long a build with nothing to do takes, and `dsbuild plan`: medians, for both backends; and Ninja alone in dsbuild's folder,
where it has nothing to do either. All of it again with a script as g++, which each build has to ask what it is.

  scripts/bench_null.py [DSBUILD] [--before FILE] [--backends LIST] [--files N] [--arch LIST] [--cores LIST] [--keep DIR]
                        [--options TEXT]

DSBUILD: build/release/apps/dsbuild/dsbuild unless given. The project's own ops are built, or with --files a pack of N small CUDA
files (200 for six archs take 8 minutes of two cores by nvcc, and as long by slices).
--before: another dsbuild, which builds the same in folders of its own; the two take turns.
--cores: which cores are measured on (`0,1`); what has to be built first is built on all.
--keep: where it is built; a second run there measures alone.
--options: more options of every build, as "--pack deepspeed --source DIR"."""

import argparse
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from programs import RELEASE, ratio, turn_takers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
from packs import Pack  # noqa: E402

RUNS = 25
FILES_PER_OP = 10
SCRIPT = ", g++ a script"
NINJA = "Ninja alone, in dsbuild's folder"
ARCHS = "7.5;8.0;8.6;9.0;10.0;12.0+PTX"
SOURCE = """__global__ void kernel_{0}(float* data) {{ data[threadIdx.x] *= {0}; }}
extern "C" void run_{0}(float* data) {{ kernel_{0}<<<1, 32>>>(data); }}
"""


def make_pack(folder, files):
    pack = Pack(folder, "many")
    for first in range(0, files, FILES_PER_OP):
        pack.add_op(f"op{first}", {f"op{first}/k{number}.cu": SOURCE.format(number)
                                   for number in range(first, min(first + FILES_PER_OP, files))})


def make_script(folder):
    """A g++ that is a script: another compiler may stand for it at any time."""
    script = folder / "script" / "g++"
    script.parent.mkdir(exist_ok=True)
    if not script.exists():  # another file would be another compiler
        script.write_text(f'#!/bin/sh\nexec {shutil.which("g++")} "$@"\n')
        script.chmod(0o755)
    return script


def seconds_of(command, folder, environment, expected=""):
    """`expected`: what it is to say; a Ninja that had something to do would run dsbuild."""
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode:
        sys.exit(done.stdout)
    if expected not in done.stdout:
        sys.exit(f"not measured, for there was something to do: {' '.join(map(str, command))}\n{done.stdout[-2000:]}")
    return seconds


def place_of(program, backend, compiler):
    return f"{program.name}-{backend}{'-script' if compiler else ''}"


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.programs = turn_takers(options.before, options.dsbuild, folder)
        self.cores = os.sched_getaffinity(0)
        archs = options.arch or (ARCHS if options.files else None)
        self.more = [*(["--pack", "./pack"] if options.files else []), *(["--arch", archs] if archs else []),
                     *shlex.split(options.options)]

    def build(self, program, backend, compiler):
        """Builds it if it has to be built; gives the options, with which there is nothing to do from now on."""
        place = place_of(program, backend, compiler)
        options = ["--ops", "all", "--backend", backend, "--build-dir", place, "--out", f"{place}-out", *self.more]
        first = seconds_of([program.file, *options], self.folder, program.environment())
        print(f"{program.name}, {backend}{compiler}: the build before took {first:.1f} s", file=sys.stderr)
        return options

    def rows(self, name, commands, expected=""):
        """`commands`: {program: command}, which take turns."""
        if self.options.cores:
            os.sched_setaffinity(0, map(int, self.options.cores.split(",")))
        times = {program: [] for program in commands}
        for _ in range(RUNS):
            for program, command in commands.items():
                times[program].append(1000 * seconds_of(command, self.folder, program.environment(), expected))
        os.sched_setaffinity(0, self.cores)
        medians = [statistics.median(each) for each in times.values()]
        for (program, each), median in zip(times.items(), medians):
            print(f"| {program.name} | {name} | {median:.1f} ms | {min(each):.1f} ms | {max(each):.1f} ms | {RUNS} | {ratio(median, medians[0])} |",
                  flush=True)

    def rows_of(self, backend, compiler):
        built = {program: self.build(program, backend, compiler) for program in self.programs}
        name = f"{backend}{compiler}"
        self.rows(f"{name}: null build", {program: [program.file, *options, "--quiet"] for program, options in built.items()})
        self.rows(f"{name}: plan", {program: [program.file, "plan", *options] for program, options in built.items()})
        ninja = os.environ.get("DSBUILD_NINJA", "ninja")
        self.rows(f"{name}: {NINJA}", {program: [ninja, "-C", place_of(program, backend, compiler)] for program in self.programs},
                  "no work to do")

    def run(self):
        print("| program | | median | fastest | slowest | runs | of the first |\n|---|---|---|---|---|---|---|", flush=True)
        for compiler in ("", SCRIPT):
            for program in self.programs:
                program.more_environment = {"CXX": str(make_script(self.folder))} if compiler else {}
            for backend in self.options.backends.split(","):
                self.rows_of(backend, compiler)
        self.rows("--version", {program: [program.file, "--version"] for program in self.programs})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dsbuild", nargs="?", default=RELEASE, type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--backends", default="nvcc,slices")
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--arch")
    parser.add_argument("--cores")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--options", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if options.files and not (folder / "pack").exists():
            make_pack(folder / "pack", options.files)
        Bench(options, folder).run()


if __name__ == "__main__":
    main()
