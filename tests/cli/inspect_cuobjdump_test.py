#!/usr/bin/env python3
"""inspect against cuobjdump, module by module: libraries that nvcc made in several ways, and in deep those of PyPI's wheels."""

import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from cuobjdump import CannotRead, find_cuobjdump, functions, images_in_order, list_images, modules  # noqa: E402

ARCHS = ["-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_80,code=[sm_80,compute_80]", "-gencode=arch=compute_90a,code=sm_90a",
         "-gencode=arch=compute_120f,code=sm_120f"]
ONE_ARCH = ["-gencode=arch=compute_86,code=sm_86"]
# Libraries of packages on PyPI, of CUDA 12 and 13. Their versions do not matter: what is compared is read at the same time.
PACKAGES = ["bitsandbytes", "nvidia-cuda-runtime", "nvidia-curand", "nvidia-npp", "nvidia-nvjpeg", "nvidia-nvshmem-cu13", "nvidia-cusolver",
            "nvidia-cusparse", "nvidia-cufft", "nvidia-nccl-cu13", "nvidia-cusparselt-cu13", "nvidia-cudnn-cu13", "nvidia-cublas",
            "flashinfer-cubin", "torch"]
ENOUGH = 30
KERNELS_UP_TO = 60 << 20  # bytes of a library whose kernels are compared too
MEMBERS = 16  # of a package, at most
SAMPLED_MODULES = 6  # of each library, cut out and given to cuobjdump alone


class ComparisonTest(CliTest):
    @classmethod
    def setUpClass(cls):
        find_cuobjdump()
        cls.space = TestSpace()

    def inspect(self, path):
        run = self.space.run("inspect", str(path), "--json")
        self.assertEqual(run.code, 0, run.err)
        return json.loads(run.out)["files"]

    @staticmethod
    def images_of(inspected, *keys):
        return [(image["kind"], image["arch"].replace("compute_", "sm_"))
                for key in keys or ("images", "relocatable_images") for image in inspected[key]]

    def check_file(self, inspected, file):
        """That as many images of each kind and arch were found in `file` as cuobjdump finds. (Where there is relocatable
        device code too, cuobjdump has another order.)"""
        if file.suffix == ".cubin":  # which cuobjdump lists under another option, without the f of sm_100f
            self.assertEqual([(kind, arch.rstrip("f")) for kind, arch in self.images_of(inspected)],
                             [(kind, arch.rstrip("f")) for kind, arch in list_images(file)], inspected["file"])
            return 1
        golden = collections.Counter(images_in_order(file))
        self.assertEqual(collections.Counter(self.images_of(inspected)), golden, inspected["file"])
        sizes = {(("ptx" if size["arch"].startswith("compute_") else "elf"), size["arch"].replace("compute_", "sm_")): size["images"]
                 for size in inspected["sizes"]}
        self.assertEqual(sizes, collections.Counter(self.images_of(inspected, "images")))
        return golden.total()

    def check_modules(self, inspected, file):
        """That each module that the library registers with the CUDA runtime is found, and holds what cuobjdump finds in it alone.
        (What a device link leaves behind where there is nothing to link may not be registered.)"""
        registered = modules(file)
        by_module = collections.defaultdict(list)
        for image in inspected["images"]:
            by_module[image["module"]].append((image["kind"], image["arch"].replace("compute_", "sm_")))
        self.assertLessEqual(len(registered), len(by_module))
        numbers = list(range(len(registered)))
        random.Random(testspace.SEED).shuffle(numbers)
        alone = self.space.root / "module.fatbin"
        for number in numbers[:SAMPLED_MODULES]:
            offset, size = registered[number]
            with open(file, "rb") as whole:
                whole.seek(offset)
                alone.write_bytes(whole.read(size))
            where = f"module {number} of {inspected['file']}"
            if len(registered) == len(by_module):
                self.assertEqual(by_module[number], images_in_order(alone), where)
            else:
                self.assertIn(images_in_order(alone), list(by_module.values()), where)
        return len(registered)


    def check_kernels(self, file):
        """That each arch has the kernels that cuobjdump names."""
        run = self.space.run("inspect", str(file), "--kernels", "--json")
        self.assertEqual(run.code, 0, run.err)
        kernels = json.loads(run.out)["files"][0]["kernels"]
        self.assertEqual({(arch, kernel["name"]) for kernel in kernels for arch in kernel["bytes"]}, functions(file))


