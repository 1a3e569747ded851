#!/usr/bin/env python3
"""Device code of DeepSpeed's CUDA sources for AMD's GPUs: hipified and compiled by dsbuild, and again without it, by torch's
hipify as DeepSpeed calls it, with the flags of DeepSpeed's builders. The same files compile, and their images are the same, byte
for byte. Hipify and flags only: there is no torch for ROCm here, headers are those of tests/support/rocm_torch.py.

`--table` prints the table of docs/guides/hip.md. DSBUILD_OPS names ops, for a part of it. Exits with 77 without torch, DeepSpeed's
sources, a HIP toolchain or Ninja.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import testspace  # noqa: E402
from rocm_torch import home_of, make_rocm_torch  # noqa: E402

VERSION, ROCM = "0.19.8", "6.3"
ARCHS = ["gfx90a", "gfx942"]
OPS = (os.environ.get("DSBUILD_OPS") or "fused_adam,fused_lamb,fused_lion,fp_quantizer,quantizer,random_ltd,ragged_ops,"
       "spatial_inference,transformer,transformer_inference").split(",")
# Of csrc, and of no op for HIP.
OTHERS = {f"deepspeed/ops/csrc/deepspeed4science/evoformer_attn/{name}.cu": "its op is for CUDA alone: it is made of CUTLASS"
          for name in ("attention_back", "attention_cu")}
# As in deepspeed_flags.py: dsbuild does not take sources with it.
FAULT = ("deepspeed/ops/csrc/fp_quantizer/fp_quantize_impl.cu", "constexpr int q_exponent_bits = total_q_bits - mantisa_bits - 1;")

# As DeepSpeed's hipify_extension, in a copy (op_builder/builder.py).
HIPIFY = """
import importlib.util, os, sys
sys.dont_write_bytecode = True
package, root, folders, *sources = sys.argv[1:]
spec = importlib.util.spec_from_file_location("hipify", package + "/__init__.py", submodule_search_locations=[package])
sys.modules["hipify"] = importlib.util.module_from_spec(spec)
from hipify import hipify_python
files = [os.path.join(root, source) for source in sources]
done = hipify_python.hipify(project_directory=root, output_directory=root, header_include_dirs=folders.split(":"),
                            includes=[os.path.join(root, "*")], extra_files=files, show_detailed=False, is_pytorch_extension=True,
                            hipify_extra_files_only=True, show_progress=False)
for file in files:
    made = done[file].hipified_path or file
    if made != file:
        os.replace(made, file)
