"""rms_norm and layer_norm from a bundle, on the GPU, against float64 (tests/python/norm_reference.py) and torch's own."""

import os
import random
import sys
import unittest

import norms  # exits with 77 where something is missing
import norm_reference as reference
import results
from norms import DTYPES, Inputs

import torch

NORMS = norms.both()
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
ROUNDING = 1e-5  # of sums in float32 and what follows from them, beside the sum of the magnitudes
# Rows on some lanes, on a warp, on a block with 1, 2 and 4 packs to a thread, in memory; beside each limit, and odd.
HIDDEN = [1, 2, 3, 5, 7, 8, 9, 16, 31, 32, 33, 64, 65, 127, 128, 129, 255, 256, 257, 512, 520, 1000, 1023, 1024, 1025,
          1032, 2047, 2048, 2056, 4096, 4104, 5001, 8191, 8192, 8200, 12288, 16383, 16384, 16392, 32768, 32776, 65535,
          65536, 70001]
MANY_ROWS = [(70_001, 8), (50_000, 40), (30_001, 300), (20_011, 1024), (3001, 1025), (3001, 4096), (1500, 8192),
             (1500, 12_288), (700, 16384), (600, 65536)]


def storage_error(value, dtype):
    """Half a unit in the last place of `dtype` at `value`, and half its smallest number."""
    if dtype == torch.float32:
        return 0
    digits, smallest = {torch.float16: (11, 2.0**-25), torch.bfloat16: (8, 2.0**-134)}[dtype]
    return value.abs() * 2.0**-digits * 1.001 + smallest


def double(tensor):
    return None if tensor is None else tensor.double()


def factor(weight):
    return 1 if weight is None else weight.double().abs()


