"""What the tests of the CUDA optimisers share: each gives its op, its formula in float64 and its options as a Spec."""

import dataclasses
import functools
import os
import random
import sys
import types
import unittest

import support  # exits with 77 where something is missing

import torch
import tvm_ffi

SEED = int(os.environ.get("SEED", random.randrange(2**32)))
DTYPES = [(torch.float32, torch.float32), (torch.float16, torch.float16), (torch.bfloat16, torch.bfloat16),
          (torch.float32, torch.float16), (torch.float32, torch.bfloat16)]
BLOCK = 4096  # elements of one block of the kernels
SIZES = [0, 1, 2, 3, 4, 5, 31, 255, 1023, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 4, 1_000_003]
STEP_DTYPES = (torch.int64, torch.int32, torch.float32)


@dataclasses.dataclass
class Spec:
    name: str  # of the op
    states: tuple  # names of the lists behind params and grads
    reference: types.ModuleType  # Options, reference_step, tolerances
    modes: list  # of Options
    scratch: object = None  # of (op, params): the tensor behind the lists

    @functools.cached_property
    def op(self):
        return support.load_op(self.name)

    @property
    def lists(self):
        return ("params", "grads", *self.states)

    @property
    def has_step(self):
        return hasattr(self.reference.Options(), "step")

    def arguments(self, state, options):
        return (*state, *([self.scratch(self.op, state[0])] if self.scratch else []), *options.arguments())

    def step(self, state, options):
        getattr(self.op, f"{self.name}_step")(*self.arguments(state, options))

    def random_state(self, shapes, param_dtype, grad_dtype, offset=0):
        """Lists of params, grads and states; each tensor a view that begins `offset` elements into another."""

        def make(shape, dtype, scale):
            count = torch.Size(shape).numel()
            whole = torch.randn(offset + count, device="cuda") * scale
            return whole.to(dtype)[offset:].view(shape)

        state = [[make(s, param_dtype, 1.0) for s in shapes], [make(s, grad_dtype, 1.0) for s in shapes]]
        for name in self.states:
            state.append([make(s, torch.float32, 0.1) for s in shapes])
            if name == "exp_avg_sqs":
                state[-1] = [t.square_() for t in state[-1]]
        return state


def storage_error(value, dtype):
    """Half a unit in the last place of `dtype` at `value`, and half its smallest number."""
    if dtype == torch.float32:
        return 0
    digits, smallest = {torch.float16: (11, 2.0**-25), torch.bfloat16: (8, 2.0**-134)}[dtype]
    return value.abs() * 2.0**-digits * 1.001 + smallest


def copy_of(state):
    return [[t.clone() for t in tensors] for tensors in state]


def bits(state):
    return [[t.flatten().contiguous().view(torch.uint8).cpu() for t in tensors] for tensors in state]


class Case:
    """Beside unittest.TestCase; `spec` is the subclass's."""

    spec = None

    def setUp(self):
        torch.manual_seed(SEED)

    def options(self, **changes):
        return self.spec.reference.Options(**changes)

    def numbered(self, options, index):
        """The options with that number of the step, where they have one."""
        return dataclasses.replace(options, step=index) if self.spec.has_step else options

    def assert_same_bits(self, one, other, what=""):
        for name, own, wanted in zip(self.spec.lists, bits(one), bits(other)):
            for index, (a, b) in enumerate(zip(own, wanted)):
                self.assertTrue(torch.equal(a, b), f"{name}[{index}] {what} seed={SEED}")


