#!/usr/bin/env python3
"""Slices against nvcc, by `dsbuild --verify-against-nvcc`: one row for each pack, toolkit and list of archs.

  slices.py WORK [--packs native,deepspeed] [--toolkits 11.8,13.0,13.5] [--lists 1,2…] [--ops LIST] [--jobs N]

WORK keeps the rows that are done, so that a run that was cut short goes on where it was; another dsbuild starts anew. Of a row
that is not done, or in which something differs, the build folder stays. DSBUILD names the program; DSBUILD_CUDA_11_8,
DSBUILD_CUDA_13 and DSBUILD_CUDA_13_5 the toolkits; DSBUILD_TORCH_PYTHON and DSBUILD_DEEPSPEED_SOURCES what pack deepspeed
needs. torch goes with the CUDA version that it was made for, so that pack is compared with CUDA 13 alone. Exit code 1 if anything
differs or does not build, 77 if no row can be made."""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

DEEPSPEED = "0.19.8"
TOOLKITS = {"11.8": "DSBUILD_CUDA_11_8", "13.0": "DSBUILD_CUDA_13", "13.5": "DSBUILD_CUDA_13_5"}
# One arch, PTX alone, one arch's PTX beside another's machine code, variants, what people ask for, and all that nvcc's own
# `all-major` stands for.
LISTS = {"11": ["8.0", "7.0-virtual", "7.0;8.0+PTX", "6.0;7.5+PTX;9.0", "7.0;7.5;8.0;8.6;8.9;9.0+PTX", "all-major"],
         "13": ["8.0", "8.0-virtual", "7.5;8.0+PTX", "8.0+PTX;9.0a;10.0f", "7.5;8.0;8.6;9.0;10.0;12.0+PTX", "all-major"]}
COLUMNS = ("pack", "CUDA", "archs", "files", "differ", "not sliced", "not built", "seconds")


def digest(file):
    return hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()


def pack_options(pack):
    if pack != "deepspeed":
        return ["--pack", pack]
    return ["--pack", pack, "--python", os.environ["DSBUILD_TORCH_PYTHON"],
            "--source", str(pathlib.Path(os.environ["DSBUILD_DEEPSPEED_SOURCES"]) / DEEPSPEED)]


def lacking(pack, toolkit):
    """Why there is no such row, or ""."""
    names = [TOOLKITS[toolkit]] + (["DSBUILD_TORCH_PYTHON", "DSBUILD_DEEPSPEED_SOURCES"] if pack == "deepspeed" else [])
    missing = [name for name in names if not os.path.exists(os.environ.get(name, ""))]
    if missing:
        return f"{missing[0]} names nothing that is there"
    return "torch is made for CUDA 13" if pack == "deepspeed" and toolkit == "11.8" else ""


def result_of(command):
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as dsbuild:
        try:
            out, err = dsbuild.communicate()
        finally:
            dsbuild.terminate()  # where this program is told to end
    lines = out.splitlines()
    result = json.loads(lines[-1]) if lines else {}
    if result.get("event") != "result":
        sys.exit(f"{' '.join(command)}\n{err}{lines[-1] if lines else ''}")
    return result


def compared_files(folder):
    """Those found to be the same, of ops that are not published too (a C++ file does not compile)."""
    return sum(1 for _ in (folder / "against_nvcc").rglob("*.nvcc.ok"))


def make_row(options, pack, toolkit, archs, folder):
    """The columns behind the first three."""
    begin = time.monotonic()
    result = result_of([os.environ["DSBUILD"], "--backend", "slices", "--verify-against-nvcc", "--keep-going", "--json", "--ops", options.ops,
                        *pack_options(pack), "--cuda-home", os.environ[TOOLKITS[toolkit]], "--arch", archs,
                        "--build-dir", str(folder), "--out", f"{folder}-out", *(["-j", options.jobs] if options.jobs else [])])
    for failed in result["failed"]:
        print(f"{failed['op']}: {failed['source']}: {failed['error']}\n  {failed['log']}", flush=True)
    for message in result["warnings"]:
        if message["code"] == "not_sliced":
            print(message["what"], flush=True)
    differ = sum("not_as_nvcc" in failed["error"] for failed in result["failed"])
    refused = sum(int(message["what"].split()[0]) for message in result["warnings"] if message["code"] == "not_sliced")
    return [compared_files(folder) + differ, differ, refused, len(result["failed"]) - differ, round(time.monotonic() - begin)]


def row_for(options, work, *which):
    """That of an earlier run of the same program, or a new one. Builds of damaged rows stay for a look at them."""
    name = hashlib.sha256(repr((which, options.ops, digest(os.environ["DSBUILD"]))).encode()).hexdigest()[:16]
    record, folder = work / f"{name}.json", work / name
    if record.exists():
        return json.loads(record.read_text())
    row = [*which, *make_row(options, *which, folder)]
    record.write_text(json.dumps(row))
    if not any(row[4:7]):
        for each in (folder, f"{folder}-out"):
            shutil.rmtree(each)
    return row


def rows(options):
    for pack in options.packs.split(","):
        for toolkit in options.toolkits.split(","):
            if why := lacking(pack, toolkit):
                print(f"left out: {pack}, CUDA {toolkit}: {why}", flush=True)
                continue
            lists = LISTS[toolkit.split(".")[0]]
            for number in map(int, options.lists.split(",")):
                yield pack, toolkit, lists[number - 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--packs", default="native,deepspeed")
    parser.add_argument("--toolkits", default=",".join(TOOLKITS))
    parser.add_argument("--lists", default="1,2,3,4,5,6")
    parser.add_argument("--ops", default="all")
    parser.add_argument("--jobs", default="")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped; what is done stays"))
    options.work.mkdir(parents=True, exist_ok=True)
    made = []
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    for which in rows(options):
        made.append(row_for(options, options.work.resolve(), *which))
        print(f"| {' | '.join(map(str, made[-1]))} |", flush=True)
    if not made:
        return 77
    return int(any(row[4] or row[6] for row in made))


if __name__ == "__main__":
    sys.exit(main())
