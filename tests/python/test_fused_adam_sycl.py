"""fused_adam built for SYCL, on a device that SYCL has (here Intel's OpenCL for CPUs), against float64 (adam_reference.py)."""

import contextlib
import dataclasses
import sys
import unittest

import sycl_memory  # exits with 77 where something is missing

import adam_reference
import cpu_optimizer_cases as cases
import numpy as np
import support
from adam_reference import Options

DEVICE = 0
QUEUES = {"own queue": lambda: contextlib.nullcontext(), "caller's queue": lambda: sycl_memory.queue(DEVICE)}
MODES = [Options(adam_w_mode=w, bias_correction=b, weight_decay=d, grad_scale=s)
         for w in (True, False) for b in (True, False) for d, s in ((0.0, 1.0), (0.1, 1 / 1024))]


@dataclasses.dataclass
class SyclSpec(cases.Spec):
    """Arrays are copied to the device's memory and back; paths are the queues that a step is put into."""

    usable_paths = list(QUEUES)
    path = "own queue"

    def use(self, path):
        self.path = "own queue" if path == "auto" else path

    def step(self, lists, options):
        placed = [[sycl_memory.array_like(a, DEVICE) for a in arrays] for arrays in lists]
        numbers = {f.name: sycl_memory.array_like(value, DEVICE) for f in dataclasses.fields(options)
                   if isinstance(value := getattr(options, f.name), np.ndarray)}
        tensors = {name: sycl_memory.tensor(value, DEVICE) for name, value in numbers.items()}
        with QUEUES[self.path]():
            self.function("step")(*[[sycl_memory.tensor(a, DEVICE) for a in arrays] for arrays in placed],
                                  *dataclasses.replace(options, **tensors).arguments())
        for arrays, changed in zip(lists, placed):
            for array, values in zip(arrays, changed):
                array[...] = values


SPEC = SyclSpec("fused_adam", ("exp_avgs", "exp_avg_sqs"), adam_reference, MODES)
# Of a step whose numbers are all the same: what rounding to half of the last place may move, beside a float32 step's.
LOW_PRECISION = {"float16": (lambda a: a.astype(np.float16), lambda a: a.astype(np.float64), 2.0**-11, 2.0**-24),
                 "bfloat16": (support.bfloat16_bits, lambda a: support.bfloat16_values(a).astype(np.float64), 2.0**-8, 2.0**-133)}


class Numbers(cases.Numbers, unittest.TestCase):
    spec = SPEC
    test_mixed_gradient_dtypes_in_one_call = None  # one dtype for all gradients of a call, as on other GPUs
    test_the_number_of_threads_does_not_change_a_bit = None
    test_tensors_in_place_of_lr_and_step_give_the_same_bits = None  # theirs are on the CPU

    def test_low_precision_parameters_agree_with_float64(self):
        for path in self.each_path():
            for dtype, (stored, float64, relative, least) in LOW_PRECISION.items():
                for mode in MODES:
                    with self.subTest(path=path, dtype=dtype, mode=mode):
                        rng = np.random.default_rng([cases.SEED, 5])
                        param, grad = (stored(rng.standard_normal(5003).astype(np.float32)) for _ in range(2))
                        moments = [np.abs(rng.standard_normal(5003)).astype(np.float32) for _ in range(2)]
                        state = [float64(param), float64(grad), *(m.astype(np.float64) for m in moments)]
                        self.spec.step([[param], [grad], *([m] for m in moments)], mode)
                        expected = adam_reference.reference_step(*state, mode)
                        tolerances = adam_reference.tolerances(*state, mode)
                        rounding = relative * np.abs(expected[0]) + least
                        worst = np.abs(float64(param) - expected[0]) - tolerances[0] - rounding * 1.001
                        self.assertLessEqual(worst.max(), 0)
                        for array, value, tolerance in zip(moments, expected[1:], tolerances[1:]):
                            self.assertLessEqual((np.abs(array - value) - tolerance).max(), 0)

    def test_more_tensors_than_a_launch_carries(self):
        rng = np.random.default_rng([cases.SEED, 6])
        for path in self.each_path():
            lists = [[np.full(size, value, np.float32) for size in rng.integers(0, 9000, 200)] for value in (1, 0.5, 0, 0)]
            lists = [[np.full(p.size, value, np.float32) for p in lists[0]] for value in (1, 0.5, 0, 0)]
            self.spec.step(lists, Options(lr=0.1))
            for p in lists[0]:
                self.assert_close(p, np.full(p.size, 0.9))

    def test_device_tensors_in_place_of_lr_and_step_give_the_same_bits(self):
        for path in self.each_path():
            for dtype in (np.int64, np.int32, np.float32):
                late = self.after(Options(weight_decay=0.1, lr=np.array(0.1, np.float32), step=np.array([999], dtype)))
                self.assertEqual(late, self.after(Options(weight_decay=0.1, lr=float(np.float32(0.1)), step=999)))


class Errors(unittest.TestCase):
    def refused(self, kind, message, device=(sycl_memory.ONE_API, DEVICE), dtypes=("float32",) * 4):
        arrays = [sycl_memory.array_like(np.zeros(4, dtype), DEVICE) for dtype in dtypes]
        with self.assertRaises(kind) as caught:
            SPEC.function("step")(*[[support.tensor(a, device)] for a in arrays], *Options().arguments())
        self.assertRegex(str(caught.exception), f"^fused_adam_step: {message}")

    def test_a_tensor_of_another_kind_of_device_is_named(self):
        self.refused(ValueError, r"params\[0\]: expected a oneAPI tensor, got one on cpu$", support.CPU)

    def test_a_device_that_is_not_there_is_named(self):
        self.refused(RuntimeError, r"SYCL error on oneapi:99: no such device: SYCL sees \d+ on this machine$",
                     (sycl_memory.ONE_API, 99))

    def test_gradients_of_another_dtype_under_low_precision_parameters_are_refused(self):
        self.refused(TypeError, r"grads\[0\]: expected float16 like params, got float32$",
                     dtypes=("float16", "float32", "float32", "float32"))


if __name__ == "__main__":
    if not sycl_memory.devices():
        support.skip("SYCL has no device here (intel-opencl-rt has one for CPUs)")
    print(f"seed={cases.SEED} device={sycl_memory.devices()[DEVICE]}", file=sys.stderr)
    unittest.main()
