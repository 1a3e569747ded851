"""dsbuild.fp8 and dsbuild.nn.Fp8Linear without a GPU: the operators below them run on the CPU (fp8_layers)."""

import copy
import dataclasses
import unittest
import weakref
from unittest import mock

import fp8_reference as reference
from fp8_layers import Fp8Test, batch, layer_of, step

import torch
from dsbuild import _fp8_linear, fp8, nn
from dsbuild.fp8 import Fp8Flags, Fp8Recipe, QuantizerRole


class Recipes(Fp8Test):
    def test_each_choice_is_checked_by_name(self):
        for name, value, expected in (("scaling", "late", '"delayed" or "current"'), ("format", "e5m2", '"hybrid" or "e4m3"'),
                                      ("amax_history_len", 0, "an integer between 1 and 1024"),
                                      ("amax_history_len", True, "an integer between 1 and 1024"),
                                      ("margin", 65, "an integer between -64 and 64"),
                                      ("use_split_accumulator_dgrad", 1, "a bool"), ("delay_wgrad", None, "a bool")):
            with self.assertRaises(ValueError) as caught:
                Fp8Recipe(**{name: value})
            self.assertEqual(str(caught.exception), f"Fp8Recipe: {name}: expected {expected}, got {value!r}")

    def test_a_recipe_does_not_change(self):
        with self.assertRaises(dataclasses.FrozenInstanceError):
            Fp8Recipe().margin = 1

    def test_the_defaults_are_fast_forward_and_split_backward(self):
        flags = fp8.resolve(Fp8Recipe())
        self.assertEqual(flags, Fp8Flags(True, True, False, True, True, False, True, False))

    def test_every_flag_is_a_plain_boolean(self):
        for recipe in (Fp8Recipe(), Fp8Recipe(scaling="current", format="e4m3", fp8_output=True, delay_wgrad=True)):
            for name, flag in zip(Fp8Flags._fields, fp8.resolve(recipe)):
                self.assertIs(type(flag), bool, name)

    def test_each_choice_has_its_own_flag(self):
        base = fp8.resolve(Fp8Recipe())
        for change, field in (({"scaling": "current"}, "delayed_scaling"), ({"format": "e4m3"}, "e5m2_gradients"),
                              ({"use_split_accumulator_fprop": True}, "fprop_split_accumulator"),
                              ({"use_split_accumulator_dgrad": False}, "dgrad_split_accumulator"),
                              ({"use_split_accumulator_wgrad": False}, "wgrad_split_accumulator"),
                              ({"fp8_output": True}, "fp8_output"), ({"transposed_cache": False}, "transposed_cache"),
                              ({"delay_wgrad": True}, "delay_wgrad")):
            flags = fp8.resolve(Fp8Recipe(**change))
            self.assertEqual([n for n, a, b in zip(Fp8Flags._fields, base, flags) if a != b], [field])


class Roles(Fp8Test):
    def test_gradients_are_e5m2_in_a_hybrid_recipe_alone(self):
        formats = {role: fp8.format_of(Fp8Recipe(), role) for role in QuantizerRole}
        self.assertEqual([r for r, f in formats.items() if f == "e5m2"], [QuantizerRole.GRAD_OUTPUT])
        self.assertEqual({fp8.format_of(Fp8Recipe(format="e4m3"), r) for r in QuantizerRole}, {"e4m3"})

    def test_an_unknown_role_is_an_error_by_name(self):
        with self.assertRaises(ValueError) as caught:
            QuantizerRole("grad_inputs")
        self.assertEqual(str(caught.exception), "quantizer role: expected 'input', 'weight', 'grad_output' or 'output', "
                                                "got 'grad_inputs'")
        with self.assertRaises(TypeError) as caught:
            fp8.format_of(Fp8Recipe(), "input")
        self.assertEqual(str(caught.exception), "quantizer role: expected a QuantizerRole (input, weight, grad_output or "
                                                "output), got 'input'")

    def test_columns_of_the_history_are_those_of_the_layer(self):
        roles = fp8.roles_of(Fp8Recipe(fp8_output=True))
        self.assertEqual(roles, (QuantizerRole.INPUT, QuantizerRole.WEIGHT, QuantizerRole.GRAD_OUTPUT, QuantizerRole.OUTPUT))
        self.assertEqual([roles[slot].value for slot in (nn.INPUT, nn.WEIGHT, nn.GRAD_OUTPUT, nn.OUTPUT)],
                         ["input", "weight", "grad_output", "output"])


