"""What the tests and the tables of evoformer_attn share: its call on torch tensors, and a float64 reference."""

import dataclasses

import support  # exits with 77 where something is missing
import results

import torch

op = support.load_op("evoformer_attn")


@dataclasses.dataclass(frozen=True)
class Case:
    batch: int
    rows: int
    queries: int
    heads: int
    dim: int
    keys: int = 0  # 0: as many as queries
    bias1: bool = True
    bias2: bool = True

    @property
    def key_count(self):
        return self.keys or self.queries

    def __str__(self):
        keys = f", {self.keys} keys" if self.keys else ""
        biases = [name for name in ("bias1", "bias2") if getattr(self, name)]
        return f"({self.batch}, {self.rows}, {self.queries}, {self.heads}, {self.dim}){keys}; {', '.join(biases) or 'no bias'}"


@dataclasses.dataclass
class Tensors:
    """Inputs of a case; biases are None where it has none."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    bias1: torch.Tensor
    bias2: torch.Tensor
    grad_out: torch.Tensor

    def inputs(self):
        return [self.q, self.k, self.v, self.bias1, self.bias2]


def random_tensors(case, dtype):
    def normal(*shape):
        return torch.randn(shape, device="cuda").to(dtype)

    c = case
    query_shape = (c.batch, c.rows, c.queries, c.heads, c.dim)
    key_shape = (c.batch, c.rows, c.key_count, c.heads, c.dim)
    return Tensors(normal(*query_shape), normal(*key_shape), normal(*key_shape),
                   normal(c.batch, c.rows, 1, 1, c.key_count) if c.bias1 else None,
                   normal(c.batch, 1, c.heads, c.queries, c.key_count) if c.bias2 else None, normal(*query_shape))


def lse_shape(q):
    return (*q.shape[:-3], q.shape[-2], q.shape[-3])


def forward(t, family=""):
    """out, lse"""
    out, lse = results.empty(t.q.shape, t.q.dtype), results.empty(lse_shape(t.q), torch.float32)
    op.evoformer_attn_forward(*t.inputs(), out, lse, family)
    return out, lse


def scratch_for(t):
    return results.empty((op.evoformer_attn_scratch(t.q, t.k),), torch.float32)


def backward(t, out, lse, family="", bias_gradients=True):
    """Gradients of q, k, v, bias1, bias2; None where there is no such bias, or none are asked for."""
    asked = [*t.inputs()[:3], *(t.inputs()[3:] if bias_gradients else (None, None))]
    grads = [None if x is None else results.empty(x.shape, x.dtype) for x in asked]
    op.evoformer_attn_backward(t.grad_out, *t.inputs(), out, lse, *grads, scratch_for(t), family)
    return grads


def reference(t):
    """out, lse and the five gradients, in float64."""
    inputs = [None if x is None else x.double().requires_grad_() for x in t.inputs()]
    q, k, v, bias1, bias2 = inputs
    scores = torch.einsum("bnqhd,bnkhd->bnhqk", q, k) / q.shape[-1]**0.5
    for bias in (bias1, bias2):
        if bias is not None:
            scores = scores + bias
    out = torch.einsum("bnhqk,bnkhd->bnqhd", scores.softmax(-1), v)
    given = [x for x in inputs if x is not None]
    grads = iter(torch.autograd.grad(out, given, t.grad_out.double()))
    return out.detach(), scores.logsumexp(-1).detach(), [None if x is None else next(grads) for x in inputs]


def error(actual, expected):
    """Relative, by the norm over all elements; NaN never passes a comparison."""
    return ((actual.double() - expected).norm() / expected.norm()).item()


def families():
    """Those that this library runs on this GPU, oldest first."""
    t = random_tensors(Case(1, 1, 1, 1, 32), torch.float16)
    found = []
    for family in ("70", "75", "80"):
        try:
            forward(t, family)
            found.append(family)
        except ValueError as refusal:
            print(f"not tested: {refusal}")
    return found


def dtypes_of(family):
    return (torch.float16, torch.bfloat16) if family == "80" else (torch.float16,)
