#!/usr/bin/env python3
"""inspect: verdicts by module, wheels, folders, kernels, and that no more than headers is read."""

import io
import json
import os
import pathlib
import resource
import struct
import sys
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402

SAMPLES = REPOSITORY / "tests" / "unit" / "binary" / "data"
TURING = (SAMPLES / "concat_of_one.fatbin").read_bytes()  # sm_75
OTHERS = (SAMPLES / "plain.fatbin").read_bytes()  # sm_80 sm_86 sm_90a sm_100f sm_120a compute_80


def padded(data):
    return data + bytes(-len(data) % 8)


def library(*sections, hole=0):
    """An ELF file whose sections (name, bytes) lie behind `hole` bytes of nothing."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _ in sections) + b".shstrtab\0"
    bodies, table, at = [], [bytes(64)], 64 + hole
    for name, data in (*sections, (".shstrtab", names)):
        table.append(struct.pack("<IIQQQQIIQQ", names.index(name.encode() + b"\0"), 3 if name == ".shstrtab" else 1, 0, 0, at,
                                 len(data), 0, 0, 8, 0))
        bodies.append(padded(data))
        at += len(bodies[-1])
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, len(table),
                                                             len(table) - 1)
    return header, b"".join(bodies) + b"".join(table)


def library_bytes(*fatbins):
    header, rest = library((".nv_fatbin", b"".join(padded(fatbin) for fatbin in fatbins)))
    return header + rest


class InspectTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()

    def write_bytes(self, name, data):
        path = self.space.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return name

    def inspect(self, *words):
        run = self.space.run("inspect", *words, "--json")
        self.assertEqual((run.code, run.err), (0, ""), run)
        return json.loads(run.out)

    def wheel(self, name, members, how=zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(self.space.root / name, "w", how) as archive:
            for member, data in members.items():
                archive.writestr(member, data)
        return name


class VerdictTest(InspectTest):
    def test_a_library_with_a_file_for_each_gpu_runs_on_neither(self):
        mixed = self.write_bytes("mixed.so", library_bytes(TURING, OTHERS))
        self.check_alone("inspect_mixed", self.space, "inspect", mixed, "--gpu", "7.5,9.0,12.0", code=0)
        file = self.inspect(mixed, "--gpu", "7.5,9.0")["files"][0]
        self.assertEqual(file["modules"], 2)
        self.assertEqual(file["coverage"], [
            {"gpu": "7.5", "runs": "none", "by": None, "module": 1,
             "modules": [{"runs": "native", "by": "sm_75", "count": 1}, {"runs": "none", "by": None, "count": 1}]},
            {"gpu": "9.0", "runs": "none", "by": None, "module": 0,
             "modules": [{"runs": "native", "by": "sm_90a", "count": 1}, {"runs": "none", "by": None, "count": 1}]}])

    def test_modules_that_run_by_several_images_are_counted(self):
        many = self.write_bytes("many.so", library_bytes(*[OTHERS] * 3, (SAMPLES / "concat_speed.fatbin").read_bytes()))
        run = self.space.run("inspect", many, "--gpu", "8.9,12.1")
        self.assertIn("many.so  GPU 8.9   native: 3 modules by sm_86, 1 by sm_89\n", run.out)
        self.assertIn("many.so  GPU 12.1  by PTX: 1 module by sm_121, 3 by PTX of compute_80\n", run.out)

    def test_sizes_for_each_arch_are_those_of_the_file(self):
        file = self.inspect(self.write_bytes("one.so", library_bytes(OTHERS)))["files"][0]
        self.assertEqual([size["arch"] for size in file["sizes"]],
                         ["sm_80", "compute_80", "sm_86", "sm_90a", "sm_100f", "sm_120a"])
        for size in file["sizes"]:
            self.assertEqual((size["modules"], size["images"]), (1, 1))
        # Without the container's header of 16 bytes and the entries' headers (tests/unit/binary/samples_test.cpp).
        self.assertEqual(sum(size["bytes"] for size in file["sizes"]), len(OTHERS) - 16 - 3 * 64 - 2 * 120 - 80)
        self.assertEqual([image["module"] for image in file["images"]], [0] * 6)


class WheelTest(InspectTest):
    MEMBERS = {"pack/lib/one.so": library_bytes(OTHERS), "pack/two.so.1": library_bytes(TURING, TURING), "pack/text.py": b"pass",
               "pack/host.so": library_bytes()}

    def test_the_libraries_of_a_wheel_are_read_without_unpacking_it(self):
        for how in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            wheel = self.wheel("pack-1.whl", self.MEMBERS, how)
            before = sorted(os.listdir(self.space.root))
            files = self.inspect(wheel, "--gpu", "7.5")["files"]
            self.assertEqual(sorted(os.listdir(self.space.root)), before)
            self.assertEqual([file["file"] for file in files],
                             ["pack-1.whl/pack/lib/one.so", "pack-1.whl/pack/two.so.1", "pack-1.whl/pack/host.so"])
            alone = [self.inspect(self.write_bytes(f"alone{i}.so", data), "--gpu", "7.5")["files"][0]
                     for i, data in enumerate(self.MEMBERS.values()) if data != b"pass"]
            for one, other in zip(files, alone):
                self.assertEqual({**one, "file": ""}, {**other, "file": ""})

    def test_wheels_are_found_in_folders_and_in_zip_files(self):
        wheel = self.wheel("inner.whl", {"a.so": library_bytes(TURING)})
        inner = (self.space.root / wheel).read_bytes()
        self.wheel("outer.zip", {"wheels/inner.whl": inner, "readme.txt": b""})
        self.assertEqual([file["file"] for file in self.inspect("outer.zip")["files"]], ["outer.zip/wheels/inner.whl/a.so"])
        self.write_bytes("folder/deep/inner.whl", inner)
        self.write_bytes("folder/readme.txt", b"")
        self.assertEqual([file["file"] for file in self.inspect("folder")["files"]], ["folder/deep/inner.whl/a.so"])

    def test_kernels_of_a_member_are_those_of_the_file(self):
        wheel = self.wheel("kernels.whl", {"a.so": library_bytes(OTHERS)})
        kernels = self.inspect(wheel, "--kernels")["files"][0]["kernels"]
        self.assertEqual(kernels, self.inspect(self.write_bytes("a.so", library_bytes(OTHERS)), "--kernels")["files"][0]["kernels"])
        self.assertEqual([kernel["name"] for kernel in kernels], ["twice"])

    def test_a_large_member_is_read_in_little_memory(self):
        # Device code, 300 MB of other code, then the headers: an ELF file is read from both of its ends. (This process
        # stays small: what it starts would be measured with what it has itself.)
        header, rest = library((".nv_fatbin", padded(OTHERS)), hole=300 << 20)
        wheel = "large.whl"
        with zipfile.ZipFile(self.space.root / wheel, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.so", "w") as member:
            member.write(header)
            for _ in range(300):
                member.write(bytes(1 << 20))
            member.write(rest)
        with Measured() as measured:
            run = self.space.run("inspect", wheel, "--gpu", "8.6")
        self.assertIn("native (sm_86)", run.out)
        self.assertLess(measured.megabytes, 100)

    def test_a_damaged_wheel_is_an_error(self):
        whole = (self.space.root / self.wheel("whole.whl", {"a.so": os.urandom(1000) + library_bytes(OTHERS)})).read_bytes()
        self.write_bytes("cut.whl", whole[:-30])
        self.check_alone("inspect_cut_wheel", self.space, "inspect", "cut.whl", code=1)
        stored = self.wheel("stored.whl", {"a.so": library_bytes(OTHERS)}, zipfile.ZIP_STORED)
        data = bytearray((self.space.root / stored).read_bytes())
        data[data.index(b".shstrtab") + 3] ^= 1  # the name of a section: only the checksum tells
        self.write_bytes("changed.whl", bytes(data))
        self.check_alone("inspect_changed_wheel", self.space, "inspect", "changed.whl", code=1)
        data = bytearray(whole)
        data[40:400] = bytes(360)
        self.write_bytes("zeros.whl", bytes(data))
        run = self.space.run("inspect", "zeros.whl")
        self.assertEqual(run.code, 1)
        self.assertIn("error[bad_archive]: zeros.whl/a.so: it ", run.err)

    def test_a_zip_file_in_which_itself_is_said_to_be_ends(self):
        data = library_bytes(TURING)
        for i in range(4):
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as archive:
                archive.writestr(f"{i}.zip" if i else "a.so", data)
            data = buffer.getvalue()
        self.write_bytes("deep.zip", data)
        run = self.space.run("inspect", "deep.zip")
        self.assertEqual(run.code, 0, run)
        self.assertIn("warning[bad_elf]: deep.zip/3.zip/2.zip: is not an object", run.err)


class FolderTest(InspectTest):
    def test_a_linker_script_in_a_folder_is_a_warning(self):
        self.write_bytes("libs/libm.so", b"/* GNU ld script */\nGROUP ( libm.so.6 )\n")
        self.write_bytes("libs/real.so", library_bytes(OTHERS))
        run = self.space.run("inspect", "libs")
        self.assertEqual(run.code, 0)
        self.assertIn("warning[bad_elf]: libs/libm.so: is not an object, library", run.err)
        self.assertIn("libs/real.so", run.out)
        document = json.loads(self.space.run("inspect", "libs", "--json").out)
        self.assertEqual([warning["where"] for warning in document["warnings"]], ["libs/libm.so"])
        self.assertEqual(len(document["files"]), 1)

    def test_damaged_device_code_in_a_folder_is_an_error(self):
        self.write_bytes("bad/a.so", library_bytes(OTHERS[:-100]))
        run = self.space.run("inspect", "bad")
        self.assertEqual(run.code, 1)
        self.assertIn("error[bad_fatbin]: bad/a.so", run.err)


class KernelTest(InspectTest):
    def test_the_table_of_kernels(self):
        self.write_bytes("tile.fatbin", (SAMPLES / "tile.fatbin").read_bytes())
        self.check_alone("inspect_kernels", self.space, "inspect", "tile.fatbin", "--kernels", code=0)

    def test_an_image_that_cannot_be_unpacked_is_an_error(self):
        data = bytearray((SAMPLES / "concat_speed.fatbin").read_bytes())
        data[-40:-8] = bytes(32)
        self.write_bytes("damaged.fatbin", bytes(data))
        self.assertEqual(self.space.run("inspect", "damaged.fatbin").code, 0)
        run = self.space.run("inspect", "damaged.fatbin", "--kernels")
        self.assertEqual(run.code, 1)
        self.assertIn("error[bad_fatbin]: damaged.fatbin: its device code is damaged: an image cannot be decompressed", run.err)


class Measured:
    """How long it took, and the most memory that any process took that this one has started so far."""

    def __enter__(self):
        self.started = time.monotonic()
        return self

    def __exit__(self, *error):
        self.seconds = time.monotonic() - self.started
        self.megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


class MemoryTest(InspectTest):
    def test_a_library_of_gigabytes_is_judged_by_its_headers(self):
        # A hole of 3 GiB before the device code, and an image of 1 GiB that is a hole too.
        image = struct.pack("<HHIQIIHHIIIQQQ", 2, 0x101, 64, 1 << 30, 0, 0, 8, 1, 90, 0, 0, 0x11, 0, 0)
        container = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(image) + (1 << 30))
        path = self.space.root / "huge.so"
        names = b"\0.nv_fatbin\0.shstrtab\0"
        at = 64 + (3 << 30)
        size = len(container) + len(image) + (1 << 30)
        table = bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 1, 0, 0, at, size, 0, 0, 8, 0) + \
            struct.pack("<IIQQQQIIQQ", 12, 3, 0, 0, at + size, len(names), 0, 0, 8, 0)
        with open(path, "wb") as file:
            file.write(b"\x7fELF\x02\x01\x01" + bytes(9) +
                       struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, at + size + len(names), 0, 64, 0, 0, 64, 3, 2))
            file.seek(at)
            file.write(container + image)
            file.seek(at + size)
            file.write(names + table)
        with Measured() as measured:
            run = self.space.run("inspect", "huge.so", "--gpu", "9.0")
        self.assertIn("1.0 GiB", run.out)
        self.assertIn("native (sm_90)", run.out)
        self.assertLess(measured.megabytes, 100)
        self.assertLess(measured.seconds, 5)


if __name__ == "__main__":
    testspace.main()