class StateCache(Fp8Test):
    def test_one_recipe_builds_its_quantizers_once(self):
        layer = layer_of()
        for _ in range(100):
            layer(batch(requires_grad=False))
        self.assertEqual(layer.quantizers_built, 3)

    def test_the_same_recipe_is_looked_at_by_identity(self):
        class NeverCompared(Fp8Recipe):
            def __eq__(self, other):
                raise AssertionError("recipes were compared")

            __hash__ = None

        layer = layer_of(NeverCompared())
        layer.prepare()
        self.assertEqual(layer.quantizers_built, 3)

    def test_an_equal_recipe_that_is_another_object_builds_anew(self):
        layer = layer_of(Fp8Recipe())
        layer.recipe = Fp8Recipe()
        self.assertEqual(layer.quantizers_built, 6)

    def test_another_number_of_quantizers_builds_anew(self):
        layer = layer_of()
        four = (*fp8.roles_of(layer.recipe), QuantizerRole.OUTPUT)
        with mock.patch.object(fp8, "roles_of", return_value=four):
            layer(batch())
            layer(batch())
        self.assertEqual(layer.quantizers_built, 3 + 4)
        self.assertEqual(layer.scales.shape, (4,))

    def test_a_new_recipe_keeps_the_state_it_has_a_place_for(self):
        layer = layer_of(Fp8Recipe(amax_history_len=4))
        for _ in range(3):
            step(layer)
        history, scales = layer.amax_history.clone(), layer.scales.clone()
        layer.recipe = Fp8Recipe(amax_history_len=2, fp8_output=True)
        self.assertTrue(torch.equal(layer.amax_history[:, :3], history[:2]))
        self.assertTrue(torch.equal(layer.scales[:3], scales))
        layer.recipe = Fp8Recipe(scaling="current")
        self.assertIsNone(layer.amax_history)
        self.assertNotIn("scales", layer.state_dict())

    def test_state_goes_through_a_state_dict_and_a_copy(self):
        layer = layer_of()
        step(layer)
        step(layer)
        other = layer_of()
        other.load_state_dict(layer.state_dict())
        for twin in (other, copy.deepcopy(layer)):
            self.assertTrue(torch.equal(twin.scales, layer.scales))
            self.assertTrue(torch.equal(twin.amax_history, layer.amax_history))
            self.assertNotEqual(twin._deferred.handle, layer._deferred.handle)

    def test_a_change_of_dtype_leaves_the_state_in_float32(self):
        layer = layer_of()
        step(layer)
        step(layer)
        scales = layer.scales.clone()
        layer.half()
        self.assertEqual((layer.weight.dtype, layer.scales.dtype, layer.amax_history.dtype),
                         (torch.float16, torch.float32, torch.float32))
        self.assertTrue(torch.equal(layer.scales, scales))


