#!/usr/bin/env python3
"""Remote execution: what the client costs, and how much faster a build gets.

  scripts/bench_execution.py [--slots LIST] [--rtt-ms LIST] [--actions N] [--bytes N] [--factor F] [--askers-factor F] [--tool FILE]
  scripts/bench_execution.py --jobs-real LIST --cuda-home DIR [--dsbuild FILE] [--buildbox DIR] [--rounds N] [-- WORDS OF dsbuild]

Without --jobs-real no compiler runs: a server in Python (tests/support/exec_process.py) sleeps as long as slices took, and the client is
dsbuild's own code without steps and Ninja (tests/tools/execution_tool.cpp). The tool is built by
  cmake --preset release -B build/bench -DDSBUILD_TESTS=ON && ninja -C build/bench execution_tool
`ideal`: the sum of the times over the slots. `efficiency`: ideal over wall. Client and server share the machine's cores: where their CPU
per action times the actions per second of `ideal` is more than the machine has, that is the bound. `up`: the bytes that the server's
sockets got, over those of the texts as zstd packs them.

With --jobs-real buildbox-casd runs the tools of a real build, N at once, for each N of the list; `local` is the same build without it, on
N cores (-j N). Where the machine has 2 N cores or more, server and client have N each, and none of the other's. Nothing is cached but what
is known of the toolkit. Words after -- go to dsbuild: what to build. --buildbox: the folder with buildbox-casd and buildbox-run, where
PyPI cannot be asked. `client`, `server`: CPU seconds of all their processes. The bundles of all runs must be the same byte for byte.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from plain_peer import cpu_seconds
from programs import RELEASE, ROOT, Program

sys.path.insert(0, str(ROOT / "tests" / "support"))
import testspace  # noqa: E402
from casd import Casd  # noqa: E402
from exec_process import ExecProcess, Process  # noqa: E402

TOOL = ROOT / "build/bench/tests/execution_tool"
# The 56 slices of the native ops for two archs, as timings.json had them on 2 cores (CUDA 13.0, 2026-11-30): median 1.5 s, 90 % 4.4 s.
SLICE_SECONDS = [0.51, 0.52, 0.53, 0.53, 0.54, 0.7, 0.72, 0.73, 0.74, 0.76, 0.77, 0.8, 0.81, 0.83, 0.85, 0.94, 0.95, 0.95, 0.95, 0.97, 0.98,
                 0.98, 0.99, 1.0, 1.07, 1.38, 1.46, 1.48, 1.5, 1.52, 1.53, 1.54, 1.54, 1.58, 1.63, 1.64, 1.68, 1.82, 1.86, 2.34, 3.57, 3.62,
                 3.65, 3.89, 3.9, 3.97, 4.07, 4.09, 4.12, 4.35, 4.41, 4.56, 4.58, 4.6, 4.69, 4.69]
OUTPUT_BYTES = 50_000
TICKS = os.sysconf("SC_CLK_TCK")


def tree_cpu(pid):
    """User and system seconds of a process, and of all below it that live or that were waited for."""
    def of(each):
        try:
            words = pathlib.Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return 0
        return sum(map(int, words[11:15]))
    return sum(map(of, [pid, *testspace.children(pid)])) / TICKS


class Closing(Process):
    """What a test case is to a server."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for cleanup in reversed(self.cleanups):
            cleanup()


# A server that sleeps.

def draw_times(actions, factor):
    generator = random.Random(1)
    return [factor * generator.choice(SLICE_SECONDS) for _ in range(actions)]


