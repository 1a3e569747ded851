#!/usr/bin/env python3
"""Cold builds of the same DeepSpeed ops, from process start to exit, one after the other on this machine, as a table.

  scripts/bench_deepspeed.py SOURCE PART...     SOURCE: an unpacked source distribution of DeepSpeed; parts, in this order:
    dsbuild   with an empty cache folder: no store, no self-test, nothing known of times
    again     after `dsbuild`: nothing to do, one source edited, one header touched
    plain     the same compile and link commands as one Ninja graph of nvcc and g++ (`dsbuild plan --format ninja`), each file
              in a command of its own, in alphabetical order and without precompiled headers, nvcc with --threads=8 as
              DeepSpeed has it
    each      DeepSpeed's setup.py with DS_ENABLE_NINJA=1, each op in a process of its own, and the sum
    ninja     the same, all ops in one process
    default   setup.py as it is

`--readme FILE` measures nothing: it prints README's table of the rows that FILE has of an earlier run.

Needs torch with CUDA, nvcc, Ninja and Python's headers, no GPU. Parts that take long can be run one by one: --work keeps
what `dsbuild` made, and `each --ops LIST` takes some of the ops at a time. CPU is user and system time of all processes of
the build. Peak memory is what they have in memory together, sampled every 0.1 s; in brackets without the pages of files, which
several of them may share. A part in which a command would start dsbuild, or a cache of compiles, is not measured
(plain_peer.py).
"""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import plain_peer
from plain_peer import PlainGraph, clean_environment, cpu_seconds
from programs import RELEASE, keep_fetched

COLUMNS = ["build", "wall", "CPU", "peak memory", "edges", "libraries"]
SETS = {
    "six": "fused_adam,fused_lamb,fused_lion,random_ltd,spatial_inference,cpu_adam",
    "thirteen": "fused_adam,fused_lamb,fused_lion,random_ltd,spatial_inference,cpu_adam,quantizer,transformer_inference,"
                "inference_core_ops,ragged_ops,cpu_lion,cpu_adagrad,pin_memory",
}
PAGE = os.sysconf("SC_PAGE_SIZE")


