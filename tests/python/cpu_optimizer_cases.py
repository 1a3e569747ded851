"""What the tests of the optimisers on a CPU share: each gives its op, its formula in float64 and its options as a Spec."""

import dataclasses
import functools
import hashlib
import os
import random
import subprocess
import sys
import types
import unittest

import support  # exits with 77 where something is missing

import numpy as np

SEED = int(os.environ.get("SEED", random.randrange(2**32)))
SIZES = (0, 1, 7, 8, 15, 16, 17, 1000, 16384, 16387, 50003)
FINITE = "a finite number"
OUT_OF_RANGE = {"lr": (float("nan"), FINITE), "beta1": (1.0, "a number in [0, 1)"), "beta2": (-0.5, "a number in [0, 1)"),
                "eps": (-1.0, "a finite number >= 0"), "step": (0, "1 or more (the first step is 1)"),
                "weight_decay": (float("inf"), FINITE), "grad_scale": (float("nan"), FINITE)}


@dataclasses.dataclass
class Spec:
    name: str  # of the op
    states: tuple  # names of the lists behind params and grads
    reference: types.ModuleType  # Options, reference_step, tolerances
    modes: list  # of Options

    @functools.cached_property
    def op(self):
        return support.load_op(self.name)

    def function(self, what):
        return getattr(self.op, f"{self.name}_{what}")

    @property
    def lists(self):
        return ("params", "grads", *self.states)

    @functools.cached_property
    def usable_paths(self):
        paths = []
        for name in ("scalar", "avx2", "avx512"):
            try:
                self.use(name)
                paths.append(name)
            except ValueError as error:
                print(f"not tested: {name}: {error}", file=sys.stderr)
        self.use("auto")
        return paths

    def use(self, path):
        self.function("use_isa")(path)

    def step(self, lists, options):
        self.function("step")(*[[support.tensor(a) for a in arrays] for arrays in lists], *options.arguments())


def random_grads(rng, dtype, size):
    values = rng.standard_normal(size).astype(np.float32)
    return support.bfloat16_bits(values) if dtype == "bfloat16" else values.astype(dtype)


def float64_of(grads):
    return (support.bfloat16_values(grads) if grads.dtype == np.uint16 else grads).astype(np.float64)


class Case:
    """Beside unittest.TestCase; `spec` is the subclass's."""

    spec = None

    def tearDown(self):
        self.spec.use("auto")

    def each_path(self):
        for path in self.spec.usable_paths:
            self.spec.use(path)
            yield path

    def options(self, **changes):
        return self.spec.reference.Options(**changes)

    def zeros(self, size):
        return [np.zeros(size, np.float32) for _ in self.spec.states]

    def assert_close(self, actual, expected, lr=0.0):
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-30 + 1e-6 * lr)


