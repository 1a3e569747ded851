"""Small calls of every kernel of rms_norm and layer_norm, for compute-sanitizer (docs/figures/gpu.md)."""

import norms  # exits with 77 where something is missing

import torch

HIDDEN = (1, 40, 200, 1000, 1001, 4096, 8192, 16384, 33000, 65536)  # rows on lanes, on blocks, in memory; odd ones

for norm in norms.both():
    for dtype in norms.DTYPES:
        for hidden in HIDDEN:
            for parameter in (dtype, torch.float32, None):
                inputs = norm.random_inputs(3 if hidden > 1000 else 70, hidden, dtype, (parameter, parameter))
                norm.backward(inputs, *norm.forward(inputs)[1:])
torch.cuda.synchronize()
print("done")
