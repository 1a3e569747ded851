#!/usr/bin/env python3
"""Fifteen packages of PyPI (packages_of_field.py) from the source distribution to modules, cold: by their own build and by
dsbuild's three ways (bench_extensions.py), in turn, as one table.

  scripts/bench_packages.py --fetch FOLDER   where there is a network: source distributions, and wheels that their tests import
  scripts/bench_packages.py FOLDER           on another machine, without one

Beside each package the medians of its own build's wall and CPU, and the ratios of the other ways' medians to them; whether the
device images are own's (`all`, else how many); whether the modules load; and the package's own tests that need no GPU, with the
modules of each way. CPU is user and system time of all that a way started. Several of these may run side by side, each on cores of
its own (`taskset`): a neighbour's load still shows in both figures.

Needs what bench_extensions.py needs. A row is printed as soon as it is measured, so a run that is cut short is worth its rows.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import bench_extensions
import plain_peer
from bench_extensions import Failed, Way, compare_images
from packages_of_field import PACKAGES, install_needs, run_own_tests, said_of
from programs import RELEASE

HEAD = "| package | own: wall, CPU | `dsbuild build` | hook | wrap | images equal | loads | own tests |\n|---|---|---|---|---|---|---|---|"
SHORT = {"build": "`dsbuild build`"}


def plain(name):
    return name.lower().replace("_", "-")


def find_sdist(folder, name, version):
    found = [file for file in folder.glob("*.tar.gz") if plain(file.name) == f"{plain(name)}-{version}.tar.gz"]
    if not found:
        raise Failed(f"{folder} has no {name}-{version}.tar.gz (--fetch)")
    return found[0]


def fetch(folder, names, options):
    """All that the table needs of an index."""
    pip = [options.python, "-m", "pip", "download", "-q", "--no-deps", "-d", folder]
    for name in names:
        package = PACKAGES[name]
        environment = plain_peer.clean_environment(FORCE_CUDA="1", **package.environment)
        subprocess.run([*pip, "--no-build-isolation", "--no-binary", ":all:", f"{name}=={package.version}"], check=True, env=environment)
        if package.wheels():
            subprocess.run([*pip, "--only-binary", ":all:", *package.wheels()], check=True, env=environment)
        print(f"{name} {package.version}", flush=True)


# ---- one package


class Measured:
    """Of one way: (wall, CPU) of each round, and of the first what its modules are."""

    def __init__(self):
        self.times, self.images, self.loads, self.tests, self.failed = [], {}, "", None, ""

    def medians(self):
        return [statistics.median(column) for column in zip(*self.times)]


def measure(name, sdist, work, options):
    """{way: Measured}, each round from nothing."""
    package, measured = PACKAGES[name], {way: Measured() for way in options.ways}
    for number in range(options.rounds):
        for way_name in options.ways:
            if measured[way_name].failed:
                continue
            try:
                measure_once(way_name, package, sdist, work, measured[way_name], options)
            except (Failed, subprocess.CalledProcessError, OSError, RuntimeError) as error:
                measured[way_name].failed = str(error)
                print(f"{name} by {way_name}, round {number + 1}: {error}", file=sys.stderr, flush=True)
    return measured


def measure_once(way_name, package, sdist, work, measured, options):
    shutil.rmtree(work / way_name, ignore_errors=True)
    options.archs = package.archs or options.arch
    way = Way(way_name, sdist, work, options)
    way.environment.update(package.environment)
    way.warm_up()
    wall, cpu, _ = way.build_first()
    if not measured.times:
        modules = way.modules()
        measured.images, measured.loads = way.images(modules), way.loads(modules)
        if package.tests and options.tests:
            measured.tests = own_tests(package, way, work, options)
    measured.times.append((wall, cpu))
    shutil.rmtree(work / way_name, ignore_errors=True)


def own_tests(package, way, work, options):
    needs = work / "needs"
    if not needs.exists():
        install_needs(package, options.python, needs, options.folder, way.environment)
    site = way.first if way.name == "build" else way.work / "site"
    return run_own_tests(package, options.python, way.first, [site, needs], work / "own_tests", way.environment)


# ---- the table


def row_of(name, measured):
    own = measured["own"]
    cells = [f"{name} {PACKAGES[name].version}", "failed" if own.failed else "{:.1f} s, {:.1f} s".format(*own.medians())]
    others = [way for way in ("build", "hook", "wrap") if way in measured]
    cells += [ratios(own, measured[way]) if way in measured else "" for way in ("build", "hook", "wrap")]
    good = [way for way in others if not measured[way].failed and not own.failed]
    cells.append(joined({way: images_said(measured[way].images, own.images) for way in good}))
    cells.append(joined({way: measured[way].loads for way in ["own", *good] if measured[way].loads}))
    cells.append(joined({way: said_of(measured[way].tests, own.tests) for way in ["own", *good] if measured[way].tests is not None}))
    return "| " + " | ".join(cells) + " |"


def ratios(own, other):
    if own.failed or other.failed:
        return "failed" if other.failed else ""
    return ", ".join(f"{theirs / mine:.2f}" for theirs, mine in zip(other.medians(), own.medians()))


def images_said(images, expected):
    said = compare_images(images, expected)
    total = sum(map(len, expected.values()))
    return "all" if said == f"{total} of {total} equal, the same archs" else said


def joined(said):
    """What all ways say once, else each by its name."""
    if len(set(said.values())) <= 1:
        return next(iter(said.values()), "")
    return "; ".join(f"{SHORT.get(way, way)}: {text}" for way, text in said.items())


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of source distributions and wheels; no index is asked")
    parser.add_argument("--fetch", action="store_true", help="fetch into the folder, and build nothing")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PACKAGES), help="some of: " + ", ".join(PACKAGES))
    parser.add_argument("--arch", default="9.0", help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=bench_extensions.WAYS, help="own is to be the first")
    parser.add_argument("--without-tests", dest="tests", action="store_false", help="packages' own tests are not run")
    parser.add_argument("--dsbuild", default=RELEASE)
    parser.add_argument("--python", default="python3", help="the Python with torch and dsbuild's wheel")
    parser.add_argument("--jobs", default=str(len(os.sched_getaffinity(0))))
    parser.set_defaults(shared_cache=False)
    options = parser.parse_args()
    if unknown := sorted(set(options.only) - set(PACKAGES)):
        parser.error(f"no such package: {', '.join(unknown)}")
    if options.ways[0] != "own":
        parser.error("--ways begins with own, of which the others are ratios")
    return options


def main():
    options = parse_options()
    options.folder = options.folder.resolve()
    options.python = shutil.which(options.python) or options.python
    if options.fetch:
        return fetch(options.folder, options.only, options)
    if not shutil.which("cuobjdump"):
        sys.exit("no cuobjdump on PATH: it compares the images")
    print(f"`{options.arch}`, {options.jobs} jobs, medians of {options.rounds}\n\n{HEAD}", flush=True)
    for name in options.only:
        with tempfile.TemporaryDirectory(prefix="bench-packages-") as work:
            try:
                sdist = find_sdist(options.folder, name, PACKAGES[name].version)
                print(row_of(name, measure(name, sdist, pathlib.Path(work).resolve(), options)), flush=True)
            except (Failed, plain_peer.NotPlain) as error:
                print(f"{name}: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
