"""fp8_linear as docs/reference/ops.md writes it, with torch, on any device: for tests, and as kernels for a CPU."""

import importlib

import torch

FORMATS = {"e4m3": (torch.float8_e4m3fn, 448.0), "e5m2": (torch.float8_e5m2, 57344.0)}
SMALLEST_SCALE = 2.0**-126


def amax(values):
    """The largest finite magnitude, float32."""
    magnitudes = values.detach().float().abs()
    return torch.where(magnitudes.isfinite(), magnitudes, 0.0).amax() if values.numel() else values.new_zeros((), dtype=torch.float32)


def scale_of(values, form):
    largest = amax(values)
    scale = (largest / FORMATS[form][1]).clamp(min=SMALLEST_SCALE)
    return torch.where(largest > 0, scale, 1.0).view(1).float()


def quantize(values, scale, form):
    """To nearest, ties to even, saturating; float32 before the conversion."""
    dtype, largest = FORMATS[form]
    scaled = values.detach().float() * (1 / scale.float())
    return scaled.clamp(-largest, largest).to(dtype).view(torch.uint8)


def values_of(codes, form):
    """Exact, float64."""
    return codes.view(FORMATS[form][0]).double()


def product(a, b, a_scale, b_scale, bias=None, a_form="e4m3", b_form="e4m3"):
    """(a_scale a) (b_scale b)ᵀ + bias, float64."""
    out = (values_of(a, a_form) * a_scale.double()) @ (values_of(b, b_form) * b_scale.double()).t()
    return out if bias is None else out + bias.double()


def updated(history, scales, largest, margin):
    """(history, scales) after an update; float64 in between."""
    tops = history.double().amax(0) * 2.0**margin
    wanted = (tops / torch.tensor(largest, dtype=torch.float64, device=history.device)).clamp(min=SMALLEST_SCALE)
    moved = torch.cat([torch.zeros_like(history[:1]), history[:-1]])
    return moved, torch.where(tops > 0, wanted, scales.double())


# ---- torch.ops.dsbuild.* on the CPU

SCHEMAS = {
    "fp8_quantize": "(Tensor input, Tensor scale, str format) -> Tensor",
    "fp8_quantize_both": "(Tensor input, Tensor scale, str format) -> (Tensor, Tensor)",
    "fp8_quantize_delayed": "(Tensor input, Tensor scale, Tensor(a!) history, int slot, str format) -> Tensor",
    "fp8_quantize_both_delayed": "(Tensor input, Tensor scale, Tensor(a!) history, int slot, str format) -> (Tensor, Tensor)",
    "fp8_quantize_current": "(Tensor input, str format) -> (Tensor, Tensor)",
    "fp8_quantize_both_current": "(Tensor input, str format) -> (Tensor, Tensor, Tensor)",
    "fp8_scale_update": "(Tensor(a!) history, Tensor(b!) scales, int[] largest, int margin=0) -> ()",
    "fp8_transpose": "(Tensor codes) -> Tensor",
    "fp8_linear_matmul": "(Tensor a, Tensor b, Tensor a_scale, Tensor b_scale, Tensor? bias, str a_format=\"e4m3\", "
                         "str b_format=\"e4m3\", bool use_split_accumulator=False, *, ScalarType dtype) -> Tensor",
}
calls = []  # (operator, its arguments that are no tensors), as they were called on the CPU


def _noted(name, *arguments):
    calls.append((name, arguments))


def _cpu_quantize(input, scale, format):
    _noted("fp8_quantize", format)
    return quantize(input, scale, format)


def _both(codes):
    return codes, codes.t().contiguous()


def _gather(input, history, slot):
    place = history.view(-1)[slot:slot + 1]
    place.copy_(torch.maximum(place, amax(input)))


def _cpu_quantize_delayed(input, scale, history, slot, format):
    _gather(input, history, slot)
    return _cpu_quantize(input, scale, format)


def _cpu_quantize_current(input, format):
    scale = scale_of(input, format)
    return scale, _cpu_quantize(input, scale, format)


def _cpu_quantize_both_current(input, format):
    scale, codes = _cpu_quantize_current(input, format)
    return scale, *_both(codes)


def _cpu_scale_update(history, scales, largest, margin=0):
    new_history, new_scales = updated(history, scales, largest, margin)
    history.copy_(new_history)
    scales.copy_(new_scales)


def _cpu_transpose(codes):
    return codes.t().contiguous()


def _cpu_matmul(a, b, a_scale, b_scale, bias, a_format="e4m3", b_format="e4m3", use_split_accumulator=False, dtype=None):
    _noted("fp8_linear_matmul", a_format, b_format, use_split_accumulator)
    return product(a, b, a_scale, b_scale, bias, a_format, b_format).to(dtype)


def _fake_quantize(input, *_):
    return torch.empty_like(input, dtype=torch.uint8)


def _fake_quantize_both(input, *_):
    return _fake_quantize(input), input.new_empty((input.shape[1], input.shape[0]), dtype=torch.uint8)


def _fake_scale(input):
    return input.new_empty(1, dtype=torch.float32)


def _fake_matmul(a, b, a_scale, b_scale, bias, a_format="e4m3", b_format="e4m3", use_split_accumulator=False, dtype=None):
    return a.new_empty((a.shape[0], b.shape[0]), dtype=dtype)


CPU = {"fp8_quantize": (_cpu_quantize, _fake_quantize), "fp8_quantize_both": (lambda *given: _both(_cpu_quantize(*given)), _fake_quantize_both),
       "fp8_quantize_delayed": (_cpu_quantize_delayed, _fake_quantize),
       "fp8_quantize_both_delayed": (lambda *given: _both(_cpu_quantize_delayed(*given)), _fake_quantize_both),
       "fp8_quantize_current": (_cpu_quantize_current, lambda input, format: (_fake_scale(input), _fake_quantize(input))),
       "fp8_quantize_both_current": (_cpu_quantize_both_current,
                                     lambda input, format: (_fake_scale(input), *_fake_quantize_both(input))),
       "fp8_scale_update": (_cpu_scale_update, lambda *_: None),
       "fp8_transpose": (_cpu_transpose, lambda codes: codes.new_empty((codes.shape[1], codes.shape[0]))),
       "fp8_linear_matmul": (_cpu_matmul, _fake_matmul)}


def on_cpu():
    """Makes the operators run on CPU tensors, so that what is above them can be tested without a GPU. Operators that
    dsbuild.torch has not defined are defined too. The library is to be kept."""
    importlib.import_module("dsbuild.torch")
    library = torch.library.Library("dsbuild", "FRAGMENT")
    for name, (kernel, fake) in CPU.items():
        known = hasattr(torch.ops.dsbuild, name)
        if not known:
            library.define(name + SCHEMAS[name])
            torch.library.register_fake("dsbuild::" + name, fake, lib=library)
        library.impl(name, kernel, "CPU")
    return library
