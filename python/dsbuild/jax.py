"""The native ops as functions of JAX, also inside jax.jit (docs/guides/torch_operators.md has an example).

Each takes and returns what the torch operator of its name does (docs/guides/torch_operators.md). A function that changes its tensors
is refused, for arrays of JAX do not change. Needs the packages jax and jax-tvm-ffi.
Made by scripts/make_jax_functions.py of the functions.yaml of each op.
"""

from ._jax_call import ask, call, ceil_div, refuse


def cpu_adagrad_step(*_, **__):
    refuse("cpu_adagrad_step", "it changes params, exp_avg_sqs")


def cpu_adam_step(*_, **__):
    refuse("cpu_adam_step", "it changes params, exp_avgs, exp_avg_sqs")


def cpu_lion_step(*_, **__):
    refuse("cpu_lion_step", "it changes params, exp_avgs")


def evoformer_attn_forward(q, k, v, bias1, bias2, family=""):
    arrays = dict(q=q, k=k, v=v, bias1=bias1, bias2=bias2)
    results = [
        (q.shape, q.dtype),
        ([*q.shape[:-3], q.shape[-2], q.shape[-3]], 'float32'),
    ]
    return call("evoformer_attn", "evoformer_attn_forward", "cuda", arrays, results, [0, 1], family=family)


def evoformer_attn_backward(
        grad_out, q, k, v, bias1, bias2, out, lse, family="", *, with_grad_bias1=True, with_grad_bias2=True
):
    arrays = dict(grad_out=grad_out, q=q, k=k, v=v, bias1=bias1, bias2=bias2, out=out, lse=lse)
    results = [
        (q.shape, q.dtype),
        (k.shape, k.dtype),
        (v.shape, v.dtype),
        (bias1.shape, bias1.dtype) if bias1 is not None and with_grad_bias1 else None,
        (bias2.shape, bias2.dtype) if bias2 is not None and with_grad_bias2 else None,
        ([ask('evoformer_attn', 'evoformer_attn_scratch')(q, k)], 'float32'),
    ]
    return call("evoformer_attn", "evoformer_attn_backward", "cuda", arrays, results, [0, 1, 2, 3, 4], family=family)


def fp8_quantize(input, scale, format):
    arrays = dict(input=input, scale=scale)
    results = [
        (input.shape, 'uint8'),
    ]
    return call("fp8_linear", "fp8_quantize", "cuda", arrays, results, [0], format=format)


def fp8_quantize_both(input, scale, format):
    arrays = dict(input=input, scale=scale)
    results = [
        (input.shape, 'uint8'),
        ([input.shape[1], input.shape[0]], 'uint8'),
    ]
    return call("fp8_linear", "fp8_quantize_both", "cuda", arrays, results, [0, 1], format=format)


def fp8_quantize_delayed(*_, **__):
    refuse("fp8_quantize_delayed", "it changes history")


def fp8_quantize_both_delayed(*_, **__):
    refuse("fp8_quantize_both_delayed", "it changes history")


def fp8_quantize_current(input, format):
    arrays = dict(input=input)
    results = [
        ([1], 'float32'),
        ([1024], 'float32'),
        (input.shape, 'uint8'),
    ]
    return call("fp8_linear", "fp8_quantize_current", "cuda", arrays, results, [0, 2], format=format)


def fp8_quantize_both_current(input, format):
    arrays = dict(input=input)
    results = [
        ([1], 'float32'),
        ([1024], 'float32'),
        (input.shape, 'uint8'),
        ([input.shape[1], input.shape[0]], 'uint8'),
    ]
    return call("fp8_linear", "fp8_quantize_both_current", "cuda", arrays, results, [0, 2, 3], format=format)


def fp8_scale_update(*_, **__):
    refuse("fp8_scale_update", "it changes history, scales")


def fp8_transpose(codes):
    arrays = dict(codes=codes)
    results = [
        ([codes.shape[1], codes.shape[0]], 'uint8'),
    ]
    return call("fp8_linear", "fp8_transpose", "cuda", arrays, results, [0])


def fp8_linear_matmul(
        a, b, a_scale, b_scale, bias, a_format="e4m3", b_format="e4m3", use_split_accumulator=False, *, dtype
):
    arrays = dict(a=a, b=b, a_scale=a_scale, b_scale=b_scale, bias=bias)
    results = [
        ([a.shape[0], b.shape[0]], dtype),
        ([ask('fp8_linear', 'fp8_linear_workspace')(a, b)], 'uint8'),
    ]
    return call(
        "fp8_linear", "fp8_linear_matmul", "cuda", arrays, results, [0], a_format=a_format, b_format=b_format,
        use_split_accumulator=use_split_accumulator,
    )


