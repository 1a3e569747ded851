#!/usr/bin/env python3
"""Commands other than `build` that use a cache that machines share: wrap and nvcc with the real nvcc, load with a fake toolkit. Machines
are cache folders here."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, testspace  # noqa: E402

CUDA = pathlib.Path(os.environ.get("DSBUILD_TEST_CUDA") or "/usr/local/cuda")
KERNEL = "__global__ void k(float* x) { x[threadIdx.x] *= 2; }\n"
NO_SERVER = "http://127.0.0.1:9"  # discard: nothing listens


@unittest.skipUnless(os.access(CUDA / "bin" / "nvcc", os.X_OK), f"no nvcc in {CUDA}")
class NvccTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-nvcc-"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.folder = self.root / "p"
        self.folder.mkdir()
        (self.folder / "k.cu").write_text(KERNEL)
        self.shared = f"file://{self.root}/shared"

    def run_on(self, machine, *words, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("NVCC_", "DSBUILD_REMOTE"))}
        environment = {**kept, "XDG_CACHE_HOME": str(self.root / machine), "PATH": f"{CUDA / 'bin'}:{os.environ['PATH']}",
                       "LC_ALL": "C", **variables}
        run = subprocess.run([testspace.dsbuild_program(), *words], cwd=self.folder, env=environment, capture_output=True, text=True,
                             timeout=testspace.TIME_LIMIT, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def wrap(self, machine, *options):
        return self.run_on(machine, "wrap", *options, "--", "nvcc", "-arch=sm_80", "-c", "k.cu", "-o", f"{machine}.o").stderr

    def objects(self, *machines):
        return {(self.folder / f"{machine}.o").read_bytes() for machine in machines}

    def test_wrap(self):
        first = self.wrap("first", "--remote", self.shared)
        self.assertIn("0 from the cache, 1 in slices", first)
        self.assertRegex(first, r"shared: 0 of \d+ found there \(0 B\), [1-9]\d* brought there")
        second = self.wrap("second", "--remote", self.shared)
        self.assertIn("1 from the cache, 0 in slices", second)
        self.assertRegex(second, r"shared: 1 of 1 found there")
        self.assertEqual(len(self.objects("first", "second")), 1)

    def test_nvcc(self):
        log = self.root / "log"
        for machine in ("first", "second"):
            self.run_on(machine, "nvcc", "-arch=sm_80", "-c", "k.cu", "-o", f"{machine}.o", DSBUILD_REMOTE=self.shared,
                        DSBUILD_CALL_LOG=str(log))
        self.assertEqual([json.loads(line)["kind"] for line in log.read_text().splitlines()], ["sliced", "taken"])
        self.assertEqual(len(self.objects("first", "second")), 1)

    def test_a_server_that_is_gone_costs_a_warning(self):
        said = self.wrap("first", "--remote", NO_SERVER)
        self.assertIn("1 in slices", said)
        self.assertIn("warning[remote_off]", said)
        for machine, url, why in (("second", NO_SERVER, "127.0.0.1"), ("third", "of no scheme", "scheme")):
            run = self.run_on(machine, "nvcc", "-arch=sm_80", "-c", "k.cu", "-o", f"{machine}.o", DSBUILD_REMOTE=url)
            self.assertRegex(run.stderr, f"^dsbuild nvcc: without the shared cache: [^\n]*{why}[^\n]*\n$")
        self.assertEqual(len(self.objects("first", "second", "third")), 1)


class LoadTest(CliTest):
    def test_load(self):
        shared = f"file://{testspace.TestSpace('share').root}/shared"
        compiles = []
        for name in ("first", "second"):
            space = testspace.TestSpace(name, store=True)
            run = self.run_in(space, "load", "beta", "--gpu", "9.0", "--json", "--remote", shared,
                              without=("--arch", "--ops", "--out", "--build-dir"))
            self.assertEqual(run.code, 0, run)
            compiles.append(json.loads(run.out)["compiles"])
        self.assertGreater(compiles[0], 0)
        self.assertEqual(compiles[1], 0)


if __name__ == "__main__":
    testspace.main(each_commit=1)
