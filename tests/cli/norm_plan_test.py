#!/usr/bin/env python3
"""How the backward pass of rms_norm and layer_norm lays rows on blocks (kernels/norm/norm_stream_plan.cuh), on GPUs with
less and more shared memory than the one that its tests ran on: whatever has few columns is read once."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import testspace  # noqa: E402

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"
CUDA = pathlib.Path(os.environ.get("DSBUILD_TEST_CUDA") or "/usr/local/cuda")
# KiB of a multiprocessor and of a block: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
SHARED = {"7.0": (96, 96), "7.5": (64, 64), "8.0": (164, 163), "8.6": (100, 99), "9.0": (228, 227), "12.0": (100, 99)}
FEW_COLUMNS = (64, 128, 256, 512, 520, 1024, 2048)
WIDTHS = {8: "two bytes", 4: "four bytes"}  # elements of 16 bytes
FEW, MANY = 8, 32  # elements of a thread
PLANS = """
#include <cstdio>
#include <cstdlib>
#include "norm_stream_plan.cuh"
int main(int count, char** words) {
  using namespace dsbuild::ops;
  for (int i = 1; i + 3 < count; i += 4) {
    const NormShape shape{std::atoll(words[i]), std::atoi(words[i + 1]), FloatType::float32};
    const int elements = std::atoi(words[i + 3]);
    const StreamPlan plan = stream_plan(shape, std::atoi(words[i + 2]), elements, 1);
    std::printf("%d %d %d %d %d %d %d %d\\n", plan.layout.packs, plan.layout.threads, plan.layout.block_threads,
                plan.layout.rows_of_block, plan.stages, plan.resident, plan.shared_bytes, most_stream_threads(elements));
  }
}
"""
DEVICE = """
#include <cuda_runtime_api.h>
#include <cstdlib>
extern "C" cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
extern "C" cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int) {
  const char* name = what == cudaDevAttrMultiProcessorCount ? "COUNT"
                     : what == cudaDevAttrMaxSharedMemoryPerMultiprocessor ? "OF_MULTIPROCESSOR" : "OF_BLOCK";
  return *value = std::atoi(std::getenv(name)), cudaSuccess;
}
"""


class PlanTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        nvcc = CUDA / "bin" / "nvcc"
        if not nvcc.exists():
            testspace.skip(f"no nvcc in {CUDA}")
        cls.folder = tempfile.TemporaryDirectory(prefix="dsbuild-norm-plan-")
        root = pathlib.Path(cls.folder.name)
        (root / "plans.cu").write_text(PLANS)
        (root / "device.cpp").write_text(DEVICE)
        cls.program = root / "plans"
        made = subprocess.run([nvcc, "-std=c++17", "-I", KERNELS / "include", "-I", KERNELS / "norm", "-Xlinker",
                               "--allow-multiple-definition", root / "plans.cu", root / "device.cpp", "-o", cls.program],
                              capture_output=True, text=True)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def plans(self, gpu, cases, elements=FEW):
        """(packs, threads of a row, threads of a block, its rows, stages, resident blocks, bytes, most threads of a block) of
        each case (rows, hidden, width)."""
        of_multiprocessor, of_block = SHARED[gpu]
        words = [str(word) for case in cases for word in (*case, elements)]
        run = subprocess.run([self.program, *words], capture_output=True, text=True, check=True,
                             env={"COUNT": "100", "OF_MULTIPROCESSOR": str(of_multiprocessor << 10), "OF_BLOCK": str(of_block << 10)})
        return [tuple(map(int, line.split())) for line in run.stdout.splitlines()]

    def test_rows_of_few_columns_are_read_once_on_every_gpu(self):
        cases = [(rows, hidden, width) for rows in (1, 37, 5000, 1 << 20) for hidden in FEW_COLUMNS for width in WIDTHS]
        for gpu, (of_multiprocessor, of_block) in SHARED.items():
            for case, plan in zip(cases, self.plans(gpu, cases), strict=True):
                packs, threads, block, rows, stages, resident, shared, _ = plan
                with self.subTest(gpu=gpu, rows_hidden_width=case, plan=plan):
                    self.assertGreaterEqual(packs * threads * case[2], case[1])
                    self.assertEqual(block, threads * rows)
                    self.assertEqual(block % 32, 0)
                    self.assertLessEqual(block * resident, 1024)
                    self.assertGreaterEqual(stages, 2)
                    self.assertEqual(shared, stages * 2 * packs * block * 16)
                    self.assertLessEqual(shared + 1024, of_block << 10)
                    self.assertLessEqual(resident * (shared + 1024), of_multiprocessor << 10)
                    if threads > 32:
                        self.assertLess(rows, 16, "barriers of a block")

    def test_no_block_has_more_threads_than_its_kernel_allows(self):
        cases = [(rows, hidden, width) for rows in (1, 200, 1 << 20) for hidden in range(64, 17_000, 64) for width in WIDTHS]
        for gpu in SHARED:
            for elements in (FEW, MANY):
                plans = self.plans(gpu, cases, elements)
                self.assertGreater(sum(plan[0] > 0 for plan in plans), 0)
                wrong = [(case, plan) for case, plan in zip(cases, plans, strict=True) if plan[2] > plan[7]]
                self.assertEqual(wrong[:3], [], f"{len(wrong)} on {gpu}, {elements} elements")

    def test_few_rows_go_to_all_multiprocessors(self):
        rows = 200
        for plan in self.plans("9.0", [(rows, hidden, 8) for hidden in (128, 512, 1024, 4096)]):
            self.assertTrue(-(-rows // plan[3]) >= 100 or plan[2] <= 128, plan)

    def test_many_rows_fill_the_multiprocessor(self):
        for plan in self.plans("9.0", [(1 << 20, hidden, 8) for hidden in (64, 256, 1024, 4096, 8192)]):
            self.assertEqual((plan[2] * plan[5], plan[4]), (1024, 4), plan)


if __name__ == "__main__":
    testspace.main()
