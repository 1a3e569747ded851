#!/usr/bin/env python3
"""The native ops compiled for HIP, step by step as ROCm's clang does it, without dsbuild; and what their libraries say where
there is no GPU, with a real runtime. DSBUILD_HIP names the toolchain (scripts/get_toolkit.sh hip)."""

import functools
import json
import os
import pathlib
import subprocess
import sys
import textwrap
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, TESTS, CliTest, TestSpace, testspace  # noqa: E402
from hip_host_test import NONE, SONAMES  # noqa: E402
from pages import find_python  # noqa: E402

KERNELS = REPOSITORY / "kernels"
DEEP = testspace.TIER == "deep"
ARCHS = ["gfx1100", "gfx1201", "gfx9-4-generic", "gfx90a", "gfx942"] if DEEP else ["gfx90a"]
SOURCES = {
    "fused_adam": ["fused_adam.cu", "fused_adam_binding.cpp"],
    "quantizer": ["quantize.cu", "dequantize.cu", "quantizer_binding.cpp"],
    "fp_quantizer": ["fp_quantizer.cu", "fp_quantizer_binding.cpp"],
    "fused_lamb": ["fused_lamb.cu", "fused_lamb_binding.cpp"],
    "fused_lion": ["fused_lion.cu", "fused_lion_binding.cpp"],
}
OPS = list(SOURCES) if DEEP else ["fused_adam"]
COMMON = ["-std=c++17", "-fPIC", "-fvisibility=hidden", f"-I{KERNELS}/include", "-c"]
CALLS = {
    "fused_adam": 'op.fused_adam_step([f], [f], [f], [f], 1e-3, 0.9, 0.999, 1e-8, 1, True, True, 0.01)',
    "fused_lamb": 'op.fused_lamb_step([f], [f], [f], [f], f, 1e-3, 0.9, 0.999, 1e-8, 1, True, True, 0.01, 0.01, 10.0)',
    "fused_lion": 'op.fused_lion_step([f], [f], [f], 1e-3, 0.9, 0.99, 0.01)',
    "quantizer": 'op.quantize_symmetric(f, tensor("int8", 64), tensor("float32", 8), 8, 8)',
    "fp_quantizer": 'op.fp_quantize(f, tensor("uint8", 64), tensor("float32", 8), 8, "e4m3")',
}


HOME = pathlib.Path(os.environ.get("DSBUILD_HIP", "/nonexistent"))
CLANG = HOME / "llvm/bin/clang++"


def run(*words):
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}\n{done.stdout}")
    return done.stdout


class Made:
    """The ops' libraries."""

    def __init__(self):
        self.home = HOME
        self.clang = CLANG
        self.python, self.tvm_ffi = find_python()
        self.space = TestSpace()
        self.libraries = {op: self.make(op) for op in OPS}

    def make(self, op):
        objects = [self.compile_kernel(KERNELS / op / source) if source.endswith(".cu") else
                   self.compile_host(KERNELS / op / source) for source in SOURCES[op]]
        objects.append(self.compile_host(KERNELS / "hip/hip_host.cpp"))
        library = self.space.root / f"{op}.so"
        run("g++", "-shared", *objects, "-o", library, f"-L{self.tvm_ffi}/lib", "-ltvm_ffi", "-ldl", "-Wl,--no-undefined")
        return library

    def compile_host(self, source):
        output = self.space.root / f"{source.stem}.o"
        run("g++", "-O2", "-Wall", "-Wextra", "-Werror", "-D__HIP_PLATFORM_AMD__=1", *COMMON, "-isystem",
            f"{self.tvm_ffi}/include", source, "-o", output)
        return output

    def compile_kernel(self, source):
        base = self.space.root / source.stem
        compiler = [self.clang, "-x", "hip", "-O3", f"-cuid={source.stem}", *COMMON, source]
        targets, inputs = ["host-x86_64-unknown-linux-gnu"], ["-input=/dev/null"]
        for arch in ARCHS:
            run(*compiler, "--cuda-device-only", "--no-gpu-bundle-output", f"--offload-arch={arch}", "-o", f"{base}.{arch}")
            targets.append(f"hipv4-amdgcn-amd-amdhsa--{arch}")
            inputs.append(f"-input={base}.{arch}")
        run(self.home / "llvm/bin/clang-offload-bundler", "-type=o", "-bundle-align=4096", f"-targets={','.join(targets)}",
            *inputs, f"-output={base}.hipfb")
        run(*compiler, "--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", f"{base}.hipfb", "-o",
            f"{base}.o")
        return f"{base}.o"


made = functools.lru_cache(Made)


