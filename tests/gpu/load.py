#!/usr/bin/env python3
"""Loading ops on a machine with a GPU: what fits against what the driver takes, and the first use against torch's own.

load.py [fit|devices|values|first|warm]...: the parts, by default all in this order. Exit code 1: something is not as expected.
Needs the package dsbuild with its program, tvm-ffi, torch and nvcc (CUDA_HOME).
  DEEPSPEED=DIR   DeepSpeed's sources (holds deepspeed/ops/csrc), for `first`, which is skipped without them
  ROUNDS=N        of `first` (default: 1)
"""

import ctypes
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import figures  # noqa: E402

WORK = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-load-"))
FAILED = []
SKIPPED = 77

# By hand, from CUDA's compatibility rules (docs/reference/arch.md, "What runs where"): what a bundle for these archs is on a GPU of
# compute capability 9.0.
ON_HOPPER = [("9.0", "native"), ("8.0+PTX", "ptx"), ("8.0", "no"), ("9.0a", "native"), ("10.0", "no"), ("8.0;9.0", "native")]
NO_BINARY, NEWER_PTX = 209, 222  # cuda.h: CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_UNSUPPORTED_PTX_VERSION


def check(what, is_right):
    if not is_right:
        FAILED.append(what)
    return "" if is_right else " **wrong**"


def program():
    from dsbuild._program import find_program
    return find_program()


def dsbuild(*words, env=None):
    return subprocess.run([program(), *map(str, words)], capture_output=True, text=True, env={**os.environ, **(env or {})})


def python(code, env=None):
    """(seconds from the start of the process to its end, its last line as JSON)"""
    begin = time.monotonic()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **(env or {})})
    seconds = time.monotonic() - begin
    if run.returncode:
        print(run.stdout + run.stderr, flush=True)
        FAILED.append("a program: " + code.strip().splitlines()[0])
        return seconds, None
    if len(run.stdout.splitlines()) > 1 or run.stderr:
        print(run.stdout + run.stderr, flush=True)
    return seconds, json.loads(run.stdout.splitlines()[-1]) if run.stdout.strip() else None


# ---- what fits


