#!/usr/bin/env python3
"""inspect against the vendors' tools: HIP's bundles of several clangs, plain and compressed, in objects and libraries, and what ocloc makes; in
deep in numbers, and libraries of PyPI's wheels."""

import bisect
import collections
import hashlib
import itertools
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import zipfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
import elf  # noqa: E402
import offload_tools  # noqa: E402

SOURCE = """
struct dim3 { unsigned x, y, z; };
typedef struct stream* hipStream_t;
extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, hipStream_t);
extern "C" int __hipPopCallConfiguration(dim3*, dim3*, unsigned long*, hipStream_t*);
static __attribute__((device)) float twice(float x) { return 2 * x; }
extern "C" __attribute__((global)) void first_NAME(float* a) { a[0] = twice(a[0]); }
template <int N> __attribute__((global)) void second_NAME(float* a) { a[N] = 1; }
template __attribute__((global)) void second_NAME<3>(float*);
"""
KERNELS = """
kernel void first(global float* a) { a[get_global_id(0)] *= 2; }
kernel void second(global float* a, float b) { a[get_global_id(0)] += b; }
"""
MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
FLAGS = ["-x", "hip", "-nogpuinc", "-nogpulib", "-fPIC", "-O1"]
ONE = ["gfx90a"]
FEATURES = ["gfx906:sramecc+:xnack-", "gfx90a:xnack+", "gfx90a:xnack-"]
MANY = ["gfx803", "gfx900", "gfx908", "gfx90a", "gfx1010", "gfx1030", "gfx1100"]
NEW = {19: ["gfx942", "gfx1201"], 22: ["gfx9-4-generic", "gfx942", "gfx950", "gfx10-3-generic", "gfx11-generic", "gfx1201"]}


class OffloadTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.root = cls.space.root
        cls.clangs = offload_tools.clangs()
        if not cls.clangs:
            testspace.skip("no clang with clang-offload-bundler, llvm-readelf and llvm-objcopy")
        cls.reader = cls.maker = cls.clangs[-1]
        for name in "ab":
            (cls.root / f"{name}.hip").write_text(SOURCE.replace("NAME", name))
        cls.compared = collections.Counter()

    def inspect(self, path, *options):
        run = self.space.run("inspect", str(path), "--json", *options)
        self.assertEqual(run.code, 0, run.err)
        return json.loads(run.out)["files"]

    def verdicts(self, path, gpus):
        return {one["gpu"]: one["runs"] for one in self.inspect(path, "--gpu", gpus)[0]["coverage"]}

    # ---- HIP

    def compile(self, clang, name, archs, *options, source="a"):
        clang.run("clang", *FLAGS, *(f"--offload-arch={arch}" for arch in archs), *options, "-c", "-o", name, f"{source}.hip", cwd=self.root)
        return self.root / name

    def section(self, path):
        """The bytes of its .hip_fatbin."""
        self.reader.run("llvm-objcopy", "--dump-section", f".hip_fatbin={self.root / 'section'}", path, self.root / "copy")
        return (self.root / "section").read_bytes()

    def bundles(self, data):
        """Cut where each begins: they are small, so no code looks like one."""
        starts = [at for at in range(0, len(data), 4096) if data.startswith((MAGIC, b"CCOB"), at)]
        return [data[start:end] for start, end in zip(starts, [*starts[1:], len(data)])]

    def size_of(self, data):
        """A compressed bundle without what fills it up."""
        if data[:4] != b"CCOB":
            return len(data)
        version = struct.unpack_from("<H", data, 4)[0]
        return {1: len(data), 2: struct.unpack_from("<I", data, 8)[0], 3: struct.unpack_from("<Q", data, 8)[0]}[version]

    def target(self, path):
        """By the flags, as llvm-readelf names them; "xnack" alone means any."""
        header = self.reader.run("llvm-readelf", "-h", path)
        words = re.search(r"Flags: +0x\w+, (.*)", header).group(1).split(", ")
        features = sorted(word for word in words[1:] if word[-1] in "+-")
        return ":".join([words[0], *features])

    def kernels(self, path):
        """Name and size of the code."""
        rows = re.findall(r"^ +\d+: +\w+ +(\d+) \w+ +\w+ +\w+ +\w+ +(\S+)$", self.reader.run("llvm-readelf", "-sW", path), re.M)
        sizes = {name: int(size) for size, name in rows}
        return {name[:-3]: sizes[name[:-3]] for name in sizes if name.endswith(".kd")}

    def golden_bundle(self, data):
        """Targets in their order, and the kernels of each: by what LLVM's tools make of the bundle."""
        data = data[:self.size_of(data)]
        if data[:4] == b"CCOB" and self.maker.version < 19:  # the newer ones do not take the host's name of the older
            data = zlib.decompress(data[{1: 20, 2: 24, 3: 32}[data[4]]:])
        bundler = self.reader if data[:4] == b"CCOB" else self.maker
        file = self.root / "one.fb"
        file.write_bytes(data)
        found = []
        for entry in bundler.run("clang-offload-bundler", "--list", "--type=o", f"--input={file}").split():
            if entry.startswith("host-"):
                continue
            image = self.root / "image.co"
            bundler.run("clang-offload-bundler", "--unbundle", "--type=o", f"--targets={entry}", f"--input={file}", f"--output={image}")
            self.assertEqual(entry.split("--")[1], self.target(image))
            found.append((self.target(image), self.kernels(image), image.stat().st_size))
        return found

    def check(self, path, data):
        """A file with these bundles against LLVM's tools. bundler --list is in another order than the file's own."""
        inspected = self.inspect(path, "--kernels")[0]
        bundles = self.bundles(data)
        self.assertEqual(inspected["modules"], len(bundles), path.name)
        kernels = collections.Counter()
        for module, bundle in enumerate(bundles):
            golden = self.golden_bundle(bundle)
            images = [image for image in inspected["images"] if image["module"] == module]
            self.assertEqual(sorted(image["arch"] for image in images), sorted(target for target, _, _ in golden), path.name)
            if bundle.startswith(MAGIC):
                self.assertEqual(sorted(image["bytes"] for image in images), sorted(size for _, _, size in golden))
            else:
                self.assertEqual(sum(image["bytes"] for image in images), self.size_of(bundle))
            for target, own, _ in golden:
                for name, size in own.items():
                    kernels[target, name] += size
        self.assertEqual({(arch, kernel["name"]): size for kernel in inspected["kernels"] for arch, size in kernel["bytes"].items()},
                         dict(kernels), path.name)
        self.compared[f"clang {self.maker.version}: {self.form(path, bundles)}"] += 1

    @staticmethod
    def form(path, bundles):
        """"library of CCOB v3 zstd"."""
        first = bundles[0]
        packed = first[:4] == b"CCOB"
        kind = f"CCOB v{first[4]} {('zlib', 'zstd')[first[6]]}" if packed else "plain bundles"
        return f"{ {'.o': 'object', '.so': 'library', '.hipfb': 'file'}[path.suffix] } of {kind}"

    def check_made(self, clang, name, archs):
        """An object, its bundle alone, compressed by each way there is, and libraries of two."""
        type(self).maker = clang
        label = f"{clang.version}_{name}"
        plain = self.compile(clang, f"{label}_a.o", archs)
        section = self.section(plain)
        self.check(plain, section)
        self.check_bundle(label, section)
        other = self.compile(clang, f"{label}_b.o", archs[:1], source="b")
        objects = [[plain, other]]
        if clang.version >= 19:
            packed = self.compile(clang, f"{label}_packed.o", archs, "--offload-compress")
            self.check(packed, self.section(packed))
            objects.append([packed, other])
        if clang.version >= 22:
            older = self.root / f"{label}_v2.o"
            clang.run("clang", *FLAGS, *(f"--offload-arch={arch}" for arch in archs), "--offload-compress", "-c", "-o", older, "a.hip",
                      cwd=self.root, COMPRESSED_BUNDLE_FORMAT_VERSION="2")
            self.assertEqual(self.section(older)[:6], b"CCOB\2\0")
            self.check(older, self.section(older))
        for number, both in enumerate(objects):
            library = self.root / f"{label}_{number}.so"
            subprocess.run(["g++", "-shared", "-o", library, *both], check=True)
            self.check(library, self.section(library))
            if clang.has("ld.lld"):
                clang.run("ld.lld", "-shared", "-o", library, *both)
                self.check(library, self.section(library))

    def check_bundle(self, label, plain):
        """By itself, and as compressed bundles of all versions, which clang-offload-bundler reads too."""
        start = hashlib.md5(plain).digest()[:8]
        packed = zlib.compress(plain)
        files = {"plain": plain,
                 "v1": b"CCOB" + struct.pack("<HHI", 1, 0, len(plain)) + start + packed,
                 "v2": b"CCOB" + struct.pack("<HHII", 2, 0, 24 + len(packed), len(plain)) + start + packed,
                 "v3": b"CCOB" + struct.pack("<HHQQ", 3, 0, 32 + len(packed), len(plain)) + start + packed}
        for name, data in files.items():
            if name == "v3" and self.maker.version >= 19 and self.reader.version < 22:
                continue
            path = self.root / f"{label}_{name}.hipfb"
            path.write_bytes(data)
            self.check(path, data)


