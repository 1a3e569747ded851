"""my_op of a bundle against NumPy. DSBUILD_BUNDLE names the bundle's folder (default dsbuild-out).

Needs numpy and apache-tvm-ffi, and on a machine with a GPU torch, which makes the tensors there.
"""

import os
import unittest

import numpy
import tvm_ffi

bundle = os.environ.get("DSBUILD_BUNDLE", "dsbuild-out")
op = tvm_ffi.load_module(os.path.join(bundle, "my_op.so"))


class OnTheGpu(unittest.TestCase):
    def setUp(self):
        if not os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is no NVIDIA GPU here")
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        self.torch = torch

    def test_it_multiplies(self):
        for size in (0, 1, 255, 256, 257, 100_003):
            x = numpy.random.default_rng(size).standard_normal(size, dtype="float32")
            on_gpu = self.torch.from_numpy(x).cuda()
            y = self.torch.full_like(on_gpu, -1)
            op.my_op_forward(on_gpu, y, 2.5)
            numpy.testing.assert_array_equal(y.cpu().numpy(), numpy.float32(2.5) * x)


class Arguments(unittest.TestCase):
    def test_a_cpu_tensor_is_refused(self):
        x = tvm_ffi.from_dlpack(numpy.ones(4, "float32"))
        with self.assertRaisesRegex(ValueError, "my_op_forward: x: expected a CUDA tensor"):
            op.my_op_forward(x, x, 2.5)

    def test_another_dtype_is_refused(self):
        x = tvm_ffi.from_dlpack(numpy.ones(4, "float64"))
        with self.assertRaisesRegex(TypeError, "my_op_forward: x: expected float32"):
            op.my_op_forward(x, x, 2.5)


if __name__ == "__main__":
    unittest.main()