"""


def path_of(variable):
    value = os.environ.get(variable, "")
    if not value or not os.path.exists(value):
        testspace.skip(f"{variable} names nothing that is there (scripts/test.sh sets it): '{value}'")
    return pathlib.Path(value)


def first_error(text):
    found = re.search(r"^.*?: (?:fatal )?error: (.*)$", text, re.M)
    assert found, text
    return found.group(1).replace("|", "\\|")


def copy_sources(real, place):
    """What the builders read, without the fault."""
    for name in ("deepspeed", "op_builder", "accelerator", "csrc", "version.txt"):
        if (real / name).is_dir():
            shutil.copytree(real / name, place / name, symlinks=True)
        elif (real / name).exists():
            shutil.copy(real / name, place / name)
    path, line = FAULT
    text = (place / path).read_text()
    assert line in text
    (place / path).write_text(text.replace(line, ""))
    return place


class Machine:
    def __init__(self, root):
        self.root = root
        self.hip, self.torch = path_of("DSBUILD_HIP"), path_of("DSBUILD_TORCH_PYTHON")
        self.ninja = path_of("DSBUILD_NINJA")
        real = path_of("DSBUILD_DEEPSPEED_SOURCES") / VERSION
        if not real.is_dir():
            testspace.skip(f"no sources of DeepSpeed {VERSION} in {real}")
        (root / "sources").mkdir()
        self.sources = copy_sources(real, root / "sources")
        self.python = make_rocm_torch(root, self.torch, version=f"2.11.0+rocm{ROCM}")
        self.include = [root / "site/torch/include", root / "site/torch/include/torch/csrc/api/include"]

    def run(self, command, **options):
        return subprocess.run(list(map(str, command)), check=False, text=True, stdout=subprocess.PIPE,
                              stderr=options.pop("stderr", subprocess.STDOUT), **options)


class ByDsbuild:
    """{(source, arch): the image, or why there is none}"""

    def __init__(self, machine):
        self.machine, self.build = machine, machine.root / "build"
        self.images, self.reasons = {}, dict(OTHERS)
        self.write_graph()
        self.compile()

    def write_graph(self):
        """The plan as build.ninja has it, by a Ninja that does nothing."""
        stand_in = self.machine.root / "ninja"
        stand_in.write_text(f"#!/bin/sh\ncase \"$*\" in *--version*) exec {self.machine.ninja} --version;; esac\n")
        stand_in.chmod(0o755)
        environment = {**testspace.base_environment(self.machine.root / "home", self.machine.root / "cache"),
                       "DSBUILD_NINJA": str(stand_in)}
        self.run = self.machine.run(
            [testspace.dsbuild_program(), "build", "--pack", "deepspeed", "--source", self.machine.sources, "--python",
             self.machine.python, "--arch", ";".join(ARCHS), "--rocm-home", self.machine.hip, "--ops", ",".join(OPS),
             "--build-dir", self.build, "--out", self.machine.root / "out"], env=environment)
        self.graph = (self.build / "build.ninja").read_text()

    def compile(self):
        outputs = re.findall(r"^build (obj/\S+\.co) ", self.graph, re.M)
        assert outputs, self.run.stdout
        done = self.machine.run([self.machine.ninja, "-C", self.build, "-k", "0", "-j", "2", *outputs])
        failed = {re.search(r"obj/\S+\.co", block).group(): first_error(block) for block in done.stdout.split("FAILED: ")[1:]}
        for output in outputs:
            source = re.search(r"^build " + re.escape(output) + r" .*?: hip_slice hipify/\w+/(\S+)", self.graph, re.M).group(1)
            key = (output.split("/")[1].removesuffix(".hip"), source, output.split(".")[-2])
            if (self.build / output).exists():
                self.images[key] = (self.build / output).read_bytes()
            else:
                self.reasons[key] = failed[output]

    def keys(self):
        return sorted({*self.images, *(key for key in self.reasons if isinstance(key, tuple))})


class ByHand:
    """The same without dsbuild."""

    def __init__(self, machine):
        self.machine, self.root = machine, machine.root / "by_hand"
        # ROCm is DeepSpeed's accelerator "cuda".
        asked = machine.run([machine.torch, "-B", HERE / "deepspeed_hip_ask.py", ROCM], cwd=machine.sources,
                            env={**os.environ, "DS_ACCELERATOR": "cuda"}, stderr=subprocess.DEVNULL)
        self.ops = json.loads(asked.stdout)
        self.package = home_of(machine.torch) / "utils" / "hipify"
        self.python_include = machine.run([machine.torch, "-c", "import sysconfig; print(sysconfig.get_path('include'))"]).stdout.strip()

    def below_root(self, path):
        """DeepSpeed names its sources by other roots: those of a checkout."""
        path = path.removeprefix("deepspeed/")
        return f"deepspeed/ops/{path}" if path.startswith("csrc/") else f"deepspeed/{path}"

    def hipified(self, op):
        tree = self.root / "hipify" / op
        if not tree.exists():
            shutil.copytree(self.machine.sources / "deepspeed", tree / "deepspeed", symlinks=True)
            sources = sorted(map(self.below_root, self.ops[op]["sources"]))
            folders = ":".join(map(self.below_root, self.ops[op]["include_dirs"]))
            done = self.machine.run([self.machine.torch, "-I", "-c", HIPIFY, self.package, tree, folders, *sources])
            assert done.returncode == 0, done.stdout
        return tree.relative_to(self.root)

    def compile(self, op, source, arch):
        """(the image or None, what clang said)"""
        tree, made = self.hipified(op), self.root / "image.co"
        made.unlink(missing_ok=True)
        folders = [f"-I{tree / self.below_root(folder)}" for folder in self.ops[op]["include_dirs"]]
        system = [word for folder in (*self.machine.include, self.python_include) for word in ("-isystem", folder)]
        unit_id = hashlib.sha256(source.encode()).hexdigest()[:16]
        done = self.machine.run(
            [self.machine.hip / "llvm/bin/clang++", f"--rocm-path={self.machine.hip}", "-x", "hip", "-std=c++17",
             *self.ops[op]["flags"], f"-cuid={unit_id}", *folders, *system, f"--offload-arch={arch}", "--cuda-device-only",
             "--no-gpu-bundle-output", "-w", "-c", tree / source, "-o", made], cwd=self.root)
        return made.read_bytes() if made.exists() else None, done.stdout


def table(by_dsbuild):
    """One row for each source: what compiles for which target, and why not."""
    sources = sorted({key[1] for key in by_dsbuild.keys()})
    rows = ["| source | " + " | ".join(ARCHS) + " | why not |", "|---|" + "---|" * (len(ARCHS) + 1)]
    for source in sources:
        keys = [key for key in by_dsbuild.keys() if key[1] == source]
        cells = ["yes" if any(key in by_dsbuild.images for key in keys if key[2] == arch) else "no" for arch in ARCHS]
        why = next((by_dsbuild.reasons[key] for key in keys if key in by_dsbuild.reasons), "")
        rows.append(f"| {source.removeprefix('deepspeed/')} | {' | '.join(cells)} | {why} |")
    rows += [f"| {source.removeprefix('deepspeed/')} | " + "no | " * len(ARCHS) + f"{why} |" for source, why in OTHERS.items()]
    return "\n".join(rows)


class DeepSpeedHipTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="dsbuild-test-")
        cls.machine = Machine(pathlib.Path(cls.folder.name).resolve())
        cls.by_dsbuild, cls.by_hand = ByDsbuild(cls.machine), ByHand(cls.machine)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_images_are_those_of_deepspeeds_flags_and_hipify(self):
        self.assertTrue(self.by_dsbuild.images)
        for op, source, arch in self.by_dsbuild.keys():
            with self.subTest(op=op, source=source, arch=arch):
                image, said = self.by_hand.compile(op, source, arch)
                self.assertEqual(image, self.by_dsbuild.images.get((op, source, arch)), said)

    def test_the_table_of_the_page_is_this_one(self):
        if os.environ.get("DSBUILD_OPS"):
            self.skipTest("DSBUILD_OPS names a part")
        page = (HERE.parent.parent / "docs" / "guides" / "hip.md").read_text()
        self.assertIn(table(self.by_dsbuild), page)

    def test_no_source_was_written_to(self):
        made = [path for path in (self.machine.sources / "deepspeed").rglob("*") if "_hip." in path.name or path.suffix == ".hip"]
        self.assertEqual(made, [])


if __name__ == "__main__":
    testspace.dsbuild_program()
    if sys.argv[1:] == ["--table"]:
        with tempfile.TemporaryDirectory(prefix="dsbuild-test-") as folder:
            print(table(ByDsbuild(Machine(pathlib.Path(folder).resolve()))))
        sys.exit()
    unittest.main(verbosity=2)
