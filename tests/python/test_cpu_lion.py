"""cpu_lion from a bundle, against float64 (lion_reference.py) and values worked out by hand. torch has no Lion."""

import unittest

import cpu_optimizer_cases as cases  # exits with 77 where something is missing

import lion_reference
import numpy as np
from lion_reference import Options

MODES = [Options(weight_decay=d, grad_scale=s, beta1=b) for d in (0.0, 0.1) for s in (1.0, 1 / 1024) for b in (0.9, 0.0)]
SPEC = cases.Spec("cpu_lion", ("exp_avgs",), lion_reference, MODES)


class Numbers(cases.Numbers, unittest.TestCase):
    spec = SPEC

    def test_a_step_by_hand(self):
        # 2 * (1 - 0.1 * 0.5) = 1.9, and 0.1 against the direction 0.5 * m + 0.5 * g
        grads = np.resize(np.float32([1, -1, 3, -3, 0, 1]), 22)
        before = np.resize(np.float32([1, -1, -1, 1, 0, -1]), 22)
        for _ in self.each_path():
            p, m = np.full(22, 2, np.float32), before.copy()
            SPEC.step([[p], [grads], [m]], Options(lr=0.1, beta1=0.5, beta2=0.75, weight_decay=0.5))
            self.assert_close(p, np.resize([1.8, 2.0, 1.8, 2.0, 1.9, 1.9], 22))
            self.assert_close(m, 0.75 * before + 0.25 * grads)

    def test_what_has_no_direction_is_not_moved(self):
        for _ in self.each_path():
            for zero in (0.0, -0.0):
                p, m = np.ones(17, np.float32), np.full(17, zero, np.float32)
                SPEC.step([[p], [np.full(17, zero, np.float32)], [m]], Options())
                self.assertEqual(p.tolist(), [1.0] * 17)

    def test_a_learning_rate_below_zero_goes_the_other_way(self):
        for _ in self.each_path():
            p, m = np.ones(17, np.float32), np.zeros(17, np.float32)
            SPEC.step([[p], [np.ones(17, np.float32)], [m]], Options(lr=-0.5))
            self.assertEqual(p.tolist(), [1.5] * 17)


class Paths(cases.Paths, unittest.TestCase):
    spec = SPEC


class Errors(cases.Errors, unittest.TestCase):
    spec = SPEC


if __name__ == "__main__":
    cases.main(SPEC)
