"""The device images of a file by NVIDIA's own reader, and its modules by what the linker and the runtime know of them."""

import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

from elf import sections


class CannotRead(Exception):
    """What cuobjdump says of a file that it does not read."""


def as_text(numbers):
    """Of `.b8 95,90` and the lines behind it, which are a string of PTX's line information."""
    return bytes(int(number) for number in re.findall(rb"(?<=[ ,])\d+", numbers[0]))


def without_names_of_run(text):
    """nvcc names its temporaries, and symbols of one translation unit, anew each time."""
    text = re.sub(rb"(?:[.]b8 [0-9,]+[\n\0])+", as_text, text)
    text = re.sub(rb"tmpxft_[0-9a-f]{8}_[0-9a-f]{8}-\d+_", b"", text)
    return re.sub(rb"_[0-9a-f]{8}_(\d+)_(\w+?_cu|device_code)_[0-9a-f]{8}", rb"_ID_\1_\2", text)


def stored_images(program, file):
    """[("sm_80.cubin", bytes)]: the images of a file, by `cuobjdump -xelf` and `-xptx`."""
    with tempfile.TemporaryDirectory() as folder:
        for option in ("-xelf", "-xptx"):
            subprocess.run([program, option, "all", str(file)], cwd=folder, capture_output=True, check=False)
        return [(re.sub(r".*[.]sm_", "sm_", image.name), image.read_bytes()) for image in pathlib.Path(folder).iterdir()]


def extract_images(program, file):
    """The same, sorted, with names of nvcc's run taken out."""
    return sorted((arch, without_names_of_run(image)) for arch, image in stored_images(program, file))


def machine_code(image):
    """What runs of a cubin: the bytes of its sections .text.*, sorted, for their names may be those of nvcc's run. None of PTX."""
    if not image.startswith(b"\x7fELF"):
        return None
    return sorted(section.data for section in sections(image) if section.name.startswith(b".text."))


def find_cuobjdump():
    program = os.environ.get("DSBUILD_CUOBJDUMP")
    if not program or not os.access(program, os.X_OK):
        raise unittest.SkipTest("no cuobjdump that is not ours (DSBUILD_CUOBJDUMP)")
    return program


def list_images(file):
    """[("elf" or "ptx", "sm_80")], sorted, one for each image."""
    found = []
    for kind, option in (("elf", "--list-elf"), ("ptx", "--list-ptx")):
        listed = subprocess.run([find_cuobjdump(), option, file], capture_output=True, text=True, check=False).stdout
        found += [(kind, arch) for arch in re.findall(r"\.(sm_\w+)\.(?:cubin|ptx)", listed)]
    return sorted(found)


def images_in_order(file):
    """[("elf" or "ptx", "sm_80")] by `cuobjdump -all FILE`, in the order of the file. Its text is read as it comes: of a large
    library it is large."""
    found, kind = [], ""
    with subprocess.Popen([find_cuobjdump(), "-all", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            line = line.strip()
            if line.startswith("Fatbin "):
                kind = line[len("Fatbin "):-len(" code:")]
            elif line.startswith("arch = ") and kind in ("elf", "ptx"):
                found.append((kind, line[len("arch = "):]))
        said = process.stderr.read()
    if process.returncode != 0 and "does not contain device code" not in said:
        raise CannotRead(said.strip())
    return found


def functions(file):
    """{("sm_80", "_Z1kPf")}: the functions of a file's machine code, by `cuobjdump -all --dump-resource-usage`."""
    found, arch = set(), ""
    listed = subprocess.run([find_cuobjdump(), "-all", "--dump-resource-usage", file], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        line = line.strip()
        if line.startswith("arch = "):
            arch = line[len("arch = "):]
        elif line.startswith("Function "):
            found.add((arch, line[len("Function "):-1]))
    return found


def modules(file):
    """[(offset, size)] of the containers of a linked library: where the structures point that it registers with the CUDA runtime
    (.nvFatBinSegment, 24 bytes each; fatbinary_section.h), by readelf, in the order of the file."""
    sections = {}
    for line in readelf("-SW", file):
        match = re.match(r"\s*\[\s*\d+\] (\S+)\s+\S+\s+([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)", line)
        if match:
            sections[match[1]] = tuple(int(number, 16) for number in match.groups()[1:])
    if ".nvFatBinSegment" not in sections:
        return []
    address, offset, size = sections[".nvFatBinSegment"]
    relocated = {}
    for line in readelf("-rW", file):
        match = re.match(r"([0-9a-f]{16})\s+[0-9a-f]{16} R_X86_64_RELATIVE\s+([0-9a-f]+)", line)
        if match and address <= int(match[1], 16) < address + size:
            relocated[int(match[1], 16)] = int(match[2], 16)
    with open(file, "rb") as data:
        data.seek(offset)
        segment = data.read(size)
        found = []
        for at in range(0, size, 24):
            pointer = relocated.get(address + at + 8, struct.unpack_from("<Q", segment, at + 8)[0])
            section, start, length = next(place for place in sections.values() if place[0] <= pointer < place[0] + place[2])
            data.seek(start + pointer - section)
            magic, _, header, entries = struct.unpack("<IHHQ", data.read(16))
            if magic != 0xBA55ED50:
                raise AssertionError(f"{file}: no container at {pointer:x}")
            found.append((start + pointer - section, header + entries))
    return sorted(found)


def readelf(option, file):
    listed = subprocess.run(["readelf", option, file], capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()
