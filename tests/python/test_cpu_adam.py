"""cpu_adam from a bundle, against float64 (adam_reference.py) and values worked out by hand."""

import functools
import hashlib
import os
import random
import subprocess
import sys
import unittest

import support  # exits with 77 where something is missing
from adam_reference import Options, reference_step, tolerances

import numpy as np

op = support.load_op("cpu_adam")
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
SIZES = (0, 1, 7, 8, 15, 16, 17, 1000, 16384, 16387, 50003)
MODES = [Options(adam_w_mode=w, bias_correction=b, weight_decay=d, grad_scale=s)
         for w in (True, False) for b in (True, False) for d, s in ((0.0, 1.0), (0.1, 1 / 1024))]


@functools.cache
def usable_paths():
    paths = []
    for name in ("scalar", "avx2", "avx512"):
        try:
            op.cpu_adam_use_isa(name)
            paths.append(name)
        except ValueError as error:
            print(f"not tested: {name}: {error}", file=sys.stderr)
    op.cpu_adam_use_isa("auto")
    return paths


def random_grads(rng, dtype, size):
    values = rng.standard_normal(size).astype(np.float32)
    return support.bfloat16_bits(values) if dtype == "bfloat16" else values.astype(dtype)


def float64_of(grads):
    return (support.bfloat16_values(grads) if grads.dtype == np.uint16 else grads).astype(np.float64)


def step(params, grads, exp_avgs, exp_avg_sqs, options):
    lists = [[support.tensor(a) for a in arrays] for arrays in (params, grads, exp_avgs, exp_avg_sqs)]
    op.cpu_adam_step(*lists, *options.arguments())


def float32(*values):
    return np.array(values, np.float32)