class Numbers(Fp8Test):
    """Against the same products in float64."""

    def check(self, recipe, bias=True):
        layer = layer_of(recipe, bias=bias)
        x = batch(24)
        grad = torch.randn(24, 48, dtype=torch.bfloat16)
        for _ in range(3):  # until delayed scales are those of these tensors
            layer.zero_grad()
            x.grad = None
            out = layer(x)
            out.backward(grad)
            layer.backward_dw()
        form = "e5m2" if recipe.format == "hybrid" else "e4m3"

        def rounded(tensor, form):
            scale = reference.scale_of(tensor, form)
            return reference.values_of(reference.quantize(tensor, scale, form), form) * scale.double()

        xs, w, g = rounded(x, "e4m3"), rounded(layer.weight, "e4m3"), rounded(grad, form)
        wanted = [xs @ w.t() + (layer.bias.double() if bias else 0), g @ w, g.t() @ xs]
        for name, got, expected in zip(("out", "grad_input", "grad_weight"), (out, x.grad, layer.weight.grad), wanted):
            torch.testing.assert_close(got.double(), expected, rtol=1e-2, atol=1e-2 * expected.abs().max().item(),
                                       msg=lambda text, name=name: f"{name}, {recipe}: {text}")
        if bias:
            torch.testing.assert_close(layer.bias.grad.double(), grad.double().sum(0), rtol=1e-2, atol=1e-1)

    def test_every_recipe(self):
        for scaling in ("delayed", "current"):
            for more in ({}, {"format": "e4m3"}, {"transposed_cache": False}, {"delay_wgrad": True}):
                with self.subTest(scaling=scaling, **more):
                    self.check(Fp8Recipe(scaling=scaling, **more))
        self.check(Fp8Recipe(), bias=False)

    def test_inputs_of_any_number_of_dimensions(self):
        layer = layer_of(Fp8Recipe(scaling="current"))
        x = torch.randn(2, 3, 5, 32, dtype=torch.bfloat16)
        torch.testing.assert_close(layer(x), layer(x.view(-1, 32)).view(2, 3, 5, 48))

    def test_the_accumulators_are_those_of_the_recipe(self):
        for recipe, expected in ((Fp8Recipe(), [False, True, True]),
                                 (Fp8Recipe(use_split_accumulator_fprop=True, use_split_accumulator_dgrad=False),
                                  [True, False, True]),
                                 (Fp8Recipe(use_split_accumulator_wgrad=False), [False, True, False])):
            reference.calls.clear()
            step(layer_of(recipe))
            products = [arguments for name, arguments in reference.calls if name == "fp8_linear_matmul"]
            self.assertEqual([split for *_, split in products], expected)
            self.assertEqual([forms for *forms, _ in products], [["e4m3", "e4m3"], ["e5m2", "e4m3"], ["e5m2", "e4m3"]])

    def test_only_what_is_wanted_is_computed(self):
        layer = layer_of()
        layer.weight.requires_grad_(False)
        layer.bias.requires_grad_(False)
        step(layer)
        self.assertEqual(sum(name == "fp8_linear_matmul" for name, _ in reference.calls), 2)
        self.assertIsNone(layer.weight.grad)

    def test_evaluation_changes_no_state(self):
        layer = layer_of().eval()
        before = layer.amax_history.clone(), layer.scales.clone()
        step(layer)
        self.assertTrue(torch.equal(layer.amax_history, before[0]) and torch.equal(layer.scales, before[1]))

    def test_two_forward_passes_before_their_backward_passes(self):
        layer = layer_of(Fp8Recipe(amax_history_len=1))
        first, second = layer(batch()), layer(batch())
        (first.sum() + second.sum()).backward()
        self.assertTrue(bool(layer.weight.grad.isfinite().all()))

    def test_fp8_output_goes_into_the_next_layer_as_it_is(self):
        for scaling in ("delayed", "current"):
            first = layer_of(Fp8Recipe(scaling=scaling, fp8_output=True), 32, 48)
            second = layer_of(Fp8Recipe(scaling=scaling), 48, 32)
            x = batch()
            for _ in range(3):
                between = first(x)
                reference.calls.clear()
                out = second(between)
                quantised = [name for name, _ in reference.calls].count("fp8_quantize")
                out.float().sum().backward()
            self.assertEqual(quantised, 1)  # the weight
            self.assertEqual((between.codes.dtype, between.codes.shape), (torch.uint8, between.values.shape))
            back = reference.values_of(between.codes, "e4m3") * between.scale.double()
            torch.testing.assert_close(back, between.values.double(), rtol=2**-4, atol=0.05)
            self.assertIsNotNone(first.weight.grad)
            self.assertIsNotNone(x.grad)


