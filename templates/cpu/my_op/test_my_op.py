"""my_op of a bundle against NumPy. DSBUILD_BUNDLE names the bundle's folder (default dsbuild-out).

Needs numpy and apache-tvm-ffi.
"""

import os
import unittest

import numpy
import tvm_ffi

bundle = os.environ.get("DSBUILD_BUNDLE", "dsbuild-out")
op = tvm_ffi.load_module(os.path.join(bundle, "my_op.so"))


class Numbers(unittest.TestCase):
    def test_it_multiplies(self):
        for size in (0, 1, 7, 100_003):
            x = numpy.random.default_rng(size).standard_normal(size, dtype="float32")
            y = numpy.full_like(x, -1)
            op.my_op_forward(tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(y), 2.5)
            numpy.testing.assert_array_equal(y, numpy.float32(2.5) * x)


class Arguments(unittest.TestCase):
    def test_another_dtype_is_refused(self):
        x = tvm_ffi.from_dlpack(numpy.ones(4, "float64"))
        with self.assertRaisesRegex(TypeError, "my_op_forward: x: expected float32"):
            op.my_op_forward(x, x, 2.5)

    def test_another_length_is_refused(self):
        x, y = (tvm_ffi.from_dlpack(numpy.ones(size, "float32")) for size in (4, 5))
        with self.assertRaisesRegex(ValueError, "my_op_forward: y: expected as many elements as x"):
            op.my_op_forward(x, y, 2.5)


if __name__ == "__main__":
    unittest.main()
