#!/usr/bin/env python3
"""Builds of the same DeepSpeed ops, from process start to exit, one after the other on this machine, as a table.

  scripts/bench_deepspeed.py SOURCE PART...     SOURCE: an unpacked source distribution of DeepSpeed; parts, in this order:
    dsbuild   cold
    again     after `dsbuild`: nothing to do, one source edited, one header touched
    plain     the compile and link commands of `--backend nvcc` as one Ninja graph, each file in a command of its own, in
              alphabetical order and without precompiled headers, nvcc with --threads=8 as DeepSpeed has it; cold,
              with Ninja alone
    each      DeepSpeed's setup.py with DS_ENABLE_NINJA=1, each op in a process of its own, and the sum
    ninja     the same, all ops in one process
    default   setup.py as it is

`--readme FILE` measures nothing: it prints README's table of the rows that FILE has of an earlier run.

Needs torch with CUDA, nvcc, Ninja and Python's headers, no GPU. Parts that take long can be run one by one: --work keeps
what `dsbuild` made, and `each --ops LIST` takes some of the ops at a time. Peak memory is what all processes of the build have
in memory together, sampled every 0.1 s; in brackets without the pages of files, which several of them may share.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
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
        self.build, self.out, self.source, self.store = (self.work / name for name in ("build", "out", "source", "store"))
        self.failed = False

    def measure(self, what, command, libraries=None, edges=None, **how):
        """Runs the command and prints its row; gives the seconds, or None where it failed. `edges`: log → number."""
        log = self.work / "log.txt"
        with open(log, "wb") as text:
            begin = time.monotonic()
            with subprocess.Popen([str(word) for word in command], stdout=text, stderr=subprocess.STDOUT,
                                  start_new_session=True, **how) as process:
                memory = PeakMemory(process.pid)
                memory.start()
                try:
                    code = process.wait()
                except KeyboardInterrupt:
                    os.killpg(process.pid, signal.SIGTERM)
                    raise
            seconds, peak = time.monotonic() - begin, memory.stop()
        if code:
            self.failed = True
            print("\n".join(log.read_text(errors="replace").splitlines()[-40:]), file=sys.stderr)
            print(f"| {what} | failed | | | |", flush=True)
            return None
        number = edges(log.read_text(errors="replace")) if edges else ""
        print(f"| {what} | {seconds:.1f} s | {peak} | {number} | {sizes(libraries) if libraries else ''} |", flush=True)
        return seconds

    def copy_source(self):
        shutil.rmtree(self.source, ignore_errors=True)
        shutil.copytree(self.options.source, self.source, symlinks=True)

    def dsbuild_command(self, build, *more):
        return [self.options.dsbuild, "--pack", "deepspeed", "--source", self.source, "--python", self.options.python,
                "--ops", ",".join(self.ops), "--arch", self.options.arch, "--out", self.out, "--build-dir", build,
                "--cache-dir", self.store, *more]

    def run_dsbuild(self, what):
        self.measure(what, self.dsbuild_command(self.build, "--json", *self.options.more), self.out,
                     lambda log: log.count('"event":"edge_finished"'))

    def dsbuild(self):
        self.copy_source()
        for folder in (self.build, self.out, self.store):
            shutil.rmtree(folder, ignore_errors=True)
        self.run_dsbuild("dsbuild, cold")

    def again(self):
        self.run_dsbuild("dsbuild, nothing to do")
        with open(self.source / self.options.edit, "a", encoding="utf-8") as source:
            source.write(f"namespace {{ [[maybe_unused]] int edited_{time.monotonic_ns()}; }}\n")
        self.run_dsbuild(f"dsbuild, {pathlib.Path(self.options.edit).name} edited")
        (self.source / self.options.header).touch()
        self.run_dsbuild(f"dsbuild, {pathlib.Path(self.options.header).name} touched")

    def plain(self):
        plain = self.work / "plain"
        shutil.rmtree(plain, ignore_errors=True)
        self.copy_source()
        self.plan_only(plain)
        database = subprocess.run([self.options.ninja, "-C", plain, "-t", "compdb", "-x"], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout
        database = database[database.index("["):]  # behind what -C says
        text, number = render_plain(json.loads(database))
        (plain / "build.ninja").write_text(text, encoding="utf-8")
        (plain / "tmp").mkdir(exist_ok=True)
        self.measure(f"plain nvcc --threads=8, one Ninja graph, -j{self.options.jobs}",
                     [self.options.ninja, f"-j{self.options.jobs}"], plain, lambda _: number, cwd=plain,
                     env={**os.environ, "NVCC_APPEND_FLAGS": "--threads=8"})

    def plan_only(self, build):
        """dsbuild's build folder, of whole nvcc commands, by a Ninja that builds nothing."""
        idle = self.work / "idle-ninja"
        idle.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec {shlex.quote(self.options.ninja)} --version\nexit 1\n',
                        encoding="utf-8")
        idle.chmod(0o755)
        subprocess.run(self.dsbuild_command(build, "--backend", "nvcc", "--quiet"), stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env={**os.environ, "DSBUILD_NINJA": str(idle)}, check=False)

    def run_setup(self, what, ops, libraries=None, **variables):
        """As `DS_BUILD_<OP>=1 pip install` compiles it, without what pip does around it."""
        self.copy_source()
        if libraries is None:
            libraries = self.work / "setup"
            shutil.rmtree(libraries, ignore_errors=True)
        chosen = {f"DS_BUILD_{op.upper()}": "1" for op in ops}
        command = [self.options.python, "setup.py", "-q", "build_ext", "--build-lib", libraries, "--build-temp",
                   self.source / "temporary"]
        return self.measure(what, command, libraries, cwd=self.source, env={**os.environ, **variables, **chosen})

    def each(self):
        libraries = self.work / "setup"
        shutil.rmtree(libraries, ignore_errors=True)
        fast = {"DS_ENABLE_NINJA": "1", "MAX_JOBS": str(self.options.jobs)}
        start = self.run_setup("DeepSpeed's setup.py without any op", [])
        times = [self.run_setup(f"DeepSpeed with Ninja: {op}", [op], libraries / op, **fast) for op in self.ops]
        if start is not None and None not in times:
            print(f"| DeepSpeed with Ninja, sum of {len(times)} | {sum(times):.1f} s | | | {sizes(libraries)} |")
            print(f"| the same without starting setup.py | {sum(times) - len(times) * start:.1f} s | | | |")

    def ninja(self):
        self.run_setup("DeepSpeed with Ninja, all ops", self.ops, DS_ENABLE_NINJA="1", MAX_JOBS=str(self.options.jobs))

    def default(self):
        self.run_setup("DeepSpeed as it is", self.ops)