class EarlyFree(Fp8Test):
    """What is alive while the product of the weight's gradient runs, and after it."""

    def watched(self, recipe):
        """(alive while wgrad runs, alive behind the product, alive after the backward pass): of [codes, codes_t]."""
        made, during, after = [], [], []
        real_quantize, real_wgrad = _fp8_linear.quantize_gradient, _fp8_linear.wgrad

        def quantize_gradient(*arguments):
            gradient = real_quantize(*arguments)
            made.extend(weakref.ref(t.untyped_storage()) for t in (gradient.codes, gradient.codes_t))
            return gradient

        def wgrad(*arguments):
            during.extend(reference() is not None for reference in made)
            product = real_wgrad(*arguments)
            after.extend(reference() is not None for reference in made)
            return product

        layer = layer_of(recipe)
        with mock.patch.object(_fp8_linear, "quantize_gradient", quantize_gradient), \
                mock.patch.object(_fp8_linear, "wgrad", wgrad):
            step(layer)
            at_end = [reference() is not None for reference in made]
            layer.backward_dw()
        return during, after, at_end, [reference() is not None for reference in made]

    def test_buffers_are_freed_as_soon_as_they_were_used(self):
        during, after, at_end, _ = self.watched(Fp8Recipe())
        self.assertEqual(during, [False, True])  # the codes that dgrad used are gone by then
        self.assertEqual(after, [False, False])
        self.assertEqual(at_end, [False, False])

    def test_without_the_free_they_stay(self):
        with mock.patch.object(_fp8_linear.QuantizedGradient, "free", lambda self: None), \
                mock.patch.object(_fp8_linear.QuantizedGradient, "free_codes", lambda self: None):
            during, after, _, _ = self.watched(Fp8Recipe())
        self.assertEqual((during, after), ([True, True], [True, True]))

    def test_a_deferred_gradient_keeps_what_it_needs(self):
        during, after, at_end, in_the_end = self.watched(Fp8Recipe(delay_wgrad=True))
        self.assertEqual(at_end, [False, True])
        self.assertEqual((during, after), ([False, True], [False, False]))
        self.assertEqual(in_the_end, [False, False])

    def test_a_callers_view_is_never_freed(self):
        codes = torch.zeros(16, 48, dtype=torch.uint8)
        lent = _fp8_linear.QuantizedGradient(codes.view(16, 48), codes.t().contiguous(), torch.ones(1), "e5m2", owned=False)
        inputs = torch.zeros(32, 16, dtype=torch.uint8)
        lent.free_codes()
        _fp8_linear.wgrad(lent, inputs, torch.ones(1), fp8.resolve(Fp8Recipe()), torch.bfloat16)
        self.assertEqual((lent.codes.data_ptr(), lent.codes_t.shape), (codes.data_ptr(), (48, 16)))
        own = _fp8_linear.QuantizedGradient(codes.view(16, 48), codes.t().contiguous(), torch.ones(1), "e5m2")
        own.free_codes()
        _fp8_linear.wgrad(own, inputs, torch.ones(1), fp8.resolve(Fp8Recipe()), torch.bfloat16)
        self.assertEqual((own.codes, own.codes_t), (None, None))

    def test_deferred_gradients_add_up(self):
        layer, plain = (layer_of(Fp8Recipe(scaling="current", delay_wgrad=delayed)) for delayed in (True, False))
        for _ in range(2):
            x = batch()
            step(layer, x)
            step(plain, x)
        self.assertIsNone(layer.weight.grad)
        layer.backward_dw()
        torch.testing.assert_close(layer.weight.grad, plain.weight.grad)
        layer.backward_dw()  # nothing waits
        torch.testing.assert_close(layer.weight.grad, plain.weight.grad)


class OnlyBooleans(Fp8Test):
    def test_the_backward_pass_sees_booleans_and_no_recipe(self):
        seen = []
        real = _fp8_linear.quantize_gradient

        def quantize_gradient(grad, scale, history, flags, transposed):
            seen.append(flags)
            return real(grad, scale, history, flags, transposed)

        layer = layer_of()
        out = layer(batch())
        with mock.patch.object(_fp8_linear, "quantize_gradient", quantize_gradient), \
                mock.patch.object(fp8, "resolve", side_effect=AssertionError("resolved in the backward pass")):
            layer.recipe = Fp8Recipe(format="e4m3", use_split_accumulator_wgrad=False)  # too late for this pass
            reference.calls.clear()
            out.sum().backward()
        self.assertEqual([type(flag) for flag in seen[0]], [bool] * len(Fp8Flags._fields))
        self.assertEqual(seen, [fp8.resolve(Fp8Recipe())])
        self.assertEqual([a for n, a in reference.calls if n == "fp8_linear_matmul"], [("e5m2", "e4m3", True)] * 2)

    def test_a_recipe_is_resolved_once_per_forward_pass(self):
        layer = layer_of()
        with mock.patch.object(fp8, "resolve", side_effect=fp8.resolve) as resolve:
            step(layer)
        self.assertEqual(resolve.call_count, 1)

    def test_the_operators_schema_has_booleans_for_the_recipe(self):
        schema = torch.ops.dsbuild.fp8_linear.default._schema
        self.assertEqual([str(a.type) for a in schema.arguments if a.name == "flags"], ["List[bool]"])
        self.assertFalse(schema.is_mutable)

    def test_opcheck(self):
        layer = layer_of(Fp8Recipe(scaling="current"))
        seen = []
        real = torch.ops.dsbuild.fp8_linear

        def noted(*arguments):
            seen.append(arguments)
            return real(*arguments)

        with mock.patch.object(torch.ops.dsbuild, "fp8_linear", noted):
            layer(batch())
        torch.library.opcheck(real.default, seen[0], rtol=1e-1, atol=1e-1)


