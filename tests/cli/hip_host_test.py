#!/usr/bin/env python3
"""How the native ops find a HIP runtime, of whatever version, and what they say where there is none: with runtimes that are
made up, and a kernel's object as clang's host code has it. What clang makes: hip_ops_test.py."""

import functools
import os
import pathlib
import re
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, TESTS, CliTest, TestSpace, testspace  # noqa: E402
from pages import find_python  # noqa: E402

KERNELS = REPOSITORY / "kernels"
FLAGS = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden", "-D__HIP_PLATFORM_AMD__=1"]
BEGIN = f"""
import ctypes, gc, os, sys
sys.path.insert(0, {str(TESTS / "python")!r})
import numpy, support, tvm_ffi

def step(module, count=1, device=0):
    lists = [[support.rocm_tensor(numpy.ones(4, "float32"), device) for _ in range(count)] for _ in range(4)]
    try:
        module.fused_adam_step(*lists, 1e-3, 0.9, 0.999, 1e-8, 1, True, True, 0.01)
        print("ran")
    except RuntimeError as error:
        print(error)
"""
NONE = "no HIP runtime: libamdhip64.so.7, .6 or .5 is neither loaded nor where the loader looks"
SONAMES = {5: "libamdhip64.so.5", 6: "libamdhip64.so.6", 7: "libamdhip64.so.7"}
STEP = ["register images FPIH", "register kernel adam of 1"]
LAUNCH = "launch adam grid 1 1 1 block 256 1 1 shared 0 stream (nil) on 0"


def compile_with_gcc(*words):
    subprocess.run(["g++", "-shared", *map(str, words)], check=True)


class Made:
    """An op, and the runtimes: a folder each."""

    def __init__(self):
        self.python, self.tvm_ffi = find_python()
        self.space = TestSpace()
        self.root = self.space.root
        self.op = self.make_op("adam")
        for version, soname in SONAMES.items():
            self.make_runtime(soname.replace(".", "_"), soname, version)

    def make_op(self, kernel, *words):
        op = self.root / f"{kernel}.so"
        compile_with_gcc(*FLAGS, *words, f'-DKERNEL="{kernel}"', f"-I{KERNELS}/include", f"-I{KERNELS}/fused_adam",
                         "-isystem", f"{self.tvm_ffi}/include", TESTS / "fakes/hip_kernel.cpp",
                         KERNELS / "hip/hip_host.cpp", KERNELS / "fused_adam/fused_adam_binding.cpp", "-o", op,
                         f"-L{self.tvm_ffi}/lib", "-ltvm_ffi", "-ldl", "-Wl,--no-undefined")
        return op

    def make_runtime(self, folder, soname, version, *words):
        home = self.root / folder
        home.mkdir()
        compile_with_gcc("-std=c++17", "-O1", "-fPIC", f"-DVERSION={version}", *words,
                         TESTS / "fakes/libamdhip64.cpp", f"-Wl,-soname,{soname}", "-o", home / soname)
        return home


made = functools.lru_cache(Made)