class Numbers(Case):
    def test_every_path_agrees_with_float64_over_five_steps(self):
        for path in self.each_path():
            for dtype in ("float32", "float16", "bfloat16"):
                for number, mode in enumerate(self.spec.modes):
                    with self.subTest(path=path, dtype=dtype, mode=mode):
                        self.five_steps(dtype, mode, number)

    def five_steps(self, dtype, mode, number):
        rng = np.random.default_rng([SEED, number])
        params = [rng.standard_normal(size).astype(np.float32) for size in SIZES]
        states = [[np.zeros_like(p) for p in params] for _ in self.spec.states]
        for index in range(1, 6):
            options = dataclasses.replace(mode, **({"step": index} if hasattr(mode, "step") else {}))
            grads = [random_grads(rng, dtype, p.size) for p in params]
            before = [[a.astype(np.float64) for a in state] for state in zip(params, map(float64_of, grads), *states)]
            self.spec.step([params, grads, *states], options)
            for state, *actual in zip(before, params, *states):
                self.assert_one_step(actual, state, options)

    def assert_one_step(self, actual, state, options):
        reference = self.spec.reference
        for array, expected, tolerance in zip(actual, reference.reference_step(*state, options),
                                              reference.tolerances(*state, options)):
            worst = np.max(np.abs(array - expected) - tolerance, initial=-1)
            self.assertLessEqual(worst, 0)

    def test_views_that_start_anywhere_are_updated_in_place_and_nothing_beside_them(self):
        for _ in self.each_path():
            for start in range(1, 5):
                arrays = [np.full(40, x, np.float32) for x in (1, 0.5, *[0 for _ in self.spec.states])]
                self.spec.step([[a[start:start + 21]] for a in arrays], self.options(lr=0.1))
                changed = np.flatnonzero(arrays[0] != 1)
                self.assertEqual(changed.tolist(), list(range(start, start + 21)))
                self.assert_close(arrays[0][start:start + 21], np.full(21, 0.9))

    def test_a_nan_gradient_stays_in_its_element(self):
        for _ in self.each_path():
            p, g = np.zeros(64, np.float32), np.ones(64, np.float32)
            g[5] = np.nan
            self.spec.step([[p], [g], *([s] for s in self.zeros(64))], self.options())
            self.assertEqual(np.flatnonzero(np.isnan(p)).tolist(), [5])

    def test_mixed_gradient_dtypes_in_one_call(self):
        params = [np.ones(3, np.float32) for _ in range(3)]
        half = np.full(3, 0.5, np.float32)
        self.spec.step([params, [half, half.astype(np.float16), support.bfloat16_bits(half)],
                        *[[np.zeros(3, np.float32) for _ in range(3)] for _ in self.spec.states]], self.options(lr=0.1))
        for p in params:
            self.assert_close(p, np.full(3, 0.9))

    def test_the_number_of_threads_does_not_change_a_bit(self):
        script = os.path.abspath(sys.modules[type(self).__module__].__file__)
        digests = {subprocess.check_output([sys.executable, script, "--digest"], text=True,
                                           env={**os.environ, "OMP_NUM_THREADS": str(n)}) for n in (1, 2, 5)}
        self.assertEqual(len(digests), 1)

    def test_no_tensors_is_no_work(self):
        self.spec.step([[] for _ in self.spec.lists], self.options())

    def after(self, options):
        """The bits of params and states after a step from the same state."""
        rng = np.random.default_rng([SEED, 77])
        arrays = [np.abs(rng.standard_normal(1000)).astype(np.float32) for _ in self.spec.lists]
        self.spec.step([[a] for a in arrays], options)
        return b"".join(a.tobytes() for a in arrays)

    def test_tensors_in_place_of_lr_and_step_give_the_same_bits(self):
        for lr in (0.1, 3e-4):
            number = float(np.float32(lr))
            for dtype in (np.int64, np.int32, np.float32):
                for index in (1, 2, 999, 123457):
                    steps = {"step": index} if hasattr(self.options(), "step") else {}
                    tensors = {"lr": support.tensor(np.array(lr, np.float32)),
                               **{key: support.tensor(np.array([value], dtype)) for key, value in steps.items()}}
                    self.assertEqual(self.after(self.options(weight_decay=0.1, **tensors)),
                                     self.after(self.options(weight_decay=0.1, lr=number, **steps)))


class Paths(Case):
    def test_the_chosen_path_is_told(self):
        for path in self.each_path():
            self.assertEqual(self.spec.function("isa")(), path)

    def test_auto_takes_the_fastest(self):
        self.assertEqual(self.spec.function("isa")(), self.spec.usable_paths[-1])

    def test_an_unknown_path_is_an_error(self):
        with self.assertRaisesRegex(ValueError, rf"^{self.spec.name}_use_isa: name: expected one of auto, .*scalar, got sse$"):
            self.spec.function("use_isa")("sse")


