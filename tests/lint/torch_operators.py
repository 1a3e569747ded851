#!/usr/bin/env python3
"""python/dsbuild/_torch_operators.py and jax.py are what scripts/make_torch_operators.py and make_jax_functions.py make of
ops/native/*/functions.yaml, each operator has samples, no op stands in the generator, and the keys of functions.yaml that it reads are read strictly."""

import ast
import sys

import lint
from functions_sample import not_seen, op_functions, read

import make_jax_functions
import make_torch_operators

OP = "name: own_op\nbackend: cuda\nexports: [__tvm_ffi_own_forward, __tvm_ffi_own_backward, __tvm_ffi_own_scratch]\n"
FUNCTIONS = """source: Nobody
arguments:
  x: {type: tensor, dtypes: [float32, float16], shape: any, what: The values.}
  weight: {type: tensor or None, dtypes: [float32, float16], shape: any, what: The weight.}
  lr: {type: float or tensor, example: 0.5, what: The rate.}
  state: {type: tensors, dtypes: [float32], shape: any, what: The state.}
functions:
  own_forward:
    does: Makes a step.
    takes: [{input: x}, weight, lr, state, {out: x}]
    writes: [out, state]
    makes: {out: {shape: ["*input.shape[:-1]", "ceil_div(input.shape[-1], 2)"], dtype: "float16 if input.numel() > 4 else input.dtype"}}
    backward: own_backward
    samples: [{input: [4], weight: null, state: [[4]]}]
  own_backward:
    does: Goes back.
    takes: [{grad_out: x}, {input: x}, weight, {grad_input: x}, {grad_weight: weight}, {scratch: x}]
    writes: [grad_input, grad_weight, scratch]
    makes: {grad_input: {like: input}, grad_weight: {like: weight}, scratch: {shape: [own_scratch(input)], dtype: float32, returned: false}}
  own_scratch:
    does: Tells a number.
    takes: [{input: x}]
    returns: {type: int, what: a number}
"""
TEXTS = [
    'own_forward(Tensor input, Tensor? weight, float lr, Tensor(a!)[] state) -> Tensor',
    'own_forward.tensor(Tensor input, Tensor? weight, Tensor lr, Tensor(a!)[] state) -> Tensor',
    'own_backward(Tensor grad_out, Tensor input, Tensor? weight, *, bool with_grad_weight=True) -> ',
    'input.new_empty([*input.shape[:-1], ceil_div(input.shape[-1], 2)], dtype=torch.float16 if input.numel() > 4 else input.dtype)',
    'scratch = grad_out.new_empty([_own_op.own_scratch(input)], dtype=torch.float32)',
    'ctx.save_for_backward(input, weight)',
    'torch.ops.dsbuild.own_backward( grad_out, input, weight, with_grad_weight=ctx.needs_input_grad[1]',
    'return (grad_input, grad_weight if ctx.needs_input_grad[1] else None, None, None)',
]
JAX_TEXTS = [
    'refuse("own_forward", "it changes state")',
    'def own_backward(grad_out, input, weight, *, with_grad_weight=True):',
    "(weight.shape, weight.dtype) if weight is not None and with_grad_weight else None",
    "([ask('own_op', 'own_scratch')(input)], 'float32')",
]
# (what is changed, into what, the problem)
WRONG = [
    ("{like: input}", "{like: inptu}", "makes grad_input: like: 'inptu' is no argument that the function reads"),
    ("{like: input}", "{dtype: float32}", "makes grad_input has no 'shape' and no 'like'"),
    ("makes: {out:", "makes: {lr:", "unknown key 'lr' in the function own_forward: makes"),
    ("ceil_div(input.shape[-1], 2)", "open(input)", "makes out: shape: 'open(input)' is no call that is taken here"),
    ("ceil_div(input.shape[-1], 2)", "input.data", "'.data' is not taken"),
    ("ceil_div(input.shape[-1], 2)", "width", "'width' is neither an argument nor a dtype"),
    ("ceil_div(input.shape[-1], 2)", "out.numel()", "'out' is neither an argument nor a dtype"),
    ("ceil_div(input.shape[-1], 2)", "1 +", "is no expression"),
    ("ceil_div(input.shape[-1], 2)", "(lambda: 1)()", "is no call that is taken here"),
    ("ceil_div(input.shape[-1], 2)", "0.5", "'0.5' is neither a whole number nor a text"),
    ("backward: own_backward", "backward: own_back", "backward: there is no function 'own_back'"),
    ("samples: [{input: [4]", "samples: [{inptu: [4]", "unknown key 'inptu' in the function own_forward: samples"),
    ("samples: [{input: [4], weight: null, state: [[4]]}]", "samples: 3", "samples takes a list"),
]


def flat(text):
    return " ".join(text.replace('"\n    "', "").replace("'\n    '", "").split())


def self_test():
    op, problem = read(FUNCTIONS, OP)
    if problem:
        return [f"a good sample is refused: {problem}"]
    text = make_torch_operators.make([op])
    ast.parse(text)
    failures = [f"not in the file: {words}" for words in TEXTS if words not in flat(text)]
    jax = flat(make_jax_functions.make([op]))
    failures += [f"not in the file of JAX: {words}" for words in JAX_TEXTS if words not in jax]
    ast.parse(make_jax_functions.make([op]))
    said = make_torch_operators.problems([op], text)
    for words in ("the function own_backward writes tensors and has no samples", "is not up to date"):
        if not any(words in line for line in said):
            failures.append(f"not seen: {words}")
    if any("own_forward" in line for line in said):
        failures.append("an operator with samples is refused")
    unknown = FUNCTIONS.replace("takes: [{grad_out: x}, {input: x}", "takes: [{grad_out: x}, {other: x}, {input: x}")
    try:
        make_torch_operators.make([read(unknown, OP)[0]])
        failures.append("an argument of the backward that nobody knows is not seen")
    except op_functions.SpecError as error:
        if "other is neither an argument nor a result of own_forward" not in str(error):
            failures.append(f"found: {error}")
    failures += not_seen(WRONG, FUNCTIONS, OP)
    return failures


def names_in_the_generator():
    """It is made for any op."""
    ops = op_functions.read_pack(lint.ROOT / make_torch_operators.PACK)
    names = {op.name for op in ops} | {function.name for op in ops for function in op.functions}
    files = [lint.ROOT / "scripts" / f"{name}.py" for name in ("make_torch_operators", "make_jax_functions", "op_functions", "op_expressions")]
    files += [lint.ROOT / "python" / "dsbuild" / f"{name}.py" for name in ("_torch_library", "torch", "_jax_call")]
    files += [lint.ROOT / "tests" / "python" / f"{name}.py" for name in ("torch_samples", "test_torch_operators")]
    return [f"{file.relative_to(lint.ROOT)}: '{name}' is the name of an op; what is said of an op belongs into its functions.yaml"
            for file in files for name in sorted(names)
            if name in without_texts(file.read_text(encoding="utf-8"))]


def without_texts(text):
    """The code, for docstrings may give examples."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        lint.finish(self_test())
    found = names_in_the_generator()
    if found:
        lint.finish(found)
    sys.argv[1:] = ["--check"]
    make_jax_functions.main()
    make_torch_operators.main()