def processes_below(root):
    """The process and all that it started, as far as they still run."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                    children.setdefault(int(stat.read().rpartition(")")[2].split()[1]), []).append(int(entry))
            except (OSError, IndexError):
                pass  # it has ended meanwhile
    found, waiting = [], [root]
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found


class PeakMemory(threading.Thread):
    """Samples what a process and all below it have in memory until it is stopped."""

    def __init__(self, root):
        super().__init__(daemon=True)
        self.root, self.done, self.resident, self.private = root, threading.Event(), 0, 0

    def sample(self):
        resident = shared = 0
        for process in processes_below(self.root):
            try:
                with open(f"/proc/{process}/statm", encoding="utf-8") as statm:
                    pages = statm.read().split()
                resident, shared = resident + int(pages[1]), shared + int(pages[2])
            except (OSError, IndexError):
                pass
        self.resident = max(self.resident, resident * PAGE)
        self.private = max(self.private, (resident - shared) * PAGE)

    def run(self):
        while not self.done.wait(0.1):
            self.sample()

    def stop(self):
        self.done.set()
        self.join()
        return f"{self.resident / 1e9:.1f} GB ({self.private / 1e9:.1f})"


class Bench:
    def __init__(self, options):
        self.options = options
        self.work = pathlib.Path(options.work or tempfile.mkdtemp(prefix="bench-deepspeed-")).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.ops = SETS.get(options.ops, options.ops).split(",")
        self.build, self.out, self.source, self.cache = (self.work / name for name in ("build", "out", "source", "cache"))
        self.failed = False

    def measure(self, what, command, libraries=None, edges=None, **how):
        """Runs the command and prints its row; gives the seconds, or None where it failed. `edges`: log → number."""
        log = self.work / "log.txt"
        with open(log, "wb") as text:
            begin, used = time.monotonic(), cpu_seconds()
            with subprocess.Popen([str(word) for word in command], stdout=text, stderr=subprocess.STDOUT,
                                  start_new_session=True, **how) as process:
                memory = PeakMemory(process.pid)
                memory.start()
                try:
                    code = process.wait()
                except KeyboardInterrupt:
                    os.killpg(process.pid, signal.SIGTERM)
                    raise
            seconds, cpu, peak = time.monotonic() - begin, cpu_seconds() - used, memory.stop()
        if code:
            self.failed = True
            print("\n".join(log.read_text(errors="replace").splitlines()[-40:]), file=sys.stderr)
            print_row([what, "failed", "", "", "", ""])
            return None
        number = edges(log.read_text(errors="replace")) if edges else ""
        print_row([what, f"{seconds:.1f} s", f"{cpu:.1f} s", peak, number, sizes(libraries) if libraries else ""])
        return seconds

    def copy_source(self):
        shutil.rmtree(self.source, ignore_errors=True)
        shutil.copytree(self.options.source, self.source, symlinks=True)

    def words(self, build):
        """dsbuild's options for these ops."""
        return ["--pack", "deepspeed", "--source", self.source, "--python", self.options.python, "--ops", ",".join(self.ops),
                "--arch", self.options.arch, "--out", self.out, "--build-dir", build]

    def run_dsbuild(self, what):
        self.measure(what, [self.options.dsbuild, *self.words(self.build), "--json", *self.options.more], self.out,
                     lambda log: log.count('"event":"edge_finished"'), env=clean_environment(self.cache))

    def dsbuild(self):
        self.copy_source()
        plain_peer.empty(self.build, self.out, self.cache)
        self.run_dsbuild("dsbuild, cold")

    def again(self):
        self.run_dsbuild("dsbuild, nothing to do")
        with open(self.source / self.options.edit, "a", encoding="utf-8") as source:
            source.write(f"namespace {{ [[maybe_unused]] int edited_{time.monotonic_ns()}; }}\n")
        self.run_dsbuild(f"dsbuild, {pathlib.Path(self.options.edit).name} edited")
        (self.source / self.options.header).touch()
        self.run_dsbuild(f"dsbuild, {pathlib.Path(self.options.header).name} touched")

    def plain(self):
        self.copy_source()
        graph = PlainGraph(self.work / "plain", self.options.ninja)
        plain_peer.empty(graph.folder, self.work / "plain-cache")
        graph.write(self.options.dsbuild, [*self.words(graph.folder), "--pch", "off"], clean_environment(self.work / "plain-cache"))
        self.measure(f"plain nvcc --threads=8, one Ninja graph, -j{self.options.jobs}", graph.command(self.options.jobs), graph.folder,
                     plain_peer.edges_run, env=clean_environment(NVCC_APPEND_FLAGS="--threads=8"))

    def run_setup(self, what, ops, libraries=None, **variables):
        """As `DS_BUILD_<OP>=1 pip install` compiles it, without what pip does around it."""
        chosen = {f"DS_BUILD_{op.upper()}": "1" for op in ops}
        environment = clean_environment(**variables, **chosen)
        self.copy_source()
        if libraries is None:
            libraries = self.work / "setup"
            shutil.rmtree(libraries, ignore_errors=True)
        command = [self.options.python, "setup.py", "-q", "build_ext", "--build-lib", libraries, "--build-temp",
                   self.source / "temporary"]
        seconds = self.measure(what, command, libraries, cwd=self.source, env=environment)
        for graph in (self.source / "temporary").rglob("build.ninja"):
            plain_peer.check_commands(plain_peer.graph_commands(graph.parent, self.options.ninja), graph.parent)
        return seconds

    def each(self):
        libraries = self.work / "setup"
        shutil.rmtree(libraries, ignore_errors=True)
        fast = {"DS_ENABLE_NINJA": "1", "MAX_JOBS": str(self.options.jobs)}
        start = self.run_setup("DeepSpeed's setup.py without any op", [])
        times = [self.run_setup(f"DeepSpeed with Ninja: {op}", [op], libraries / op, **fast) for op in self.ops]
        if start is not None and None not in times:
            print_row([f"DeepSpeed with Ninja, sum of {len(times)}", f"{sum(times):.1f} s", "", "", "", sizes(libraries)])
            print_row(["the same without starting setup.py", f"{sum(times) - len(times) * start:.1f} s", "", "", "", ""])

    def ninja(self):
        self.run_setup("DeepSpeed with Ninja, all ops", self.ops, DS_ENABLE_NINJA="1", MAX_JOBS=str(self.options.jobs))

    def default(self):
        self.run_setup("DeepSpeed as it is", self.ops)


def sizes(folder):
    files = [path.stat().st_size for path in folder.rglob("*.so")]
    return f"{len(files)}, {sum(files) / 1e6:.1f} MB"


