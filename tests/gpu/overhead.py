"""What calling a torch operator costs the host beside the tvm-ffi function below it, with the same allocations."""

import statistics
import time

import figures
import support  # exits with 77 where something is missing

import torch

import dsbuild.torch  # noqa: F401  registers the operators

CALLS, ROUNDS = 2000, 9


def microseconds(work):
    """Host time of a call."""
    times = []
    for number in range(ROUNDS + 1):  # the first warms up
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(CALLS):
            work()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / CALLS * 1e6)
    return statistics.median(times[1:])


def quantize_calls():
    op, values = support.load_op("fp_quantizer"), torch.randn(64, 64, device="cuda")

    def function():
        op.fp_quantize(values, torch.empty(64, 64, dtype=torch.uint8, device="cuda"), torch.empty(64, device="cuda"), 64, "e4m3")
    return function, lambda: torch.ops.dsbuild.fp_quantize.default(values, 64, "e4m3")


def norm_calls():
    op, values, weight = support.load_op("rms_norm"), torch.randn(64, 64, device="cuda"), torch.ones(64, device="cuda")

    def function():
        op.rms_norm_forward(values, weight, torch.empty_like(values), torch.empty(64, device="cuda"), 1e-5)
    return function, lambda: torch.ops.dsbuild.rms_norm_forward.default(values, weight, 1e-5)


def adam_calls():
    op, lists = support.load_op("fused_adam"), [[torch.rand(64, device="cuda") for _ in range(2)] for _ in range(4)]
    options = (1e-3, 0.9, 0.999, 1e-8, 1, True, True, 0.01, 1.0)
    return lambda: op.fused_adam_step(*lists, *options), lambda: torch.ops.dsbuild.fused_adam_step.default(*lists, *options)


def main():
    with figures.table("overhead") as table:
        for name, calls in (("fp_quantize", quantize_calls()), ("rms_norm_forward, which has a gradient", norm_calls()),
                            ("fused_adam_step on two tensors", adam_calls())):
            function, operator = map(microseconds, calls)
            table.add(call=name, function_us=function, operator_us=operator, difference_us=operator - function)


if __name__ == "__main__":
    main()
