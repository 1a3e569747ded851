#!/usr/bin/env python3
"""Against an installed torch: what dsbuild reads from its files is what the imported torch says, its flags are those of
torch.utils.cpp_extension, and a module that it built is imported and works on tensors. 77: no torch is installed by the scripts."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack  # noqa: E402

ASK_TORCH = """
import json, os, sysconfig, torch
from torch.utils import cpp_extension
os.environ.setdefault("CUDA_HOME", "/nowhere")
cuda = cpp_extension.CUDAExtension("pkg.twice_op", [])
print(json.dumps({
    "version": torch.__version__, "cuda": torch.version.cuda or "", "hip": torch.version.hip or "",
    "cxx11_abi": bool(torch._C._GLIBCXX_USE_CXX11_ABI), "ext_suffix": sysconfig.get_config_var("EXT_SUFFIX"),
    "nvcc": cpp_extension.COMMON_NVCC_FLAGS, "include": cpp_extension.include_paths(),
    "cpu_libraries": cpp_extension.CppExtension("pkg.twice_op", []).libraries, "cuda_libraries": cuda.libraries}))
"""
TWICE = """#include <torch/extension.h>
torch::Tensor twice(torch::Tensor x) { return x * 2; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }
"""


def find_python():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    python = os.environ.get("DSBUILD_TORCH_PYTHON") or cache / "dsbuild" / "torch" / "venv" / "bin" / "python"
    if not os.access(python, os.X_OK):
        testspace.skip("no torch is installed (DSBUILD_TORCH_PYTHON)")
    return str(python)


def make_pack(folder):
    pack = Pack(folder, "real")
    torch = {"module": "pkg.twice_op", "requires": [{"torch": ">=2.0"}], "flags": {"cxx": ["-O0"]}}
    pack.add_op("twice", {"twice.cpp": TWICE}, {"backend": "cpu", **torch})
    pack.add_op("device", {"device.cu": "// export: device_run\n"}, {**torch, "flags": {}})
    return pack


class RealTorchTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.python = find_python()
        cls.space = TestSpace(pack=make_pack)
        cls.torch = json.loads(subprocess.run([cls.python, "-c", ASK_TORCH], check=True, capture_output=True).stdout)

    def edges(self):
        """The commands of the graph, by output."""
        file = self.space.build_dir / "build.ninja"
        return {block.split(":")[0]: block for block in file.read_text().replace("$\n    ", "").split("\nbuild ")}

    def test_a_module_is_built_imported_and_right(self):
        run = self.space.build("--ops", "twice", "--python", self.python, timeout=600)
        self.assertEqual(run.code, 0, run)
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        says = {name: self.torch[name] for name in ("version", "cuda", "hip", "cxx11_abi", "ext_suffix")}
        self.assertEqual({name: manifest["torch"][name] for name in says}, says)
        self.assertRegex(manifest["torch"]["python"], r"^cp3\d+$")
        library = self.space.root / ("twice_op" + self.torch["ext_suffix"])
        library.write_bytes((self.space.out / "twice.so").read_bytes())
        script = "import torch, twice_op; print(twice_op.twice(torch.tensor([1.5, -2.0])).tolist())"
        answer = subprocess.run([self.python, "-c", script], cwd=self.space.root, check=True, capture_output=True)
        self.assertEqual(answer.stdout.decode().strip(), "[3.0, -4.0]")
        edges = self.edges()
        compiled = next(text for output, text in edges.items() if output.startswith("obj/twice/"))
        for folder in self.torch["include"]:
            self.assertIn(f"-isystem {folder} ", compiled)
        self.assertEqual(self.libraries(edges["lib/twice.so"]), self.torch["cpu_libraries"])

    def test_the_flags_of_a_cuda_extension_are_torch_s(self):
        if not self.torch["cuda"]:
            self.skipTest("this torch is built without CUDA")
        # No compiler is needed to write the graph; the fake nvcc's object links with nothing.
        self.space.build("--ops", "device", "--python", self.python)
        text = (self.space.build_dir / "build.ninja").read_text()
        for flag in self.torch["nvcc"]:
            self.assertIn(flag, text)
        self.assertEqual(set(self.libraries(self.edges()["lib/device.so"])), set(self.torch["cuda_libraries"]))

    def libraries(self, edge):
        return [word.removeprefix("-l") for word in edge.replace("-l:libcudart.so.13", "-lcudart").split()
                if word.startswith("-l")]


if __name__ == "__main__":
    testspace.main()
