"""The torch operators of the pack native. Made by scripts/make_torch_operators.py of the functions.yaml of each op."""

import torch

from ._torch_library import Op, ceil_div, dense, define, differentiate


# ---- cpu_adagrad

_cpu_adagrad = Op("cpu_adagrad")


def _run_cpu_adagrad_step(params, grads, exp_avg_sqs, lr, eps, weight_decay, grad_scale=1.0):
    _cpu_adagrad.cpu_adagrad_step(params, [dense(t) for t in grads], exp_avg_sqs, lr, eps, weight_decay, grad_scale)


define(
    "cpu_adagrad_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avg_sqs, float lr, float eps, "
    "float weight_decay, float grad_scale=1.0) -> ()",
    "cpu", _run_cpu_adagrad_step, None)


define(
    "cpu_adagrad_step.tensor(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avg_sqs, Tensor lr, float "
    "eps, float weight_decay, float grad_scale=1.0) -> ()",
    "cpu", _run_cpu_adagrad_step, None)


# ---- cpu_adam

_cpu_adam = Op("cpu_adam")


def _run_cpu_adam_step(
        params, grads, exp_avgs, exp_avg_sqs, lr, beta1, beta2, eps, step, adam_w_mode, bias_correction, weight_decay,
        grad_scale=1.0
):
    _cpu_adam.cpu_adam_step(
        params, [dense(t) for t in grads], exp_avgs, exp_avg_sqs, lr, beta1, beta2, eps, step, adam_w_mode,
        bias_correction, weight_decay, grad_scale,
    )


define(
    "cpu_adam_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, float "
    "lr, float beta1, float beta2, float eps, SymInt step, bool adam_w_mode, bool bias_correction, float "
    "weight_decay, float grad_scale=1.0) -> ()",
    "cpu", _run_cpu_adam_step, None)


define(
    "cpu_adam_step.tensor(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] "
    "exp_avg_sqs, Tensor lr, float beta1, float beta2, float eps, Tensor step, bool adam_w_mode, bool "
    "bias_correction, float weight_decay, float grad_scale=1.0) -> ()",
    "cpu", _run_cpu_adam_step, None)


# ---- cpu_lion

_cpu_lion = Op("cpu_lion")


def _run_cpu_lion_step(params, grads, exp_avgs, lr, beta1, beta2, weight_decay, grad_scale=1.0):
    _cpu_lion.cpu_lion_step(params, [dense(t) for t in grads], exp_avgs, lr, beta1, beta2, weight_decay, grad_scale)


define(
    "cpu_lion_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, float lr, float beta1, float "
    "beta2, float weight_decay, float grad_scale=1.0) -> ()",
    "cpu", _run_cpu_lion_step, None)


define(
    "cpu_lion_step.tensor(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor lr, float beta1, "
    "float beta2, float weight_decay, float grad_scale=1.0) -> ()",
    "cpu", _run_cpu_lion_step, None)


# ---- evoformer_attn

_evoformer_attn = Op("evoformer_attn")


def _make_evoformer_attn_forward(q, k, v, bias1, bias2, family=""):
    return (
        q.new_empty(q.shape),
        q.new_empty([*q.shape[:-3], q.shape[-2], q.shape[-3]], dtype=torch.float32),
    )


def _run_evoformer_attn_forward(q, k, v, bias1, bias2, family=""):
    out, lse = _make_evoformer_attn_forward(q, k, v, bias1, bias2, family)
    _evoformer_attn.evoformer_attn_forward(dense(q), dense(k), dense(v), dense(bias1), dense(bias2), out, lse, family)
    return out, lse


define(
    'evoformer_attn_forward(Tensor q, Tensor k, Tensor v, Tensor? bias1, Tensor? bias2, str family="") -> '
    '(Tensor out, Tensor lse)',
    "cuda", _run_evoformer_attn_forward, _make_evoformer_attn_forward)


