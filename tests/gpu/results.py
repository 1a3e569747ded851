"""Memory for results, before an op writes to it."""

import torch

# Under a sanitizer it stays uninitialised, so that initcheck sees what is read before it is written.
IS_POISONED = True


def empty(shape, dtype):
    """Poisoned: no right result leaves any of it as it is."""
    if IS_POISONED:
        return torch.full(shape, float("nan"), dtype=dtype, device="cuda")
    return torch.empty(shape, dtype=dtype, device="cuda")