def sizes(folder):
    files = [path.stat().st_size for path in folder.rglob("*.so")]
    return f"{len(files)}, {sum(files) / 1e6:.1f} MB"


def render_plain(database):
    """Ninja's text for the compile and link edges of a compilation database, and their number."""
    made = {edge["output"]: edge["command"] for edge in database if edge["output"].endswith((".o", ".so"))}
    lines = ["rule run", "  command = $command", "  description = $out"]
    for output in sorted(made):
        inputs = [word for word in made[output].split() if word in made and word != output]
        command = re.sub(r" --split-compile=\d+", "", made[output])
        lines += [f"build {output}: run {' '.join(inputs)}".rstrip(), "  command = " + command.replace("$", "$$")]
    return "\n".join(lines) + "\n", len(made)


# README's rows: what stands there, and this script's row.
README_ROWS = [("dsbuild", "dsbuild, cold"), ("one source edited", "dsbuild, multi_tensor_adam.cu edited"),
               ("nothing to do", "dsbuild, nothing to do"), ("DeepSpeed, `DS_ENABLE_NINJA=1`", "DeepSpeed with Ninja, all ops"),
               ("DeepSpeed as it is", "DeepSpeed as it is")]


def render_readme(text):
    """The table of README, of the first row of each name in a text that has the rows of a run."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5:
            rows.setdefault(cells[0], cells)
    seconds = {name: float(rows[name][1].removesuffix(" s")) for _, name in README_ROWS}
    cold = seconds["dsbuild, cold"]
    lines = ["| build | wall | times as long | libraries |", "|---|---|---|---|"]
    for shown, name in README_ROWS:
        is_whole = seconds[name] >= cold
        times = f"{seconds[name] / cold:.1f}".removesuffix(".0") if is_whole else ""
        size = rows[name][4].split(", ")[1] if is_whole else ""
        lines.append(f"| {shown} | {seconds[name]:.0f} s | {times} | {size} |".replace("|  |", "| |").replace("|  |", "| |"))
    return "\n".join(lines) + "\n"


def parse_options(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("parts", nargs="+", choices=["dsbuild", "again", "plain", "each", "ninja", "default"])
    parser.add_argument("--ops", default="six", help="six, thirteen, or names as dsbuild has them (default: six)")
    parser.add_argument("--arch", default="7.5;8.0;9.0+PTX")
    parser.add_argument("--dsbuild", default=ROOT / "build/release/apps/dsbuild/dsbuild")
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
    options.python = shutil.which(options.python) or options.python
    options.ninja = shutil.which(options.ninja) or options.ninja
    bench = Bench(options)
    version = (options.source / "version.txt").read_text(encoding="utf-8").strip()
    print(f"cores: {len(os.sched_getaffinity(0))}; ops: {', '.join(bench.ops)}; archs: {options.arch}; DeepSpeed {version}\n")
    print("| build | wall | peak memory | edges | libraries |\n|---|---|---|---|---|", flush=True)
    try:
        for part in options.parts:
            getattr(bench, part)()
    finally:
        if not options.work:
            shutil.rmtree(bench.work)
    return bench.failed


if __name__ == "__main__":
    sys.exit(main())
