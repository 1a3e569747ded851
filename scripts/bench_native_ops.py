#!/usr/bin/env python3
"""bench_native_ops.py [--arch LIST] [--cuda-home DIR] [PACK…]: what each op of a pack costs for each arch, compile time and
size, as a table: seconds of its edges that compile or assemble for one arch, and bytes of its images. Each PACK [ops/native]
is built from nothing, with an empty cache folder, so that two checkouts' can be compared. DSBUILD names the program."""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import tempfile

from plain_peer import clean_environment
from programs import RELEASE, ROOT, keep_fetched

PROGRAM = os.environ.get("DSBUILD") or RELEASE


def build(pack, arch, more, work):
    environment = clean_environment(work / "cache")
    subprocess.run([PROGRAM, "--pack", pack, "--ops", "all", "--arch", arch, "--out", work / "out", "--build-dir", work / "build",
                    "--quiet", *more], check=True, env=environment, stdout=subprocess.DEVNULL)
    return json.loads((work / "build" / "timings.json").read_text())


def seconds_of(timings):
    """{(op, part): seconds}: a part is "80", all that is done for that arch, or "host", all else."""
    found = collections.Counter()
    for edge in timings["edges"]:
        if edge["kind"] not in ("link", "verify"):
            found[edge["op"], number_of(edge["part"]) or "host"] += (edge["end_ms"] - edge["begin_ms"]) / 1000
    return found


def number_of(arch):
    """Of "sm_80" and "compute_80"."""
    return arch.partition("_")[2]


def bytes_of(bundle):
    """{(op, part): bytes of device code}, a cubin's and PTX's together"""
    said = subprocess.run([PROGRAM, "inspect", bundle, "--json"], check=True, stdout=subprocess.PIPE).stdout
    found = collections.Counter()
    for file in json.loads(said)["files"]:
        for size in file["sizes"]:
            found[pathlib.Path(file["file"]).stem, number_of(size["arch"])] += size["bytes"]
    return found


def print_pack(pack, arch, more):
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        timings = build(pack, arch, more, work)
        seconds, sizes = seconds_of(timings), bytes_of(work / "out")
        libraries = {path.stem: path.stat().st_size for path in (work / "out").glob("*.so")}
    parts = sorted({part for _, part in [*seconds, *sizes]}, key=lambda part: (part != "host", part))
    print(f"{pack}: {timings['total_ms'] / 1000:.1f} s with {timings['jobs']} jobs\n")
    print("| op | library, KiB | " + " | ".join("host, s" if part == "host" else f"{part[:-1]}.{part[-1]}, s (KiB)" for part in parts) + " |")
    print("|---" * (len(parts) + 2) + "|")
    for op in sorted(libraries):
        cells = []
        for part in parts:
            size = f" ({sizes[op, part] / 1024:.0f})" if (op, part) in sizes else ""
            cells.append(f"{seconds[op, part]:.1f}{size}" if (op, part) in seconds else "–")
        print(f"| {op} | {libraries[op] / 1024:.0f} | {' | '.join(cells)} |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="8.0,9.0+PTX")
    parser.add_argument("--cuda-home")
    parser.add_argument("packs", nargs="*", default=[str(ROOT / "ops" / "native")])
    given = parser.parse_args()
    keep_fetched()
    for pack in given.packs:
        print_pack(pack, given.arch, ["--cuda-home", given.cuda_home] if given.cuda_home else [])


if __name__ == "__main__":
    main()
