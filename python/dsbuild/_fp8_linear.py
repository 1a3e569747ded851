"""torch.ops.dsbuild.fp8_linear: the product of codes, with the gradients of the values that they were made of.

Its inputs have been quantised before (nn.py), so that the operator itself changes nothing: torch.library takes an autograd
formula for such operators alone, and torch.compile traces its backward pass into the graph without a break.
"""

import itertools
import weakref

import torch

from .fp8 import Fp8Flags, QuantizerRole

GRAD_SLOT = 2  # the column of QuantizerRole.GRAD_OUTPUT in a history (fp8.roles_of)


def matmul(a, b, a_scale, b_scale, bias, a_format, b_format, split_accumulator, dtype):
    return torch.ops.dsbuild.fp8_linear_matmul(a, b, a_scale, b_scale, bias, a_format, b_format, split_accumulator,
                                               dtype=dtype)


def quantize(values, scale, history, slot, format, transposed):
    """(codes, the same transposed or None, scale). `scale` None: the tensor's own. `history`: of delayed scaling, in whose
    `slot` the amax is gathered, or None."""
    ops = torch.ops.dsbuild
    if scale is None:
        operator = ops.fp8_quantize_both_current if transposed else ops.fp8_quantize_current
        scale, *codes = operator(values, format)
        return codes[0], codes[1] if transposed else None, scale
    if history is None:
        codes = (ops.fp8_quantize_both if transposed else ops.fp8_quantize)(values, scale, format)
    else:
        operator = ops.fp8_quantize_both_delayed if transposed else ops.fp8_quantize_delayed
        codes = operator(values, scale, history, slot, format)
    return (*codes, scale) if transposed else (codes, None, scale)


# ---- the gradient


class QuantizedGradient:
    """The codes of a gradient, as they are and transposed. `owned`: they were made in this backward pass; what a caller
    lends is never freed."""

    __slots__ = ("codes", "codes_t", "scale", "format", "owned", "__weakref__")

    def __init__(self, codes, codes_t, scale, format, owned=True):
        self.codes = codes
        self.codes_t = codes_t
        self.scale = scale
        self.format = format
        self.owned = owned

    def free_codes(self):
        if self.owned:
            self.codes = None

    def free(self):
        if self.owned:
            self.codes = self.codes_t = None


def quantize_gradient(grad, scale, amax_history, flags, transposed):
    format = "e5m2" if flags.e5m2_gradients else "e4m3"
    return QuantizedGradient(*quantize(grad, scale, amax_history, GRAD_SLOT, format, transposed), format)


def transposed_codes(saved, flags):
    """Of what the forward pass kept."""
    return saved if flags.transposed_cache else torch.ops.dsbuild.fp8_transpose(saved)


def dgrad(gradient, weight_saved, weight_scale, flags, dtype):
    """grad · weight: the gradient of the input."""
    return matmul(gradient.codes, transposed_codes(weight_saved, flags), gradient.scale, weight_scale, None, gradient.format,
                  "e4m3", flags.dgrad_split_accumulator, dtype)


def wgrad(gradient, input_saved, input_scale, flags, dtype):
    """gradᵀ · input: the gradient of the weight. Frees the gradient's codes."""
    product = matmul(gradient.codes_t, transposed_codes(input_saved, flags), gradient.scale, input_scale, None,
                     gradient.format, "e4m3", flags.wgrad_split_accumulator, dtype)
    gradient.free()
    return product


class DeferredWgrad:
    """Gradients of a layer's weight that wait for backward_dw(). Its handle is how an operator names it."""

    _all = weakref.WeakValueDictionary()
    _handles = itertools.count()

    def __init__(self):
        self.handle = next(self._handles)
        self.waiting = []
        self._all[self.handle] = self

    def __reduce__(self):
        return DeferredWgrad, ()  # a copied layer has its own

    @classmethod
    def of(cls, handle):
        return cls._all[handle]

    def run(self):
        """The sum of what waits, or None."""
        total = None
        while self.waiting:
            gradient = wgrad(*self.waiting.pop(0))
            total = gradient if total is None else total.add_(gradient)
        return total


# ---- the operator

_library = torch.library.Library("dsbuild", "FRAGMENT")
_library.define(
    "fp8_linear(Tensor input, Tensor weight, Tensor? bias, Tensor input_codes, Tensor? input_codes_t, Tensor weight_codes, "
    "Tensor? weight_codes_t, Tensor input_scale, Tensor weight_scale, Tensor? grad_scale, Tensor? amax_history, "
    "int deferred, bool[] flags) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_INPUTS = 13


def _forward(input, weight, bias, input_codes, input_codes_t, weight_codes, weight_codes_t, input_scale, weight_scale,
             grad_scale, amax_history, deferred, flags):
    """`input` and `weight` are there for their gradients. `amax_history` is the one that the backward pass writes to."""
    return matmul(input_codes, weight_codes, input_scale, weight_scale, bias, "e4m3", "e4m3",
                  Fp8Flags(*flags).fprop_split_accumulator, input.dtype)


def _fake(input, weight, *_):
    return input.new_empty((input.shape[0], weight.shape[0]))


def _setup_context(ctx, inputs, output):
    (input, weight, bias, input_codes, input_codes_t, weight_codes, weight_codes_t, input_scale, weight_scale, grad_scale,
     amax_history, deferred, flags) = inputs
    flags = Fp8Flags(*flags)
    of_input, of_weight = ((input_codes_t, weight_codes_t) if flags.transposed_cache else (input_codes, weight_codes))
    wants_input, wants_weight = ctx.needs_input_grad[:2]
    ctx.save_for_backward(of_input if wants_weight else None, of_weight if wants_input else None, input_scale, weight_scale,
                          grad_scale)
    ctx.flags = flags
    ctx.amax_history = amax_history  # not saved: it is written to by each step
    ctx.deferred = deferred
    ctx.dtypes = input.dtype, weight.dtype, None if bias is None else bias.dtype


def _backward(ctx, grad):
    input_saved, weight_saved, input_scale, weight_scale, grad_scale = ctx.saved_tensors
    wants_input, wants_weight, wants_bias = ctx.needs_input_grad[:3]
    input_dtype, weight_dtype, bias_dtype = ctx.dtypes
    flags = ctx.flags
    grad = grad.contiguous()
    grad_input = grad_weight = grad_bias = None
    if wants_bias:
        grad_bias = grad.sum(0, dtype=bias_dtype)
    if wants_input or wants_weight:
        gradient = quantize_gradient(grad, grad_scale, ctx.amax_history, flags, wants_weight)
        if wants_input:
            grad_input = dgrad(gradient, weight_saved, weight_scale, flags, input_dtype)
        gradient.free_codes()
        if wants_weight:
            work = gradient, input_saved, input_scale, flags, weight_dtype
            if flags.delay_wgrad:
                DeferredWgrad.of(ctx.deferred).waiting.append(work)
            else:
                grad_weight = wgrad(*work)
    return (grad_input, grad_weight, grad_bias, *[None] * (_INPUTS - 3))


_library.impl("fp8_linear", _forward, "CompositeExplicitAutograd")
torch.library.register_fake("dsbuild::fp8_linear", _fake, lib=_library)
torch.library.register_autograd("dsbuild::fp8_linear", _backward, setup_context=_setup_context, lib=_library)

assert list(QuantizerRole).index(QuantizerRole.GRAD_OUTPUT) == GRAD_SLOT