class Numbers(unittest.TestCase):
    def tearDown(self):
        op.cpu_adam_use_isa("auto")

    def assert_close(self, actual, expected, lr=0.0):
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-30 + 1e-6 * lr)

    def test_first_step_moves_by_the_learning_rate(self):
        # m / sqrt(v) is the gradient's sign; 1 * (1 - 0.1 * 0.01) - 0.1 = 0.899
        for path in usable_paths():
            op.cpu_adam_use_isa(path)
            p, m, v = float32(1), float32(0), float32(0)
            step([p], [float32(0.5)], [m], [v], Options(lr=0.1, weight_decay=0.01))
            self.assert_close(p, [0.899])
            self.assert_close(m, [0.05])
            self.assert_close(v, [0.00025])

    def test_every_path_agrees_with_float64_over_five_steps(self):
        for path in usable_paths():
            for dtype in ("float32", "float16", "bfloat16"):
                for number, mode in enumerate(MODES):
                    with self.subTest(path=path, dtype=dtype, mode=mode):
                        self.five_steps(path, dtype, mode, number)

    def five_steps(self, path, dtype, mode, number):
        op.cpu_adam_use_isa(path)
        rng = np.random.default_rng([SEED, number])
        params = [rng.standard_normal(size).astype(np.float32) for size in SIZES]
        moments = [[np.zeros_like(p) for p in params] for _ in range(2)]
        for index in range(1, 6):
            options = Options(**{**vars(mode), "step": index})
            grads = [random_grads(rng, dtype, p.size) for p in params]
            before = [[a.astype(np.float64) for a in state] for state in zip(params, map(float64_of, grads), *moments)]
            step(params, grads, *moments, options)
            for state, *actual in zip(before, params, *moments):
                self.assert_one_step(actual, state, options)

    def assert_one_step(self, actual, state, options):
        for array, expected, tolerance in zip(actual, reference_step(*state, options), tolerances(*state, options)):
            worst = np.max(np.abs(array - expected) - tolerance, initial=-1)
            self.assertLessEqual(worst, 0)

    def test_low_precision_gradients_are_read_exactly(self):
        bits = np.arange(65536, dtype=np.uint16)
        options = Options(beta1=0.0, lr=0.0)  # the first moment becomes the gradient
        for path in usable_paths():
            op.cpu_adam_use_isa(path)
            for grads, values in ((bits.view(np.float16), bits.view(np.float16).astype(np.float32)),
                                  (bits, support.bfloat16_values(bits))):
                p, m, v = (np.zeros(bits.size, np.float32) for _ in range(3))
                step([p], [grads], [m], [v], options)
                # 0 * NaN and the sum with 0 lose the payload and the sign of zero, and nothing else.
                np.testing.assert_array_equal(m, values)

    def test_views_that_start_anywhere_are_updated_in_place_and_nothing_beside_them(self):
        for path in usable_paths():
            op.cpu_adam_use_isa(path)
            for start in range(1, 5):
                arrays = [np.full(40, x, np.float32) for x in (1, 0.5, 0, 0)]
                step(*([a[start:start + 21]] for a in arrays), Options(lr=0.1))
                changed = np.flatnonzero(arrays[0] != 1)
                self.assertEqual(changed.tolist(), list(range(start, start + 21)))
                self.assert_close(arrays[0][start:start + 21], np.full(21, 0.9))

    def test_a_nan_gradient_stays_in_its_element(self):
        for path in usable_paths():
            op.cpu_adam_use_isa(path)
            p, m, v = (np.zeros(64, np.float32) for _ in range(3))
            g = np.ones(64, np.float32)
            g[5] = np.nan
            step([p], [g], [m], [v], Options())
            self.assertEqual(np.flatnonzero(np.isnan(p)).tolist(), [5])

    def test_mixed_gradient_dtypes_in_one_call(self):
        params = [np.ones(3, np.float32) for _ in range(3)]
        moments = [[np.zeros(3, np.float32) for _ in range(3)] for _ in range(2)]
        half = np.full(3, 0.5, np.float32)
        step(params, [half, half.astype(np.float16), support.bfloat16_bits(half)], *moments, Options(lr=0.1))
        for p in params:
            self.assert_close(p, np.full(3, 0.9))

    def test_the_number_of_threads_does_not_change_a_bit(self):
        digests = {subprocess.check_output([sys.executable, __file__, "--digest"], text=True,
                                           env={**os.environ, "OMP_NUM_THREADS": str(n)}) for n in (1, 2, 5)}
        self.assertEqual(len(digests), 1)

    def test_no_tensors_is_no_work(self):
        step([], [], [], [], Options())


class Paths(unittest.TestCase):
    def tearDown(self):
        op.cpu_adam_use_isa("auto")

    def test_the_chosen_path_is_told(self):
        for path in usable_paths():
            op.cpu_adam_use_isa(path)
            self.assertEqual(op.cpu_adam_isa(), path)

    def test_auto_takes_the_fastest(self):
        self.assertEqual(op.cpu_adam_isa(), usable_paths()[-1])

    def test_an_unknown_path_is_an_error(self):
        with self.assertRaisesRegex(ValueError, r"^cpu_adam_use_isa: name: expected one of auto, .*scalar, got sse$"):
            op.cpu_adam_use_isa("sse")


