#!/usr/bin/env python3
"""Ops built for HIP by dsbuild with a real clang: its images and its host's code are those of clang's whole command, and each
edit makes anew what it touches and nothing else. DSBUILD_HIP names the toolchain (scripts/get_toolkit.sh hip)."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from devices import HIP_RUNTIME, find_hip_toolchain  # noqa: E402
from exec_server import ExecServer  # noqa: E402
from fake_driver import make_fake_driver  # noqa: E402
from offload_tools import clangs  # noqa: E402
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
REMOTE_PARTS = 2  # of each arch: cc1 and lld
HOST_SECTIONS = (".text", ".rodata", ".rodata.str1.1", ".init_array", ".data.rel.ro", ".eh_frame")


def make_pack(folder):
    pack = Pack(folder, "hip")
    pack.add_op("scaling", {"plain.cu": PLAIN, "runtime.cpp": HIP_RUNTIME}, {"backends": ["cuda", "hip"]})
    pack.add_op("for_cuda", {"plain.cu": PLAIN})
    pack.source("sizes.h").write_text(SIZES)
    return pack


def make_space(**options):
    space = TestSpace(pack=make_pack, **options)
    testspace.copy_facts(space.cache_folder(), "hip")
    return space


class HipTest(CliTest):
    def setUp(self):
        self.home = find_hip_toolchain()
        self.space = make_space()
        self.archs = ["gfx90a", "gfx942"]

    def run_for_hip(self, *words, space=None, ops="scaling"):
        space = space or self.space
        cores = ["-j", "2"] if "-j" in testspace.used_options(space.program, *words) else []
        return space.run(*words, "--pack", str(space.pack.folder), "--ops", ops, "--arch", ";".join(self.archs), "--rocm-home",
                         str(self.home), "--out", str(space.out), "--build-dir", str(space.build_dir), *cores)

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

    def whole_command(self, source, flags):
        """The object of clang's one command."""
        made = self.space.root / "whole.o"
        command = [self.home / "llvm/bin/clang++", f"--rocm-path={self.home}", *flags,
                   *(f"--offload-arch={arch}" for arch in self.archs), "-c", source, "-o", made]
        done = subprocess.run(list(map(str, command)), cwd=self.space.build_dir, check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        return made

    def check_object(self, whole, images, host):
        bundle = self.section(".hip_fatbin", whole)
        self.assertTrue(bundle == self.section(".hip_fatbin", images), f"{images}: other images than clang's")
        self.assertGreater(len(self.section(".text", whole)), 100)
        for name in HOST_SECTIONS:
            self.assertEqual(self.section(name, whole), self.section(name, host), name)
        return bundle

    def check_against_whole_command(self):
        unit_id = hashlib.sha256(b"plain.cu").hexdigest()[:16]
        whole = self.whole_command("pack/plain.cu", ["-x", "hip", "-O3", "-std=c++17", "-fPIC", "-D__HIP_PLATFORM_AMD__=1",
                                                     f"-cuid={unit_id}"])
        self.check_object(whole, self.unit(".o"), self.unit(".host.o"))


class ImagesTest(HipTest):
    def test_slices_are_clangs_whole_command_byte_for_byte(self):
        self.archs = MANY if DEEP else sorted(testspace.some_of(ARCHS, 2))
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


@testspace.deep
class NativeOpsTest(HipTest):
    """Every source of the native ops for HIP, for eight targets."""

    ARCHS = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"]

    def setUp(self):
        super().setUp()
        self.archs = sorted(self.ARCHS)
        self.space.environment["TVM_FFI_HOME"] = testspace.find_tvm_ffi()

    def run_native(self, *words):
        run = self.space.run(*words, "--arch", ";".join(self.archs), "--rocm-home", str(self.home), "--out", str(self.space.out),
                             "--build-dir", str(self.space.build_dir), "-j", "2", timeout=3600)
        self.assertEqual(run.code, 0, run)
        return run

    def ops(self):
        plan = json.loads(self.run_native("plan", "--ops", "all", "--json").out)
        return [op["name"] for op in plan["ops"] if op["status"] == "build" and op["archs"]]

    def units(self):
        """(source, the flags of all its compiles, its object) of each"""
        graph = (self.space.build_dir / "build.ninja").read_text()
        for output, source, flags in re.findall(r"^build (\S+)\.host\.o .*?: hip_compile (\S+) .*\n(?:  tools.*\n)?  flags = (.*)$", graph, re.M):
            yield source, re.sub(r" --cuda-host-only -Xclang -cuid=\w+", "", flags).split(), self.space.build_dir / output

    def check_native_ops(self):
        ops = self.ops()
        self.assertGreaterEqual(set(ops), {"fused_adam", "quantizer", "fp_quantizer"})
        self.run_native("build", "--ops", ",".join(ops))
        sizes = {}
        for source, flags, output in self.units():
            with self.subTest(source):
                whole = self.whole_command(source, flags)
                bundle = self.check_object(whole, f"{output}.o", f"{output}.host.o")
                self.assertEqual([bundle.count(f"hipv4-amdgcn-amd-amdhsa--{arch}".encode()) for arch in self.archs], [1] * len(self.archs))
                sizes[source] = len(bundle)
        self.assertGreaterEqual(len(sizes), len(ops))
        print(f"{len(ops)} ops, {len(sizes)} sources, {len(self.archs)} targets: {sum(sizes.values())} bytes of images are clang's", flush=True)

    def test_with_clang_22(self):
        self.check_native_ops()

    def test_with_clang_19(self):
        """Its own, over the headers and device libraries of the other."""
        folder = next((clang.bin for clang in clangs() if clang.version == 19 and clang.has("clang++", "ld.lld")), None)
        if folder is None:
            self.skipTest("no clang 19 with lld (scripts/test.sh deep fetches them)")
        old, self.home = self.home, self.space.root / "hip"
        (self.home / "llvm/bin").mkdir(parents=True)
        for part, target in (("include", old / "include"), ("share", old / "share"), ("amdgcn", old / "amdgcn"),
                             ("llvm/lib", folder.parent / "lib")):  # share says the version of the headers
            (self.home / part).symlink_to(target)
        for tool in ("clang", "clang++", "lld", "ld.lld", "clang-offload-bundler", "llvm-objcopy"):  # it looks for ROCm by the folder that it lies in
            shutil.copy(folder / tool, self.home / "llvm/bin" / tool)
        self.assertIn("clang version 19.", subprocess.run([self.home / "llvm/bin/clang++", "--version"], check=True, text=True,
                                                          stdout=subprocess.PIPE).stdout)
        self.check_native_ops()


class VendorsTest(HipTest):
    """One bundle for NVIDIA's and AMD's GPUs; its CUDA is the fake toolkit's."""

    def setUp(self):
        super().setUp()
        self.archs = ["8.0+PTX", "gfx942"]

    def said(self, *words, **options):
        run = self.run_for_hip(*words, "--cuda-home", str(self.space.toolkit.home), **options)
        self.assertEqual(run.code, 0, run)
        return run

    def build(self, *archs):
        self.archs = archs or self.archs
        self.said("build")
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        return {op["file"]: op for op in manifest["ops"]}, manifest

    def load(self, *words, env=None, code=0):
        run = self.space.run("load", "scaling", "--json", "--pack", str(self.space.pack.folder), *words, env={
            "DSBUILD_BUNDLE": str(self.space.out), "DSBUILD_JIT": "0", **(env or {})})
        self.assertEqual(run.code, code, run)
        return json.loads(run.out)

    def test_one_manifest_has_a_library_for_each(self):
        ops, manifest = self.build()
        self.assertEqual({file.name for file in self.space.out.iterdir()}, {"manifest.json", "provenance.intoto.json", "scaling.cuda.so", "scaling.hip.so"})
        self.assertEqual({(file, op["name"], op["backend"], *op["archs"]) for file, op in ops.items()},
                         {("scaling.cuda.so", "scaling", "cuda", "8.0+PTX"), ("scaling.hip.so", "scaling", "hip", "gfx942")})
        self.assertEqual(manifest["requested"], ["gfx942", "8.0+PTX"])
        self.assertEqual((manifest["toolkit"]["version"], manifest["hip"]["version"].split(".")[0]), ("13.0.88", "22"))
        self.assertEqual(self.space.verify().code, 0)
        image = (self.space.build_dir / "obj/scaling.hip/plain.cu/plain.gfx942.co").read_bytes()
        file = self.space.out / "scaling.hip.so"
        file.write_bytes(file.read_bytes().replace(image, bytes(len(image))))
        self.assertEqual(self.space.verify().code, 1)

    def test_each_library_is_the_one_of_a_build_for_its_vendor_alone(self):
        self.build()
        both = {name: (self.space.out / f"scaling.{name}.so").read_bytes() for name in ("cuda", "hip")}
        for backend, arch in (("cuda", "8.0+PTX"), ("hip", "gfx942")):
            ops, _ = self.build(arch)
            self.assertEqual([(file, op["backend"]) for file, op in ops.items()], [("scaling.so", backend)])
            self.assertEqual({file.name for file in self.space.out.iterdir()}, {"manifest.json", "provenance.intoto.json", "scaling.so"})
            self.assertEqual((self.space.out / "scaling.so").read_bytes(), both[backend])

    def test_what_nvcc_did_not_make_is_not_said_to_be_as_nvccs(self):
        self.archs = ["gfx942"]
        run = self.said("build", "--verify-against-nvcc")
        self.assertIn("compared 0 files: nvcc makes none in slices\n", run.out)

    def test_explain_says_both_or_the_one_that_is_asked_about(self):
        self.build()
        document = json.loads(self.said("explain", "scaling", "--json").out)
        self.assertEqual(document["op"], "scaling")
        self.assertEqual({one["op"]: [target["arch"] for target in one["targets"]] for one in document["backends"]},
                         {"scaling.cuda": ["8.0", "8.0-virtual"], "scaling.hip": ["gfx942"]})
        for one in document["backends"]:
            key = one["op"].split(".")[1].upper()
            self.assertEqual([edge for edge in one["edges"] if edge["runs"]], [])
            for target in one["targets"]:
                steps = {step["stage"]: step["rule"] for step in target["steps"]}
                self.assertEqual(steps["flags"], f"shared: every {key} op of this build has it")
                self.assertIn(f"in {one['op']}.so, from 1 TU; it is in {self.space.out}", steps["image"])
        text = self.said("explain", "scaling").out
        self.assertEqual([text.count(f"scaling.{name}\n") for name in ("cuda", "hip")], [1, 1])
        for asked, name in (("gfx942", "scaling.hip"), ("gfx90a", "scaling.hip"), ("8.0", "scaling.cuda")):
            self.assertEqual(json.loads(self.said("explain", "scaling", asked, "--json").out)["op"], name)
        document = json.loads(self.said("explain", "for_cuda", "--json", ops="all").out)
        steps = {target["arch"]: target["steps"][-1]["rule"] for target in document["targets"]}
        self.assertEqual(steps["gfx942"], "dropped: it is written for CUDA alone, and gfx942 is of other GPUs")

    def test_report_and_inspect_say_who_runs_what_and_the_toolkit_of_each(self):
        self.build()
        document = json.loads(self.said("report", "--gpu", "9.0,gfx942,gfx90a", "--json").out)
        self.assertEqual({brand: toolkit["name"].split(".")[0] for brand, toolkit in document["chosen"].items()},
                         {"CUDA": "CUDA 13", "HIP": "HIP clang 22"})
        for brand in ("CUDA", "HIP"):
            self.assertIn(document["chosen"][brand]["path"], document["environment"][f"{brand} toolkit"])
        self.assertRegex(document["environment"]["bundle"], r", 2 ops, CUDA 13\.0\.88, HIP clang 22\.")
        runs = {op["name"]: {one["gpu"]: one["runs"] for one in op["coverage"]} for op in document["ops"]}
        expected = {"scaling.cuda": {"9.0": "ptx", "gfx942": "none", "gfx90a": "none"},
                    "scaling.hip": {"9.0": "none", "gfx942": "native", "gfx90a": "none"}}
        self.assertEqual({name: runs[name] for name in expected}, expected)
        libraries = [str(self.space.out / f"{name}.so") for name in expected]
        files = json.loads(self.space.run("inspect", *libraries, "--gpu", "9.0,gfx942,gfx90a", "--json").out)["files"]
        self.assertEqual([{one["gpu"]: one["runs"] for one in file["coverage"]} for file in files], list(expected.values()))

    def test_a_missing_toolkit_is_that_of_its_vendor(self):
        run = self.run_for_hip("report", "--json", "--cuda-home", str(self.space.root / "none"))
        document = json.loads(run.out)
        self.assertEqual((document["chosen"]["CUDA"], document["chosen"]["HIP"]["path"]), (None, str(self.home)))
        self.assertEqual([problem["where"] for problem in document["problems"]], ["--cuda-home"])

    def test_load_takes_the_library_for_the_gpu_at_hand(self):
        self.build()
        self.space.environment.update(make_fake_driver(self.space.root / "driver"))
        visible = {"FAKE_GPUS": "90", "CUDA_VISIBLE_DEVICES": "90"}
        for words, env, name in (((), visible, "cuda"), (("--gpu", "9.0"), {}, "cuda"), (("--gpu", "gfx942"), {}, "hip"),
                                 (("--gpu", "gfx942"), visible, "hip"), (("--gpu", "gfx942:xnack-"), {}, "hip")):
            with self.subTest(words=words, env=env):
                self.assertEqual(self.load(*words, env=env)["path"], str(self.space.out / f"scaling.{name}.so"))
        for gpu, has in (("gfx90a", "gfx942"), ("7.5", "8.0+PTX")):
            self.assertIn(f"scaling has no image for {gpu} (it has {has})", self.load("--gpu", gpu, code=3)["error"]["what"])


    def test_a_wheel_has_both_and_is_a_bundle_where_it_is_unpacked(self):
        ops, _ = self.build()
        run = self.space.run("wheel", str(self.space.out), "--wheel-dir", "wheels", "--json")
        self.assertEqual(run.code, 0, run)
        said = json.loads(run.out)
        self.assertEqual((said["ops"], said["left_out"]), (["scaling"], []))
        site = self.space.root / "site-packages"
        with zipfile.ZipFile(self.space.root / said["wheel"]) as archive:
            archive.extractall(site)
        folder = site / "dsbuild_hip_ops"
        self.assertEqual({file.name for file in folder.iterdir()}, {"__init__.py", "manifest.json", *ops})
        subprocess.run([sys.executable, "-m", "compileall", "-q", folder], check=True)  # as Python itself does
        self.assertTrue((folder / "__pycache__").exists())
        for where in (folder, os.path.relpath(folder, self.space.root)):
            self.assertEqual(self.space.run("verify", str(where)).code, 0)
        for gpu, name in (("9.0", "cuda"), ("gfx942", "hip")):
            self.space.out = folder
            self.assertEqual(self.load("--gpu", gpu)["path"], str(folder / f"scaling.{name}.so"))
        (folder / "other.so").write_bytes(b"")
        (folder / "__init__.py").write_text("import os\n")
        run = self.space.run("verify", str(folder))
        self.assertEqual(run.code, 1, run)
        self.assertIn("other.so is in the bundle but not in its manifest", run.out)
        self.assertIn("__init__.py is not the file of the wheel: its sha256 differs from RECORD's", run.out)


@testspace.deep_but("test_an_arch_more_makes_its_slice_alone", "test_another_checkout_compiles_nothing")
class EditsTest(HipTest):
    def setUp(self):
        super().setUp()
        self.space = make_space(store=True)
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
        self.assertIn("6 found in the cache", run.out)  # two slices, the host's code, their bundle, the other file, the library

class ElsewhereTest(HipTest):
    """By remote execution."""

    def elsewhere(self, server):
        space = make_space()
        run = self.run_for_hip("build", "--json", "--remote-exec", server.url, "--remote-local", "never", space=space)
        self.assertEqual(run.code, 0, run)
        return space, run.result()["execution"]

    # Red where the name of the text stands in an object, or the compiler is not given its libraries of device code.
    def test_the_bundle_is_the_one_that_is_built_here(self):
        self.built()
        server = ExecServer(self, slots=2)
        space, uses = self.elsewhere(server)
        self.assertEqual((uses["failed"], uses["off"]), (0, None))
        self.assertGreaterEqual(uses["executed"], REMOTE_PARTS * len(self.archs) + 1)  # the host's code
        self.assertEqual(server.state()["counts"]["executed"], uses["executed"])
        self.assertEqual(testspace.bundle_hash(space.out), testspace.bundle_hash(self.space.out))

    @testspace.deep
    # Red where what the compiler says of a mistake is lost: the whole command says it here.
    def test_a_mistake_is_shown_by_the_whole_command(self):
        server = ExecServer(self, slots=2)
        space = make_space()
        source = space.pack.source("plain.cu")
        source.write_text(source.read_text().replace("*= k_by;", "*= k_missing;"))
        run = self.run_for_hip("build", "--remote-exec", server.url, "--remote-local", "never", space=space)
        self.assertEqual(run.code, 1, run)
        self.assertIn("plain.cu:9:24: error: use of undeclared identifier 'k_missing'", run.err)


del HipTest  # what the others share is no test

if __name__ == "__main__":
    testspace.main(each_commit=3)