class Driver:
    """CUDA's driver, asked for whether it takes an image."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        device = ctypes.c_int()
        for code in (self.cuda.cuInit(0), self.cuda.cuDeviceGet(ctypes.byref(device), 0),
                     self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), self.cuda.cuCtxSetCurrent(context)):
            assert code == 0, code

    def load(self, image):
        module = ctypes.c_void_p()
        code = self.cuda.cuModuleLoadData(ctypes.byref(module), image)
        if code == 0:
            self.cuda.cuModuleUnload(module)
        return code


def containers(library):
    """The fatbins in a library, one for each module: 16 bytes of header (magic, version, its size, the size of the rest)."""
    data = pathlib.Path(library).read_bytes()
    at = data.find(b"\x50\xed\x55\xba")
    while at >= 0:
        _, _, header, size = struct.unpack_from("<IHHQ", data, at)
        if header == 16 and 0 < size <= len(data) - at:
            yield data[at:at + header + size]
        at = data.find(b"\x50\xed\x55\xba", at + 4)


def word_of(codes):
    if all(code == 0 for code in codes):
        return "taken"
    return f"refused ({', '.join(str(code) for code in sorted(set(codes) - {0}))})"


def what_load_says(bundle):
    run = dsbuild("load", "fused_adam", "--path", bundle, "--json", env={"DSBUILD_JIT": "0", "DSBUILD_BUNDLE": "",
                                                                       "XDG_CACHE_HOME": str(WORK / "none")})
    answer = json.loads(run.stdout.splitlines()[-1])
    if "error" in answer:
        what = answer["error"]["what"].splitlines()[-1].strip()
        return "no", what.rpartition(": fused_adam has ")[2]
    return max((row["runs"] for row in answer["coverage"]), key=["native", "ptx"].index), answer["coverage"][0]["by"]


def fit():
    with figures.table("load_fit") as table:
        compare_fits(table)


def compare_fits(table):
    driver = Driver()
    rows = [(archs, expected, build(archs), 0) for archs, expected in ON_HOPPER]
    rows.append(("9.0-virtual of CUDA 13.5", "no", newer_ptx(build("9.0-virtual")), NEWER_PTX))
    for archs, expected, bundle, wanted in rows:
        said, why = what_load_says(bundle)
        images = [newer(image) for image in containers(bundle / "fused_adam.so")] if wanted else list(containers(bundle / "fused_adam.so"))
        codes = [driver.load(image) for image in images]
        right = said == expected and bool(codes) and all((code == 0) == (expected != "no") for code in codes)
        table.add(bundle=archs, expected=expected, said=said, why=why, driver=word_of(codes) + check("fit " + archs, right))
    bundle = build("9.0", op="cpu_adam")
    run = dsbuild("load", "cpu_adam", "--path", bundle, "--json")
    coverage = json.loads(run.stdout.splitlines()[-1])["coverage"]
    table.add(bundle="no device code", expected="fits", said=f"{len(coverage)} images asked for", why=check("fit cpu", coverage == []),
              driver="–")


def build(archs, op="fused_adam"):
    bundle = WORK / f"bundle-{op}-{archs.replace(';', '_')}"
    run = dsbuild("--ops", op, "--arch", archs, "--out", bundle, "--build-dir", WORK / f"build-{op}-{archs.replace(';', '_')}")
    assert run.returncode == 0, run.stderr
    return bundle


def newer_ptx(bundle):
    """The bundle as CUDA 13.5 would have made it: no such compiler is here."""
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["toolkit"]["version"] = "13.5.37"
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    return bundle


def newer(image):
    """A module whose PTX is of the ISA of CUDA 13.5 (9.3): what stands in the image is compressed."""
    return b".version 9.3\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }\n\0"


# ---- which GPUs


def devices():
    uuid = subprocess.run(["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], capture_output=True, text=True).stdout.split()[0]
    bundle = build("9.0")
    with figures.table("load_devices") as table:
        for value in ("0", uuid, uuid[:12], "", "-1", "7", "0,0", "MIG-" + uuid):
            env = {**os.environ, "CUDA_VISIBLE_DEVICES": value}
            run = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, env=env)
            there = int(run.stdout)
            report = dsbuild("load", "fused_adam", "--path", bundle, "--json", env={"CUDA_VISIBLE_DEVICES": value})
            ours = len(json.loads(report.stdout.splitlines()[-1])["coverage"])
            table.add(value=value.replace(uuid[4:], "UUID") or '""', ours=ours, cudas=f"{there}{check('devices ' + value, ours == there)}")


COUNT = """
import ctypes
cuda, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
print(count.value if cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 else 0)
"""


# ---- right values, and a fork


VALUES = """
import json, os
import dsbuild
adam = dsbuild.load("fused_adam")  # nothing of CUDA starts here
child = os.fork()
if child == 0:
    import torch
    p = torch.linspace(0.5, 1, 1001, device="cuda"); g = p * 0.5; m = torch.zeros_like(p); v = torch.zeros_like(p)
    expected = p.clone().requires_grad_(); expected.grad = g.clone()
    optimizer = torch.optim.AdamW([expected], lr=0.1, weight_decay=0.01); optimizer.step()
    adam.fused_adam_step([p], [g], [m], [v], 0.1, 0.9, 0.999, 1e-8, 1, True, True, 0.01)
    torch.cuda.synchronize()
    print("largest difference", (p - expected.detach()).abs().max().item(), flush=True)
    os._exit(0 if torch.allclose(p, expected.detach(), rtol=1e-6, atol=1e-7) else 1)
print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
"""


def values():
    _, code = python(VALUES, {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"})  # tvm-ffi asks torch for GPUs (docs/guides/python.md)
    print(f"fused_adam, loaded before a fork and used with CUDA in the child, against torch.optim.AdamW: "
          f"{'equal' if code == 0 else 'different'}{check('values', code == 0)}\n", flush=True)


# ---- the first use


OURS = """
import json, time
import dsbuild
module = dsbuild.load("fused_adam", pack={pack!r})
print(json.dumps(dsbuild.stats().__dict__))
"""

TORCHS = """
import json
from torch.utils.cpp_extension import load
root = {root!r} + "/deepspeed/ops/csrc/"
flags = ["-O3", "-std=c++17", "-DVERSION_GE_1_1", "-DVERSION_GE_1_3", "-DVERSION_GE_1_5"]
load(name="fused_adam", sources=[root + "adam/fused_adam_frontend.cpp", root + "adam/multi_tensor_adam.cu"],
     extra_include_paths=[root + "includes", root + "adam"], extra_cflags=flags,
     extra_cuda_cflags=flags + ["-lineinfo", "--use_fast_math", "--threads=8", "-DBF16_AVAILABLE"])
