#!/usr/bin/env python3
"""The type stubs of the native ops (python/dsbuild/native.pyi): against libraries that dsbuild built, and as mypy reads them.
Libraries of CUDA ops need nvcc, and no GPU. DSBUILD_TEST_PYTHON names a Python with NumPy and tvm_ffi, DSBUILD_MYPY mypy."""

import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, TESTS, CliTest, TestSpace, testspace  # noqa: E402
from pages import find_python  # noqa: E402

sys.path.insert(0, str(REPOSITORY / "scripts"))
try:
    import op_functions
except ImportError:
    testspace.skip("PyYAML is not installed (python3-yaml)")

STUB = REPOSITORY / "python" / "dsbuild" / "native.pyi"


def facts_of(argument):
    return {"name": argument.name, "right": op_functions.right_value(argument), "must": argument.must,
            "refused": argument.refused, "dtypes": argument.dtypes, "writes": argument.writes}


def facts():
    """What tests/python/test_functions.py cannot read in the stub."""
    return {op.name: {function.name: {"backend": op.backend, "arguments": [facts_of(a) for a in function.arguments]}
                      for function in op.functions} for op in op_functions.read_pack(REPOSITORY / "ops" / "native")}


# (what is wrong with the stub, a pattern in it, what stands there instead, what the test says)
WRONG = [
    ("two names", r"beta1: float,\n( +)beta2: float", r"beta2: float,\n\1beta1: float", "cpu_adam_step: beta1"),
    ("a type", "step: int", "step: float", "a number"),
    ("a default too many", r"weight_decay: float,\n", "weight_decay: float = 0.0,\n", "missing argument"),
    ("another default", "offset: int = 0", "offset: int = 1", "from offset 1 on"),
    ("another number of threads", "threads: int = 1", "threads: int = 2", "threads"),
    ("no default", "grad_scale: float = 1.0", "grad_scale: float", "AssertionError"),
    ("an argument too many", r"self, name: Literal", "self, more: int, name: Literal", "cpu_adam_use_isa"),
    ("a choice", '"scalar", "avx2"', '"scalar", "sse"', "sse"),
    ("what it returns", r"(def cpu_adam_isa\(self, /\)) -> str", r"\1 -> int", "cpu_adam_isa"),
]


class LibrariesTest(CliTest):
    """The libraries for one arch: each commit those that take seconds, `deep` all. Without nvcc those of the CPU ops."""

    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(store=True)
        cls.python, cls.space.environment["TVM_FFI_HOME"] = find_python()
        words, env = ["--ops", "all", "-j", "2"], {"DS_ACCELERATOR": "cpu"}
        try:
            if testspace.TIER != "deep":
                words[1] = "all,-evoformer_attn,-fused_lamb,-fused_lion,-layer_norm,-quantizer,-rms_norm"
            words += ["--cuda-home", testspace.find_real_toolkit(), "--arch", "8.0"]
            env = {}
        except unittest.SkipTest:
            pass
        cls.built = cls.space.run(*words, env=env)
        cls.facts = cls.space.root / "functions.json"

    def setUp(self):
        self.assertEqual(self.built.code, 0, self.built)

    def run_tests(self, stub=STUB, ops=None):
        """Of these ops; of all that were built."""
        bundle = self.space.root / "dsbuild-out"
        ops = ops or sorted(op["name"] for op in json.loads((bundle / "manifest.json").read_text())["ops"])
        self.facts.write_text(json.dumps({name: fact for name, fact in facts().items() if name in ops}))
        return subprocess.run([self.python, "-B", TESTS / "python" / "test_functions.py"], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "DSBUILD_BUNDLE": str(bundle), "DSBUILD_STUB": str(stub),
                                   "DSBUILD_FUNCTIONS": str(self.facts), "DSBUILD_FUNCTIONS_OF": ",".join(ops)})

    def test_the_stub_is_what_the_libraries_do(self):
        run = self.run_tests()
        self.assertEqual(run.returncode, 0, run.stdout)

    def changed(self, stub, pattern, replacement):
        """The stub with what is changed in the classes of these ops."""
        parts, changes = re.split(r"(?=^class )", stub, flags=re.M), 0
        for index, part in enumerate(parts):
            if part.startswith(("class AsyncIo(", "class CpuAdam(")):
                parts[index], count = re.subn(pattern, replacement, part)
                changes += count
        self.assertGreater(changes, 0)
        return "".join(parts)

    def test_a_stub_that_says_something_else_is_seen(self):
        text = STUB.read_text()
        for wrong, pattern, replacement, seen in testspace.some_of(WRONG, 2):
            with self.subTest(wrong):
                stub = self.space.root / "wrong.pyi"
                stub.write_text(self.changed(text, pattern, replacement))
                run = self.run_tests(stub, ["async_io", "cpu_adam"])
                self.assertEqual(run.returncode, 1, run.stdout)
                self.assertRegex(run.stdout, seen)


