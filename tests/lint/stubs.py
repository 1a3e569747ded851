#!/usr/bin/env python3
"""python/dsbuild/native.pyi and the tables of docs/reference/ops.md are what scripts/make_stubs.py makes of ops/native/*/functions.yaml,
and these files are read strictly."""

import ast
import sys

import lint
from functions_sample import not_seen, read

import make_stubs

OP = "name: own_op\nbackend: cpu\nexports: [__tvm_ffi_own_step, plain_symbol]\n"
FUNCTIONS = """source: Nobody
arguments:
  x: {type: tensor, dtypes: [float32], shape: any, what: The values.}
  bits: {type: int, unit: bits, default: 8, choices: [4, 8], what: Of a code.}
functions:
  own_step:
    does: Makes a step.
    takes: [{input: x}, bits]
    writes: [input]
    returns: {type: int, what: a number}
    raises: {ValueError: it is late}
"""
PAGE = "before\n<!-- functions:own_op -->\nold\n<!-- end of functions -->\nbehind\n"
# (what is changed, into what, the problem)
WRONG = [
    ("does:", "dos:", "functions.yaml:7:5: unknown key 'dos' in the function own_step; did you mean 'does'?"),
    ("  own_step:", "  own_stop:", "functions.yaml:7:5: the function own_stop is no export of the op"),
    ("functions:\n", "functions: {}\nother:\n", "unknown key 'other' in functions.yaml"),
    ("[{input: x}, bits]", "[{input: y}, bits]", "functions.yaml:8:13: the function own_step: the argument 'y' is not described"),
    ("[{input: x}, bits]", "[bits, {input: x}]", "8:19: the function own_step: 'input' must be given, and the one"),
    ("writes: [input]", "writes: [bits]", "functions.yaml:9:14: the function own_step: writes: 'bits' is none of input"),
    ("dtypes: [float32]", "dtypes: [float33]", "functions.yaml:3:30: the argument x: dtypes: 'float33' is none of"),
    ("default: 8", "default: eight", "functions.yaml:4:42: the argument bits: default takes a value of type int, not 'eight'"),
    ("default: 8", "default: 9", "the default is none of the choices"),
    ("type: tensor", "type: tensr", "functions.yaml:3:13: the argument x: there is no type 'tensr'"),
    ("default: 8, choices: [4, 8], ", "", "functions.yaml:4:9: the argument bits has no default, no choices and no example"),
    ("default: 8, choices: [4, 8]", "default: 8, must: odd", "'must' and 'refused' go together"),
    ("shape: any, ", "", "functions.yaml:3:6: the argument x has no shape"),
    ("what: The values.", "what: The values., unit: bits", "'unit' does not go with the type tensor"),
    ("{type: int, what: a number}", "{type: int}", "functions.yaml:10:14: the function own_step: returns has 'type' and 'what'"),
    ("ValueError: it", "KeyError: it", "unknown key 'KeyError'"),
    ("source: Nobody\n", "", "there is no 'source'"),
    ("source: Nobody\n", "source: Nobody\nsource: Me\n", "functions.yaml:2:1: 'source' stands twice"),
    ("does: Makes", "does: &again Makes", "functions.yaml:7:11: anchors and aliases are not read"),
    ("source: Nobody", "source: Nobody\narguments_of: none", "there is no op 'none' with a functions.yaml"),
]


def self_test():
    op, problem = read(FUNCTIONS, OP)
    if problem:
        return [f"a good sample is refused: {problem}"]
    stub, page, problems = make_stubs.make([op], PAGE)
    ast.parse(stub)
    missing = [words for words in ("def own_step(self, input: Tensor, bits: Literal[4, 8] = 8, /) -> int:",
                                   "class OwnOp(Protocol):",
                                   "input: Written to. The values. Shape: any; float32.", 'Literal["own_op"]',
                                   "a value is not what it must be; it is late.", "Nobody")
               if words not in " ".join(stub.split())]
    failures = [f"not in the stub: {words}" for words in missing] + problems
    if not page.startswith("before\n<!--") or not page.endswith("-->\nbehind\n") or "`own_step`" not in page or "old" in page:
        failures.append(f"the page: {page}")
    if make_stubs.make([op], "nothing")[2] == []:
        failures.append("a page without the op's part is not seen")
    if "__tvm_ffi_own_more is not described" not in read(FUNCTIONS, OP.replace("[", "[__tvm_ffi_own_more, "))[1]:
        failures.append("an export that is not described is not seen")
    failures += not_seen(WRONG, FUNCTIONS, OP)
    return failures


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        lint.finish(self_test())
    sys.argv[1:] = ["--check"]
    make_stubs.main()
