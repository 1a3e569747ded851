#!/usr/bin/env python3
"""`dsbuild toolkits get hip` into a fresh folder: whole or not at all, and it compiles for every target that it says it
compiles for. Its device-library constants are what clang, and ROCm's own device libraries, say of each target."""

import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from machine import HOME_IN_ROOT, REPOSITORY, Root, require_roots, run, skip  # noqa: E402

RECIPE = REPOSITORY / "scripts" / "get_toolkit.sh"
# What ROCm's device libraries (oclc, ROCm 6.4) have for a family: the version of the member that it is taken for.
FAMILIES = {"gfx9-generic": 9000, "gfx9-4-generic": 9402, "gfx10-1-generic": 10100, "gfx10-3-generic": 10300,
            "gfx11-generic": 11003, "gfx12-generic": 12000}
WITHOUT_HIP = re.compile(r"gfx6\d\d$")  # no flat addresses: clang makes no kernel of HIP for these
KERNEL = """
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
__device__ int wavefront = __AMDGCN_WAVEFRONT_SIZE;
__global__ void work(float* x, __half* h) {
  __shared__ float part[64];
  part[threadIdx.x] = sinf(x[threadIdx.x]) + expf(x[0]) + __half2float(__hmul(h[0], hrcp(h[1])));
#ifndef __GFX7__
  part[threadIdx.x] += __shfl_xor(x[0], 1);
#endif
  __syncthreads();
  x[threadIdx.x] = part[63 - threadIdx.x];
  __threadfence();
}
"""  # gfx7 has no instruction for a shuffle


def setUpModule():
    if os.uname().machine != "x86_64" or not shutil.which("apt-get"):
        skip("the recipe is for Debian on x86-64")
    global place, home
    place = tempfile.TemporaryDirectory(prefix="dsbuild-hip-")
    home = pathlib.Path(place.name) / "toolkit"
    begin = time.monotonic()
    print(run(RECIPE, "hip", home), f"in {time.monotonic() - begin:.0f} s")


def tearDownModule():
    place.cleanup()


def clang(*words, text=None, environment=None):
    """Both streams of the prefix's compiler, which needs nothing of the environment."""
    result = subprocess.run([home / "llvm" / "bin" / "clang++", *map(str, words)], input=text, text=True, check=False,
                            capture_output=True, env={"PATH": "/usr/bin:/bin", **(environment or {})}, cwd=place.name)
    if result.returncode:
        raise AssertionError(f"clang {' '.join(map(str, words))}: {result.stderr[-3000:]}")
    return result.stdout + result.stderr


def processors():
    said = clang("--target=amdgcn-amd-amdhsa", "--print-supported-cpus")
    return re.findall(r"^\t(gfx[-\w]+)$", said, re.M)


def library(name):
    """The text of one of the device libraries."""
    return clang("--no-default-config", "-x", "ir", "-S", "-emit-llvm", "-w", "-o", "-", home / "amdgcn" / "bitcode" / f"{name}.bc")


def constants(name):
    """The lines of a library that define its values."""
    return re.findall(r"^@__oclc_.*$", library(name), re.M)


def constant_line(name, kind, value, alignment):
    return f"@__oclc_{name} = linkonce_odr protected local_unnamed_addr addrspace(4) constant {kind} {value}, align {alignment}"