PROGRAM = """\
import dsbuild
import numpy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dsbuild.native import AsyncIoHandle, CpuAdam

def step(adam: "CpuAdam", array: "numpy.ndarray") -> None:
    adam.cpu_adam_step([array], [array], [array], [array], 0.1, 0.9, 0.999, 1e-8, 1, True, True, 0.01)

adam = dsbuild.load("cpu_adam")
step(adam, numpy.ones(4))
isa: str = adam.cpu_adam_isa()
aio = dsbuild.load("async_io", path="bundle")
handle: "AsyncIoHandle" = aio.async_io_open(32)
pinned = dsbuild.load("pin_memory", "native").pin_memory_allocate([4], numpy.dtype("float16"))
aio.async_io_read(handle, pinned, "file", 4096)
quantizer = dsbuild.load("quantizer")
quantizer.quantize_symmetric(pinned, pinned, pinned, 64, 8)
dsbuild.load("own_op", pack="mypack").anything(1, "two")
try:
    sources: "list[str]" = dsbuild.op("fused_adam").sources()
except dsbuild.DsbuildError as error:
    print(error.code, error.fix, dsbuild.stats().compiles)
"""


class BuildTest(CliTest):
    """Builds do not read functions.yaml."""

    def test_whatever_stands_in_it_a_build_has_nothing_to_do(self):
        space = TestSpace()
        self.assertEqual(self.run_in(space).code, 0)
        before = testspace.bundle_hash(space.out)
        self.assertIn("unchanged", self.run_in(space).out)
        for text in ("functions: {}\n", "no: {yaml\n", None):
            for spec in space.pack.folder.rglob("op.yaml"):
                file = spec.parent / "functions.yaml"
                file.write_text(text) if text else file.unlink()
            run = self.run_in(space)
            self.assertEqual((run.code, run.edges_run()), (0, 0), run)
            self.assertIn("unchanged", run.out)
            self.assertEqual(testspace.bundle_hash(space.out), before)


class MypyTest(unittest.TestCase):
    """A program of a user."""

    @classmethod
    def setUpClass(cls):
        cls.mypy = os.environ.get("DSBUILD_MYPY")
        if not cls.mypy or not os.access(cls.mypy, os.X_OK):
            raise unittest.SkipTest("mypy is not installed (DSBUILD_MYPY)")
        cls.space = TestSpace()
        cls.programs = itertools.count()

    def problems(self, program):
        # A name of its own for each program: mypy's cache takes a file of the same size and second for unchanged.
        file = self.space.root / f"program{next(self.programs)}.py"
        file.write_text(program)
        stubs = self.space.root / "stubs" / "dsbuild"
        stubs.mkdir(parents=True, exist_ok=True)
        for own in STUB.parent.glob("*.pyi"):
            (stubs / own.name).write_text(own.read_text())
        run = subprocess.run([self.mypy, "--strict", "--no-error-summary", "--cache-dir", self.space.root / "mypy", file.name],
                             cwd=self.space.root, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env={**os.environ, "MYPYPATH": str(stubs.parent)})
        return [line for line in run.stdout.splitlines() if ": error:" in line]

    def test_a_right_program_is_accepted(self):
        self.assertEqual(self.problems(PROGRAM), [])

    def test_wrong_calls_are_refused(self):
        for right, wrong, seen in testspace.some_of((
                ("0.01)", '"0.01")', '"cpu_adam_step" of "CpuAdam" has incompatible type "str"; expected "float"'),
                ("True, 0.01)", "True)", 'Too few arguments for "cpu_adam_step"'),
                ("[array], 0.1", "array, 0.1", "expected \"Sequence[Tensor]\""),
                ('load("quantizer")', 'load("quantizer", pth="x")', 'No overload variant of "load"'),
                ("isa: str", "isa: int", 'expression has type "str"'),
                ("64, 8)", "64, 6)", "Literal[6]"),
                ('"file", 4096)', '"file", offset=4096)', 'Unexpected keyword argument "offset"'),
                ("adam.cpu_adam_isa()", "adam.fused_adam_step()", '"CpuAdam" has no attribute "fused_adam_step"'),
                ("(handle, pinned", "(pinned, pinned", 'expected "AsyncIoHandle"')), 3):
            with self.subTest(wrong):
                program = PROGRAM.replace(right, wrong, 1)
                self.assertRegex("\n".join(self.problems(program)), re.escape(seen))


if __name__ == "__main__":
    testspace.main(each_commit=1)