def _make_evoformer_attn_backward(
        grad_out, q, k, v, bias1, bias2, out, lse, family="", *, with_grad_bias1=True, with_grad_bias2=True
):
    return (
        grad_out.new_empty(q.shape, dtype=q.dtype),
        grad_out.new_empty(k.shape, dtype=k.dtype),
        grad_out.new_empty(v.shape, dtype=v.dtype),
        grad_out.new_empty(bias1.shape, dtype=bias1.dtype) if bias1 is not None and with_grad_bias1 else
            grad_out.new_empty((0,)),
        grad_out.new_empty(bias2.shape, dtype=bias2.dtype) if bias2 is not None and with_grad_bias2 else
            grad_out.new_empty((0,)),
    )


def _run_evoformer_attn_backward(
        grad_out, q, k, v, bias1, bias2, out, lse, family="", *, with_grad_bias1=True, with_grad_bias2=True
):
    grad_q, grad_k, grad_v, grad_bias1, grad_bias2 = _make_evoformer_attn_backward(
        grad_out, q, k, v, bias1, bias2, out, lse, family, with_grad_bias1=with_grad_bias1,
        with_grad_bias2=with_grad_bias2,
    )
    scratch = grad_out.new_empty([_evoformer_attn.evoformer_attn_scratch(q, k)], dtype=torch.float32)
    _evoformer_attn.evoformer_attn_backward(
        dense(grad_out), dense(q), dense(k), dense(v), dense(bias1), dense(bias2), dense(out), dense(lse), grad_q,
        grad_k, grad_v, grad_bias1 if bias1 is not None and with_grad_bias1 else None,
        grad_bias2 if bias2 is not None and with_grad_bias2 else None, scratch, family,
    )
    return grad_q, grad_k, grad_v, grad_bias1, grad_bias2


define(
    'evoformer_attn_backward(Tensor grad_out, Tensor q, Tensor k, Tensor v, Tensor? bias1, Tensor? bias2, '
    'Tensor out, Tensor lse, str family="", *, bool with_grad_bias1=True, bool with_grad_bias2=True) -> '
    '(Tensor grad_q, Tensor grad_k, Tensor grad_v, Tensor grad_bias1, Tensor grad_bias2)',
    "cuda", _run_evoformer_attn_backward, _make_evoformer_attn_backward)


def _keep_evoformer_attn_forward(ctx, inputs, output):
    q, k, v, bias1, bias2, family = inputs
    out, lse = output
    ctx.mark_non_differentiable(lse)
    ctx.save_for_backward(q, k, v, bias1, bias2, out, lse)
    ctx.family = family


def _differentiate_evoformer_attn_forward(ctx, grad_out, grad_lse):
    q, k, v, bias1, bias2, out, lse = ctx.saved_tensors
    grad_q, grad_k, grad_v, grad_bias1, grad_bias2 = torch.ops.dsbuild.evoformer_attn_backward(
        grad_out, q, k, v, bias1, bias2, out, lse, ctx.family, with_grad_bias1=ctx.needs_input_grad[3],
        with_grad_bias2=ctx.needs_input_grad[4],
    )
    return (
        grad_q, grad_k, grad_v, grad_bias1 if ctx.needs_input_grad[3] else None,
        grad_bias2 if ctx.needs_input_grad[4] else None, None,
    )


differentiate("evoformer_attn_forward", _differentiate_evoformer_attn_forward, _keep_evoformer_attn_forward)


# ---- fp8_linear

_fp8_linear = Op("fp8_linear")


def _make_fp8_quantize(input, scale, format):
    return input.new_empty(input.shape, dtype=torch.uint8)


def _run_fp8_quantize(input, scale, format):
    codes = _make_fp8_quantize(input, scale, format)
    _fp8_linear.fp8_quantize(dense(input), dense(scale), codes, format)
    return codes


define(
    "fp8_quantize(Tensor input, Tensor scale, str format) -> Tensor",
    "cuda", _run_fp8_quantize, _make_fp8_quantize)