class SmallTest(OffloadTest):
    """What the tools of this machine are enough for."""

    def test_bundles_of_the_newest_clang(self):
        self.check_made(self.clangs[-1], "features", FEATURES)

    def test_verdicts(self):
        path = self.compile(self.clangs[-1], "verdicts.o", ["gfx90a:xnack+", "gfx1100"])
        verdicts = self.verdicts(path, "gfx90a:xnack+,gfx90a:xnack-,gfx1100,gfx942")
        self.assertEqual(verdicts, {"gfx90a:xnack+": "native", "gfx90a:xnack-": "none", "gfx1100": "native", "gfx942": "none"})

    def test_verdicts_by_a_generic_target(self):
        if self.clangs[-1].version not in NEW or "gfx9-4-generic" not in NEW[self.clangs[-1].version]:
            self.skipTest("this clang has no generic targets")
        path = self.compile(self.clangs[-1], "generic.o", ["gfx9-4-generic", "gfx950"])
        self.assertEqual(self.verdicts(path, "gfx942,gfx950,gfx90a,pvc,9.0"),
                         {"gfx942": "generic", "gfx950": "native", "gfx90a": "none", "pvc": "none", "9.0": "none"})
        text = self.space.run("inspect", str(path), "--gpu", "gfx942,gfx90a").out
        for words in ("gfx9-4-generic", "gfx90a"):
            self.assertIn(words, text)


@testspace.deep
class MatrixTest(OffloadTest):
    @classmethod
    def setUpClass(cls):
        offload_tools.fetch()
        super().setUpClass()

    def test_bundles_of_all_clangs(self):
        for clang in self.clangs:
            sets = {"one": ONE, "features": FEATURES, "many": MANY}
            if clang.version in NEW:
                sets["new"] = NEW[clang.version]
            for name, archs in sets.items():
                with self.subTest(clang=clang.version, archs=name):
                    self.check_made(clang, name, archs)
        print(f"compared {self.compared.total()} files with LLVM's tools:", *(f"{count} {form}" for form, count in sorted(self.compared.items())),
              sep="\n  ", flush=True)
        self.assertGreaterEqual(self.compared.total(), 100)

    def test_a_flipped_bit_crashes_nothing_and_makes_no_other_target(self):
        """A compressed bundle has a checksum; in a plain one names and flags say the same twice."""
        chosen = random.Random(testspace.SEED)
        for way in ([], ["--offload-compress"]):
            whole = self.compile(self.clangs[-1], "whole.o", FEATURES, *way).read_bytes()
            path = self.root / "flipped.o"
            path.write_bytes(whole)
            good = [image["arch"] for image in self.inspect(path)[0]["images"]]
            refused = 0
            for _ in range(300):
                bit = chosen.randrange(len(whole) * 8)
                data = bytearray(whole)
                data[bit // 8] ^= 1 << bit % 8
                path.write_bytes(data)
                run = self.space.run("inspect", str(path), "--json", "--kernels")
                self.assertIn(run.code, (0, 1), f"bit {bit}: {run.err}")
                if run.code == 0:
                    images = json.loads(run.out)["files"][0]["images"]
                    self.assertIn([image["arch"] for image in images], (good, []), f"bit {bit}")  # the section's own name may be hit
                else:
                    self.assertIn("flipped.o", run.out + run.err)
                    refused += 1
            print(f"{' '.join(way) or 'plain'}: {refused} of 300 refused", flush=True)
            self.assertGreater(refused, 0)

    def test_one_bundle_for_two_files(self):
        clang = self.clangs[-1]
        objects = [self.compile(clang, f"rdc_{name}.o", MANY[-2:], "-fgpu-rdc", source=name) for name in "ab"]
        for path in objects:  # LLVM bitcode
            self.assertEqual(self.inspect(path)[0]["images"], [])
        stub = self.root / "stub.c"
        stub.write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in
                                ("__hipRegisterFatBinary", "__hipUnregisterFatBinary", "__hipRegisterFunction", "hipLaunchKernel",
                                 "__hipPopCallConfiguration")))
        subprocess.run(["gcc", "-fPIC", "-shared", "-o", self.root / "libstub.so", stub], check=True)
        library = self.root / "rdc.so"
        clang.run("clang", "--hip-link", "-nogpulib", "-fgpu-rdc", *(f"--offload-arch={arch}" for arch in MANY[-2:]), "-shared",
                  "-fuse-ld=lld", "-nostdlib", "-o", library, *objects, f"-L{self.root}", "-lstub")
        self.check(library, self.section(library))


