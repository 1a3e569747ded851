"""Small steps of every kernel of the fused optimisers, for compute-sanitizer (run.sh sanitize): each pair of dtypes, whole blocks and
the rest of one, arrays at any address, options as numbers and in tensors."""

import dataclasses

import fused_optimizer_cases as cases  # exits with 77 where something is missing
import test_fused_adam
import test_fused_lamb
import test_fused_lion

import torch


def uninitialised_scratch(op, params):
    """So that initcheck sees what is read before it is written."""
    return torch.empty(op.fused_lamb_scratch(params), device="cuda")


LAMB = dataclasses.replace(test_fused_lamb.SPEC, scratch=uninitialised_scratch)
SHAPES = [(cases.BLOCK,), (2 * cases.BLOCK + 5,), (7,)]


def options_of(spec):
    yield spec.reference.Options()
    late = {"lr": torch.full((), 1e-3, device="cuda")}
    if spec.has_step:
        late["step"] = torch.ones((), device="cuda")
    yield spec.reference.Options(**late)


def main():
    for spec in (test_fused_adam.SPEC, LAMB, test_fused_lion.SPEC):
        for param_dtype, grad_dtype in cases.DTYPES:
            for offset in (0, 1):
                for options in options_of(spec):
                    spec.step(spec.random_state(SHAPES, param_dtype, grad_dtype, offset), options)
    torch.cuda.synchronize()
    print("done")


if __name__ == "__main__":
    main()
