"""An op with -rdc=true: a kernel calls device code of another source, and dsbuild has linked the two. Built for the GPU at hand
(ARCH: for these)."""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from packs import Pack

CALLER = """#include <cuda_runtime.h>
extern __device__ float scaled(float x);
__global__ void scale(float* data, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = scaled(data[i]);
}
extern "C" int linked_run(float* host, int count) {
  float* data = nullptr;
  size_t size = count * sizeof(float);
  if (cudaError_t error = cudaMalloc(&data, size)) return error;
  cudaMemcpy(data, host, size, cudaMemcpyHostToDevice);
  scale<<<(count + 255) / 256, 256>>>(data, count);
  cudaError_t error = cudaGetLastError();
  if (!error) error = cudaMemcpy(host, data, size, cudaMemcpyDeviceToHost);
  cudaFree(data);
  return error;
}
"""
CALLED = """__device__ float factor = 3;
__device__ float scaled(float x) { return x * factor + 1; }
"""


class DeviceLinkTest(unittest.TestCase):
    def test_a_kernel_calls_the_code_of_another_source(self):
        with tempfile.TemporaryDirectory() as folder:
            pack = Pack(pathlib.Path(folder) / "pack")
            pack.add_op("linked", {"caller.cu": CALLER, "called.cu": CALLED},
                        {"flags": {"nvcc": ["-rdc=true"]}, "exports": ["linked_run"]})
            subprocess.run([os.environ["DSBUILD_PROGRAM"], "--pack", pack.folder, "--ops", "all", "--quiet",
                            "--arch", os.environ.get("ARCH", "native"), "--out", "bundle", "--build-dir", "build"],
                           cwd=folder, check=True)
            library = ctypes.CDLL(str(pathlib.Path(folder) / "bundle" / "linked.so"))
            values = (ctypes.c_float * 1000)(*range(1000))
            self.assertEqual(library.linked_run(values, len(values)), 0, "a cudaError_t")
            self.assertEqual(list(values), [3.0 * x + 1 for x in range(1000)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