def _make_fp8_quantize_both(input, scale, format):
    return (
        input.new_empty(input.shape, dtype=torch.uint8),
        input.new_empty([input.shape[1], input.shape[0]], dtype=torch.uint8),
    )


def _run_fp8_quantize_both(input, scale, format):
    codes, codes_t = _make_fp8_quantize_both(input, scale, format)
    _fp8_linear.fp8_quantize_both(dense(input), dense(scale), codes, codes_t, format)
    return codes, codes_t


define(
    "fp8_quantize_both(Tensor input, Tensor scale, str format) -> (Tensor codes, Tensor codes_t)",
    "cuda", _run_fp8_quantize_both, _make_fp8_quantize_both)


def _make_fp8_quantize_delayed(input, scale, history, slot, format):
    return input.new_empty(input.shape, dtype=torch.uint8)


def _run_fp8_quantize_delayed(input, scale, history, slot, format):
    codes = _make_fp8_quantize_delayed(input, scale, history, slot, format)
    _fp8_linear.fp8_quantize_delayed(dense(input), dense(scale), history, slot, codes, format)
    return codes


define(
    "fp8_quantize_delayed(Tensor input, Tensor scale, Tensor(a!) history, SymInt slot, str format) -> Tensor",
    "cuda", _run_fp8_quantize_delayed, _make_fp8_quantize_delayed)


def _make_fp8_quantize_both_delayed(input, scale, history, slot, format):
    return (
        input.new_empty(input.shape, dtype=torch.uint8),
        input.new_empty([input.shape[1], input.shape[0]], dtype=torch.uint8),
    )


def _run_fp8_quantize_both_delayed(input, scale, history, slot, format):
    codes, codes_t = _make_fp8_quantize_both_delayed(input, scale, history, slot, format)
    _fp8_linear.fp8_quantize_both_delayed(dense(input), dense(scale), history, slot, codes, codes_t, format)
    return codes, codes_t


define(
    "fp8_quantize_both_delayed(Tensor input, Tensor scale, Tensor(a!) history, SymInt slot, str format) -> "
    "(Tensor codes, Tensor codes_t)",
    "cuda", _run_fp8_quantize_both_delayed, _make_fp8_quantize_both_delayed)


def _make_fp8_quantize_current(input, format):
    return (
        input.new_empty([1], dtype=torch.float32),
        input.new_empty(input.shape, dtype=torch.uint8),
    )


def _run_fp8_quantize_current(input, format):
    scale, codes = _make_fp8_quantize_current(input, format)
    scratch = input.new_empty([1024], dtype=torch.float32)
    _fp8_linear.fp8_quantize_current(dense(input), scale, scratch, codes, format)
    return scale, codes


define(
    "fp8_quantize_current(Tensor input, str format) -> (Tensor scale, Tensor codes)",
    "cuda", _run_fp8_quantize_current, _make_fp8_quantize_current)


def _make_fp8_quantize_both_current(input, format):
    return (
        input.new_empty([1], dtype=torch.float32),
        input.new_empty(input.shape, dtype=torch.uint8),
        input.new_empty([input.shape[1], input.shape[0]], dtype=torch.uint8),
    )


def _run_fp8_quantize_both_current(input, format):
    scale, codes, codes_t = _make_fp8_quantize_both_current(input, format)
    scratch = input.new_empty([1024], dtype=torch.float32)
    _fp8_linear.fp8_quantize_both_current(dense(input), scale, scratch, codes, codes_t, format)
    return scale, codes, codes_t


define(
    "fp8_quantize_both_current(Tensor input, str format) -> (Tensor scale, Tensor codes, Tensor codes_t)",
    "cuda", _run_fp8_quantize_both_current, _make_fp8_quantize_both_current)


def _run_fp8_scale_update(history, scales, largest, margin=0):
    _fp8_linear.fp8_scale_update(history, scales, largest, margin)


define(
    "fp8_scale_update(Tensor(a!) history, Tensor(b!) scales, SymInt[] largest, SymInt margin=0) -> ()",
    "cuda", _run_fp8_scale_update, None)


