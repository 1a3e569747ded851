#!/usr/bin/env python3
"""Every C++ file is laid out as clang-format 19 does it. Exit 77 (skipped) without clang-format-19."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import lint

PROGRAM = "clang-format-19"


def misformatted(paths):
    """The first complaint for each file that is not laid out as .clang-format says."""
    style = f"--style=file:{lint.ROOT / '.clang-format'}"
    run = subprocess.run([PROGRAM, style, "--dry-run", "-Werror", *map(str, paths)],
                         capture_output=True, text=True)
    complaints = {}
    for line in run.stderr.splitlines():
        if line.endswith("[-Wclang-format-violations]"):
            complaints.setdefault(line.split(":")[0], line)
    if run.returncode != 0 and not complaints:
        return [run.stderr.strip() or f"{PROGRAM} failed"]
    return list(complaints.values())


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        good, bad = pathlib.Path(folder, "good.cpp"), pathlib.Path(folder, "bad.cpp")
        good.write_text("int f(int x) { return x; }\n".replace(" { return x; }", " {\n  return x;\n}"))
        bad.write_text("int  f( int x ){return x ;}\n")
        failures = [f"a good sample is refused: {problem}" for problem in misformatted([good])]
        found = misformatted([good, bad])
        if len(found) != 1 or "bad.cpp" not in found[0]:
            failures.append(f"a bad sample is not seen (found: {found})")
    return failures


if __name__ == "__main__":
    if not shutil.which(PROGRAM):
        print(f"skipped: no {PROGRAM}")
        sys.exit(77)
    if sys.argv[1:] == ["--self-test"]:
        lint.finish(self_test())
    files = lint.read_tree("lib", "apps", "examples", "kernels", "templates", "tests", suffixes=lint.CPP)
    # What tests read as data is not ours to lay out.
    problems = misformatted([lint.ROOT / path for path in files if "/data/" not in path])
    if problems:
        print(f"run: {PROGRAM} -i on these files")
    lint.finish(problems)
