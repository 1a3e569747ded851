#!/usr/bin/env python3
"""Torch extensions as they are, from the source distribution to a module: by their own build and by dsbuild's three ways, in
turn, as tables.

  scripts/bench_extensions.py SDIST...
    own     pip wheel, as the package has it
    build   dsbuild build DIR --inplace
    hook    DSBUILD=1 pip wheel
    wrap    dsbuild wrap -- pip wheel
  of which each is built cold, again in a second checkout, and in the first with an arch more, all CUDA sources touched, a
  comment more in one of them, and a kernel more; at last again from nothing, but for what is known of times and memory.

`own` is not measured where a compiler is dsbuild or a cache of compiles (plain_peer.py), nor where dsbuild said anything.
CPU is user and system time of all that a build started; memory what they hold together, sampled every 0.1 s. Beside the times: whether the
device images are those of the package's own build, byte for byte (by cuobjdump, with the names taken out that nvcc makes anew in
each run), or where they are not, their machine code is (line information has such names, and paths); whether the module loads,
and what `dsbuild plan` had said of it where nothing is there yet. With --shared-cache dsbuild's ways have one cache: the first
compiles, and the others show only that their modules are right.

Needs torch with CUDA, setuptools and wheel in --python, nvcc and cuobjdump, no GPU. The wheel of dsbuild is to be installed there
too (the hook is in it).
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import typing
import zipfile

import plain_peer
from plain_peer import NotPlain, clean_environment, cpu_seconds
from programs import RELEASE, ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))
from cuobjdump import machine_code, stored_images, without_names_of_run  # noqa: E402
from memory import Sampler  # noqa: E402

OF_PROJECT = "project"  # for --archs
WAYS = ["own", "build", "hook", "wrap"]
STATES = ["cold", "second checkout", "an arch more", "touched", "a comment more", "a kernel more", "from nothing"]
LOADS = """
import ctypes, os, sys, torch
for file in sys.argv[1:]:
    ctypes.CDLL(file, os.RTLD_NOW | os.RTLD_GLOBAL)
