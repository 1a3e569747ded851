#!/usr/bin/env python3
"""bench_estimate.py [--arch LIST] [--ops LIST] [--jobs N] [--source DIR] [--keep DIR] [PACK…]: how far the time left that a build
tells is from the time that it then takes, as a table. Each PACK [native] is built from nothing with an empty cache folder, and
once more when its times are known. Nothing is taken from a cache. The numbers are the build's own, `estimates` of timings.json,
once a second; what is left for less than 3 seconds is not counted. `longest without falling`: seconds in which the estimate was
never lower than at their beginning. --source is the source root of the last PACK. DSBUILD names the program."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import tempfile

from programs import RELEASE, Program

LEAST_MS = 3000


def errors_of(timings):
    """Of each time that was told: |told - true| / true."""
    end = timings["graphs"][-1]["end_ms"]
    left = [(said["left_ms"], end - said["at_ms"]) for said in timings["estimates"]]
    return [abs(told - true) / true for told, true in left if true >= LEAST_MS]


def longest_without_falling(timings):
    """In milliseconds."""
    longest, said = 0, timings["estimates"]
    for i, first in enumerate(said):
        for later in said[i:]:
            if later["left_ms"] < first["left_ms"]:
                break
            longest = max(longest, later["at_ms"] - first["at_ms"])
    return longest


def row_of(name, timings):
    errors = errors_of(timings)
    graph = timings["graphs"][-1]
    told = [f"{statistics.median(errors):.0%}", f"{statistics.quantiles(errors, n=10)[-1]:.0%}"] if len(errors) > 1 else ["–", "–"]
    return [name, str(len(timings["edges"])), f"{(graph['end_ms'] - graph['begin_ms']) / 1000:.0f} s", *told, str(len(errors)),
            f"{longest_without_falling(timings) / 1000:.0f} s"]


def build(program, pack, more, work):
    """The timings of a build from nothing."""
    for folder in ("build", "out"):
        shutil.rmtree(work / folder, ignore_errors=True)
    program.build("--pack", pack, "--cache-size", "0", "--out", work / "out", "--build-dir", work / "build", *more)
    return json.loads((work / "build" / "timings.json").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packs", nargs="*", default=["native"])
    parser.add_argument("--arch", default="8.0")
    parser.add_argument("--ops", default="all")
    parser.add_argument("--jobs")
    parser.add_argument("--source")
    parser.add_argument("--keep", help="a folder for each build's timings.json")
    chosen = parser.parse_args()
    print("| pack, build | edges | it took | median error | 9 of 10 below | told | longest without falling |\n" + "|---" * 7 + "|")
    for pack in chosen.packs:
        more = ["--arch", chosen.arch, "--ops", chosen.ops, *(["--jobs", chosen.jobs] if chosen.jobs else [])]
        if chosen.source and pack == chosen.packs[-1]:
            more += ["--source", chosen.source]
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            program = Program("dsbuild", os.environ.get("DSBUILD") or RELEASE, work / "cache")
            for which in ("first", "second"):
                name = f"{pathlib.Path(pack).name}, {which}"
                timings = build(program, pack, more, work)
                print("| " + " | ".join(row_of(name, timings)) + " |", flush=True)
                if chosen.keep:
                    pathlib.Path(chosen.keep, f"{name.replace(', ', '-')}.json").write_text(json.dumps(timings))


if __name__ == "__main__":
    main()
