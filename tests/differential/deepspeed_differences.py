"""Every way in which dsbuild's commands for pack deepspeed differ from those of DeepSpeed's own builders with torch's
BuildExtension, and why. deepspeed_flags.py allows these and no others, and fails on a row that nothing needs any more;
docs/guides/deepspeed.md shows this table (deepspeed_flags.py --table prints it).
"""

import collections
import re

# tool: "cxx", "nvcc", "link". side: "only DeepSpeed" passes it, or "only dsbuild". ops: which (".*": all).
Difference = collections.namedtuple("Difference", "tool side flag ops shown reason")

DEEPSPEED, DSBUILD = "only DeepSpeed", "only dsbuild"
CPU_FUSED_ADAM = "fused_adam_cpu"  # fused_adam of the CPU accelerator, as its folder is called
SIMD_OPS = f"async_io|gds|cpu_adam|cpu_adagrad|cpu_lion|{CPU_FUSED_ADAM}"
COMM_OPS = "deepspeed_(ccl|shm)_comm"
FUSED_OPS = "fused_adam|fused_lamb|fused_lion"
KERNEL_OPS = "cutlass_ops|ragged_device_ops"
BF16_OPS = ("quantizer|random_ltd|spatial_inference|transformer|stochastic_transformer|transformer_inference"
            "|inference_core_ops|ragged_ops")
NO_BF16_OPS = f"{FUSED_OPS}|{SIMD_OPS}|dc|evoformer_attn|cutlass_ops"

