"""speed.py [optimizers|quantizers]...: speed of the bundle's CUDA ops against torch on the same GPU. Without words: both tables."""

import statistics
import sys

import figures
import support  # exits with 77 where something is missing
import adam_reference
import lamb_reference
import lion_reference

import torch

WARM_UP, SAMPLES = 5, 30


def median_ms(work, before=lambda: None):
    """Time on the GPU of one call, launch gaps between its kernels included; `before` is called before each."""
    for _ in range(WARM_UP):
        work()
    times = []
    for _ in range(SAMPLES):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        before()
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def row(name, size, own_ms, peer, peer_ms, own_bytes):
    return {"call": name, "size": size, "ms": own_ms, "peer": peer, "peer_ms": peer_ms, "bytes": own_bytes}


def gpt2_shapes():
    """The 148 parameters of GPT-2's smallest model (124 million numbers)."""
    layer = [(768,), (768,), (768, 2304), (2304,), (768, 768), (768,), (768,), (768,), (768, 3072), (3072,),
             (3072, 768), (768,)]
    return [(50257, 768), (1024, 768)] + layer * 12 + [(768,), (768,)]


STEP_CASES = [("one tensor of 268 M", [(2**28,)]), ("GPT-2, 148 tensors, 124 M", gpt2_shapes()),
              ("2,000 tensors of 16 K", [(16384,)] * 2000)]
STEP_DTYPES = ((torch.float32, torch.float32), (torch.float32, torch.bfloat16), (torch.bfloat16, torch.bfloat16))
MOST_COMPILED = 200  # tensors: of more, torch.compile takes minutes


def step_state(shapes, param_dtype, grad_dtype, states):
    params, grads = ([torch.randn(s, device="cuda").to(dtype) for s in shapes] for dtype in (param_dtype, grad_dtype))
    return [params, grads, *([torch.zeros(s, device="cuda") for s in shapes] for _ in range(states))]


def step_rows(name, states, call, moved, peers):
    """Rows of one optimiser. call(state): a step; moved(param bytes, grad bytes): bytes per element; peers(state):
    (name, work) of what does the same on float32."""
    for size, shapes in STEP_CASES:
        for param_dtype, grad_dtype in STEP_DTYPES:
            state = step_state(shapes, param_dtype, grad_dtype, states)
            own = median_ms(call(state))
            own_bytes = sum(p.numel() for p in state[0]) * moved(param_dtype.itemsize, grad_dtype.itemsize)
            title = f"{name} {short(param_dtype)}, gradients {short(grad_dtype)}"
            if param_dtype == grad_dtype == torch.float32:
                for peer, work in peers(state):
                    yield row(title, size, own, peer, median_ms(work), own_bytes)
            else:
                yield row(title, size, own, "none alike", None, own_bytes)
            del state
            torch.cuda.empty_cache()


def torch_adamw(state):
    """torch's fused AdamW on the same parameters and gradients. Its moments have the parameters' dtype."""
    params = [torch.nn.Parameter(p) for p in state[0]]
    for param, grad in zip(params, state[1]):
        param.grad = grad
    yield "torch.optim.AdamW(fused=True)", torch.optim.AdamW(params, lr=1e-6, fused=True).step


def adam_rows(op):
    arguments = adam_reference.Options(lr=1e-6, weight_decay=0.01).arguments()
    yield from step_rows("fused_adam_step", 2, lambda state: lambda: op.fused_adam_step(*state, *arguments),
                         lambda param, grad: 2 * param + grad + 16, torch_adamw)
    lr, step = torch.full((), 1e-6, device="cuda"), torch.ones((), device="cuda")
    late = adam_reference.Options(lr=lr, step=step, weight_decay=0.01).arguments()
    yield from step_rows("fused_adam_step, lr and step tensors,", 2, lambda state: lambda: op.fused_adam_step(*state, *late),
                         lambda param, grad: 2 * param + grad + 16, torch_adamw)


def peers_of_lists(function, state):
    """torch's _foreach functions, and torch.compile of them where the lists are short."""
    compiled = peers_of(function, *state)
    yield next(compiled)
    if len(state[0]) <= MOST_COMPILED:
        yield from compiled


