"""sanitize_norm.py [rms_norm|layer_norm]...: small calls of every kernel of the norms, for compute-sanitizer (run.sh sanitize)."""

import sys

import norms  # exits with 77 where something is missing
import results

import torch

results.IS_POISONED = False
# Rows on lanes, on blocks, on clusters, in memory; odd ones.
HIDDEN = (1, 8, 40, 64, 128, 200, 320, 1000, 1001, 4096, 8192, 16384, 33000, 65536)
# So many rows that each block or cluster has several.
MANY = ((40_000, 64), (3000, 1024), (600, 8192), (300, 16384))


def call(norm, rows, hidden, dtype, parameter):
    inputs = norm.random_inputs(rows, hidden, dtype, (parameter, parameter))
    norm.backward(inputs, *norm.forward(inputs)[1:])


for name in sys.argv[1:] or ("rms_norm", "layer_norm"):
    tested = norms.Norm(name)
    for dtype in norms.DTYPES:
        for hidden in HIDDEN:
            for parameter in (dtype, torch.float32, None):
                call(tested, 3 if hidden > 1000 else 70, hidden, dtype, parameter)
    for rows, hidden in MANY:
        call(tested, rows, hidden, torch.bfloat16, torch.bfloat16)
torch.cuda.synchronize()
print("done")
