"""Speed of the bundle's CPU optimisers against torch's own, on one and on all cores. Ratios are of medians of calls that take
turns.

  DSBUILD_BUNDLE=DIR  as the tests take it
  ELEMENTS=NUMBER     of all parameters together     (default: 16777216)
"""

import json
import os
import statistics
import subprocess
import sys
import time

import figures
import support  # exits with 77 where something is missing

try:
    import torch
except ImportError:
    support.skip("torch is not installed")

import adagrad_reference
import adam_reference
import lion_reference

WARM_UP, SAMPLES = 3, 15
ELEMENTS = int(os.environ.get("ELEMENTS", 2**24))
SIZES = {"one tensor": 1, "256 tensors": 256}


def with_grads(state):
    params = [torch.nn.Parameter(p.clone()) for p in state[0]]
    for param, grad in zip(params, state[1]):
        param.grad = grad.clone()
    return params


def torch_adamw(state):
    return torch.optim.AdamW(with_grads(state), lr=1e-6, fused=True).step


def torch_adagrad(state):
    return torch.optim.Adagrad(with_grads(state), lr=1e-6, weight_decay=0.01, fused=True).step


def lion(params, grads, moments):
    directions = torch._foreach_mul(moments, 0.9)
    torch._foreach_add_(directions, grads, alpha=0.1)
    torch._foreach_mul_(params, 1 - 1e-8)
    torch._foreach_add_(params, torch._foreach_sign(directions), alpha=-1e-6)
    torch._foreach_mul_(moments, 0.99)
    torch._foreach_add_(moments, grads, alpha=0.01)


compiled_lion = torch.compile(lion, dynamic=False)


def torch_lion(state):
    own = [[t.clone() for t in tensors] for tensors in state]
    return lambda: (compiled_lion if len(state[0]) == 1 else lion)(*own)


CASES = {  # op: (states, options, name of the peer for a number of tensors, its work)
    "cpu_adam": (2, adam_reference.Options(lr=1e-6, weight_decay=0.01), lambda count: "torch.optim.AdamW(fused=True)", torch_adamw),
    "cpu_adagrad": (1, adagrad_reference.Options(lr=1e-6, weight_decay=0.01), lambda count: "torch.optim.Adagrad(fused=True)",
                    torch_adagrad),
    # torch.compile takes minutes for many tensors.
    "cpu_lion": (1, lion_reference.Options(lr=1e-6, weight_decay=0.01),
                 lambda count: "torch.compile" if count == 1 else "torch._foreach", torch_lion)}


def medians_ms(works):
    """Of each, by turns."""
    times = [[] for _ in works]
    for number in range(WARM_UP + SAMPLES):
        for work, own in zip(works, times):
            begin = time.perf_counter()
            work()
            if number >= WARM_UP:
                own.append((time.perf_counter() - begin) * 1e3)
    return [statistics.median(own) for own in times]


def one_state(states, count):
    shapes = [ELEMENTS // count] * count
    return [[torch.randn(s) for s in shapes], [torch.randn(s) for s in shapes], *([torch.zeros(s) for s in shapes] for _ in range(states))]


def measure():
    for name, (states, options, peer, torchs) in CASES.items():
        step = getattr(support.load_op(name), f"{name}_step")
        for size, count in SIZES.items():
            state = one_state(states, count)
            arguments = options.arguments()
            own, other = medians_ms([lambda: step(*state, *arguments), torchs(state)])
            yield [name, size, own, peer(count), other]


READY = "ready"


def measure_when_asked(threads):
    """Compiles first, which takes most of the time; then waits for a line, or for the end of the process that would type it."""
    torch.set_num_threads(threads)
    compiled_lion(*one_state(1, 1))
    print(READY, flush=True)
    if sys.stdin.readline():
        print(json.dumps(list(measure())))


class Measurement:
    """In a process of its own: OpenMP takes its number of threads once."""

    def __init__(self, threads):
        self.threads = threads
        self._process = subprocess.Popen([sys.executable, __file__, "--measure", str(threads)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})

    def get_ready(self):
        for line in self._process.stdout:
            if line.strip() == READY:
                return
        self._give_up()

    def rows(self):
        output, _ = self._process.communicate("go\n")
        if self._process.returncode != 0:
            self._give_up()
        return json.loads(output.splitlines()[-1])

    def _give_up(self):
        sys.exit(f"measuring on {self.threads} threads ended with exit code {self._process.wait()}")


def main():
    cores = len(os.sched_getaffinity(0))
    isa = support.load_op("cpu_adam").cpu_adam_isa()
    print(f"torch {torch.__version__}, {cores} cores, {isa}: medians of {SAMPLES} calls over {ELEMENTS} float32 parameters.\n")
    with figures.table("cpu_optimizers", instructions=isa, parameters=ELEMENTS) as table:
        measurements = [Measurement(threads) for threads in sorted({1, cores})]
        for measurement in measurements:
            measurement.get_ready()
        for measurement in measurements:
            used = measurement.threads
            for name, size, own, peer, other in measurement.rows():
                table.add_speed(f"{name}_step", f"{size}, {used} threads", own, peer, other, tensors=size, threads=used)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure_when_asked(int(sys.argv[2]))
    else:
        main()
