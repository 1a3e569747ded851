"""fused_adam from a bundle, on the GPU, against float64 (tests/python/adam_reference.py) and torch's own AdamW."""

import os
import random
import sys
import unittest

import support  # exits with 77 where something is missing
from adam_reference import Options, reference_step, tolerances

import torch
import tvm_ffi

op = support.load_op("fused_adam")
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
DTYPES = [(torch.float32, torch.float32), (torch.float16, torch.float16), (torch.bfloat16, torch.bfloat16),
          (torch.float32, torch.float16), (torch.float32, torch.bfloat16)]
BLOCK = 4096  # elements of one block of the kernel
SIZES = [0, 1, 2, 3, 4, 5, 31, 255, 1023, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 4, 1_000_003]
MODES = [Options(adam_w_mode=w, bias_correction=b, weight_decay=d, grad_scale=s)
         for w in (True, False) for b in (True, False) for d, s in ((0.0, 1.0), (0.1, 1 / 1024))]


def step(state, options):
    op.fused_adam_step(*state, *options.arguments())


def random_state(shapes, param_dtype, grad_dtype, offset=0):
    """Lists of params, grads, exp_avgs and exp_avg_sqs; each a view that begins `offset` elements into another."""

    def make(shape, dtype, scale):
        count = torch.Size(shape).numel()
        whole = torch.randn(offset + count, device="cuda") * scale
        return whole.to(dtype)[offset:].view(shape)

    return [[make(s, param_dtype, 1.0) for s in shapes], [make(s, grad_dtype, 1.0) for s in shapes],
            [make(s, torch.float32, 0.1) for s in shapes], [make(s, torch.float32, 0.1).square_() for s in shapes]]


def storage_error(value, dtype):
    """Half a unit in the last place of `dtype` at `value`, and half its smallest number."""
    if dtype == torch.float32:
        return 0
    digits, smallest = {torch.float16: (11, 2.0**-25), torch.bfloat16: (8, 2.0**-134)}[dtype]
    return value.abs() * 2.0**-digits * 1.001 + smallest


class Numbers(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(SEED)

    def assert_one_step(self, state, options):
        before = [tuple(t.double() for t in tensors) for tensors in zip(*state)]
        step(state, options)
        for index, (old, new) in enumerate(zip(before, zip(state[0], state[2], state[3]))):
            expected = reference_step(*old, options)
            allowed = list(tolerances(*old, options))
            allowed[0] = allowed[0] + storage_error(expected[0], new[0].dtype)
            for name, value, wanted, tolerance in zip(("param", "exp_avg", "exp_avg_sq"), new, expected, allowed):
                worst = ((value.double() - wanted).abs() - tolerance).flatten()
                self.assertTrue(bool((worst <= 0).all()), f"{name} of tensor {index}: {options}")

    def test_every_dtype_and_mode_agrees_with_float64(self):
        for param_dtype, grad_dtype in DTYPES:
            for options in MODES:
                for number in (1, 2, 1000):
                    options.step = number
                    with self.subTest(param=param_dtype, grad=grad_dtype, options=options):
                        self.assert_one_step(random_state([(s,) for s in SIZES], param_dtype, grad_dtype), options)

    def test_views_at_any_alignment(self):
        for param_dtype, grad_dtype in DTYPES:
            for offset in (1, 2, 3, 5):
                with self.subTest(param=param_dtype, grad=grad_dtype, offset=offset):
                    state = random_state([(s,) for s in SIZES], param_dtype, grad_dtype, offset)
                    self.assert_one_step(state, Options(weight_decay=0.1))

    def test_nothing_beside_a_view_is_changed(self):
        for start, count in ((0, BLOCK), (1, BLOCK), (4, 3 * BLOCK + 5), (3, 7)):
            wholes = [torch.full((20000,), x, device="cuda") for x in (1.0, 0.5, 0.0, 0.0)]
            step([[whole[start:start + count]] for whole in wholes], Options(lr=0.1))
            changed = torch.nonzero(wholes[0] != 1).flatten()
            self.assertEqual((changed[0].item(), changed[-1].item()), (start, start + count - 1))
            self.assertEqual(changed.numel(), count)
            torch.testing.assert_close(wholes[0][start:start + count], torch.full((count,), 0.9, device="cuda"))

    def test_more_tensors_than_one_launch_takes(self):
        for count in (87, 88, 89, 176, 177, 1000):
            shapes = [(random.Random(SEED + i).choice((0, 1, 5, 64, 5000)),) for i in range(count)]
            self.assert_one_step(random_state(shapes, torch.float32, torch.float32), Options())

    def test_tensors_of_any_rank(self):
        self.assert_one_step(random_state([(), (3, 5), (2, 3, 4, 5), (0, 7)], torch.float32, torch.float32), Options())

    def test_a_big_tensor(self):
        self.assert_one_step(random_state([(100_000_007,)], torch.bfloat16, torch.bfloat16), Options())

    def test_more_elements_than_32_bits_count(self):
        count = 2**31 + 5
        if torch.cuda.mem_get_info()[0] < count * 13:
            self.skipTest("needs 28 GB of free GPU memory")
        param = torch.ones(count, dtype=torch.bfloat16, device="cuda")
        grad = torch.ones(count, dtype=torch.bfloat16, device="cuda")
        state = [[param], [grad], [torch.zeros(count, device="cuda")], [torch.zeros(count, device="cuda")]]
        step(state, Options(lr=0.5))
        self.assertEqual((param.min().item(), param.max().item()), (0.5, 0.5))

    def test_ten_steps_agree_with_torch_adamw(self):
        shapes = [(1000, 33), (77,), (3, 5, 7)]
        state = random_state(shapes, torch.float32, torch.float32)
        for moments in state[2:]:
            for moment in moments:
                moment.zero_()
        params = [torch.nn.Parameter(p.clone()) for p in state[0]]
        torch_adamw = torch.optim.AdamW(params, lr=1e-3, weight_decay=0.01, fused=True)
        for index in range(1, 11):
            for param, grad in zip(params, state[1]):
                grad.normal_()
                param.grad = grad.clone()
            torch_adamw.step()
            step(state, Options(lr=1e-3, weight_decay=0.01, step=index))
        for param, own in zip(params, state[0]):
            torch.testing.assert_close(own, param.data, rtol=1e-5, atol=1e-6)

    def test_a_nan_stays_in_its_element(self):
        state = random_state([(BLOCK + 3,)], torch.bfloat16, torch.bfloat16)
        state[1][0][7] = float("nan")
        step(state, Options())
        self.assertEqual(torch.nonzero(state[0][0].isnan()).flatten().tolist(), [7])

    def test_no_tensors_is_no_work(self):
        step([[], [], [], []], Options())


class Launches(unittest.TestCase):
    def test_the_callers_stream_is_used(self):
        state = [[torch.full((1000,), x, device="cuda")] for x in (1.0, 0.0, 0.0, 0.0)]
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)  # about 0.1 s: on another stream the step would see the old gradient
            state[1][0].fill_(0.5)
            step(state, Options(lr=0.1))
        stream.synchronize()
        torch.testing.assert_close(state[0][0], torch.full((1000,), 0.9, device="cuda"))

    @unittest.skipIf(torch.cuda.device_count() < 2, "needs two GPUs")
    def test_the_tensors_device_is_used_and_the_callers_kept(self):
        state = [[torch.full((1000,), x, device="cuda:1")] for x in (1.0, 0.5, 0.0, 0.0)]
        step(state, Options(lr=0.1))
        self.assertEqual(torch.cuda.current_device(), 0)
        torch.testing.assert_close(state[0][0], torch.full((1000,), 0.9, device="cuda:1"))

    @unittest.skipUnless(os.environ.get("FOREIGN_BUNDLE"), "FOREIGN_BUNDLE (a bundle for sm_75 alone) is not set")
    def test_a_library_without_code_for_this_gpu_says_so(self):
        foreign = tvm_ffi.load_module(os.path.join(os.environ["FOREIGN_BUNDLE"], "fused_adam.so"))
        major, minor = torch.cuda.get_device_capability()
        state = random_state([(8,)], torch.float32, torch.float32)
        with self.assertRaisesRegex(RuntimeError, rf"^fused_adam_step: this library has no code for the GPU cuda:0, "
                                                  rf"whose compute capability is {major}\.{minor} .*"
                                                  rf"build it with --arch {major}\.{minor}"):
            foreign.fused_adam_step(*state, *Options().arguments())


