"""The torch operators of dsbuild.torch: torch's own opcheck on each with each declared dtype, fakes, schemas, gradients.

DSBUILD_BUNDLE names the bundle. Which device: DSBUILD_TORCH_DEVICE (cpu, cuda); the operators of its backend are tested. No
op's name stands here: calls are made of functions.yaml (torch_samples.py).
"""

import copy
import os
import subprocess
import sys
import unittest

import support  # exits with 77 where something is missing

try:
    import torch
except ImportError:
    support.skip("torch is not installed (pip install torch)")

import dsbuild.torch
import torch_samples
from torch_samples import results
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

DEVICE = os.environ.get("DSBUILD_TORCH_DEVICE", "cpu")
WANTED = os.environ.get("DSBUILD_TORCH_OPERATORS")
CALLS = list(torch_samples.calls(DEVICE, WANTED and WANTED.split(",")))
WRITTEN, SAID = {}, {}  # by operator, of all its calls
CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def on_meta(value):
    return value.to("meta") if isinstance(value, torch.Tensor) else value


def symbolic(mode, value):
    """A fake of a tensor whose sizes torch.compile would call dynamic."""
    if not isinstance(value, torch.Tensor):
        return value
    return mode.from_tensor(value, symbolic_context=StatelessSymbolicContext([DimDynamic.DYNAMIC] * value.dim()))


def of_each_call(test):
    def run(self):
        for call in CALLS:
            with self.subTest(str(call)):
                torch.manual_seed(0)
                test(self, copy.deepcopy(call))  # some change their tensors
    run.__name__ = test.__name__
    return run


def differentiable(call):
    """The call with inputs that require gradients, where they can."""
    changed = copy.deepcopy(call)
    for _, tensor, _ in changed.tensors():
        if tensor.is_floating_point():
            tensor.requires_grad_()
    return changed


class Operators(unittest.TestCase):
    def test_every_operator_is_called(self):
        named = {name for name, fact in torch_samples.FACTS.items() if fact["backend"] == DEVICE}
        self.assertEqual({call.name for call in CALLS}, set(WANTED.split(",")) if WANTED else named)
        self.assertEqual(sorted(torch_samples.FACTS), dsbuild.torch.names())

    @of_each_call
    def test_torch_finds_nothing_wrong(self, call):
        torch.library.opcheck(call.operator, tuple(call.arguments), call.named, test_utils=CHECKS)
        if call.facts["has_backward"]:
            changed = differentiable(call)
            torch.library.opcheck(changed.operator, tuple(changed.arguments), changed.named, test_utils=CHECKS)

    @of_each_call
    def test_exactly_what_the_schema_says_is_written_to(self, call):
        said = {argument.name for argument in call.operator._schema.arguments
                if argument.alias_info is not None and argument.alias_info.is_write}
        self.assertEqual(said, {fact["name"] for fact in call.facts["arguments"] if fact["writes"]})
        before = [(name, tensor.clone()) for name, tensor, _ in call.tensors()]
        call.operator(*call.arguments, **call.named)
        changed = {name for (name, old), (_, new, _) in zip(before, call.tensors())
                   if not torch.equal(old.nan_to_num(), new.nan_to_num())}
        self.assertLessEqual(changed, said)
        WRITTEN.setdefault(call.name, set()).update(changed)
        SAID[call.name] = said

    @classmethod
    def tearDownClass(cls):
        """One call may leave a tensor as it was, by rounding or because it is raised alone; not all."""
        assert WRITTEN == SAID, f"what is written to: {WRITTEN}, what the schemas say: {SAID}"

    @of_each_call
    def test_a_fake_has_the_shapes_dtypes_and_strides_of_the_real_ones(self, call):
        real = results(call.operator(*call.arguments, **call.named))
        meta = [[on_meta(one) for one in value] if isinstance(value, list) else on_meta(value) for value in call.arguments]
        fake = results(call.operator(*meta, **call.named))
        self.assertEqual([(t.shape, t.dtype, t.stride()) for t in fake], [(t.shape, t.dtype, t.stride()) for t in real])
        self.assertEqual(len(real), len(call.facts["returns"]))
        self.assertTrue(all(t.device.type == "meta" for t in fake))

    @of_each_call
    def test_a_compiled_call_is_the_eager_one(self, call):
        for dynamic in (False, True):
            eager, compiled = copy.deepcopy(call), copy.deepcopy(call)
            torch._dynamo.reset()
            run = torch.compile(lambda *words, **named: call.operator(*words, **named), fullgraph=True, dynamic=dynamic,
                                backend="aot_eager")
            expected = results(eager.operator(*eager.arguments, **eager.named))
            got = results(run(*compiled.arguments, **compiled.named))
            pairs = [*zip(expected, got), *((a, b) for (_, a, _), (_, b, _) in zip(eager.tensors(), compiled.tensors()))]
            for want, have in pairs:
                self.assertTrue(torch.equal(want.nan_to_num(), have.nan_to_num()))

    def test_every_operator_has_a_fake_without_its_device_or_library(self):
        """With sizes that are symbols too, as torch.compile has them."""
        for call in torch_samples.calls("meta"):
            with self.subTest(str(call)):
                self.assertEqual([t.device.type for t in results(call.operator(*call.arguments, **call.named))],
                                 ["meta"] * len(call.facts["returns"]))
                with FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True) as mode:
                    fakes = [[symbolic(mode, t) for t in value] if isinstance(value, list) else symbolic(mode, value)
                             for value in call.arguments]
                    self.assertEqual(len(results(call.operator(*fakes, **call.named))), len(call.facts["returns"]))

    def test_importing_needs_no_library_and_no_gpu(self):
        words = "import dsbuild.torch, dsbuild, torch; assert dsbuild.stats().loaded == 0 and not torch.cuda.is_initialized()"
        environment = {**os.environ, "DSBUILD_PROGRAM": "/nowhere", "CUDA_VISIBLE_DEVICES": ""}
        run = subprocess.run([sys.executable, "-c", words], env=environment, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
