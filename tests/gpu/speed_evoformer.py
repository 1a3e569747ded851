"""evoformer_attn's errors against float64 and its speed against torch's scaled_dot_product_attention."""

import evoformer  # exits with 77 where something is missing
import figures
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
                yield {"shape": str(case), "family": family, "dtype": short(dtype), **dict(zip(figures.GRADIENTS, errors))}
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
                yield {"call": f"evoformer_attn {name}", "size": f"{case} {short(dtype)}", "ms": own[name], "peer": "SDPA",
                       "peer_ms": peer[name], "shape": str(case), "dtype": short(dtype), "pass": name}
            del sdpa
            torch.cuda.empty_cache()


def main():
    torch.manual_seed(1)
    family = evoformer.op.evoformer_attn_family(torch.zeros(1, device="cuda"))
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, family {family}.\n")
    with figures.table("evoformer_errors") as table:
        for row in error_rows():
            table.add(**row)
    with figures.table("evoformer_speed", family=family) as table:
        for row in speed_rows():
            table.add_speed(**row)


if __name__ == "__main__":
    main()
