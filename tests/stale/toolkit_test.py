#!/usr/bin/env python3
"""Parts of a CUDA or HIP toolkit that change in place, and scripts in front of one, or of its host compiler."""

import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from devices import add_device_op, find_hip_toolchain, use_device_compiler  # noqa: E402
from fake_toolkit import make_made_up_compiler  # noqa: E402
from packs import kernel  # noqa: E402
from stale import StaleSpace, StaleTest, ToolsTest, add_tests, change_text, replace, write_program  # noqa: E402

PARTS = ["bin", "nvvm", "include", "lib/libcudart_static.a", "lib/libcudadevrt.a"]
FOLDER = tempfile.TemporaryDirectory(prefix="dsbuild-test-")
KERNEL = """#include <cstdio>
__global__ void k(float* x) { *x = sinf(*x) + powf(*x, 3.3f); printf("%f", *x); }
extern "C" void run(float* x) { k<<<1, 1>>>(x); }
#ifdef PROF
extern "C" int prof() { return PROF; }
#endif
"""
HIP_KERNEL = """#include <hip/hip_runtime.h>
__global__ void k(float* x) { *x = expf(*x) + powf(*x, 3.3f); }
extern "C" void run(float* x) { k<<<1, 1>>>(x); }
#ifdef PROF
extern "C" int prof() { return PROF; }
#endif
"""
HOST = '#include <cuda_runtime.h>\nextern "C" int v() { int n = 0; cudaGetDeviceCount(&n); return n + CUDART_VERSION; }\n'
# Once in a text, however often the header is included.
USED = '#ifndef PATCHED_{0}\n#define PATCHED_{0}\n__attribute__((used)) static const char patched_{0}[] = "patched";\n#endif\n'
USED_BY_GPUS = USED.replace("((used))", "((device, used))").join(("#ifdef __HIP_DEVICE_COMPILE__\n", "#endif\n"))


@functools.cache
def copied_toolkit():
    """What of the real toolkit is needed, once for all tests: links to the real one's files would change their times."""
    real, copy = pathlib.Path(testspace.find_real_toolkit()).resolve(), pathlib.Path(FOLDER.name) / "toolkit"
    for part in PARTS:
        (copy / part).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-aL", real / part, copy / part], check=True)
    (copy / "lib64").symlink_to("lib")
    (copy / "targets/x86_64-linux").mkdir(parents=True)
    for folder in ("include", "lib"):
        (copy / "targets/x86_64-linux" / folder).symlink_to(f"../../{folder}")
    return copy


@functools.cache
def copied_hip_toolkit():
    copy = pathlib.Path(FOLDER.name) / "hip"
    subprocess.run(["cp", "-a", find_hip_toolchain().resolve(), copy], check=True)
    return copy


def private_toolkit(folder, backend="cuda"):
    copied = copied_toolkit() if backend == "cuda" else copied_hip_toolkit()
    subprocess.run(["cp", "-al", copied, folder], check=True)
    return folder


def append(file, text):
    replace(file, file.read_bytes() + text.encode())