def _make_fp8_transpose(codes):
    return codes.new_empty([codes.shape[1], codes.shape[0]], dtype=torch.uint8)


def _run_fp8_transpose(codes):
    codes_t = _make_fp8_transpose(codes)
    _fp8_linear.fp8_transpose(dense(codes), codes_t)
    return codes_t


define(
    "fp8_transpose(Tensor codes) -> Tensor",
    "cuda", _run_fp8_transpose, _make_fp8_transpose)


def _make_fp8_linear_matmul(
        a, b, a_scale, b_scale, bias, a_format="e4m3", b_format="e4m3", use_split_accumulator=False, *, dtype
):
    return a.new_empty([a.shape[0], b.shape[0]], dtype=dtype)


def _run_fp8_linear_matmul(
        a, b, a_scale, b_scale, bias, a_format="e4m3", b_format="e4m3", use_split_accumulator=False, *, dtype
):
    out = _make_fp8_linear_matmul(
        a, b, a_scale, b_scale, bias, a_format, b_format, use_split_accumulator, dtype=dtype,
    )
    workspace = a.new_empty([_fp8_linear.fp8_linear_workspace(a, b)], dtype=torch.uint8)
    _fp8_linear.fp8_linear_matmul(
        dense(a), dense(b), dense(a_scale), dense(b_scale), dense(bias), out, workspace, a_format, b_format,
        use_split_accumulator,
    )
    return out


define(
    'fp8_linear_matmul(Tensor a, Tensor b, Tensor a_scale, Tensor b_scale, Tensor? bias, str a_format="e4m3", '
    'str b_format="e4m3", bool use_split_accumulator=False, *, ScalarType dtype) -> Tensor',
    "cuda", _run_fp8_linear_matmul, _make_fp8_linear_matmul)


# ---- fp_quantizer

_fp_quantizer = Op("fp_quantizer")


def _make_fp_quantize(input, group_size, format):
    return (
        input.new_empty(input.shape, dtype=torch.uint8),
        input.new_empty([ceil_div(input.numel(), group_size)], dtype=torch.float32),
    )


def _run_fp_quantize(input, group_size, format):
    output, scales = _make_fp_quantize(input, group_size, format)
    _fp_quantizer.fp_quantize(dense(input), output, scales, group_size, format)
    return output, scales


define(
    "fp_quantize(Tensor input, SymInt group_size, str format) -> (Tensor output, Tensor scales)",
    "cuda", _run_fp_quantize, _make_fp_quantize)


def _make_fp_dequantize(input, scales, group_size, format, *, dtype):
    return input.new_empty(input.shape, dtype=dtype)


def _run_fp_dequantize(input, scales, group_size, format, *, dtype):
    output = _make_fp_dequantize(input, scales, group_size, format, dtype=dtype)
    _fp_quantizer.fp_dequantize(dense(input), dense(scales), output, group_size, format)
    return output


define(
    "fp_dequantize(Tensor input, Tensor scales, SymInt group_size, str format, *, ScalarType dtype) -> Tensor",
    "cuda", _run_fp_dequantize, _make_fp_dequantize)


# ---- fused_adam

_fused_adam = Op("fused_adam")


def _run_fused_adam_step(
        params, grads, exp_avgs, exp_avg_sqs, lr, beta1, beta2, eps, step, adam_w_mode, bias_correction, weight_decay,
        grad_scale=1.0
):
    _fused_adam.fused_adam_step(
        params, [dense(t) for t in grads], exp_avgs, exp_avg_sqs, lr, beta1, beta2, eps, step, adam_w_mode,
        bias_correction, weight_decay, grad_scale,
    )


define(
    "fused_adam_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, "
    "float lr, float beta1, float beta2, float eps, SymInt step, bool adam_w_mode, bool bias_correction, float "
    "weight_decay, float grad_scale=1.0) -> ()",
    "cuda", _run_fused_adam_step, None)


