#!/usr/bin/env python3
"""Python as ruff reads it by pyproject.toml: each name is defined once, and used. Exit 77 (skipped) without ruff (DSBUILD_RUFF)."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import lint

RUFF = shutil.which(os.environ.get("DSBUILD_RUFF", "ruff"))
BAD = {
    "twice.py": ("def wait(seconds):\n    return seconds\n\n\ndef wait(minutes):\n    return minutes\n", "F811"),
    "undefined.py": ("print(nobody_knows_me)\n", "F821"),
    "unused.py": ("import os\n", "F401"),
    "syntax.py": ("def f(:\n", "invalid-syntax"),
}


def complaints(*paths):
    config = lint.ROOT / "pyproject.toml"
    run = subprocess.run([RUFF, "check", "--quiet", "--no-cache", "--output-format", "concise", "--config", config, *paths],
                         capture_output=True, text=True, cwd=lint.ROOT)
    if run.returncode not in (0, 1):
        sys.exit(run.stderr)
    return run.stdout.splitlines()


def self_test():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, code) in BAD.items():
            path = pathlib.Path(folder, name)
            path.write_text(text)
            if not any(f" {code}" in line for line in complaints(path)):
                failures.append(f"{name} is not refused for {code}")
        good = pathlib.Path(folder, "good.py")
        good.write_text("import os\n\nprint(os.name)\n")
        failures += complaints(good)
    return failures


if __name__ == "__main__":
    if RUFF is None:
        print("skipped: ruff is not installed (DSBUILD_RUFF)")
        sys.exit(77)
    lint.finish(self_test() if sys.argv[1:] == ["--self-test"] else complaints("."))