@testspace.deep
class OclocTest(OffloadTest):
    @classmethod
    def setUpClass(cls):
        offload_tools.fetch()
        super().setUpClass()
        cls.ocloc = offload_tools.Ocloc()
        (cls.root / "made").mkdir()
        (cls.root / "k.cl").write_text(KERNELS)
        cls.reader.run("clang", "--target=spirv64", "-cl-std=CL2.0", "-O2", "-c", "k.cl", "-o", "k.spv", cwd=cls.root)
        # Words for a kind of one device are none; xe-hp is of a machine that was never sold.
        cls.versions = {name: version for name, version in cls.ocloc.devices().items() if not re.match(r"gen|xe-", name)}

    def make(self, name, devices, *options):
        self.ocloc.run("compile", "-spirv_input", "-file", "k.spv", "-device", devices, "-output", name, "-out_dir", "made", "-q", *options,
                       cwd=self.root)
        return next(path for path in (self.root / "made").iterdir() if path.name == name or path.name.startswith(f"{name}_"))

    @staticmethod
    def number(path):
        """What the image says that it is for: the core or the product, which several devices may have."""
        data = path.read_bytes()
        at = data.find(b"CTNI")
        if at >= 0:
            return "core", struct.unpack_from("<I", data, at + 8)[0]
        return "product", struct.unpack_from("<I", data, data.find(b"IntelGT\0") + 8)[0]

    def test_each_device_in_both_forms(self):
        named, devices = {}, collections.defaultdict(set)
        for form, (device, version) in itertools.product(("patchtokens", "zebin"), self.versions.items()):
            with self.subTest(form=form, device=device):
                path = self.make(f"{form}-{device}", device, "--format", form)
                inspected = self.inspect(path, "--kernels")[0]
                self.assertEqual(sorted(kernel["name"] for kernel in inspected["kernels"]), ["first", "second"])
                archs = [image["arch"] for image in inspected["images"]]
                archs.remove("spir64")
                self.assertEqual(len(archs), 1)
                number = self.number(path)
                devices[number].add(version)
                named[number, version] = self.versions[archs[0]]
        print(f"compared {len(self.versions)} devices of ocloc's in {2 * len(self.versions)} files", flush=True)
        self.assertGreaterEqual(len(named), 40)
        for (number, version), found in named.items():
            self.assertIn(found, devices[number])
            if len(devices[number]) == 1 or version in ("12.55.8", "12.56.5", "12.57.0", "12.60.7"):
                self.assertEqual(found, version)
        path = self.make("spirv_only", "pvc", "--format", "zebin", "-exclude_ir")
        self.assertEqual([image["arch"] for image in self.inspect(path)[0]["images"]], ["pvc"])

    def test_verdicts(self):
        """Machine code for its device, SPIR-V by the driver for all of Intel's."""
        alone = self.make("alone", "pvc", "--format", "zebin", "-exclude_ir")
        self.assertEqual(self.verdicts(alone, "pvc,dg2-g10,gfx942"), {"pvc": "native", "dg2-g10": "none", "gfx942": "none"})
        both = self.make("both", "pvc", "--format", "zebin")
        self.assertEqual(self.verdicts(both, "pvc,dg2-g10,gfx942"), {"pvc": "native", "dg2-g10": "spirv", "gfx942": "none"})

    def test_archives(self):
        names = {version: name for name, version in reversed(list(self.versions.items()))}
        for devices in ("pvc,dg2-g10,skl", "skl,kbl,cfl,glk", "gen12lp", "xe-hpg,pvc", "tgllp,dg1"):
            with self.subTest(devices=devices):
                path = self.make(devices.replace(",", "-"), devices)
                members = subprocess.run(["ar", "t", path], capture_output=True, text=True, check=True).stdout.split()
                inspected = self.inspect(path)[0]
                self.assertEqual(inspected["modules"], 1)
                images = [image["arch"] for image in inspected["images"]]
                golden = [member.split(".", 1)[1] for member in members if member[0].isdigit()]
                self.assertEqual(len(images) - images.count("spir64"), len(golden))
                for arch, version in zip([image for image in images if image != "spir64"], golden):
                    self.assertEqual(self.versions[arch].split(".")[:2], version.split(".")[:2], names.get(version))