class Errors(Case):
    def lists(self, count=4, size=6):
        return [[np.zeros(size, np.float32) for _ in range(count)] for _ in self.spec.lists]

    def refused(self, kind, message, lists=None, **changes):
        with self.assertRaises(kind) as caught:
            self.spec.step(lists or self.lists(), self.options(**changes))
        self.assertEqual(str(caught.exception), f"{self.spec.name}_step: {message}")

    def test_a_strided_tensor_is_named(self):
        lists = self.lists()
        lists[1][3] = np.zeros(12, np.float32)[::2]
        self.refused(ValueError, "grads[3]: expected contiguous", lists)

    def test_a_wrong_dtype_is_named(self):
        for index, name in enumerate(self.spec.lists):
            if name == "grads":
                continue
            lists = self.lists()
            lists[index][2] = np.zeros(6, np.float64)
            self.refused(TypeError, f"{name}[2]: expected float32, got float64", lists)
        lists = self.lists()
        lists[1][0] = np.zeros(6, np.int32)
        self.refused(TypeError, "grads[0]: expected float32 or float16 or bfloat16, got int32", lists)

    def test_a_wrong_shape_is_named_with_both_shapes(self):
        for index, name in list(enumerate(self.spec.lists))[1:]:
            lists = self.lists()
            lists[index][1] = np.zeros((2, 3), np.float32)
            self.refused(ValueError, f"{name}[1]: expected the shape (6) of params[1], got (2, 3)", lists)

    def test_lists_of_other_lengths_are_named(self):
        for index, name in list(enumerate(self.spec.lists))[1:]:
            lists = self.lists()
            lists[index].pop()
            self.refused(ValueError, f"{name}: expected 4 tensors like params, got 3", lists)

    def test_values_out_of_range_are_named(self):
        for name, (value, expected) in OUT_OF_RANGE.items():
            if hasattr(self.options(), name):
                self.refused(ValueError, f"{name}: expected {expected}", **{name: value})

    def test_values_of_another_type_are_named(self):
        self.refused(TypeError, "lr: expected a number or a tensor, got str", lr="fast")
        if hasattr(self.options(), "step"):
            self.refused(TypeError, "step: expected an integer or a tensor, got float", step=1.5)

    def test_tensors_in_place_of_numbers_are_checked_by_name(self):
        def tensor(value, dtype):
            return support.tensor(np.array(value, dtype))

        self.refused(TypeError, "lr: expected float32, got float64", lr=tensor(0.1, np.float64))
        self.refused(ValueError, "lr: expected one element, got 2", lr=tensor([0.1, 0.1], np.float32))
        self.refused(ValueError, "lr: expected a finite number", lr=tensor(np.nan, np.float32))
        if hasattr(self.options(), "step"):
            self.refused(TypeError, "step: expected int64 or int32 or float32, got int8", step=tensor(1, np.int8))
            self.refused(ValueError, "step: expected one element, got 0", step=tensor([], np.int64))
            for zero in (tensor(0, np.int64), tensor(-1, np.int32), tensor(np.nan, np.float32), tensor(0.5, np.float32)):
                self.refused(ValueError, "step: expected 1 or more (the first step is 1)", step=zero)

    def test_things_that_are_no_tensors_are_named(self):
        step, rest = self.spec.function("step"), [[] for _ in self.spec.lists[1:]]
        with self.assertRaisesRegex(TypeError, rf"^{self.spec.name}_step: params\[0\]: expected a tensor, got int"):
            step([1], *rest, *self.options().arguments())
        with self.assertRaisesRegex(TypeError, rf"^{self.spec.name}_step: params: expected a list of tensors, got None"):
            step(None, *rest, *self.options().arguments())

    def test_missing_and_surplus_arguments_are_told(self):
        step, lists, numbers = self.spec.function("step"), [[] for _ in self.spec.lists], self.options().arguments()
        with self.assertRaisesRegex(TypeError, f"^{self.spec.name}_step: weight_decay: missing argument$"):
            step(*lists, *numbers[:-2])
        count = len(lists) + len(numbers)
        with self.assertRaisesRegex(TypeError, f"^{self.spec.name}_step: takes at most {count} arguments, got {count + 1}$"):
            step(*lists, *numbers, 1)

    def test_grad_scale_may_be_left_out(self):
        self.spec.function("step")(*[[] for _ in self.spec.lists], *self.options().arguments()[:-1])

    def test_a_refused_call_changes_nothing(self):
        lists = self.lists()
        lists[1][0][:] = 1
        lists[-1][3] = np.zeros(6, np.float64)
        self.refused(TypeError, f"{self.spec.states[-1]}[3]: expected float32, got float64", lists)
        self.assertFalse(any(arrays[0].any() for arrays in (lists[0], *lists[2:])))


def print_digest(spec):
    rng = np.random.default_rng(7)
    params = [rng.standard_normal(size).astype(np.float32) for size in SIZES]
    states = [[np.zeros_like(p) for p in params] for _ in spec.states]
    spec.step([params, [random_grads(rng, "float32", p.size) for p in params], *states], spec.reference.Options())
    print(hashlib.sha256(b"".join(p.tobytes() for p in params)).hexdigest())


def main(spec):
    if "--digest" in sys.argv:
        print_digest(spec)
    else:
        print(f"seed={SEED} paths={spec.usable_paths}", file=sys.stderr)
        unittest.main()


def torch_or_skip():
    try:
        import torch
    except ImportError:
        raise unittest.SkipTest("torch is not installed") from None
    return torch


class AgainstTorch(Case):
    """`torch_optimizer(torch, params)` and `own_options(index)` are the subclass's."""

    def test_ten_steps_agree_with_torchs_own(self):
        torch = torch_or_skip()
        rng = np.random.default_rng([SEED, 3])
        start = [rng.standard_normal(size).astype(np.float32) for size in (1000, 77, 33)]
        for path in self.each_path():
            own = [p.copy() for p in start]
            states = [[np.zeros_like(p) for p in own] for _ in self.spec.states]
            params = [torch.nn.Parameter(torch.from_numpy(p.copy())) for p in start]
            optimizer = self.torch_optimizer(torch, params)
            for index in range(1, 11):
                grads = [rng.standard_normal(p.size).astype(np.float32) for p in own]
                for param, grad in zip(params, grads):
                    param.grad = torch.from_numpy(grad.copy())
                optimizer.step()
                self.spec.step([own, grads, *states], self.own_options(index))
            for param, array in zip(params, own):
                np.testing.assert_allclose(array, param.detach().numpy(), rtol=1e-5, atol=1e-6, err_msg=path)
