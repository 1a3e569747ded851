"""cpu_adam from a bundle, against float64 (adam_reference.py), values worked out by hand and torch's own AdamW."""

import unittest

import cpu_optimizer_cases as cases  # exits with 77 where something is missing
import support

import adam_reference
import numpy as np
from adam_reference import Options

MODES = [Options(adam_w_mode=w, bias_correction=b, weight_decay=d, grad_scale=s)
         for w in (True, False) for b in (True, False) for d, s in ((0.0, 1.0), (0.1, 1 / 1024))]
SPEC = cases.Spec("cpu_adam", ("exp_avgs", "exp_avg_sqs"), adam_reference, MODES)


def float32(*values):
    return np.array(values, np.float32)


class Numbers(cases.Numbers, unittest.TestCase):
    spec = SPEC

    def test_first_step_moves_by_the_learning_rate(self):
        # m / sqrt(v) is the gradient's sign; 1 * (1 - 0.1 * 0.01) - 0.1 = 0.899
        for _ in self.each_path():
            p, m, v = float32(1), float32(0), float32(0)
            SPEC.step([[p], [float32(0.5)], [m], [v]], Options(lr=0.1, weight_decay=0.01))
            self.assert_close(p, [0.899])
            self.assert_close(m, [0.05])
            self.assert_close(v, [0.00025])

    def test_low_precision_gradients_are_read_exactly(self):
        bits = np.arange(65536, dtype=np.uint16)
        options = Options(beta1=0.0, lr=0.0)  # the first moment becomes the gradient
        for _ in self.each_path():
            for grads, values in ((bits.view(np.float16), bits.view(np.float16).astype(np.float32)),
                                  (bits, support.bfloat16_values(bits))):
                p, m, v = (np.zeros(bits.size, np.float32) for _ in range(3))
                SPEC.step([[p], [grads], [m], [v]], options)
                # 0 * NaN and the sum with 0 lose the payload and the sign of zero, and nothing else.
                np.testing.assert_array_equal(m, values)

    def test_a_late_step_is_corrected_as_the_formula_says(self):
        # Gradients of 1 under moments of 1: the step is lr * sqrt(c2) / c1, by the formula in float64.
        for index in (2, 1000, 10**6, 10**12):
            p, m, v = float32(0), float32(1), float32(1)
            SPEC.step([[p], [float32(1)], [m], [v]], Options(lr=0.1, eps=0.0, step=index))
            self.assert_close(p, [-0.1 * (1 - 0.999**index)**0.5 / (1 - 0.9**index)])


class AgainstTorch(cases.AgainstTorch, unittest.TestCase):
    spec = SPEC

    def torch_optimizer(self, torch, params):
        return torch.optim.AdamW(params, lr=1e-3, weight_decay=0.01)

    def own_options(self, index):
        return Options(lr=1e-3, weight_decay=0.01, step=index)


class Paths(cases.Paths, unittest.TestCase):
    spec = SPEC


class Errors(cases.Errors, unittest.TestCase):
    spec = SPEC


if __name__ == "__main__":
    cases.main(SPEC)