def print_row(cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


# README's rows: what stands there, how this script's row begins, and whether all is built.
PLAIN = "plain nvcc --threads=8, one Ninja graph"
README_ROWS = [("dsbuild", "dsbuild, cold", True), ("one source edited", "dsbuild, multi_tensor_adam.cu edited", False),
               ("nothing to do", "dsbuild, nothing to do", False), ("plain nvcc, one Ninja graph", PLAIN, True),
               ("DeepSpeed, `DS_ENABLE_NINJA=1`", "DeepSpeed with Ninja, all ops", True),
               ("DeepSpeed as it is", "DeepSpeed as it is", True)]
OPTIONAL = {PLAIN, "DeepSpeed as it is"}  # a run may be without them


def read_rows(text):
    """Of the first table of a run in a text: [{column: cell}]."""
    rows, columns = [], None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if columns is None and cells[:2] == COLUMNS[:2]:
            columns = cells
        elif columns and not line.startswith("|"):
            break
        elif columns and not cells[0].startswith("---"):
            rows.append(dict(zip(columns, cells)))
    return rows


def render_readme(text):
    """The table of README, of the first table of a run in this text."""
    rows = read_rows(text)
    found = [next((row for row in rows if row["build"].startswith(name)), None) for _, name, _ in README_ROWS]
    missing = [name for row, (_, name, _) in zip(found, README_ROWS) if not row and name not in OPTIONAL]
    if missing:
        sys.exit(f"no row of: {', '.join(missing)}")
    has_cpu, cold = "CPU" in rows[0], seconds_in(found[0]["wall"])
    columns = ["build", "wall", "times as long", *(["CPU"] if has_cpu else []), "libraries"]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row, (shown, _, is_whole) in zip(found, README_ROWS):
        if not row:
            continue
        wall = seconds_in(row["wall"])
        cells = [shown, f"{wall:.0f} s", f"{wall / cold:.1f}".removesuffix(".0") if is_whole else ""]
        cells += [f"{seconds_in(row['CPU']):.0f} s"] if has_cpu else []
        cells.append(row["libraries"].split(", ")[1] if is_whole else "")
        lines.append("|" + "".join(f" {cell} |" if cell else " |" for cell in cells))
    return "\n".join(lines) + "\n"


def seconds_in(cell):
    return float(cell.removesuffix(" s"))


PEERS = {"plain", "each", "ninja", "default"}


def parse_options(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("parts", nargs="+", choices=["dsbuild", "again", "plain", "each", "ninja", "default"])
    parser.add_argument("--ops", default="six", help="six, thirteen, or names as dsbuild has them (default: six)")
    parser.add_argument("--arch", default="7.5;8.0;9.0+PTX")
    parser.add_argument("--dsbuild", default=RELEASE)
    parser.add_argument("--python", default="python3", help="the Python with torch")
    parser.add_argument("--ninja", default="ninja")
    parser.add_argument("--jobs", default=cores, type=int, help=f"of Ninja, where dsbuild is not used (default: {cores})")
    parser.add_argument("--work", help="a folder that is kept, for what the next call needs")
    parser.add_argument("--edit", default="deepspeed/ops/csrc/adam/multi_tensor_adam.cu")
    parser.add_argument("--header", default="deepspeed/ops/csrc/includes/type_shim.h")
    parser.add_argument("--more", default="", type=str.split, help="further options of dsbuild, in one word")
    return parser.parse_args(words)


def main():
    if sys.argv[1:2] == ["--readme"]:
        print(render_readme(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")), end="")
        return False
    options = parse_options(sys.argv[1:])
    os.environ.update(TORCH_NO_COMPILER_WRAPPER="1", TORCH_CUDA_ARCH_LIST=options.arch)
    os.environ.setdefault("DS_ACCELERATOR", "cuda")
    keep_fetched()
    if set(options.parts) & PEERS:
        plain_peer.check_compilers(clean_environment())  # before anything takes its minutes
    options.python = shutil.which(options.python) or options.python
    options.ninja = shutil.which(options.ninja) or options.ninja
    bench = Bench(options)
    version = (options.source / "version.txt").read_text(encoding="utf-8").strip()
    print(f"cores: {len(os.sched_getaffinity(0))}; ops: {', '.join(bench.ops)}; archs: {options.arch}; DeepSpeed {version}\n")
    print_row(COLUMNS)
    print("|" + "---|" * len(COLUMNS), flush=True)
    try:
        for part in options.parts:
            getattr(bench, part)()
    finally:
        if not options.work:
            shutil.rmtree(bench.work)
    return bench.failed


if __name__ == "__main__":
    sys.exit(main())