class Errors(unittest.TestCase):
    def refused(self, kind, message, index, which, tensor):
        state = random_state([(6,)] * 4, torch.float32, torch.float32)
        state[index][which] = tensor
        with self.assertRaises(kind) as caught:
            step(state, Options())
        self.assertEqual(str(caught.exception), "fused_adam_step: " + message)

    def test_a_cpu_tensor_is_named(self):
        self.refused(ValueError, "grads[3]: expected a CUDA tensor, got one on cpu", 1, 3, torch.zeros(6))

    def test_a_strided_tensor_is_named(self):
        self.refused(ValueError, "grads[3]: expected contiguous", 1, 3, torch.zeros(12, device="cuda")[::2])

    def test_a_wrong_dtype_is_named(self):
        double, half = (torch.zeros(6, device="cuda", dtype=d) for d in (torch.float64, torch.float16))
        self.refused(TypeError, "params[1]: expected float32 or float16 or bfloat16, got float64", 0, 1, double)
        self.refused(TypeError, "params[1]: expected float32 like the first of its list, got float16", 0, 1, half)
        self.refused(TypeError, "exp_avgs[2]: expected float32, got float16", 2, 2, half)

    def test_gradients_more_precise_than_the_parameters_are_refused(self):
        state = random_state([(6,)], torch.float16, torch.float32)
        with self.assertRaisesRegex(TypeError, r"grads\[0\]: expected float16 like params, got float32"):
            step(state, Options())

    def test_a_wrong_shape_is_named(self):
        self.refused(ValueError, "exp_avg_sqs[0]: expected the shape (6) of params[0], got (5)", 3, 0,
                     torch.zeros(5, device="cuda"))

    @unittest.skipIf(torch.cuda.device_count() < 2, "needs two GPUs")
    def test_a_tensor_of_another_gpu_is_named(self):
        self.refused(ValueError, "params[1]: expected a tensor on cuda:0 like the others, got one on cuda:1", 0, 1,
                     torch.zeros(6, device="cuda:1"))


if __name__ == "__main__":
    print(f"seed={SEED}", file=sys.stderr)
    unittest.main()
