"""run.sh PART [GROUP...]: tests the CUDA ops on this machine's GPU (docs/figures/gpu.md). Builds them with dsbuild, once.

  tests      compares results with float64 references
  speed      measures speed against torch; no two groups at once
  sanitize   runs the kernels under compute-sanitizer: memcheck, racecheck, initcheck

With GROUP: these groups alone; their files are named PART-GROUP. Each part ends with a table, within LIMIT seconds. Exit code 1: a group failed, or did not run.
Needs nvcc, ninja, torch, numpy and tvm-ffi.
  WORK=DIR          keeps bundles and logs; the next part uses them      (default: dsbuild-gpu in TMPDIR or /tmp)
  OUT=DIR           PART.json and PART.log are written there             (default: WORK/out)
  LIMIT=SECONDS     for the part                                         (default: 480)
  DSBUILD=FILE      the dsbuild to use              (default: build/release of this checkout, or that on PATH)
  BUNDLE=DIR        test this bundle, build nothing
  ARCH=LIST         what to build for                                    (default: native)
  MORE="OPTION…"    for these builds, for example --backend slices
  PYTHON=FILE       (default: python3)
  TVM_FFI_DIR=DIR   holds the package tvm_ffi, where it is not installed
  FAMILIES=DIR      a bundle with all kernel families of evoformer_attn, to test them all on one GPU:
                    dsbuild --ops evoformer_attn --arch "7.0-virtual;7.5-virtual;8.0-virtual" (CUDA 11.8)
  DEEPSPEED=DIR     DeepSpeed's sources, for the group "load first" of speed
  DSBUILD_COMMIT=X  what is tested, where there is no git
"""

import datetime
import importlib.util
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = [str(ROOT / "tests" / "python"), str(ROOT / "python")]
sys.path[1:1] = PACKAGES

import groups  # noqa: E402
import runner  # noqa: E402

UNKNOWN = "unknown"


def said_by(*command):
    """What the command prints, "" where it fails or is not there."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def torch_version():
    """torch takes seconds to import, and its metadata do not tell of CUDA."""
    spec = importlib.util.find_spec("torch")
    if not spec or not spec.origin:
        return UNKNOWN
    file = pathlib.Path(spec.origin).with_name("version.py")
    found = re.search(r"^__version__ = ['\"](.*?)['\"]", file.read_text(encoding="utf-8"), re.M) if file.exists() else None
    return found.group(1) if found else UNKNOWN


def facts():
    card, _, driver = said_by("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").partition("\n")[0].rpartition(", ")
    cuda = re.search(r"V([\d.]+)", said_by("nvcc", "--version"))
    machine = {"gpu": card or UNKNOWN, "driver": driver or UNKNOWN, "cuda": cuda.group(1) if cuda else UNKNOWN, "torch": torch_version(),
               "python": platform.python_version(), "cores": len(os.sched_getaffinity(0))}
    return {"machine": machine, "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
            "commit": os.environ.get("DSBUILD_COMMIT") or said_by("git", "rev-parse", "HEAD") or UNKNOWN}


def set_environment(work):
    """Of all groups."""
    packages = [os.environ.get("TVM_FFI_DIR", ""), *PACKAGES, os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = ":".join(filter(None, packages))
    built = ROOT / "build/release/apps/dsbuild/dsbuild"
    program = built if built.exists() else shutil.which("dsbuild") or built
    os.environ.setdefault("DSBUILD_PROGRAM", os.environ.get("DSBUILD") or str(program))
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(work / "torchinductor"))
    os.environ.update(PYTHONUNBUFFERED="1", PYTHONDONTWRITEBYTECODE="1")


def chosen(every, names):
    """The groups with these names, and what they need."""
    unknown = set(names) - {group.name for group in every}
    if unknown:
        sys.exit(f"no group {', '.join(sorted(unknown))}; there are: {', '.join(group.name for group in every)}")
    needed = {need for group in every if group.name in names for need in group.needs}
    return [group for group in every if not names or group.name in names or group.name in needed]


def main(part, names):
    work = pathlib.Path(os.environ.get("WORK") or pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / "dsbuild-gpu").resolve()
    out = pathlib.Path(os.environ.get("OUT") or work / "out").resolve()
    set_environment(work)
    every = groups.PARTS[part](groups.Parts(work))
    return runner.Run(part, chosen(every, names), groups.LANES[part], int(os.environ.get("LIMIT", 480)), work, out,
                      {**facts(), "chosen": names}).go()


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in groups.PARTS:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    print(__doc__.strip(), file=sys.stderr)
    sys.exit(2)