class ConstantQueries(Fp8Test):
    def on_gpu(self, *capabilities):
        """As if the GPU had these, one after another."""
        return mock.patch.object(torch.cuda, "get_device_capability", side_effect=capabilities)

    def test_the_gpu_is_asked_once(self):
        fp8.initialize()
        with self.on_gpu((9, 0), (8, 0)) as asked:
            answers = [fp8.has_fp8(torch.device("cuda", 0)) for _ in range(100)]
        self.assertEqual((set(answers), asked.call_count), ({True}, 1))

    def test_another_initialisation_asks_anew(self):
        fp8.initialize()
        with self.on_gpu((9, 0), (8, 6)):
            self.assertTrue(fp8.has_fp8(torch.device("cuda", 0)))
            fp8.initialize()
            self.assertFalse(fp8.has_fp8(torch.device("cuda", 0)))

    def test_the_least_gpu_is_8_9(self):
        for capability, there in (((8, 6), False), ((8, 9), True), ((9, 0), True), ((12, 0), True)):
            fp8.initialize()
            with self.on_gpu(capability):
                self.assertEqual(fp8.has_fp8(torch.device("cuda", 0)), there, capability)

    def test_no_fp8_is_an_error_by_name(self):
        fp8.initialize()
        with self.assertRaisesRegex(RuntimeError, "^Fp8Linear: weight is on cpu, which has no FP8"):
            layer_of()(batch())

    def test_a_disabled_mode_computes_in_the_layers_dtype(self):
        fp8.initialize(enabled=False)
        layer, x = layer_of(), batch()
        self.assertTrue(torch.equal(layer(x), torch.nn.functional.linear(x, layer.weight, layer.bias)))
        self.assertEqual(reference.calls, [])

    def test_no_fast_accumulation_splits_every_product(self):
        fp8.initialize(enabled=True, fast_accumulation=False)
        self.assertFalse(fp8.fast_accumulation())
        step(layer_of(Fp8Recipe(use_split_accumulator_wgrad=False)))
        self.assertEqual([a[-1] for n, a in reference.calls if n == "fp8_linear_matmul"], [True] * 3)

    def test_the_query_is_a_constant_of_a_compiled_program(self):
        fp8.initialize()
        device = torch.device("cuda", 0)

        def program(x):
            return x + 1 if fp8.has_fp8(device) else x - 1

        compiled = torch.compile(program, fullgraph=True, backend="eager")
        x = torch.zeros(1)
        with self.on_gpu((9, 0), (8, 0)) as asked:
            self.assertEqual([compiled(x).item() for _ in range(3)], [1, 1, 1])
            self.assertEqual(asked.call_count, 1)
        fp8.initialize(enabled=False)
        self.assertEqual(compiled(x).item(), -1)
        fp8.initialize(enabled=True)
        self.assertEqual(compiled(x).item(), 1)


class Errors(Fp8Test):
    def refused(self, kind, message, x):
        with self.assertRaises(kind) as caught:
            layer_of()(x)
        self.assertEqual(str(caught.exception), "Fp8Linear: " + message)

    def test_the_input_is_named(self):
        self.refused(TypeError, "input: expected bfloat16 or float16, got torch.float32", torch.zeros(2, 32))
        self.refused(ValueError, "input: expected 32 features, got 31", torch.zeros(2, 31, dtype=torch.bfloat16))


if __name__ == "__main__":
    unittest.main()