def load(options, slots, rtt, work):
    times = draw_times(options.actions, options.factor)
    file = work / "times.json"
    file.write_text(json.dumps({f"{number}.ptx": {"seconds": seconds, "bytes": OUTPUT_BYTES} for number, seconds in enumerate(times)}))
    inputs = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-load-", dir=options.folder))
    with Closing() as closing:
        closing.addCleanup(shutil.rmtree, inputs, True)
        server = ExecProcess(closing, "--fast", "--zstd", "--slots", slots, "--rtt-ms", rtt, "--times", file)
        words = [options.tool, server.url, f"--actions={options.actions}", f"--slots={round(slots * options.askers_factor)}",
                 f"--bytes={options.bytes}", f"--folder={inputs}"]
        done = subprocess.run(list(map(str, words)), text=True, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit(done.stdout)
        found = json.loads(done.stdout)
        state = server.state()
        return found | {"ideal": sum(times) / slots, "server_cpu": tree_cpu(server.process.pid), "wire_up": state["bytes_in"],
                        "wire_down": state["bytes_out"], "most_running": state["most_running"]}


def show_loads(options):
    print(f"{options.actions} actions of {options.bytes} bytes of text each, {os.cpu_count()} cores, load of the machine before "
          f"{os.getloadavg()[0]:.1f}, times of slices x {options.factor}, {options.askers_factor} actions on their way for each slot\n")
    print("| slots | RTT | ideal | wall | efficiency | client, CPU per action | server, CPU per action | peak memory | descriptors "
          "| up per action | of packed text | requests per action | failed |\n" + "|---" * 13 + "|")
    with tempfile.TemporaryDirectory() as work:
        for slots in options.slots:
            for rtt in options.rtt_ms:
                found = load(options, slots, rtt, pathlib.Path(work))
                each = found["wire_up"] / options.actions
                print(f"| {slots} | {rtt} ms | {found['ideal']:.1f} s | {found['wall']:.1f} s | {found['ideal'] / found['wall']:.0%} "
                      f"| {1000 * found['cpu_seconds'] / options.actions:.1f} ms | {1000 * found['server_cpu'] / options.actions:.1f} ms "
                      f"| {found['peak_rss_bytes'] / 2**20:.0f} MiB | {found['most_descriptors']} | {each / 1000:.0f} kB "
                      f"| {each / found['packed_text_bytes']:.2f} | {found['requests'] / options.actions:.2f} | {found['failures']} |",
                      flush=True)


# A server that runs compilers.

class Build:
    """Builds from nothing, with what is known of the toolkit."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.program = Program("dsbuild", options.dsbuild, work / "cache")
        self.program.more_environment = {"DSBUILD_CACHE_SIZE": "0"}
        self.hashes = set()
        self.run([], os.cpu_count())  # finds out about the toolkit

    def run(self, words, jobs, cores=None):
        """(wall, CPU seconds, what ran elsewhere)"""
        for name in ("build", "out"):
            shutil.rmtree(self.work / name, ignore_errors=True)
        pinned = ["taskset", "-c", cores] if cores else []
        command = [*pinned, self.program.file, *self.options.words, "--cuda-home", self.options.cuda_home, "--build-dir", self.work / "build",
                   "--out", self.work / "out", "-j", jobs, "--json", *words]
        before, begin = cpu_seconds(), time.monotonic()
        done = subprocess.run(list(map(str, command)), env=self.program.environment(), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit(f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        self.hashes.add(testspace.bundle_hash(self.work / "out"))
        return time.monotonic() - begin, cpu_seconds() - before, json.loads(done.stdout.splitlines()[-1]).get("execution")


def core_lists(jobs):
    """Of the server, of the client."""
    if os.cpu_count() < 2 * jobs:
        return None, None
    return f"0-{jobs - 1}", f"{jobs}-{2 * jobs - 1}"


def run_elsewhere(build, jobs, number):
    server_cores, client_cores = core_lists(jobs)
    with Closing() as closing:
        server = Casd(closing, build.work / f"casd-{jobs}-{number}", jobs=jobs)
        if server_cores:
            subprocess.run(["taskset", "-a", "-p", "-c", server_cores, str(server.process.pid)], stdout=subprocess.DEVNULL, check=True)
        words = ["--remote-exec", server.url, "--remote-jobs", jobs, "--remote-local", build.options.remote_local]
        wall, client, uses = build.run(words, jobs, client_cores)
        return wall, client, tree_cpu(server.process.pid), uses


def show_real(options):
    print(f"{' '.join(options.words)}: {os.cpu_count()} cores, medians of {options.rounds}, load of the machine before {os.getloadavg()[0]:.1f}\n")
    print("| jobs | local: wall, CPU | elsewhere: wall | local over elsewhere | client | server | tools there | up | down | requests |\n"
          + "|---" * 10 + "|")
    with tempfile.TemporaryDirectory() as folder:
        build = Build(options, pathlib.Path(folder))
        for jobs in options.jobs_real:
            local, there = [], []
            for number in range(options.rounds):
                local.append(build.run([], jobs, core_lists(jobs)[0]))
                there.append(run_elsewhere(build, jobs, number))
            here, cpu = (statistics.median(run[i] for run in local) for i in (0, 1))
            wall, client, server = (statistics.median(run[i] for run in there) for i in (0, 1, 2))
            uses = there[-1][3]
            if uses["off"] or uses["failed"]:
                print(f"jobs {jobs}: {uses['failed']} failed there; {uses['off']}", file=sys.stderr)
            print(f"| {jobs} | {here:.1f} s, {cpu:.1f} s | {wall:.1f} s | {here / wall:.0%} | {client:.1f} s | {server:.1f} s | {uses['executed']} "
                  f"| {uses['bytes_up'] / 1e6:.1f} MB | {uses['bytes_down'] / 1e6:.1f} MB | {uses['requests']} |", flush=True)
        if len(build.hashes) != 1:
            sys.exit("the bundles differ")
        print("\nall bundles are the same byte for byte")


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=numbers, default=[64, 512])
    parser.add_argument("--rtt-ms", type=numbers, default=[1, 50])
    parser.add_argument("--actions", type=int, default=10_000)
    parser.add_argument("--bytes", type=int, default=1_600_000, help="of text of each; the slices of the native ops have that")
    parser.add_argument("--factor", type=float, default=1, help="of the times")
    parser.add_argument("--askers-factor", type=float, default=1, help="--remote-jobs over the slots that the server has")
    parser.add_argument("--folder", default="/dev/shm", help="where the inputs are written")
    parser.add_argument("--tool", type=pathlib.Path, default=TOOL)
    parser.add_argument("--jobs-real", type=numbers)
    parser.add_argument("--cuda-home", type=pathlib.Path)
    parser.add_argument("--dsbuild", type=pathlib.Path, default=RELEASE)
    parser.add_argument("--buildbox", type=pathlib.Path)
    parser.add_argument("--remote-local", default="never")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("words", nargs="*", default=[])
    options = parser.parse_args()
    if options.buildbox:
        os.environ["DSBUILD_BUILDBOX"] = str(options.buildbox.resolve())
    if options.jobs_real:
        show_real(options)
    else:
        show_loads(options)


if __name__ == "__main__":
    main()
