"""fused_lamb from a bundle, on the GPU, against float64 (tests/python/lamb_reference.py). torch has no LAMB."""

import unittest

import fused_optimizer_cases as cases  # exits with 77 where something is missing

import lamb_reference
import torch
from lamb_reference import Options

MODES = [Options(eps_inside_sqrt=e, bias_correction=b, weight_decay=d, grad_scale=s, eps=1e-6)
         for e in (True, False) for b in (True, False) for d, s in ((0.0, 1.0), (0.1, 1 / 1024))]


def scratch_of(op, params):
    """Of exactly the size that is told, not aligned, and full of what must not be read."""
    count = op.fused_lamb_scratch(params)
    return torch.full((count + 1,), float("nan"), device="cuda" if not params else params[0].device)[1:]


SPEC = cases.Spec("fused_lamb", ("exp_avgs", "exp_avg_sqs"), lamb_reference, MODES, scratch_of)


class Numbers(cases.Numbers, unittest.TestCase):
    spec = SPEC

    def test_bounds_of_the_trust_ratio(self):
        # A first step without eps is along the gradient's sign: the norm of the update is that of ones.
        for size in (5, 3 * cases.BLOCK + 1):
            for value, ratio in ((4.0, 4.0), (100.0, 10.0), (0.001, 0.01), (0.0, 1.0)):
                param, grad = torch.full((size,), value, device="cuda"), torch.ones(size, device="cuda")
                moments = [[torch.zeros(size, device="cuda")] for _ in range(2)]
                # beta of 0: the moments are the gradient's, the corrections are 1
                SPEC.step([[param], [grad], *moments], Options(lr=0.5, beta1=0.0, beta2=0.0, eps=0.0))
                torch.testing.assert_close(param, torch.full((size,), value - 0.5 * ratio, device="cuda"))

    def test_a_nan_stays_in_its_tensor(self):
        state = SPEC.random_state([(cases.BLOCK + 3,), (70_000,), (5,)], torch.float32, torch.float32)
        state[1][1][7] = float("nan")
        SPEC.step(state, Options())
        self.assertEqual([int(p.isnan().sum()) for p in state[0]], [0, 70_000, 0])

    def test_a_ratio_is_of_its_own_tensor(self):
        shapes = [(s,) for s in (1, 5, 4096, 70_001, 0, 3)] * 20
        together = SPEC.random_state(shapes, torch.float32, torch.float32)
        alone = cases.copy_of(together)
        SPEC.step(together, Options(weight_decay=0.1))
        for index in range(len(shapes)):
            SPEC.step([[tensors[index]] for tensors in alone], Options(weight_decay=0.1))
        self.assert_same_bits(together, alone)


class Tensors(cases.Tensors, unittest.TestCase):
    spec = SPEC


class Launches(cases.Launches, unittest.TestCase):
    spec = SPEC

    def moved(self):
        # The trust ratio gives the update the parameter's norm; 0.1 * sqrt(0.001) / 0.1 is the learning rate.
        return 1 - 0.001**0.5


class Errors(cases.Errors, unittest.TestCase):
    spec = SPEC

    def test_scratch_is_checked_by_name(self):
        state = SPEC.random_state([(6,), (0,), (5000,)], torch.float32, torch.float32)
        needed = SPEC.op.fused_lamb_scratch(state[0])
        self.assertEqual(needed, 2 * (1 + 2) + 3 * 2)
        for message, scratch in (
                ("expected a CUDA tensor, got one on cpu", torch.zeros(needed)),
                ("expected float32, got float64", torch.zeros(needed, device="cuda").double()),
                (f"expected at least {needed} elements, got {needed - 1}", torch.zeros(needed - 1, device="cuda")),
                ("expected contiguous", torch.zeros(2 * needed, device="cuda")[::2])):
            with self.assertRaises((TypeError, ValueError)) as caught:
                SPEC.op.fused_lamb_step(*state, scratch, *Options().arguments())
            self.assertEqual(str(caught.exception), "fused_lamb_step: scratch: " + message)

    def test_bounds_the_wrong_way_round_are_refused(self):
        self.refused(ValueError, "max_coeff: expected a number that is not below min_coeff", min_coeff=2.0, max_coeff=1.0)


if __name__ == "__main__":
    cases.main(SPEC)