def fp_quantize(input, group_size, format):
    arrays = dict(input=input)
    results = [
        (input.shape, 'uint8'),
        ([ceil_div(input.size, group_size)], 'float32'),
    ]
    return call("fp_quantizer", "fp_quantize", "cuda", arrays, results, [0, 1], group_size=group_size, format=format)


def fp_dequantize(input, scales, group_size, format, *, dtype):
    arrays = dict(input=input, scales=scales)
    results = [
        (input.shape, dtype),
    ]
    return call("fp_quantizer", "fp_dequantize", "cuda", arrays, results, [0], group_size=group_size, format=format)


def fused_adam_step(*_, **__):
    refuse("fused_adam_step", "it changes params, exp_avgs, exp_avg_sqs")


def fused_lamb_step(*_, **__):
    refuse("fused_lamb_step", "it changes params, exp_avgs, exp_avg_sqs")


def fused_lion_step(*_, **__):
    refuse("fused_lion_step", "it changes params, exp_avgs")


def layer_norm_forward(input, weight, bias, eps):
    arrays = dict(input=input, weight=weight, bias=bias)
    results = [
        (input.shape, input.dtype),
        (input.shape[:-1], 'float32'),
        (input.shape[:-1], 'float32'),
    ]
    return call("layer_norm", "layer_norm_forward", "cuda", arrays, results, [0, 1, 2], eps=eps)


def layer_norm_backward(grad_out, input, weight, bias, mean, rstd, *, with_grad_weight=True, with_grad_bias=True):
    arrays = dict(grad_out=grad_out, input=input, weight=weight, bias=bias, mean=mean, rstd=rstd)
    results = [
        (input.shape, input.dtype),
        (weight.shape, weight.dtype) if weight is not None and with_grad_weight else None,
        (bias.shape, bias.dtype) if bias is not None and with_grad_bias else None,
        ([ask('layer_norm', 'layer_norm_scratch')(input)], 'float32'),
    ]
    return call("layer_norm", "layer_norm_backward", "cuda", arrays, results, [0, 1, 2])


def quantize_symmetric(input, group_size, bits):
    arrays = dict(input=input)
    results = [
        (input.shape if bits == 8 else [ceil_div(input.size, 2)], 'int8' if bits == 8 else 'uint8'),
        ([ceil_div(input.size, group_size)], 'float32'),
    ]
    return call("quantizer", "quantize_symmetric", "cuda", arrays, results, [0, 1], group_size=group_size, bits=bits)


def quantize_asymmetric(input, group_size, bits):
    arrays = dict(input=input)
    results = [
        (input.shape if bits == 8 else [ceil_div(input.size, 2)], 'uint8'),
        ([ceil_div(input.size, group_size)], 'float32'),
        ([ceil_div(input.size, group_size)], 'float32'),
    ]
    return call(
        "quantizer", "quantize_asymmetric", "cuda", arrays, results, [0, 1, 2], group_size=group_size, bits=bits,
    )


def dequantize_symmetric(input, scales, group_size, bits, *, shape, dtype):
    arrays = dict(input=input, scales=scales)
    results = [
        (shape, dtype),
    ]
    return call("quantizer", "dequantize_symmetric", "cuda", arrays, results, [0], group_size=group_size, bits=bits)


def dequantize_asymmetric(input, scales, offsets, group_size, bits, *, shape, dtype):
    arrays = dict(input=input, scales=scales, offsets=offsets)
    results = [
        (shape, dtype),
    ]
    return call("quantizer", "dequantize_asymmetric", "cuda", arrays, results, [0], group_size=group_size, bits=bits)


def rms_norm_forward(input, weight, eps):
    arrays = dict(input=input, weight=weight)
    results = [
        (input.shape, input.dtype),
        (input.shape[:-1], 'float32'),
    ]
    return call("rms_norm", "rms_norm_forward", "cuda", arrays, results, [0, 1], eps=eps)


def rms_norm_backward(grad_out, input, weight, rstd, *, with_grad_weight=True):
    arrays = dict(grad_out=grad_out, input=input, weight=weight, rstd=rstd)
    results = [
        (input.shape, input.dtype),
        (weight.shape, weight.dtype) if weight is not None and with_grad_weight else None,
        ([ask('rms_norm', 'rms_norm_scratch')(input)], 'float32'),
    ]
    return call("rms_norm", "rms_norm_backward", "cuda", arrays, results, [0, 1])
