#!/usr/bin/env python3
"""Against an installed torch and a real nvcc: two of DeepSpeed's own ops are built, imported and right, what dsbuild reads
from torch's files is what the imported torch says, and its flags are those of torch.utils.cpp_extension. 77: no torch, no
CUDA 13 or no sources of DeepSpeed are installed by the scripts."""

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402

ASK_TORCH = """
import json, os, sysconfig, torch
from torch.utils import cpp_extension
os.environ.setdefault("CUDA_HOME", "/nowhere")
cuda = cpp_extension.CUDAExtension("pkg.some_op", [])
print(json.dumps({
    "version": torch.__version__, "cuda": torch.version.cuda or "", "hip": torch.version.hip or "",
    "cxx11_abi": bool(torch._C._GLIBCXX_USE_CXX11_ABI), "ext_suffix": sysconfig.get_config_var("EXT_SUFFIX"),
    "nvcc": cpp_extension.COMMON_NVCC_FLAGS, "include": cpp_extension.include_paths(),
    "cpu_libraries": cpp_extension.CppExtension("pkg.some_op", []).libraries, "cuda_libraries": cuda.libraries}))
"""
# The bytes of a tensor without a copy, for which torch has its own.
CAST = """
import torch, utils_op
tensors = [torch.arange(6, dtype=torch.float32), torch.tensor([1, -2], dtype=torch.int64), torch.ones(3).bfloat16()]
for tensor, bytes in zip(tensors, utils_op.cast_to_byte_tensor(tensors), strict=True):
    assert torch.equal(bytes, tensor.view(torch.uint8)) and bytes.data_ptr() == tensor.data_ptr()
"""
IMPORT_ADAM = "import torch, fused_adam_op; print(*(name for name in dir(fused_adam_op) if name[0] != '_'))"


def find(variable, default):
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    found = pathlib.Path(os.environ.get(variable) or cache / "dsbuild" / default)
    if not found.exists():
        testspace.skip(f"{found} is not there ({variable})")
    return str(found)


def find_torch_python():
    """The Python with torch."""
    return find("DSBUILD_TORCH_PYTHON", "torch/venv/bin/python")


class RealTorchTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.python = find_torch_python()
        cls.torch = json.loads(subprocess.check_output([cls.python, "-c", ASK_TORCH]))
        cls.space = TestSpace()
        cls.space.use_real_toolkit()
        source = pathlib.Path(find("DSBUILD_DEEPSPEED_SOURCES", "deepspeed")) / "0.19.8"
        cls.built = cls.space.run(
            "--pack", "deepspeed", "--source", str(source), "--ops", "fused_adam,utils", "--arch", "8.0", "--python",
            cls.python, "--cuda-home", testspace.find_real_toolkit(), "--out", str(cls.space.out), "--build-dir",
            str(cls.space.build_dir), "-j", "2", timeout=500)
        graph = (cls.space.build_dir / "build.ninja").read_text().replace("$\n    ", "")
        cls.edges = {re.split(" [|]|:", block)[0]: block for block in graph.split("\nbuild ")}

    def imported(self, op, script):
        """What the script prints, which imports the op's module by its last name."""
        module = self.space.root / f"{op}_op{self.torch['ext_suffix']}"
        module.write_bytes((self.space.out / f"{op}.so").read_bytes())
        run = subprocess.run([self.python, "-c", script], cwd=self.space.root, text=True, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(run.returncode, 0, run.stdout)
        return run.stdout

    def compiled(self, name):
        """What the file's edge runs; of a slice, what its step says."""
        edge = next(text for output, text in self.edges.items() if output.startswith("obj/") and f"/{name}/" in output)
        step = re.search(r"^  step = (\S+)", edge, re.M)
        return edge + ((self.space.build_dir / step[1]).read_text() if step else "")

    def libraries(self, op):
        words = self.edges[f"lib/{op}.so"].replace("-l:libcudart.so.13", "-lcudart").split()
        return {word.removeprefix("-l") for word in words if word.startswith("-l")}

    def test_the_ops_are_built_and_the_manifest_says_which_torch_they_are_for(self):
        self.assertEqual(self.built.code, 0, self.built)
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        says = {name: self.torch[name] for name in ("version", "cuda", "hip", "cxx11_abi", "ext_suffix")}
        self.assertEqual({name: manifest["torch"][name] for name in says}, says)
        self.assertRegex(manifest["torch"]["python"], r"^cp3\d+$")

    def test_utils_casts_as_torch_does(self):
        self.imported("utils", CAST)

    def test_fused_adam_is_imported_without_a_gpu(self):
        self.assertEqual(self.imported("fused_adam", IMPORT_ADAM).split(), ["multi_tensor_adam"])

    def test_the_flags_are_torch_s(self):
        words = self.compiled("tensor_cast.cpp").split()
        searched = [os.path.realpath(self.space.build_dir / folder) for word, folder in zip(words, words[1:]) if word == "-isystem"]
        for folder in self.torch["include"]:
            self.assertIn(os.path.realpath(folder), searched)
        for flag in self.torch["nvcc"]:
            self.assertIn(flag, self.compiled("multi_tensor_adam.cu"))
        self.assertEqual(self.libraries("utils"), set(self.torch["cpu_libraries"]))
        self.assertEqual(self.libraries("fused_adam"), set(self.torch["cuda_libraries"]))


if __name__ == "__main__":
    testspace.main()
