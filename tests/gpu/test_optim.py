"""dsbuild.optim on the GPU: against torch's own AdamW, in CUDA graphs and under torch.compile, bit for bit against eager steps.

DSBUILD_BUNDLE is the bundle's folder; the package dsbuild must be importable, its module dsbuild.torch too."""

import copy
import os
import random
import sys
import unittest

import support  # noqa: F401 (it exits with 77 where something is missing)

import torch

os.environ.setdefault("DSBUILD_JIT", "0")
from dsbuild import optim  # noqa: E402

SEED = int(os.environ.get("SEED", random.randrange(2**32)))
SHAPES = ((257, 33), (5,), (), (4096,), (70_001,))
KINDS = (optim.FusedAdam, optim.FusedLamb, optim.FusedLion)
LR = 2.0**-8  # the same number in float32


def parameters(dtypes=(torch.float32, torch.bfloat16)):
    torch.manual_seed(SEED)
    return [torch.nn.Parameter(torch.randn(shape, device="cuda").to(dtype)) for dtype in dtypes for shape in SHAPES]


def new_grads(params, number):
    """The same for the same number, wherever they are written to; gradients keep their addresses."""
    generator = torch.Generator("cuda").manual_seed(SEED + number)
    for param in params:
        grad = torch.randn(param.shape, device="cuda", generator=generator).to(param.dtype)
        if param.grad is None:
            param.grad = grad
        else:
            param.grad.copy_(grad)


def rate(number):
    return LR / 2**(number % 4)  # as exact in float32 as LR


class Case(unittest.TestCase):
    def assert_same_bits(self, params, others, what):
        for index, (own, other) in enumerate(zip(params, others)):
            self.assertTrue(torch.equal(own, other), f"parameter {index}: {what} seed={SEED}")


class Steps(Case):
    def test_adamw_is_torchs(self):
        for capturable in (False, True):
            own, other = parameters((torch.float32,)), parameters((torch.float32,))
            mine = optim.FusedAdam(own, lr=LR, weight_decay=0.1, capturable=capturable)
            theirs = torch.optim.AdamW(other, lr=LR, weight_decay=0.1, fused=True)
            for number in range(10):
                for params, optimizer in ((own, mine), (other, theirs)):
                    new_grads(params, number)
                    optimizer.step()
            for a, b in zip(own, other):
                torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)

    def test_tensors_give_the_bits_of_numbers(self):
        for kind in KINDS:
            both = [parameters(), parameters()]
            optimizers = [kind(params, lr=LR, weight_decay=0.1, capturable=late) for params, late in zip(both, (False, True))]
            for number in range(5):
                for params, optimizer in zip(both, optimizers):
                    new_grads(params, number)
                    optimizer.step()
            self.assert_same_bits(*both, kind.__name__)

    def test_a_checkpoint(self):
        for kind in KINDS:
            for before, after in ((False, True), (True, False), (True, True)):
                whole = parameters()
                first = kind(whole, lr=LR, weight_decay=0.1, capturable=before)
                for number in range(3):
                    new_grads(whole, number)
                    first.step()
                again = [torch.nn.Parameter(p.detach().clone()) for p in whole]
                second = kind(again, capturable=after)
                second.load_state_dict(copy.deepcopy(first.state_dict()))
                for number in range(3, 6):
                    for params, optimizer in ((whole, first), (again, second)):
                        new_grads(params, number)
                        optimizer.step()
                self.assert_same_bits(whole, again, f"{kind.__name__} {before} {after}")


class Graphs(Case):
    def test_twenty_replays_are_twenty_steps(self):
        for kind in KINDS:
            own, other = parameters(), parameters()
            mine, eager = kind(own, lr=LR, weight_decay=0.1, capturable=True), kind(other, lr=LR, weight_decay=0.1)
            for params, optimizer in ((own, mine), (other, eager)):
                new_grads(params, 0)
                optimizer.step()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                mine.step()
            for number in range(1, 21):
                for params, optimizer in ((own, mine), (other, eager)):
                    new_grads(params, number)
                mine.param_groups[0]["lr"].fill_(rate(number))
                eager.param_groups[0]["lr"] = rate(number)
                graph.replay()
                eager.step()
                self.assert_same_bits(own, other, f"{kind.__name__}, replay {number}")

    def refused(self, message, work):
        torch.cuda.synchronize()
        with self.assertRaisesRegex(RuntimeError, message):
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                work()
        torch.cuda.synchronize()

    def test_what_a_graph_would_freeze_is_refused(self):
        params = parameters()
        new_grads(params, 0)
        numbers = optim.FusedAdam(params)
        numbers.step()
        self.refused("^FusedAdam: capturable=True and lr in a tensor are needed", numbers.step)
        self.refused("^FusedAdam: take one step before the capture", optim.FusedAdam(params, capturable=True).step)


class Compiled(Case):
    def test_a_compiled_step_is_an_eager_one(self):
        for kind in KINDS:
            torch._dynamo.reset()
            own, other = parameters(), parameters()
            mine, eager = kind(own, lr=LR, weight_decay=0.1, capturable=True), kind(other, lr=LR, weight_decay=0.1)
            compiled = torch.compile(mine.step, fullgraph=True)
            for number in range(20):
                for params in (own, other):
                    new_grads(params, number)
                mine.param_groups[0]["lr"].fill_(rate(number))
                eager.param_groups[0]["lr"] = rate(number)
                compiled()
                eager.step()
                self.assert_same_bits(own, other, f"{kind.__name__}, step {number}")
            counters = torch._dynamo.utils.counters
            self.assertEqual(sum(counters["graph_break"].values()), 0)
            self.assertLessEqual(counters["stats"]["unique_graphs"], 2 * len(KINDS))


if __name__ == "__main__":
    print(f"optim: seed={SEED}", file=sys.stderr)
    unittest.main()
