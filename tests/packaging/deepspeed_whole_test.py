#!/usr/bin/env python3
"""The whole pack deepspeed with a real nvcc, torch and DeepSpeed, as people ask for it (TORCH_CUDA_ARCH_LIST="7.5;8.0+PTX"
DS_BUILD_OPS=1): every op that this machine can build holds the images that its filter leaves, an unmodified DeepSpeed finds
it installed, and its module is imported. Prints a table. An hour and more on two cores; build/deepspeed_whole is kept, so
that a second run compiles what changed. 77: no torch, CUDA 13, cuobjdump or sources of DeepSpeed are installed by the scripts."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from cuobjdump import find_cuobjdump, list_images  # noqa: E402
from deepspeed_ops import OPS  # noqa: E402
from distributions import NAME  # noqa: E402
from machine import CACHE, REPOSITORY, run, skip  # noqa: E402
from testspace import dsbuild_program, find_real_toolkit  # noqa: E402

WORK = REPOSITORY / "build" / "deepspeed_whole"
PYTHON = WORK / "venv" / "bin" / "python"
VERSION = "0.19.8"
# For evoformer_attn; for cutlass_ops and ragged_device_ops.
KERNELS = ["nvidia-cutlass==4.2.0.0", "deepspeed-kernels==0.0.1.dev1698255861"]
# What no package of pip brings: GPUDirect Storage, on some machines libaio. fp_quantizer's source has a fault.
MAY_LACK = {"gds", "async_io", "fp_quantizer"}
IMPORT = "import torch, importlib, sys; print(importlib.import_module(sys.argv[1]).__file__)"


def find(variable, default):
    found = pathlib.Path(os.environ.get(variable) or CACHE / default)
    if not found.exists():
        skip(f"{found} is not there ({variable})")
    return found


class Row:
    """What was seen of one op."""

    def __init__(self, op, library):
        self.op = op
        self.images = sorted(set(list_images(library)))
        self.megabytes = library.stat().st_size / 1e6
        self.file = imported(OPS[op][0])
        self.reported = "not listed"


def pip(*words, **options):
    run(PYTHON, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", *words, **options)


def make_venv():
    """torch's packages, what the ops need besides, and an unmodified DeepSpeed that built no op."""
    torch_python = find("DSBUILD_TORCH_PYTHON", "torch/venv/bin/python")
    source = find("DSBUILD_DEEPSPEED_SOURCES", "deepspeed") / VERSION
    shutil.rmtree(WORK / "venv", ignore_errors=True)
    run(torch_python, "-m", "venv", WORK / "venv")
    ask_site = [str(torch_python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = next((WORK / "venv").glob("lib/python*/site-packages"))
    (site / "torch.pth").write_text(subprocess.check_output(ask_site, text=True))
    shutil.rmtree(WORK / "source", ignore_errors=True)
    shutil.copytree(source, WORK / "source")  # pip writes into it
    pip(*KERNELS)
    pip("--no-build-isolation", WORK / "source", env={**os.environ, "DS_BUILD_OPS": "0", "DS_ACCELERATOR": "cuda"})
    return source


def build(source):
    """What dsbuild said."""
    shutil.rmtree(WORK / "out", ignore_errors=True)
    return said_by(dsbuild_program(), "--pack", "deepspeed", "--source", source, "--python", PYTHON,
                   "--cuda-home", find_real_toolkit(), "--out", WORK / "out", "--build-dir", WORK / "build",
                   TORCH_CUDA_ARCH_LIST="7.5;8.0+PTX", DS_BUILD_OPS="1")


def install():
    shutil.rmtree(WORK / "wheels", ignore_errors=True)
    (WORK / "wheels").mkdir()
    run(dsbuild_program(), "wheel", WORK / "out", "--wheel-dir", WORK / "wheels")
    pip(*(WORK / "wheels").glob("*.whl"))


def said_by(*command, **variables):
    """Its output, both streams, however it ended."""
    return subprocess.run(list(map(str, command)), cwd=WORK, env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout


def said_on_a_gpu_machine(*command):
    """By the way that DeepSpeed offers to build for one elsewhere."""
    return said_by(*command, DS_ACCELERATOR="cuda", CUDA_HOME=find_real_toolkit())


def imported(module):
    """Its file, or Python's last word."""
    return said_on_a_gpu_machine(PYTHON, "-c", IMPORT, module).strip().rpartition("\n")[2]


def report():
    """{op: its word in the column "installed"}"""
    text = re.sub(r"\x1b\[\d+m", "", said_on_a_gpu_machine(PYTHON.parent / "ds_report"))
    return dict(re.findall(r"^(\w+) \.+ \[(\w+)\] \.+ \[\w+\]$", text, re.M))


def expected_images(archs):
    images = []
    for arch in archs:
        name = "sm_" + arch.removesuffix("+PTX").replace(".", "")
        images += [("elf", name), *([("ptx", name)] if arch.endswith("+PTX") else [])]
    return sorted(images)


def print_table(rows):
    print("\n| op | images by cuobjdump | MB | import | ds_report |\n|---|---|---|---|---|")
    for row in rows:
        images = ", ".join(f"{arch}{' PTX' if kind == 'ptx' else ''}" for kind, arch in row.images)
        works = "yes" if f"/{NAME}/" in row.file else row.file
        print(f"| {row.op} | {images or '–'} | {row.megabytes:.1f} | {works} | {row.reported} |")


def setUpModule():
    try:
        find_cuobjdump()
        find_real_toolkit()
    except unittest.SkipTest as reason:
        skip(reason)


class WholePackTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        WORK.mkdir(parents=True, exist_ok=True)
        cls.said = build(make_venv())
        install()
        built = json.loads((WORK / "out" / "manifest.json").read_text())["ops"]
        cls.rows = [Row(op["name"], WORK / "out" / op["file"]) for op in built]
        reported = report()
        for row in cls.rows:
            row.reported = reported.get(row.op, row.reported)
        print_table(cls.rows)
        print(*re.findall(r"^(?:skipped|built) .*", cls.said, re.M), sep="\n", flush=True)

    def test_every_op_is_built_that_lacks_nothing(self):
        self.assertLessEqual(set(OPS) - MAY_LACK, {row.op for row in self.rows}, self.said[-6000:])

    def test_each_library_holds_the_images_of_its_op_s_filter(self):
        self.assertEqual({row.op: row.images for row in self.rows},
                         {row.op: expected_images(OPS[row.op][3]) for row in self.rows})

    def test_ds_report_says_that_each_is_installed(self):
        self.assertEqual({row.op: row.reported for row in self.rows}, {row.op: "YES" for row in self.rows})

    def test_each_module_is_imported_in_a_process_of_its_own(self):
        for row in self.rows:
            with self.subTest(op=row.op):
                self.assertIn(f"/{NAME}/{OPS[row.op][0].replace('.', '/')}.", row.file)


if __name__ == "__main__":
    unittest.main(verbosity=2)