def torch_lion(params, grads, moments, o=lion_reference.Options(lr=1e-6, weight_decay=0.01)):
    directions = torch._foreach_mul(moments, o.beta1)
    torch._foreach_add_(directions, grads, alpha=1 - o.beta1)
    torch._foreach_mul_(params, 1 - o.lr * o.weight_decay)
    torch._foreach_add_(params, torch._foreach_sign(directions), alpha=-o.lr)
    torch._foreach_mul_(moments, o.beta2)
    torch._foreach_add_(moments, grads, alpha=1 - o.beta2)


def lion_rows(op):
    arguments = lion_reference.Options(lr=1e-6, weight_decay=0.01).arguments()
    yield from step_rows("fused_lion_step", 1, lambda state: lambda: op.fused_lion_step(*state, *arguments),
                         lambda param, grad: 2 * param + grad + 8, lambda state: peers_of_lists(torch_lion, state))


def torch_lamb(params, grads, exp_avgs, exp_avg_sqs, o=lamb_reference.Options(lr=1e-6, weight_decay=0.01)):
    torch._foreach_lerp_(exp_avgs, grads, 1 - o.beta1)
    torch._foreach_mul_(exp_avg_sqs, o.beta2)
    torch._foreach_addcmul_(exp_avg_sqs, grads, grads, value=1 - o.beta2)
    roots = torch._foreach_sqrt(exp_avg_sqs)
    torch._foreach_add_(roots, o.eps)
    updates = torch._foreach_div(exp_avgs, roots)
    torch._foreach_add_(updates, params, alpha=o.weight_decay)
    param_norms, update_norms = torch._foreach_norm(params), torch._foreach_norm(updates)
    rate = -lamb_reference.corrected_lr(o)
    rates = [torch.where((p == 0) | (u == 0), 1.0, (p / u).clamp(o.min_coeff, o.max_coeff)) * rate
             for p, u in zip(param_norms, update_norms)]
    torch._foreach_mul_(updates, rates)
    torch._foreach_add_(params, updates)


def lamb_rows(op):
    arguments = lamb_reference.Options(lr=1e-6, weight_decay=0.01).arguments()

    def call(state):
        scratch = torch.empty(op.fused_lamb_scratch(state[0]), device="cuda")
        return lambda: op.fused_lamb_step(*state, scratch, *arguments)

    yield from step_rows("fused_lamb_step", 2, call, lambda param, grad: 3 * param + grad + 24,
                         lambda state: peers_of_lists(torch_lamb, state))


def torch_quantize(values, group_size):
    groups = values.view(-1, group_size).float()
    largest = groups.abs().amax(1, keepdim=True)
    scales = torch.where(largest > 0, largest / 448.0, 1.0)
    return (groups * (1 / scales)).clamp(-448, 448).to(torch.float8_e4m3fn), scales


def torch_dequantize(codes, scales, group_size, dtype):
    return (codes.view(-1, group_size).float() * scales.view(-1, 1)).to(dtype)


def functions_of(function, *arguments):
    """The function and, where that works, what torch.compile makes of it."""
    yield "torch", function
    compiled = torch.compile(function, dynamic=False)
    try:
        compiled(*arguments)
    except Exception as error:  # torch.compile needs Triton and a compiler that work
        print(f"torch.compile is not compared: {str(error).splitlines()[0]}")
        return
    yield figures.COMPILED, compiled


def peers_of(function, *arguments):
    for name, one in functions_of(function, *arguments):
        yield name, lambda one=one: one(*arguments)