class Case(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(SEED)

    def assert_close(self, name, value, wanted, allowed):
        error = (value.double().reshape(wanted.shape) - wanted).abs()
        worst = error - allowed - storage_error(wanted, value.dtype)
        if not bool((worst <= 0).all()):  # a NaN is not below 0 either
            place = int(torch.where(worst.isnan(), float("inf"), worst).argmax())
            self.fail(f"{name}: element {place}: {value.flatten()[place].item()}, "
                      f"expected {wanted.flatten()[place].item()}; seed {SEED}")

    def check_forward(self, norm, inputs, eps=1e-5):
        """Returns mean and rstd."""
        out, mean, rstd = norm.forward(inputs, eps)
        f = reference.forward(inputs.x.double(), double(inputs.weight), double(inputs.bias), eps, norm.centred)
        of_mean = 2.0**-23 * f.mean.abs() + ROUNDING / f.rstd
        self.assert_close("mean", mean, f.mean, of_mean if norm.centred else 0)
        self.assert_close("rstd", rstd, f.rstd, ROUNDING * f.rstd)
        normalised = (reference.rows_of(inputs.x.double()) - f.mean) * f.rstd
        allowed = factor(inputs.weight) * (ROUNDING * (normalised.abs() + 1) + 2.0**-23 * f.mean.abs() * f.rstd)
        if inputs.bias is not None:
            allowed = allowed + 2.0**-23 * inputs.bias.double().abs()
        self.assert_close("out", out, f.out, allowed)
        return mean, rstd

    def check_backward(self, norm, inputs, mean, rstd, eps=1e-5):
        x, grad_out = (reference.rows_of(t.double()) for t in (inputs.x, inputs.grad_out))
        found = norm.backward(inputs, mean, rstd)
        wanted = reference.backward(grad_out, x, double(inputs.weight), eps, norm.centred)
        f = reference.forward(x, None, None, eps, norm.centred)
        normalised, weighted = f.out.abs(), grad_out.abs() * factor(inputs.weight)
        inexact = ROUNDING + 2.0**-22 * f.mean.abs() * f.rstd  # of x': the mean is rounded too
        level = weighted.mean(1, keepdim=True)
        slope = (weighted * (normalised + 1)).mean(1, keepdim=True)
        allowed = inexact * f.rstd * (weighted + level + (normalised + 1) * slope)
        self.assert_close("grad_input", found[0], wanted.grad_input, allowed)
        for name, gradient, values, sizes in (
                ("grad_weight", found[1], wanted.grad_weight, inexact * grad_out.abs() * (normalised + 1)),
                ("grad_bias", found[2], wanted.grad_bias, ROUNDING * grad_out.abs())):
            if gradient is not None:
                self.assert_close(name, gradient, values, sizes.sum(0))

    def check(self, norm, inputs):
        self.check_backward(norm, inputs, *self.check_forward(norm, inputs))


class Numbers(Case):
    def test_every_dtype_and_size_agrees_with_float64(self):
        for norm in NORMS:
            for dtype in DTYPES:
                for hidden in HIDDEN:
                    for rows in (1, 3, 37):
                        with self.subTest(op=norm.name, dtype=dtype, hidden=hidden, rows=rows):
                            self.check(norm, norm.random_inputs(rows, hidden, dtype, (dtype, dtype), shift=0.5))

    def test_parameters_of_each_dtype_and_none(self):
        for norm in NORMS:
            for dtype in DTYPES:
                for weight in (dtype, torch.float32, None):
                    for bias in (dtype, torch.float32, None) if norm.centred else (None,):
                        for hidden in (40, 333, 1000, 4096, 40_000):
                            with self.subTest(op=norm.name, dtype=dtype, weight=weight, bias=bias, hidden=hidden):
                                self.check(norm, norm.random_inputs(9, hidden, dtype, (weight, bias)))

    def test_more_rows_than_blocks_run_at_once(self):
        for norm in NORMS:
            for dtype in (torch.float32, torch.bfloat16):
                for rows, hidden in MANY_ROWS:
                    with self.subTest(op=norm.name, dtype=dtype, hidden=hidden, rows=rows):
                        self.check(norm, norm.random_inputs(rows, hidden, dtype, (torch.float32, torch.float32)))
                        torch.cuda.empty_cache()

    def test_inputs_of_any_rank(self):
        for norm in NORMS:
            for shape in ((40,), (2, 3, 40), (2, 1, 3, 1, 5)):
                with self.subTest(op=norm.name, shape=shape):
                    flat = norm.random_inputs(torch.Size(shape[:-1]).numel(), shape[-1], torch.float32,
                                              (torch.float32, torch.float32))
                    self.check(norm, Inputs(flat.x.view(shape), flat.weight, flat.bias, flat.grad_out.view(shape)))

    def test_views_at_any_alignment_and_nothing_beside_them(self):
        for norm in NORMS:
            for dtype in DTYPES:
                for hidden in (40, 1000, 1024, 4096, 20_000):
                    for offset in (1, 3, 8):
                        with self.subTest(op=norm.name, dtype=dtype, hidden=hidden, offset=offset):
                            self.views_agree(norm, norm.random_inputs(5, hidden, dtype, (dtype, dtype)), offset)

    def views_agree(self, norm, inputs, offset):
        """Every tensor of the calls as a view that begins `offset` elements into another: the sums are made in another
        order there, so float64 decides, and around the views nothing changes."""
        frames = []

        def framed(tensor):
            if not isinstance(tensor, torch.Tensor):
                return tensor
            frame = torch.full((tensor.numel() + 32,), 7.0, dtype=tensor.dtype, device="cuda")
            frames.append((frame, tensor.numel()))
            view = frame[offset:offset + tensor.numel()].view(tensor.shape)
            view.copy_(tensor)
            return view

        forward = [framed(a) for a in norm.forward_arguments(inputs)]
        norm.forward_call(*forward)
        mean, rstd = forward[-3 if norm.centred else -2], forward[-2]
        backward = [framed(a) for a in norm.backward_arguments(inputs, mean, rstd)]
        norm.backward_call(*backward)
        for frame, count in frames:
            self.assertTrue(bool((frame[:offset] == 7).all() and (frame[offset + count:] == 7).all()))
        plain = norm.forward(inputs)
        unit = {torch.float32: 1e-5, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}[inputs.x.dtype]
        torch.testing.assert_close(forward[3 if norm.centred else 2], plain[0], rtol=unit, atol=1e-5)
        found, wanted = norm.gradients_of(backward), norm.backward(inputs, *plain[1:])
        for own, other in zip(found, wanted):
            if own is not None:
                torch.testing.assert_close(own, other, rtol=unit, atol=unit)

    def test_one_view_alone_at_an_odd_address(self):
        for norm in NORMS:
            inputs = norm.random_inputs(5, 1024, torch.bfloat16, (torch.bfloat16, torch.bfloat16))
            for name in ("x", "weight", "bias", "grad_out"):
                tensor = getattr(inputs, name)
                if tensor is None:
                    continue
                view = torch.empty(tensor.numel() + 1, dtype=tensor.dtype, device="cuda")[1:].view(tensor.shape)
                view.copy_(tensor)
                with self.subTest(op=norm.name, view=name):
                    self.check(norm, Inputs(**{**vars(inputs), name: view}))

    def test_no_rows_are_no_work_and_zero_gradients(self):
        for norm in NORMS:
            for hidden in (1, 33, 1024, 40_000):
                inputs = norm.random_inputs(0, hidden, torch.bfloat16, (torch.bfloat16, torch.float32))
                out, mean, rstd = norm.forward(inputs)
                grad_input, grad_weight, grad_bias = norm.backward(inputs, mean, rstd)
                self.assertEqual((out.numel(), rstd.numel(), grad_input.numel()), (0, 0, 0))
                self.assertTrue(bool((grad_weight == 0).all()))
                self.assertTrue(grad_bias is None or bool((grad_bias == 0).all()))

    def test_a_mean_far_from_zero(self):
        for norm in NORMS:
            for shift in (1e3, 1e5, -1e6):
                for hidden in (64, 1000, 4096, 65536):
                    with self.subTest(op=norm.name, shift=shift, hidden=hidden):
                        self.check_forward(norm, norm.random_inputs(7, hidden, torch.float32, shift=shift))

    def test_rows_of_one_value(self):
        layer = NORMS[1]
        for value in (0.0, 3.0, 1e4 / 3):
            for hidden in (1, 40, 4096):
                inputs = Inputs(torch.full((3, hidden), value, device="cuda"), None, None,
                                torch.ones(3, hidden, device="cuda"))
                out, _, rstd = layer.forward(inputs)
                self.assertTrue(bool((out.abs() <= 1e-3).all() and rstd.isfinite().all()), (value, hidden))
                self.assertTrue(bool(layer.backward(inputs, inputs.x[:, 0].contiguous(), rstd)[0].isfinite().all()))

    def test_eps_is_used(self):
        for norm in NORMS:
            inputs = norm.random_inputs(5, 100, torch.float32)
            for eps in (0.0, 0.5):
                mean, rstd = self.check_forward(norm, inputs, eps)
                self.check_backward(norm, inputs, mean, rstd, eps)

    def test_a_nan_stays_in_its_row(self):
        for norm in NORMS:
            for hidden in (20, 1024, 4096, 65536):
                inputs = norm.random_inputs(6, hidden, torch.bfloat16)
                inputs.x[2, hidden // 2] = float("nan")
                out, mean, rstd = norm.forward(inputs)
                rows = torch.nonzero(out.isnan().any(1)).flatten().tolist()
                self.assertEqual((rows, bool(out[2].isnan().all()), bool(rstd[2].isnan())), ([2], True, True))
                grad_input = norm.backward(inputs, mean, rstd)[0]
                self.assertEqual(torch.nonzero(grad_input.isnan().any(1)).flatten().tolist(), [2])

    def test_agrees_with_torch(self):
        functional = torch.nn.functional
        for norm in NORMS:
            inputs = norm.random_inputs(300, 768, torch.float32, (torch.float32, torch.float32))
            out, mean, rstd = norm.forward(inputs, 1e-5)
            leaves = [t.clone().requires_grad_() for t in (inputs.x, inputs.weight, inputs.bias) if t is not None]
            function = functional.layer_norm if norm.centred else functional.rms_norm
            torch_out = function(leaves[0], (768,), *leaves[1:], eps=1e-5)
            torch.testing.assert_close(out, torch_out.detach(), rtol=1e-5, atol=1e-5)
            torch_out.backward(inputs.grad_out)
            for own, leaf in zip(norm.backward(inputs, mean, rstd), leaves):
                torch.testing.assert_close(own, leaf.grad, rtol=1e-4, atol=1e-4)

    def test_more_elements_than_32_bits_count(self):
        rows, hidden = 2**19 + 3, 4096
        if torch.cuda.mem_get_info()[0] < rows * hidden * 2 * 5:
            self.skipTest("needs 22 GB of free GPU memory")
        for norm in NORMS:
            inputs = Inputs(*(torch.empty(0),) * 4)
            inputs.x = torch.zeros(rows, hidden, dtype=torch.bfloat16, device="cuda")
            inputs.x[-9:].normal_()
            inputs.grad_out = torch.zeros_like(inputs.x)
            inputs.grad_out[-9:].normal_()
            inputs.weight = torch.ones(hidden, dtype=torch.bfloat16, device="cuda")
            inputs.bias = inputs.weight if norm.centred else None
            out, mean, rstd = norm.forward(inputs)
            grads = norm.backward(inputs, mean, rstd)
            last = Inputs(inputs.x[-9:].clone(), inputs.weight, inputs.bias, inputs.grad_out[-9:].clone())
            few = norm.forward(last)
            self.assertTrue(torch.equal(out[-9:], few[0]))
            self.assertTrue(torch.equal(grads[0][-9:], norm.backward(last, *few[1:])[0]))
            wanted = reference.backward(last.grad_out.double(), last.x.double(), None, 1e-5, norm.centred)
            torch.testing.assert_close(grads[1].double(), wanted.grad_weight, rtol=2.0**-7, atol=1e-3)
            del inputs, out, grads
            torch.cuda.empty_cache()


class Launches(Case):
    def test_every_run_gives_the_same_bits(self):
        for norm in NORMS:
            for dtype in DTYPES:
                for rows, hidden in ((5000, 40), (5000, 777), (3000, 4096), (300, 33_000)):
                    inputs = norm.random_inputs(rows, hidden, dtype, (torch.float32, torch.float32))
                    statistics = norm.forward(inputs)[1:]
                    first = norm.backward(inputs, *statistics)
                    for _ in range(4):
                        for own, other in zip(norm.backward(inputs, *statistics), first):
                            self.assertTrue(own is None or torch.equal(own, other), (norm.name, dtype, hidden, SEED))

    def test_a_gradient_that_is_not_wanted_changes_no_other(self):
        for norm in NORMS:
            for hidden in (40, 2048, 40_000):
                inputs = norm.random_inputs(50, hidden, torch.bfloat16, (torch.bfloat16, torch.float32))
                arguments = norm.backward_arguments(inputs, *norm.forward(inputs)[1:])
                norm.backward_call(*arguments)
                wanted = norm.gradients_of(arguments)
                begin = 6 if norm.centred else 4
                for left_out in ({1}, {2}, {1, 2}) if norm.centred else ({1},):
                    less = [None if i - begin in left_out else a for i, a in enumerate(arguments)]
                    for i in {0, 1, 2 if norm.centred else 1} - left_out:
                        less[begin + i] = norms.like(arguments[begin + i])
                    if left_out >= ({1, 2} if norm.centred else {1}):
                        less[-1] = arguments[-1][:0]  # no scratch is needed
                    norm.backward_call(*less)
                    for own, other in zip(norm.gradients_of(less), wanted):
                        self.assertTrue(own is None or torch.equal(own, other), (norm.name, hidden, left_out))

    def test_a_graph_replays_with_new_inputs(self):
        for norm in NORMS:
            for rows, hidden in ((500, 100), (300, 4096), (64, 16384), (20, 65536)):
                inputs = norm.random_inputs(rows, hidden, torch.bfloat16, (torch.bfloat16, torch.bfloat16))
                forward = norm.forward_arguments(inputs)
                statistics = (forward[-3 if norm.centred else -2], forward[-2])
                backward = norm.backward_arguments(inputs, *statistics)
                norm.forward_call(*forward)
                norm.backward_call(*backward)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    norm.forward_call(*forward)
                    norm.backward_call(*backward)
                for _ in range(3):
                    inputs.x.normal_()
                    inputs.grad_out.normal_()
                    graph.replay()
                    results = norm.forward(inputs)
                    self.assertTrue(torch.equal(forward[3 if norm.centred else 2], results[0]), (norm.name, hidden))
                    for own, other in zip(norm.gradients_of(backward), norm.backward(inputs, *results[1:])):
                        self.assertTrue(own is None or torch.equal(own, other), (norm.name, hidden))

    def test_the_callers_stream_is_used(self):
        for norm in NORMS:
            inputs = norm.random_inputs(10, 64, torch.float32)
            forward = norm.forward_arguments(inputs)
            norm.forward_call(*forward)
            torch.cuda.synchronize()
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                torch.cuda._sleep(200_000_000)  # about 0.1 s: on another stream the call would see the old input
                inputs.x.fill_(2)
                norm.forward_call(*forward)
            stream.synchronize()
            wanted = torch.full_like(inputs.x, 0.0 if norm.centred else 1.0)
            torch.testing.assert_close(forward[3 if norm.centred else 2], wanted, rtol=1e-5, atol=1e-5)

    @unittest.skipIf(torch.cuda.device_count() < 2, "needs two GPUs")
    def test_the_tensors_device_is_used_and_the_callers_kept(self):
        for norm in NORMS:
            inputs = norm.random_inputs(10, 64, torch.float32, (torch.float32, torch.float32))
            forward = [a.to("cuda:1") if isinstance(a, torch.Tensor) else a for a in norm.forward_arguments(inputs)]
            norm.forward_call(*forward)
            self.assertEqual(torch.cuda.current_device(), 0)
            out = forward[3 if norm.centred else 2]
            torch.testing.assert_close(out.to("cuda:0"), norm.forward(inputs)[0])


class Errors(Case):
    def refused(self, kind, message, part, position, value):
        """With another value of the argument at `position` of layer_norm's function."""
        norm = NORMS[1]
        inputs = norm.random_inputs(4, 6, torch.float16, (torch.float16, torch.float32))
        arguments = norm.forward_arguments(inputs)
        if part == "backward":
            norm.forward_call(*arguments)
            arguments = norm.backward_arguments(inputs, *arguments[4:6])
        arguments[position] = value
        with self.assertRaises(kind) as caught:
            getattr(norm, f"{part}_call")(*arguments)
        self.assertEqual(str(caught.exception), f"layer_norm_{part}: " + message)

    def test_tensors_that_are_not_contiguous_are_named(self):
        wide = results.empty((4, 12), torch.float16)[:, ::2]
        for part, names in (("forward", {0: "input", 3: "out"}), ("backward", {0: "grad_out", 1: "input", 6: "grad_input"})):
            for position, name in names.items():
                self.refused(ValueError, f"{name}: expected contiguous", part, position, wide)
        self.refused(ValueError, "weight: expected contiguous", "forward", 1, results.empty((12,), torch.float16)[::2])
        self.refused(ValueError, "rstd: expected contiguous", "forward", 5, results.empty((8,), torch.float32)[::2])

    def test_a_cpu_tensor_is_named(self):
        self.refused(ValueError, "input: expected a CUDA tensor, got one on cpu", "forward", 0, torch.zeros(4, 6).half())
        self.refused(ValueError, "bias: expected a CUDA tensor, got one on cpu", "forward", 2, torch.zeros(6))

    def test_a_wrong_dtype_is_named(self):
        def zeros(*shape, dtype):
            return torch.zeros(shape, dtype=dtype, device="cuda")

        self.refused(TypeError, "input: expected float32 or float16 or bfloat16, got float64", "forward", 0,
                     zeros(4, 6, dtype=torch.float64))
        self.refused(TypeError, "weight: expected float16 or float32, got bfloat16", "forward", 1,
                     zeros(6, dtype=torch.bfloat16))
        self.refused(TypeError, "out: expected float16, got float32", "forward", 3, zeros(4, 6, dtype=torch.float32))
        self.refused(TypeError, "mean: expected float32, got float16", "forward", 4, zeros(4, dtype=torch.float16))
        self.refused(TypeError, "grad_bias: expected float32, got float16", "backward", 8, zeros(6, dtype=torch.float16))

    def test_a_wrong_shape_is_named(self):
        def zeros(*shape, dtype=torch.float32):
            return torch.zeros(shape, dtype=dtype, device="cuda")

        self.refused(ValueError, "weight: expected the shape (6), got (5)", "forward", 1, zeros(5))
        self.refused(ValueError, "rstd: expected the shape (4), got (4, 1)", "forward", 5, zeros(4, 1))
        self.refused(ValueError, "out: expected the shape (4, 6) of input, got (6, 4)", "forward", 3,
                     zeros(6, 4, dtype=torch.float16))
        for shape in ((), (4, 0)):
            text = "(" + ", ".join(map(str, shape)) + ")"
            self.refused(ValueError, "input: expected a last dimension of 1 to 1073741824 elements, got the shape " + text,
                         "forward", 0, zeros(*shape, dtype=torch.float16))

    def test_what_does_not_go_together_is_refused(self):
        half = torch.zeros(6, dtype=torch.float16, device="cuda")
        self.refused(ValueError, "grad_weight: expected None where there is no such parameter", "backward", 2, None)
        self.refused(ValueError, "grad_bias: expected None where there is no such parameter", "backward", 3, None)
        self.refused(TypeError, "grad_bias: expected float16, got float32", "backward", 3, half)
        needed = NORMS[1].scratch_call(torch.zeros(4, 6, dtype=torch.float16, device="cuda"))
        self.refused(ValueError, f"scratch: expected at least {needed} elements (what layer_norm_scratch(input) gives), "
                                 f"got {needed - 1}", "backward", 9, results.empty((needed - 1,), torch.float32))

    def test_an_eps_below_zero_is_refused(self):
        for eps in (-1e-6, float("nan"), float("inf")):
            self.refused(ValueError, "eps: expected a finite number >= 0", "forward", 6, eps)


if __name__ == "__main__":
    print(f"seed={SEED}", file=sys.stderr)
    unittest.main()