class Numbers(Case):
    def assert_one_step(self, state, options):
        before = [tuple(t.double() for t in tensors) for tensors in zip(*state)]
        self.spec.step(state, options)
        for index, (old, new) in enumerate(zip(before, zip(state[0], *state[2:]))):
            expected = self.spec.reference.reference_step(*old, options)
            allowed = list(self.spec.reference.tolerances(*old, options))
            allowed[0] = allowed[0] + storage_error(expected[0], new[0].dtype)
            for name, value, wanted, tolerance in zip(("params", *self.spec.states), new, expected, allowed):
                worst = ((value.double() - wanted).abs() - tolerance).flatten()
                self.assertTrue(bool((worst <= 0).all()), f"{name}[{index}]: {options} seed={SEED}")

    def test_every_dtype_and_mode_agrees_with_float64(self):
        for param_dtype, grad_dtype in DTYPES:
            for mode in self.spec.modes:
                for number in (1, 2, 1000) if self.spec.has_step else (1,):
                    options = self.numbered(mode, number)
                    with self.subTest(param=param_dtype, grad=grad_dtype, options=options):
                        self.assert_one_step(self.spec.random_state([(s,) for s in SIZES], param_dtype, grad_dtype), options)

    def test_views_at_any_alignment(self):
        for param_dtype, grad_dtype in DTYPES:
            for offset in (1, 2, 3, 5):
                with self.subTest(param=param_dtype, grad=grad_dtype, offset=offset):
                    state = self.spec.random_state([(s,) for s in SIZES], param_dtype, grad_dtype, offset)
                    self.assert_one_step(state, self.options(weight_decay=0.1))

    def test_nothing_beside_a_view_is_changed(self):
        for start, count in ((0, BLOCK), (1, BLOCK), (4, 3 * BLOCK + 5), (3, 7)):
            wholes = [torch.full((20000,), x, device="cuda") for x in (1.0, 0.5, *[0.0 for _ in self.spec.states])]
            before = copy_of([wholes])[0]
            self.spec.step([[whole[start:start + count]] for whole in wholes], self.options(lr=0.1))
            for index, name in enumerate(self.spec.lists):
                changed = torch.nonzero(wholes[index] != before[index]).flatten()
                expected = [] if name == "grads" else list(range(start, start + count))
                self.assertEqual(changed.tolist(), expected, name)

    def test_more_tensors_than_one_launch_takes(self):
        for count in (87, 88, 89, 176, 177, 1000):
            shapes = [(random.Random(SEED + i).choice((0, 1, 5, 64, 5000)),) for i in range(count)]
            self.assert_one_step(self.spec.random_state(shapes, torch.float32, torch.float32), self.options())

    def test_tensors_of_any_rank(self):
        state = self.spec.random_state([(), (3, 5), (2, 3, 4, 5), (0, 7)], torch.float32, torch.float32)
        self.assert_one_step(state, self.options())

    def test_a_big_tensor(self):
        self.assert_one_step(self.spec.random_state([(100_000_007,)], torch.bfloat16, torch.bfloat16), self.options())

    def test_no_tensors_is_no_work(self):
        self.spec.step([[] for _ in self.spec.lists], self.options())

    def test_every_run_gives_the_same_bits(self):
        first = self.spec.random_state([(s,) for s in SIZES], torch.float32, torch.bfloat16)
        second = copy_of(first)
        for state in (first, second):
            for index in (1, 2, 3):
                self.spec.step(state, self.numbered(self.options(weight_decay=0.1), index))
        self.assert_same_bits(first, second)


class NanStaysInItsElement:
    """Of an op that has no sum over a tensor in it."""

    def test_a_nan_stays_in_its_element(self):
        state = self.spec.random_state([(BLOCK + 3,)], torch.bfloat16, torch.bfloat16)
        state[1][0][7] = float("nan")
        self.spec.step(state, self.options())
        self.assertEqual(torch.nonzero(state[0][0].isnan()).flatten().tolist(), [7])