DIFFERENCES = [
    Difference("cxx", DEEPSPEED, r"-g", ".*", "`-g`",
               "debug info makes objects 50 times as large; `--debug` gives it"),
    Difference("nvcc", DEEPSPEED, r"-lineinfo", FUSED_OPS, "`-lineinfo`", "debug info; `--debug` gives it"),
    Difference("cxx", DEEPSPEED, r"-DNDEBUG|-fwrapv|-Wall|-Wsign-compare|-Wno-unused-result|-O2|-O3|-fPIC", ".*",
               "`-DNDEBUG -fwrapv -O3 -Wall …`",
               "Python's own compile flags (`sysconfig`), which differ between Pythons"),
    Difference("cxx", DEEPSPEED, r"-march=native", SIMD_OPS, "`-march=native`",
               "the build machine differs from the one that runs; `--cpu-baseline` chooses, also `native`"),
    Difference("cxx", DSBUILD, r"-m\S+",
               SIMD_OPS, "`-mavx2 -mfma …`", "the instruction sets of `--cpu-baseline`"),
    Difference("cxx", DEEPSPEED, r"-D__(AVX512|AVX256|SCALAR|SVE|NEON)__", SIMD_OPS, "`-D__AVX512__`",
               "from the build machine; dsbuild has `--cpu-baseline`"),
    Difference("cxx", DSBUILD, r"-D__(AVX512|AVX256|SCALAR|SVE|NEON)__", SIMD_OPS, "`-D__AVX256__`",
               "from `--cpu-baseline`, not from the build machine"),
    Difference("cxx", DEEPSPEED, r"-O0|-shared", "async_io|gds", "`-O0 -shared`",
               "`-O0` is for a debugger; `-shared` is no flag of a compile"),
    Difference("cxx", DEEPSPEED, r"-lcufile", "gds", "`-lcufile`", "no flag of a compile; it is linked"),
    Difference("cxx", DEEPSPEED, r"-lcudart|-lcublas|-L\S+|-D__ENABLE_CUDA__", SIMD_OPS + "|dc",
               "`-L… -lcudart -lcublas -D__ENABLE_CUDA__`", "0.19.6: no flags of a compile; no source asks for the define"),
    Difference("cxx", DEEPSPEED, r"-march=native|-fopenmp|-D__(AVX512|AVX256|SCALAR)__", "dc",
               "`-march=native -fopenmp -D__AVX512__`", "0.19.6: no source of the op uses them; 0.19.8 dropped them"),
    Difference("cxx", DEEPSPEED, r"-DBF16_AVAILABLE", NO_BF16_OPS, "`-DBF16_AVAILABLE`",
               "no source of these ops uses it"),
    Difference("nvcc", DEEPSPEED, r"-DBF16_AVAILABLE", NO_BF16_OPS, "`-DBF16_AVAILABLE`", "the same"),
    Difference("cxx", DSBUILD, r"-DBF16_AVAILABLE", BF16_OPS, "`-DBF16_AVAILABLE`",
               "with 7.5 in the list DeepSpeed builds without bf16; with CUDA 13 it compiles for 7.5 too"),
    Difference("nvcc", DSBUILD, r"-DBF16_AVAILABLE", BF16_OPS, "`-DBF16_AVAILABLE`", "the same"),
    Difference("nvcc", DEEPSPEED, r"--threads=\d+", ".*", "`--threads=8`",
               "Ninja keeps every core busy; more threads than cores only take memory. `DS_NVCC_THREADS` gives it"),
    Difference("nvcc", DEEPSPEED, r"-std=c\+\+20", ".*", "`-std=c++20` (CUDA 12.5 and newer)",
               "one standard for all files of an op, torch's own"),
    Difference("nvcc", DSBUILD, r"-std=c\+\+17", ".*", "`-std=c++17`", "the same"),
    Difference("nvcc", DSBUILD, r"--objdir-as-tempdir|-frandom-seed=\S+", ".*", "`--objdir-as-tempdir -frandom-seed=…`",
               "the same bytes from the same sources"),
    Difference("cxx", DSBUILD, r"-include pch/…/torch\.h", ".*", "`-include pch/…/torch.h`",
               "includes torch/extension.h, as these files do, for CUDA ops after cuda_runtime_api.h; it may be "
               "precompiled (`--pch`)"),
    Difference("cxx", DEEPSPEED, r"include \S*csrc/cpu/includes", COMM_OPS, "`-I csrc/cpu/includes`",
               "the folder is not in the sources"),
    Difference("cxx", DEEPSPEED, r"include CUDA", "async_io", "CUDA's include folder", "no source of the op uses CUDA"),
    Difference("link", DEEPSPEED, r"-lcuda|-lcudart|-lc10_cuda|-ltorch_cuda", "async_io",
               "`-lcuda -lcudart -lc10_cuda -ltorch_cuda`",
               "no source of the op uses CUDA; without `-lcuda` it loads on a machine without a driver"),
    Difference("link", DEEPSPEED, r"-l(cudart|curand|c10_cuda|torch_cuda)", "cpu_(adam|adagrad|lion)",
               "`-lcurand -lcudart …`", "0.19.6: no source of these ops uses CUDA; 0.19.8 dropped them"),
    Difference("cxx", DEEPSPEED, r"include CUDA", "cpu_(adam|adagrad|lion)", "CUDA's include folder",
               "0.19.6: no source of these ops uses CUDA"),
    Difference("link", DEEPSPEED, r"-lcurand", "dc|quantizer", "`-lcurand`", "0.19.6: 0.19.8 dropped it"),
    Difference("link", DEEPSPEED, r"-Wl,-rpath,/\S+", KERNEL_OPS, "`-Wl,-rpath,/…/dskernels`",
               "a folder of the build machine"),
    Difference("link", DSBUILD, r"-Wl,-rpath,\$ORIGIN/\S+", KERNEL_OPS, "`-Wl,-rpath,$ORIGIN/…/dskernels`",
               "dskernels next to the installed op"),
    Difference("link", DSBUILD, r"-Wl,--exclude-libs,libstdc\+\+\.a", ".*", "`-Wl,--exclude-libs,libstdc++.a`",
               "a compiler may link libstdc++ statically; with torch's as well, the op would crash when it prints a number"),
    Difference("link", DSBUILD, r"-Wl,--strip-all", ".*", "`-Wl,--strip-all`",
               "local symbols are for debuggers: `--debug` keeps them"),
    Difference("link", DSBUILD, r"-l(ccl|aio)", "deepspeed_ccl_comm|async_io", "`-lccl`, `-laio`",
               "accelerator cpu: DeepSpeed names it in a method that its build does not call"),
]


def find(tool, side, op, flag):
    """The rows that allow this."""
    return [row for row in DIFFERENCES
            if (row.tool, row.side) == (tool, side) and re.fullmatch(row.ops, op) and re.fullmatch(row.flag, flag)]


def table():
    """As docs/guides/deepspeed.md has it."""
    rows = ["| tool | who passes it | what | ops | why |", "|---|---|---|---|---|"]
    for row in DIFFERENCES:
        ops = "all" if row.ops == ".*" else re.sub(r"\((\w+(?:\|\w+)+)\)", lambda found: "{" + found[1] + "}", row.ops)
        ops = ops.replace("|", ", ")
        rows.append(f"| {row.tool} | {row.side} | {row.shown} | {ops} | {row.reason} |")
    return "\n".join(rows) + "\n"