class HipHostTest(CliTest):
    def setUp(self):
        self.made = made()
        self.root, self.op = self.made.root, self.made.op
        self.log = self.root / f"{self.id()}.log"

    def folder(self, *versions):
        """The runtimes of these versions, as one search path."""
        return ":".join(str(self.root / SONAMES[version].replace(".", "_")) for version in versions)

    def run_python(self, script, path="", **env):
        run = subprocess.run([self.made.python, "-c", BEGIN + textwrap.dedent(script)], text=True, check=False, timeout=300,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env={**os.environ, "LD_LIBRARY_PATH": path, "FAKE_HIP_LOG": str(self.log), **env})
        self.assertEqual(run.returncode, 0, run.stdout)
        return run.stdout.strip()

    def run_step(self, path="", **env):
        return self.run_python(f"step(tvm_ffi.load_module({str(self.op)!r}))", path, **env)

    def logged(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def of_version(self, version, *lines):
        return [f"{version} {line}" for line in lines]

    def require_no_runtime(self):
        found = self.run_python(f"""
            for name in {list(SONAMES.values())!r}:
                try: print(ctypes.CDLL(name))
                except OSError: pass
            """)
        if found:
            self.skipTest("the loader finds a HIP runtime on this machine")


class WithoutRuntimeTest(HipHostTest):
    def test_a_library_needs_none_and_lends_no_name_to_others(self):
        dynamic = subprocess.run(["readelf", "-dW", "--dyn-syms", self.op], check=True, capture_output=True, text=True).stdout
        self.assertNotIn("amdhip64", dynamic)
        self.assertIn("__tvm_ffi_fused_adam_step", dynamic)
        self.assertNotRegex(dynamic, r" _*hip[A-Z]")

    def test_it_loads_and_a_call_says_what_is_missing(self):
        self.require_no_runtime()
        said = self.run_step()
        self.assertTrue(said.startswith(f"fused_adam_step: {NONE}"), said)
        for soname in SONAMES.values():  # and why not, in the loader's words
            self.assertIn(f"\n  {soname}: cannot open shared object file", said)

    def test_arguments_are_checked_before(self):
        self.assertIn("params[0]: expected a ROCm tensor, got one on cpu", self.run_python(f"""
            op = tvm_ffi.load_module({str(self.op)!r})
            arrays = [[support.tensor(numpy.ones(4, "float32"))] for _ in range(4)]
            try: op.fused_adam_step(*arrays, 1e-3, 0.9, 0.999, 1e-8, 1, True, True, 0.01)
            except ValueError as error: print(error)
            """))

    def test_a_runtime_that_cannot_be_loaded_says_why(self):
        folder = self.root / "broken"
        folder.mkdir()
        (folder / SONAMES[6]).write_text("no library")
        self.require_no_runtime()
        self.assertRegex(self.run_step(str(folder)), r"\n  .*libamdhip64\.so\.6: (invalid ELF header|file too short)")

    def test_a_runtime_without_a_function_is_none(self):
        folder = self.made.make_runtime("old", SONAMES[5], 5, "-DWITHOUT_DEVICE_COUNT")
        self.assertEqual(self.run_step(str(folder)),
                         f"fused_adam_step: no HIP runtime: {folder}/libamdhip64.so.5 has no hipGetDeviceCount")

    def test_it_is_looked_for_again(self):
        self.require_no_runtime()
        said = self.run_python(f"""
            op = tvm_ffi.load_module({str(self.op)!r})
            step(op)
            ctypes.CDLL({str(self.root / "libamdhip64_so_5" / SONAMES[5])!r})
            step(op)
            """).splitlines()
        self.assertIn(NONE, said[0])
        self.assertEqual(said[-1], "ran")


class RuntimesTest(HipHostTest):
    def test_each_version_is_found_by_its_soname(self):
        for version in SONAMES:
            with self.subTest(version):
                self.log.unlink(missing_ok=True)
                self.assertEqual(self.run_step(self.folder(version)), "ran")
                self.assertEqual(self.logged(), self.of_version(version, *STEP, LAUNCH, "unregister 1", "end"))

    def test_the_newest_is_taken(self):
        self.assertEqual(self.run_step(self.folder(5, 6, 7)), "ran")
        self.assertEqual({line.split()[0] for line in self.logged()}, {"7"})

    def test_the_one_that_the_process_has_is_taken(self):
        """Before the op or behind it: what counts is the first call."""
        loads = f"ctypes.CDLL({str(self.root / 'libamdhip64_so_5' / SONAMES[5])!r})"
        op = f"op = tvm_ffi.load_module({str(self.op)!r})"
        for script in ((loads, op), (op, loads)):
            with self.subTest(script):
                self.log.unlink(missing_ok=True)
                self.assertEqual(self.run_python("\n".join([*script, "step(op)"]), self.folder(6, 7)), "ran")
                self.assertEqual({line.split()[0] for line in self.logged()}, {"5"})

    def test_so_is_one_that_a_package_renamed(self):
        """PyTorch's have no version in their SONAME."""
        folder = self.made.make_runtime("package", "libamdhip64.so", 9)
        self.run_python(f"ctypes.CDLL({str(folder / 'libamdhip64.so')!r})\nstep(tvm_ffi.load_module({str(self.op)!r}))",
                        self.folder(7))
        self.assertEqual({line.split()[0] for line in self.logged()}, {"9"})

    def test_nothing_of_it_is_loaded_before_a_call(self):
        self.run_python(f"tvm_ffi.load_module({str(self.op)!r})", self.folder(7))
        self.assertEqual(self.logged(), [])

    def test_images_are_registered_once(self):
        self.run_python(f"op = tvm_ffi.load_module({str(self.op)!r})\nstep(op)\nstep(op, 3)", self.folder(7))
        self.assertEqual(self.logged(), self.of_version(7, *STEP, LAUNCH, LAUNCH.replace("grid 1", "grid 3"),
                                                        "unregister 1", "end"))

    def test_many_threads_may_call_first(self):
        self.run_python(f"""
            import threading
            op = tvm_ffi.load_module({str(self.op)!r})
            gate = threading.Barrier(8)
            threads = [threading.Thread(target=lambda: (gate.wait(), step(op))) for _ in range(8)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            """, self.folder(7))
        self.assertEqual(len(self.logged()), len(STEP) + 8 + len(["unregister 1", "end"]))

    def test_two_ops_of_a_process_have_a_runtime_and_each_its_kernels(self):
        other = self.made.make_op("other")
        self.run_python(f"for op in ({str(self.op)!r}, {str(other)!r}): step(tvm_ffi.load_module(op))", self.folder(6))
        lines = self.of_version(6, *STEP, LAUNCH, "register images FPIH", "register kernel other of 2",
                                LAUNCH.replace("adam", "other"))
        self.assertEqual(self.logged()[:6], lines)
        self.assertEqual(sorted(self.logged()[6:8]), self.of_version(6, "unregister 1", "unregister 2"))

    def test_a_library_that_is_closed_takes_its_images_back(self):
        op = self.made.make_op("closed", "-fno-gnu-unique")  # those of gcc with such symbols stay
        self.run_python(f"""
            module = tvm_ffi.load_module({str(op)!r}, keep_module_alive=False)
            step(module)
            del module
            gc.collect()
            assert "{op.name}" not in open("/proc/self/maps").read()
            with open(os.environ["FAKE_HIP_LOG"], "a") as log: log.write("closed\\n")
            """, self.folder(7))
        lines = self.of_version(7, *STEP, LAUNCH, "unregister 1")
        self.assertEqual(self.logged(), [*(line.replace("adam", "closed") for line in lines), "closed", "7 end"])


class DevicesTest(HipHostTest):
    def test_a_runtime_without_a_device(self):
        folder = self.root / "libamdhip64_so_7"
        self.assertEqual(self.run_step(str(folder), FAKE_HIP_DEVICES="0"),
                         f"fused_adam_step: no HIP device: {folder}/libamdhip64.so.7 finds none (no ROCm-capable device is "
                         "detected); is there an AMD GPU, with its driver amdgpu, and may this user open /dev/kfd?")

    def test_the_tensors_device_is_current_during_the_launch(self):
        self.run_python(f"step(tvm_ffi.load_module({str(self.op)!r}), device=1)", self.folder(7), FAKE_HIP_DEVICES="2")
        self.assertEqual(self.logged()[2:5], self.of_version(7, "device 1", LAUNCH.replace("on 0", "on 1"), "device 0"))

    def test_a_device_that_is_not_there(self):
        said = self.run_python(f"step(tvm_ffi.load_module({str(self.op)!r}), device=3)", self.folder(7))
        self.assertEqual(said, "fused_adam_step: HIP error on rocm:3: an error of the runtime (hipErrorInvalidDevice)")

    def test_no_code_for_the_device(self):
        for error in (98, 209, 218):
            self.assertEqual(self.run_step(self.folder(7), FAKE_HIP_LAUNCH=str(error)),
                             "fused_adam_step: this library has no code for the GPU rocm:0, AMD Instinct MI300X, whose "
                             "target ID begins with gfx94 (an error of the runtime); build it with --arch and the whole "
                             "ID, which rocminfo shows")


class NumbersTest(HipHostTest):
    def test_numbers_are_those_of_the_vendors_header(self):
        homes = [os.environ.get("DSBUILD_HIP"), "/opt/rocm", "/usr"]
        headers = [pathlib.Path(home) / "include/hip/hip_runtime_api.h" for home in homes if home]
        header = next(filter(pathlib.Path.exists, headers), None)
        if header is None:
            self.skipTest("no include/hip/hip_runtime_api.h in DSBUILD_HIP, /opt/rocm or /usr")
        own = re.findall(r"^ +(hip\w+) = (\d+),$", (KERNELS / "include/hip_host.h").read_text(), re.M)
        self.assertEqual(len(own), 10)
        checks = "\n".join(f'static_assert({name} == {value}, "");' for name, value in own)
        source = self.root / "numbers.cpp"
        source.write_text(f"#include <hip/hip_runtime_api.h>\n{checks}\n")
        subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-w", "-D__HIP_PLATFORM_AMD__=1",
                        f"-I{header.parents[1]}", source], check=True)


if __name__ == "__main__":
    testspace.main(each_commit=10)