class ConstantsTest(unittest.TestCase):
    def isa_of_clang(self, processor):
        """By the symbols that its assembler defines for a target: generation, minor, stepping."""
        out = pathlib.Path(place.name) / "isa.o"
        symbols = ", ".join(f".amdgcn.gfx_generation_{part}" for part in ("number", "minor", "stepping"))
        clang("--no-default-config", "-x", "assembler", "--target=amdgcn-amd-amdhsa", f"-mcpu={processor}", "-c", "-o", out,
              "-", text=f".data\n.ascii \"dsbuild-mark\"\n.long {symbols}\n")
        bytes_ = out.read_bytes()
        major, minor, stepping = struct.unpack_from("<3I", bytes_, bytes_.index(b"dsbuild-mark") + 12)
        return 1000 * major + 100 * minor + stepping

    def takes_denormals_for_zero(self, processor):
        """By the mode that clang compiles a kernel of one line in for a target."""
        said = clang("--no-default-config", "-x", "hip", "-nogpulib", "-nogpuinc", "--cuda-device-only", "-S", "-emit-llvm",
                     f"--offload-arch={processor}", "-o", "-", "-", text="__attribute__((global)) void work(float* x) { *x *= 2; }\n")
        self.assertIn("define protected amdgpu_kernel void @", said)
        return '"denormal-fp-math-f32"="preserve-sign,preserve-sign"' in said

    def test_each_target_has_what_clang_has_of_it(self):
        known = processors()
        self.assertGreater(len(known), 45)
        for processor in known:
            with self.subTest(processor=processor):
                isa = FAMILIES.get(processor, self.isa_of_clang(processor))
                self.assertEqual(constants(f"oclc_isa_version_{processor[3:]}"),
                                 [constant_line("ISA_version", "i32", isa, 4),
                                  constant_line("daz_opt", "i8", int(self.takes_denormals_for_zero(processor)), 1)])

    def test_the_values_of_denormals_are_those_that_rocm_had_a_library_for(self):
        for name, value in (("off", 0), ("on", 1)):
            self.assertEqual(constants(f"oclc_daz_opt_{name}"), [constant_line("daz_opt", "i8", value, 1)])

    def test_what_the_functions_ask_for_is_in_what_clang_links(self):
        said = clang("-###", "-x", "hip", "--cuda-device-only", "--offload-arch=gfx90a", "-c", "-", text="")
        linked = re.findall(r"/bitcode/(\w+)\.bc", said)
        self.assertIn("ocml", linked)
        asked, given = set(), set()
        for text in map(library, linked):
            asked |= set(re.findall(r"^@(__oclc_\w+) = external", text, re.M))
            given |= set(re.findall(r"^@(__oclc_\w+) = linkonce_odr", text, re.M))
        self.assertGreaterEqual(len(asked), 5)
        self.assertEqual(asked - given, set())

    def test_families_are_those_of_rocm_and_where_clang_says_otherwise_the_reason_is_known(self):
        families = {name for name in processors() if name.endswith("-generic")}
        self.assertEqual(families, set(FAMILIES), "a family came: look up ROCm's value of it")
        different = {name for name in families if FAMILIES[name] != self.isa_of_clang(name)}
        self.assertEqual(different, {"gfx9-4-generic"})  # clang: 9.4.0, which no GPU has; ROCm: gfx942's

    def test_the_abi_versions(self):
        for version in (400, 500, 600):
            self.assertEqual(constants(f"oclc_abi_version_{version}"), [constant_line("ABI_version", "i32", version, 4)])


class CompileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.source = pathlib.Path(place.name) / "work.hip"
        cls.source.write_text(KERNEL)
        cls.targets = [name for name in processors() if not WITHOUT_HIP.match(name)]

    def compile(self, *words, out):
        clang("-x", "hip", "-O2", "-std=c++17", "-fPIC", "-cuid=dsbuild", *words, "-o", out, self.source)
        return pathlib.Path(place.name) / out

    def test_each_target_alone_and_all_at_once(self):
        self.assertGreaterEqual(len(self.targets), 16)
        begin = time.monotonic()
        alone = {}
        for target in self.targets:
            with self.subTest(target=target):
                image = self.compile("--cuda-device-only", "--no-gpu-bundle-output", f"--offload-arch={target}", "-c",
                                     out=f"{target}.co")
                self.assertEqual(struct.unpack_from("<H", image.read_bytes(), 18)[0], 224)  # EM_AMDGPU
                alone[target] = image.read_bytes()
        print(f"{len(alone)} targets one by one in {time.monotonic() - begin:.0f} s")
        begin = time.monotonic()
        whole = self.compile(*(f"--offload-arch={target}" for target in self.targets), "-c", out="whole.o")
        print(f"all at once in {time.monotonic() - begin:.0f} s")
        run("objcopy", "-O", "binary", "--only-section=.hip_fatbin", whole, f"{place.name}/bundle")
        bundle = (pathlib.Path(place.name) / "bundle").read_bytes()
        said = run(home / "llvm" / "bin" / "clang-offload-bundler", "--list", "--type=o", f"--input={place.name}/bundle")
        self.assertEqual({line.rpartition("--")[2] for line in said.split() if line.startswith("hip")}, set(self.targets))
        for target, image in alone.items():
            self.assertIn(image, bundle, target)

    def test_the_wavefront_macro_is_what_clang_compiles_for(self):
        for target in self.targets:
            with self.subTest(target=target):
                text = self.compile("--cuda-device-only", f"--offload-arch={target}", "-S", out="work.s").read_text()
                compiled = re.search(r"\.wavefront_size: (\d+)", text).group(1)
                macro = re.search(r"^wavefront:\s+\.long\s+(\d+)", text, re.M).group(1)
                self.assertEqual(macro, compiled)

    def test_what_is_no_hip_is_left_alone(self):
        self.assertEqual(clang("-x", "c++", "-E", "-P", "-", text="int x;\n").strip(), "int x;")

    def test_dsbuild_lists_it_with_the_targets_that_compile(self):
        program = os.environ.get("DSBUILD")
        if not program:
            self.skipTest("DSBUILD names no program")
        said = json.loads(run(program, "toolkits", "--json", env={"PATH": "/usr/bin:/bin", "HOME": place.name,
                                                                  "ROCM_HOME": str(home)}))
        ours = next(toolkit for toolkit in said["toolkits"] if toolkit["path"] == str(home))
        self.assertEqual(ours["origin"], "ROCM_HOME")
        plain = {arch for arch in ours["archs"] if ":" not in arch and not WITHOUT_HIP.match(arch)}
        self.assertEqual(plain, set(self.targets))


