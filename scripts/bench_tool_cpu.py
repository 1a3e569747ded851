#!/usr/bin/env python3
"""CPU seconds of a cold build on this machine by kind of step: preprocessing, cicc, ptxas, links and so on.

    bench_tool_cpu.py --dsbuild PROGRAM --ops OPS --arch ARCHS [-- WORD…]

The kernel accounts for each process as it ends (acct(2): root, and no other user of it). Those below this script count, whatever
else runs. The build has an empty cache and an empty build folder; WORD…: more for dsbuild, as --source DIR. The kernel rounds to
10 ms, so the kinds are not quite all. Compiles of C++ files preprocess, too: how much of them that
is shows the same commands with -E, run afterwards."""

import argparse
import collections
import ctypes
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

RECORD = struct.Struct("<BBHIIIIIIfHHHHHHHH16s")  # acct_v3
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: orphans become ours
LIBC = ctypes.CDLL(None, use_errno=True)
Process = collections.namedtuple("Process", "pid parent name seconds begin end")

COMPILERS = {"cc1plus", "cc1"}
TOOLS = {"cudafe++": "cudafe++", "cicc": "cicc", "ptxas": "ptxas", "fatbinary": "fatbinary", "nvlink": "nvlink", "nvcc": "nvcc",
         "ninja": "ninja"}
LINKERS = {"collect2", "ld", "ld.bfd", "ld.gold", "ld.lld"}


def account(file):
    """Into this file; None: no more."""
    if LIBC.acct(file and str(file).encode()) != 0:
        raise SystemExit(f"acct: {os.strerror(ctypes.get_errno())}")


def seconds_of(number):
    """Of comp_t: a mantissa of 13 bits, and an exponent of base 8; hundredths."""
    return (number & 0x1FFF) * 8 ** (number >> 13) / 100


def read(file):
    found = []
    for fields in RECORD.iter_unpack(pathlib.Path(file).read_bytes()):
        name = fields[18].split(b"\0")[0].decode(errors="replace")
        begin, lasted = fields[8], fields[9] / 100
        found.append(Process(fields[6], fields[7], name, seconds_of(fields[10]) + seconds_of(fields[11]), begin, begin + lasted))
    return found


class Tree:
    def __init__(self, processes, root):
        self.children = collections.defaultdict(list)
        for process in processes:
            self.children[process.parent].append(process)
        self.seconds = collections.Counter()
        self.numbers = collections.Counter()
        self.visit(root, is_step=False)

    def children_of(self, parent):
        """Numbers are given again: a child begins while its parent lives. The kernel knows the second, more or less."""
        return [child for child in self.children[parent.pid] if parent.begin - 2 <= child.begin <= parent.end + 2]

    def visit(self, parent, is_step):
        for process in self.children_of(parent):
            # What no edge starts is asked what it is, and whether it does what dsbuild relies on.
            is_question = not is_step and process.name not in ("ninja", "dsbuild")
            kind = "questions about the machine, once" if is_question else self.kind_of(process, parent)
            if process.name == "dsbuild":
                kind = "dsbuild's steps" if is_step else "dsbuild's plan and checks"
            self.seconds[kind] += process.seconds
            self.numbers[kind] += 1
            self.visit(process, is_step or process.name == "ninja")

    def names_below(self, process):
        return {child.name for child in self.children_of(process)}

    def kind_of(self, process, parent):
        below = self.names_below(process)
        if process.name in TOOLS:
            return TOOLS[process.name]
        if process.name in LINKERS or below & LINKERS:
            return "links"
        if process.name in COMPILERS or process.name == "as" or below & COMPILERS:
            driver = below if below & COMPILERS else self.names_below(parent)
            return "host compile" if "as" in driver or process.name == "as" else "preprocessing"
        return f"other ({process.name})"


def build(arguments, folder):
    command = [arguments.dsbuild, "--ops", arguments.ops, "--arch", arguments.arch, "--build-dir", folder / "b", "--out", folder / "o",
               *arguments.words]
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    run = subprocess.run(list(map(str, command)), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if run.returncode != 0:
        raise SystemExit(run.stderr.decode())


def cpu_of_children():
    times = os.times()
    return times.children_user + times.children_system


def preprocess_alone(commands):
    """CPU seconds of the C++ files."""
    before = cpu_of_children()
    for entry in json.loads(commands.read_text()):
        words = list(entry["arguments"])
        if pathlib.Path(entry["file"]).suffix == ".cpp":
            words[words.index("-o") + 1] = os.devnull
            subprocess.run([*words, "-E"], cwd=entry["directory"], check=True, stdout=subprocess.DEVNULL)
    return cpu_of_children() - before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dsbuild", required=True)
    parser.add_argument("--ops", required=True)
    parser.add_argument("--arch", required=True)
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    LIBC.prctl(SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "processes"
        file.touch()
        before, begin = cpu_of_children(), int(time.time())
        account(file)
        try:
            build(arguments, pathlib.Path(folder))
        finally:
            account(None)
        total = cpu_of_children() - before
        tree = Tree(read(file), Process(os.getpid(), 0, "", 0, begin, time.time()))
        within = preprocess_alone(pathlib.Path(folder) / "b" / "compile_commands.json")
    print("| kind | processes | CPU | share |\n|---|---|---|---|")
    for kind, seconds in tree.seconds.most_common():
        print(f"| {kind} | {tree.numbers[kind]} | {seconds:.1f} s | {100 * seconds / total:.1f} % |")
    print(f"| all | {sum(tree.numbers.values())} | {total:.1f} s | |")
    print(f"preprocessing within the compiles of C++ files: {within:.1f} s, {100 * within / total:.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
