"""fp8_linear's errors against float64 and its speed against torch.

Times are medians of runs that take turns (own, torch's, own, …). The products with their scaling work are captured in a CUDA
graph each, so that what is compared is the GPU's work; layers run as they are.
"""

import pathlib
import statistics
import sys

import figures
import support  # exits with 77 where something is missing
import fp8_reference as reference

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

op = support.load_op("fp8_linear")

from dsbuild import nn  # noqa: E402
from dsbuild.fp8 import Fp8Recipe  # noqa: E402

SIZES = (1024, 2048, 4096, 8192)
WARM_UP, SAMPLES = 3, 30
FAILED = []


def times_of(works, samples=SAMPLES):
    """{name: median ms}, the works taking turns."""
    times = {name: [] for name in works}
    for number in range(WARM_UP + samples):
        for name, work in works.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            start.record()
            work()
            end.record()
            torch.cuda.synchronize()
            if number >= WARM_UP:
                times[name].append(start.elapsed_time(end))
    return {name: statistics.median(of_work) for name, of_work in times.items()}


def graphed(work):
    """The work as one replay of a graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


def add_rated(table, call, size, own, peer, peer_ms, least, **more):
    """Adds the row, and notes whether that is fast enough."""
    times = table.add_speed(call, size, own, peer, peer_ms, least=least, **more)
    if least and times < least:
        FAILED.append(f"{size} {call}: {times:.2f}, at least {least}")


# ---- errors


def add_errors(table):
    torch.manual_seed(1)
    for m, n, k in ((512, 512, 512), (512, 512, 4096), (512, 512, 16384), (1000, 777, 333)):
        for a_form, b_form in (("e4m3", "e4m3"), ("e5m2", "e4m3")):
            a, b = (torch.randn(size, k, device="cuda") for size in (m, n))
            scales = reference.scale_of(a, a_form), reference.scale_of(b, b_form)
            codes = reference.quantize(a, scales[0], a_form), reference.quantize(b, scales[1], b_form)
            exact, of_codes = a.double() @ b.double().t(), reference.product(*codes, *scales, None, a_form, b_form)
            room = torch.empty(op.fp8_linear_workspace(*codes), dtype=torch.uint8, device="cuda")
            for dtype in (torch.bfloat16, torch.float16, torch.float32):
                for split in (False, True):
                    out = torch.empty(m, n, dtype=dtype, device="cuda")
                    op.fp8_linear_matmul(*codes, *scales, None, out, room, a_form, b_form, split)
                    errors = [((out.double() - wanted).norm() / wanted.norm()).item() for wanted in (of_codes, exact)]
                    table.add(size=f"{m} × {n} × {k}", formats=f"{a_form} × {b_form}", dtype=str(dtype).removeprefix("torch."),
                              accumulators="split" if split else "fast", of_codes=errors[0], of_values=errors[1])


# ---- products


def torch_current(x):
    """(codes, scale): the scale of the tensor's own largest magnitude."""
    scale = (x.abs().amax().float() / 448.0).clamp(min=1e-12)
    return (x.float() * (1 / scale)).clamp(-448, 448).to(torch.float8_e4m3fn), scale


def torch_delayed(x, scale, amax):
    """(codes, amax): with a scale that is there already."""
    return ((x.float() * (1 / scale)).clamp(-448, 448).to(torch.float8_e4m3fn),
            torch.maximum(amax, x.abs().amax().float()))


