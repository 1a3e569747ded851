#!/usr/bin/env python3
"""The wheel: its tag and what it needs; installed with nothing else in a clean root; a build with it; and ops loaded in Python
there, from a bundle of this machine and built on the spot.

DSBUILD_WHEEL: a wheel that is there already. DSBUILD_WHEEL_SUITE: the Debian of the clean root (bookworm)."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent / "support")]
from fake_driver import make_fake_driver  # noqa: E402
from machine import Root, require_roots, run, wheel  # noqa: E402

GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2",
         "ld-linux-aarch64.so.1"}


def cuda_home():
    for home in (os.environ.get("DSBUILD_CUDA_13"), "/usr/local/cuda"):
        if home and os.access(os.path.join(home, "bin", "nvcc"), os.X_OK):
            return home
    raise unittest.SkipTest("no CUDA 13 toolkit (DSBUILD_CUDA_13)")


def glibc_of(ldd):
    return tuple(map(int, re.search(r"(\d+)\.(\d+)$", ldd.splitlines()[0]).groups()))


# One step of Adam, against NumPy in float64.
STEP = """
import dsbuild, numpy
adam = dsbuild.load("cpu_adam")
p, g, m, v = (numpy.linspace(a, b, 10007, dtype=numpy.float32) for a, b in ((-1, 1), (0.5, 2), (0, 0), (0, 0)))
expected = p.astype(numpy.float64) * (1 - 0.1 * 0.01) - 0.1 * g / (numpy.abs(g.astype(numpy.float64)) + 1e-8)
adam.cpu_adam_step([p], [g], [m], [v], 0.1, 0.9, 0.999, 1e-8, 1, True, True, 0.01)
print(float(numpy.abs(p - expected).max()), dsbuild.stats())
"""

REFUSED = """
import dsbuild
try: dsbuild.load("fused_adam")
except dsbuild.DsbuildError as error: print(error.code); print(error)
"""

BUILT = """
import dsbuild, json
from dsbuild import _loader
print(dsbuild.load("fused_adam").fused_adam_step)
print(json.dumps(_loader.find("fused_adam")))
"""


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.wheel = wheel()
        cls.folder = tempfile.TemporaryDirectory(prefix="dsbuild-wheel-")
        cls.place = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_its_tag_is_any_python_3_and_a_glibc(self):
        self.assertRegex(self.wheel.name, r"^dsbuild-[0-9.]+-py3-none-manylinux_2_[0-9]+_(x86_64|aarch64)\.whl$")

    def test_it_asks_for_ninja_and_with_native_for_tvm_ffi(self):
        with zipfile.ZipFile(self.wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            metadata = archive.read(name).decode()
        needs = re.findall(r"^Requires-Dist: (.*)$", metadata, re.M)
        self.assertEqual([need.replace('"', "'") for need in needs],
                         ["ninja>=1.11", "apache-tvm-ffi>=0.1.15; extra == 'native'"])

    def test_its_program_and_its_library_need_nothing_but_glibc(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith((".data/scripts/dsbuild", ".data/data/lib/libdsbuild.so.0"))]
            archive.extractall(self.place, names)
            licences = [name for name in archive.namelist() if "share/dsbuild/licences/" in name]
        self.assertEqual(len(names), 2)
        for name in names:
            text = subprocess.run(["readelf", "-dW", self.place / name], stdout=subprocess.PIPE, text=True, check=True).stdout
            needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
            self.assertTrue(needed and needed <= GLIBC, needed)
        self.assertGreaterEqual(len(licences), 6, "what is linked in stands under licences that go with it")

    def test_its_program_reads_compressed_bundles_of_hip(self):
        """With zlib and zstd, linked in; where there is a clang that makes them."""
        with zipfile.ZipFile(self.wheel) as archive:
            name, = (name for name in archive.namelist() if name.endswith(".data/scripts/dsbuild"))
            program = pathlib.Path(archive.extract(name, self.place))
        program.chmod(0o755)
        test = pathlib.Path(__file__).resolve().parent.parent / "cli/inspect_offload_test.py"
        ran = subprocess.run([sys.executable, "-B", test, "SmallTest"], env=dict(os.environ, DSBUILD=str(program)), check=False)
        if ran.returncode == 77:
            self.skipTest("no clang with clang-offload-bundler")
        self.assertEqual(ran.returncode, 0)

    def test_in_a_root_without_compilers_report_says_what_is_missing(self):
        root = Root(os.environ.get("DSBUILD_WHEEL_SUITE", "bookworm"))
        self.addCleanup(root.remove)
        root.run("sh", "-c", "apt-get -qq update && apt-get -qq install -y --no-install-recommends python3-venv")
        wheels = {"/wheels": self.wheel.parent}
        root.run("sh", "-c", f"python3 -m venv /venv && /venv/bin/pip install -q /wheels/{self.wheel.name}", binds=wheels)
        self.assertRegex(root.run("/venv/bin/dsbuild", "--version"), r"^dsbuild [0-9.]+\n$")
        self.assertNotEqual(root.start("sh", "-c", "command -v g++ || command -v clang++").returncode, 0)
        report = root.start("/venv/bin/dsbuild", "report")
        self.assertEqual(report.returncode, 0, report.stdout)
        for words in ("dsbuild toolkits get 13.5", "apt-get install g++", "pip install apache-tvm-ffi",
                      " in /venv/bin/ninja", "native in /venv/share/dsbuild/"):
            self.assertIn(words, report.stdout)
        self.assertEqual(root.start("/venv/bin/dsbuild", "report", "--strict").returncode, 3)
        print("  glibc of the root:", root.run("ldd", "--version").splitlines()[0])

    def build_here(self):
        """What a build says, and the venv with the program; the bundle is for 8.0."""
        venv, bundle, folder = (self.place / name for name in ("venv", "bundle", "build"))
        run("python3", "-m", "venv", "--clear", venv)
        run(venv / "bin" / "pip", "install", "--quiet", f"{self.wheel}[native]")
        # Nothing is active and nothing is cached: what is used is what was installed beside the program.
        plain = {"PATH": "/usr/bin:/bin", "HOME": str(self.place), "LC_ALL": "C.UTF-8"}
        said = run(venv / "bin" / "dsbuild", "--ops", "cpu_adam,fused_adam", "--arch", "8.0", "--cuda-home", cuda_home(),
                   "--out", bundle, "--build-dir", folder, env=plain, cwd=self.place)
        return said, venv, bundle, folder, plain

    def test_with_a_compiler_and_a_toolkit_it_builds_and_verifies(self):
        said, venv, bundle, folder, plain = self.build_here()
        self.assertRegex(said, "built 2, skipped 0|unchanged")
        self.assertTrue((folder / "roots" / "tvm_ffi").resolve().is_relative_to(venv), "tvm-ffi of the program's own environment")
        self.assertIn("ok", run(venv / "bin" / "dsbuild", "verify", bundle, env=plain))

    def test_ops_are_loaded_in_a_root_without_compilers_and_built_once_there_is_a_toolkit(self):
        bundle = self.build_here()[2]
        root = Root(os.environ.get("DSBUILD_WHEEL_SUITE", "bookworm"))
        self.addCleanup(root.remove)
        if glibc_of(root.run("ldd", "--version")) < glibc_of(run("ldd", "--version")):
            self.skipTest("a bundle of this machine needs its glibc, and the root's is older")
        root.run("sh", "-c", "apt-get -qq update && apt-get -qq install -y --no-install-recommends python3-venv")
        root.run("sh", "-c", f"python3 -m venv /venv && /venv/bin/pip install -q '/wheels/{self.wheel.name}[native]' numpy",
                 binds={"/wheels": self.wheel.parent})
        run("cp", "-r", bundle, root.path / "bundle")
        make_fake_driver(root.path / "driver")
        variables = {"DSBUILD_BUNDLE": "/bundle", "LD_LIBRARY_PATH": "/driver", "FAKE_GPUS": "90"}

        def python(code):
            return root.run("/venv/bin/python", "-c", code, env=variables)

        # OpenMP's library comes with compilers and with torch; here it is what is missing.
        refused = root.start("/venv/bin/python", "-c", STEP, env=variables)
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("apt-get install libgomp1", refused.stdout)
        root.run("sh", "-c", "apt-get -qq install -y --no-install-recommends libgomp1")
        difference, _, stats = python(STEP).strip().splitlines()[-1].partition(" ")
        self.assertLess(float(difference), 1e-6)
        self.assertIn("prebuilt=1", stats)

        said = python(REFUSED)
        print(said)
        self.assertIn("no_toolkit", said)
        self.assertRegex(said, r"DSBUILD_BUNDLE /bundle: .* has no image for 9\.0 \(it has 8\.0\)")
        self.assertIn("dsbuild toolkits get 13.5", said)
        self.assertLessEqual(sum(1 + len(line) // 80 for line in said.splitlines()), 24, "one screen")

        root.run("sh", "-c", "apt-get -qq install -y --no-install-recommends g++ libc6-dev")
        root.run("/venv/bin/dsbuild", "toolkits", "get", "13.5")
        found = json.loads(python(BUILT).splitlines()[-1])
        self.assertEqual((found["from"], found["compiles"]), ("built", 0), found)
        self.assertEqual([row["runs"] for row in found["coverage"]], ["native"], found)


if __name__ == "__main__":
    require_roots()
    unittest.main(verbosity=2)
