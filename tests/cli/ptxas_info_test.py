#!/usr/bin/env python3
"""--ptxas-info: what kernels take of a GPU, as cuobjdump says it of the same library."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from cuobjdump import find_cuobjdump  # noqa: E402
from packs import Pack  # noqa: E402

KERNELS = """template <class T> __global__ void add(T* x, int n) {
  __shared__ T part[64];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int i = 0; i < n; ++i) x[i] += part[(i * 7) % 64];
}
template __global__ void add<float>(float*, int);
template __global__ void add<double>(double*, int);
__global__ void many(float* x, int n) {
  float held[300];
  for (int i = 0; i < 300; ++i) held[i] = x[(i * n) % 977];
  for (int i = 0; i < n; ++i) x[i] = held[(i * 13) % 300];
}
"""


def make_pack(folder):
    pack = Pack(folder)
    pack.add_op("kernels", {"kernels.cu": KERNELS})
    return pack


class PtxasInfoTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(pack=make_pack)
        cls.space.use_real_toolkit()

    def usage_by_cuobjdump(self):
        """{(arch, kernel): (registers, stack, shared)}"""
        text = subprocess.run([find_cuobjdump(), "--dump-resource-usage",
                               self.space.out / "kernels.so"], capture_output=True, text=True, check=True).stdout
        usage, arch = {}, ""
        for line in text.splitlines():
            if found := re.match(r"arch = (sm_\w+)", line):
                arch = found[1]
            if found := re.match(r" *Function (.*):", line):
                kernel = found[1]
            if found := re.match(r" *REG:(\d+) STACK:(\d+) SHARED:(\d+)", line):
                usage[arch, kernel] = tuple(map(int, found.groups()))
        return usage

    def test_the_table_is_cuobjdumps(self):
        run = self.run_in(self.space, "--arch", "8.0,9.0", "--ptxas-info", "--json")
        self.assertEqual(run.code, 0, run)
        kernels = run.result()["kernels"]
        usage = self.usage_by_cuobjdump()
        self.assertEqual(len(usage), 6)
        self.assertEqual({(one["arch"], one["name"]): (one["registers"], one["stack"], one["shared"]) for one in kernels}, usage)
        shown = self.run_in(self.space, "--arch", "8.0,9.0", env={"DS_DEBUG_CUDA_BUILD": "1"})
        self.assertEqual(shown.code, 0, shown)
        self.assertRegex(shown.out, r"(?m)^op +arch +registers +stack +shared +spills +kernel$")
        for (arch, _), (registers, stack, shared) in usage.items():
            self.assertRegex(shown.out, rf"(?m)^kernels +{arch} +{registers} +{stack} +{shared} +\S+ +(void )?(add|many)")
        self.assertIn("void add<double>(double*, int)", shown.out)
        self.assertNotIn("registers", self.run_in(self.space, "--arch", "8.0,9.0").out)


if __name__ == "__main__":
    testspace.main()