define(
    "fused_adam_step.tensor(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] "
    "exp_avg_sqs, Tensor lr, float beta1, float beta2, float eps, Tensor step, bool adam_w_mode, bool "
    "bias_correction, float weight_decay, float grad_scale=1.0) -> ()",
    "cuda", _run_fused_adam_step, None)


# ---- fused_lamb

_fused_lamb = Op("fused_lamb")


def _run_fused_lamb_step(
        params, grads, exp_avgs, exp_avg_sqs, lr, beta1, beta2, eps, step, eps_inside_sqrt, bias_correction,
        weight_decay, min_coeff, max_coeff, grad_scale=1.0
):
    scratch = params[0].new_empty([_fused_lamb.fused_lamb_scratch(grads)], dtype=torch.float32)
    _fused_lamb.fused_lamb_step(
        params, [dense(t) for t in grads], exp_avgs, exp_avg_sqs, scratch, lr, beta1, beta2, eps, step,
        eps_inside_sqrt, bias_correction, weight_decay, min_coeff, max_coeff, grad_scale,
    )


define(
    "fused_lamb_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, "
    "float lr, float beta1, float beta2, float eps, SymInt step, bool eps_inside_sqrt, bool bias_correction, "
    "float weight_decay, float min_coeff, float max_coeff, float grad_scale=1.0) -> ()",
    "cuda", _run_fused_lamb_step, None)


define(
    "fused_lamb_step.tensor(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] "
    "exp_avg_sqs, Tensor lr, float beta1, float beta2, float eps, Tensor step, bool eps_inside_sqrt, bool "
    "bias_correction, float weight_decay, float min_coeff, float max_coeff, float grad_scale=1.0) -> ()",
    "cuda", _run_fused_lamb_step, None)


# ---- fused_lion

_fused_lion = Op("fused_lion")


def _run_fused_lion_step(params, grads, exp_avgs, lr, beta1, beta2, weight_decay, grad_scale=1.0):
    _fused_lion.fused_lion_step(
        params, [dense(t) for t in grads], exp_avgs, lr, beta1, beta2, weight_decay, grad_scale,
    )


define(
    "fused_lion_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, float lr, float beta1, float "
    "beta2, float weight_decay, float grad_scale=1.0) -> ()",
    "cuda", _run_fused_lion_step, None)


define(
    "fused_lion_step.tensor(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor lr, float "
    "beta1, float beta2, float weight_decay, float grad_scale=1.0) -> ()",
    "cuda", _run_fused_lion_step, None)


# ---- layer_norm

_layer_norm = Op("layer_norm")


def _make_layer_norm_forward(input, weight, bias, eps):
    return (
        input.new_empty(input.shape),
        input.new_empty(input.shape[:-1], dtype=torch.float32),
        input.new_empty(input.shape[:-1], dtype=torch.float32),
    )


def _run_layer_norm_forward(input, weight, bias, eps):
    out, mean, rstd = _make_layer_norm_forward(input, weight, bias, eps)
    _layer_norm.layer_norm_forward(dense(input), dense(weight), dense(bias), out, mean, rstd, eps)
    return out, mean, rstd


define(
    "layer_norm_forward(Tensor input, Tensor? weight, Tensor? bias, float eps) -> (Tensor out, Tensor mean, "
    "Tensor rstd)",
    "cuda", _run_layer_norm_forward, _make_layer_norm_forward)


def _make_layer_norm_backward(
        grad_out, input, weight, bias, mean, rstd, *, with_grad_weight=True, with_grad_bias=True
):
    return (
        grad_out.new_empty(input.shape, dtype=input.dtype),
        grad_out.new_empty(weight.shape, dtype=weight.dtype) if weight is not None and with_grad_weight else
            grad_out.new_empty((0,)),
        grad_out.new_empty(bias.shape, dtype=bias.dtype) if bias is not None and with_grad_bias else
            grad_out.new_empty((0,)),
    )


