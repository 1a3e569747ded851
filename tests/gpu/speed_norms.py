"""speed_norms.py: speed of rms_norm and layer_norm against torch and a copy on the same GPU, rows of 64 to 32,768 elements."""

import os
import subprocess
import sys

import figures
import norms  # exits with 77 where something is missing
from speed import SAMPLES, functions_of, median_ms, row, short

import torch
import torch._dynamo
import torch._functorch.config

TENSOR_BYTES = 2**26
COMPILERS = min(8, len(os.sched_getaffinity(0)) // 2)  # torch.compile takes seconds for a case: they fill its cache together


def cases():
    """(norm, rows, hidden, dtype)"""
    for norm in norms.both():
        for hidden in (2**power for power in range(6, 16)):
            for dtype in norms.DTYPES:
                yield norm, TENSOR_BYTES // hidden // dtype.itemsize, hidden, dtype
        yield norm, 524288, 128, torch.float16
        yield norm, 65536, 4096, torch.bfloat16


def queued_ms(work):
    """Time on the GPU without the host's: it is kept busy first, until all launches of the call are in its queue."""
    return median_ms(work, lambda: torch.cuda._sleep(2_000_000))


def copy_ms(moved):
    """Of a copy that reads and writes so many bytes together."""
    source = torch.ones(moved // 2, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return queued_ms(lambda: target.copy_(source))


def norm_calls(norm, inputs):
    """("forward" or "backward", its arguments, bytes that must be moved)"""
    forward = norm.forward_arguments(inputs)
    norm.forward_call(*forward)
    statistics = (forward[-3 if norm.centred else -2], forward[-2])
    parameters = sum(t.nbytes for t in (inputs.weight, inputs.bias) if t is not None)
    common = parameters + statistics[1].nbytes * (2 if norm.centred else 1)
    yield "forward", forward, 2 * inputs.x.nbytes + common
    yield "backward", norm.backward_arguments(inputs, *statistics), 3 * inputs.x.nbytes + common + parameters


def torch_norm(norm, hidden):
    function = torch.nn.functional.layer_norm if norm.centred else torch.nn.functional.rms_norm
    return lambda x, *parameters: function(x, (hidden,), *parameters, eps=1e-5)


def inputs_of(norm, rows, hidden, dtype):
    return norm.random_inputs(rows, hidden, dtype, (dtype, dtype))


class Passes:
    """Of torch's function: the forward pass; that pass for training, which saves what a backward pass needs; the backward pass."""

    def __init__(self, function, given, grad_out):
        leaves = [t.detach().requires_grad_() for t in given]
        out = function(*leaves)
        self.forward = lambda: function(*given)
        self.training = lambda: function(*leaves)
        self.backward = lambda: torch.autograd.grad(out, leaves, grad_out, retain_graph=True)


def peers_of(norm, inputs, hidden):
    """The passes by name."""
    torch._dynamo.reset()  # it compiles one function for a few shapes only
    given = [t for t in (inputs.x, inputs.weight, inputs.bias) if t is not None]
    return {name: Passes(function, given, inputs.grad_out) for name, function in functions_of(torch_norm(norm, hidden), *given)}


def passes_of(part, peers):
    """(name, work) that is compared with this part of ours. Ours always saves what a backward pass needs, and so does torch's."""
    for name, passes in peers.items():
        yield name, getattr(passes, part)
        if part == "forward" and name == figures.COMPILED:
            yield figures.TRAINING, passes.training


def rows_of(norm, rows, hidden, dtype):
    inputs = inputs_of(norm, rows, hidden, dtype)
    peers = peers_of(norm, inputs, hidden)
    for part, arguments, moved in norm_calls(norm, inputs):
        call = f"{norm.name}_{part}", f"{rows} rows of {hidden} {short(dtype)}"
        own = queued_ms(lambda: getattr(norm, f"{part}_call")(*arguments))
        yield row(*call, own, figures.COPY, copy_ms(moved), moved)
        for name, work in passes_of(part, peers):
            yield row(*call, own, name, queued_ms(work), moved)


def fill_cache(number):
    """Compiles each COMPILERS-th case, so that torch.compile finds its code later."""
    for case in list(cases())[number::COMPILERS]:
        for passes in peers_of(case[0], inputs_of(*case), case[2]).values():
            for work in (passes.forward, passes.training, passes.backward):
                work()


def main():
    torch._functorch.config.donated_buffer = False  # a compiled backward pass runs more than once here
    if sys.argv[1:]:
        fill_cache(int(sys.argv[1]))
        return
    compilers = [subprocess.Popen([sys.executable, __file__, str(number)]) for number in range(COMPILERS)]
    failed = sum(compiler.wait() != 0 for compiler in compilers)
    if failed:
        print(f"{failed} of {COMPILERS} compilers failed: this process compiles their cases, which takes longer.")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: medians of {SAMPLES} calls.\n")
    with figures.table("norms") as table:
        for case in cases():
            for own in rows_of(*case):
                table.add_speed(**own)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