class HipOpsTest(CliTest):
    def call(self, op, path, library=None):
        """What the op's function says, with such a search path of the loader."""
        script = textwrap.dedent(f"""
            import sys
            sys.path.insert(0, {str(TESTS / "python")!r})
            import numpy, support, tvm_ffi
            def tensor(dtype, count): return support.rocm_tensor(numpy.zeros(count, dtype))
            op, f = tvm_ffi.load_module({str(library or made().libraries[op])!r}), tensor("float32", 64)
            try: print("ran", {CALLS[op]})
            except RuntimeError as error: print(error)
            """)
        done = subprocess.run([made().python, "-c", script], text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**os.environ, "LD_LIBRARY_PATH": str(path)})
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout.strip()

    def test_libraries_need_no_runtime_and_lend_no_name_of_it(self):
        for op, library in made().libraries.items():
            with self.subTest(op):
                dynamic = run("readelf", "-dW", "--dyn-syms", library)
                self.assertNotIn("amdhip64", dynamic)
                self.assertNotRegex(dynamic, r" _*hip[A-Z]")
                self.assertIn("__tvm_ffi_", dynamic)

    def test_a_kernel_has_an_image_for_each_arch(self):
        for op, library in made().libraries.items():
            with self.subTest(op):
                bundles = made().space.root / f"{op}.hip_fatbin"
                run("objcopy", "-O", "binary", "--only-section=.hip_fatbin", library, bundles)
                one = run(made().home / "llvm/bin/clang-offload-bundler", "--list", "--type=o", f"--input={bundles}")
                self.assertEqual(sorted(line.split("--")[1] for line in one.splitlines() if line.startswith("hip")), ARCHS)

    def test_a_call_without_a_runtime(self):
        script = f"import ctypes\nfor name in {list(SONAMES.values())!r}:\n try: ctypes.CDLL(name); print(name)\n except OSError: pass"
        if run(sys.executable, "-c", script):
            self.skipTest("the loader finds a HIP runtime on this machine")
        for op in made().libraries:
            with self.subTest(op):
                self.assertIn(f": {NONE}", self.call(op, ""))

    def test_a_call_without_a_device(self):
        """The toolchain's own runtime is Debian's, of ROCm 5."""
        runtime = made().home / "lib/libamdhip64.so.5"
        if not runtime.exists() or os.path.exists("/dev/kfd"):
            self.skipTest("this toolchain has no libamdhip64.so.5, or there is a GPU")
        for op in made().libraries:
            with self.subTest(op):
                self.assertIn(f": no HIP device: {runtime} finds none (hipErrorNoDevice)", self.call(op, runtime.parent))

    @testspace.deep
    def test_a_bundle_is_packed_into_a_wheel_and_its_ops_ask_for_a_device(self):
        """Built by dsbuild; the platform and the manifest are as for CUDA, and no runtime of ROCm's is asked of pip's users."""
        space, root = made().space, made().space.root / "packed"
        built = space.run("build", "--ops", "fused_adam", "--arch", "gfx90a;gfx1100", "--rocm-home", str(made().home), "--out",
                          str(root / "out"), "--build-dir", str(root / "build"), "-j", "2", env={"TVM_FFI_HOME": testspace.find_tvm_ffi()})
        self.assertEqual(built.code, 0, built)
        packed = space.run("wheel", str(root / "out"), "--wheel-dir", str(root), "--json")
        self.assertEqual(packed.code, 0, packed)
        wheel = pathlib.Path(json.loads(packed.out)["wheel"])
        self.assertRegex(wheel.name, rf"-py3-none-manylinux_2_[0-9]+_{os.uname().machine}\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(root / "site")
        folder = root / "site/dsbuild_native_ops"
        op, = json.loads((folder / "manifest.json").read_text())["ops"]
        self.assertEqual((op["backend"], sorted(op["archs"])), ("hip", ["gfx1100", "gfx90a"]))
        self.assertEqual(space.run("verify", str(root / "out")).code, 0)
        self.assertIn(f": {NONE}", self.call("fused_adam", "", folder / op["file"]))
        runtime = made().home / "lib/libamdhip64.so.5"
        if runtime.exists() and not os.path.exists("/dev/kfd"):
            self.assertIn(f": no HIP device: {runtime} finds none (hipErrorNoDevice)",
                          self.call("fused_adam", runtime.parent, folder / op["file"]))


if __name__ == "__main__":
    if not CLANG.exists():
        testspace.skip("DSBUILD_HIP names no HIP toolchain (scripts/get_toolkit.sh hip)")
    testspace.main()
