"""Layers over the native ops (docs/fp8.md)."""

from typing import NamedTuple

import torch

from . import torch as _operators  # noqa: F401  torch.ops.dsbuild of the native ops
from . import fp8
from ._fp8_linear import DeferredWgrad, quantize

NO_HANDLE = -1
INPUT, WEIGHT, GRAD_OUTPUT, OUTPUT = range(4)  # columns of a history, as fp8.roles_of has them


class Fp8Output(NamedTuple):
    """The output of a layer whose recipe has fp8_output. Another Fp8Linear takes it as it is and quantises nothing."""

    values: torch.Tensor  # before they were quantised: what gradients come back by
    codes: torch.Tensor   # of e4m3, uint8
    scale: torch.Tensor   # a value is its code times it


class Fp8Linear(torch.nn.Linear):
    """torch.nn.Linear whose three products are of 8-bit floats. Inputs are bfloat16 or float16.

    recipe   an Fp8Recipe; layer.recipe = other exchanges it
    """

    def __init__(self, in_features, out_features, bias=True, dtype=None, recipe=None, device=None):
        super().__init__(in_features, out_features, bias=bias, device=device, dtype=dtype)
        self._recipe = fp8.Fp8Recipe() if recipe is None else recipe
        self._cache = fp8.QuantizerCache()
        self._deferred = DeferredWgrad()
        self.register_buffer("amax_history", None)
        self.register_buffer("scales", None)
        self.prepare()

    @property
    def recipe(self):
        return self._recipe

    @recipe.setter
    def recipe(self, recipe):
        self._recipe = recipe
        self.prepare()

    @property
    def quantizers_built(self):
        """How many quantisers were built since the layer was."""
        return self._cache.built

    def prepare(self):
        """Builds quantisers where the recipe or their number is another than last time. Each forward pass does it; that of a
        compiled program finds nothing to do, as exchanging the recipe does it too."""
        if self._cache.update(self._recipe, fp8.roles_of(self._recipe)):
            self._make_buffers()

    def _make_buffers(self):
        """The state of delayed scaling, which stays as far as the new one has a place for it."""
        if self._recipe.scaling != "delayed":
            self.amax_history = self.scales = None
            return
        rows, columns = self._recipe.amax_history_len, len(self._cache.quantizers)
        history = torch.zeros(rows, columns, dtype=torch.float32, device=self.weight.device)
        scales = torch.ones(columns, dtype=torch.float32, device=self.weight.device)
        if self.amax_history is not None:
            history[:self.amax_history.shape[0], :self.scales.numel()] = self.amax_history[:rows, :columns]
            scales[:self.scales.numel()] = self.scales[:columns]
        self.amax_history, self.scales = history, scales

    def _apply(self, fn, recurse=True):
        """layer.to(dtype) leaves the state of delayed scaling in float32."""
        before = self.amax_history, self.scales
        super()._apply(fn, recurse)
        for name, old in zip(("amax_history", "scales"), before):
            new = getattr(self, name)
            if new is not None and new.dtype != torch.float32:
                setattr(self, name, old.to(new.device))
        return self

    def forward(self, input):
        if fp8.is_disabled():
            values = input.values if isinstance(input, Fp8Output) else input
            return torch.nn.functional.linear(values, self.weight, self.bias)
        self.prepare()
        flags = fp8.resolve(self._recipe)
        self._check(input, flags)
        return self._forward(input, flags)

    def _check(self, input, flags):
        values = input.values if isinstance(input, Fp8Output) else input
        if not fp8.has_fp8(self.weight.device):
            raise RuntimeError(f"Fp8Linear: weight is on {self.weight.device}, which has no FP8 (a GPU of compute capability "
                               "8.9 or newer has); dsbuild.fp8.initialize(enabled=False) computes in the layer's own dtype")
        if values.dtype not in (torch.bfloat16, torch.float16):
            raise TypeError(f"Fp8Linear: input: expected bfloat16 or float16, got {values.dtype}")
        if values.shape[-1] != self.in_features:
            raise ValueError(f"Fp8Linear: input: expected {self.in_features} features, got {values.shape[-1]}")
        if flags.delay_wgrad and torch.compiler.is_compiling():
            raise RuntimeError("Fp8Linear: recipe: delay_wgrad keeps gradients outside of the graph, so it does not go with "
                               "torch.compile")

    def _forward(self, input, flags):
        given = input if isinstance(input, Fp8Output) else None
        values = input if given is None else input.values
        rows = values.reshape(-1, self.in_features).contiguous()
        weight, bias = self.weight, self.bias
        if bias is not None and bias.dtype != rows.dtype:
            bias = bias.to(rows.dtype)
        scales = self._step_scales(flags)
        amax = self.amax_history if self.training else None
        # What the backward pass transposes itself it is not given transposed.
        keeps = flags.transposed_cache and torch.is_grad_enabled()
        if given is None:
            input_codes, input_codes_t, input_scale = quantize(rows.detach(), self._given_scale(scales, INPUT), amax,
                                                               INPUT, "e4m3", keeps and weight.requires_grad)
        else:
            input_scale, input_codes = given.scale, given.codes.reshape(rows.shape).contiguous()
            input_codes_t = torch.ops.dsbuild.fp8_transpose(input_codes) if keeps and weight.requires_grad else None
        weight_codes, weight_codes_t, weight_scale = quantize(weight.detach(), self._given_scale(scales, WEIGHT), amax,
                                                              WEIGHT, "e4m3", keeps and rows.requires_grad)
        grad_scale = self._given_scale(scales, GRAD_OUTPUT)
        handle = self._deferred.handle if flags.delay_wgrad else NO_HANDLE
        out = torch.ops.dsbuild.fp8_linear(rows, weight, bias, input_codes, input_codes_t, weight_codes, weight_codes_t,
                                           input_scale, weight_scale, grad_scale, amax, handle, list(flags))
        shape = (*values.shape[:-1], self.out_features)
        return self._quantized(out, shape, scales, amax) if flags.fp8_output else out.view(shape)

    def _step_scales(self, flags):
        """The scales of this step's tensors, which the next step does not change, each in a row of its own: cuBLASLt wants
        one to begin at a multiple of 16 bytes. None where they are the tensors' own."""
        if not flags.delayed_scaling:
            return None
        if self.training:
            largest = [quantizer.largest for quantizer in self._cache.quantizers]
            torch.ops.dsbuild.fp8_scale_update(self.amax_history, self.scales, largest, self._recipe.margin)
        return torch.nn.functional.pad(self.scales.unsqueeze(1), (0, 3))

    @staticmethod
    def _given_scale(scales, slot):
        return None if scales is None else scales[slot, :1]

    def _quantized(self, out, shape, scales, amax):
        codes, _, scale = quantize(out.detach(), self._given_scale(scales, OUTPUT), amax, OUTPUT, "e4m3", False)
        return Fp8Output(out.view(shape), codes.view(shape), scale)

    def backward_dw(self):
        """Adds what delay_wgrad left to weight.grad."""
        with torch.no_grad():
            gradient = self._deferred.run()
            if gradient is None:
                return
            if self.weight.grad is None:
                self.weight.grad = gradient
            else:
                self.weight.grad.add_(gradient)
