"""fp_quantizer from a bundle, on the GPU: codes and scales against float64 and against torch's own fp8 types."""

import os
import random
import sys
import unittest

import support  # exits with 77 where something is missing

import torch

op = support.load_op("fp_quantizer")
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
FORMATS = {"e4m3": (torch.float8_e4m3fn, 448.0), "e5m2": (torch.float8_e5m2, 57344.0)}
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
GROUPS = (8, 16, 24, 32, 64, 120, 128, 256, 264, 512, 1000, 2048, 8192)


def quantize(values, group_size, format_name):
    codes = torch.full(values.shape, 0xAA, dtype=torch.uint8, device="cuda")
    scales = torch.full((-(-values.numel() // group_size),), -1.0, device="cuda")
    op.fp_quantize(values, codes, scales, group_size, format_name)
    return codes, scales


def float32(value):
    return torch.tensor(value, dtype=torch.float32).item()


def in_groups(values, group_size):
    """Rows of group_size, the last one filled up with zeros."""
    flat = values.flatten()
    return torch.nn.functional.pad(flat, (0, -flat.numel() % group_size)).view(-1, group_size)


def expected_codes(values, scales, group_size, format_name):
    """By torch: float32 times the inverse scale, then torch's conversion."""
    dtype, largest = FORMATS[format_name]
    scaled = in_groups(values.float(), group_size) * (1 / scales)[:, None]
    return scaled.clamp(-largest, largest).to(dtype).view(torch.uint8).flatten()[:values.numel()].view(values.shape)


def format_values(format_name):
    """Every finite value of the format, in order."""
    codes = torch.arange(256, dtype=torch.uint8, device="cuda")
    values = codes.view(FORMATS[format_name][0]).double()
    return values[values.isfinite()].unique()


class Numbers(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(SEED)

    def for_each_case(self, check):
        for dtype in DTYPES:
            for format_name in FORMATS:
                for group_size in GROUPS:
                    for count in (1, 7, 8, group_size, 3 * group_size, 5 * group_size + 13, 100_003):
                        values = torch.randn(count, device="cuda") * torch.exp2(
                            torch.randint(-12, 4, (count,), device="cuda"))
                        with self.subTest(dtype=dtype, format=format_name, group=group_size, count=count):
                            check(values.to(dtype), group_size, format_name)

    def test_scales_are_the_largest_magnitude_over_the_largest_code(self):
        def check(values, group_size, format_name):
            _, scales = quantize(values, group_size, format_name)
            wanted = in_groups(values.double(), group_size).abs().amax(1) / FORMATS[format_name][1]
            torch.testing.assert_close(scales.double(), wanted, rtol=2.0**-23, atol=0)

        self.for_each_case(check)

    def test_codes_are_the_nearest_by_float64(self):
        def check(values, group_size, format_name):
            codes, scales = quantize(values, group_size, format_name)
            scaled = (in_groups(values.double(), group_size) / scales.double()[:, None]).flatten()[:values.numel()]
            table = format_values(format_name)
            above = torch.searchsorted(table, scaled).clamp(max=table.numel() - 1)
            distance = torch.minimum((table[above] - scaled).abs(), (table[(above - 1).clamp(min=0)] - scaled).abs())
            own = (codes.view(FORMATS[format_name][0]).double() - scaled).abs()
            # The inverse of the scale and the product are rounded to float32, which moves a near tie.
            self.assertTrue(bool((own <= distance + 3e-7 * scaled.abs()).all()))

        self.for_each_case(check)

    def test_codes_are_torchs(self):
        def check(values, group_size, format_name):
            codes, scales = quantize(values, group_size, format_name)
            self.assertTrue(torch.equal(codes, expected_codes(values, scales, group_size, format_name)))

        self.for_each_case(check)

    def test_dequantised_values_are_torchs(self):
        def check(values, group_size, format_name):
            codes, scales = quantize(values, group_size, format_name)
            result = torch.full_like(values, float("nan"))
            op.fp_dequantize(codes, scales, result, group_size, format_name)
            plain = in_groups(codes.view(FORMATS[format_name][0]).float(), group_size) * scales[:, None]
            self.assertTrue(torch.equal(result, plain.flatten()[:values.numel()].to(values.dtype)))

        self.for_each_case(check)

    def test_every_code_is_dequantised_as_torch_does(self):
        for format_name, (dtype, _) in FORMATS.items():
            codes = torch.arange(256, dtype=torch.uint8, device="cuda")
            for out in DTYPES:
                result = torch.empty(256, dtype=out, device="cuda")
                op.fp_dequantize(codes, torch.ones(1, device="cuda"), result, 256, format_name)
                torch.testing.assert_close(result, codes.view(dtype).to(out), rtol=0, atol=0, equal_nan=True)

    def test_ties_go_to_even_codes(self):
        # The group's largest is the format's largest, so the scale is 1.
        values = torch.tensor([448, 17, 19, -17, -19, 2.0**-10, 3 * 2.0**-10, 0], device="cuda")
        codes, scales = quantize(values, 8, "e4m3")
        self.assertEqual(scales.tolist(), [1.0])
        self.assertEqual(codes.view(torch.float8_e4m3fn).float().tolist(), [448, 16, 20, -16, -20, 0, 2.0**-8, 0])

    def test_views_at_any_alignment(self):
        for dtype in DTYPES:
            whole = torch.randn(10_000, device="cuda").to(dtype)
            for offset in (1, 3, 8):
                for group_size in (32, 128, 1024):
                    view = whole[offset:offset + 9001]
                    codes = torch.zeros(10_000, dtype=torch.uint8, device="cuda")
                    scales = torch.zeros(-(-9001 // group_size), device="cuda")
                    op.fp_quantize(view, codes[offset:offset + 9001], scales, group_size, "e4m3")
                    wanted = expected_codes(view, scales, group_size, "e4m3")
                    self.assertTrue(torch.equal(codes[offset:offset + 9001], wanted))
                    self.assertFalse(bool(codes[:offset].any() or codes[offset + 9001:].any()))
                    back = torch.zeros_like(whole)
                    op.fp_dequantize(codes[offset:offset + 9001], scales, back[offset:offset + 9001], group_size,
                                     "e4m3")
                    self.assertFalse(bool(back[:offset].any() or back[offset + 9001:].any()))

    def test_more_elements_than_32_bits_count(self):
        count = 2**32 + 8
        if torch.cuda.mem_get_info()[0] < count * 6:
            self.skipTest("needs 26 GB of free GPU memory")
        values = torch.ones(count, dtype=torch.bfloat16, device="cuda")
        values[-1] = 448
        codes, scales = quantize(values, 128, "e4m3")
        self.assertEqual((codes[-1].item(), codes[-2].item(), scales[-1].item()), (0x7E, 0x38, 1.0))
        self.assertTrue(bool((codes[:-8] == 0x7E).all()))


class SpecialValues(unittest.TestCase):
    def group(self, *values, dtype=torch.float32):
        return torch.tensor(values + (0.0,) * (32 - len(values)), device="cuda").to(dtype)

    def test_a_group_of_zeros_has_scale_one(self):
        codes, scales = quantize(torch.zeros(64, device="cuda"), 32, "e4m3")
        self.assertEqual((scales.tolist(), codes.any().item()), ([1.0, 1.0], False))

    def test_the_sign_of_zero_is_kept(self):
        codes, _ = quantize(self.group(-0.0, 1.0), 32, "e4m3")
        self.assertEqual(codes[:2].tolist(), [0x80, 0x7E])

    def test_nan_stays_nan_and_has_no_say_in_the_scale(self):
        for format_name, (_, largest) in FORMATS.items():
            for dtype in DTYPES:
                codes, scales = quantize(self.group(float("nan"), 2.0, dtype=dtype), 32, format_name)
                self.assertTrue(bool(codes.view(FORMATS[format_name][0])[0].float().isnan()))
                self.assertEqual(scales.tolist(), [float32(2 / largest)])

    def test_infinity_becomes_the_largest_code_and_has_no_say_in_the_scale(self):
        for format_name, (_, largest) in FORMATS.items():
            top = {"e4m3": 0x7E, "e5m2": 0x7B}[format_name]
            codes, scales = quantize(self.group(float("inf"), -float("inf"), 2.0), 32, format_name)
            self.assertEqual(codes[:3].tolist(), [top, top | 0x80, top])
            self.assertEqual(scales.tolist(), [float32(2 / largest)])

    def test_a_group_without_a_finite_value_has_scale_one(self):
        codes, scales = quantize(torch.full((32,), float("inf"), device="cuda"), 32, "e5m2")
        self.assertEqual((scales.tolist(), codes.unique().tolist()), ([1.0], [0x7B]))

    def test_a_scale_is_never_below_the_smallest_normal_float(self):
        codes, scales = quantize(self.group(1e-40), 32, "e4m3")
        self.assertEqual(scales.tolist(), [2.0**-126])
        self.assertFalse(bool(codes[1:].any()))

    def test_nothing_is_no_work(self):
        empty = torch.empty(0, device="cuda")
        op.fp_quantize(empty, empty.to(torch.uint8), empty, 32, "e4m3")
        op.fp_dequantize(empty.to(torch.uint8), empty, empty, 32, "e4m3")


class Launches(unittest.TestCase):
    def test_the_callers_stream_is_used(self):
        values = torch.zeros(1024, device="cuda")
        codes, scales = torch.zeros(1024, dtype=torch.uint8, device="cuda"), torch.zeros(8, device="cuda")
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)
            values.fill_(448)
            op.fp_quantize(values, codes, scales, 128, "e4m3")
        stream.synchronize()
        self.assertEqual((codes.unique().tolist(), scales.unique().tolist()), ([0x7E], [1.0]))


class Errors(unittest.TestCase):
    def refused(self, kind, message, **changed):
        arguments = {"input": torch.zeros(64, device="cuda"),
                     "output": torch.zeros(64, dtype=torch.uint8, device="cuda"),
                     "scales": torch.zeros(2, device="cuda"), "group_size": 32, "format": "e4m3", **changed}
        with self.assertRaises(kind) as caught:
            op.fp_quantize(*arguments.values())
        self.assertEqual(str(caught.exception), "fp_quantize: " + message)

    def test_each_argument_is_named(self):
        cuda = {"device": "cuda"}
        self.refused(ValueError, "input: expected a CUDA tensor, got one on cpu", input=torch.zeros(64))
        self.refused(TypeError, "input: expected float32 or float16 or bfloat16, got float64",
                     input=torch.zeros(64, dtype=torch.float64, **cuda))
        self.refused(ValueError, "input: expected contiguous", input=torch.zeros(128, **cuda)[::2])
        self.refused(TypeError, "output: expected uint8, got int8", output=torch.zeros(64, dtype=torch.int8, **cuda))
        self.refused(ValueError, "output: expected the shape (64) of input, got (63)",
                     output=torch.zeros(63, dtype=torch.uint8, **cuda))
        self.refused(TypeError, "scales: expected float32, got float16",
                     scales=torch.zeros(2, dtype=torch.float16, **cuda))
        self.refused(ValueError, "scales: expected 2 elements (one per group of 32), got 3",
                     scales=torch.zeros(3, **cuda))
        for size in (0, -8, 12, 8200):
            self.refused(ValueError, "group_size: expected a multiple of 8 between 8 and 8192", group_size=size)
        self.refused(ValueError, 'format: expected "e4m3" or "e5m2"', format="e3m4")
        self.refused(TypeError, "format: expected a string, got int", format=1)


if __name__ == "__main__":
    print(f"seed={SEED}", file=sys.stderr)
    unittest.main()
