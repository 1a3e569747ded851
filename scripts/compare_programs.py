#!/usr/bin/env python3
"""Builds a pack with two programs of dsbuild and compares what they made, byte for byte.

  scripts/compare_programs.py OLD NEW [--pack NAME]… [--cuda HOME]… [--arch LIST] [--ops LIST] [--work DIR] [--at-once] [--renamed] [-- DSBUILD-OPTION…]

Each pack with each toolkit, in fresh build folders and with a cache folder for each program and toolkit, which are empty at
first, so that nothing which OLD made can be in NEW's bundle. Compared: each op's library, and each field of the manifest,
which says the archs, images, exports and sources of each op, and what compiled them. Each reads the ops that are installed
beside it; where their sources are others, the manifests' digests of them say so.
--renamed: libraries may name headers by other folders (as __FILE__ does). Then their device images must be the same bytes, their
exported symbols and their code the same sizes, and their texts the same but for the folders of paths.
Exit code 1: something differs that is not below as intended, or an op failed. --work keeps what was built.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from programs import Program

# {field of the manifest, or "library PACK/OP": why it may differ}. Libraries: none. The toolkit's, the compiler's and the
# sources' digests are the same for both, so they may not.
INTENDED = {"dsbuild": "the version of the program itself"}


def differences(old, new, place=""):
    """Where two JSON values differ: [(place, old, new)], places as `ops.fused_adam.sha256`."""
    if isinstance(old, dict) and isinstance(new, dict):
        found = []
        for key in sorted({*old, *new}):
            found += differences(old.get(key), new.get(key), f"{place}.{key}" if place else key)
        return found
    return [] if old == new else [(place, old, new)]


def by_name(manifest):
    """The manifest with its ops by their names: one op more is one difference, not one in each behind it."""
    return {**manifest, "ops": {op["name"]: op for op in manifest["ops"]}}


def first_difference(old, new):
    at = next((place for place, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    return f"from byte {at} of {len(old)} and {len(new)}"


def tool(*words):
    return subprocess.run(list(map(str, words)), check=True, stdout=subprocess.PIPE).stdout


def section(library, name):
    with tempfile.NamedTemporaryFile() as file:
        tool("objcopy", "-O", "binary", f"--only-section={name}", library, file.name)
        return pathlib.Path(file.name).read_bytes()


def texts(library):
    """Its literals, of each path the last name. What no zero ends may be a part of a jump table, whose offsets move with texts."""
    found = re.findall(rb"(?<=\0)[\x20-\x7e]{4,}(?=\0)", section(library, ".rodata"))
    return sorted(re.sub(rb"(?<![\w.])(?:roots)?/[\w./+~-]*/", b"", text) for text in found)


def exports(library):
    """Name and size of each, without its address."""
    return sorted(line.split()[1:] for line in tool("nm", "-D", "-S", "--defined-only", library).splitlines())


# What of two libraries is the same where only names of folders differ.
PARTS = {"device images": lambda library: [section(library, name) for name in (".nv_fatbin", ".hip_fatbin")],
         "texts": texts, "exports": exports, "size of code": lambda library: len(section(library, ".text"))}


def differs_but_for_folders(old, new):
    """The part that differs; "" where none does."""
    return next((name for name, part in PARTS.items() if part(old) != part(new)), "")


class Comparison:
    """One pack with one toolkit."""

    def __init__(self, options, programs, pack, home):
        self.options, self.programs, self.pack, self.home = options, programs, pack, home
        self.work = options.work / f"{pack}-{home.parent.name}-{home.name}"
        self.unexpected = []

    def build(self, program):
        folder = self.work / program.name
        shutil.rmtree(folder, ignore_errors=True)
        program = Program(program.name, program.file, folder / "cache")
        words = ["--pack", self.pack, "--ops", self.options.ops, "--arch", self.options.arch, "--cuda-home", self.home, "--keep-going",
                 "--out", folder / "out", "--build-dir", folder / "build", *self.options.more]
        result = program.build(*words)
        print(f"{self.pack}, {self.home}, {program.name}: {len(result['ops'])} ops, {result['edges_run']} edges in {result['wall']:.1f} s; "
              f"{len(result['failed'])} failed, {result['skipped']} skipped", file=sys.stderr, flush=True)
        for op in result["failed"]:
            self.unexpected.append(f"{program.name}: {op} failed")
        if result["failed"]:
            print(result["text"][-4000:], file=sys.stderr)
        return folder / "out", result

    def judge(self, place, text):
        """Intended or not; gives the word for the table."""
        if place in INTENDED:
            return f"intended: {INTENDED[place]}"
        self.unexpected.append(f"{self.pack}, {self.home}: {place} differs: {text}")
        return "DIFFERS"

    def compare_library(self, name, files):
        old, new = (file.read_bytes() if file.is_file() else None for file in files)
        if old == new:
            verdict = "same"
        elif old is None or new is None:
            verdict = self.judge(f"library {self.pack}/{name}", f"only {'OLD' if new is None else 'NEW'} made it")
        elif self.options.renamed:
            part = differs_but_for_folders(*files)
            verdict = self.judge(f"library {self.pack}/{name}", part) if part else "same but for folders in texts"
        else:
            verdict = self.judge(f"library {self.pack}/{name}", first_difference(old, new))
        print(f"| {self.pack} | {self.version} | {self.options.arch} | {name} | {len(old or new or b'')} | {verdict} |", flush=True)

    def compare_manifests(self, old, new):
        found = differences(by_name(old), by_name(new))
        for place, before, after in found:
            # The digest and size of a library that differs are no second difference.
            if not (place.startswith("ops.") and place.endswith((".sha256", ".bytes"))):
                self.judge(place, f"{json.dumps(before)[:200]} became {json.dumps(after)[:200]}")

    def run(self):
        with ThreadPoolExecutor(2 if self.options.at_once else 1) as builds:
            (old_out, old), (new_out, new) = builds.map(self.build, self.programs)
        manifests = [json.loads((out / "manifest.json").read_text(encoding="utf-8")) for out in (old_out, new_out)]
        toolkit = manifests[1]["toolkit"]
        self.version = toolkit["version"] if toolkit else "none"
        files = {op["name"]: op["file"] for manifest in manifests for op in manifest["ops"]}
        for name in sorted(files):
            self.compare_library(name, [out / files[name] for out in (old_out, new_out)])
        self.compare_manifests(*manifests)
        if old["skipped"] != new["skipped"]:
            self.judge("skipped", f"{old['skipped']} ops became {new['skipped']}")
        return self.unexpected, len(files)


def parse_options():
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--pack", action="append")
    parser.add_argument("--cuda", action="append", type=pathlib.Path, help="a toolkit's folder (default: /usr/local/cuda)")
    parser.add_argument("--arch", default="8.0;9.0+PTX")
    parser.add_argument("--ops", default="all")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--at-once", action="store_true", help="both programs build at the same time")
    parser.add_argument("--renamed", action="store_true", help="libraries may name headers by other folders")
    options = parser.parse_args(words[:end])
    options.more = words[end + 1:]
    return options


def main():
    options = parse_options()
    unexpected, libraries = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        options.work = (options.work or pathlib.Path(temporary)).resolve()
        programs = [Program("OLD", options.old, options.work), Program("NEW", options.new, options.work)]
        print("| pack | CUDA | archs | op | bytes | |\n|---|---|---|---|---|---|", flush=True)
        for pack in options.pack or ["native"]:
            for home in options.cuda or [pathlib.Path("/usr/local/cuda")]:
                found, number = Comparison(options, programs, pack, home).run()
                unexpected, libraries = unexpected + found, libraries + number
    print(f"\n{libraries} libraries; {len(unexpected)} unexpected differences", *unexpected, sep="\n")
    return 1 if unexpected or not libraries else 0


if __name__ == "__main__":
    sys.exit(main())