class SmallTest(ComparisonTest):
    """What CI makes for itself."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.nvcc = pathlib.Path(testspace.find_real_toolkit()) / "bin" / "nvcc"
        for name in "abc":
            (cls.space.root / f"{name}.cu").write_text(
                f"__device__ int twice_{name}(int x) {{ return 2 * x; }}\n"
                f"template <int N> __global__ void kernel_{name}(int* x) {{ *x = twice_{name}(*x) + N; }}\n"
                f"void launch_{name}(int* x) {{ kernel_{name}<1><<<1, 1>>>(x); kernel_{name}<2><<<1, 1>>>(x); }}\n")

    def make(self, *words):
        subprocess.run([self.nvcc, *words], cwd=self.space.root, check=True, stdin=subprocess.DEVNULL)

    def objects(self, beginning, options, archs):
        names = [f"{beginning}_{name}.o" for name in "abc"]
        for name, source in zip(names, "abc"):
            self.make("-c", "-Xcompiler=-fPIC", *options, *archs[source], "-o", name, f"{source}.cu")
        return names

    def test_libraries_of_three_files(self):
        alike = dict.fromkeys("abc", ARCHS)
        for name, options, archs in testspace.some_of((("none", ["--compress-mode=none"], alike), ("size", ["--compress-mode=size"], alike),
                                     ("speed", ["--compress-mode=speed"], alike),
                                     ("mixed", [], {"a": ARCHS, "b": ONE_ARCH, "c": ARCHS[:1]})), 2):
            with self.subTest(name):
                subprocess.run(["g++", "-shared", "-o", f"{name}.so", *self.objects(name, options, archs)], cwd=self.space.root, check=True)
                file = self.space.root / f"{name}.so"
                inspected = self.inspect(file)[0]
                self.assertGreaterEqual(self.check_file(inspected, file), 7)
                self.assertEqual(self.check_modules(inspected, file), 3)
                self.assertEqual(inspected["modules"], 3)
                self.check_kernels(file)

    def test_relocatable_device_code_and_a_static_library(self):
        objects = self.objects("rdc", ["-rdc=true"], dict.fromkeys("abc", ARCHS))
        for name in objects:
            file = self.space.root / name
            inspected = self.inspect(file)[0]
            self.assertEqual(self.check_file(inspected, file), 5)
            self.assertEqual((inspected["archs"], inspected["modules"], inspected["images"]), ([], 0, []))
        self.make("-lib", "-o", "rdc.a", *objects)
        archive = self.space.root / "rdc.a"
        inspected = self.inspect(archive)[0]
        self.assertEqual(self.check_file(inspected, archive), 15)
        self.check_kernels(archive)
        self.assertEqual((inspected["modules"], len(inspected["relocatable_images"])), (0, 15))
        # The device link makes machine code of the inputs for its own archs, and leaves them in the library, where cuobjdump
        # passes them over unless it is asked for everything.
        self.make("-shared", "-Xcompiler=-fPIC", *ARCHS[:1], "-o", "linked.so", *objects)
        file = self.space.root / "linked.so"
        run = self.space.run("inspect", str(file), "--gpu", "7.5,8.0", "--json")
        inspected = json.loads(run.out)["files"][0]
        self.check_file(inspected, file)
        self.assertEqual(sorted(self.images_of(inspected, "images")), list_images(file))
        self.assertEqual(collections.Counter(self.images_of(inspected, "relocatable_images")),
                         collections.Counter(images_in_order(archive)))
        self.assertEqual([verdict["runs"] for verdict in inspected["coverage"]], ["native", "none"])
        text = self.space.run("inspect", str(file)).out
        self.assertRegex(text, r"linked\.so +7\.5 +1 +1 ")
        self.assertRegex(text, r"\n +relocatable sm_80 +3 ")

    def test_what_a_link_without_archs_leaves_behind_decides_nothing(self):
        self.make("-c", "-Xcompiler=-fPIC", *ONE_ARCH, "-o", "default.o", "a.cu")
        self.make("-shared", "-o", "default.so", "default.o")  # adds an image of nvcc's default arch, 7.5, without code
        file = self.space.root / "default.so"
        run = self.space.run("inspect", str(file), "--gpu", "7.5,8.6", "--json")
        inspected = json.loads(run.out)["files"][0]
        self.assertEqual(self.check_file(inspected, file), 2)
        self.assertEqual(inspected["modules"], 1)
        self.assertEqual([verdict["runs"] for verdict in inspected["coverage"]], ["none", "native"])
        self.assertEqual([verdict["modules"] for verdict in inspected["coverage"]],
                         [[{"runs": "none", "by": None, "count": 1}], [{"runs": "native", "by": "sm_86", "count": 1}]])


@testspace.deep
class WheelsTest(ComparisonTest):
    """What PyPI has: got once, into the cache folder."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
        cls.folder = cache / "dsbuild" / "wheels_to_inspect"
        cls.folder.mkdir(parents=True, exist_ok=True)

    def wheel_of(self, package):
        beginning = package.replace("-", "_") + "-"
        if not list(self.folder.glob(beginning + "*.whl")):
            got = subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-d", self.folder, package],
                                 capture_output=True, text=True, check=False)
            if got.returncode != 0:
                print(f"left out: {package}: {got.stderr.strip().splitlines()[-1]}", flush=True)
                return None
        return sorted(self.folder.glob(beginning + "*.whl"))[-1]

    def test_libraries_of_wheels(self):
        compared, left_out = 0, []
        for package in PACKAGES:
            wheel = self.wheel_of(package)
            if wheel is None:
                left_out.append(package)
                continue
            files, cost = self.measure(wheel)
            print(f"{wheel.name}: {os.path.getsize(wheel) >> 20} MB, {len(files)} files: {cost}", flush=True)
            for inspected in files[:MEMBERS]:
                compared += self.check_member(wheel, inspected)
        if not compared:
            self.skipTest(f"no wheel could be got: {', '.join(left_out)}")
        self.assertGreaterEqual(compared, ENOUGH, left_out)

    def check_member(self, wheel, inspected):
        member = inspected["file"].removeprefix(f"{wheel}/")
        file = self.space.root / os.path.basename(member)
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as packed, open(file, "wb") as unpacked:
            while piece := packed.read(1 << 20):
                unpacked.write(piece)
        (alone, *_), cost = self.measure(file)
        self.assertEqual({**alone, "file": ""}, {**inspected, "file": ""})
        started = time.monotonic()
        try:
            images = self.check_file(inspected, file)
        except CannotRead as error:  # it has libraries of PyPI that it calls an "Invalid ELF"
            print(f"  {member}: not compared: {error}", flush=True)
            return False
        theirs = time.monotonic() - started
        registered = self.check_modules(inspected, file) if ".so" in file.name else inspected["modules"]
        if images and file.suffix != ".cubin" and os.path.getsize(file) < KERNELS_UP_TO:
            self.check_kernels(file)
        print(f"  {member}: {os.path.getsize(file) >> 20} MB, {registered} modules, {images} images: {cost}, "
              f"cuobjdump {theirs:.1f} s", flush=True)
        file.unlink()
        return images > 0 and file.suffix != ".cubin"

    def measure(self, path):
        """What inspect finds in a file, and what it took. Through a small process: what this one starts would be measured with
        what it has itself."""
        small = ("import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
                 "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(code)")
        run = self.space.run("inspect", str(path), "--gpu", "all", "--json", prefix=(sys.executable, "-c", small))
        self.assertEqual(run.code, 0, run.err)
        megabytes = int(run.err.splitlines()[-1]) >> 10
        if ".whl" not in path.name and not testspace.is_sanitized():
            self.assertLess(megabytes, 100, path)
        if path.name == "libtorch_cuda.so":
            again = min(self.space.run("inspect", str(path), "--gpu", "all").seconds for _ in range(3))
            self.assertLess(again, 1)
        return json.loads(run.out)["files"], f"{run.seconds:.2f} s, {megabytes} MB of memory"


if __name__ == "__main__":
    testspace.main()
