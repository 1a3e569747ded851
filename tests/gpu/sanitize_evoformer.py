"""Small calls of every kernel of evoformer_attn, for compute-sanitizer (run.sh sanitize)."""

import evoformer  # exits with 77 where something is missing
import results
from evoformer import Case

import torch

results.IS_POISONED = False
for family in evoformer.families():
    for dtype in evoformer.dtypes_of(family):
        for case in (Case(1, 2, 100, 2, 32), Case(1, 2, 77, 1, 64, keys=130), Case(1, 1, 1, 1, 24, bias1=False)):
            tensors = evoformer.random_tensors(case, dtype)
            evoformer.backward(tensors, *evoformer.forward(tensors, family), family)
torch.cuda.synchronize()
print("done")
