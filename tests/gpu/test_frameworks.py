"""One bundle under torch, JAX and CuPy on the GPU: the same bits from each. Functions that change their tensors are refused in
JAX, by name. JAX's part needs jax and jax-tvm-ffi, CuPy's cupy; without them it is skipped."""

import os
import unittest

import support  # exits with 77 where something is missing

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # torch is here too
try:
    import torch
except ImportError:
    support.skip("torch is not installed (pip install torch)")
import torch_samples
from torch_samples import results

import dsbuild
import dsbuild.torch

CALLS = [call for call in torch_samples.calls("cuda") if not call.facts["overload"]]


def is_functional(call):
    return not any(fact["writes"] for fact in call.facts["arguments"])


def bits(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8)


class JaxTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            import jax
            import jax_tvm_ffi  # noqa: F401
        except ImportError as error:
            raise unittest.SkipTest(f"{error} (pip install jax jax-tvm-ffi)") from error
        import dsbuild.jax
        cls.jax, cls.ops = jax, dsbuild.jax

    def to_jax(self, value):
        return self.jax.dlpack.from_dlpack(value) if isinstance(value, torch.Tensor) else value

    def to_torch(self, array):
        return torch.from_dlpack(array.view("uint8") if array.dtype.itemsize == 1 else array)

    def test_functions_give_torchs_bits(self):
        seen = 0
        for call in filter(is_functional, CALLS):
            if any(value is None for value in call.arguments):
                continue  # a call of JAX has no place for None
            with self.subTest(str(call)):
                torch.manual_seed(0)
                wanted = results(call.operator(*call.arguments, **call.named))
                named = dict(call.named)
                if "dtype" in named:
                    named["dtype"] = str(named["dtype"]).replace("torch.", "")
                function = getattr(self.ops, call.name)
                arrays = [self.to_jax(value) for value in call.arguments]
                tensors = [isinstance(value, torch.Tensor) for value in call.arguments]
                eager = results(function(*arrays, **named))

                def traced(*given, rest=arrays, tensors=tensors, function=function, named=named):
                    given = iter(given)
                    return function(*[next(given) if is_tensor else value for value, is_tensor in zip(rest, tensors)], **named)
                compiled = results(self.jax.jit(traced)(*[a for a, is_tensor in zip(arrays, tensors) if is_tensor]))
                for want, one, other in zip(wanted, eager, compiled):
                    self.assertTrue(torch.equal(bits(want), bits(self.to_torch(one))))
                    self.assertTrue(torch.equal(bits(want), bits(self.to_torch(other))))
                seen += 1
        self.assertGreater(seen, 0)

    def test_functions_that_change_their_tensors_are_refused_by_name(self):
        refused = {call.name for call in CALLS if not is_functional(call)}
        self.assertTrue(refused)
        for name in refused:
            with self.assertRaisesRegex(TypeError, f"dsbuild.jax.{name}: it changes "):
                getattr(self.ops, name)()


class CupyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            import cupy
        except ImportError as error:
            raise unittest.SkipTest(f"{error} (pip install cupy-cuda13x)") from error
        cls.cupy = cupy

    def test_an_optimiser_changes_its_arrays_as_torchs(self):
        torch.manual_seed(0)
        tensors = [[torch.rand(1001, device="cuda")] for _ in range(4)]
        arrays = [[self.cupy.from_dlpack(tensor.clone()) for tensor in one] for one in tensors]
        options = (1e-3, 0.9, 0.999, 1e-8, 1, True, True, 0.01)
        torch.ops.dsbuild.fused_adam_step(*tensors, *options)
        torch.cuda.synchronize()
        dsbuild.load("fused_adam").fused_adam_step(*arrays, *options)
        self.cupy.cuda.get_current_stream().synchronize()
        for one, other in zip(tensors, arrays):
            self.assertTrue(torch.equal(one[0], torch.from_dlpack(other[0])))

    def test_codes_are_torchs(self):
        values = torch.randn(4, 96, device="cuda")
        codes, scales = torch.ops.dsbuild.fp_quantize(values, 32, "e4m3")
        torch.cuda.synchronize()
        own_codes, own_scales = self.cupy.zeros((4, 96), "uint8"), self.cupy.zeros(12, "float32")
        dsbuild.load("fp_quantizer").fp_quantize(self.cupy.from_dlpack(values), own_codes, own_scales, 32, "e4m3")
        self.cupy.cuda.get_current_stream().synchronize()
        self.assertTrue(torch.equal(codes, torch.from_dlpack(own_codes)) and torch.equal(scales, torch.from_dlpack(own_scales)))


if __name__ == "__main__":
    unittest.main()