class FetchTest(unittest.TestCase):
    def test_a_fetch_that_is_ended_leaves_nothing(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(signal=number), tempfile.TemporaryDirectory(prefix="dsbuild-hip-") as folder:
                ended = pathlib.Path(folder) / "toolkit"
                process = subprocess.Popen([RECIPE, "hip", ended], stderr=subprocess.PIPE, text=True,
                                           start_new_session=True)
                for line in process.stderr:
                    if "unpacking" in line:
                        break
                os.killpg(process.pid, number)
                process.communicate()
                self.assertNotEqual(process.returncode, 0)
                self.assertFalse(ended.exists())
                left = list(pathlib.Path(folder).glob(".toolkit.staging.*"))
                self.assertEqual(bool(left), number == signal.SIGKILL)  # which the next fetch sweeps

    def test_a_fetch_that_finds_it_there_does_nothing(self):
        before = home.stat().st_mtime_ns
        self.assertIn("is already in", run(RECIPE, "hip", home, env={"PATH": "/usr/bin:/bin", "HOME": place.name}))
        self.assertEqual(home.stat().st_mtime_ns, before)

    def test_every_library_is_found_without_a_word_from_the_environment(self):
        for file in [*(home / "llvm" / "bin").iterdir(), *home.rglob("*.so*")]:
            if file.is_file() and file.read_bytes()[:4] == b"\x7fELF":
                said = run("ldd", file, env={"PATH": "/usr/bin:/bin"})
                self.assertNotIn("not found", said, file)
        said = run("ldd", home / "llvm" / "bin" / "clang", env={"PATH": "/usr/bin:/bin"})
        self.assertIn(str(home / "llvm"), str(pathlib.Path(re.search(r"=> (\S+libLLVM\S+)", said).group(1)).resolve()))


class CleanRootTest(unittest.TestCase):
    def test_a_machine_with_next_to_nothing_gets_the_libraries_too(self):
        require_roots_here()
        root = Root()
        self.addCleanup(root.remove)
        target = root.path / HOME_IN_ROOT.lstrip("/") / "scripts"
        target.mkdir(parents=True, exist_ok=True)
        for name in ("get_toolkit.sh", "get_hip.sh", "lib.sh", "hip_wavefront.h"):
            shutil.copy(REPOSITORY / "scripts" / name, target / name)
        root.run("apt-get", "update", "-qq")
        root.run("apt-get", "install", "-qq", "--no-install-recommends", "g++")
        print(root.run(f"{HOME_IN_ROOT}/scripts/get_toolkit.sh", "hip", "/opt/hip", env={"HOME": HOME_IN_ROOT}))


def require_roots_here():
    """As require_roots, but for one test."""
    try:
        require_roots()
    except SystemExit as left:
        raise unittest.SkipTest("no clean Debian root can be made here") from left


if __name__ == "__main__":
    unittest.main()
