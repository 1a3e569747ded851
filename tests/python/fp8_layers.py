"""What the tests of dsbuild.fp8 and dsbuild.nn without a GPU share. The operators below them run on the CPU
(fp8_reference.on_cpu). Without torch, or with one before 2.11, it exits with 77, which CTest shows as skipped."""

import pathlib
import sys
import unittest

try:
    import torch
except ImportError:
    print("skipped: torch is not installed", file=sys.stderr)
    sys.exit(77)
if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 11):
    print(f"skipped: torch {torch.__version__} is older than 2.11", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import fp8_reference as reference

OPERATORS = reference.on_cpu()

from dsbuild import fp8, nn  # noqa: E402


def layer_of(recipe=None, inputs=32, outputs=48, bias=True):
    torch.manual_seed(1)
    return nn.Fp8Linear(inputs, outputs, bias=bias, dtype=torch.bfloat16, recipe=recipe)


def batch(rows=16, columns=32, requires_grad=True):
    return torch.randn(rows, columns, dtype=torch.bfloat16).requires_grad_(requires_grad)


def step(layer, x=None):
    x = batch() if x is None else x
    out = layer(x)
    out.float().square().sum().backward()
    return out


class Fp8Test(unittest.TestCase):
    def setUp(self):
        fp8.initialize(enabled=True)
        self.addCleanup(fp8.initialize)
        torch.manual_seed(7)
        torch.compiler.reset()
        reference.calls.clear()
