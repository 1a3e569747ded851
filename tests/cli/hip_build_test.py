#!/usr/bin/env python3
"""Ops built for HIP by dsbuild with a real clang: its images and its host's code are those of clang's whole command, and each
edit makes anew what it touches and nothing else. DSBUILD_HIP names the toolchain (scripts/get_toolkit.sh hip)."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack  # noqa: E402

DEEP = testspace.TIER == "deep"
ARCHS = ["gfx1100", "gfx1201", "gfx90a", "gfx942"]
MANY = ["gfx10-1-generic", "gfx10-3-generic", "gfx1010", "gfx1030", "gfx11-generic", "gfx1100", "gfx1103", "gfx1150", "gfx1151",
        "gfx12-generic", "gfx1200", "gfx1201", "gfx803", "gfx9-4-generic", "gfx9-generic", "gfx900", "gfx906", "gfx908",
        "gfx90a:xnack+", "gfx90a:xnack-", "gfx942", "gfx950"]
SIZES = "constexpr int k_by = 2;\n"
PLAIN = """
#include <hip/hip_runtime.h>
#include "sizes.h"
namespace {
__global__ void scale(float* data) {
#ifdef __gfx942__
  data[threadIdx.x] *= k_by + 7;  // newest
#else
  data[threadIdx.x] *= k_by;  // older
#endif
}
}
#ifndef __HIP_DEVICE_COMPILE__
extern "C" int threads() { return 32; }
#endif
extern "C" void scale_run(float* data) { scale<<<1, 32>>>(data); }
"""
# What clang's host code calls: the libraries here are read and not run.
RUNTIME = 'extern "C" {\n' + "".join(f"int {name}() {{ return 0; }}\n" for name in (
    "__hipRegisterFatBinary", "__hipUnregisterFatBinary", "__hipRegisterFunction", "__hipPushCallConfiguration",
    "__hipPopCallConfiguration", "hipLaunchKernel")) + "}\n"
HOST_SECTIONS = (".text", ".rodata", ".rodata.str1.1", ".init_array", ".data.rel.ro", ".eh_frame")


def find_toolchain():
    home = os.environ.get("DSBUILD_HIP", "")
    if not home or not (pathlib.Path(home) / "llvm/bin/clang++").exists():
        testspace.skip("DSBUILD_HIP names no HIP toolchain (scripts/get_toolkit.sh hip)")
    return pathlib.Path(home)


def make_pack(folder):
    pack = Pack(folder, "hip")
    pack.add_op("scaling", {"plain.cu": PLAIN, "runtime.cpp": RUNTIME}, {"backends": ["cuda", "hip"]})
    pack.add_op("for_cuda", {"plain.cu": PLAIN})
    pack.source("sizes.h").write_text(SIZES)
    return pack


class HipTest(CliTest):
    def setUp(self):
        self.home = find_toolchain()
        self.space = TestSpace(pack=make_pack)
        self.archs = ["gfx90a", "gfx942"]

    def run_for_hip(self, *words, space=None, ops="scaling"):
        space = space or self.space
        return space.run(*words, "--pack", str(space.pack.folder), "--ops", ops, "--arch", ";".join(self.archs), "--rocm-home",
                         str(self.home), "--out", str(space.out), "--build-dir", str(space.build_dir), "-j", "2")

    def built(self, **where):
        run = self.run_for_hip("build", **where)
        self.assertEqual(run.code, 0, run)
        return run

    def unit(self, end):
        return self.space.build_dir / f"obj/scaling.hip/plain.cu/plain{end}"

    def section(self, name, file):
        copy = self.space.root / "section"
        copy.unlink(missing_ok=True)
        subprocess.run(["objcopy", "-O", "binary", f"--only-section={name}", "--set-section-flags", f"{name}=alloc", file, copy],
                       check=True, stderr=subprocess.DEVNULL)
        return copy.read_bytes() if copy.exists() else b""

    def whole_command(self):
        """The object of clang's one command."""
        made = self.space.root / "whole.o"
        unit_id = hashlib.sha256(b"plain.cu").hexdigest()[:16]
        command = [self.home / "llvm/bin/clang++", f"--rocm-path={self.home}", "-x", "hip", "-O3", "-std=c++17", "-fPIC",
                   "-D__HIP_PLATFORM_AMD__=1", f"-cuid={unit_id}", *(f"--offload-arch={arch}" for arch in self.archs),
                   "-c", "pack/plain.cu", "-o", made]
        done = subprocess.run(list(map(str, command)), cwd=self.space.build_dir, check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        return made

    def check_against_whole_command(self):
        whole = self.whole_command()
        self.assertEqual(self.section(".hip_fatbin", whole), self.section(".hip_fatbin", self.unit(".o")))
        self.assertGreater(len(self.section(".text", whole)), 100)
        for name in HOST_SECTIONS:
            self.assertEqual(self.section(name, whole), self.section(name, self.unit(".host.o")), name)


class ImagesTest(HipTest):
    def test_slices_are_clangs_whole_command_byte_for_byte(self):
        self.archs = MANY if DEEP else ARCHS
        self.built()
        self.check_against_whole_command()
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        op = manifest["ops"][0]
        self.assertEqual((op["name"], op["backend"], op["file"]), ("scaling", "hip", "scaling.so"))
        self.assertEqual(sorted(op["archs"]), sorted(self.archs))
        self.assertEqual(sorted(image["arch"] for image in op["images"]), sorted(self.archs))
        self.assertEqual(self.space.verify().code, 0)

    def test_the_library_names_neither_rocm_nor_a_folder(self):
        self.built()
        dynamic = subprocess.run(["readelf", "-dW", self.space.out / "scaling.so"], check=True, text=True, stdout=subprocess.PIPE).stdout
        self.assertNotIn("amdhip64", dynamic)
        self.assertNotIn("RUNPATH", dynamic)
        content = (self.space.out / "scaling.so").read_bytes()
        self.assertNotIn(str(self.space.root).encode(), content)

    def test_an_op_for_cuda_alone_is_skipped_and_says_why(self):
        run = self.run_for_hip("build", ops="all")
        self.assertEqual(run.code, 0, run)
        self.assertIn("for_cuda: it is written for CUDA alone, and gfx90a gfx942 are of other GPUs", run.out + run.err)


@testspace.deep_but("test_an_arch_more_makes_its_slice_alone", "test_another_checkout_compiles_nothing")
class EditsTest(HipTest):
    def setUp(self):
        super().setUp()
        self.space = TestSpace(pack=make_pack, store=True)
        self.built()

    def parts(self):
        folder = self.unit("").parent
        return {file.name.removeprefix("plain.").removesuffix(".co"): file.read_bytes() for file in folder.iterdir()
                if file.suffix in (".co", ".o")}

    def made_by(self, change):
        """The parts that are other bytes after a change, but for the object of all images."""
        before = self.parts()
        change()
        self.built()
        self.check_against_whole_command()
        return {name for name, content in self.parts().items() if before.get(name) != content} - {"o"}

    def edit(self, old, new, name="plain.cu"):
        file = self.space.pack.source(name)
        self.assertIn(old, file.read_text())
        return lambda: file.write_text(file.read_text().replace(old, new))

    def test_nothing_to_do_runs_nothing(self):
        self.assertEqual(self.built().edges_run(), 0)
        self.space.pack.source("plain.cu").touch()
        self.space.pack.source("sizes.h").touch()
        self.assertEqual(self.built().edges_run(), 0)

    def test_code_of_one_arch_makes_its_slice_alone(self):
        self.assertEqual(self.made_by(self.edit("k_by + 7", "k_by + 8")), {"gfx942"})

    def test_a_header_reaches_every_part_that_sees_it(self):
        self.assertEqual(self.made_by(self.edit("2", "3", "sizes.h")), {"gfx90a", "gfx942"})

    def test_host_code_makes_no_image(self):
        self.assertEqual(self.made_by(self.edit("<<<1, 32>>>", "<<<1, 64>>>")), {"host.o"})

    def test_a_header_that_comes_before_another_is_seen(self):
        before = self.space.pack.source("sizes.h").read_text()
        file = self.space.pack.source("plain.cu")
        file.write_text(file.read_text().replace('#include "sizes.h"',
                                                 '#if __has_include("more.h")\n#include "more.h"\n#else\n#include "sizes.h"\n#endif'))
        self.built()
        more = self.space.pack.source("more.h")
        self.assertEqual(self.made_by(lambda: more.write_text(before.replace("2", "5"))), {"gfx90a", "gfx942"})

    def test_an_arch_more_makes_its_slice_alone(self):
        self.archs = ["gfx1100", *self.archs]
        before = self.parts()
        run = self.built()
        self.assertEqual({name for name, content in self.parts().items() if before.get(name) != content}, {"gfx1100", "o"})
        self.assertEqual(run.edges_run(), 4, run)  # its slice, the images' object, the link, what verifies it

    def test_another_checkout_compiles_nothing(self):
        other = TestSpace(name="elsewhere", pack=make_pack, store=True)
        other.environment["XDG_CACHE_HOME"] = self.space.environment["XDG_CACHE_HOME"]
        run = self.built(space=other)
        self.assertEqual((other.out / "scaling.so").read_bytes(), (self.space.out / "scaling.so").read_bytes())
        self.assertIn("4 found in the store", run.out)  # two slices, the host's code, the other file

del HipTest  # what the others share is no test

if __name__ == "__main__":
    testspace.main()
