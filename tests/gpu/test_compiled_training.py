"""A training step through torch.compile, on the GPU: Fp8Linear, rms_norm, a loss, a fused optimiser. No graph break, no
recompilation, CUDA graphs by hand and by mode="reduce-overhead", and replays that equal eager steps bit for bit."""

import copy
import os
import random
import unittest
import warnings

import support  # exits with 77 where something is missing

try:
    import torch
except ImportError:
    support.skip("torch is not installed (pip install torch)")
if not torch.cuda.is_available() or torch.cuda.get_device_capability() < (8, 9):
    support.skip("there is no GPU with FP8 (compute capability 8.9 or newer)")

import dsbuild.optim
import dsbuild.torch
from dsbuild.fp8 import Fp8Recipe
from dsbuild.nn import Fp8Linear
from torch._dynamo.utils import counters

SEED = int(os.environ.get("SEED", random.randrange(2**32)))
ROWS, WIDTH, STEPS = 256, 512, 20
OPTIMIZERS = [dsbuild.optim.FusedAdam, dsbuild.optim.FusedLion, dsbuild.optim.FusedLamb]


class Model(torch.nn.Module):
    def __init__(self, scaling):
        super().__init__()
        recipe = Fp8Recipe(scaling=scaling)
        self.first = Fp8Linear(WIDTH, 2 * WIDTH, dtype=torch.bfloat16, device="cuda", recipe=recipe)
        self.last = Fp8Linear(2 * WIDTH, WIDTH, dtype=torch.bfloat16, device="cuda", recipe=recipe)
        self.weight = torch.nn.Parameter(torch.ones(2 * WIDTH, dtype=torch.bfloat16, device="cuda"))

    def forward(self, x, target):
        hidden, _ = torch.ops.dsbuild.rms_norm_forward(self.first(x), self.weight, 1e-6)
        return (self.last(hidden).float() - target).square().mean()


class Training:
    """A model with its optimiser; `run` is the forward pass."""

    def __init__(self, scaling, optimizer, model=None):
        self.model = copy.deepcopy(model) if model else Model(scaling)
        self.optimizer = optimizer(self.model.parameters(), lr=1e-3, capturable=True)
        self.run = self.model
        self.update = self.optimizer.step

    def compiled(self, **options):
        self.run = torch.compile(self.model, fullgraph=True, **options)
        self.update = torch.compile(self.optimizer.step, fullgraph=True)
        return self

    def step(self, x, target):
        loss = self.run(x, target)
        loss.backward()
        self.update()
        self.optimizer.zero_grad()
        return loss.detach().clone()

    def state(self):
        """All that a step changes."""
        moments = [value for state in self.optimizer.state.values() for value in state.values()]
        return [*self.model.parameters(), *self.model.buffers(), *moments]


def batches():
    generator = torch.Generator("cuda").manual_seed(SEED)
    return [(torch.randn(ROWS, WIDTH, device="cuda", generator=generator).bfloat16(),
             torch.randn(ROWS, WIDTH, device="cuda", generator=generator)) for _ in range(STEPS)]


def of_each(test):
    """The test is of one kind of scaling and one optimiser."""
    def run(self):
        for scaling in ("delayed", "current"):
            for optimizer in OPTIMIZERS:
                with self.subTest(scaling=scaling, optimizer=optimizer.__name__, seed=SEED):
                    torch._dynamo.reset()
                    counters.clear()
                    test(self, scaling, optimizer)
    run.__name__ = test.__name__
    return run


class CompiledTraining(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(SEED)
        torch._dynamo.reset()
        counters.clear()

    def assert_same(self, one, other):
        for a, b in zip(one.state(), other.state()):
            self.assertTrue(torch.equal(a, b), f"{a.shape} {a.dtype}: {(a.float() - b.float()).abs().max()}")

    @of_each
    def test_a_step_has_no_break_and_is_compiled_once(self, scaling, optimizer):
        training = Training(scaling, optimizer).compiled()
        losses, batch = [], batches()[0]
        for number in range(STEPS):
            # The optimiser makes its states in the first step: it may be compiled anew in the second.
            with torch._dynamo.config.patch(error_on_recompile=number > 1):
                losses.append(training.step(*batch).item())
        self.assertEqual(dict(counters["graph_break"]), {})
        self.assertLess(sum(losses[-5:]), sum(losses[:5]))

    @of_each
    def test_reduce_overhead_tracks_all_its_tensors(self, scaling, optimizer):
        training = Training(scaling, optimizer).compiled(mode="reduce-overhead")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for batch in batches():
                torch.compiler.cudagraph_mark_step_begin()
                training.step(*batch)
        texts = [str(warning.message) for warning in said]
        self.assertEqual([text for text in texts if "cudagraph" in text.lower()], [])
        self.assertEqual(dict(counters["inductor"]).get("cudagraph_skips", 0), 0)

    @of_each
    def test_replays_of_a_graph_are_eager_steps(self, scaling, optimizer):
        eager = Training(scaling, optimizer)
        captured = Training(scaling, optimizer, eager.model)
        x, target = (tensor.clone() for tensor in batches()[0])
        for training in (eager, captured):  # states are made, cuBLASLt has chosen
            for batch in batches()[:2]:
                training.step(*batch)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for batch in batches()[2:4]:
                captured.step(*batch)
        torch.cuda.current_stream().wait_stream(stream)
        for batch in batches()[2:4]:
            eager.step(*batch)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured.step(x, target)
        for number, batch in enumerate(batches()):
            eager.optimizer.param_groups[0]["lr"].fill_(1e-3 / (number + 1))
            captured.optimizer.param_groups[0]["lr"].fill_(1e-3 / (number + 1))
            eager.step(*batch)
            x.copy_(batch[0])
            target.copy_(batch[1])
            graph.replay()
        torch.cuda.synchronize()
        self.assert_same(eager, captured)


if __name__ == "__main__":
    unittest.main()
