#!/usr/bin/env python3
"""The native ops' kernels as HIP's sources have them, run on a CPU with wavefronts of 32 and of 64 lanes
(tests/fakes/hip_cpu): right numbers, and the same bits with both. What clang makes of them runs nowhere here."""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, TESTS, CliTest, TestSpace, testspace  # noqa: E402
from hip_ops_test import SOURCES, run  # noqa: E402
from pages import find_python  # noqa: E402

KERNELS = REPOSITORY / "kernels"
FAKE = TESTS / "fakes/hip_cpu"
LAUNCH = re.compile(r"([\w:]+(?:<[\w, <>]+>)?)\s*<<<(.+?), (\w+(?:\.\w+)?), 0, stream>>>\((.*?)\);", re.S)
COMMON = ["g++", "-x", "c++", "-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-c"]


def with_calls(text):
    """The source without CUDA's syntax for launches."""
    changed, count = LAUNCH.subn(r"hip_cpu::launch(\2, \3, [&] { \1(\4); });", text)
    assert count == text.count("<<<"), text
    return changed


class HipKernelsTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.python, cls.tvm_ffi = find_python()
        cls.space = TestSpace()
        cls.kernels = cls.space.root / "kernels"
        for file in [file for folder in ("include", *SOURCES) for file in (KERNELS / folder).iterdir()]:
            copy = cls.kernels / file.relative_to(KERNELS)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(with_calls(file.read_text()))
        cls.host = [cls.compile(FAKE / "host.cpp")]
        cls.bindings = {op: cls.compile(cls.kernels / op / f"{op}_binding.cpp") for op in SOURCES}

    @classmethod
    def compile(cls, source, *words):
        output = cls.space.root / ("_".join([source.stem, *words[1:2]]).replace("=", "") + ".o")
        flags = words or ["-D__HIP_PLATFORM_AMD__=1"]
        run(*COMMON, *flags, f"-I{cls.kernels}/include", "-isystem", f"{cls.tvm_ffi}/include", source, "-o", output)
        return output

    def make_bundle(self, wavefront):
        """The ops' libraries for a GPU of that many lanes."""
        bundle = self.space.root / f"of_{wavefront}"
        bundle.mkdir()
        for op, sources in SOURCES.items():
            objects = [self.compile(self.kernels / op / source, "-D__HIP__", f"-DWAVEFRONT={wavefront}",
                                    "-ffp-contract=off", f"-I{FAKE}", "-includehip/hip_runtime.h")
                       for source in sources if source.endswith(".cu")]
            run("g++", "-shared", *objects, self.bindings[op], *self.host, "-o", bundle / f"{op}.so",
                f"-L{self.tvm_ffi}/lib", "-ltvm_ffi", "-Wl,--no-undefined")
        return bundle

    def check(self, wavefront):
        """A digest of all results."""
        done = subprocess.run([self.python, "-B", TESTS / "python/hip_kernels.py"], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "DSBUILD_BUNDLE": str(self.make_bundle(wavefront)),
                                   "DSBUILD_SEED": str(testspace.SEED)})
        self.assertEqual(done.returncode, 0, f"{wavefront} lanes, seed {testspace.SEED}: {done.stdout}")
        return done.stdout.splitlines()[-1]

    def test_numbers_are_right_and_the_same_with_32_and_64_lanes(self):
        self.assertEqual(self.check(64), self.check(32), f"seed {testspace.SEED}")


if __name__ == "__main__":
    testspace.main()
