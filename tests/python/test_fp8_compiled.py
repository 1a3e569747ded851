"""dsbuild.nn.Fp8Linear under torch.compile, without a GPU: no break, nothing is compiled anew, the numbers of eager steps.

COMPILE_BACKEND=inductor takes the whole compiler (and g++); the default traces and partitions alone.
"""

import os
import unittest

import fp8_reference as reference
from fp8_layers import Fp8Test, batch, layer_of, step

import torch
from dsbuild import fp8
from dsbuild.fp8 import Fp8Recipe

BACKEND = os.environ.get("COMPILE_BACKEND", "aot_eager")


class Compiled(Fp8Test):
    """torch.compile without a break and without compiling anew."""

    def graphs(self):
        return torch._dynamo.utils.counters["stats"]["unique_graphs"]

    def assert_as_eager(self, recipe, steps=20):
        torch._dynamo.utils.counters.clear()
        eager, compiled = layer_of(recipe), layer_of(recipe)
        program = torch.compile(compiled, fullgraph=True, backend=BACKEND)
        for number in range(steps):
            x = batch()
            twin = x.detach().clone().requires_grad_()
            with torch._dynamo.config.patch(error_on_recompile=number > 0):
                out = program(twin)
                out.float().square().sum().backward()
            wanted = step(eager, x)
            torch.testing.assert_close(out, wanted, rtol=0, atol=0)
            torch.testing.assert_close(twin.grad, x.grad, rtol=0, atol=0)
        torch.testing.assert_close(compiled.weight.grad, eager.weight.grad)
        torch.testing.assert_close(compiled.bias.grad, eager.bias.grad)
        if recipe.scaling == "delayed":
            torch.testing.assert_close(compiled.amax_history, eager.amax_history)
            torch.testing.assert_close(compiled.scales, eager.scales)
            self.assertTrue(bool((compiled.amax_history[0] > 0).all()))  # the gradient's too
        self.assertEqual(self.graphs(), 1)
        self.assertEqual(dict(torch._dynamo.utils.counters["graph_break"]), {})
        self.assertEqual(compiled.quantizers_built, 3)

    def test_delayed(self):
        self.assert_as_eager(Fp8Recipe())

    def test_current(self):
        self.assert_as_eager(Fp8Recipe(scaling="current"))

    def test_without_transposed_cache(self):
        self.assert_as_eager(Fp8Recipe(transposed_cache=False), steps=3)

    def test_two_layers_with_fp8_between_them(self):
        def model():
            return torch.nn.Sequential(layer_of(Fp8Recipe(fp8_output=True)), layer_of(Fp8Recipe(), 48, 32))

        eager, compiled = model(), model()
        program = torch.compile(compiled, fullgraph=True, backend=BACKEND)
        for _ in range(3):
            x = batch()
            out, wanted = program(x), eager(x)
            torch.testing.assert_close(out, wanted, rtol=0, atol=0)
            out.float().sum().backward()
            wanted.float().sum().backward()
        torch.testing.assert_close(compiled[0].weight.grad, eager[0].weight.grad)

    def test_training_and_evaluation_take_turns(self):
        layer = layer_of()
        program = torch.compile(layer, fullgraph=True, backend=BACKEND)
        for number in range(6):
            layer.train(number % 2 == 0)
            with torch._dynamo.config.patch(error_on_recompile=number > 1), torch.set_grad_enabled(number % 2 == 0):
                out = program(batch(requires_grad=number % 2 == 0))
            self.assertEqual(out.requires_grad, number % 2 == 0)

    def test_another_recipe_or_mode_is_seen(self):
        layer = layer_of(Fp8Recipe(scaling="current"))
        program = torch.compile(layer, fullgraph=True, backend=BACKEND)
        x = batch(requires_grad=False)
        program(x)
        for change in (lambda: setattr(layer, "recipe", Fp8Recipe(scaling="current", use_split_accumulator_fprop=True)),
                       lambda: fp8.initialize(enabled=True, fast_accumulation=False)):
            layer.recipe = Fp8Recipe(scaling="current")
            program(x)
            change()
            reference.calls.clear()
            program(x)
            self.assertEqual([a[-1] for n, a in reference.calls if n == "fp8_linear_matmul"], [True])

    def test_a_deferred_gradient_is_refused_by_name(self):
        layer = layer_of(Fp8Recipe(delay_wgrad=True))
        with self.assertRaisesRegex(Exception, "delay_wgrad keeps gradients outside of the graph"):
            torch.compile(layer, fullgraph=True, backend=BACKEND)(batch())


if __name__ == "__main__":
    unittest.main()
