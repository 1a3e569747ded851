"""The native ops as operators of torch: torch.compile sees through them, autograd knows those that have a gradient.

    import torch, dsbuild.torch
    codes, scales = torch.ops.dsbuild.fp_quantize(values, 64, "e4m3")

Importing this registers them; it needs no GPU, and no library is loaded before an operator is called (by dsbuild.load, whose
rules hold: docs/guides/python.md). One library serves every torch: nothing is compiled against it. docs/guides/torch_operators.md has the
rules, `dsbuild.torch.names()` what there is.
"""

from . import _torch_operators  # noqa: F401  registers them
from ._torch_library import schemas

__all__ = ["names"]


def names():
    """The operators, sorted: "fused_adam_step.tensor" is torch.ops.dsbuild.fused_adam_step.tensor."""
    return sorted(schemas)