def registered(path):
    """The sizes of the images that a library of SYCL registers, by the relocations of their descriptors (a pointer to the first byte, and
    the next one to the end), and what the sections have in all."""
    rows = elf.sections(path.read_bytes())
    sections = sorted((row.address, row.address + len(row.data)) for row in rows
                      if row.name.startswith(b"__CLANG_OFFLOAD_BUNDLE__sycl"))
    if not sections:
        return []
    begins = [begin for begin, _ in sections]
    pointers = {}
    for row in rows:
        if row.kind == 4:  # SHT_RELA
            for place, _, addend in struct.iter_unpack("<QQQ", row.data):
                at = bisect.bisect(begins, addend) - 1
                if at >= 0 and addend <= sections[at][1]:
                    pointers[place] = addend
    return [pointers[place + 8] - begin for place, begin in pointers.items() if pointers.get(place + 8, 0) > begin]


@testspace.deep
class WheelsTest(OffloadTest):
    PACKAGES = ["dpctl", "dpnp", "onemkl-sycl-stats", "onemkl-sycl-rng", "intel-sycl-rt", "triton", "bitsandbytes"]

    HIP_PACKAGES = ["jax-rocm7-plugin", "cupy-rocm-7-0", "bitsandbytes", "pytorch-triton-rocm"]

    @staticmethod
    def newest_wheel(package):
        """Fetched once; None where it cannot be had."""
        folder = offload_tools.CACHE / "wheels_to_inspect"
        folder.mkdir(parents=True, exist_ok=True)
        beginning = package.replace("-", "_") + "-"
        if not list(folder.glob(beginning + "*.whl")):
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder, package],
                           check=False)
        wheels = sorted(folder.glob(beginning + "*.whl"))
        if not wheels:
            print(f"left out: {package}, which pip cannot fetch", flush=True)
        return wheels[-1] if wheels else None

    def members(self, package):
        """Path and what inspect says of each file of device code, or with a place for it, that the package has."""
        wheel = self.newest_wheel(package)
        files = {one["file"]: one for one in self.inspect(wheel)} if wheel else {}
        for name, inspected in files.items():
            member = name.removeprefix(f"{wheel}/")
            with zipfile.ZipFile(wheel) as archive:
                path = pathlib.Path(archive.extract(member, self.root / "member"))
            yield path, inspected
            path.unlink()

    def test_libraries_of_sycl(self):
        compared = 0
        for package in self.PACKAGES:
            for path, inspected in self.members(package):
                if path.read_bytes()[:6] != b"\x7fELF\2\1":  # a bare image
                    continue
                golden = registered(path)
                images = [image for image in inspected["images"] if image["kind"] in ("spirv", "device-binary")]
                own = [image["bytes"] for image in images]
                if any(image["kind"] == "device-binary" for image in images):  # several of one compressed archive of ocloc's
                    own, golden = [sum(own)], [sum(golden)]
                self.assertEqual(sorted(own), sorted(golden), path.name)
                compared += bool(golden)
        print(f"compared {compared} libraries with what they register", flush=True)
        self.assertGreaterEqual(compared, 20)

    def test_libraries_of_hip(self):
        """Made by hipcc of ROCm 6.4 to 7.15. A compiler of kernels has bitcode alone."""
        for package in self.HIP_PACKAGES:
            before = self.compared.total()
            for path, inspected in self.members(package):
                if " .hip_fatbin " not in self.reader.run("llvm-readelf", "-SW", path):
                    self.assertFalse([image for image in inspected["images"] if image["kind"] == "code-object"], path.name)
                else:
                    self.check(path, self.section(path))
            print(f"{package}: compared {self.compared.total() - before} libraries with LLVM's tools", flush=True)
        if self.newest_wheel("bitsandbytes"):
            self.assertGreaterEqual(self.compared.total(), 6)


if __name__ == "__main__":
    testspace.main()
