#!/usr/bin/env python3
"""Builds by buildbox-casd with 1, 2, 4, … jobs against builds on as many cores, on one machine of at least 12 cores.

    bench_execution_jobs.py --dsbuild PROGRAM --buildbox DIR [--jobs 1,2,4,8] [--client-cores N] [--ops OPS] [--arch ARCHS] [-- WORD…]

The client has cores of its own, the service the others (taskset). Each build has an empty cache and an empty build folder; the
service starts empty. WORD…: more for each dsbuild, as --source DIR. A table, then a line of JSON for each build; bundles that
differ end it with exit code 1. "local" is dsbuild on as many cores as the service has jobs."""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    """Seconds of a process and of its children that have ended."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return sum(int(fields[place]) for place in (11, 12, 13, 14)) / TICKS


def cores(first, number):
    return f"{first}-{first + number - 1}"


class Service:
    """buildbox-casd that executes."""

    def __init__(self, buildbox, jobs, place, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = ["taskset", "-c", place, buildbox / "buildbox-casd", f"--bind=127.0.0.1:{self.port}", "--quota-high=8G",
                 "--reserved=1M", f"--buildbox-run={buildbox / 'buildbox-run'}", f"--jobs={jobs}", "--log-level=error", folder]
        self.process = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise SystemExit("buildbox-casd does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def bundle_digest(folder):
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            digest.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return digest.hexdigest()


class Bench:
    def __init__(self, arguments, root):
        self.arguments, self.root, self.number = arguments, root, 0
        self.rows, self.digest = [], None

    def build(self, name, place, *words):
        self.number += 1
        folder = self.root / str(self.number)
        folder.mkdir()
        command = ["taskset", "-c", place, self.arguments.dsbuild, "--ops", self.arguments.ops, "--arch", self.arguments.arch,
                   "--build-dir", folder / "b", "--out", folder / "o", "--json", *words, *self.arguments.words]
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        before, begin = os.times(), time.monotonic()
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment, check=False)
        wall, after = time.monotonic() - begin, os.times()
        if run.returncode != 0:
            raise SystemExit(f"{name}: exit code {run.returncode}\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}")
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        digest = bundle_digest(folder / "o")
        self.digest = self.digest or digest
        row = {"name": name, "wall": wall, "cpu": cpu, "same": digest == self.digest,
               "execution": json.loads(run.stdout.splitlines()[-1]).get("execution")}
        shutil.rmtree(folder)
        self.rows.append(row)
        print(f"{name}: {wall:.1f} s, {cpu:.1f} CPU s", flush=True)
        return row

    def remote(self, name, jobs, client, place, *words):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.root))
        with Service(self.arguments.buildbox, jobs, place, folder / "cas") as service:
            row = self.build(name, client, "--remote-exec", f"reapi://127.0.0.1:{service.port}", "--remote-jobs", jobs,
                             "--remote-local", "never", *words)
            row["server_cpu"] = cpu_of(service.process.pid)
        shutil.rmtree(folder)
        return row

    def say(self):
        print(f"{'build':24} {'wall':>7} {'client CPU':>10} {'server CPU':>10} {'tools':>6} {'their time':>10} {'up MiB':>7} "
              f"{'down MiB':>8} {'calls':>6} same")
        for row in self.rows:
            uses = row["execution"] or {}
            print(f"{row['name']:24} {row['wall']:7.1f} {row['cpu']:10.1f} {row.get('server_cpu', 0):10.1f} "
                  f"{uses.get('executed', 0):6} {uses.get('worked_seconds', 0):10.1f} {uses.get('bytes_up', 0) / 2**20:7.1f} "
                  f"{uses.get('bytes_down', 0) / 2**20:8.1f} {uses.get('requests', 0):6} {'yes' if row['same'] else 'NO'}")
        for row in self.rows:
            print(json.dumps(row))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsbuild", required=True)
    parser.add_argument("--buildbox", required=True, type=pathlib.Path)
    parser.add_argument("--jobs", default="1,2,4,8")
    parser.add_argument("--client-cores", type=int, default=4)
    parser.add_argument("--held", type=int, default=0, help="then one build more: a client of so many cores, the others serve")
    parser.add_argument("--ops", default="all")
    parser.add_argument("--arch", default="8.0;9.0")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    total = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        for jobs in [int(word) for word in arguments.jobs.split(",") if word]:
            bench.build(f"local, {jobs} cores", cores(0, jobs), "-j", jobs)
            bench.remote(f"service, {jobs} jobs", jobs, cores(0, arguments.client_cores),
                         cores(arguments.client_cores, min(jobs, total - arguments.client_cores)), "-j", arguments.client_cores)
        if arguments.held:
            held = arguments.held
            bench.remote(f"{held} cores, {total - held - 2} jobs", total - held - 2, cores(0, held), cores(held, total - held), "-j", held)
            bench.build(f"local, {total} cores", cores(0, total), "-j", total)
        bench.say()
    return 0 if all(row["same"] for row in bench.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
