"""sanitize_norm.py [rms_norm|layer_norm]...: small calls of every kernel of the norms, for compute-sanitizer (run.sh sanitize)."""

import sys

import norms  # exits with 77 where something is missing

import torch


def uninitialised(shape, dtype):
    """So that initcheck sees what is read before it is written."""
    return torch.empty(shape, dtype=dtype, device="cuda")


norms.poisoned = uninitialised
# Rows on lanes, on blocks, on clusters, in memory; odd ones.
HIDDEN = (1, 8, 40, 64, 128, 200, 320, 1000, 1001, 4096, 8192, 16384, 33000, 65536)

for name in sys.argv[1:] or ("rms_norm", "layer_norm"):
    norm = norms.Norm(name)
    for dtype in norms.DTYPES:
        for hidden in HIDDEN:
            for parameter in (dtype, torch.float32, None):
                inputs = norm.random_inputs(3 if hidden > 1000 else 70, hidden, dtype, (parameter, parameter))
                norm.backward(inputs, *norm.forward(inputs)[1:])
torch.cuda.synchronize()
print("done")
