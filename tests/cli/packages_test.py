#!/usr/bin/env python3
"""Packages of PyPI as they are: `dsbuild new --from` their source distributions, and the packs plan as they were written. By
torch's own Python and a real nvcc; a distribution that pip cannot fetch is skipped with its reason."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from pypi import fetch  # noqa: E402
from real_torch_test import find_torch_python  # noqa: E402

# Read from their setup.py files by hand: extensions, translation units, archs in their flags with CUDA 13, a module's file.
PACKAGES = {
    "exllamav2==0.0.4": (1, 11, "", "exllamav2_ext"),
    "causal-conv1d==1.7.0": (1, 4, "7.5;8.0;8.7;9.0;10.0;12.0;10.3;11.0;12.1", "causal_conv1d_cuda"),
    "torch-scatter==2.1.2": (8, 17, "", "torch_scatter._scatter_cuda .so"),
    "torch-cluster==1.6.3": (18, 39, "", "torch_cluster._knn_cuda .so"),
    "gsplat==1.5.3": (1, 29, "", "gsplat.csrc .so"),
    "flash-attn==2.8.3.post2": (1, 73, "8.0;9.0;10.0;12.0", "flash_attn_2_cuda"),
    "mamba-ssm==2.3.2.post1": (1, 10, "7.5;8.0;8.7;9.0;10.0;12.0;10.3;11.0;12.1", "selective_scan_cuda"),
    "xformers==0.0.35": (1, 13, "", "xformers._C .so"),
    "mmcv==2.2.0": (1, 136, "", "mmcv._ext"),
    "torch-sparse==0.6.18": (24, None, "", "torch_sparse._spmm_cuda .so"),
    "torch-spline-conv==1.2.2": (6, None, "", "torch_spline_conv._basis_cuda .so"),
    "torch-points-kernels==0.7.0": (2, None, "", "torch_points_kernels.points_cuda .so"),
}


class PackagesTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.python = find_torch_python()
        cls.space = TestSpace()
        cls.space.use_real_toolkit()
        cls.options = ["--python", cls.python, "--cuda-home", str(cls.space.toolkit.home)]

    def check_package(self, package):
        extensions, units, archs, module = PACKAGES[package]
        pack = package.split("==")[0]
        made = self.space.run("new", "--from", str(fetch(package, self.python)), "--pack", f"./{pack}", "--json", *self.options)
        self.assertEqual(made.code, 0, made)
        said = json.loads(made.out)
        self.assertEqual((said["ops"], said["archs"]), (extensions, archs), made)
        self.assertEqual([line for line in said["said"] if "left out" in line], [])
        text = (self.space.root / pack / "pack.yaml").read_text()
        name, _, suffix = module.partition(" ")
        self.assertIn(f"    module: {name}\n" + (f"    module_suffix: {suffix}\n" if suffix else ""), text)
        plan = self.space.run("plan", "--pack", f"./{pack}", "--ops", "all", "--strict", "--json", "--build-dir", f"b_{pack}",
                              *(["--arch", archs] if archs else []), *self.options)
        self.assertEqual(plan.code, 0, plan)
        ops = json.loads(plan.out)["ops"]
        self.assertEqual({op["status"] for op in ops}, {"build"})
        planned = sum(len(op["sources"]) for op in ops)
        print(f"{package}: {len(ops)} extensions, {planned} translation units, archs {archs or 'as asked'}", flush=True)
        if units is not None:
            self.assertEqual(planned, units)


for each in PACKAGES:
    setattr(PackagesTest, "test_" + each.split("==")[0].replace("-", "_"), lambda self, package=each: self.check_package(package))


if __name__ == "__main__":
    testspace.main()
