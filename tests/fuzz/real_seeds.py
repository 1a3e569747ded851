#!/usr/bin/env python3
"""real_seeds.py FOLDER: what each clang of this machine and ocloc make, as what the fuzzers begin with; none where there are none."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import offload_tools  # noqa: E402

HIP = """
struct dim3 { unsigned x, y, z; };
extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, struct stream*);
extern "C" int __hipPopCallConfiguration(dim3*, dim3*, unsigned long*, struct stream**);
extern "C" __attribute__((global)) void twice(float* a) { a[0] *= 2; }
"""
OPENCL = "kernel void twice(global float* a) { a[get_global_id(0)] *= 2; }\n"
WAYS = {"plain": [], "packed": ["--offload-compress"]}


def hip(clang, work, add):
    """Objects, and their section alone: plain, and compressed as this version does it (22 as 19 did, too)."""
    versions = {"": {}, "_v2": {"COMPRESSED_BUNDLE_FORMAT_VERSION": "2"}} if clang.version >= 22 else {"": {}}
    for way, options in list(WAYS.items())[:1 if clang.version < 19 else None]:
        for suffix, variables in versions.items():
            clang.run("clang", "-x", "hip", "-nogpuinc", "-nogpulib", "-fPIC", "-O1", "--offload-arch=gfx90a:xnack+", "--offload-arch=gfx1100",
                      *options, "-c", "-o", "a.o", "a.hip", cwd=work, **variables)
            clang.run("llvm-objcopy", "--dump-section", ".hip_fatbin=section", "a.o", "copy", cwd=work)
            name = f"clang_{clang.version}_{way}{suffix}"
            add("binary", name, work / "a.o")
            add("bundle", name, work / "section")


def intel(clang, ocloc, work, add):
    clang.run("clang", "--target=spirv64", "-cl-std=CL2.0", "-O2", "-c", "a.cl", "-o", "a.spv", cwd=work)
    add("bundle", "spirv", work / "a.spv")
    for form in ("patchtokens", "zebin"):
        for devices in ("pvc", "skl,dg2-g10"):
            name = f"{form}_{devices.replace(',', '_')}"
            ocloc.run("compile", "-spirv_input", "-file", "a.spv", "-device", devices, "--format", form, "-output", name, "-out_dir", "made",
                      "-q", cwd=work)
            made = next(path for path in (work / "made").iterdir() if path.name.startswith(name))
            add("binary", name, made)
            add("bundle", name, made)


def main():
    folder = pathlib.Path(sys.argv[1])
    clangs = offload_tools.clangs()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        (work / "a.hip").write_text(HIP)
        (work / "a.cl").write_text(OPENCL)
        seeds = 0

        def add(subject, seed, path):
            nonlocal seeds
            (folder / subject).mkdir(parents=True, exist_ok=True)
            (folder / subject / seed).write_bytes(path.read_bytes())
            seeds += 1
        for clang in clangs:
            hip(clang, work, add)
        ocloc = offload_tools.Ocloc()
        if clangs and clangs[-1].version >= 22 and ocloc.program.exists():
            intel(clangs[-1], ocloc, work, add)
    print(f"{seeds} seeds by {[clang.version for clang in clangs]} and ocloc in {folder}")


if __name__ == "__main__":
    main()
