#!/usr/bin/env python3
"""unit_tests.py FOLDER: builds there what the unit tests of the driver and the stages below it need, counting lines, runs them and
nothing else, and prints how many of each stage's lines ran. Exit 1 where that is less than 90 % of one of them."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAGES = ["action", "build", "inputs", "plan"]
LEAST = 0.90


def build(folder):
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 --coverage"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--", "dsbuild", "fake_tools", *(f"test_{stage}" for stage in STAGES)], check=True,
                   stdout=subprocess.DEVNULL)


def run_tests(folder):
    for old in folder.rglob("*.gcda"):
        old.unlink()
    for stage in STAGES:
        subprocess.run([folder / "tests" / f"test_{stage}", "~[nvcc]"], check=True, stdout=subprocess.DEVNULL)


def count_lines(folder):
    """{file below lib: (lines that ran, lines, the others' numbers)}."""
    filters = [word for stage in STAGES for word in ("--filter", f"{ROOT}/lib/{stage}/")]
    said = subprocess.run([os.environ["DSBUILD_GCOVR"], "--root", ROOT, *filters, "--json", "-", folder], check=True, capture_output=True,
                          text=True)
    files = {}
    for file in json.loads(said.stdout)["files"]:
        counts = {}
        for line in file["lines"]:  # one for each instance of a template
            counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
        never = sorted(number for number, count in counts.items() if count == 0)
        files[file["file"].removeprefix("lib/")] = (len(counts) - len(never), len(counts), never)
    return files


def ranges(numbers):
    """[1, 2, 3, 7] -> "1-3 7"."""
    found = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return " ".join(f"{first}-{last}" if last > first else str(first) for first, last in found)


def main():
    folder = pathlib.Path(sys.argv[1])
    if not os.access(os.environ.get("DSBUILD_GCOVR", ""), os.X_OK):
        print("gcovr is not there: set DSBUILD_GCOVR, or run scripts/test.sh deep")
        return 77
    build(folder)
    run_tests(folder)
    files = count_lines(folder)
    too_few = []
    for stage in STAGES:
        own = {name: counts for name, counts in files.items() if name.startswith(stage + "/")}
        for name, (ran, lines, never) in sorted(own.items()):
            if never:
                print(f"  {name}: {ran} of {lines}; not {ranges(never)}")
        ran, lines = (sum(counts[place] for counts in own.values()) for place in (0, 1))
        print(f"lib/{stage}: {ran} of {lines} lines, {100 * ran / lines:.1f} %")
        if ran < LEAST * lines:
            too_few.append(stage)
    if too_few:
        print(f"less than {LEAST:.0%}: {', '.join(too_few)}")
    return 1 if too_few else 0


if __name__ == "__main__":
    sys.exit(main())
