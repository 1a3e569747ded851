#!/usr/bin/env python3
"""make_jax_functions.py [--check]: python/dsbuild/jax.py, the functions of the pack native that JAX's arrays allow, from what
ops/native/*/functions.yaml says of them (docs/reference/op_yaml.md). --check writes nothing; it says whether the file is up to date.

They are those that become torch operators. One that changes a tensor is there too and refuses, by name.
"""

import dataclasses
import pathlib
import sys

import make_torch_operators
import op_expressions
import op_functions
from make_torch_operators import lines_of, parameters

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = "python/dsbuild/jax.py"
HEAD = '''"""The native ops as functions of JAX, also inside jax.jit (docs/guides/torch_operators.md has an example).

Each takes and returns what the torch operator of its name does (docs/guides/torch_operators.md). A function that changes its tensors
is refused, for arrays of JAX do not change. Needs the packages jax and jax-tvm-ffi.
Made by scripts/make_jax_functions.py of the functions.yaml of each op.
"""

from ._jax_call import ask, call, ceil_div, refuse
'''


def changed_names(operator):
    made = [one.name for one in operator.function.makes]
    return [argument.name for argument in operator.function.arguments if argument.writes and argument.name not in made]


def is_in_order(operator):
    """JAX hands over arrays, then results, then values."""
    made = [one.name for one in operator.function.makes]
    kinds = [1 if argument.name in made else 0 if argument.type in op_functions.TENSOR_TYPES else 2
             for argument in operator.function.arguments]
    return kinds == sorted(kinds)


def result(operator, made):
    """(shape, dtype), an expression."""
    dialect = dataclasses.replace(op_expressions.JAX, call=f'ask("{operator.op}", "{{0}}")')
    names = [argument.name for argument in operator.inputs]
    shape, dtype = (op_expressions.rewrite(text, names, operator.siblings, dialect) if text else key
                    for key, text in (("shape", made.shape), ("dtype", made.dtype)))
    some = f"({shape}, {dtype})"
    return f"{some} if {make_torch_operators.is_wanted(made)} else None" if made.unless_none else some


def function_text(operator):
    name = operator.name
    head = lines_of(f"def {name}", parameters(operator), ":")
    changed = changed_names(operator)
    if changed:
        return "\n".join([f"def {name}(*_, **__):", f'    refuse("{name}", "it changes {", ".join(changed)}")'])
    if not is_in_order(operator):
        raise op_functions.SpecError(f"{name}: JAX needs tensors that are read, then those that are made, then values")
    tensors = [argument.name for argument in operator.inputs if argument.type in op_functions.TENSOR_TYPES]
    values = [argument.name for argument in operator.inputs if argument.name not in tensors]
    lines = [f"    arrays = dict({', '.join(f'{tensor}={tensor}' for tensor in tensors)})"]
    lines += ["    results = [", *(f"        {result(operator, made)}," for made in operator.function.makes), "    ]"]
    words = [f'"{operator.op}"', f'"{name}"', f'"{operator.backend}"', "arrays", "results",
             str([number for number, made in enumerate(operator.function.makes) if made.is_returned]),
             *(f"{value}={value}" for value in values)]
    return "\n".join(head + lines + lines_of("return call", words, "", 4))


def make(ops):
    """The text of the file."""
    operators = [operator for op in ops for operator in make_torch_operators.operators_of(op) if not operator.overload]
    return "\n\n\n".join([HEAD.rstrip("\n"), *map(function_text, operators)]) + "\n"


def main():
    try:
        text = make(op_functions.read_pack(ROOT / make_torch_operators.PACK, make_torch_operators.PACK))
    except op_functions.SpecError as error:
        sys.exit(str(error))
    if not make_torch_operators.is_up_to_date(FILE, text):
        if sys.argv[1:] == ["--check"]:
            sys.exit(f"{FILE} is not up to date: run scripts/make_jax_functions.py")
        (ROOT / FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
