"""evoformer_attn from a bundle, on the GPU, against float64: every kernel family that the bundle's library runs here."""

import json
import os
import random
import re
import sys
import unittest

import support  # noqa: F401 (it exits with 77 where something is missing)
import evoformer
from evoformer import Case

import torch

op = evoformer.op
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
FAMILIES = evoformer.families()
# Probabilities and gradients of scores are rounded to the dtype before they are multiplied: a few roundings.
TOLERANCE = {torch.float16: 1.5e-3, torch.bfloat16: 1.2e-2}
CASES = [
    Case(1, 3, 64, 2, 32), Case(2, 3, 128, 2, 64), Case(1, 2, 197, 3, 32), Case(2, 2, 197, 2, 64),
    Case(1, 4, 1, 2, 32), Case(1, 2, 1, 2, 64, keys=77), Case(1, 3, 33, 1, 32, keys=130), Case(2, 1, 130, 2, 64, keys=1),
    Case(1, 2, 70, 2, 8), Case(1, 2, 70, 2, 24), Case(1, 2, 70, 2, 48), Case(3, 5, 16, 1, 16),
    Case(1, 2, 100, 2, 32, bias1=False), Case(1, 2, 100, 2, 32, bias2=False),
    Case(1, 2, 99, 2, 64, bias1=False, bias2=False), Case(1, 128, 256, 8, 32),
]
NAMES = ("grad_q", "grad_k", "grad_v", "grad_bias1", "grad_bias2")


def each_family():
    for family in FAMILIES:
        for dtype in evoformer.dtypes_of(family):
            yield family, dtype


class EvoformerTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(SEED)

    def assert_near(self, actual, expected, tolerance, name=""):
        self.assertLess(evoformer.error(actual, expected), tolerance, name)


class Numbers(EvoformerTest):
    def check(self, t, family, dtype):
        out, lse = evoformer.forward(t, family)
        wanted_out, wanted_lse, wanted_grads = evoformer.reference(t)
        self.assert_near(out, wanted_out, TOLERANCE[dtype], "out")
        torch.testing.assert_close(lse.double(), wanted_lse, rtol=1e-5, atol=1e-5)
        for name, grad, wanted in zip(NAMES, evoformer.backward(t, out, lse, family), wanted_grads):
            if wanted is not None:
                self.assert_near(grad, wanted, TOLERANCE[dtype], name)

    def test_forward_and_backward_agree_with_float64(self):
        for family, dtype in each_family():
            for case in CASES:
                if case.key_count == 1:
                    continue  # gradients of scores are 0: the next test
                with self.subTest(family=family, dtype=dtype, case=str(case)):
                    self.check(evoformer.random_tensors(case, dtype), family, dtype)

    def test_one_key_gets_all(self):
        for family, dtype in each_family():
            t = evoformer.random_tensors(Case(2, 3, 130, 2, 64, keys=1), dtype)
            out, lse = evoformer.forward(t, family)
            self.assertTrue(torch.equal(out, t.v.expand_as(out)))
            grads = evoformer.backward(t, out, lse, family)
            self.assert_near(grads[2], t.grad_out.double().sum(2, keepdim=True), TOLERANCE[dtype])
            for grad in (grads[0], grads[1], grads[3], grads[4]):  # what is left of a difference of equal numbers
                self.assertLess(grad.abs().max().item(), 100 * TOLERANCE[dtype])

    def test_large_scores(self):
        for family, dtype in each_family():
            t = evoformer.random_tensors(Case(1, 2, 150, 2, 32), dtype)
            t.q *= 8
            t.bias2 *= 30
            with self.subTest(family=family, dtype=dtype):
                self.check(t, family, dtype)

    def test_every_run_gives_the_same_bits(self):
        for family, dtype in each_family():
            t = evoformer.random_tensors(Case(2, 16, 130, 4, 32), dtype)
            out, lse = evoformer.forward(t, family)
            first = evoformer.backward(t, out, lse, family)
            for _ in range(5):
                again, _ = evoformer.forward(t, family)
                self.assertTrue(torch.equal(again, out))
                for a, b in zip(evoformer.backward(t, out, lse, family), first):
                    self.assertTrue(torch.equal(a, b))

    def test_gradients_of_biases_may_be_left_out(self):
        for family, dtype in each_family():
            t = evoformer.random_tensors(Case(1, 3, 70, 2, 32), dtype)
            out, lse = evoformer.forward(t, family)
            every = evoformer.backward(t, out, lse, family)
            three = evoformer.backward(t, out, lse, family, bias_gradients=False)
            for a, b in zip(three[:3], every):
                self.assertTrue(torch.equal(a, b))

    def test_without_leading_dimensions_there_is_one_batch(self):
        for family, dtype in each_family():
            t = evoformer.random_tensors(Case(1, 3, 70, 2, 32), dtype)
            wanted, _ = evoformer.forward(t, family)
            out, lse = torch.empty_like(t.q[0]), torch.empty(3, 2, 70, device="cuda")
            op.evoformer_attn_forward(*(x[0] for x in t.inputs()), out, lse, family)
            self.assertTrue(torch.equal(out, wanted[0]))


