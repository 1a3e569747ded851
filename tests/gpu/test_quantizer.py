"""quantizer from a bundle, on the GPU, against float64 in NumPy (tests/python/quantizer_reference.py)."""

import os
import random
import sys
import unittest

import support  # exits with 77 where something is missing
import quantizer_reference as reference
from quantizer_reference import FORMATS, Format

import numpy as np
import torch

op = support.load_op("quantizer")
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
GROUPS = (8, 16, 24, 64, 128, 264, 512, 520, 1000, 2048, 8192)
INT8, INT4, UINT8, UINT4 = Format(8, True), Format(4, True), Format(8, False), Format(4, False)
NAN, INF = float("nan"), float("inf")


def code_tensor(form, count):
    dtype = torch.int8 if form == INT8 else torch.uint8
    return torch.full((form.code_count(count),), 0x2A, dtype=dtype, device="cuda")


def group_floats(count, group_size):
    return torch.full((-(-count // group_size),), -1.0, device="cuda")


def run_quantize(form, values, codes, scales, offsets, group_size):
    if form.symmetric:
        op.quantize_symmetric(values, codes, scales, group_size, form.bits)
    else:
        op.quantize_asymmetric(values, codes, scales, offsets, group_size, form.bits)


def quantize(form, values, group_size):
    """Codes, scales and offsets (zeros for a symmetric format)."""
    count = values.numel()
    codes = code_tensor(form, count)
    codes = codes.view(values.shape) if form.bits == 8 else codes
    scales, offsets = group_floats(count, group_size), group_floats(count, group_size)
    run_quantize(form, values, codes, scales, offsets, group_size)
    return codes, scales, torch.zeros_like(offsets) if form.symmetric else offsets


def dequantize(form, codes, scales, offsets, result, group_size):
    if form.symmetric:
        op.dequantize_symmetric(codes, scales, result, group_size, form.bits)
    else:
        op.dequantize_asymmetric(codes, scales, offsets, result, group_size, form.bits)
    return result


def float64(tensor):
    return tensor.double().cpu().numpy()


def unpacked(form, codes, count):
    return reference.unpacked(codes.cpu().numpy(), count, form)


def on_gpu(*values, dtype=torch.float32):
    return torch.tensor(values, device="cuda").to(dtype)


class Numbers(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(SEED)

    def for_each_case(self, check):
        for dtype in DTYPES:
            for form in FORMATS:
                for group_size in GROUPS:
                    for count in (1, 7, 9, group_size, 3 * group_size, 5 * group_size + 13, 50_003):
                        shift = 50.0 * (count % 3 == 0)  # groups far from zero, for the offsets
                        values = shift + torch.randn(count, device="cuda") * torch.exp2(
                            torch.randint(-12, 4, (count,), device="cuda"))
                        with self.subTest(seed=SEED, dtype=dtype, form=form, group=group_size, count=count):
                            check(form, values.to(dtype), group_size)

    def test_scales_and_offsets_are_those_of_the_formulas(self):
        def check(form, values, group_size):
            _, scales, offsets = quantize(form, values, group_size)
            wanted_scales, wanted_offsets = reference.parameters(float64(values), group_size, form)
            np.testing.assert_allclose(float64(scales), wanted_scales, rtol=2.0**-22)
            np.testing.assert_array_equal(float64(offsets), wanted_offsets)

        self.for_each_case(check)

    def test_codes_are_the_nearest_by_float64(self):
        def check(form, values, group_size):
            codes, scales, offsets = quantize(form, values, group_size)
            wanted = reference.positions(float64(values), float64(scales), float64(offsets), group_size)
            found = unpacked(form, codes, values.numel())
            # The scale's inverse, the difference and the product are rounded to float32, which moves a near tie.
            clipped = np.clip(wanted, *form.code_range)
            self.assertTrue((np.abs(found - clipped) <= 0.5 + 3e-7 * np.abs(wanted)).all())

        self.for_each_case(check)

    def test_dequantised_values_are_rounded_once(self):
        def check(form, values, group_size):
            codes, scales, offsets = quantize(form, values, group_size)
            found = float64(dequantize(form, codes, scales, offsets, torch.full_like(values, NAN), group_size))
            integers = unpacked(form, codes, values.numel())
            wanted = reference.dequantized(integers, float64(scales), float64(offsets), group_size)
            unit = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}[values.dtype]
            smallest = 2.0**-25 if values.dtype == torch.float16 else 0
            # Float32 comes first, so a float16 or bfloat16 may be rounded twice.
            self.assertTrue((np.abs(found - wanted) <= np.abs(wanted) * unit * 1.001 + smallest).all())

        self.for_each_case(check)

    def test_the_error_is_half_a_step_at_most(self):
        for form in FORMATS:
            values = torch.rand(4096, device="cuda") * 8 + 3
            codes, scales, offsets = quantize(form, values, 64)
            back = dequantize(form, codes, scales, offsets, torch.empty_like(values), 64)
            step = scales.repeat_interleave(64)
            self.assertTrue(bool(((back - values).abs() <= step * 0.5001 + 1e-5).all()), form)

    def test_views_at_any_alignment_and_nothing_beside_them(self):
        for dtype in DTYPES:
            whole = torch.randn(10_000, device="cuda").to(dtype)
            for form in FORMATS:
                for begin in (1, 3, 8):
                    for group_size in (32, 1024):
                        self.view_is_quantised(form, whole, begin, 9001, group_size)

    def view_is_quantised(self, form, whole, begin, count, group_size):
        view = whole[begin:begin + count]
        wanted, scales, offsets = quantize(form, view.clone(), group_size)
        codes = code_tensor(form, 2 * whole.numel())
        untouched = codes[0].item()
        end = begin + wanted.numel()
        run_quantize(form, view, codes[begin:end], torch.empty_like(scales), torch.empty_like(scales), group_size)
        self.assertTrue(torch.equal(codes[begin:end], wanted))
        self.assertTrue(bool((codes[:begin] == untouched).all() and (codes[end:] == untouched).all()))
        back = torch.zeros_like(whole)
        dequantize(form, codes[begin:end], scales, offsets, back[begin:begin + count], group_size)
        plain = dequantize(form, wanted, scales, offsets, torch.empty_like(view), group_size)
        self.assertTrue(torch.equal(back[begin:begin + count], plain))
        self.assertFalse(bool(back[:begin].any() or back[begin + count:].any()))

    def test_more_elements_than_32_bits_count(self):
        count = 2**32 + 9
        if torch.cuda.mem_get_info()[0] < count * 6:
            self.skipTest("needs 26 GB of free GPU memory")
        values = torch.ones(count, dtype=torch.bfloat16, device="cuda")
        values[-1] = 127
        for form, last, before in ((INT8, 127, 1), (UINT4, 15, 0x00)):
            codes, scales, _ = quantize(form, values, 128)
            self.assertEqual((codes[-1].item(), codes[-2].item()), (last, before), form)
            self.assertEqual(scales[-1].item(), 1.0 if form == INT8 else float(np.float32(126 / 15)))


class ByHand(unittest.TestCase):
    def codes_of(self, form, values):
        codes, scales, offsets = quantize(form, values, 16)
        return unpacked(form, codes, values.numel()).tolist(), scales.tolist(), offsets.tolist()

    def test_ties_go_to_even_codes(self):
        # The largest code times 1 is in the group, so the scale is 1.
        self.assertEqual(self.codes_of(INT8, on_gpu(127, 0.5, 1.5, 2.5, -0.5, -1.5, -127)),
                         ([127, 0, 2, 2, 0, -2, -127], [1.0], [0.0]))
        self.assertEqual(self.codes_of(UINT4, on_gpu(-3, 12, -2.5, -1.5, -0.5)), ([0, 15, 0, 2, 2], [1.0], [-3.0]))

    def test_two_codes_lie_in_a_byte_the_first_one_below(self):
        codes, _, _ = quantize(INT4, on_gpu(7, -7, 1, -1, 5), 8)
        self.assertEqual(codes.tolist(), [0x97, 0xF1, 0x05])
        codes, _, _ = quantize(UINT4, on_gpu(0, 15, 1, 2, 5), 8)
        self.assertEqual(codes.tolist(), [0xF0, 0x21, 0x05])

    def test_nan_becomes_0_and_infinities_the_last_codes_and_have_no_say_in_the_scale(self):
        for dtype in DTYPES:
            self.assertEqual(self.codes_of(INT8, on_gpu(NAN, INF, -INF, 127, 1, dtype=dtype)),
                             ([0, 127, -127, 127, 1], [1.0], [0.0]))
            self.assertEqual(self.codes_of(UINT8, on_gpu(NAN, INF, -INF, 2, 257, dtype=torch.float32)),
                             ([0, 255, 0, 0, 255], [1.0], [2.0]))

    def test_a_group_without_a_finite_value_has_scale_one_and_offset_zero(self):
        self.assertEqual(self.codes_of(INT4, on_gpu(INF, NAN, -INF)), ([7, 0, -7], [1.0], [0.0]))
        self.assertEqual(self.codes_of(UINT4, on_gpu(INF, NAN, -INF)), ([15, 0, 0], [1.0], [0.0]))

    def test_a_group_of_one_value_comes_back_exactly(self):
        values = torch.full((24,), 100.37, device="cuda")
        for form in (UINT8, UINT4):
            codes, scales, offsets = quantize(form, values, 8)
            self.assertEqual((scales.unique().tolist(), bool(codes.any())), ([1.0], False))
            self.assertTrue(torch.equal(dequantize(form, codes, scales, offsets, torch.empty_like(values), 8), values))

    def test_zeros_have_scale_one(self):
        self.assertEqual(self.codes_of(INT8, on_gpu(0, -0.0, 0)), ([0, 0, 0], [1.0], [0.0]))

    def test_a_scale_is_never_below_the_smallest_normal_float(self):
        for form in FORMATS:
            self.assertEqual(self.codes_of(form, on_gpu(1e-40, 0)), ([0, 0], [2.0**-126], [0.0]))

    def test_the_widest_range_of_float32(self):
        codes, scales, offsets = self.codes_of(UINT8, on_gpu(3e38, -3e38, 0, 1e38))
        self.assertEqual((codes, offsets), ([255, 0, 128, 170], [float(np.float32(-3e38))]))
        self.assertAlmostEqual(scales[0] / (6e38 / 255), 1, places=6)

    def test_every_code_is_dequantised(self):
        every = torch.arange(256, dtype=torch.uint8, device="cuda")
        scales, offsets = on_gpu(0.5), on_gpu(-3.0)
        for form in FORMATS:
            count = 256 if form.bits == 8 else 512
            codes = every.view(torch.int8) if form == INT8 else every
            for dtype in DTYPES:
                found = dequantize(form, codes, scales, offsets, torch.empty(count, dtype=dtype, device="cuda"), 512)
                raw = every.cpu().numpy()
                raw = np.stack([raw & 15, raw >> 4], 1).ravel() if form.bits == 4 else raw
                signed = raw.astype(int) - (raw >= 2**(form.bits - 1)) * 2**form.bits
                wanted = signed * 0.5 if form.symmetric else raw * 0.5 - 3
                np.testing.assert_array_equal(float64(found), wanted)

    def test_nothing_is_no_work(self):
        empty = torch.empty(0, device="cuda")
        for form in FORMATS:
            quantize(form, empty, 32)
            dequantize(form, code_tensor(form, 0), empty, empty, empty, 32)


class Launches(unittest.TestCase):
    def test_the_callers_stream_is_used(self):
        values, codes = torch.zeros(1024, device="cuda"), torch.zeros(1024, dtype=torch.int8, device="cuda")
        scales = torch.zeros(8, device="cuda")
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)
            values.fill_(127)
            op.quantize_symmetric(values, codes, scales, 128, 8)
        stream.synchronize()
        self.assertEqual((codes.unique().tolist(), scales.unique().tolist()), ([127], [1.0]))


class Errors(unittest.TestCase):
    def refused(self, kind, message, function="quantize_symmetric", **changed):
        def zeros(*shape, dtype=torch.float32):
            return torch.zeros(*shape, dtype=dtype, device="cuda")

        symmetric = function.endswith("_symmetric")
        codes = zeros(64, dtype=torch.int8 if symmetric else torch.uint8)
        floats = {"scales": zeros(2)} if symmetric else {"scales": zeros(2), "offsets": zeros(2)}
        first, last = ({"input": zeros(64), "output": codes, **floats}, {}) if function.startswith("q") else (
            {"input": codes, **floats}, {"output": zeros(64)})
        arguments = {**first, **last, "group_size": 32, "bits": 8, **changed}
        with self.assertRaises(kind) as caught:
            getattr(op, function)(*arguments.values())
        self.assertEqual(str(caught.exception), f"{function}: {message}")

    def test_each_argument_is_named(self):
        cuda = {"device": "cuda"}
        self.refused(ValueError, "input: expected a CUDA tensor, got one on cpu", input=torch.zeros(64))
        self.refused(TypeError, "input: expected float32 or float16 or bfloat16, got float64",
                     input=torch.zeros(64, dtype=torch.float64, **cuda))
        self.refused(ValueError, "input: expected contiguous", input=torch.zeros(128, **cuda)[::2])
        self.refused(TypeError, "output: expected int8, got uint8", output=torch.zeros(64, dtype=torch.uint8, **cuda))
        self.refused(TypeError, "output: expected uint8, got int8", "quantize_asymmetric",
                     output=torch.zeros(64, dtype=torch.int8, **cuda))
        self.refused(ValueError, "output: expected the shape (64) of input, got (63)",
                     output=torch.zeros(63, dtype=torch.int8, **cuda))
        self.refused(ValueError, "output: expected 32 elements (two codes each), got 64", "quantize_asymmetric", bits=4)
        self.refused(ValueError, "scales: expected 2 elements (one per group of 32), got 3",
                     scales=torch.zeros(3, **cuda))
        self.refused(ValueError, "offsets: expected 2 elements (one per group of 32), got 3", "dequantize_asymmetric",
                     offsets=torch.zeros(3, **cuda))
        self.refused(TypeError, "scales: expected float32, got float16", "dequantize_symmetric",
                     scales=torch.zeros(2, dtype=torch.float16, **cuda))
        for size in (0, -8, 12, 8200):
            self.refused(ValueError, "group_size: expected a multiple of 8 between 8 and 8192", group_size=size)
        for bits in (0, 2, 16):
            self.refused(ValueError, "bits: expected 8 or 4", bits=bits)
        self.refused(TypeError, "bits: expected an integer, got str", bits="8")


if __name__ == "__main__":
    print(f"seed={SEED}", file=sys.stderr)
    unittest.main()