def _run_layer_norm_backward(
        grad_out, input, weight, bias, mean, rstd, *, with_grad_weight=True, with_grad_bias=True
):
    grad_input, grad_weight, grad_bias = _make_layer_norm_backward(
        grad_out, input, weight, bias, mean, rstd, with_grad_weight=with_grad_weight, with_grad_bias=with_grad_bias,
    )
    scratch = grad_out.new_empty([_layer_norm.layer_norm_scratch(input)], dtype=torch.float32)
    _layer_norm.layer_norm_backward(
        dense(grad_out), dense(input), dense(weight), dense(bias), dense(mean), dense(rstd), grad_input,
        grad_weight if weight is not None and with_grad_weight else None,
        grad_bias if bias is not None and with_grad_bias else None, scratch,
    )
    return grad_input, grad_weight, grad_bias


define(
    "layer_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor "
    "rstd, *, bool with_grad_weight=True, bool with_grad_bias=True) -> (Tensor grad_input, Tensor grad_weight, "
    "Tensor grad_bias)",
    "cuda", _run_layer_norm_backward, _make_layer_norm_backward)


def _keep_layer_norm_forward(ctx, inputs, output):
    input, weight, bias, eps = inputs
    out, mean, rstd = output
    ctx.mark_non_differentiable(mean, rstd)
    ctx.save_for_backward(input, weight, bias, mean, rstd)


def _differentiate_layer_norm_forward(ctx, grad_out, grad_mean, grad_rstd):
    input, weight, bias, mean, rstd = ctx.saved_tensors
    grad_input, grad_weight, grad_bias = torch.ops.dsbuild.layer_norm_backward(
        grad_out, input, weight, bias, mean, rstd, with_grad_weight=ctx.needs_input_grad[1],
        with_grad_bias=ctx.needs_input_grad[2],
    )
    return (
        grad_input, grad_weight if ctx.needs_input_grad[1] else None, grad_bias if ctx.needs_input_grad[2] else None,
        None,
    )


differentiate("layer_norm_forward", _differentiate_layer_norm_forward, _keep_layer_norm_forward)


# ---- quantizer

_quantizer = Op("quantizer")


def _make_quantize_symmetric(input, group_size, bits):
    return (
        input.new_empty(input.shape if bits == 8 else [ceil_div(input.numel(), 2)], dtype=torch.int8 if bits == 8 else
            torch.uint8),
        input.new_empty([ceil_div(input.numel(), group_size)], dtype=torch.float32),
    )


def _run_quantize_symmetric(input, group_size, bits):
    output, scales = _make_quantize_symmetric(input, group_size, bits)
    _quantizer.quantize_symmetric(dense(input), output, scales, group_size, bits)
    return output, scales


define(
    "quantize_symmetric(Tensor input, SymInt group_size, SymInt bits) -> (Tensor output, Tensor scales)",
    "cuda", _run_quantize_symmetric, _make_quantize_symmetric)


def _make_quantize_asymmetric(input, group_size, bits):
    return (
        input.new_empty(input.shape if bits == 8 else [ceil_div(input.numel(), 2)], dtype=torch.uint8),
        input.new_empty([ceil_div(input.numel(), group_size)], dtype=torch.float32),
        input.new_empty([ceil_div(input.numel(), group_size)], dtype=torch.float32),
    )


def _run_quantize_asymmetric(input, group_size, bits):
    output, scales, offsets = _make_quantize_asymmetric(input, group_size, bits)
    _quantizer.quantize_asymmetric(dense(input), output, scales, offsets, group_size, bits)
    return output, scales, offsets


define(
    "quantize_asymmetric(Tensor input, SymInt group_size, SymInt bits) -> (Tensor output, Tensor scales, "
    "Tensor offsets)",
    "cuda", _run_quantize_asymmetric, _make_quantize_asymmetric)


def _make_dequantize_symmetric(input, scales, group_size, bits, *, shape, dtype):
    return input.new_empty(shape, dtype=dtype)


