#!/usr/bin/env python3
"""Packages of PyPI as they are, from the source distribution to modules that Python imports: by `dsbuild build --inplace`, by
DSBUILD=1 pip install and by `dsbuild wrap -- pip install`."""

import pathlib
import re
import shlex
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]
import packages_of_field  # noqa: E402
from cli import CliTest, testspace  # noqa: E402
from cuobjdump import extract_images, find_cuobjdump  # noqa: E402
from pypi import PackageSpace, built_by_the_hook  # noqa: E402

# Each with what it must print where no GPU is, by hand. The nearest falling sequence, by least squares:
SORT = """
import torch
from torchsort import isotonic_cpu, isotonic_cuda
print(isotonic_cpu.isotonic_l2(torch.tensor([[3., 1., 2.]])).tolist())
"""
SORTED = "[[3.0, 1.5, 1.5]]"
# At a quarter of the way from the first of two knots to the second.
SPLINE = """
import sys, torch
torch.ops.load_library(sys.path[1] + "/torch_spline_conv/_basis_cuda.so")
basis, index = torch.ops.torch_spline_conv.spline_basis(torch.tensor([[.25]]), torch.tensor([2]), torch.tensor([1], dtype=torch.uint8), 1)
print(sorted(zip(index[0].tolist(), basis[0].tolist())))
"""
BASIS = "[(0, 0.75), (1, 0.25)]"
SCATTER = """
import torch, torch_scatter
print(torch_scatter.scatter(torch.tensor([1., 2., 4.]), torch.tensor([0, 1, 0]), reduce="sum").tolist())
"""
SCATTERED = "[5.0, 2.0]"


def compile_alone(space, said, source, output):
    """The images that nvcc itself makes, by the command for that source in what a build said."""
    line = next(line for line in said.splitlines() if f"{source}.cu" in line and " -c " in line and "-gencode" in line)
    words = shlex.split(line)
    flags = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
    left, skips = [], {"-o": 1, "--dependency-output": 1, "-MF": 1, "--generate-dependencies-with-compile": 0, "-MMD": 0, "-MD": 0,
                       "-c": 0}
    while flags:
        word = flags.pop(0)
        if word in skips:
            del flags[:skips[word]]
        else:
            left.append(word)
    space.checked(space.toolkit.home / "bin" / "nvcc", *left, "-fatbin", "-o", output)
    return extract_images(find_cuobjdump(), output)