class Errors(unittest.TestCase):
    def lists(self, count=4, size=6):
        return [[np.zeros(size, np.float32) for _ in range(count)] for _ in range(4)]

    def refused(self, kind, message, lists=None, options=()):
        arguments = dict(zip(vars(Options()), Options().arguments()))
        arguments.update(options)
        tensors = [[support.tensor(a) for a in arrays] for arrays in lists or self.lists()]
        with self.assertRaises(kind) as caught:
            op.cpu_adam_step(*tensors, *arguments.values())
        self.assertEqual(str(caught.exception), "cpu_adam_step: " + message)

    def test_a_strided_tensor_is_named(self):
        lists = self.lists()
        lists[1][3] = np.zeros(12, np.float32)[::2]
        self.refused(ValueError, "grads[3]: expected contiguous", lists)

    def test_a_wrong_dtype_is_named(self):
        for index, name in enumerate(("params", "exp_avgs", "exp_avg_sqs")):
            lists = self.lists()
            lists[index if index == 0 else index + 1][2] = np.zeros(6, np.float64)
            self.refused(TypeError, f"{name}[2]: expected float32, got float64", lists)
        lists = self.lists()
        lists[1][0] = np.zeros(6, np.int32)
        self.refused(TypeError, "grads[0]: expected float32 or float16 or bfloat16, got int32", lists)

    def test_a_wrong_shape_is_named_with_both_shapes(self):
        lists = self.lists()
        lists[3][1] = np.zeros((2, 3), np.float32)
        self.refused(ValueError, "exp_avg_sqs[1]: expected the shape (6) of params[1], got (2, 3)", lists)

    def test_lists_of_other_lengths_are_named(self):
        for index, name in ((1, "grads"), (2, "exp_avgs"), (3, "exp_avg_sqs")):
            lists = self.lists()
            lists[index].pop()
            self.refused(ValueError, f"{name}: expected 4 tensors like params, got 3", lists)

    def test_values_out_of_range_are_named(self):
        for name, value, expected in (
                ("lr", float("nan"), "a finite number"), ("beta1", 1.0, "a number in [0, 1)"),
                ("beta2", -0.5, "a number in [0, 1)"), ("eps", -1.0, "a finite number >= 0"),
                ("step", 0, "1 or more (the first step is 1)"), ("weight_decay", float("inf"), "a finite number"),
                ("grad_scale", float("nan"), "a finite number")):
            self.refused(ValueError, f"{name}: expected {expected}", options={name: value})

    def test_values_of_another_type_are_named(self):
        self.refused(TypeError, "lr: expected a number, got str", options={"lr": "fast"})
        self.refused(TypeError, "step: expected an integer, got float", options={"step": 1.5})

    def test_things_that_are_no_tensors_are_named(self):
        with self.assertRaisesRegex(TypeError, r"^cpu_adam_step: params\[0\]: expected a tensor, got int"):
            op.cpu_adam_step([1], [], [], [], *Options().arguments())
        with self.assertRaisesRegex(TypeError, r"^cpu_adam_step: params: expected a list of tensors, got None"):
            op.cpu_adam_step(None, [], [], [], *Options().arguments())

    def test_missing_and_surplus_arguments_are_told(self):
        with self.assertRaisesRegex(TypeError, "^cpu_adam_step: weight_decay: missing argument$"):
            op.cpu_adam_step([], [], [], [], *Options().arguments()[:-2])
        with self.assertRaisesRegex(TypeError, "^cpu_adam_step: takes at most 13 arguments, got 14$"):
            op.cpu_adam_step([], [], [], [], *Options().arguments(), 1)

    def test_grad_scale_may_be_left_out(self):
        op.cpu_adam_step([], [], [], [], *Options().arguments()[:-1])

    def test_a_refused_call_changes_nothing(self):
        lists = self.lists()
        lists[1][0][:] = 1
        lists[3][3] = np.zeros(6, np.float64)
        self.refused(TypeError, "exp_avg_sqs[3]: expected float32, got float64", lists)
        self.assertFalse(lists[0][0].any() or lists[2][0].any())


def print_digest():
    rng = np.random.default_rng(7)
    params = [rng.standard_normal(size).astype(np.float32) for size in SIZES]
    moments = [[np.zeros_like(p) for p in params] for _ in range(2)]
    step(params, [random_grads(rng, "float32", p.size) for p in params], *moments, Options())
    print(hashlib.sha256(b"".join(p.tobytes() for p in params)).hexdigest())


if __name__ == "__main__":
    if "--digest" in sys.argv:
        print_digest()
    else:
        print(f"seed={SEED} paths={usable_paths()}", file=sys.stderr)
        unittest.main()
