#!/usr/bin/env python3
"""Edits after which a compiler cache in front of nvcc may hand out old code: what slices build is what they build from
scratch, byte for byte. ccache with its defaults is shown each of them too; it preprocesses for the first arch alone."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from sliced import SlicesTest, testspace  # noqa: E402

SOURCE = """
#include "shift.h"
__global__ void scale(float* data) {
#if __CUDA_ARCH__ >= 900
  data[threadIdx.x] *= k_shift + 7;
#else
  data[threadIdx.x] *= k_shift;
#endif
}
#ifndef __CUDA_ARCH__
extern "C" int threads() { return 32; }
extern "C" int width() { return WIDTH; }
#ifdef MORE
extern "C" int more() { return MORE; }
#endif
#endif
extern "C" void scale_run(float* data) { scale<<<1, 32>>>(data); }
"""
HEADER = "constexpr int k_shift = {};\n"


class Project:
    """The op's files, what its compile takes besides, and the edits."""

    def __init__(self, pack):
        self.pack, self.width, self.environment = pack, 1, {}
        pack.add_op("shifted", {"main/shifted.cu": SOURCE})
        for folder in ("first", "second"):
            pack.source(folder).mkdir()
        pack.source("second/shift.h").write_text(HEADER.format(2))
        self.write_spec()

    def write_spec(self):
        (self.pack.folder / "shifted" / "op.yaml").write_text(
            f"name: shifted\nsources: [main/shifted.cu]\ninclude_dirs: [first, second]\ndefines: {{WIDTH: {self.width}}}\n")

    def replace(self, old, new):
        file = self.pack.source("main/shifted.cu")
        text = file.read_text()
        assert text.count(old) == 1
        file.write_text(text.replace(old, new))

    def edit_code_of_a_later_arch(self):
        self.replace("k_shift + 7", "k_shift + 8")

    def edit_code_that_only_the_host_sees(self):
        self.replace("return 32", "return 33")

    def shadow_a_header(self):
        self.pack.source("first/shift.h").write_text(HEADER.format(5))

    def change_a_macro_of_the_command(self):
        self.width = 2
        self.write_spec()

    def change_a_flag_of_the_environment(self):
        self.environment = {"NVCC_APPEND_FLAGS": "-DMORE=4"}

    def edits(self):
        """In an order in which each still changes something after those before it."""
        return [self.edit_code_of_a_later_arch, self.edit_code_that_only_the_host_sees, self.change_a_macro_of_the_command,
                self.change_a_flag_of_the_environment, self.shadow_a_header]


class StaleTest(SlicesTest):
    def setUp(self):
        super().setUp()
        self.project = Project(self.space.pack)

    def library(self):
        self.built(ops="shifted", env=self.project.environment)
        return (self.space.out / "shifted.so").read_bytes()

    def fresh_library(self, name):
        self.space.build_dir, kept = self.space.root / name, self.space.build_dir
        library = self.library()
        self.space.build_dir = kept
        return library

    def test_slices_are_never_stale(self):
        before = self.library()
        for edit in self.project.edits():
            with self.subTest(edit.__name__):
                edit()
                after = self.library()
                self.assertNotEqual(after, before)
                self.assertEqual(after, self.fresh_library(edit.__name__))
                before = after


class CcacheTest(SlicesTest):
    """What a cache that knows nothing of nvcc's steps does with the same edits."""

    def setUp(self):
        super().setUp()
        if not shutil.which("ccache"):
            self.skipTest("ccache is not installed")
        self.project = Project(self.space.pack)
        self.output = self.space.root / "shifted.o"

    def object(self, *launcher):
        """As nvcc makes it, the same each time."""
        nvcc = [self.space.toolkit.home / "bin" / "nvcc", "-frandom-seed=1", "-objtemp", f"-DWIDTH={self.project.width}", "-Ifirst", "-Isecond",
                "-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90", "-c", "main/shifted.cu", "-o", self.output]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.space.home), "CCACHE_DIR": str(self.space.root / "ccache"),
                       **self.project.environment}
        subprocess.run([*launcher, *nvcc], cwd=self.space.pack.sources, env=environment, check=True)
        return self.output.read_bytes()

    def stale_after(self, edit):
        old = self.object("ccache")
        edit()
        cached = self.object("ccache")
        self.assertNotEqual(self.object(), old, "the edit changes nothing")
        return cached == old

    def test_code_of_a_later_arch_is_stale(self):
        self.assertTrue(self.stale_after(self.project.edit_code_of_a_later_arch))

    def test_code_that_only_the_host_sees_is_stale(self):
        self.assertTrue(self.stale_after(self.project.edit_code_that_only_the_host_sees))

    def test_others_are_stale_with_some_versions(self):
        for edit in (self.project.change_a_macro_of_the_command, self.project.change_a_flag_of_the_environment,
                     self.project.shadow_a_header):
            with self.subTest(edit.__name__):
                print(f"ccache, {edit.__name__}: {'stale' if self.stale_after(edit) else 'seen'}", flush=True)


del SlicesTest  # what the others share is no test

if __name__ == "__main__":
    testspace.main()
