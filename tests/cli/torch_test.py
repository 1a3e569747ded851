#!/usr/bin/env python3
"""Ops that are Python extensions of torch: found without importing it, built against a fake one, refused where CUDA
versions do not go together or a symbol is missing; and CPU ops that are compiled for a named level of CPU."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack, binding, kernel  # noqa: E402

sys.path.insert(0, str(testspace.TESTS / "fakes" / "torch"))
from fake_torch import LIBRARIES, make_fake_torch  # noqa: E402

NVCC_FLAGS = ["-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
              "-D__CUDA_NO_HALF2_OPERATORS__", "--expt-relaxed-constexpr", "-DTORCH_API_INCLUDE_EXTENSION_H"]
SOURCE = "#include <torch/extension.h>\n"


def make_pack(folder):
    """A CUDA and a CPU extension, and ops of both kinds that know nothing of torch."""
    pack = Pack(folder, "mixed")
    (pack.folder / "pack.yaml").write_text('name: mixed\nsource_root: src\nversion: "0.19.8"\n')
    torch = {"requires": [{"torch": ">=2.0"}]}
    pack.add_op("ext", {"ext.cu": kernel("ext_kernel"), "ext.cpp": SOURCE + binding("ext_run", "ext_kernel")},
                {"module": "pkg.ops.ext_op", "flags": {"nvcc": ["-U__CUDA_NO_HALF_OPERATORS__"]}, **torch})
    pack.add_op("util", {"util.cpp": SOURCE + binding("util_run")},
                {"module": "pkg.util_op", "backend": "cpu", "flags": {"cxx": ["-march=baseline"]}, **torch})
    pack.add_op("device", {"device.cu": kernel("device_run")})
    pack.add_op("plain", {"plain.cpp": binding("plain_run")}, {"backend": "cpu"})
    return pack


class TorchSpace(TestSpace):
    """A toolkit of that CUDA version with a shared runtime, and a Python with a torch."""

    def __init__(self, toolkit="13.0", pack=make_pack, steps=False, **torch):
        super().__init__(version=toolkit, pack=pack, steps=steps)
        runtime = "libcudart.so.11.0" if toolkit == "11.8" else "libcudart.so.13"
        (self.toolkit.home / "lib64" / runtime).write_text("/* a library without symbols */\n")
        self.torch = make_fake_torch(self.root / "python", **torch)

    def arguments(self, *more):
        return super().arguments(*more, *([] if "--python" in more else ["--python", str(self.torch.python)]))

    def argv(self, source):
        """The command that compiled it."""
        return next(start["argv"] for start in self.toolkit.starts() if f"pack/{source}" in start["argv"])

    def manifest(self):
        return json.loads((self.out / "manifest.json").read_text())

    def op(self, name):
        return next(op for op in self.manifest()["ops"] if op["name"] == name)


class TorchTest(CliTest):
    def plan(self, space, *more, **options):
        run = space.run("plan", *space.arguments(*more), **options)
        self.assertEqual(run.code, 0, run)
        return run

    def requirement(self, space, op, *more, **options):
        """The finding on torch, and the op's status."""
        run = space.run("plan", "--json", *space.arguments(*more), **options)
        self.assertEqual(run.code, 0, run)
        planned = next(each for each in json.loads(run.out)["ops"] if each["name"] == op)
        return planned["requirements"][0], planned["status"]