class Masks(EvoformerTest):
    def test_a_key_with_bias_minus_infinity_is_not_there(self):
        for family, dtype in each_family():
            t = evoformer.random_tensors(Case(1, 3, 96, 2, 32), dtype)
            t.bias1[..., 50:] = -float("inf")
            shorter = evoformer.Tensors(t.q, *(x[:, :, :50].contiguous() for x in (t.k, t.v)),
                                        *(x[..., :50].contiguous() for x in (t.bias1, t.bias2)), t.grad_out)
            wanted_out, wanted_lse, wanted = evoformer.reference(shorter)
            out, lse = evoformer.forward(t, family)
            self.assert_near(out, wanted_out, TOLERANCE[dtype])
            torch.testing.assert_close(lse.double(), wanted_lse, rtol=1e-5, atol=1e-5)
            grads = evoformer.backward(t, out, lse, family)
            self.assert_near(grads[0], wanted[0], TOLERANCE[dtype])
            for grad, shorter_grad in zip(grads[1:3], wanted[1:3]):
                self.assert_near(grad[:, :, :50], shorter_grad, TOLERANCE[dtype])
                self.assertFalse(bool(grad[:, :, 50:].any()))
            for grad, shorter_grad in zip(grads[3:], wanted[3:]):
                self.assert_near(grad[..., :50], shorter_grad, TOLERANCE[dtype])
                self.assertFalse(bool(grad[..., 50:].any()))

    def test_a_query_that_no_key_is_open_to_has_output_and_gradients_zero(self):
        for family, dtype in each_family():
            t = evoformer.random_tensors(Case(1, 2, 70, 2, 32), dtype)
            t.bias2[:, :, :, 5] = -float("inf")
            out, lse = evoformer.forward(t, family)
            self.assertFalse(bool(out[:, :, 5].any()))
            self.assertTrue(bool((lse[..., 5] == -float("inf")).all()))
            grads = evoformer.backward(t, out, lse, family)
            self.assertFalse(bool(grads[0][:, :, 5].any() or grads[4][:, :, :, 5].any()))
            for name, grad in zip(NAMES, grads):
                self.assertTrue(bool(grad.isfinite().all()), name)

    def test_nan_stays_in_its_head(self):
        for family, dtype in each_family():
            t = evoformer.random_tensors(Case(1, 2, 70, 2, 32), dtype)
            t.k[0, 1, 3, 0, 0] = float("nan")
            out, _ = evoformer.forward(t, family)
            self.assertTrue(bool(out[0, 1, :, 0].isnan().all()))
            self.assertTrue(bool(out[0, 0].isfinite().all() and out[0, 1, :, 1].isfinite().all()))

    def test_nothing_is_no_work(self):
        for family, dtype in each_family():
            for case in (Case(0, 3, 5, 2, 32), Case(1, 0, 5, 2, 32), Case(1, 2, 5, 0, 32)):
                t = evoformer.random_tensors(case, dtype)
                evoformer.backward(t, *evoformer.forward(t, family), family)


def expected_family():
    """The newest whose code runs here, by the bundle's manifest and CUDA's rules of what runs where."""
    with open(os.path.join(os.environ["DSBUILD_BUNDLE"], "manifest.json")) as file:
        ops = json.load(file)["ops"]
    images = next(o["images"] for o in ops if o["name"] == "evoformer_attn")
    major, minor = torch.cuda.get_device_capability()
    here = 10 * major + minor
    runs = [0]
    for image in images:
        cc = int(re.search(r"\d+", image["arch"]).group())
        if image["kind"] == "ptx" and cc <= here or image["kind"] == "elf" and cc // 10 == major and cc <= here:
            runs.append(cc)
    return max(f for f in (70, 75, 80) if f <= max(runs))