class Tensors(Case):
    """lr and step as tensors: the values that stand there when the kernel runs, and the bits that numbers give."""

    SHAPES = [(s,) for s in (1, 5, BLOCK, 3 * BLOCK + 4, 0, 70_001)] + [(3,)] * 90

    def late(self, lr, step_dtype, **changes):
        """Options with tensors, and those tensors."""
        lr = torch.full((), lr, device="cuda")
        step = torch.ones(1, dtype=step_dtype, device="cuda")
        return self.options(lr=lr, **({"step": step} if self.spec.has_step else {}), **changes), lr, step

    def test_they_give_the_bits_that_numbers_give(self):
        for param_dtype, grad_dtype in DTYPES:
            for step_dtype in STEP_DTYPES if self.spec.has_step else STEP_DTYPES[:1]:
                late, lr, step = self.late(1e-3, step_dtype, weight_decay=0.1)
                for number in (1, 2, 3, 10, 999, 123_457) if self.spec.has_step else (1,):
                    step.fill_(number)
                    own = self.spec.random_state(self.SHAPES, param_dtype, grad_dtype)
                    wanted = copy_of(own)
                    self.spec.step(own, late)
                    self.spec.step(wanted, self.numbered(self.options(lr=lr.item(), weight_decay=0.1), number))
                    self.assert_same_bits(own, wanted, f"{param_dtype} {grad_dtype} step={number} as {step_dtype}")

    def test_one_of_them_may_be_a_number(self):
        if not self.spec.has_step:
            self.skipTest("it has no step")
        late, lr, step = self.late(1e-3, torch.int64)
        start = self.spec.random_state(self.SHAPES, torch.float32, torch.float32)
        states = [copy_of(start) for _ in range(3)]
        for state, options in zip(states, (late, dataclasses.replace(late, lr=lr.item()), dataclasses.replace(late, step=1))):
            self.spec.step(state, options)
        self.assert_same_bits(states[1], states[0], "lr a number")
        self.assert_same_bits(states[2], states[0], "step a number")

    def test_a_graph_sees_what_stands_there_at_each_replay(self):
        late, lr, step = self.late(1e-3, torch.float32, weight_decay=0.1)
        own = self.spec.random_state(self.SHAPES, torch.float32, torch.bfloat16)
        wanted = copy_of(own)
        arguments = self.spec.arguments(own, late)  # made once: the graph has its addresses in it
        call = getattr(self.spec.op, f"{self.spec.name}_step")
        self.spec.step(copy_of(own), late)  # what the first call of a kernel loads is no part of a graph
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call(*arguments)
            step.add_(1)
        self.assert_same_bits(own, wanted, "changed by the capture")
        for index in range(1, 11):
            rate = float(torch.tensor(1e-3 / index))
            lr.fill_(rate)
            grads = [torch.randn_like(g) for g in own[1]]
            for state in (own, wanted):
                for grad, new in zip(state[1], grads):
                    grad.copy_(new)
            graph.replay()
            self.spec.step(wanted, self.numbered(self.options(lr=rate, weight_decay=0.1), index))
            self.assert_same_bits(own, wanted, f"replay {index}")


class Launches(Case):
    def test_the_callers_stream_is_used(self):
        state = [[torch.full((1000,), x, device="cuda")] for x in (1.0, 0.0, *[0.0 for _ in self.spec.states])]
        scratch = self.spec.arguments(state, self.options(lr=0.1))
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)  # about 0.1 s: on another stream the step would see the old gradient
            state[1][0].fill_(0.5)
            getattr(self.spec.op, f"{self.spec.name}_step")(*scratch)
        stream.synchronize()
        torch.testing.assert_close(state[0][0], torch.full((1000,), self.moved(), device="cuda"))

    def moved(self):
        """A parameter of 1 after the first step with lr 0.1 along a gradient of 0.5."""
        return 0.9

    @unittest.skipIf(torch.cuda.device_count() < 2, "needs two GPUs")
    def test_the_tensors_device_is_used_and_the_callers_kept(self):
        state = [[torch.full((1000,), x, device="cuda:1")] for x in (1.0, 0.5, *[0.0 for _ in self.spec.states])]
        self.spec.step(state, self.options(lr=0.1))
        self.assertEqual(torch.cuda.current_device(), 0)
        torch.testing.assert_close(state[0][0], torch.full((1000,), self.moved(), device="cuda:1"))

    @unittest.skipUnless(os.environ.get("FOREIGN_BUNDLE"), "FOREIGN_BUNDLE (a bundle for sm_75 alone) is not set")
    def test_a_library_without_code_for_this_gpu_says_so(self):
        library = os.path.join(os.environ["FOREIGN_BUNDLE"], self.spec.name + ".so")
        if not os.path.exists(library):
            self.skipTest(f"{library} is not there")
        foreign = tvm_ffi.load_module(library)
        major, minor = torch.cuda.get_device_capability()
        state = self.spec.random_state([(8,)], torch.float32, torch.float32)
        with self.assertRaisesRegex(RuntimeError, rf"^{self.spec.name}_step: this library has no code for the GPU cuda:0, "
                                                  rf"whose compute capability is {major}\.{minor} .*"
                                                  rf"build it with --arch {major}\.{minor}"):
            getattr(foreign, f"{self.spec.name}_step")(*self.spec.arguments(state, self.options()))


