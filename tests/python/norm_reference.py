"""rms_norm and layer_norm as docs/reference/ops.md writes them, in float64 with torch; and how far float32 may be from that.

Tensors are float64, of any device; `bias` and `mean` are None for rms_norm, `weight` and `bias` where there is none.
"""

import dataclasses

import torch


@dataclasses.dataclass
class Forward:
    out: torch.Tensor
    mean: torch.Tensor  # [rows, 1]; zeros for rms_norm
    rstd: torch.Tensor  # [rows, 1]


@dataclasses.dataclass
class Backward:
    grad_input: torch.Tensor
    grad_weight: torch.Tensor
    grad_bias: torch.Tensor


def rows_of(tensor):
    return tensor.reshape(-1, tensor.shape[-1])


def forward(x, weight, bias, eps, centred):
    x = rows_of(x)
    mean = x.mean(1, keepdim=True) if centred else torch.zeros_like(x[:, :1])
    variance = ((x - mean)**2).mean(1, keepdim=True)
    rstd = 1 / (variance + eps).sqrt()
    out = (x - mean) * rstd * (1 if weight is None else weight) + (0 if bias is None else bias)
    return Forward(out, mean, rstd)


def backward(grad_out, x, weight, eps, centred):
    """The derivative of forward, worked out by hand: with x' = (x - mean) * rstd and w = grad_out * weight, a row's
    gradient is rstd * (w - mean(w) - x' * mean(w * x')); without mean(w) for rms_norm."""
    x, grad_out = rows_of(x), rows_of(grad_out)
    f = forward(x, None, None, eps, centred)
    weighted = grad_out * (1 if weight is None else weight)
    slope = (weighted * f.out).mean(1, keepdim=True)
    level = weighted.mean(1, keepdim=True) if centred else 0
    return Backward(f.rstd * (weighted - level - f.out * slope), (grad_out * f.out).sum(0), grad_out.sum(0))