"""


def unpack(sdist, folder):
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.iterdir())


class Failed(Exception):
    """A build that ended with an error; its log is the text."""


class Way:
    """One way to build one package: its checkouts, and the caches that they share. The first lies in the same place for all
    ways while it is built, for device code names its file (__FILE__ in an assertion)."""

    def __init__(self, name, sdist, work, options):
        self.name, self.sdist, self.options = name, sdist, options
        self.work = work / name
        self.first = unpack(sdist, self.work / "first")
        self.place = work / "checkout" / self.first.name
        cache = (work if options.shared_cache and name != "own" else self.work) / "cache"
        self.environment = clean_environment(cache, MAX_JOBS=str(options.jobs), FORCE_CUDA="1")
        if name == "own":
            plain_peer.check_compilers(self.environment)
        self.set_archs(options.archs)

    def set_archs(self, archs):
        self.environment.pop("TORCH_CUDA_ARCH_LIST", None)
        if archs != OF_PROJECT:
            self.environment["TORCH_CUDA_ARCH_LIST"] = archs

    def command(self, source):
        if self.name == "build":
            return [self.options.dsbuild, "build", source, "--inplace", "--quiet", "--python", self.options.python,
                    "-j", self.options.jobs]
        pip = [self.options.python, "-m", "pip", "wheel", "-v", "--no-build-isolation", "--no-deps", "--no-index", "-w",
               self.work / "wheel", source]
        return [self.options.dsbuild, "wrap", "--", *pip] if self.name == "wrap" else pip

    def build_first(self):
        self.place.parent.mkdir(exist_ok=True)
        self.first.rename(self.place)
        try:
            return self.build(self.place)
        finally:
            self.place.rename(self.first)

    def build(self, source):
        """Seconds, CPU seconds, bytes of memory at most."""
        shutil.rmtree(self.work / "wheel", ignore_errors=True)
        hook = {"DSBUILD": "1"} if self.name == "hook" else {}
        with open(self.work / "log", "w+", encoding="utf-8", errors="replace") as log:
            begin, used = time.monotonic(), cpu_seconds()
            with subprocess.Popen([str(word) for word in self.command(source)], stdout=log, stderr=subprocess.STDOUT,
                                  cwd=source, env={**self.environment, **hook}) as process:
                sampler = Sampler(process.pid)
                code = process.wait()
            measured = time.monotonic() - begin, cpu_seconds() - used, sampler.stop()
            log.seek(0)
            if code:
                raise Failed(log.read()[-3000:])
        if self.name == "own" and self.said():
            raise NotPlain(f"not measured, for dsbuild runs in the package's own build: {self.said()}")
        return measured

    def warm_up(self):
        """What is done once on a machine and not once for each package: the self-test of slices, what is known of tools."""
        if self.name == "own":
            return
        source = self.work / "warm_up.cu"
        source.write_text("__global__ void warm_up() {}\n")
        subprocess.run([self.options.dsbuild, "nvcc", "-c", source, "-o", self.work / "warm_up.o"], env=self.environment,
                       check=True, capture_output=True)

    def state(self, state):
        if state == "second checkout":
            return self.build(unpack(self.sdist, self.work / "second"))
        if state == "from nothing":
            shutil.rmtree(pathlib.Path(self.environment["XDG_CACHE_HOME"]) / "dsbuild" / "store", ignore_errors=True)
            shutil.rmtree(self.first.parent)
            self.first = unpack(self.sdist, self.first.parent)
            return self.build_first()
        sources = sorted(self.files("*.cu"), key=lambda file: (-file.stat().st_size, file))
        text = {"a comment more": "// a comment more\n", "a kernel more": "__global__ void dsbuild_bench(int* a) { *a = 1; }\n"}
        if state == "an arch more":
            self.set_archs(self.options.more)
        elif state == "touched":
            for source in sources:
                source.touch()
        elif state in text:
            with open(sources[0], "a", encoding="utf-8") as source:
                source.write(text[state])
        return self.build_first()

    def files(self, pattern):
        """Of the first checkout, without what builds make."""
        return [file for file in self.first.rglob(pattern)
                if not {"build", ".dsbuild", "dsbuild-out"} & set(file.relative_to(self.first).parts)]

    def said(self):
        """What dsbuild, in a hook or as nvcc, said of the last build."""
        lines = (self.work / "log").read_text(encoding="utf-8", errors="replace").splitlines()
        return "; ".join(line.strip() for line in lines if line.strip().startswith("dsbuild: "))

    def modules(self):
        """The libraries that were built last in the first checkout."""
        if self.name == "build":
            return sorted(self.files("*.so"))
        folder = self.work / "site"
        shutil.rmtree(folder, ignore_errors=True)
        with zipfile.ZipFile(next((self.work / "wheel").iterdir())) as wheel:
            wheel.extractall(folder)
        return sorted(folder.rglob("*.so"))

    def images(self, modules):
        """Of each module, in order of their names, the digests of its images."""
        with concurrent.futures.ThreadPoolExecutor(int(self.options.jobs)) as pool:
            return dict(zip((module.name.split(".")[0] for module in modules), pool.map(digests, modules)))

    def loads(self, modules):
        run = subprocess.run([self.options.python, "-c", LOADS, *modules], capture_output=True, text=True, check=False)
        return "yes" if run.returncode == 0 else run.stderr.strip().splitlines()[-1][:200]

    def forecast(self):
        """What is said of a build from nothing: seconds and bytes."""
        pack = self.work / "pack"
        if not pack.exists():
            self.answer("new", "--from", self.first, "--pack", pack)
        return json.loads(self.answer("plan", "--pack", pack, "--ops", "all", "--json", "-j", self.options.jobs,
                                      "--build-dir", self.work / "plan"))["forecast"]

    def answer(self, *words):
        run = subprocess.run([self.options.dsbuild, *words, "--python", self.options.python], env=self.environment, check=False,
                             capture_output=True, text=True)
        if run.returncode:
            raise Failed(run.stderr[-3000:])
        return run.stdout


def show(forecast):
    return (f"{forecast['least_seconds']:.0f} to {forecast['most_seconds']:.0f} s ({forecast['seconds']:.0f}), "
            f"{forecast['memory_bytes'] / 2**30:.1f} GiB")


class Image(typing.NamedTuple):
    arch: str  # "sm_80.cubin"
    digest: str
    code: str  # the digest of its machine code; PTX has none, so it is of all


def image_of(arch, stored):
    plain = without_names_of_run(stored)
    code = machine_code(stored)
    return Image(arch, digest(plain), digest(repr(plain if code is None else code).encode()))


def digests(module):
    return [image_of(arch, stored) for arch, stored in stored_images("cuobjdump", module.resolve())]


def digest(data):
    return hashlib.sha256(data).hexdigest()


def compare_images(found, expected):
    """"45 of 48 equal, of 3 more the machine code, the same archs"."""
    def in_common(what):
        return sum((collections.Counter(map(what, found.get(name, []))) & collections.Counter(map(what, images))).total()
                   for name, images in expected.items())

    total = sum(map(len, expected.values()))
    equal, code = in_common(lambda image: (image.arch, image.digest)), in_common(lambda image: (image.arch, image.code))
    archs = in_common(lambda image: image.arch) == total == sum(map(len, found.values()))
    return (f"{equal} of {total} equal, " + (f"of {code - equal} more the machine code, " if code > equal else "")
            + ("the same archs" if archs else "OTHER ARCHS"))


def bench(sdist, work, options):
    name = sdist.name.removesuffix(".tar.gz")
    print(f"\n## {name}, {options.archs} (and {options.more})\n", flush=True)
    print("| build | way | wall | CPU | memory | of own's wall | of own's CPU |\n|---|---|---|---|---|---|---|", flush=True)
    ways = {way: Way(way, sdist, work, options) for way in options.ways}
    own, expected, notes = {}, {}, []
    for way in ways.values():
        way.warm_up()
    for state in options.states:
        for way in list(ways.values()):
            try:
                forecast = way.forecast() if way.name == "build" and state in ("cold", "from nothing") else None
                wall, cpu, memory = way.state(state)
            except Failed as failed:
                print(f"{name} by {way.name}, {state}: {failed}", file=sys.stderr, flush=True)
                print(f"| {state} | {way.name} | failed | | | | |", flush=True)
                del ways[way.name]
                continue
            own.setdefault(state, (wall, cpu))
            print(f"| {state} | {way.name} | {wall:.1f} s | {cpu:.1f} s | {memory / 2**30:.1f} GiB | {wall / own[state][0]:.2f} | "
                  f"{cpu / own[state][1]:.2f} |", flush=True)
            if state in ("cold", "an arch more", "a kernel more"):
                modules = way.modules()
                images = way.images(modules)
                expected.setdefault(state, images)
                notes.append(f"- {state}, {way.name}: images {compare_images(images, expected[state])}; loads: {way.loads(modules)}"
                             + f" {way.said()}".rstrip())
            if forecast:
                notes.append(f"- {state}, forecast: {show(forecast)}; seen {wall:.0f} s, {memory / 2**30:.1f} GiB")
    print("\n" + "\n".join(notes), flush=True)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sdists", nargs="+", type=pathlib.Path)
    parser.add_argument("--archs", default="8.0;9.0", help="what is built first (default: %(default)s); "
                        f"{OF_PROJECT}: those in the project's own flags, of which torch's build takes no others")
    parser.add_argument("--more", default="8.0;9.0;10.0", help="and with an arch more (default: %(default)s)")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=WAYS, help="own is to be the first")
    parser.add_argument("--states", type=lambda text: text.split(","), default=STATES, help="cold is to be the first")
    parser.add_argument("--shared-cache", action="store_true", help="one cache for all of dsbuild's ways")
    parser.add_argument("--dsbuild", default=RELEASE)
    parser.add_argument("--python", default="python3", help="the Python with torch")
    parser.add_argument("--jobs", default=str(len(os.sched_getaffinity(0))))
    return parser.parse_args()


def main():
    options = parse_options()
    options.python = shutil.which(options.python) or options.python
    for sdist in options.sdists:
        with tempfile.TemporaryDirectory(prefix="bench-extensions-") as work:
            try:
                bench(sdist.resolve(), pathlib.Path(work).resolve(), options)
            except (Failed, subprocess.CalledProcessError, OSError) as error:
                print(f"{sdist.name}: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
