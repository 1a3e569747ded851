#!/usr/bin/env python3
"""make_quickstart.py: docs/quickstart.md, the transcript of a stranger's first ten minutes: README's commands typed in a
clean Debian root that holds nothing but a clone of the committed HEAD. Takes root and the package registries; fails where
a command fails, or where all of them together take over ten minutes."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOT_SH = ROOT / "scripts" / "root.sh"
PAGE = ROOT / "docs" / "quickstart.md"
LIMIT = 600  # seconds
STEPS = [
    ('./scripts/run.sh --ops all --arch "7.0;8.0+PTX"', "dsbuild, CUDA 11.8 (nothing newer targets 7.0) and the ops"),
    ("./scripts/run.sh verify dsbuild-out", "what is in the libraries is what was asked for"),
    ("./scripts/run.sh inspect dsbuild-out", "their device code, read without CUDA"),
    ("apt-get install -y -qq --no-install-recommends python3-venv > apt.log 2>&1", "Python, to call an op"),
    ("python3 -m venv venv && venv/bin/pip install -q apache-tvm-ffi numpy", ""),
    ("venv/bin/python tests/python/readme_example.py", "the five lines of README"),
]
EDGE = re.compile(r"(\d\d:\d\d:\d\d )?\[\d+/\d+\] ")
# What CMake, apt and pip say on the way; dsbuild's own lines say the same shorter.
CHATTER = re.compile(r"-- |Preset CMake|  [A-Z_]+=|Get:|Looking in |WARNING: Location|Collecting |"
                     r"  +(Downloading|Using cached|━)|Installing collected|Successfully installed|$")


def in_root(root, command):
    """The command in the clone in the root: (exit code, text, seconds)."""
    begin = time.monotonic()
    run = subprocess.run([ROOT_SH, "run", root, "DEBIAN_FRONTEND=noninteractive", "--", "bash", "-c",
                          f"cd /dsbuild && {command}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         stdin=subprocess.DEVNULL)
    return run.returncode, run.stdout, time.monotonic() - begin


def shortened(text):
    """Of each tool's edges only the first and the last; no chatter; the home folder as ~."""
    lines = [line for line in re.sub(r"(?:/\w+)+(?=/\.cache/dsbuild)", "~", text).splitlines() if not CHATTER.match(line)]
    kept = []
    for before, line, after in zip(["", *lines], lines, [*lines[1:], ""]):
        if not EDGE.match(line) or not EDGE.match(before) or not EDGE.match(after):
            kept.append(line)
        elif kept[-1] != "…":
            kept.append("…")
    return "\n".join(kept)


def transcript(root):
    blocks, total = [], 0.0
    for command, remark in STEPS:
        print(f"== {command}", file=sys.stderr, flush=True)
        code, text, seconds = in_root(root, command)
        if code != 0:
            sys.exit(f"{text}\nfailed with exit code {code}: {command}")
        total += seconds
        blocks.append(f"$ {command}" + (f"   # {remark}" if remark else "") +
                      (f"\n{shortened(text)}" if text.strip() else "") + f"\n[{seconds:.0f} s]")
    return "\n\n".join(blocks), total


def page(text, seconds):
    return f"""# The first ten minutes

These commands begin on a clean Debian 12 without CUDA, compiler, or Python. Their result is a verified bundle that Python calls.
They take {seconds:.0f} seconds on {os.cpu_count()} cores, downloads and installation included. `scripts/make_quickstart.py` runs them and writes
this page. Run them in a fresh clone, as root (or with sudo):

<!-- typed by scripts/make_quickstart.py -->
```
{text}
```

Next: [your own op](guides/first_op.md), [CI](guides/ci.md), [Docker](guides/docker.md), [all
options](reference/cli.md), [errors](troubleshooting.md).
"""


def main():
    with tempfile.TemporaryDirectory(prefix="dsbuild-quickstart.", dir="/var/tmp") as folder:
        root = pathlib.Path(folder) / "root"
        subprocess.run([ROOT_SH, "make", "bookworm", root], check=True)
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, root / "dsbuild"], check=True)
        text, seconds = transcript(root)
        subprocess.run(["rm", "-rf", "--one-file-system", root], check=True)
    if seconds > LIMIT:
        sys.exit(f"{text}\nit took {seconds:.0f} s, over {LIMIT}")
    PAGE.write_text(page(text, seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
