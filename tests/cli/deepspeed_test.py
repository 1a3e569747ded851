#!/usr/bin/env python3
"""Pack deepspeed without DeepSpeed: its specs over a tree of empty sources, a fake torch and a fake toolkit. Which ops
there are, from which sources, for which architectures; what is skipped and why; where the sources are found."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402
from deepspeed_ops import CPU_OPS, OPS  # noqa: E402
from distributions import EXTENSION, edit_manifest  # noqa: E402
from fake_rocm import make_fake_rocm  # noqa: E402

sys.path.insert(0, str(testspace.TESTS / "fakes" / "torch"))
from fake_torch import make_fake_torch  # noqa: E402

SPECS = REPOSITORY / "ops" / "deepspeed"

# What most machines lack, or have in places of their own.
ELSEWHERE = ["async_io", "cutlass_ops", "dc", "deepspeed_ccl_comm", "evoformer_attn", "gds", "ragged_device_ops"]


def make_tree(root, version):
    """Every file and folder that the specs name for this version, empty."""
    for spec in SPECS.glob("*/op.yaml"):
        lines = spec.read_text().splitlines()
        if version != "0.19.6" and any(line.startswith('when: {source: "<0.19.8"') for line in lines):
            continue
        for line in lines:
            if version != "0.19.6" and '"<0.19.8"' in line:
                continue
            for path in re.findall(r"(?<![\w/])deepspeed/[\w./]+", line):
                place = root / path
                if place.suffix:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_text("")
                else:
                    place.mkdir(parents=True, exist_ok=True)
    (root / "deepspeed" / "__init__.py").write_text("")
    return root


class DeepSpeedSpace(TestSpace):
    """A toolkit, a Python with torch, and a source tree."""

    def __init__(self, version="0.19.8", cuda="13.0", torch_cuda=True, steps=False):
        super().__init__(version=cuda, steps=steps)
        (self.toolkit.home / "lib64" / "libcudart.so").write_text("/* a library without symbols */\n")
        label = f"cu{cuda.replace('.', '')}" if torch_cuda else "cpu"
        self.torch = make_fake_torch(self.root / "python", f"2.11.0+{label}", cuda if torch_cuda else None)
        self.tree = make_tree(self.root / "tree", version)
        (self.tree / "version.txt").write_text(version + "\n")
        self.environment["CUTLASS_PATH"] = str(self.root / "absent")
        self.arch = "7.5;8.0+PTX"

    def words(self, *more):
        """As arguments(), for this pack."""
        given = {"--pack": "deepspeed", "--source": self.tree, "--python": self.torch.python, "--arch": self.arch,
                 "--cuda-home": self.toolkit.home, "--out": self.out, "--build-dir": self.build_dir, "--ops": "all"}
        return [*map(str, more), *(str(word) for option, value in given.items() if option not in more
                                   for word in (option, value))]

    def without(self, *options):
        """The words without these options."""
        words = self.words()
        for option in options:
            at = words.index(option)
            words = words[:at] + words[at + 2:]
        return words


class DeepSpeedTest(CliTest):
    def planned(self, space, *more, **options):
        run = space.run("plan", "--json", *space.words(*more), **options)
        self.assertEqual(run.code, 0, run)
        return {op["name"]: op for op in json.loads(run.out)["ops"]}


class OpsTest(DeepSpeedTest):
    @classmethod
    def setUpClass(cls):
        cls.space = DeepSpeedSpace(steps=True)

    def test_the_ops_are_those_of_deepspeed(self):
        self.assertEqual(set(self.planned(self.space)), set(OPS))

    def test_each_op_has_its_module(self):
        modules = {op: re.search(r"^module: (\S+)$", (SPECS / op / "op.yaml").read_text(), re.M)[1] for op in OPS}
        self.assertEqual(modules, {op: row[0] for op, row in OPS.items()})

    def test_each_op_has_its_sources_and_archs(self):
        planned = self.planned(self.space)
        for op, (_, sources, device, archs) in OPS.items():
            if planned[op]["status"] != "build":
                self.assertIn(op, ELSEWHERE, planned[op]["reason"])
                continue
            with self.subTest(op=op):
                paths = [source["path"] for source in planned[op]["sources"]]
                self.assertEqual((len(paths), sum(path.endswith(".cu") for path in paths)), (sources, device))
                self.assertEqual(planned[op]["archs"], archs)

    def test_the_plan_of_what_needs_torch_alone(self):
        names = ",".join(["all", *("-" + op for op in ELSEWHERE)])
        self.check_alone("deepspeed_plan", self.space, "plan", "-j", "2", *self.space.words("--ops", names), code=0)

    def test_the_older_version_has_one_source_more(self):
        older = self.planned(DeepSpeedSpace("0.19.6"))
        self.assertEqual(set(older), set(OPS))
        self.assertEqual(len(older["quantizer"]["sources"]), 7)


class RocmTest(DeepSpeedTest):
    """Beside a torch for ROCm, whose hipify is an empty file: which ops there are, and with which flags."""

    def setUp(self):
        self.space = DeepSpeedSpace()
        self.rocm = make_fake_rocm(self.space.root / "rocm", "gfx90a", "gfx942", "gfx1100")
        self.space.torch.write_version("2.11.0+rocm6.3", hip="6.3.42134")
        (self.space.torch.home / "utils" / "hipify").mkdir()
        (self.space.torch.home / "utils" / "hipify" / "hipify_python.py").write_text("")

    def words(self, *more, arch="gfx90a,gfx942"):
        words = self.space.words("--arch", arch, "--rocm-home", self.rocm, *more)
        at = words.index("--cuda-home")
        return words[:at] + words[at + 2:]

    def planned_for(self, arch):
        run = self.space.run("plan", "--json", *self.words(arch=arch))
        self.assertEqual(run.code, 0, run)
        return {op["name"]: op for op in json.loads(run.out)["ops"]}

    def test_the_plan(self):
        names = ",".join(["all", "-async_io", "-deepspeed_ccl_comm"])
        self.check_alone("deepspeed_rocm_plan", self.space, "plan", "-j", "2", *self.words("--ops", names), code=0)

    def test_lists_with_both_sizes_of_wavefronts_leave_out_what_is_compiled_for_one(self):
        planned = self.planned_for("gfx90a,gfx1100")
        self.assertEqual(planned["quantizer"]["reason"], "its host code is compiled for one size of wavefronts: "
                         "gfx1100 has 32, gfx90a has 64 lanes")
        self.assertEqual(planned["fused_adam"]["status"], "build")
        self.assertEqual(self.planned_for("gfx1100")["quantizer"]["status"], "build")

    def test_without_a_list_it_is_built_for_amds_gpus(self):
        words = self.words()
        at = words.index("--arch")
        run = self.space.run("plan", "--json", *words[:at], *words[at + 2:])
        self.assertEqual(run.code, 0, run)
        planned = {op["name"]: op for op in json.loads(run.out)["ops"]}
        self.assertEqual(planned["fused_adam"]["status"], "build")
        self.assertIn("gfx90a", planned["fused_adam"]["archs"])

    def test_a_torch_for_cuda_is_refused(self):
        self.space.torch.write_version("2.11.0+cu130", cuda="13.0")
        run = self.space.run("plan", *self.words(arch="gfx90a"))
        self.assertEqual(run.code, 3, run)
        self.assertIn("fused_adam: torch 2.11.0+cu130 is built for CUDA 13.0", run.err)


class AcceleratorTest(DeepSpeedTest):
    """DeepSpeed has a list of ops for each accelerator."""

    @classmethod
    def setUpClass(cls):
        cls.space = DeepSpeedSpace()

    def test_the_cpu_accelerator_has_the_ops_of_deepspeed(self):
        planned = self.planned(self.space, env={"DS_ACCELERATOR": "cpu"})
        self.assertEqual(set(planned), set(CPU_OPS))
        for op, (_, sources) in CPU_OPS.items():
            if op not in ELSEWHERE:
                self.assertEqual((planned[op]["status"], len(planned[op]["sources"])), ("build", sources), op)

    def test_of_the_older_version(self):
        planned = self.planned(DeepSpeedSpace("0.19.6"), env={"DS_ACCELERATOR": "cpu"})
        self.assertEqual(set(planned), set(CPU_OPS) - {"cpu_adagrad", "cpu_lion"})

    def test_beside_a_torch_without_cuda_it_is_the_accelerator(self):
        self.assertEqual(set(self.planned(DeepSpeedSpace(torch_cuda=False))), set(CPU_OPS))

    def test_its_ops_for_xpu_are_refused(self):
        self.check_alone("accelerator_xpu_deepspeed", self.space, "plan", *self.space.words(), code=3, env={"DS_ACCELERATOR": "xpu"})

    def test_the_manifest_says_which_it_was(self):
        run = self.space.run(*self.space.words("--ops", "fused_adam"), env={"DS_ACCELERATOR": "cpu"})
        self.assertEqual(run.code, 0, run)
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        self.assertEqual((manifest["torch"]["accelerator"], manifest["ops"][0]["backend"]), ("cpu", "cpu"))

    def test_an_op_of_the_other_accelerator(self):
        self.check_alone("op_not_offered", self.space, "plan", *self.space.words("--ops", "deepspeed_shm_comm"), code=3)


class NeverThereTest(DeepSpeedTest):
    """sparse_attn of 0.19.6 is for a torch before 2.0: no skip, for nothing could mend it."""

    @classmethod
    def setUpClass(cls):
        cls.space = DeepSpeedSpace("0.19.6")

    def test_strict_does_not_ask_for_it(self):
        names = ",".join(["all", "-fp_quantizer", *("-" + op for op in ELSEWHERE)])  # it needs triton there
        run = self.space.run("plan", "--strict", *self.space.words("--ops", names))
        self.assertEqual(run.code, 0, run)
        self.assertNotIn("sparse_attn", run.err + run.out)

    def test_switching_it_off_needs_no_warning(self):
        run = self.space.run("plan", *self.space.words(), env={"DS_BUILD_SPARSE_ATTN": "0"})
        self.assertNotIn("sparse_attn", (run.err + run.out).lower())

    def test_asked_for_it_says_why(self):
        for words in (self.space.words("--ops", "sparse_attn"), self.space.words()):
            run = self.space.run("plan", *words, env={"DS_BUILD_SPARSE_ATTN": "1"})
            self.assertEqual(run.code, 3, run)
            self.assertIn("there is no op 'sparse_attn' for torch 2.11.0", run.err)
            self.assertIn("it is for torch <2.0 and sources <0.19.8 and DS_ACCELERATOR=cuda.", run.err)
        run = self.space.run("explain", "sparse_attn", *self.space.words())
        self.assertIn("there is no op 'sparse_attn' for torch 2.11.0", run.err)


class SkipTest(DeepSpeedTest):
    @classmethod
    def setUpClass(cls):
        cls.space = DeepSpeedSpace()

    def test_what_is_missing_skips_the_ops_that_need_it(self):
        planned = self.planned(self.space)
        for op, fix in (("evoformer_attn", "CUTLASS_PATH"), ("cutlass_ops", "pip install deepspeed-kernels"),
                        ("ragged_device_ops", "pip install deepspeed-kernels")):
            self.assertEqual(planned[op]["status"], "skip", op)
            self.assertIn(fix, "".join(each["fix"] for each in planned[op]["requirements"]), op)
        self.assertEqual(planned["inference_core_ops"]["status"], "build")

    def test_an_op_asked_for_by_its_variable_ends_the_build(self):
        self.check_alone("deepspeed_no_cutlass", self.space, "plan", *self.space.without("--ops"), code=3,
                         env={"DS_BUILD_EVOFORMER_ATTN": "1"})
        quantizer = {"DS_BUILD_FP_QUANTIZER": "1"}
        self.check_alone("deepspeed_no_arch", self.space, "plan", "--arch", "7.5", *self.space.without("--ops", "--arch"),
                         code=3, env=quantizer)
        older = DeepSpeedSpace("0.19.6")
        self.check_alone("deepspeed_no_triton", older, "plan", *older.without("--ops"), code=3, env=quantizer)

    def test_libraries_of_a_python_package_are_found_and_loaded_from_beside_the_installed_ops(self):
        space = DeepSpeedSpace()
        kernels = space.home / ".local" / "lib" / "python3.9" / "site-packages" / "dskernels"
        kernels.mkdir(parents=True)
        testspace.compile_shim("int gemm(void) { return 1; }", kernels / "libdeepspeedft.so")
        binding = space.tree / "deepspeed" / "inference" / "v2" / "kernels" / "cutlass_ops" / "cutlass_ops.cpp"
        binding.write_text(EXTENSION.format(name="cutlass_ops") + 'extern "C" int gemm(); int (*used)() = gemm;\n')
        run = space.run(*space.words("--ops", "cutlass_ops"))
        self.assertEqual(run.code, 0, run)
        link = (space.build_dir / "build.ninja").read_text().split("build lib/cutlass_ops.so")[1]
        self.assertRegex(link, "-Lroots/dskernels .*-ldeepspeedft ")
        site = space.root / "elsewhere" / "site-packages"
        shutil.copytree(kernels, site / "dskernels")
        edit_manifest(space.out)
        run = space.run("install", str(space.out), "--target", str(site))
        self.assertEqual(run.code, 0, run)
        installed = next(site.rglob("cutlass_ops.*.so"))
        loaded = subprocess.run(["ldd", installed], check=True, stdout=subprocess.PIPE, text=True).stdout
        found = re.search(r"libdeepspeedft\.so => (\S+)", loaded)[1]
        self.assertEqual(pathlib.Path(found).resolve(), site / "dskernels" / "libdeepspeedft.so")


class FaultySourceTest(DeepSpeedTest):
    """fp_quantize_impl.cu as it is in 0.19.6 and 0.19.8, in two lines."""

    @classmethod
    def setUpClass(cls):
        cls.space = DeepSpeedSpace()
        cls.source = cls.space.tree / "deepspeed" / "ops" / "csrc" / "fp_quantizer" / "fp_quantize_impl.cu"
        cls.source.write_text("template <int total_q_bits, int mantisa_bits, int q_exponent_bits> __global__ void f() {\n"
                              "    constexpr int q_exponent_bits = total_q_bits - mantisa_bits - 1;\n}\n")

    def test_the_op_is_skipped_with_file_line_and_reason(self):
        op = self.planned(self.space)["fp_quantizer"]
        self.assertEqual(op["status"], "skip")
        self.assertRegex(op["reason"], r"^deepspeed/ops/csrc/fp_quantizer/fp_quantize_impl\.cu:2: it declares .*7976\)$")

    def test_strict_ends_with_exit_3(self):
        names = ",".join(["all", *("-" + op for op in ELSEWHERE)])
        run = self.space.run("plan", "--strict", *self.space.words("--ops", names))
        self.assertEqual(run.code, 3, run)
        self.assertRegex(run.err, r"op skipped: fp_quantizer\n")

    def test_asked_for_by_its_variable_it_ends_the_build(self):
        self.check_alone("faulty_source", self.space, "plan", *self.space.without("--ops"), code=3,
                         env={"DS_BUILD_FP_QUANTIZER": "1"})

    def test_a_mended_source_is_built_without_a_change_of_the_spec(self):
        space = DeepSpeedSpace()
        mended = self.source.read_text().replace("int q_exponent_bits =", "int own_exponent_bits =")
        (space.tree / self.source.relative_to(self.space.tree)).write_text(mended)
        self.assertEqual(self.planned(space)["fp_quantizer"]["status"], "build")

    def test_the_real_sources_have_the_fault(self):
        for source in real_sources():
            with self.subTest(source=source.name):
                op = self.planned(self.space, "--source", source)["fp_quantizer"]
                self.assertRegex(op["reason"], r"fp_quantize_impl\.cu:234: it declares ")


def real_sources():
    """Unpacked source distributions, where the scripts have fetched them."""
    folder = pathlib.Path(os.environ.get("DSBUILD_DEEPSPEED_SOURCES") or "absent")
    sources = sorted(folder.glob("*.*"))
    if not sources:
        raise unittest.SkipTest("no sources of DeepSpeed (DSBUILD_DEEPSPEED_SOURCES)")
    return sources


class BinariesTest(DeepSpeedTest):
    """TORCH_CUDA_ARCH_LIST="7.5;8.0+PTX" DS_BUILD_OPS=1: as people build DeepSpeed, to the images in the libraries."""

    @classmethod
    def setUpClass(cls):
        cls.space = DeepSpeedSpace()
        for library in ("cublas", "curand"):
            (cls.space.toolkit.home / "lib64" / f"lib{library}.so").write_text("/* a library without symbols */\n")
        cls.built = cls.space.run(*cls.space.without("--ops", "--arch"),
                                  env={"TORCH_CUDA_ARCH_LIST": cls.space.arch, "DS_BUILD_OPS": "1"})

    def test_no_op_loses_an_arch_that_it_does_not_filter(self):
        self.assertEqual(self.built.code, 0, self.built)
        inspected = self.space.run("inspect", "--json", str(self.space.out))
        archs = {pathlib.Path(file["file"]).stem: file["archs"] for file in json.loads(inspected.out)["files"]}
        expected = {op: row[3] for op, row in OPS.items() if row[3] and op not in ELSEWHERE}
        self.assertEqual({op: archs.get(op) for op in expected}, expected)

    def test_what_needs_cutlass_or_deepspeed_kernels_is_skipped_and_nothing_else(self):
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        built = {op["name"] for op in manifest["ops"]}
        self.assertEqual(set(OPS) - built - {"async_io", "dc", "gds"},
                         {"cutlass_ops", "evoformer_attn", "ragged_device_ops"}, self.built)
        self.assertEqual(manifest["failed"], [])


class BfloatTest(DeepSpeedTest):
    def features(self, space, *more):
        return {op: planned["features_off"] for op, planned in self.planned(space, *more).items()
                if planned["features_off"]}

    def test_cuda_13_has_bf16_for_every_arch(self):
        self.assertEqual(self.features(DeepSpeedSpace()), {})

    def test_an_older_toolkit_has_it_from_8_0_on(self):
        space = DeepSpeedSpace(cuda="12.8")
        self.assertEqual(self.features(space, "--arch", "8.0;9.0"), {})
        off = self.features(space)
        self.assertEqual(off["quantizer"], ["bf16: off (7.5 in the list)"])
        self.assertNotIn("fp_quantizer", off)
        self.assertNotIn("fused_adam", off)

    def test_plan_report_and_manifest_say_that_it_is_off(self):
        space = DeepSpeedSpace(cuda="12.8")
        run = space.run(*space.words("--ops", "quantizer,cpu_adam"))
        self.assertEqual(run.code, 0, run)
        self.assertIn("without  quantizer: bf16: off (7.5 in the list)", run.err + run.out)
        manifest = json.loads((space.out / "manifest.json").read_text())
        off = {op["name"]: op.get("features_off") for op in manifest["ops"]}
        self.assertEqual(off, {"cpu_adam": None, "quantizer": ["bf16: off (7.5 in the list)"]})
        self.assertEqual(manifest["source_version"], "0.19.8")
        report = space.run("report", *space.words())
        self.assertRegex(report.out, r"(?m)^quantizer .*; bf16: off \(7\.5 in the list\)$")
        self.assertRegex(space.run("explain", "quantizer", *space.words()).out,
                         r"(?m)^without +bf16: off \(7\.5 in the list\)$")
        explained = json.loads(space.run("explain", "quantizer", "--json", *space.words()).out)
        self.assertEqual(explained["features_off"], ["bf16: off (7.5 in the list)"])


class SourceTest(DeepSpeedTest):
    def test_the_installed_package_is_found(self):
        space = DeepSpeedSpace()
        packages = space.torch.root / "lib" / "python3.11" / "site-packages"
        make_tree(packages, "0.19.6")
        (packages / "deepspeed-0.19.6.dist-info").mkdir()
        run = space.run("plan", "--json", *space.without("--source"))
        self.assertEqual(self.quantizer_sources(json.loads(run.out)["ops"]), 7, run)
        inside = self.planned(space, "--source", packages / "deepspeed")
        self.assertEqual(self.quantizer_sources(inside.values()), 7)

    def quantizer_sources(self, ops):
        """7 in 0.19.6, 6 in 0.19.8."""
        return next(len(op["sources"]) for op in ops if op["name"] == "quantizer")

    def test_no_installed_package(self):
        space = DeepSpeedSpace()
        self.check_alone("deepspeed_not_installed", space, "plan", *space.without("--source"), code=3)

    def test_a_variable_of_another_pack_s_op(self):
        space = TestSpace()
        self.check_alone("other_pack", space, "plan", "--pack", "native", "--cuda-home", space.toolkit.home, code=3,
                         env={"DS_BUILD_RAGGED_OPS": "1"})

    def test_the_presets(self):
        space = DeepSpeedSpace()
        for preset in ("deepspeed-docker", "deepspeed-ci"):
            run = space.run("plan", "--config", preset, "-v", "--source", str(space.tree), "--python",
                            str(space.torch.python), "--cuda-home", str(space.toolkit.home), "--arch", "8.0",
                            "--ops", "fused_adam", "--out", str(space.out), "--build-dir", str(space.build_dir))
            self.assertEqual(run.code, 0, run)
            self.assertRegex(run.err + run.out, rf"pack +deepspeed +configs/{preset}\.yaml")


class PageTest(unittest.TestCase):
    def test_the_page_lists_every_op_with_its_variable_and_module(self):
        page = (REPOSITORY / "docs" / "guides" / "deepspeed.md").read_text()
        for op, row in {**CPU_OPS, **OPS}.items():
            spec = (SPECS / op / "op.yaml").read_text()
            named = re.search(r"^build_var: (\S+)$", spec, re.M)
            variable = named[1] if named else "DS_BUILD_" + op.upper()
            self.assertRegex(page, rf"(?m)^\| {op} \| `{variable}` \| .* \| `{re.escape(row[0])}` \|$")


if __name__ == "__main__":
    testspace.main(each_commit=18)
