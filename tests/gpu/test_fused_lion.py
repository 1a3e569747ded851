"""fused_lion from a bundle, on the GPU, against float64 (tests/python/lion_reference.py). torch has no Lion."""

import unittest

import fused_optimizer_cases as cases  # exits with 77 where something is missing

import lion_reference
import torch
from lion_reference import Options

MODES = [Options(weight_decay=d, grad_scale=s, beta1=b) for d in (0.0, 0.1) for s in (1.0, 1 / 1024) for b in (0.9, 0.0)]
SPEC = cases.Spec("fused_lion", ("exp_avgs",), lion_reference, MODES)


class Numbers(cases.Numbers, cases.NanStaysInItsElement, unittest.TestCase):
    spec = SPEC

    def test_what_has_no_direction_is_not_moved(self):
        for size in (7, cases.BLOCK):
            param, grad, moment = torch.ones(size, device="cuda"), torch.zeros(size, device="cuda"), torch.zeros(size, device="cuda")
            grad[3], grad[4] = 1, -1
            SPEC.step([[param], [grad], [moment]], Options(lr=0.5))
            self.assertEqual(param[:6].tolist(), [1, 1, 1, 0.5, 1.5, 1])
            self.assertEqual(int((param == 1).sum()), size - 2)


class Tensors(cases.Tensors, unittest.TestCase):
    spec = SPEC


class Launches(cases.Launches, unittest.TestCase):
    spec = SPEC


class Errors(cases.Errors, unittest.TestCase):
    spec = SPEC


if __name__ == "__main__":
    cases.main(SPEC)