class Families(EvoformerTest):
    def test_the_newest_family_whose_code_runs_here_is_taken(self):
        self.assertEqual(op.evoformer_attn_family(torch.zeros(1, device="cuda")), str(expected_family()))

    def test_a_family_that_the_library_lacks_is_refused(self):
        t = evoformer.random_tensors(Case(1, 1, 8, 1, 32), torch.float16)
        for family in {"70", "75", "80"} - set(FAMILIES):
            with self.assertRaises(ValueError) as caught:
                evoformer.forward(t, family)
            self.assertEqual(str(caught.exception), "evoformer_attn_forward: family: this library runs "
                             f"{', '.join(reversed(FAMILIES))} on cuda:0, not {family}; "
                             f"build it with --arch {family[0]}.{family[1]}-virtual")

    def test_bfloat16_below_8_0_is_refused_by_name(self):
        t = evoformer.random_tensors(Case(1, 1, 8, 1, 32), torch.bfloat16)
        for family in set(FAMILIES) - {"80"}:
            with self.assertRaisesRegex(TypeError, r"^evoformer_attn_forward: q: bfloat16 needs kernels for compute "
                                        rf"capability 8\.0 or newer, and this library runs those for 7\.{family[1]} on"):
                evoformer.forward(t, family)

    def test_the_callers_stream_is_used(self):
        t = evoformer.random_tensors(Case(1, 2, 64, 2, 32), torch.float16)
        wanted, lse = evoformer.forward(t)
        v, out = t.v.clone(), torch.zeros_like(t.q)
        t.v.zero_()
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)
            t.v.copy_(v)
            op.evoformer_attn_forward(*t.inputs(), out, lse)
        stream.synchronize()
        self.assertTrue(torch.equal(out, wanted))


class Errors(EvoformerTest):
    def refused(self, kind, message, **changed):
        t = evoformer.random_tensors(Case(2, 3, 16, 2, 32, keys=24), torch.float16)
        arguments = {**dict(zip(("q", "k", "v", "bias1", "bias2"), t.inputs())), "out": torch.empty_like(t.q),
                     "lse": torch.empty(evoformer.lse_shape(t.q), device="cuda"), "family": "", **changed}
        with self.assertRaises(kind) as caught:
            op.evoformer_attn_forward(*arguments.values())
        self.assertEqual(str(caught.exception), "evoformer_attn_forward: " + message)

    def test_each_argument_is_named(self):
        half = {"device": "cuda", "dtype": torch.float16}
        self.refused(ValueError, "q: expected a CUDA tensor, got one on cpu", q=torch.zeros(2, 3, 16, 2, 32).half())
        self.refused(TypeError, "q: expected float16 or bfloat16, got float32", q=torch.zeros(2, 3, 16, 2, 32).cuda())
        self.refused(ValueError, "q: expected 4 dimensions or more (…, rows, sequence, heads, head_dim), got (3, 2, 32)",
                     q=torch.zeros(3, 2, 32, **half))
        for dim in (0, 4, 12, 72, 128):
            self.refused(ValueError, "q: expected a head dimension (the last one) that is a multiple of 8 from 8 to 64, "
                         f"got {dim}", q=torch.zeros(2, 3, 16, 2, dim, **half))
        self.refused(TypeError, "k: expected float16, got bfloat16",
                     k=torch.zeros(2, 3, 24, 2, 32, device="cuda", dtype=torch.bfloat16))
        self.refused(ValueError, "v: expected the shape (2, 3, 24, 2, 32), got (2, 3, 16, 2, 32)",
                     v=torch.zeros(2, 3, 16, 2, 32, **half))
        self.refused(ValueError, "bias1: expected the shape (2, 3, 1, 1, 24), got (2, 3, 24)",
                     bias1=torch.zeros(2, 3, 24, **half))
        self.refused(ValueError, "bias2: expected the shape (2, 1, 2, 16, 24), got (2, 3, 2, 16, 24)",
                     bias2=torch.zeros(2, 3, 2, 16, 24, **half))
        self.refused(TypeError, "bias1: expected a tensor or None, got int", bias1=0)
        self.refused(ValueError, "out: expected contiguous", out=torch.zeros(2, 3, 16, 2, 64, **half)[..., ::2])
        self.refused(ValueError, "k: expected an address that is a multiple of 16",
                     k=torch.zeros(2 * 3 * 24 * 2 * 32 + 1, **half)[1:].view(2, 3, 24, 2, 32))
        self.refused(ValueError, "lse: expected the shape (2, 3, 2, 16), got (2, 3, 16, 2)",
                     lse=torch.zeros(2, 3, 16, 2, device="cuda"))
        self.refused(ValueError, 'family: expected "" (the newest that runs), "70", "75" or "80"', family="90")

    def test_a_scratch_that_is_too_small_is_refused(self):
        t = evoformer.random_tensors(Case(2, 3, 16, 2, 32, keys=24), torch.float16)
        out, lse = evoformer.forward(t)
        needed = op.evoformer_attn_scratch(t.q, t.k)
        with self.assertRaises(ValueError) as caught:
            op.evoformer_attn_backward(t.grad_out, *t.inputs(), out, lse, *(torch.empty_like(x) for x in t.inputs()),
                                       torch.empty(needed - 1, device="cuda"))
        self.assertEqual(str(caught.exception), f"evoformer_attn_backward: scratch: expected at least {needed} elements "
                         f"(what evoformer_attn_scratch(q, k) gives), got {needed - 1}")


if __name__ == "__main__":
    print(f"seed={SEED} families={FAMILIES}", file=sys.stderr)
    unittest.main()