def change_archive(file):
    """Its members get a section more."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["ar", "x", file], cwd=folder, check=True)
        section = pathlib.Path(folder, "section")
        section.write_text("patched")
        members = sorted(pathlib.Path(folder).glob("*.o"))
        for member in members:
            subprocess.run(["objcopy", "--add-section", f".patched={section}",
                            "--set-section-flags", ".patched=alloc,readonly,data", member], check=True)
        subprocess.run(["ar", "rcsD", "new.a", *members], cwd=folder, check=True)
        replace(file, pathlib.Path(folder, "new.a").read_bytes())


# What changes in the toolkit: a name, and a function of its folder. (libdevice is a part of cicc since CUDA 13;
# random_edits_test.py has one that is a file.)
CHANGES = {
    "nvcc_profile": lambda home: change_text(
        home / "bin/nvcc.profile", "INCLUDES        +=  ", "INCLUDES        +=  -DPROF=1 $(_SPACE_) "),
    "libcudart_static": lambda home: change_archive(home / "lib/libcudart_static.a"),
    "crt_host_runtime": lambda home: append(home / "include/crt/host_runtime.h", USED.format("host_runtime")),
    "crt_storage_class": lambda home: append(home / "include/crt/storage_class.h", USED.format("storage_class")),
    "fatbinary_section": lambda home: append(home / "include/fatbinary_section.h", USED.format("fatbinary_section")),
    "cuda_runtime": lambda home: append(home / "include/cuda_runtime.h", USED.format("cuda_runtime")),
    "runtime_api_of_same_size_and_time": lambda home: change_text(
        home / "include/cuda_runtime_api.h", "define CUDART_VERSION  13000", "define CUDART_VERSION  13001", keep_time=True),
    "ptxas_of_same_size_and_time": lambda home: change_text(home / "bin/ptxas", "V13.0.88", "V13.0.89", keep_time=True),
    "cicc_of_same_size_and_time": lambda home: change_text(
        home / "nvvm/bin/cicc", "$str", "$stR", keep_time=True)}

# libLLVM and libclang-cpp are what clang runs: another compiler under the same path. A GPU's ISA version has what its
# functions are made for beside it.
HIP_CHANGES = {
    "ocml": lambda home: replace(home / "amdgcn/bitcode/oclc_isa_version_90a.bc",
                                 (home / "amdgcn/bitcode/oclc_isa_version_803.bc").read_bytes()),
    "hip_runtime": lambda home: append(home / "include/hip/hip_runtime.h", USED.format("hip_runtime")),
    "hip_runtime_for_gpus_alone": lambda home: append(home / "include/hip/hip_runtime.h", USED_BY_GPUS.format("for_gpus")),
    "wrapper_of_clang": lambda home: append(
        home / "llvm/lib/clang/22/include/__clang_hip_runtime_wrapper.h", USED.format("wrapper")),
    "clang_cfg": lambda home: append(home / "llvm/bin/clang++.cfg", "-DPROF=1\n"),
    "lld_of_same_size_and_time": lambda home: change_text(home / "llvm/bin/lld", "LLD 22.1", "LLD 22.7", keep_time=True),
    "libclang_of_same_size_and_time": lambda home: change_text(
        next((home / "llvm/lib").glob("libclang-cpp.so.22.*")), "1~deb12u", "1~deb12v", keep_time=True)}


class HipToolkitTest(ToolsTest):
    def setUp(self):
        super().setUp()
        self.home = private_toolkit(self.space.root / "private", "hip")
        use_device_compiler(self.space, "hip", self.home)
        self.space.arch = "gfx90a"
        add_device_op(self.space.pack, "tool", {"a.cu": HIP_KERNEL}, "hip")

    def check_changed(self, name):
        self.check_change(lambda: HIP_CHANGES[name](self.home))

    def test_a_toolkit_behind_a_link_changes(self):
        link, other = self.space.root / "current", private_toolkit(self.space.root / "other", "hip")
        HIP_CHANGES["libclang_of_same_size_and_time"](other)
        link.symlink_to(self.home)
        use_device_compiler(self.space, "hip", link)
        self.space.arch = "gfx90a"

        def change():
            link.unlink()
            link.symlink_to(other)

        self.check_change(change)


add_tests(HipToolkitTest, "changed", HipToolkitTest.check_changed, list(HIP_CHANGES))


class ToolkitTest(ToolsTest):
    def setUp(self):
        super().setUp()
        self.space.arch = "8.0+PTX"
        self.space.toolkit.home = private_toolkit(self.space.root / "private")
        self.space.pack.add_op("tool", {"a.cu": KERNEL, "b.cpp": HOST})

    def check_changed(self, name):
        self.check_change(lambda: CHANGES[name](self.space.toolkit.home))

    def put_behind_a_script(self, link):
        """A toolkit whose nvcc is a script that runs the one that `link` points to."""
        home = self.space.root / "wrapped"
        write_program(home / "bin/nvcc", f'exec "{link}/bin/nvcc" "$@"\n')
        (home / "include").mkdir()
        (home / "lib64").mkdir()
        shutil.copy2(link / "lib64/libcudart_static.a", home / "lib64/")
        self.space.toolkit.home = home

    def test_a_toolkit_behind_a_script_changes(self):
        first, link = self.space.toolkit.home, self.space.root / "current"
        other = private_toolkit(self.space.root / "other")
        change_text(other / "bin/ptxas", "V13.0.88", "V13.0.89")
        link.symlink_to(first)
        self.put_behind_a_script(link)

        def change():
            link.unlink()
            link.symlink_to(other)

        self.check_change(change)

    def test_the_version_behind_a_script_changes(self):
        """The one that is named is the one that compiles."""
        old = os.environ.get("DSBUILD_CUDA_11_8")
        if not old or not os.path.isdir(old) or not shutil.which("g++-11"):
            self.skipTest("no CUDA 11.8 toolkit (DSBUILD_CUDA_11_8) or no g++-11")
        self.space.environment.update({"CUDAHOSTCXX": "g++-11", "CXX": "g++-11"})
        link = self.space.root / "current"
        link.symlink_to(self.space.toolkit.home)
        self.put_behind_a_script(link)
        self.build()
        link.unlink()
        link.symlink_to(old)
        shutil.copy2(link / "lib64/libcudart_static.a", self.space.toolkit.home / "lib64/")
        self.assertIn("11.8", self.check().err)

    def test_the_host_compiler_behind_a_script_changes(self):
        if not shutil.which("g++-11") or not shutil.which("g++-12"):
            self.skipTest("no g++-11 and g++-12")
        link = self.space.root / "g++ now"
        link.symlink_to(shutil.which("g++-12"))
        script = write_program(self.space.root / "wrap/g++", f'exec "{link}" "$@"\n')
        self.space.environment.update({"CUDAHOSTCXX": str(script), "CXX": str(script)})

        def change():
            link.unlink()
            link.symlink_to(shutil.which("g++-11"))

        self.assertIn("gcc 11", self.check_change(change).err)


class MadeUpToolkitTest(StaleTest):
    def setUp(self):
        self.space = StaleSpace(steps=True, text=1)
        compiler = make_made_up_compiler(self.space.root / "compiler")
        self.space.environment.update({"CXX": str(compiler.program), "CUDAHOSTCXX": str(compiler.program)})
        self.space.pack.add_op("tool", {"a.cu": kernel("run")}, {"exports": ["run"]})

    def test_nvcc_did_not_answer_once(self):
        """It is not remembered as one that has no parts."""
        self.space.toolkit.set(mute=1)
        self.check(fails=True)
        self.space.toolkit.set(mute=0)
        self.check_change(lambda: append(self.space.toolkit.home / "bin/cudafe++", "\nFAKE:2"))


add_tests(ToolkitTest, "changed", ToolkitTest.check_changed, list(CHANGES))

if __name__ == "__main__":
    testspace.main(each_commit=2)