def fp_quantizer_rows(op):
    count = 2**28
    for dtype in (torch.bfloat16, torch.float32):
        for group_size in (128, 2048):
            values = torch.randn(count, device="cuda").to(dtype)
            codes = torch.empty(count, dtype=torch.uint8, device="cuda")
            scales = torch.empty(count // group_size, device="cuda")
            back = torch.empty_like(values)
            moved = count * (dtype.itemsize + 1) + scales.numel() * 4
            size = f"268 M {short(dtype)}, groups of {group_size}"
            own = median_ms(lambda: op.fp_quantize(values, codes, scales, group_size, "e4m3"))
            for peer, work in peers_of(torch_quantize, values, group_size):
                yield row("fp_quantize e4m3", size, own, peer, median_ms(work), moved)
            own = median_ms(lambda: op.fp_dequantize(codes, scales, back, group_size, "e4m3"))
            fp8 = codes.view(torch.float8_e4m3fn)
            for peer, work in peers_of(torch_dequantize, fp8, scales, group_size, dtype):
                yield row("fp_dequantize e4m3", size, own, peer, median_ms(work), moved)
            torch.cuda.empty_cache()


def torch_quantize_integers(values, group_size, bits):
    groups = values.view(-1, group_size).float()
    largest, top = groups.abs().amax(1, keepdim=True), 2**(bits - 1) - 1
    scales = torch.where(largest > 0, largest / top, 1.0)
    codes = (groups * (1 / scales)).round().clamp(-top, top).to(torch.int8)
    return (codes if bits == 8 else packed(codes)), scales


def torch_quantize_with_offsets(values, group_size, bits):
    groups = values.view(-1, group_size).float()
    low, high = groups.aminmax(dim=1, keepdim=True)
    scales = torch.where(high > low, (high - low) / (2**bits - 1), 1.0)
    codes = ((groups - low) * (1 / scales)).round().clamp(0, 2**bits - 1).to(torch.uint8)
    return (codes if bits == 8 else packed(codes)), scales, low


def packed(codes):
    pairs = codes.view(torch.uint8).view(codes.shape[0], -1, 2)
    return (pairs[..., 0] & 15) | (pairs[..., 1] << 4)


def unpacked(codes, bits, signed):
    if bits == 8:
        return codes
    pairs = torch.stack([codes & 15, codes >> 4], -1)
    return (pairs ^ 8).to(torch.int8) - 8 if signed else pairs


def torch_dequantize_integers(codes, scales, group_size, bits, dtype):
    return (unpacked(codes, bits, True).view(-1, group_size).float() * scales.view(-1, 1)).to(dtype)


def torch_dequantize_with_offsets(codes, scales, offsets, group_size, bits, dtype):
    floats = unpacked(codes, bits, False).view(-1, group_size).float()
    return (floats * scales.view(-1, 1) + offsets.view(-1, 1)).to(dtype)


def quantizer_rows(op):
    count = 2**28
    for dtype in (torch.bfloat16, torch.float32):
        for bits, group_size in ((8, 128), (8, 2048), (4, 128)):
            values = torch.randn(count, device="cuda").to(dtype)
            codes = torch.empty(count * bits // 8, dtype=torch.uint8, device="cuda")
            signed = codes.view(torch.int8) if bits == 8 else codes
            scales, offsets = (torch.empty(count // group_size, device="cuda") for _ in range(2))
            back = torch.empty_like(values)
            size = f"268 M {short(dtype)}, groups of {group_size}"
            moved = values.nbytes + codes.nbytes + scales.nbytes
            calls = [
                ("quantize_symmetric", moved, (values, signed, scales), torch_quantize_integers,
                 (values, group_size, bits)),
                ("dequantize_symmetric", moved, (signed, scales, back), torch_dequantize_integers,
                 (signed, scales, group_size, bits, dtype)),
                ("quantize_asymmetric", moved + offsets.nbytes, (values, codes, scales, offsets),
                 torch_quantize_with_offsets, (values, group_size, bits)),
                ("dequantize_asymmetric", moved + offsets.nbytes, (codes, scales, offsets, back),
                 torch_dequantize_with_offsets, (codes, scales, offsets, group_size, bits, dtype))]
            for name, own_bytes, tensors, peer_function, peer_arguments in calls:
                own = median_ms(lambda name=name, tensors=tensors: getattr(op, name)(*tensors, group_size, bits))
                for peer, work in peers_of(peer_function, *peer_arguments):
                    yield row(f"{name} int{bits}", size, own, peer, median_ms(work), own_bytes)
            torch.cuda.empty_cache()


def short(dtype):
    return str(dtype).removeprefix("torch.")


def copy_row():
    source = torch.randn(2**28, device="cuda")
    target = torch.empty_like(source)
    own = median_ms(lambda: target.copy_(source))
    return row("(a device-to-device copy)", "268 M float32", own, None, None, 8 * 2**28)


def optimizer_rows():
    yield copy_row()
    for name, rows in (("fused_adam", adam_rows), ("fused_lion", lion_rows), ("fused_lamb", lamb_rows)):
        yield from rows(support.load_op(name))


def all_quantizer_rows():
    yield from fp_quantizer_rows(support.load_op("fp_quantizer"))
    yield from quantizer_rows(support.load_op("quantizer"))


ROWS = {"optimizers": optimizer_rows, "quantizers": all_quantizer_rows}


def main():
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: medians of {SAMPLES} calls.\n")
    for name in sys.argv[1:] or ROWS:
        with figures.table(name) as table:
            for own in ROWS[name]():
                table.add_speed(**own)


if __name__ == "__main__":
    main()