print(json.dumps("built"))
"""


def fresh():
    shutil.rmtree(WORK / "cache", ignore_errors=True)
    return {"XDG_CACHE_HOME": str(WORK / "cache"), "TORCH_EXTENSIONS_DIR": str(WORK / "cache" / "torch"),
            "TORCH_CUDA_ARCH_LIST": "9.0+PTX"}


def first():
    sources = os.environ.get("DEEPSPEED")
    if not sources:
        print("skipped: DEEPSPEED is not set (DeepSpeed's sources: torch compiles its fused_adam)", file=sys.stderr)
        return SKIPPED
    imported, _ = python("import torch")
    packages = f"{sources}:{os.environ.get('PYTHONPATH', '')}"  # as an editable DeepSpeed
    ways = [("`torch.utils.cpp_extension.load` of DeepSpeed's", TORCHS.format(root=sources), {}),
            ("`dsbuild.load`, pack deepspeed", OURS.format(pack="deepspeed"), {"PYTHONPATH": packages}),
            ("`dsbuild.load`, pack native", OURS.format(pack="native"), {})]
    rounds = [[python(code, {**fresh(), **more})[0] for _, code, more in ways] for _ in range(int(os.environ.get("ROUNDS", "1")))]
    medians = [statistics.median(times) for times in zip(*rounds)]
    with figures.table("load_first", rounds=len(rounds), import_torch_s=round(imported, 1)) as table:
        for (way, _, _), seconds in zip(ways, medians):
            table.add(way=way, s=seconds, ratio_to_torch=seconds / medians[0])
    return 0


# ---- a second start


WARM = """
import json, time, timeit
begin = time.perf_counter()
import tvm_ffi
imported = time.perf_counter()
import dsbuild
from dsbuild import _loader
ready = time.perf_counter()
answer = _loader.find("fused_adam")
found = time.perf_counter()
_loader.open_op(answer)
opened = time.perf_counter()
dsbuild.load("fused_adam")
second = min(timeit.repeat(lambda: dsbuild.load("fused_adam"), number=100000, repeat=5)) / 100000
print(json.dumps([imported - begin, found - ready, opened - found, second, answer["compiles"]]))
"""
WARM_ROUNDS = 5


def warm_times(env):
    """Medians of new processes after a first one, which builds."""
    rows = [python(WARM, env)[1] for _ in range(1 + WARM_ROUNDS)][1:]
    return [statistics.median(values) for values in zip(*filter(None, rows))]


def warm():
    script = WORK / "g++"
    script.write_text(f'#!/bin/sh\nexec {shutil.which("g++")} "$@"\n')
    script.chmod(0o755)
    ways = {"g++": warm_times({}), "a script for g++": warm_times({"CXX": str(script)})}
    if not all(ways.values()):
        return
    with figures.table("load_warm") as table:
        table.add(what="import tvm_ffi, and torch", value=f"{ways['g++'][0] * 1e3:.1f} ms")
        for way, medians in ways.items():
            table.add(what=f"finding the op, compiler {way}", value=f"{medians[1] * 1e3:.1f} ms")
        table.add(what="dlopen", value=f"{ways['g++'][2] * 1e3:.1f} ms")
        table.add(what="a second dsbuild.load", value=f"{ways['g++'][3] * 1e6:.2f} µs")
        compiles = max(medians[4] for medians in ways.values())
        table.add(what="compiles", value=f"{compiles:.0f}{check('compiles of a second start', compiles == 0)}")


def main():
    parts = {"fit": fit, "devices": devices, "values": values, "first": first, "warm": warm}
    codes = []
    try:
        for name in sys.argv[1:] or parts:
            begin = time.monotonic()
            codes.append(parts[name]())
            print(f"({name}: {time.monotonic() - begin:.0f} s)", flush=True)
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    if FAILED:
        sys.exit("not as expected: " + ", ".join(FAILED))
    if set(codes) == {SKIPPED}:
        sys.exit(SKIPPED)


if __name__ == "__main__":
    main()
