#!/usr/bin/env python3
"""One long CUDA file alone: how near its slices come to what none of them can be faster than.

  scripts/bench_one_file.py [--file FILE] [--arch LIST] [--rounds N] [--dsbuild FILE] [-- DSBUILD-OPTION…]

An op of that one file, from a copy of the project's sources, is built cold, in turn by one nvcc command, which Ninja starts and
which has --threads=0 (all cores), and by dsbuild's slices without the store. Times are those of Ninja's log: `object` from the
start of the first edge of the file to its object. No way to build it by slices takes less than its slowest slice, or than the
host's path (`front`, then `host`): `floor` is the larger.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import plain_peer
from plain_peer import PlainGraph, clean_environment
from programs import RELEASE, ROOT, keep_fetched

sys.path.insert(0, str(ROOT / "tests" / "support"))

from packs import Pack  # noqa: E402

PARTS = {".cudafe1.cpp": "front", ".host.o": "host", ".ptx": "slice", ".cubin": "slice"}


def edges_of(log, stem):
    """{the part, of a slice with its arch: (begin, end)} in seconds, of the file with that stem."""
    edges = {}
    for line in log.read_text(encoding="utf-8").splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        name = pathlib.PurePath(output).name
        if name.startswith(stem + ".") and name.endswith((*PARTS, ".o")):
            part = next((PARTS[ending] for ending in PARTS if name.endswith(ending)), "object")
            key = f"slice {name.removeprefix(stem).split('.')[1]}" if part == "slice" else part
            edges[key] = (int(begin) / 1000, int(end) / 1000)
    return edges


def words_of_build(options, folder):
    """dsbuild's options to build the op in a folder."""
    return ["--pack", folder.parent / "pack", "--ops", "all", "--arch", options.arch, "--build-dir", folder, "--out", folder.parent / "out",
            *options.more]


def plain_command(options, folder):
    graph = PlainGraph(folder, os.environ.get("DSBUILD_NINJA", "ninja"))
    graph.write(options.dsbuild, words_of_build(options, folder), clean_environment())
    return graph.command(), clean_environment(NVCC_APPEND_FLAGS="--threads=0")


def slices_command(options, folder):
    return [options.dsbuild, "--backend", "slices", *words_of_build(options, folder)], clean_environment(DSBUILD_CACHE_SIZE="0")


class Build:
    def __init__(self, options, work, command_of):
        plain_peer.empty(work / "build")
        command, environment = command_of(options, work / "build")
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
        if done.returncode:
            sys.exit(done.stdout)
        edges = edges_of(work / "build" / ".ninja_log", pathlib.PurePath(options.file).stem)
        took = {part: end - begin for part, (begin, end) in edges.items()}
        self.object = edges["object"][1] - min(begin for begin, _ in edges.values())
        self.slices = {part: seconds for part, seconds in took.items() if part.startswith("slice")}
        self.host_path = took.get("front", 0) + took.get("host", 0)
        self.floor = max([self.host_path, *self.slices.values()])


def median(builds, name):
    return statistics.median(getattr(build, name) for build in builds)


def print_table(ways):
    nvcc, slices = median(ways["plain nvcc"], "object"), median(ways["slices"], "object")
    print("| way | object | of nvcc | slowest slice | host's path | of the floor |\n|---|---|---|---|---|---|")
    print(f"| plain nvcc --threads=0 | {nvcc:.1f} s | 1 | | | |")
    slowest = statistics.median(max(build.slices.values()) for build in ways["slices"])
    over = statistics.median(build.object / build.floor for build in ways["slices"])
    print(f"| slices | {slices:.1f} s | {slices / nvcc:.2f} | {slowest:.1f} s | {median(ways['slices'], 'host_path'):.1f} s | {over:.2f} |")
    print("\n" + ", ".join(f"{part} {seconds:.1f} s" for part, seconds in ways["slices"][-1].slices.items()))


def main():
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", default="evoformer_attn/family_80.cu", help="below kernels/")
    parser.add_argument("--arch", default="8.0;8.6;8.9;9.0;10.0;12.0+PTX")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dsbuild", default=RELEASE, type=pathlib.Path)
    options = parser.parse_args(words[:end])
    options.more, options.dsbuild = words[end + 1:], options.dsbuild.resolve()
    keep_fetched()
    commands = {"plain nvcc": plain_command, "slices": slices_command}
    with tempfile.TemporaryDirectory() as folder:
        work, ways = pathlib.Path(folder), {way: [] for way in commands}
        pack = Pack(work / "pack", "alone")
        shutil.copytree(ROOT / "kernels", pack.sources, dirs_exist_ok=True)
        pack.add_op("alone", {options.file: (ROOT / "kernels" / options.file).read_text(encoding="utf-8")},
                    {"include_dirs": ["include"], "flags": {"nvcc": ["-O3"]}})
        for _ in range(options.rounds):
            for way, builds in ways.items():
                builds.append(Build(options, work, commands[way]))
    print(f"cores: {len(os.sched_getaffinity(0))}; {options.file} for {options.arch}; medians of {options.rounds}\n")
    print_table(ways)


if __name__ == "__main__":
    main()
