"""DeepSpeed's own comparisons of its op transformer with BERT in torch, in this process alone: the two files that hold them
start processes, which on the machines tried so far did not end, with dsbuild's op nor with DeepSpeed's own build."""

import importlib
import os
import sys

import pytest
import torch

if not torch.cuda.is_available():
    pytest.skip("the op transformer runs on GPUs alone", allow_module_level=True)
sys.path.insert(0, os.environ["DEEPSPEED_TESTS"])
FORWARD = importlib.import_module("unit.ops.accelerators.test_accelerator_forward")
BACKWARD = importlib.import_module("unit.ops.accelerators.test_accelerator_backward")


def in_this_process(cls, body):
    """A test with the parameters of DeepSpeed's class, without its processes."""
    names, cases = next(mark.args for mark in cls.pytestmark if mark.name == "parametrize")

    @pytest.mark.parametrize("case", cases, ids=lambda case: "-".join(map(str, case)))
    def test(case):
        body(None, **dict(zip(names.split(", "), case)))

    return test


test_forward = in_this_process(FORWARD.TestCUDAForward, FORWARD.TestCUDAForward.test_forward)
test_forward_with_small_batch = in_this_process(FORWARD.TestCUDAForwardSmallBatchSize,
                                                FORWARD.TestCUDAForwardSmallBatchSize.test_forward_with_small_bsz)
test_backward = in_this_process(BACKWARD.TestCUDABackward, BACKWARD.TestCUDABackward.test_backward)
