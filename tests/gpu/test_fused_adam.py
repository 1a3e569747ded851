"""fused_adam from a bundle, on the GPU, against float64 (tests/python/adam_reference.py) and torch's own AdamW."""

import unittest

import fused_optimizer_cases as cases  # exits with 77 where something is missing

import adam_reference
import torch
from adam_reference import Options

MODES = [Options(adam_w_mode=w, bias_correction=b, weight_decay=d, grad_scale=s)
         for w in (True, False) for b in (True, False) for d, s in ((0.0, 1.0), (0.1, 1 / 1024))]
SPEC = cases.Spec("fused_adam", ("exp_avgs", "exp_avg_sqs"), adam_reference, MODES)


class Numbers(cases.Numbers, cases.NanStaysInItsElement, unittest.TestCase):
    spec = SPEC

    def test_more_elements_than_32_bits_count(self):
        count = 2**31 + 5
        if torch.cuda.mem_get_info()[0] < count * 13:
            self.skipTest("needs 28 GB of free GPU memory")
        param = torch.ones(count, dtype=torch.bfloat16, device="cuda")
        grad = torch.ones(count, dtype=torch.bfloat16, device="cuda")
        state = [[param], [grad], [torch.zeros(count, device="cuda")], [torch.zeros(count, device="cuda")]]
        SPEC.step(state, Options(lr=0.5))
        self.assertEqual((param.min().item(), param.max().item()), (0.5, 0.5))

    def test_ten_steps_agree_with_torch_adamw(self):
        shapes = [(1000, 33), (77,), (3, 5, 7)]
        state = SPEC.random_state(shapes, torch.float32, torch.float32)
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
            SPEC.step(state, Options(lr=1e-3, weight_decay=0.01, step=index))
        for param, own in zip(params, state[0]):
            torch.testing.assert_close(own, param.data, rtol=1e-5, atol=1e-6)


class Tensors(cases.Tensors, unittest.TestCase):
    spec = SPEC


class Launches(cases.Launches, unittest.TestCase):
    spec = SPEC


class Errors(cases.Errors, unittest.TestCase):
    spec = SPEC


if __name__ == "__main__":
    cases.main(SPEC)
