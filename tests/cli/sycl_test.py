#!/usr/bin/env python3
"""fused_adam for SYCL, compiled by a stand-in for icpx that makes real code: device images for Intel's GPUs, which nothing
here can run, and SPIR-V, which runs on the CPU."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402

import sycl  # noqa: E402

KERNELS = REPOSITORY / "kernels"
DEVICES = ("pvc", "dg2-g10", "tgllp")


def build_fused_adam(space, compiler, archs, *words, command="build", env=None):
    return space.run(command, "--ops", "fused_adam", *(["--arch", archs] if archs else []), "--oneapi-home", str(compiler), "--out",
                     str(space.out), "--build-dir", str(space.build_dir), "-j", "2", *words, env={"TVM_FFI_HOME": testspace.find_tvm_ffi(), **(env or {})})


class DriverTest(CliTest):
    """Through dsbuild, from a copy of the kernels that is edited."""

    def setUp(self):
        self.space = TestSpace(store=True)
        self.compiler = sycl.make_compiler(self.space.root / "compiler")
        self.pack = self.copy_of_pack("tree")

    def copy_of_pack(self, name):
        tree = self.space.root / name
        shutil.copytree(KERNELS, tree / "kernels")
        shutil.copytree(REPOSITORY / "ops" / "native", tree / "ops" / "native")
        return tree

    def built(self, archs, tree=None):
        tree = tree or self.pack
        run = build_fused_adam(self.space, self.compiler, archs, "--pack", str(tree / "ops" / "native"), "-v")
        self.assertEqual(run.code, 0, run)
        return run

    def outputs(self):
        unit = self.space.build_dir / "obj" / "fused_adam.sycl"
        return {str(file.relative_to(unit)): file.stat().st_mtime_ns for file in unit.rglob("*.o.record")}

    def made_by(self, archs, change, **where):
        before = self.outputs()
        change()
        self.built(archs, **where)
        after = self.outputs()
        return sorted(pathlib.Path(name).name for name in after if after[name] != before.get(name))

    def edit(self, name, old, new):
        file = self.pack / "kernels" / name
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new, 1))

    def test_each_change_makes_anew_what_it_touches(self):
        kernel, images = "fused_adam.sycl.o.record", "device_images.o.record"
        self.built("pvc,spir64")
        source = self.pack / "kernels" / "fused_adam" / "fused_adam.sycl.cpp"
        self.assertEqual(self.made_by("pvc,spir64", source.touch), [])
        self.assertEqual(self.made_by("pvc,dg2-g10,spir64", lambda: None), [images])
        run = self.space.run("verify", str(self.space.out))
        self.assertEqual(run.code, 0, run)
        run = self.space.run("inspect", str(self.space.out / "fused_adam.so"))
        for kind in ("pvc", "dg2-g10", "spir64"):
            self.assertIn(kind, run.out)
        changed = self.made_by("pvc,dg2-g10,spir64", lambda: source.write_text(source.read_text() + "\nint sycl_test_edit = 1;\n"))
        self.assertEqual(changed, [images, kernel])
        header = self.pack / "kernels" / "include" / "adam_formula.h"
        changed = self.made_by("pvc,dg2-g10,spir64", lambda: header.write_text(header.read_text() + "\n// edited\n"))
        self.assertIn(kernel, changed)

    def test_the_manifest_says_which_icpx_it_was_and_not_where(self):
        self.built("pvc,spir64")
        text = (self.space.out / "manifest.json").read_text()
        manifest = json.loads(text)
        digest = hashlib.sha256((self.compiler / "bin" / "icpx").read_bytes()).hexdigest()
        said = subprocess.run([self.compiler / "bin" / "icpx", "--version"], check=True, capture_output=True, text=True).stdout
        self.assertEqual((manifest["sycl"]["icpx_sha256"], manifest["toolkit"]), (digest, None))
        self.assertIn(manifest["sycl"]["version"], said)
        self.assertNotIn(str(self.space.root), text)

    def test_another_checkout_takes_all_from_the_cache(self):
        self.built("pvc,spir64")
        shutil.rmtree(self.space.build_dir)
        run = self.built("pvc,spir64", tree=self.copy_of_pack("other"))
        self.assertRegex(run.out + run.err, r"[456] found in the cache")

    def test_torchs_list_counts_where_sycl_is_selected(self):
        run = build_fused_adam(self.space, self.compiler, "", "--backend", "sycl", command="plan",
                               env={"TORCH_XPU_ARCH_LIST": "pvc,dg2-g10"})
        self.assertEqual(run.code, 0, run)
        self.assertIn("pvc", run.out)
        self.assertIn("dg2-g10", run.out)


class SyclTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.interpreter = os.environ.get("DSBUILD_TEST_PYTHON")
        if not cls.interpreter or not os.access(cls.interpreter, os.X_OK):
            testspace.skip("DSBUILD_TEST_PYTHON is not set (a Python with numpy and tvm_ffi)")
        cls.space = TestSpace()
        cls.work = cls.space.root
        cls.compiler = sycl.make_compiler(cls.work / "compiler")
        cls.tvm_ffi = pathlib.Path(testspace.find_tvm_ffi()) / "include"
        cls.bundle = cls.work / "by_hand"
        cls.bundle.mkdir()
        cls.build()

    @classmethod
    def run_tool(cls, *words, check=True):
        run = subprocess.run([str(w) for w in words], cwd=cls.work, capture_output=True, text=True, timeout=testspace.TIME_LIMIT)
        assert run.returncode == 0 or not check, run.stdout + run.stderr
        return run

    @classmethod
    def icpx(cls, *words, **options):
        return cls.run_tool(cls.compiler / "bin" / "icpx", "-fsycl", *words, **options)

    @classmethod
    def compile(cls, output, *words):
        flags = ["-O3", "-std=c++17", "-fPIC", f"-I{KERNELS / 'include'}"]
        cls.icpx("-sycl-std=2020", *flags, "-fsycl-targets=spir64_gen,spir64", "-fsycl-host-compiler=g++",
                 f"-fsycl-host-compiler-options={' '.join(flags)} -fvisibility=hidden", "-c", "-x", "c++", *words,
                 KERNELS / "fused_adam" / "fused_adam.sycl.cpp", "-o", output)

    @classmethod
    def build(cls):
        cls.compile("kernel.o", "-MD", "-MF", "kernel.d")
        cls.icpx("-fsycl-link", "-fsycl-targets=spir64_gen,spir64", "-Xs", "-device " + ",".join(DEVICES), "kernel.o", "-o",
                 "images.o")
        cls.run_tool("g++", "-O2", "-std=c++17", "-fPIC", "-fvisibility=hidden", f"-I{KERNELS / 'include'}", "-isystem",
                     cls.tvm_ffi, "-c", KERNELS / "fused_adam" / "fused_adam_sycl_binding.cpp", "-o", "binding.o")
        cls.run_tool("g++", "-shared", "kernel.o", "images.o", "binding.o", f"-L{cls.compiler / 'lib'}", "-lsycl", "-o",
                     cls.bundle / "fused_adam.so")

    def section(self, name):
        file = self.work / "section"
        self.run_tool("objcopy", "--dump-section", f"{name}={file}", self.bundle / "fused_adam.so", self.work / "without_the_section.so")
        return file.read_bytes()

    def test_there_is_code_for_each_device_and_spirv(self):
        images = self.section("__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen")
        self.assertEqual(images.count(b"!<arch>\n"), 2)  # kernels with and without fp16
        for device in DEVICES:
            product = self.run_tool(self.compiler / "bin" / "ocloc", "ids", device).stdout.split()[-1]
            self.assertEqual(images.count(f"64.{product}".encode()), 2, device)
        self.assertEqual(self.section("__CLANG_OFFLOAD_BUNDLE__sycl-spir64")[:4], b"\x03\x02\x23\x07")

    def test_an_object_is_the_same_each_time(self):
        self.compile("again.o")
        self.assertEqual((self.work / "again.o").read_bytes(), (self.work / "kernel.o").read_bytes())

    def test_the_depfile_names_our_headers_and_those_of_sycl_and_they_are_there(self):
        files = (self.work / "kernel.d").read_text().replace("\\\n", " ").split()[1:]
        self.assertEqual([file for file in files if not (self.work / file).exists()], [])
        for name in (KERNELS / "include" / "adam_formula.h", self.compiler / "include" / "sycl" / "sycl.hpp"):
            self.assertIn(str(name), files)

    def test_a_device_that_ocloc_does_not_know_ends_the_link(self):
        run = self.icpx("-fsycl-link", "-fsycl-targets=spir64_gen", "-Xs", "-device nosuch", "kernel.o", "-o", "no.o", check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("nosuch", run.stderr)

    def test_an_error_in_a_kernel_is_the_compilers(self):
        (self.work / "broken.cpp").write_text("#include <sycl/sycl.hpp>\nint f() { return nothing; }\n")
        run = self.icpx("-c", "broken.cpp", "-o", "broken.o", check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("broken.cpp:2:18: error: use of undeclared identifier 'nothing'", run.stderr)

    def called_on(self, device, **env):
        """What a call says for tensors of this device. Nothing reads them before the device is looked for."""
        script = f"""if True:
            import sys
            sys.path.insert(0, {str(REPOSITORY / "tests" / "python")!r})
            import numpy, support, tvm_ffi
            arrays = [[support.tensor(numpy.ones(4, "float32"), (14, {device}))] for _ in range(4)]
            op = tvm_ffi.load_module({str(self.bundle / "fused_adam.so")!r})
            try: op.fused_adam_step(*arrays, 1e-3, 0.9, 0.999, 1e-8, 1, True, True, 0.01)
            except RuntimeError as error: print(error)
            """
        run = self.run_tool("env", *(f"{name}={value}" for name, value in {**sycl.runtime(), **env}.items()), self.interpreter,
                            "-B", "-c", script)
        return run.stdout.strip()

    def test_without_a_device_it_loads_and_a_call_says_so(self):
        none = {"OCL_ICD_FILENAMES": "", "OCL_ICD_VENDORS": str(self.work / "no_drivers")}
        (self.work / "no_drivers").mkdir()
        self.assertEqual(self.called_on(0, **none),
                         "fused_adam_step: SYCL error on oneapi:0: no Intel device: SYCL finds none; is there a GPU of Intel's, "
                         "with its driver for Level Zero or OpenCL, and may this user open /dev/dri/renderD*?")

    def test_a_device_that_is_not_there(self):
        self.assertRegex(self.called_on(99), r"^fused_adam_step: SYCL error on oneapi:99: no such device: SYCL sees [1-9]\d* on")

    def test_fused_adam_agrees_with_float64_on_the_cpu(self):
        space = TestSpace()
        run = build_fused_adam(space, self.compiler, "pvc,spir64")
        self.assertEqual(run.code, 0, run)
        shim = self.work / "shim.so"
        self.run_tool("g++", "-std=c++17", "-fPIC", "-shared", "-isystem", self.compiler / "include",
                      REPOSITORY / "tests" / "python" / "sycl_shim.cpp", "-o", shim, f"-L{self.compiler / 'lib'}", "-lsycl")
        run = subprocess.run([self.interpreter, "-B", REPOSITORY / "tests" / "python" / "test_fused_adam_sycl.py"],
                             env={**self.space.environment, **sycl.runtime(), "DSBUILD_BUNDLE": str(space.out),
                                  "DSBUILD_SYCL_SHIM": str(shim)},
                             capture_output=True, text=True, timeout=testspace.TIME_LIMIT)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        print(run.stderr.splitlines()[0], file=sys.stderr)


if __name__ == "__main__":
    testspace.main()
