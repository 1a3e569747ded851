"""What DeepSpeed's own builders pass to hipcc beside a torch for ROCm. Run by deepspeed_hip.py with the Python that has torch, in
a DeepSpeed source tree: one JSON document {op: {"sources", "include_dirs", "flags"}}. ROCm's version is the argument, as "6.3";
a wavefront has 64 lanes. Nothing is compiled."""

import contextlib
import json
import os
import sys

sys.path.insert(0, os.getcwd())
with contextlib.redirect_stdout(sys.stderr):
    import torch.utils.cpp_extension as torch_builder
    torch_builder.ROCM_HOME = "/opt/rocm"
    from op_builder.all_ops import ALL_OPS
    from op_builder.builder import CUDAOpBuilder, OpBuilder


def answer(builder):
    flags = builder.nvcc_args()  # decides about BF16, too
    if builder.enable_bf16:
        flags = [*flags, "-DBF16_AVAILABLE"]
    module = builder.absolute_name().split(".")[-1]
    return {"sources": builder.sources(), "include_dirs": builder.include_paths(),
            "flags": [*torch_builder.COMMON_HIP_FLAGS, *torch_builder.COMMON_HIPCC_FLAGS, *builder.strip_empty_entries(flags),
                      f"-DROCM_WAVEFRONT_SIZE={builder.get_rocm_wavefront_size()}", "-DTORCH_API_INCLUDE_EXTENSION_H",
                      f"-DTORCH_EXTENSION_NAME={module}"]}


def main():
    OpBuilder._is_rocm_pytorch = True
    OpBuilder._rocm_version = tuple(map(int, sys.argv[1].split(".")))
    OpBuilder._rocm_wavefront_size = "64"
    answers = {}
    for name, builder in ALL_OPS.items():
        if not isinstance(builder, CUDAOpBuilder):
            continue
        with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(Exception):  # no CUTLASS, no deepspeed-kernels
            answers[name] = answer(builder)
    json.dump(answers, sys.stdout)


main()