class Errors(Case):
    def refused(self, kind, message, index=0, which=0, tensor=None, **changes):
        state = self.spec.random_state([(6,)] * 4, torch.float32, torch.float32)
        if tensor is not None:
            state[index][which] = tensor
        before = copy_of(state)
        with self.assertRaises(kind) as caught:
            self.spec.step(state, self.options(**changes))
        self.assertEqual(str(caught.exception), f"{self.spec.name}_step: {message}")
        self.assert_same_bits(state, before, "changed by a refused call")

    def test_a_cpu_tensor_is_named(self):
        self.refused(ValueError, "grads[3]: expected a CUDA tensor, got one on cpu", 1, 3, torch.zeros(6))

    def test_a_strided_tensor_is_named(self):
        self.refused(ValueError, "grads[3]: expected contiguous", 1, 3, torch.zeros(12, device="cuda")[::2])

    def test_a_wrong_dtype_is_named(self):
        double, half = (torch.zeros(6, device="cuda", dtype=d) for d in (torch.float64, torch.float16))
        self.refused(TypeError, "params[1]: expected float32 or float16 or bfloat16, got float64", 0, 1, double)
        self.refused(TypeError, "params[1]: expected float32 like the first of its list, got float16", 0, 1, half)
        self.refused(TypeError, f"{self.spec.states[0]}[2]: expected float32, got float16", 2, 2, half)

    def test_gradients_more_precise_than_the_parameters_are_refused(self):
        state = self.spec.random_state([(6,)], torch.float16, torch.float32)
        with self.assertRaisesRegex(TypeError, r"grads\[0\]: expected float16 like params, got float32"):
            self.spec.step(state, self.options())

    def test_a_wrong_shape_is_named(self):
        last = len(self.spec.lists) - 1
        self.refused(ValueError, f"{self.spec.lists[last]}[0]: expected the shape (6) of params[0], got (5)", last, 0,
                     torch.zeros(5, device="cuda"))

    def test_tensors_in_place_of_numbers_are_checked_by_name(self):
        self.refused(ValueError, "lr: expected a CUDA tensor, got one on cpu", lr=torch.tensor(0.1))
        self.refused(TypeError, "lr: expected float32, got float64", lr=torch.tensor(0.1, device="cuda").double())
        self.refused(ValueError, "lr: expected one element, got 2", lr=torch.zeros(2, device="cuda"))
        if self.spec.has_step:
            self.refused(TypeError, "step: expected int64 or int32 or float32, got int8",
                         step=torch.ones(1, dtype=torch.int8, device="cuda"))
            self.refused(ValueError, "step: expected one element, got 0", step=torch.ones(0, device="cuda"))

    @unittest.skipIf(torch.cuda.device_count() < 2, "needs two GPUs")
    def test_a_tensor_of_another_gpu_is_named(self):
        self.refused(ValueError, "params[1]: expected a tensor on cuda:0 like the others, got one on cuda:1", 0, 1,
                     torch.zeros(6, device="cuda:1"))


def main(spec):
    print(f"{spec.name}: seed={SEED}", file=sys.stderr)
    unittest.main()