class PackageBuildsTest(CliTest):
    @testspace.deep
    def test_an_extension_for_the_cpu_and_one_with_cuda(self):
        space = PackageSpace()
        for way in (self.build_torchsort, self.install_torchsort):
            with self.subTest(way.__name__):
                self.check_torchsort(space, way(space))

    def build_torchsort(self, space):
        source = space.unpack("torchsort==0.1.10", "built")
        space.build_in_place(source)
        return source

    def install_torchsort(self, space):
        hooked = space.pip_install(space.unpack("torchsort==0.1.10", "hooked"), "by_hook", DSBUILD="1")
        self.assertEqual(built_by_the_hook(hooked), ["torchsort.isotonic_cpu", "torchsort.isotonic_cuda"])
        return space.root / "by_hook"

    def check_torchsort(self, space, folder):
        self.assertEqual(space.ask(folder, SORT), SORTED)
        cuda, cpu = (next((folder / "torchsort").glob(f"isotonic_{kind}*.so")) for kind in ("cuda", "cpu"))
        self.assertEqual((space.archs(cuda), space.archs(cpu)), ({"sm_80"}, set()))
        return cuda

    @testspace.deep
    def test_wrap_makes_what_nvcc_makes_and_the_next_checkout_takes_it_from_the_cache(self):
        space = PackageSpace()
        compiles = "dsbuild: 1 CUDA compile: {} from the cache, {} in slices, 0 whole and kept, 0 left to nvcc"
        for way, ends in (("first", (0, 1)), ("second", (1, 0))):
            wrapped = space.pip_install(space.unpack("torchsort==0.1.10", way), f"by_{way}", space.program, "wrap", "--")
            self.assertIn(compiles.format(*ends), wrapped)
            expected = compile_alone(space, wrapped, "isotonic_cuda", space.root / "alone.fatbin")
            self.assertEqual([name for name, _ in expected], ["sm_80.cubin"])
            module = self.check_torchsort(space, space.root / f"by_{way}")
            self.assertEqual(extract_images(find_cuobjdump(), module), expected)

    @testspace.deep
    def test_a_library_of_torchs_operators(self):
        """It is no module of Python's: torch loads it."""
        space = PackageSpace(FORCE_ONLY_CUDA="1")
        source = {way: space.unpack("torch-spline-conv==1.2.2", way) for way in ("built", "hooked", "wrapped")}
        space.build_in_place(source["built"])
        hooked = space.pip_install(source["hooked"], "by_hook", DSBUILD="1")
        self.assertIn("torch_spline_conv._basis_cuda", built_by_the_hook(hooked))
        space.pip_install(source["wrapped"], "by_wrap", space.program, "wrap", "--")
        for folder in (source["built"], space.root / "by_hook", space.root / "by_wrap"):
            with self.subTest(folder):
                self.assertEqual(space.ask(folder, SPLINE), BASIS)
                self.assertEqual(space.archs(folder / "torch_spline_conv/_basis_cuda.so"), {"sm_80"})

    # Those that need no GPU; they are in the source distributions.
    @testspace.deep
    def test_torch_discounted_cumsum_passes_its_own_tests_as_with_its_own_build(self):
        self.check_own_tests("torch-discounted-cumsum")

    @testspace.deep
    def test_torchlpc_passes_its_own_tests_as_with_its_own_build(self):
        self.check_own_tests("torchlpc")

    @testspace.deep
    def test_torch_harmonics_passes_its_own_tests_as_with_its_own_build(self):
        self.check_own_tests("torch_harmonics")

    def test_all_packages_with_tests_are_run(self):
        named = {name for name, package in packages_of_field.PACKAGES.items() if package.tests}
        self.assertEqual(named, {"torch-discounted-cumsum", "torchlpc", "torch_harmonics"})

    def check_own_tests(self, name):
        package = packages_of_field.PACKAGES[name]
        pinned = f"{name}=={package.version}"
        space = PackageSpace(**package.environment)
        packages_of_field.install_needs(package, space.python, space.root / "needs")
        outcomes = {}
        for way, hook in (("own", {}), ("hooked", {"DSBUILD": "require"})):
            source = space.unpack(pinned, way)
            said = space.pip_install(source, f"by_{way}", **hook)
            self.assertEqual("dsbuild: built " in said, way == "hooked", said[-4000:])
            paths = [space.root / f"by_{way}", space.root / "needs"]
            outcomes[way] = packages_of_field.run_own_tests(package, space.python, source, paths, space.root / "tests", space.environment)
        print(f"{pinned}: {packages_of_field.said_of(outcomes['hooked'], outcomes['own'])}", flush=True)
        self.assertEqual(outcomes["hooked"], outcomes["own"])
        self.assertIn("passed", outcomes["own"].values())
        self.assertNotIn("failed", outcomes["own"].values())
        # Some packages do without their modules: then their tests would show nothing.
        for module in (space.root / "by_hooked").rglob("*.so"):
            module.unlink()
        without = packages_of_field.run_own_tests(package, space.python, source, paths, space.root / "tests", space.environment)
        self.assertNotEqual(without, outcomes["own"])

    @testspace.deep
    def test_torch_scatter(self):
        space = PackageSpace()
        said = space.pip_install(space.unpack("torch-scatter==2.1.2", "source"), "into", DSBUILD="1")
        built = built_by_the_hook(said)
        self.assertEqual(len(built), 8, said[-8000:])
        self.assertNotIn("the project's own build_ext", said)
        for module in built:
            self.assertEqual(space.archs(space.root / "into" / (module.replace(".", "/") + ".so")),
                             {"sm_80"} if re.search("(scatter|segment_coo|segment_csr)_cuda$", module) else set(), module)
        self.assertEqual(space.ask(space.root / "into", SCATTER), SCATTERED)


if __name__ == "__main__":
    testspace.main()
