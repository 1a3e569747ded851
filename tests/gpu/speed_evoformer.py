"""evoformer_attn's errors against float64 and its speed against torch's scaled_dot_product_attention, as Markdown
tables: on stdout, and in $OUT/evoformer.md."""

import os

import evoformer  # exits with 77 where something is missing
from evoformer import Case
from speed import median_ms, short

import torch

FAMILIES = evoformer.families()
ERROR_CASES = [Case(1, 128, 256, 8, 32), Case(1, 64, 384, 4, 32), Case(2, 16, 256, 4, 64), Case(1, 16, 197, 4, 32),
               Case(1, 16, 1, 4, 32, keys=77), Case(1, 16, 197, 4, 48, bias1=False, bias2=False)]
SPEED_CASES = [Case(1, 128, 256, 8, 32), Case(1, 512, 384, 4, 32), Case(1, 384, 384, 4, 32), Case(1, 128, 256, 8, 64),
               Case(1, 128, 197, 8, 32)]


def error_rows():
    for case in ERROR_CASES:
        for family in FAMILIES:
            for dtype in evoformer.dtypes_of(family):
                t = evoformer.random_tensors(case, dtype)
                out, lse = evoformer.forward(t, family)
                wanted_out, _, wanted = evoformer.reference(t)
                grads = evoformer.backward(t, out, lse, family)
                errors = [evoformer.error(out, wanted_out)]
                errors += [None if w is None else evoformer.error(g, w) for g, w in zip(grads, wanted)]
                cells = " | ".join("–" if e is None else f"{e:.1e}" for e in errors)
                yield f"| {case} | {family} | {short(dtype)} | {cells} |"
                torch.cuda.empty_cache()


class Sdpa:
    """torch's attention with the biases as attn_mask, which is made before."""

    def __init__(self, t):
        def heads_first(x):
            return x.detach().flatten(0, 1).transpose(1, 2).requires_grad_()

        self.qkv = [heads_first(x) for x in (t.q, t.k, t.v)]
        self.biases = [x.detach().requires_grad_() for x in (t.bias1, t.bias2)]
        self.mask = (self.biases[0] + self.biases[1]).flatten(0, 1)
        self.grad_out = heads_first(t.grad_out).detach()

    def forward(self, mask=None):
        return torch.nn.functional.scaled_dot_product_attention(
            *self.qkv, attn_mask=self.mask.detach() if mask is None else mask)

    def backward(self, biases):
        """The backward pass alone; with the gradients of the biases, which autograd sums up from the mask's, or not."""
        out = self.forward(self.mask if biases else None)
        wanted = self.qkv + (self.biases if biases else [])
        return lambda: torch.autograd.grad(out, wanted, self.grad_out, retain_graph=True)


def speed_rows():
    for case in SPEED_CASES:
        for dtype in evoformer.dtypes_of(FAMILIES[-1]):
            t = evoformer.random_tensors(case, dtype)
            out, lse = evoformer.forward(t)
            grads = [torch.empty_like(x) for x in t.inputs()]
            scratch, no_bias_gradients = evoformer.scratch_for(t), grads[:3] + [None, None]
            work = {
                "forward": lambda: evoformer.op.evoformer_attn_forward(*t.inputs(), out, lse),
                "backward without bias gradients": lambda: evoformer.op.evoformer_attn_backward(
                    t.grad_out, *t.inputs(), out, lse, *no_bias_gradients, scratch),
                "backward": lambda: evoformer.op.evoformer_attn_backward(t.grad_out, *t.inputs(), out, lse, *grads,
                                                                         scratch),
            }
            own = {name: median_ms(call) for name, call in work.items()}
            sdpa = Sdpa(t)
            with torch.no_grad():
                peer = {"forward": median_ms(sdpa.forward)}
            peer["backward without bias gradients"] = median_ms(sdpa.backward(False))
            peer["backward"] = median_ms(sdpa.backward(True))
            for name in work:
                yield (f"| {case} | {short(dtype)} | {name} | {own[name]:.3f} | {peer[name]:.3f} | "
                       f"{peer[name] / own[name]:.2f} |")
            del sdpa
            torch.cuda.empty_cache()


def main():
    torch.manual_seed(1)
    family = evoformer.op.evoformer_attn_family(torch.zeros(1, device="cuda"))
    lines = []

    def add(*texts):
        for text in texts:
            print(text)
            lines.append(text)

    add("| shape | family | dtype | out | grad_q | grad_k | grad_v | grad_bias1 | grad_bias2 |", "|" + "---|" * 9)
    for text in error_rows():
        add(text)
    add("", f"{torch.cuda.get_device_name()}, torch {torch.__version__}, family {family}.", "",
        "| shape | dtype | pass | ms | SDPA, ms | times as fast |", "|" + "---|" * 6)
    for text in speed_rows():
        add(text)
    if os.environ.get("OUT"):
        with open(os.path.join(os.environ["OUT"], "evoformer.md"), "w") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