class BuildTest(TorchTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TorchSpace()
        cls.built = cls.space.build()

    def test_it_is_built_with_one_start_of_python_and_none_the_next_time(self):
        self.assertEqual(self.built.code, 0, self.built)
        self.assertEqual(self.space.torch.starts(), 1)
        again = self.space.build()
        self.assertEqual((again.code, again.edges_run()), (0, 0), again)
        self.assertEqual(self.space.torch.starts(), 1)
        self.assertEqual(self.space.verify().code, 0)

    def test_the_manifest_says_what_the_modules_are_built_for(self):
        manifest = self.space.manifest()
        self.assertEqual(manifest["torch"], {
            "version": "2.11.0+cu130", "cuda": "13.0", "hip": "", "cxx11_abi": True, "python": "cp399",
            "ext_suffix": ".cpython-399-fake.so", "accelerator": "cuda"})
        self.assertEqual(manifest["source_version"], "0.19.8")
        level = self.space.op("util")["cpu_baseline"]
        self.assertEqual(level["level"], "x86-64-v3")
        self.assertIn("avx2", level["features"])
        self.assertNotIn("cpu_baseline", self.space.op("ext"))

    def test_torch_s_flags_come_ahead_of_the_op_s(self):
        argv = self.space.argv("ext.cu")
        start = argv.index(NVCC_FLAGS[0])
        self.assertEqual(argv[start:start + len(NVCC_FLAGS)], NVCC_FLAGS)
        self.assertGreater(argv.index("-U__CUDA_NO_HALF_OPERATORS__"), start)
        self.assertIn("-DTORCH_EXTENSION_NAME=ext_op", argv)
        self.assertIn("-std=c++17", argv)
        self.assertIn("roots/torch/include", argv)
        self.assertEqual((self.space.build_dir / "roots/torch").resolve(), self.space.torch.home.resolve())

    def test_only_the_extensions_are_linked_with_torch_and_may_lack_python_s_symbols(self):
        ninja = (self.space.build_dir / "build.ninja").read_text()
        flags = {op: next(edge for edge in ninja.split("\nbuild ") if edge.startswith(f"lib/{op}.so"))
                 for op in ("ext", "util", "plain")}
        self.assertIn("-lc10_cuda -ltorch_cuda", flags["ext"])
        self.assertIn("-l:libcudart.so.13", flags["ext"])
        self.assertIn("-ltorch_python", flags["util"])
        self.assertNotIn("cuda", flags["util"])
        self.assertNotIn("torch", flags["plain"])
        for op, undefined_is_an_error in (("ext", False), ("util", False), ("plain", True)):
            self.assertEqual("--no-undefined" in flags[op], undefined_is_an_error, flags[op])


class FindTest(TorchTest):
    def test_another_torch_in_its_place_is_noticed(self):
        space = TorchSpace()
        self.assertIn("torch 2.11.0+cu130", self.plan(space).out)
        space.torch.write_version("2.12.1+cu130", cuda="13.0")
        self.assertIn("torch 2.12.1+cu130", self.plan(space).out)

    def test_an_older_torch_has_its_abi_passed_on(self):
        space = TorchSpace(builder="2.4")
        space.torch.write_library("c10", "_ZN3c105ErrorC1ESs")
        space.build("--ops", "ext")
        argv = space.argv("ext.cu")
        for flag in ('-DPYBIND11_COMPILER_TYPE="_gcc"', '-DPYBIND11_STDLIB="_libstdcpp"',
                     '-DPYBIND11_BUILD_ABI="_cxxabi1013"', "-D_GLIBCXX_USE_CXX11_ABI=0"):
            self.assertIn(flag, argv)
        self.assertFalse(space.manifest()["torch"]["cxx11_abi"])

    def test_torch_2_0_is_of_the_abi_before_cxx11_and_has_one_folder_of_headers_more(self):
        """libc10.so has names of the newer ABI too, those of a libstdc++ that is linked into it."""
        space = TorchSpace(builder="2.0")
        space.torch.write_library("c10", "_ZN3c105ErrorC1ENS_14SourceLocationESs _ZNSt7__cxx118messagesIcED1Ev")
        (space.torch.home / "include" / "THC").mkdir()
        space.build("--ops", "ext")
        argv = space.argv("ext.cu")
        self.assertIn("-D_GLIBCXX_USE_CXX11_ABI=0", argv)
        self.assertEqual([word for word in argv if word.startswith("roots/torch")],
                         [f"roots/torch/include{folder}" for folder in ("", "/torch/csrc/api/include", "/THC")])

    def test_a_newer_torch_has_its_standard_passed_on(self):
        space = TorchSpace(builder="2.15")
        space.build("--ops", "ext")
        self.assertIn("-std=c++20", space.argv("ext.cu"))

    def test_a_python_that_was_named_and_is_not_there_is_an_error(self):
        space = TorchSpace()
        for name, why in (("/nowhere/python", "no program /nowhere/python"), ("no_such_python", "no no_such_python on PATH")):
            run = space.build("--python", name)
            self.assertEqual(run.code, 3, run)
            self.assertIn(f"error[python]: --python: {why}", run.err)
        self.assertFalse(space.out.exists())

    def test_a_python_without_torch_says_so(self):
        space = TorchSpace()
        for entry in space.torch.site.glob("torch-*"):
            entry.rename(entry.with_name("elsewhere"))
        self.assertEqual(self.requirement(space, "ext")[0]["why"], "no Python package torch")


class CudaTest(TorchTest):
    def test_another_minor_version_is_a_note(self):
        space = TorchSpace(version="2.12.0+cu132", cuda="13.2", steps=True)
        self.assertEqual(self.requirement(space, "ext")[0]["why"],
                         "torch 2.12.0+cu132; CUDA 13.0 goes with its 13.2")
        self.assertNotIn("warning", self.plan(space).err)

    def test_headers_beside_torch_do_not_bring_their_own_runtime_s(self):
        """cuBLAS's, which this toolkit lacks, include the older driver_types.h next to them."""
        space = TorchSpace()
        beside_torch = space.torch.site / "nvidia" / "cu13" / "include"
        beside_torch.mkdir(parents=True)
        include = space.toolkit.home / "include"
        for folder, types in ((beside_torch, ""), (include, "struct newer_type {};\n")):
            (folder / "driver_types.h").write_text(f"#ifndef DRIVER_TYPES\n#define DRIVER_TYPES\n{types}#endif\n")
        (beside_torch / "cublas_v2.h").write_text('#pragma once\n#include "driver_types.h"\n')
        (include / "cuda_runtime_api.h").write_text('#pragma once\n#include "driver_types.h"\nusing used = newer_type;\n')
        extension = next(space.torch.home.rglob("torch/extension.h"))
        extension.write_text(extension.read_text() + "#include <cublas_v2.h>\n#include <cuda_runtime_api.h>\n")
        run = space.build("--ops", "ext")
        self.assertEqual(run.code, 0, run)

    def test_another_major_version_is_refused(self):
        space = TorchSpace("11.8")
        words = ["--ops", "ext", "--arch", "8.0"]
        self.expect("torch_other_cuda", space, space.build(*words), 3, words)
        self.assertEqual(self.requirement(space, "util")[1], "build")

    def test_ds_skip_cuda_check_makes_it_a_warning(self):
        space = TorchSpace("11.8", steps=True)
        env = {"DS_SKIP_CUDA_CHECK": "1"}
        words = ["plan", "--ops", "ext", "--arch", "8.0"]
        run = space.run("plan", *space.arguments(*words[1:]), env=env)
        self.assertEqual(run.code, 0, run)
        run.out = ""
        self.expect("torch_skip_cuda_check", space, run, 0, words, env)

    def test_a_torch_without_cuda_leaves_the_cpu_extensions(self):
        space = TorchSpace(version="2.11.0+cpu", cuda=None)
        finding, status = self.requirement(space, "ext")
        self.assertEqual((finding["why"], status), ("torch 2.11.0+cpu is built without CUDA", "skip"))
        self.assertEqual(self.requirement(space, "util")[1], "build")


def make_module_pack(folder):
    """A module that calls a function of a source which nobody named, and one that calls Python alone, of another version. Each
    needs all of torch's libraries, whatever they have."""
    pack = Pack(folder, "modules")
    keys = {"backend": "cpu", "requires": [{"torch": ">=2.0"}], "flags": {"link": ["-Wl,--no-as-needed"]}}
    pack.add_op("vecadd_c", {"bind.cpp": SOURCE + "int vec_add(const float*, int);\nint run() { return vec_add(nullptr, 1); }\n"},
                {"module": "pkg.vecadd_c", **keys})
    pack.add_op("of_python", {"of_python.cpp": SOURCE + 'extern "C" int PyTomorrow_New(int);\nint run() { return PyTomorrow_New(1); }\n'},
                {"module": "pkg.of_python", **keys})
    return pack


class UndefinedSymbolsTest(TorchTest):
    """A module's link lets Python's symbols be undefined, and with them any others."""

    MISSING = ("error: vecadd_c: vecadd_c.so needs vec_add(float const*, int), which neither its libraries nor Python has\n")

    def setUp(self):
        self.space = TorchSpace(pack=make_module_pack)
        for name in LIBRARIES:
            self.make_library(name)

    def make_library(self, name, source="", needed=()):
        """A library as a linker makes it, in the place of the fake one."""
        folder = self.space.torch.home / "lib"
        subprocess.run(["c++", "-shared", "-fPIC", "-x", "c++", "-", "-o", folder / f"lib{name}.so", "-Wl,--no-as-needed",
                        f"-L{folder}", *(f"-l{other}" for other in needed)], input=source, text=True, check=True)

    def expect_missing(self, run):
        self.assertEqual(run.code, 1, run)
        self.assertIn(self.MISSING, run.out + run.err)
        self.assertIn("error[edge_failed]: vecadd_c: 1 edge failed", run.err)

    def test_a_symbol_that_nobody_has_fails_the_build_until_a_library_has_it(self):
        self.expect_missing(self.space.build("--ops", "vecadd_c"))
        self.assertFalse(self.space.out.exists())
        self.expect_missing(self.space.build("--ops", "vecadd_c"))
        self.make_library("torch_cpu", "int vec_add(const float*, int) { return 1; }\n")
        again = self.space.build("--ops", "vecadd_c")
        self.assertEqual(again.code, 0, again)
        self.assertEqual(self.space.build("--ops", "vecadd_c").edges_run(), 0)

    def test_python_s_symbols_are_not_missed(self):
        run = self.space.build("--ops", "of_python")
        self.assertEqual(run.code, 0, run)

    def test_another_torch_without_the_symbol_is_noticed(self):
        """In a library of a library, which no linker reads."""
        self.make_library("cublas", "int vec_add(const float*, int) { return 1; }\n")
        self.make_library("torch_cpu", needed=["cublas"])
        self.assertEqual(self.space.build("--ops", "vecadd_c").code, 0)
        self.make_library("cublas")
        self.space.torch.write_version("2.12.0+cu130", cuda="13.0")
        self.expect_missing(self.space.build("--ops", "vecadd_c"))

    def test_nothing_is_said_of_a_torch_whose_libraries_are_not_known(self):
        self.space.torch.write_library("torch_cpu")
        run = self.space.build("--ops", "vecadd_c")
        self.assertEqual(run.code, 0, run)


class CpuLevelTest(TorchTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TorchSpace()

    def test_the_level_is_that_of_the_option(self):
        self.assertIn("x86-64-v2  (--cpu-baseline)", self.plan(self.space, "--cpu-baseline", "x86-64-v2").out)

    def test_an_unknown_level_names_those_there_are(self):
        words = ["plan", "--cpu-baseline", "x86-64-v5"]
        run = self.space.run("plan", *self.space.arguments(*words[1:]))
        self.expect("cpu_baseline_unknown", self.space, run, 2, words)

    def test_verify_warns_of_an_op_that_this_cpu_must_not_load(self):
        self.space.build("--ops", "util")
        manifest = self.space.manifest()
        manifest["ops"][0]["cpu_baseline"]["features"].append("feature_of_tomorrow")
        testspace.forge_manifest(self.space.out, manifest)
        self.check_alone("lesser_cpu", self.space, "verify", self.space.out, code=0)
        document = json.loads(self.space.run("verify", str(self.space.out), "--json").out)
        self.assertEqual([warning["code"] for warning in document["warnings"]], ["lesser_cpu"])


if __name__ == "__main__":
    testspace.main()