class Case:
    """a [n, n] and b [n, n] of bfloat16, with room for what both sides write."""

    def __init__(self, size):
        self.a, self.b = (torch.randn(size, size, device="cuda").to(torch.bfloat16) for _ in range(2))
        self.out = torch.empty(size, size, dtype=torch.bfloat16, device="cuda")
        self.codes = [torch.empty(size, size, dtype=torch.uint8, device="cuda") for _ in range(2)]
        self.scales = [reference.scale_of(x, "e4m3") for x in (self.a, self.b)]
        self.history, self.scratch = torch.zeros(16, 2, device="cuda"), torch.empty(1024, device="cuda")
        self.amax = [torch.zeros((), device="cuda") for _ in range(2)]
        for x, scale, codes in zip((self.a, self.b), self.scales, self.codes):
            op.fp8_quantize(x, scale, codes, "e4m3")
        self.fp8 = [codes.view(torch.float8_e4m3fn) for codes in self.codes]
        self.room = torch.empty(op.fp8_linear_workspace(*self.codes), dtype=torch.uint8, device="cuda")

    def own_product(self):
        op.fp8_linear_matmul(*self.codes, *self.scales, None, self.out, self.room)

    def own_current(self):
        for x, scale, codes in zip((self.a, self.b), self.scales, self.codes):
            op.fp8_quantize_current(x, scale, self.scratch, codes, "e4m3")
        self.own_product()

    def own_delayed(self):
        for slot, (x, scale, codes) in enumerate(zip((self.a, self.b), self.scales, self.codes)):
            op.fp8_quantize_delayed(x, scale, self.history, slot, codes, "e4m3")
        self.own_product()

    def torch_product(self):
        return torch._scaled_mm(self.fp8[0], self.fp8[1].t(), *self.scales, out_dtype=torch.bfloat16, use_fast_accum=True)

    def bfloat16_product(self):
        return torch.mm(self.a, self.b.t())

    def torch_with(self, quantise):
        (a, a_scale), (b, b_scale) = quantise()
        return torch._scaled_mm(a, b.t(), a_scale.view(1), b_scale.view(1), out_dtype=torch.bfloat16, use_fast_accum=True)


def works_of(case, current, delayed):
    """[(what, own work, what it is compared with, that work)]; `current`, `delayed`: torch's quantisation."""

    def torch_current_work():
        case.torch_with(lambda: (current(case.a), current(case.b)))

    def torch_delayed_work():
        pairs = []
        for x, scale, amax in zip((case.a, case.b), case.scales, case.amax):
            codes, new_amax = delayed(x, scale, amax)
            amax.copy_(new_amax)
            pairs.append((codes, scale))
        case.torch_with(lambda: pairs)

    return [("product, scales given", case.own_product, "torch._scaled_mm", case.torch_product),
            ("current scaling and product", case.own_current, "torch.compile and _scaled_mm", torch_current_work),
            ("delayed scaling and product", case.own_delayed, "torch.compile and _scaled_mm", torch_delayed_work),
            ("product against bfloat16", case.own_product, "torch.mm bfloat16", case.bfloat16_product)]


def add_products(table):
    current, delayed = (torch.compile(function, dynamic=False) for function in (torch_current, torch_delayed))
    for size in SIZES:
        for name, own, peer_name, peer in works_of(Case(size), current, delayed):
            ms = times_of({"own": graphed(own), "peer": graphed(peer)})
            least = 0.97 if "bfloat16" not in name else 1.6 if size == 8192 else None
            add_rated(table, name, size, ms["own"], peer_name, ms["peer"], least, tflops=2 * size**3 / ms["own"] / 1e9)
        torch.cuda.empty_cache()


# ---- layers


def trained(layer, x, grad):
    def work():
        for parameter in layer.parameters():
            parameter.grad = None
        x.grad = None
        layer(x).backward(grad)

    return work


def add_layers(table):
    for size in (4096, 8192):
        x, grad = (torch.randn(size, size, device="cuda").to(torch.bfloat16) for _ in range(2))
        x.requires_grad_()
        plain = torch.nn.Linear(size, size, dtype=torch.bfloat16, device="cuda")
        works = {"plain": trained(plain, x, grad)}
        for scaling in ("delayed", "current"):
            layer = nn.Fp8Linear(size, size, dtype=torch.bfloat16, device="cuda", recipe=Fp8Recipe(scaling=scaling))
            works[scaling] = trained(layer, x, grad)
        ms = times_of(works)
        for scaling, least in (("delayed", 1.25), ("current", 1.1)):
            add_rated(table, f"Fp8Linear, {scaling} scaling", size, ms[scaling], "torch.nn.Linear bfloat16", ms["plain"],
                      least if size == 8192 else None, scaling=scaling)
        torch.cuda.empty_cache()


def main():
    cublaslt = op.fp8_linear_cublaslt().split()[0]
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, cuBLASLt {cublaslt}: medians of {SAMPLES} runs that take turns.\n")
    for name, add_rows in (("fp8_products", add_products), ("fp8_layers", add_layers), ("fp8_errors", add_errors)):
        with figures.table(name, cuBLASLt=cublaslt) as table:
            add_rows(table)
    if FAILED:
        sys.exit("not as fast as wanted: " + "; ".join(FAILED))


if __name__ == "__main__":
    main()
