#!/usr/bin/env python3
"""`dsbuild verify` on bundles that somebody changed: lost images, added images, flipped bits, files too many or too few.
With the real nvcc where there is one, else with the fake one."""

import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack, binding  # noqa: E402

CONTAINER_MAGIC, KIND_PTX, KIND_ELF = 0xBA55ED50, 1, 2


def kernel_source(name):
    """A .cu that both compilers take: nvcc compiles the text, the fake one goes by the comment."""
    return (f"// export: {name}\n__global__ void {name}_device(float* x) {{ *x += 1; }}\n"
            f'extern "C" void {name}() {{ {name}_device<<<1, 1>>>(nullptr); }}\n')


def make_pack(folder):
    pack = Pack(folder)
    pack.add_op("pair", {"one.cu": kernel_source("pair_one"), "two.cu": kernel_source("pair_two"),
                         "pair.cpp": binding("pair_run", "pair_one", "pair_two")}, {"exports": ["pair_run"]})
    pack.add_op("host", {"host.cpp": binding("host_run")}, {"backend": "cpu"})
    return pack


def real_toolkit():
    """(its folder, the lowest arch and a second one), or None."""
    old = os.environ.get("DSBUILD_CUDA_11_8")
    if old and os.access(os.path.join(old, "bin", "nvcc"), os.X_OK):
        return pathlib.Path(old), "7.0;8.0+PTX"
    try:
        return pathlib.Path(testspace.find_real_toolkit()), "7.5;8.0+PTX"
    except unittest.SkipTest:
        return None


class Bundle:
    """A copy of a bundle, to be damaged."""

    def __init__(self, space):
        self.space = space
        self.library = space.out / "pair.so"
        self.manifest_file = space.out / "manifest.json"

    def op(self, manifest):
        return next(op for op in manifest["ops"] if op["name"] == "pair")

    def cut_image(self, container_index, arch_number):
        """Removes the ELF image of that arch from one container of the library, as if its TU had lost it."""
        data = bytearray(self.library.read_bytes())
        start = self.containers(data)[container_index]
        header, size = struct.unpack_from("<HQ", data, start + 6)
        kept, at, end = b"", start + header, start + header + size
        while at < end:
            kind, _, head, payload = struct.unpack_from("<HHIQ", data, at)
            number = struct.unpack_from("<I", data, at + 28)[0]
            entry = bytes(data[at:at + head + payload])
            if (kind, number) != (KIND_ELF, arch_number):
                kept += entry
            at += len(entry)
        assert len(kept) < size, "there was no such image"
        data[start + header:end] = kept.ljust(size, b"\0")
        struct.pack_into("<Q", data, start + 8, len(kept))
        self.library.write_bytes(data)

    def containers(self, data):
        """Where they start, in the order of the link."""
        magic = struct.pack("<IH", CONTAINER_MAGIC, 1)
        found, at = [], data.find(magic)
        while at >= 0:
            size = struct.unpack_from("<Q", data, at + 8)[0]
            found.append(at)
            at = data.find(magic, at + 16 + size)
        return found

    def forge(self, **changes):
        """The manifest says what the library now is: size, digest, and whatever else is given."""
        manifest = json.loads(self.manifest_file.read_text())
        data = self.library.read_bytes()
        self.op(manifest).update(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data), **changes)
        self.manifest_file.write_text(json.dumps(manifest))


class VerifyTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.real = real_toolkit()
        cls.space = TestSpace(pack=make_pack)
        cls.space.arch = "7.5;8.0+PTX"
        if cls.real:
            cls.space.use_real_toolkit(cls.real[0])
            cls.space.arch = cls.real[1]
            cls.space.environment["PATH"] = os.environ["PATH"]
        cls.lowest = cls.space.arch[:3].replace(".", "")
        cls.first = cls.space.build()

    def setUp(self):
        self.assertEqual(self.first.code, 0, self.first)
        self.space.remove_out()
        self.assertEqual(self.space.build().code, 0)
        self.bundle = Bundle(self.space)

    def verify(self, code, *said):
        run = self.space.verify()
        self.assertEqual(run.code, code, run)
        for text in said:
            self.assertIn(text, run.out)
        return run

    def test_an_untouched_bundle(self):
        self.verify(0, "ok")

    def test_a_copy_elsewhere_is_as_good(self):
        copy = self.space.root / "elsewhere"
        os.rename(self.space.out, copy)
        self.assertEqual(self.space.verify(copy).code, 0)
        os.rename(copy, self.space.out)

    def test_a_second_bundle_is_refused_rather_than_passed_over(self):
        for command in ("verify", "wheel", "install"):
            run = self.space.run(command, str(self.space.out), "elsewhere")
            self.assertEqual(run.code, 2, run)
            self.assertIn("takes one value, was given 2", run.err)

    def test_a_lost_image_is_named_with_its_op_source_and_arch(self):
        for index, source in ((0, "one.cu"), (1, "two.cu")):
            with self.subTest(source=source):
                self.setUp()
                self.bundle.cut_image(index, int(self.lowest))
                self.bundle.forge()
                run = self.verify(1, f"pair: {source} has no sm_{self.lowest} image in pair.so")
                self.assertIn("1 difference\n", run.out)

    def test_forged_counts_do_not_hide_a_lost_image(self):
        self.bundle.cut_image(1, int(self.lowest))
        images = self.bundle.op(json.loads(self.bundle.manifest_file.read_text()))["images"]
        for image in images:
            image["count"] -= image["arch"] == f"sm_{self.lowest}"
        self.bundle.forge(images=images)
        self.verify(1, f"pair: two.cu has no sm_{self.lowest} image in pair.so")

    def test_a_link_by_nvcc_adds_an_image_that_verify_names(self):
        if not self.real:
            self.skipTest("no real nvcc (DSBUILD_CUDA_11_8, DSBUILD_CUDA_13)")
        self.space.remove_build()
        self.assertEqual(self.space.build("--backend", "nvcc").code, 0)  # nvcc links no objects of slices
        objects = sorted((self.space.build_dir / "obj" / "pair").rglob("*.o"))
        toolkit = json.loads(self.space.run(*self.space.arguments("plan"), "--json").out)["toolkit"]
        compiler = toolkit["host_compiler"].split(" ")[0]
        nvcc = self.real[0] / "bin" / "nvcc"
        subprocess.run([nvcc, "-ccbin", compiler, "-shared", "-Xcompiler=-fPIC", "-o", self.bundle.library, *objects],
                       check=True, env={**os.environ, "PATH": f"{nvcc.parent}:{os.environ['PATH']}"})
        self.bundle.forge()
        added = "sm_52" if toolkit["version"].startswith("11.") else "sm_75"
        self.verify(1, "pair: pair.so has an image that was not planned", added)

    def test_a_flipped_bit(self):
        data = bytearray(self.bundle.library.read_bytes())
        data[len(data) // 2] ^= 1
        self.bundle.library.write_bytes(data)
        self.verify(1, "pair: pair.so is not the file of the manifest: its sha256 differs")

    def test_a_cut_library(self):
        data = self.bundle.library.read_bytes()
        self.bundle.library.write_bytes(data[:len(data) // 2])
        self.verify(1, "pair: pair.so has ", " bytes, in the manifest ")

    def test_an_extra_file(self):
        (self.space.out / "notes.txt").write_text("x\n")
        self.verify(1, "notes.txt is in the bundle but not in its manifest")
        (self.space.out / "notes.txt").unlink()

    def test_a_missing_file(self):
        self.bundle.library.unlink()
        self.verify(1, "pair: pair.so is missing")

    def test_a_missing_export(self):
        self.bundle.forge(exports=["pair_run", "pair_walk"])
        self.verify(1, "pair: pair.so does not export pair_walk")

    def test_a_damaged_manifest(self):
        text = self.bundle.manifest_file.read_text()
        self.bundle.manifest_file.write_text(text[:len(text) // 2])
        run = self.space.verify()
        self.assertEqual(run.code, 1, run)
        self.assertIn(str(self.bundle.manifest_file), run.err)

    def test_a_build_repairs_what_verify_finds(self):
        self.bundle.library.write_bytes(b"")
        self.verify(1)
        self.assertEqual(self.space.build().code, 0)
        self.verify(0)


if __name__ == "__main__":
    testspace.main()
