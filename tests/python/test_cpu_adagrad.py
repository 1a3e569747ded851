"""cpu_adagrad from a bundle, against float64 (adagrad_reference.py), values worked out by hand and torch's own Adagrad."""

import unittest

import cpu_optimizer_cases as cases  # exits with 77 where something is missing

import adagrad_reference
import numpy as np
from adagrad_reference import Options

MODES = [Options(weight_decay=d, grad_scale=s, eps=e) for d in (0.0, 0.1) for s in (1.0, 1 / 1024) for e in (1e-10, 1e-3)]
SPEC = cases.Spec("cpu_adagrad", ("exp_avg_sqs",), adagrad_reference, MODES)


class Numbers(cases.Numbers, unittest.TestCase):
    spec = SPEC

    def test_two_steps_by_hand(self):
        # 1 - 0.1 * 3 / 3 = 0.9, then 0.9 - 0.1 * 4 / sqrt(9 + 16) = 0.82
        for _ in self.each_path():
            p, v = np.ones(17, np.float32), np.zeros(17, np.float32)
            for grad, param, total in ((3, 0.9, 9), (4, 0.82, 25)):
                SPEC.step([[p], [np.full(17, grad, np.float32)], [v]], Options(lr=0.1, eps=0.0))
                self.assert_close(p, np.full(17, param))
                self.assert_close(v, np.full(17, total))

    def test_weight_decay_is_a_part_of_the_gradient(self):
        for _ in self.each_path():
            p, v = np.full(17, 2, np.float32), np.zeros(17, np.float32)
            SPEC.step([[p], [np.zeros(17, np.float32)], [v]], Options(lr=0.1, eps=0.0, weight_decay=0.5))
            self.assert_close(p, np.full(17, 1.9))
            self.assert_close(v, np.ones(17))

    def test_no_gradient_at_all_moves_nothing(self):
        for _ in self.each_path():
            p, v = np.ones(17, np.float32), np.zeros(17, np.float32)
            SPEC.step([[p], [np.zeros(17, np.float32)], [v]], Options())
            self.assertEqual((p.tolist(), v.tolist()), ([1.0] * 17, [0.0] * 17))


class AgainstTorch(cases.AgainstTorch, unittest.TestCase):
    spec = SPEC

    def torch_optimizer(self, torch, params):
        return torch.optim.Adagrad(params, lr=1e-2, weight_decay=0.05)

    def own_options(self, index):
        return Options(lr=1e-2, weight_decay=0.05)


class Paths(cases.Paths, unittest.TestCase):
    spec = SPEC


class Errors(cases.Errors, unittest.TestCase):
    spec = SPEC


if __name__ == "__main__":
    cases.main(SPEC)
