#!/usr/bin/env python3
"""Every CUDA file of the ops, by whole nvcc commands and by slices: the same images and exports, and what each took.

  slices.py WORK DSBUILD-OPTION…      for example: slices.py /tmp/x --ops all,-evoformer_attn --arch "7.5;9.0+PTX"

WORK is kept. Names of internal linkage hold nvcc's module id, which has a checksum of the absolute path in it; where only
that keeps the images apart, the slices are made once more with nvcc's id. DSBUILD names the program, DSBUILD_NINJA Ninja.
Exit code 1 if anything differs."""

import json
import os
import pathlib
import resource
import shlex
import subprocess
import sys
import time

SECTION = ".nv_fatbin"


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, text=True, **options)


class Build:
    """One backend's build: its folder, wall seconds and the seconds of all cores together."""

    def __init__(self, work, backend, options):
        self.folder = work / backend
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        run(os.environ["DSBUILD"], "--backend", backend, "--build-dir", self.folder, "--out", work / f"{backend}-out",
            *options, stdout=sys.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.wall = time.monotonic() - begin
        self.cores = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def images(file):
    section = pathlib.Path(f"{file}.section")
    run("objcopy", "-O", "binary", f"--only-section={SECTION}", "--set-section-flags", f"{SECTION}=alloc", file, section)
    content = section.read_bytes()
    section.unlink()
    return content


def exports(file):
    out = run("nm", "--extern-only", "--defined-only", "--format=posix", file, stdout=subprocess.PIPE).stdout
    return sorted(line.split()[0] for line in out.splitlines())


def ninja(build, *words, **options):
    return run(os.environ.get("DSBUILD_NINJA", "ninja"), "-C", build.folder, *words, stdout=subprocess.PIPE, **options).stdout


def module_id_of(build, command, scratch):
    """What nvcc itself takes."""
    words = [word for word in shlex.split(command.split(" && ")[0]) if word != "--objdir-as-tempdir"]
    scratch.mkdir(exist_ok=True)
    run(*words[:words.index("-MD")], "-c", words[words.index("-c") + 1], "--keep", "--keep-dir", scratch, "-o", scratch / "x.o",
        cwd=build.folder)
    return next(scratch.glob("*.module_id")).read_text()


def take_module_id(whole, sliced, entry, scratch):
    """Slices with nvcc's module id instead of ours."""
    unit = sliced.folder / entry["output"].removesuffix(".o")
    unit.with_name(unit.name + ".module_id").write_text(module_id_of(whole, entry["command"], scratch))
    for made in unit.parent.glob(unit.name + ".*"):
        if made.suffix in (".ptx", ".key") or made.name.endswith(".cudafe1.cpp"):
            made.unlink()
    ninja(sliced, entry["output"], host_object(entry["output"]))


def host_object(output):
    return output.removesuffix(".o") + ".host.o"


def difference(whole, sliced, output):
    if not (sliced.folder / host_object(output)).exists():
        return "not sliced"
    if images(whole.folder / output) != images(sliced.folder / output):
        return "images differ"
    return "" if exports(whole.folder / output) == exports(sliced.folder / host_object(output)) else "exports differ"


def compare(whole, sliced, entry, scratch):
    """"" where all is the same."""
    found = difference(whole, sliced, entry["output"])
    if found in ("", "not sliced"):
        return found
    take_module_id(whole, sliced, entry, scratch)
    return difference(whole, sliced, entry["output"])


def main(work, *options):
    work = pathlib.Path(work).resolve()
    whole, sliced = Build(work, "nvcc", options), Build(work, "slices", options)
    text = ninja(whole, "-t", "compdb", "cuda_compile", "cuda_twin")
    different = 0
    entries = json.loads(text[text.index("["):])
    for entry in entries:
        found = compare(whole, sliced, entry, work / "kept")
        different += bool(found)
        print(f"{found or 'the same'}: {entry['output']}", flush=True)
    print(f"\n{len(entries)} files, {different} differ")
    for name in ("wall", "cores"):
        mine, nvcc = getattr(sliced, name), getattr(whole, name)
        print(f"{name}: nvcc {nvcc:.1f} s, slices {mine:.1f} s, ratio {mine / nvcc:.2f}")
    return different > 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