def _run_dequantize_symmetric(input, scales, group_size, bits, *, shape, dtype):
    output = _make_dequantize_symmetric(input, scales, group_size, bits, shape=shape, dtype=dtype)
    _quantizer.dequantize_symmetric(dense(input), dense(scales), output, group_size, bits)
    return output


define(
    "dequantize_symmetric(Tensor input, Tensor scales, SymInt group_size, SymInt bits, *, SymInt[] shape, "
    "ScalarType dtype) -> Tensor",
    "cuda", _run_dequantize_symmetric, _make_dequantize_symmetric)


def _make_dequantize_asymmetric(input, scales, offsets, group_size, bits, *, shape, dtype):
    return input.new_empty(shape, dtype=dtype)


def _run_dequantize_asymmetric(input, scales, offsets, group_size, bits, *, shape, dtype):
    output = _make_dequantize_asymmetric(input, scales, offsets, group_size, bits, shape=shape, dtype=dtype)
    _quantizer.dequantize_asymmetric(dense(input), dense(scales), dense(offsets), output, group_size, bits)
    return output


define(
    "dequantize_asymmetric(Tensor input, Tensor scales, Tensor offsets, SymInt group_size, SymInt bits, *, "
    "SymInt[] shape, ScalarType dtype) -> Tensor",
    "cuda", _run_dequantize_asymmetric, _make_dequantize_asymmetric)


# ---- rms_norm

_rms_norm = Op("rms_norm")


def _make_rms_norm_forward(input, weight, eps):
    return (
        input.new_empty(input.shape),
        input.new_empty(input.shape[:-1], dtype=torch.float32),
    )


def _run_rms_norm_forward(input, weight, eps):
    out, rstd = _make_rms_norm_forward(input, weight, eps)
    _rms_norm.rms_norm_forward(dense(input), dense(weight), out, rstd, eps)
    return out, rstd


define(
    "rms_norm_forward(Tensor input, Tensor? weight, float eps) -> (Tensor out, Tensor rstd)",
    "cuda", _run_rms_norm_forward, _make_rms_norm_forward)


def _make_rms_norm_backward(grad_out, input, weight, rstd, *, with_grad_weight=True):
    return (
        grad_out.new_empty(input.shape, dtype=input.dtype),
        grad_out.new_empty(weight.shape, dtype=weight.dtype) if weight is not None and with_grad_weight else
            grad_out.new_empty((0,)),
    )


def _run_rms_norm_backward(grad_out, input, weight, rstd, *, with_grad_weight=True):
    grad_input, grad_weight = _make_rms_norm_backward(
        grad_out, input, weight, rstd, with_grad_weight=with_grad_weight,
    )
    scratch = grad_out.new_empty([_rms_norm.rms_norm_scratch(input)], dtype=torch.float32)
    _rms_norm.rms_norm_backward(
        dense(grad_out), dense(input), dense(weight), dense(rstd), grad_input,
        grad_weight if weight is not None and with_grad_weight else None, scratch,
    )
    return grad_input, grad_weight


define(
    "rms_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor rstd, *, bool "
    "with_grad_weight=True) -> (Tensor grad_input, Tensor grad_weight)",
    "cuda", _run_rms_norm_backward, _make_rms_norm_backward)


def _keep_rms_norm_forward(ctx, inputs, output):
    input, weight, eps = inputs
    out, rstd = output
    ctx.mark_non_differentiable(rstd)
    ctx.save_for_backward(input, weight, rstd)


def _differentiate_rms_norm_forward(ctx, grad_out, grad_rstd):
    input, weight, rstd = ctx.saved_tensors
    grad_input, grad_weight = torch.ops.dsbuild.rms_norm_backward(
        grad_out, input, weight, rstd, with_grad_weight=ctx.needs_input_grad[1],
    )
    return (grad_input, grad_weight if ctx.needs_input_grad[1] else None, None)


differentiate("rms_norm_forward", _differentiate_rms_norm_forward, _keep_rms_norm_forward)
