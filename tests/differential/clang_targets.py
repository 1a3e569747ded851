#!/usr/bin/env python3
"""clang_targets.py [--write]: what the real clang says of AMD's targets, and ocloc of Intel's, against the files from
which the unit tests of lib/arch check the tables (tests/unit/arch/data).

clang 22: $DSBUILD_CLANG, clang-22 on PATH, or the HIP toolkit of the cache folder; ocloc 22.43: $DSBUILD_OCLOC, on PATH or in
the cache folder. What is not here is skipped; with neither, all is (77). --write writes the files of AMD's targets and of
Intel's PCI device IDs anew.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = SOURCES / "tests" / "unit" / "arch" / "data"
FEATURES = ["", ":sramecc+", ":sramecc+:xnack+", ":sramecc+:xnack-", ":sramecc-", ":sramecc-:xnack+", ":sramecc-:xnack-",
            ":xnack+", ":xnack-"]
KERNEL = "__attribute__((amdgpu_kernel)) void k(void) {}\n"
NEWEST_KNOWN = 22


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def cache_folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "dsbuild"


def find_ocloc():
    known = cache_folder() / "ocloc" / "22.43" / "bin" / "ocloc"
    return os.environ.get("DSBUILD_OCLOC") or shutil.which("ocloc") or (known if known.exists() else None)


def find_clang():
    toolkit = cache_folder() / "toolkits" / "hip" / "llvm" / "bin" / "clang"
    clang = os.environ.get("DSBUILD_CLANG") or shutil.which(f"clang-{NEWEST_KNOWN}") or (toolkit if toolkit.exists() else None)
    if clang and f"version {NEWEST_KNOWN}." in run(clang, "--version").stdout:
        return [clang, "--no-default-config", "--target=amdgcn-amd-amdhsa"]
    return None


def facts_of(clang, target, folder):
    """e_flags and wavefront size of a code object for the target; None: clang takes no such target ID."""
    source, made = folder / "k.c", folder / "k.o"
    source.write_text(KERNEL)
    command = [*clang, f"-mcpu={target}", "-nogpulib", "-mcode-object-version=6"]
    text = run(*command, "-S", source, "-o", "-")
    if text.returncode != 0:
        assert "invalid target ID" in text.stderr, text.stderr
        return None
    linked = run(*command, "-c", source, "-o", made)
    assert linked.returncode == 0, linked.stderr
    flags = struct.unpack_from("<I", made.read_bytes(), 48)[0]
    return f"{flags:#x} {re.search(r'.wavefront_size: *([0-9]+)', text.stdout)[1]}"


def amd_rows(clang):
    listed = run(*clang, "--print-supported-cpus")
    processors = re.findall(r"^\s+(gfx\S+)$", listed.stdout + listed.stderr, re.M)
    assert len(processors) > 40, listed.stderr
    with tempfile.TemporaryDirectory() as folder:
        for target in [processor + features for processor in sorted(processors) for features in FEATURES]:
            if facts := facts_of(clang, target, pathlib.Path(folder)):
                yield f"{target} {facts}"


def split_file(path):
    lines = path.read_text().splitlines()
    return [line for line in lines if line.startswith("#")], [line for line in lines if not line.startswith("#")]


def check(what, expected, found):
    for line in sorted(set(expected) ^ set(found)):
        print(f"{what}: {'only in the file' if line in expected else 'not in the file'}: {line}")
    return expected == found


def test_amd(clang, write):
    path = DATA / "amd_elf_flags.txt"
    head, expected = split_file(path)
    found = list(amd_rows(clang))
    if write:
        path.write_text("\n".join([*head, *found]) + "\n")
        return True
    return check("clang", expected, found)


def test_intel(ocloc):
    _, expected = split_file(DATA / "ocloc_ids.txt")
    found = [f"{name} {run(ocloc, 'ids', name).stdout.split()[-1]}" for name, _ in map(str.split, expected)]
    return check("ocloc", expected, found)


def pci_ids_of_dsbuild():
    return re.findall(r"0x([0-9a-f]{4})", (SOURCES / "lib" / "arch" / "intel_ids.cpp").read_text())


def pci_id_rows(ocloc):
    """"dg2 56a0 56a1": of dsbuild's IDs those that ocloc takes for a product, which it says before it compiles."""
    products = {}
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "refused.cl")
        source.write_text("no program\n")
        for pci_id in pci_ids_of_dsbuild():
            said = run(ocloc, "compile", "-file", source, "-device", f"0x{pci_id}", "-out_dir", folder)
            product = re.search(r"^Auto-detected target based on .* device id: (\w+)", said.stdout + said.stderr, re.M)
            if product:
                products.setdefault(product[1], []).append(pci_id)
    return [" ".join([product, *ids]) for product, ids in products.items()]


def test_intel_pci_ids(ocloc, write):
    path = DATA / "ocloc_pci_ids.txt"
    head, expected = split_file(path)
    found = pci_id_rows(ocloc)
    if write:
        path.write_text("\n".join([*head, *found]) + "\n")
        return True
    return check("ocloc of PCI IDs", expected, found)


def main():
    clang, ocloc = find_clang(), find_ocloc()
    if not clang and not ocloc:
        print(f"skipped: neither clang {NEWEST_KNOWN} (scripts/get_toolkit.sh hip) nor ocloc (scripts/get_toolkit.sh ocloc) is here")
        return 77
    write = "--write" in sys.argv
    results = [test_amd(clang, write)] if clang else []
    results += [test_intel(ocloc), test_intel_pci_ids(ocloc, write)] if ocloc else []
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
