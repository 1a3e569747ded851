#!/usr/bin/env python3
"""What keeping to a bound of memory costs: cold builds with and without it, after a first one that measures.

  scripts/bench_memory.py [--ops LIST] [--arch LIST] [--jobs N] [--memory SIZE] [--dsbuild FILE] [-- DSBUILD-OPTION…]

`peak`: the largest sum of the resident memory of dsbuild and everything it started, sampled every 100 ms. A sum above the bound
is an error (exit code 1) where no edge needed more than all and ran alone. The store of slices is not used.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from plain_peer import clean_environment
from programs import RELEASE, ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))

from memory import Sampler  # noqa: E402

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
NO_BOUND = "1024G"


def bytes_of(size):
    text = size.upper().removesuffix("IB").removesuffix("B")
    return int(float(text[:-1]) * UNITS[text[-1]]) if text[-1] in UNITS else int(text)


class Build:
    """A cold build."""

    def __init__(self, options, work, memory):
        command = [options.dsbuild, "--backend", "slices", "--json", "--ops", options.ops, "--arch", options.arch, "--jobs", str(options.jobs),
                   "--memory", memory, "--build-dir", work / "build", "--out", work / "out", *options.more]
        subprocess.run([options.dsbuild, "clean", "--build-dir", work / "build"], check=True, stderr=subprocess.DEVNULL)
        begin = time.monotonic()
        environment = clean_environment(DSBUILD_CACHE_SIZE="0")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
            sampler = Sampler(process.pid)
            out, err = process.communicate()
        self.wall, self.peak = time.monotonic() - begin, sampler.stop()
        if process.returncode:
            sys.exit(out + err)
        result = json.loads(out.splitlines()[-1])
        self.edges, self.waits = result["edges_run"], result["memory"]
        self.bundle = {op["name"]: op["sha256"] for op in result["ops"]}

    def row(self, name):
        waited = f"{self.waits['waited_edges']} edges, {self.waits['waited_seconds']:.1f} s"
        return f"| {name} | {self.wall:.1f} s | {self.peak / (1 << 20):.0f} MiB | {self.edges} | {waited} | {len(self.waits['alone'])} |"


def main():
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", default="fused_adam,quantizer,fp_quantizer")
    parser.add_argument("--arch", default="7.5;8.0;9.0+PTX")
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--memory", default="4G")
    parser.add_argument("--dsbuild", default=RELEASE, type=pathlib.Path)
    options = parser.parse_args(words[:end])
    options.more, options.dsbuild = words[end + 1:], options.dsbuild.resolve()
    with tempfile.TemporaryDirectory() as work:
        rows = {name: Build(options, pathlib.Path(work), memory) for name, memory in
                (("first, without a bound", NO_BOUND), ("without a bound", NO_BOUND), (options.memory, options.memory))}
    print(f"{options.ops} for {options.arch}, {options.jobs} jobs\n")
    print("| | wall | peak | edges | waited | alone |\n|---|---|---|---|---|---|")
    for name, build in rows.items():
        print(build.row(name))
    free, bounded = rows["without a bound"], rows[options.memory]
    print(f"\nslowdown: {bounded.wall / free.wall:.2f}")
    for edge in bounded.waits["alone"]:
        print(f"ran alone, for it needs {edge['bytes'] / (1 << 20):.0f} MiB: {edge['op']}: {edge['source']} {edge['part']}")
    if bounded.bundle != free.bundle:
        sys.exit("the bundles differ")
    if bounded.peak > bytes_of(options.memory) and not bounded.waits["alone"]:
        sys.exit(f"above the bound of {options.memory}")


if __name__ == "__main__":
    main()
