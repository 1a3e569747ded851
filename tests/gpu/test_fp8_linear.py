"""fp8_linear from a bundle, on the GPU: against float64 (tests/python/fp8_reference.py)."""

import os
import random
import sys
import unittest

import support  # exits with 77 where something is missing
import fp8_reference as reference
from fp8_reference import FORMATS

import torch

if torch.cuda.get_device_capability() < (8, 9):
    support.skip("fp8 needs a GPU of compute capability 8.9 or newer")

op = support.load_op("fp8_linear")
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
PAIRS = (("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"))
MATRICES = [(1, 1), (1, 8), (5, 7), (16, 16), (128, 128), (129, 130), (200, 64), (64, 4096), (257, 1000), (4096, 24)]
# (M, N, K): multiples of 16 and others.
PRODUCTS = [(16, 16, 16), (1, 16, 32), (7, 16, 16), (1, 1, 1), (5, 3, 7), (17, 33, 65), (128, 100, 200), (130, 128, 96),
            (16, 17, 16), (16, 16, 17), (512, 768, 1024), (1000, 1000, 1000), (300, 272, 4096)]


def cuda(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda").to(dtype)


def quantize(values, scale, form):
    codes = torch.full(values.shape, 0xAA, dtype=torch.uint8, device="cuda")
    op.fp8_quantize(values, scale, codes, form)
    return codes


def quantize_current(values, form):
    """(codes, scale)"""
    codes = torch.full(values.shape, 0xAA, dtype=torch.uint8, device="cuda")
    scale = torch.full((1,), -1.0, device="cuda")
    op.fp8_quantize_current(values, scale, torch.full((1024,), -1.0, device="cuda"), codes, form)
    return codes, scale


def scale_of(values, form):
    return quantize_current(values, form)[1]


def workspace(a, b):
    return torch.empty(op.fp8_linear_workspace(a, b), dtype=torch.uint8, device="cuda")


def multiply(a, b, a_scale, b_scale, bias, dtype, a_form, b_form, split):
    out = torch.full((a.shape[0], b.shape[0]), float("nan"), dtype=dtype, device="cuda")
    op.fp8_linear_matmul(a, b, a_scale, b_scale, bias, out, workspace(a, b), a_form, b_form, split)
    return out


def relative(got, wanted):
    """The error's norm over the result's."""
    return ((got.double() - wanted).norm() / wanted.norm().clamp(min=1e-30)).item()


class Quantisation(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(SEED)

    def for_each(self, check):
        for dtype in DTYPES:
            for form in FORMATS:
                for shape in MATRICES:
                    values = cuda(*shape) * torch.exp2(torch.randint(-12, 4, shape, device="cuda"))
                    with self.subTest(dtype=dtype, format=form, shape=shape, seed=SEED):
                        check(values.to(dtype), form)

    def test_scales_make_the_largest_magnitude_the_largest_code(self):
        def check(values, form):
            scale = scale_of(values, form)
            torch.testing.assert_close(scale, reference.scale_of(values, form), rtol=2.0**-22, atol=0)
            self.assertEqual(quantize(values, scale, form).view(FORMATS[form][0]).float().abs().max().item(),
                             FORMATS[form][1])

        self.for_each(check)

    def test_codes_are_torchs(self):
        def check(values, form):
            codes, scale = quantize_current(values, form)
            self.assertTrue(torch.equal(codes, reference.quantize(values, scale, form)))
            self.assertTrue(torch.equal(codes, quantize(values, scale, form)))

        self.for_each(check)

    def test_transposed_codes_and_amax_come_in_the_same_pass(self):
        def check(values, form):
            scale = scale_of(values, form)
            wanted = reference.quantize(values, scale, form)
            codes, codes_t = torch.empty_like(wanted), torch.empty_like(wanted.t().contiguous())
            op.fp8_quantize_both(values, scale, codes, codes_t, form)
            self.assertTrue(torch.equal(codes, wanted) and torch.equal(codes_t, wanted.t()))
            own_scale, room = torch.zeros(1, device="cuda"), torch.full((1024,), float("nan"), device="cuda")
            codes.zero_()
            codes_t.zero_()
            op.fp8_quantize_both_current(values, own_scale, room, codes, codes_t, form)
            self.assertTrue(torch.equal(codes, wanted) and torch.equal(codes_t, wanted.t()) and torch.equal(own_scale, scale))
            history = torch.zeros(3, 4, device="cuda")
            codes.zero_()
            codes_t.zero_()
            op.fp8_quantize_both_delayed(values, scale, history, 2, codes, codes_t, form)
            self.assertTrue(torch.equal(codes, wanted) and torch.equal(codes_t, wanted.t()))
            op.fp8_quantize_delayed(values, scale, history, 3, codes.zero_(), form)
            self.assertTrue(torch.equal(codes, wanted))
            largest = values.float().abs().max()
            self.assertEqual(history[0].tolist(), [0, 0, largest.item(), largest.item()])
            self.assertFalse(bool(history[1:].any()))

        self.for_each(check)

    def test_an_amax_is_only_raised(self):
        values, scale = torch.full((100,), -3.0, device="cuda"), torch.ones(1, device="cuda")
        history = torch.tensor([[5.0, 1.0]], device="cuda")
        for slot in (0, 1):
            op.fp8_quantize_delayed(values, scale, history, slot, torch.empty(100, dtype=torch.uint8, device="cuda"), "e4m3")
        self.assertEqual(history.tolist(), [[5.0, 3.0]])

    def test_codes_are_transposed(self):
        for rows, columns in MATRICES:
            codes = torch.randint(0, 256, (rows, columns), dtype=torch.uint8, device="cuda")
            out = torch.empty(columns, rows, dtype=torch.uint8, device="cuda")
            op.fp8_transpose(codes, out)
            self.assertTrue(torch.equal(out, codes.t()), (rows, columns, SEED))

    def test_views_at_any_alignment(self):
        scale = torch.ones(1, device="cuda")
        for dtype in DTYPES:
            whole = cuda(20_000, dtype=dtype)
            for offset in (1, 3, 8):
                view = whole[offset:offset + 9000].view(125, 72)
                wanted = reference.quantize(view, scale, "e4m3")
                codes, codes_t = (torch.zeros(10_000, dtype=torch.uint8, device="cuda") for _ in range(2))
                op.fp8_quantize_both(view, scale, codes[offset:offset + 9000].view(125, 72),
                                     codes_t[offset:offset + 9000].view(72, 125), "e4m3")
                self.assertTrue(torch.equal(codes[offset:offset + 9000].view(125, 72), wanted))
                self.assertTrue(torch.equal(codes_t[offset:offset + 9000].view(72, 125), wanted.t()))
                op.fp8_quantize(view, scale, codes[offset:offset + 9000].view(125, 72).zero_(), "e4m3")
                self.assertTrue(torch.equal(codes[offset:offset + 9000].view(125, 72), wanted))
                for part in (codes, codes_t):
                    self.assertFalse(bool(part[:offset].any() or part[offset + 9000:].any()))

    def test_special_values(self):
        inf, nan = float("inf"), float("nan")
        for dtype in DTYPES:
            for form, (kind, largest) in FORMATS.items():
                values = torch.tensor([[inf, -inf, nan, 2.0, -0.0, 0.0]], device="cuda").to(dtype)
                scale = scale_of(values, form)
                self.assertAlmostEqual(scale.item(), 2 / largest, delta=1e-9)
                codes = quantize(values, scale, form).view(kind).float()[0]
                self.assertEqual(codes[[0, 1, 3, 4, 5]].tolist(), [largest, -largest, largest, 0, 0])
                self.assertTrue(bool(codes[2].isnan() and codes[4].signbit()))
        for values in (torch.zeros(64, device="cuda"), torch.full((64,), inf, device="cuda"), torch.empty(0, device="cuda")):
            self.assertEqual(scale_of(values, "e4m3").item(), 1)
        self.assertEqual(scale_of(torch.full((9,), 1e-40, device="cuda"), "e4m3").item(), reference.SMALLEST_SCALE)

    def test_nothing_is_no_work(self):
        empty, one = torch.empty(0, 5, device="cuda"), torch.ones(1, device="cuda")
        codes = torch.empty(0, 5, dtype=torch.uint8, device="cuda")
        op.fp8_quantize(empty, one, codes, "e4m3")
        op.fp8_quantize_both(empty, one, codes, codes.view(5, 0), "e4m3")
        own_scale, room = torch.zeros(1, device="cuda"), torch.empty(1024, device="cuda")
        op.fp8_quantize_both_current(empty, own_scale, room, codes, codes.view(5, 0), "e4m3")
        self.assertEqual(own_scale.item(), 1)
        op.fp8_transpose(codes, codes.view(5, 0))

    def test_more_elements_than_32_bits_count(self):
        rows, columns = 2**16 + 1, 2**16
        if torch.cuda.mem_get_info()[0] < rows * columns * 5:
            self.skipTest("needs 22 GB of free GPU memory")
        values = torch.ones(rows, columns, dtype=torch.bfloat16, device="cuda")
        values[-1, -1] = 448
        codes, codes_t = torch.empty_like(values, dtype=torch.uint8), torch.empty(columns, rows, dtype=torch.uint8, device="cuda")
        op.fp8_quantize_both(values, scale_of(values, "e4m3"), codes, codes_t, "e4m3")
        self.assertEqual((codes[-1, -1].item(), codes_t[-1, -1].item(), codes[-1, 0].item()), (0x7E, 0x7E, 0x38))
        self.assertTrue(bool((codes_t[:-1] == 0x38).all()))


class Scales(unittest.TestCase):
    def test_updates_follow_the_history(self):
        torch.manual_seed(SEED)
        for length, count, margin in ((1, 1, 0), (4, 3, 0), (16, 3, 2), (33, 4, -1), (1024, 8, 0)):
            largest = [448, 57344] * 4
            history, scales = torch.zeros(length, count, device="cuda"), torch.ones(count, device="cuda")
            for _ in range(5):
                history[0] = torch.rand(count, device="cuda") * 100
                wanted = reference.updated(history, scales, largest[:count], margin)
                op.fp8_scale_update(history, scales, largest[:count], margin)
                self.assertTrue(torch.equal(history, wanted[0]), (length, count, SEED))
                torch.testing.assert_close(scales.double(), wanted[1], rtol=1e-6, atol=0)

    def test_a_history_of_zeros_leaves_its_scale(self):
        history, scales = torch.zeros(4, 2, device="cuda"), torch.tensor([3.0, 7.0], device="cuda")
        history[2, 1] = 448
        op.fp8_scale_update(history, scales, [448, 448])
        self.assertEqual(scales.tolist(), [3, 1])


class Products(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(SEED)

    def factors(self, m, n, k, a_form, b_form):
        values = cuda(m, k), cuda(n, k)
        scales = scale_of(values[0], a_form), scale_of(values[1], b_form)
        return values, scales, (quantize(values[0], scales[0], a_form), quantize(values[1], scales[1], b_form))

    def test_products_agree_with_float64(self):
        for m, n, k in PRODUCTS:
            for a_form, b_form in PAIRS:
                _, scales, codes = self.factors(m, n, k, a_form, b_form)
                for dtype in DTYPES:
                    bias = cuda(n, dtype=torch.bfloat16 if dtype == torch.float32 else dtype)
                    for own_bias in (None, bias):
                        for split, allowed in ((False, 2e-2), (True, 5e-3)):
                            with self.subTest(sizes=(m, n, k), formats=(a_form, b_form), dtype=dtype,
                                              bias=own_bias is not None, split=split, seed=SEED):
                                out = multiply(*codes, *scales, own_bias, dtype, a_form, b_form, split)
                                wanted = reference.product(*codes, *scales, own_bias, a_form, b_form)
                                self.assertLess(relative(out, wanted), allowed)

    def test_true_values_are_as_near_as_8_bits_allow(self):
        for (a_form, b_form), allowed in zip(PAIRS, (0.06, 0.1, 0.1)):
            values, scales, codes = self.factors(512, 256, 1024, a_form, b_form)
            out = multiply(*codes, *scales, None, torch.bfloat16, a_form, b_form, True)
            self.assertLess(relative(out, values[0].double() @ values[1].double().t()), allowed)

    def test_every_run_gives_the_same_bits(self):
        _, scales, codes = self.factors(1000, 1000, 1000, "e4m3", "e4m3")
        runs = [multiply(*codes, *scales, None, torch.bfloat16, "e4m3", "e4m3", False) for _ in range(3)]
        self.assertTrue(torch.equal(runs[0], runs[1]) and torch.equal(runs[0], runs[2]))

    def test_nothing_is_no_work(self):
        one = torch.ones(1, device="cuda")
        for m, n in ((0, 16), (16, 0)):
            a, b = (torch.zeros(size, 32, dtype=torch.uint8, device="cuda") for size in (m, n))
            self.assertEqual(multiply(a, b, one, one, None, torch.bfloat16, "e4m3", "e4m3", False).shape, (m, n))

    def test_the_library_in_use_is_told(self):
        self.assertRegex(op.fp8_linear_cublaslt(), r"^\d+ /.*libcublasLt\.so\.1[23]")


class Launches(unittest.TestCase):
    def test_the_callers_stream_is_used(self):
        values = torch.zeros(64, 64, device="cuda")
        codes, scale = torch.zeros(64, 64, dtype=torch.uint8, device="cuda"), torch.ones(1, device="cuda")
        out = torch.zeros(64, 64, dtype=torch.bfloat16, device="cuda")
        room = workspace(codes, codes)
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)
            values.fill_(2)
            op.fp8_quantize(values, scale, codes, "e4m3")
            op.fp8_linear_matmul(codes, codes, scale, scale, None, out, room)
        stream.synchronize()
        self.assertEqual(out.unique().tolist(), [256])

    def test_a_graph_replays_a_step_of_delayed_scaling(self):
        """20 replays against 20 eager steps, bit for bit; sizes that are copied too."""
        torch.manual_seed(SEED)
        for m, n, k in ((256, 128, 512), (100, 50, 70)):
            inputs = [cuda(m, k, dtype=torch.bfloat16) * (number + 1) for number in range(20)]
            weight = cuda(n, k, dtype=torch.bfloat16)
            results = []
            for graphed in (False, True):
                x, history, scales = inputs[0].clone(), torch.zeros(4, 2, device="cuda"), torch.ones(2, device="cuda")
                spread = torch.ones(2, 4, device="cuda")
                codes = [torch.empty(s, dtype=torch.uint8, device="cuda") for s in ((m, k), (k, m), (n, k))]
                out, room = torch.empty(m, n, dtype=torch.bfloat16, device="cuda"), workspace(codes[0], codes[2])

                def step():
                    op.fp8_scale_update(history, scales, [448, 448])
                    spread[:, 0] = scales  # each begins at a multiple of 16 bytes
                    op.fp8_quantize_both_delayed(x, spread[0, :1], history, 0, codes[0], codes[1], "e4m3")
                    op.fp8_quantize_delayed(weight, spread[1, :1], history, 1, codes[2], "e4m3")
                    op.fp8_linear_matmul(codes[0], codes[2], spread[0, :1], spread[1, :1], None, out, room)

                step()
                history.zero_()
                scales.fill_(1)
                run = step
                if graphed:
                    torch.cuda.synchronize()
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph):
                        step()
                    history.zero_()
                    scales.fill_(1)
                    run = graph.replay
                outs = []
                for value in inputs:
                    x.copy_(value)
                    run()
                    outs.append(out.clone())
                results.append([*outs, history.clone(), scales.clone()])
            for number, (eager, replayed) in enumerate(zip(*results)):
                self.assertTrue(torch.equal(eager, replayed), (m, n, k, number, SEED))


class Errors(unittest.TestCase):
    def refused(self, function, kind, message, **changed):
        zeros = {"dtype": torch.uint8, "device": "cuda"}
        arguments = {
            "fp8_linear_matmul": {
                "a": torch.zeros(32, 48, **zeros), "b": torch.zeros(16, 48, **zeros), "a_scale": torch.ones(1, device="cuda"),
                "b_scale": torch.ones(1, device="cuda"), "bias": None,
                "out": torch.zeros(32, 16, dtype=torch.bfloat16, device="cuda"), "workspace": torch.zeros(2**25, **zeros),
                "a_format": "e4m3", "b_format": "e4m3", "use_split_accumulator": False},
            "fp8_quantize_both_delayed": {
                "input": torch.zeros(4, 6, device="cuda"), "scale": torch.ones(1, device="cuda"),
                "history": torch.zeros(2, 3, device="cuda"), "slot": 0, "codes": torch.zeros(4, 6, **zeros),
                "codes_t": torch.zeros(6, 4, **zeros), "format": "e4m3"},
            "fp8_scale_update": {"history": torch.zeros(2, 3, device="cuda"), "scales": torch.ones(3, device="cuda"),
                                 "largest": [448, 448, 448], "margin": 0},
        }[function]
        with self.assertRaises(kind) as caught:
            getattr(op, function)(*{**arguments, **changed}.values())
        self.assertEqual(str(caught.exception), f"{function}: {message}")

    def test_each_argument_of_a_product_is_named(self):
        def refused(kind, message, **changed):
            self.refused("fp8_linear_matmul", kind, message, **changed)

        u8 = {"dtype": torch.uint8, "device": "cuda"}
        refused(ValueError, "a: expected a CUDA tensor, got one on cpu", a=torch.zeros(32, 48, dtype=torch.uint8))
        refused(TypeError, "a: expected uint8, got int8", a=torch.zeros(32, 48, dtype=torch.int8, device="cuda"))
        refused(ValueError, "b: expected contiguous", b=torch.zeros(48, 16, **u8).t())
        refused(ValueError, "b: expected 48 columns like a, got 47", b=torch.zeros(16, 47, **u8))
        refused(ValueError, "a: expected 2 dimensions, got 3", a=torch.zeros(1, 32, 48, **u8))
        refused(ValueError, "a: expected 1 column or more, got none", a=torch.zeros(32, 0, **u8))
        refused(ValueError, "a_scale: expected 1 element, got 2", a_scale=torch.ones(2, device="cuda"))
        refused(ValueError, "out: expected the shape (32, 16), got (16, 32)",
                out=torch.zeros(16, 32, dtype=torch.bfloat16, device="cuda"))
        refused(TypeError, "bias: expected bfloat16, got float32", bias=torch.zeros(16, device="cuda"))
        refused(ValueError, "bias: expected the shape (16), got (15)", bias=torch.zeros(15, dtype=torch.bfloat16, device="cuda"))
        refused(ValueError, 'b_format: expected "e4m3" where a_format is "e5m2": no GPU multiplies e5m2 by e5m2',
                a_format="e5m2", b_format="e5m2")
        refused(ValueError, 'a_format: expected "e4m3" or "e5m2"', a_format="fp8")
        refused(ValueError, "workspace: expected at least 33554432 bytes, got 100", workspace=torch.zeros(100, **u8))
        refused(ValueError, "a: expected to begin at a multiple of 16 bytes", a=torch.zeros(32 * 48 + 8, **u8)[8:].view(32, 48))
        refused(ValueError, "b_scale: expected to begin at a multiple of 16 bytes", b_scale=torch.ones(2, device="cuda")[1:])
        refused(ValueError, "workspace: expected to begin at a multiple of 256 bytes",
                workspace=torch.zeros(2**25 + 16, **u8)[16:])
        refused(TypeError, "use_split_accumulator: expected a bool, got str", use_split_accumulator="no")

    def test_each_argument_of_a_quantisation_is_named(self):
        def refused(kind, message, **changed):
            self.refused("fp8_quantize_both_delayed", kind, message, **changed)

        refused(TypeError, "input: expected float32 or float16 or bfloat16, got float64",
                input=torch.zeros(4, 6, dtype=torch.float64, device="cuda"))
        refused(ValueError, "scale: expected 1 element, got 0", scale=torch.ones(0, device="cuda"))
        refused(ValueError, "slot: expected 0 or more", slot=-1)
        refused(ValueError, "slot: expected one of the 6 elements of history, got 6", slot=6)
        refused(TypeError, "history: expected float32, got float16", history=torch.zeros(2, 3, device="cuda").half())
        refused(ValueError, "codes: expected the shape (4, 6) of input, got (6, 4)",
                codes=torch.zeros(6, 4, dtype=torch.uint8, device="cuda"))
        refused(ValueError, "codes_t: expected the shape (6, 4), got (4, 6)",
                codes_t=torch.zeros(4, 6, dtype=torch.uint8, device="cuda"))
        refused(ValueError, 'format: expected "e4m3" or "e5m2"', format="e3m4")

    def test_each_argument_of_an_update_is_named(self):
        def refused(kind, message, **changed):
            self.refused("fp8_scale_update", kind, message, **changed)

        refused(ValueError, "scales: expected the shape (3), got (2)", scales=torch.ones(2, device="cuda"))
        refused(ValueError, "largest: expected 3 numbers like scales, got 2", largest=[448, 448])
        refused(ValueError, "largest: expected numbers above 0", largest=[448, 0, 448])
        refused(ValueError, "margin: expected an integer between -64 and 64", margin=65)
        refused(ValueError, "history: expected 1 to 1024 rows of 1 to 8 amax values, got (2, 9)",
                history=torch.zeros(2, 9, device="cuda"))


if __name__ == "__main__":
    print(f"seed={SEED}", file=sys.stderr)
    unittest.main()
