"""What the scripts share that run programs of dsbuild, each with a cache folder of its own."""

import json
import os
import pathlib
import subprocess
import sys
import time

from plain_peer import clean_environment

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build/release/apps/dsbuild/dsbuild"


def cache_folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "dsbuild"


def keep_fetched():
    """A program with another cache folder still finds what was fetched into the user's."""
    for variable, pattern in (("TVM_FFI_HOME", "tvm_ffi/*/tvm_ffi"), ("DSBUILD_NINJA", "ninja/*/bin/ninja")):
        found = sorted(cache_folder().glob(pattern))
        if found:
            os.environ.setdefault(variable, str(found[-1]))


class Program:
    """A dsbuild that shares nothing with another one: what one has cached must not be what the other finds, though the caller
    has DSBUILD_CACHE_DIR set."""

    def __init__(self, name, file, cache):
        keep_fetched()
        self.more_environment = {}
        self.name, self.file, self.cache = name, pathlib.Path(file).resolve(), pathlib.Path(cache)
        if not os.access(self.file, os.X_OK):
            sys.exit(f"{file} is no program")

    def environment(self):
        return {**clean_environment(self.cache), **self.more_environment}

    def run(self, *words, **how):
        """As subprocess.run, with what it prints in `stdout` and `stderr`."""
        return subprocess.run([str(self.file), *map(str, words)], env=self.environment(), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, **how)

    def build(self, *words):
        """The last event of a build, with what it took (`wall`) and said (`text`); ends where there is none."""
        begin = time.monotonic()
        done = self.run("build", "--json", *words)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        if not events or events[-1].get("event") != "result":
            sys.exit(f"{self.name} built nothing (exit code {done.returncode}):\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return {**events[-1], "wall": time.monotonic() - begin, "code": done.returncode, "text": done.stderr}


def turn_takers(before, after, folder):
    """The programs that take turns, the one of --before first, each with a cache folder below this one."""
    files = {"before": before, "after": after} if before else {"dsbuild": after}
    return [Program(name, file, folder / f"cache-{name}") for name, file in files.items()]


def ratio(value, base):
    return f"{value / base:.2f}" if base else ""
