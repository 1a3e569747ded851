#!/usr/bin/env python3
"""evoformer_attn's library holds a kernel family exactly where some architecture of the library can choose it, and no
command line names an architecture but by -gencode."""

import collections
import json
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import TestSpace, testspace  # noqa: E402

OP = "evoformer_attn"
FAMILY_SOURCE = re.compile(r"evoformer_attn/family_(\d+)\.cu")
# A kernel carries its family's name: dsbuild::ops::forward_kernel<dsbuild::ops::Sm80, …>.
FAMILY_SYMBOL = re.compile(r"_kernel<dsbuild::ops::Sm(\d+)[,>]")


class OpSpace(TestSpace):
    """The project's own op."""

    def __init__(self, version="11.8"):
        super().__init__("evoformer", version)
        self.environment["TVM_FFI_HOME"] = testspace.find_tvm_ffi()

    def op(self, *words, arch):
        return self.run(*words, "--ops", OP, "--arch", arch, "--cuda-home", str(self.toolkit.home), "--out",
                        str(self.out), "--build-dir", str(self.build_dir), "-j", "2")


class PlanTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.space = OpSpace()

    def families(self, arch):
        """{family: its archs} by the plan."""
        run = self.space.op("plan", "--json", arch=arch)
        self.assertEqual(run.code, 0, run)
        op = next(op for op in json.loads(run.out)["ops"] if op["name"] == OP)
        found = ((FAMILY_SOURCE.fullmatch(source["path"]), source["archs"]) for source in op["sources"])
        return {match.group(1): archs for match, archs in found if match and archs}

    def test_a_family_is_built_for_the_archs_that_choose_it(self):
        for arch, expected in (
                ("7.0", {"70": ["7.0"]}), ("7.5", {"75": ["7.5"]}), ("8.0", {"80": ["8.0"]}),
                ("7.0+PTX", {"70": ["7.0+PTX"]}), ("7.2", {"70": ["7.2"]}), ("8.6;9.0+PTX", {"80": ["8.6", "9.0+PTX"]}),
                ("7.0;7.5;8.0+PTX", {"70": ["7.0"], "75": ["7.5"], "80": ["8.0+PTX"]}),
                ("7.0-virtual;8.0", {"70": ["7.0-virtual"], "80": ["8.0"]})):
            with self.subTest(arch=arch):
                self.assertEqual(self.families(arch), expected)

    def test_below_7_0_it_is_refused_by_name(self):
        run = self.space.op("plan", arch="6.1")
        self.assertEqual(run.code, 3, run)
        self.assertIn("evoformer_attn", run.err)
        self.assertIn(">= 7.0", run.err)


@testspace.deep_but("test_a_library_for_8_0_holds_no_older_family")
class BuildTest(unittest.TestCase):
    """With a real nvcc."""

    def build(self, toolkit, arch):
        space = OpSpace()
        space.use_real_toolkit(toolkit)
        run = space.op(arch=arch)
        self.assertEqual(run.code, 0, run)
        return space

    def kernels(self, space):
        """{family: number of kernels} in the library."""
        run = space.run("inspect", "--kernels", "--json", str(space.out / f"{OP}.so"))
        self.assertEqual(run.code, 0, run)
        names = [kernel["text"] for kernel in json.loads(run.out)["files"][0]["kernels"]]
        return collections.Counter(family for name in names for family in FAMILY_SYMBOL.findall(name))

    def assert_no_arch_macro(self, space):
        """In what nvcc was given: its own steps have some."""
        steps = [file.read_text() for file in (space.build_dir / "tools" / "steps").iterdir()]
        commands = [line for text in steps for line in text.splitlines() if line.startswith("nvcc ")]
        self.assertGreater(len(commands), 0)
        self.assertEqual(re.findall(r" -D\S+", "".join([*commands, (space.build_dir / "build.ninja").read_text()])), [])

    def test_a_library_for_8_0_holds_no_older_family(self):
        space = self.build(testspace.find_real_toolkit(), "8.0")
        self.assertEqual(set(self.kernels(space)), {"80"})
        self.assert_no_arch_macro(space)

    def test_a_library_for_7_0_alone_holds_its_family_alone(self):
        toolkit = os.environ.get("DSBUILD_CUDA_11_8")
        if not toolkit or not os.access(os.path.join(toolkit, "bin", "nvcc"), os.X_OK):
            self.skipTest("no CUDA 11.8 toolkit (DSBUILD_CUDA_11_8)")
        space = self.build(toolkit, "7.0")
        self.assertEqual(set(self.kernels(space)), {"70"})
        self.assert_no_arch_macro(space)


if __name__ == "__main__":
    testspace.main()
