"""Asks DeepSpeed's own builders what they pass to the compilers, and torch what it adds. Run by deepspeed_flags.py
with the Python that has torch, in a DeepSpeed source tree:

    deepspeed_ask.py LIST…      one JSON document: {op: {LIST: {…} or {"refused": why}}}, of the ops of DS_ACCELERATOR

torch is imported once; each op and list is asked in a forked process, so that no builder sees what another one has
written into the environment. Nothing is compiled: the functions that would start a compiler only record. What the builders
read of the processor is this machine's, but every x86-64 has AVX-512 for them: their answers are the same everywhere.
"""

import contextlib
import json
import os
import sys

sys.path.insert(0, os.getcwd())
with contextlib.redirect_stdout(sys.stderr):
    import cpuinfo
    import torch.utils.cpp_extension as torch_builder
    from op_builder.all_ops import ALL_OPS
    from setuptools import Distribution


def fix_processor():
    processor = cpuinfo.get_cpu_info()
    if processor["arch"] == "X86_64":
        processor["flags"] = sorted({*processor["flags"], "avx2", "avx512f"})
    cpuinfo.get_cpu_info = lambda: processor


def record_compiles(recorded):
    def record(sources, objects, cflags, post_cflags, cuda_cflags, cuda_post_cflags, *_more, **_rest):
        recorded["cxx"] = [*cflags, *post_cflags]
        recorded["nvcc"] = [*(cuda_cflags or []), *(cuda_post_cflags or [])]
        recorded["sources"] = sources
    torch_builder._write_ninja_file_and_compile_objects = record


def record_link(command, recorded):
    """In place of the linker of this build_ext."""
    def record(_objects, _output, libraries=None, library_dirs=None, extra_postargs=None, **_rest):
        recorded["link"] = [*(f"-L{folder}" for folder in library_dirs or []), *(f"-l{name}" for name in libraries or []),
                            *(extra_postargs or [])]
    original = command.build_extensions

    def build_extensions():
        command.compiler.link_shared_object = record
        original()
    command.build_extensions = build_extensions


def ask(builder):
    """What setup.py would make of this builder."""
    recorded = {}
    extension = builder.builder()
    record_compiles(recorded)
    options = torch_builder.BuildExtension.with_options(use_ninja=True)
    distribution = Distribution({"name": "x", "ext_modules": [extension], "cmdclass": {"build_ext": options}})
    command = distribution.get_command_obj("build_ext")
    command.build_temp = command.build_lib = "/nonexistent"
    command.ensure_finalized()
    record_link(command, recorded)
    command.run()
    return {"module": builder.absolute_name(), **recorded}


def answer(builder, archs):
    os.environ["TORCH_CUDA_ARCH_LIST"] = archs
    try:
        return ask(builder)
    except Exception as error:  # whatever setup.py would die of is the answer
        return {"refused": f"{type(error).__name__}: {error}"}


def in_a_process_of_its_own(builder, archs):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(2, 1)
        os.write(write, json.dumps(answer(builder, archs)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def main():
    fix_processor()
    answers = {name: {archs: in_a_process_of_its_own(builder, archs) for archs in sys.argv[1:]}
               for name, builder in ALL_OPS.items()}
    json.dump(answers, sys.stdout)


main()
