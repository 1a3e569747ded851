"""What the generated torch operators (_torch_operators.py) are registered with."""

import torch

from ._loader import load

_library = torch.library.Library("dsbuild", "DEF")
schemas = {}  # of the operators, by name
_KEYS = {"cuda": "CUDA", "cpu": "CPU"}  # dispatch keys of the backends


class Op:
    """The module of a native op, which is loaded when one of its functions is called for the first time: importing starts
    nothing, and needs neither a GPU nor a library."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, function):
        found = getattr(load(self._name), function)
        setattr(self, function, found)
        return found


def ceil_div(a, b):
    return (a + b - 1) // b


def dense(tensor):
    """As the libraries take what they read: contiguous. What they write to is the caller's own, and refused by name."""
    return tensor if tensor is None or tensor.is_contiguous() else tensor.contiguous()


def define(schema, backend, run, fake):
    """The operator torch.ops.dsbuild.<name>. `run` computes; `fake` answers with empty tensors of the same shapes, dtypes and
    strides and reads no data, None where nothing is returned."""
    name = schema[:schema.index("(")]
    schemas[name] = schema
    _library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    _library.impl(name, run, _KEYS[backend])
    torch.library.register_fake(f"dsbuild::{name}", fake or _nothing, lib=_library)


def _nothing(*_, **__):
    return None


def differentiate(name, backward, keep):
    """`backward` works out the gradients of an operator from what `keep` saved of a call."""
    torch.library.register_autograd(f"dsbuild::{name}", backward, setup_context=keep, lib=_library)
