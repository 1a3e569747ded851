#!/usr/bin/env python3
"""make_torch_operators.py [--check | --samples]: python/dsbuild/_torch_operators.py, the torch operators of the pack native, from what
ops/native/*/functions.yaml says of its functions (docs/reference/op_yaml.md).

A function that writes tensors becomes an operator, unless it takes a handle. What it makes the operator allocates and
returns; what it writes else is changed in place and marked so in the schema.

--check writes nothing; it says whether the file is up to date, and which operator has no samples. --samples prints as JSON
what tests call each operator with.
"""

import dataclasses
import json
import pathlib
import string
import sys
import textwrap

import op_expressions
import op_functions

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACK = "ops/native"
FILE = "python/dsbuild/_torch_operators.py"
COLUMNS = 118
HEAD = '''"""The torch operators of the pack native. Made by scripts/make_torch_operators.py of the functions.yaml of each op."""

import torch

from ._torch_library import Op, ceil_div, dense, define, differentiate
'''
TYPES = {"tensor": "Tensor", "tensors": "Tensor[]", "tensor or None": "Tensor?", "int": "SymInt", "ints": "SymInt[]",
         "float": "float", "bool": "bool", "str": "str", "dtype": "ScalarType"}
DENSE = {"tensor": "dense({})", "tensor or None": "dense({})", "tensors": "[dense(t) for t in {}]"}


@dataclasses.dataclass(frozen=True)
class Operator:
    """A function as torch has it. `inputs` are its arguments without those that it makes; `extra` are the words in the
    schema of arguments that the function has not, by name alone; `overload`: where numbers may be tensors, with tensors."""

    op: str
    backend: str
    function: op_functions.Function
    inputs: tuple
    extra: tuple
    siblings: tuple  # names of the op's functions
    overload: str = ""

    @property
    def name(self):
        return self.function.name

    @property
    def title(self):
        return f"{self.name}{'.' if self.overload else ''}{self.overload}"

    @property
    def returned(self):
        return [made for made in self.function.makes if made.is_returned]


def is_operator(function):
    types = (*op_functions.TENSOR_TYPES, *op_functions.VALUE_TYPES)
    return any(argument.writes for argument in function.arguments) and all(a.type in types for a in function.arguments)


def flag_of(made):
    """The operator's argument that says whether a gradient is wanted."""
    return f"with_{made.name}"


def is_wanted(made):
    return f"{made.unless_none} is not None and {flag_of(made)}"


def operators_of(op):
    for function in op.functions:
        if not is_operator(function):
            continue
        names = [made.name for made in function.makes]
        extra = ["SymInt[] shape" for made in function.makes if made.shape is None]
        extra += ["ScalarType dtype" for made in function.makes if made.dtype is None]
        extra += [f"bool {flag_of(made)}=True" for made in function.makes if made.unless_none]
        inputs = tuple(argument for argument in function.arguments if argument.name not in names)
        plain = Operator(op.name, op.backend, function, inputs, tuple(extra), tuple(f.name for f in op.functions))
        yield plain
        if any(argument.type.endswith(" or tensor") for argument in inputs):
            yield dataclasses.replace(plain, overload="tensor")


# ---- the schema

def word(operator, argument, alias):
    """An argument in the schema."""
    kind, _, may_be_tensor = argument.type.partition(" or ")
    if may_be_tensor == "tensor":
        return f"Tensor {argument.name}" if operator.overload else f"{TYPES[kind]} {argument.name}"
    text = TYPES[argument.type]
    if alias:
        text = text.replace("Tensor", f"Tensor({alias}!)")
    return f"{text} {op_functions.with_default(argument)}"


def schema(operator):
    aliases = iter(string.ascii_lowercase)
    words = [word(operator, argument, next(aliases) if argument.writes else "") for argument in operator.inputs]
    if operator.extra:
        words += ["*", *operator.extra]
    made = operator.returned
    returns = "Tensor" if len(made) == 1 else f"({', '.join(f'Tensor {m.name}' for m in made)})"
    return f"{operator.title}({', '.join(words)}) -> {returns}"


# ---- the functions

def lines_of(head, words, tail, indent=0):
    """`head(words)tail`, on one line or with the words on lines of their own."""
    line = f"{' ' * indent}{head}({', '.join(words)}){tail}"
    if len(line) <= COLUMNS:
        return [line]
    inner = " " * (indent + (8 if tail == ":" else 4))
    lines = [inner]
    for position, item in enumerate(words):
        piece = item if position + 1 == len(words) and tail == ":" else item + ","
        if len(lines[-1]) + 1 + len(piece) > COLUMNS and lines[-1] != inner:
            lines.append(inner)
        lines[-1] += piece if lines[-1] == inner else f" {piece}"
    return [f"{' ' * indent}{head}(", *lines, f"{' ' * indent}){tail}"]


def wrapped(line, indent):
    return textwrap.wrap(line, COLUMNS, initial_indent=" " * indent, subsequent_indent=" " * (indent + 4), break_long_words=False,
                         break_on_hyphens=False)


def parameters(operator):
    """With their defaults: torch leaves out what is equal to them when it calls."""
    words = [op_functions.with_default(argument) for argument in operator.inputs]
    return words + (["*", *(extra.partition(" ")[2] for extra in operator.extra)] if operator.extra else [])


def model_of(operator):
    """The tensor whose device is that of what is made."""
    kinds = {argument.name: argument.type for argument in operator.inputs}
    for kind, text in (("tensor", "{}"), ("tensors", "{}[0]")):
        for name in kinds:
            if kinds[name] == kind:
                return text.format(name)
    raise op_functions.SpecError(f"{operator.name}: it makes tensors and takes none")


def allocated(operator, made):
    """An expression."""
    model = model_of(operator)
    shape, dtype = (expression(operator, text) if text else key for key, text in (("shape", made.shape), ("dtype", made.dtype)))
    made_anew = f"{model}.new_empty({shape if dtype == f'{model}.dtype' else f'{shape}, dtype={dtype}'})"
    return f"{made_anew} if {is_wanted(made)} else {model}.new_empty((0,))" if made.unless_none else made_anew


def expression(operator, text):
    dialect = dataclasses.replace(op_expressions.TORCH, call=f"{op_variable(operator.op)}.{{0}}")
    return op_expressions.rewrite(text, [argument.name for argument in operator.inputs], operator.siblings, dialect)


def op_variable(op):
    return f"_{op}"


def arguments_by_name(operator):
    """A call's words for the function that makes what is returned: with the same arguments."""
    names = [argument.name for argument in operator.inputs]
    extra = [words.partition(" ")[2].partition("=")[0] for words in operator.extra]
    return names + [f"{name}={name}" for name in extra]


def make_function(operator):
    """The one that allocates: it reads no data, so it is the fake too."""
    values = [allocated(operator, made) for made in operator.returned]
    lines = lines_of(f"def _make_{operator.name}", parameters(operator), ":")
    if len(values) == 1:
        return [*lines, f"    return {values[0]}"]
    return [*lines, "    return (", *[line for value in values for line in wrapped(f"{value},", 8)], "    )"]


def passed(operator, argument):
    """What the library's function is given."""
    made = {made.name: made for made in operator.function.makes}.get(argument.name)
    if made is not None:
        return f"{argument.name} if {is_wanted(made)} else None" if made.unless_none else argument.name
    if argument.writes or argument.type not in DENSE:
        return argument.name
    return DENSE[argument.type].format(argument.name)


def run_function(operator):
    """The one that computes."""
    lines = lines_of(f"def _run_{operator.name}", parameters(operator), ":")
    returned = [made.name for made in operator.returned]
    if returned:
        lines += lines_of(f"{', '.join(returned)} = _make_{operator.name}", arguments_by_name(operator), "", 4)
    lines += [f"    {made.name} = {allocated(operator, made)}" for made in operator.function.makes if not made.is_returned]
    words = [passed(operator, argument) for argument in operator.function.arguments]
    lines += lines_of(f"{op_variable(operator.op)}.{operator.name}", words, "", 4)
    return lines + ([f"    return {', '.join(returned)}"] if returned else [])


def definition(operator):
    fake = f"_make_{operator.name}" if operator.returned else "None"
    text = schema(operator)
    quote = "'" if '"' in text else '"'
    pieces, begin = [], 0
    while begin < len(text):
        end = len(text) if len(text) - begin <= COLUMNS - 12 else text.rindex(" ", begin, begin + COLUMNS - 12) + 1
        pieces.append(f"    {quote}{text[begin:end]}{quote}")
        begin = end
    return ["define(", *pieces[:-1], f"{pieces[-1]},", f'    "{operator.backend}", _run_{operator.name}, {fake})']


def operator_text(operator):
    parts = [make_function(operator)] if operator.returned else []
    if operator.overload:  # the library takes either
        return "\n".join(definition(operator))
    return "\n\n\n".join("\n".join(part) for part in [*parts, run_function(operator), definition(operator)])


# ---- gradients

def gradient_sources(forward, backward):
    """{argument of the backward operator: where its value is from}: ("output", i), ("saved", name) or ("value", name)"""
    outputs = [made.name for made in forward.returned]
    tensors = [argument.name for argument in forward.inputs if argument.type in op_functions.TENSOR_TYPES]
    values = [argument.name for argument in forward.inputs if argument.name not in tensors]
    sources = {}
    for argument in backward.inputs:
        name = argument.name
        if name.startswith("grad_") and name[len("grad_"):] in outputs:
            sources[name] = ("output", name)
        elif name in tensors or name in outputs:
            sources[name] = ("saved", name)
        elif name in values:
            sources[name] = ("value", f"ctx.{name}")
        else:
            raise op_functions.SpecError(f"{backward.name}: {name} is neither an argument nor a result of {forward.name}, "
                                         "nor the gradient of one")
    return sources


def gradient_text(forward, backward):
    """What keeps for the backward pass, and that pass."""
    sources = gradient_sources(forward, backward)
    saved = [name for kind, name in sources.values() if kind == "saved"]
    outputs = [made.name for made in forward.returned]
    constant = [name for name in outputs if f"grad_{name}" not in sources]
    names = [argument.name for argument in forward.inputs]
    keep = [f"def _keep_{forward.name}(ctx, inputs, output):", f"    {', '.join(names)}{',' if len(names) == 1 else ''} = inputs",
            f"    {', '.join(outputs)} = output"]
    if constant:
        keep.append(f"    ctx.mark_non_differentiable({', '.join(constant)})")
    keep += lines_of("ctx.save_for_backward", saved, "", 4)
    keep += [f"    {name} = {name[len('ctx.'):]}" for kind, name in sources.values() if kind == "value"]

    gradients = {made.name[len("grad_"):]: made for made in backward.returned}
    words = [source[1] for source in sources.values()]
    words += [f"{flag_of(made)}=ctx.needs_input_grad[{names.index(made.unless_none)}]" for made in backward.returned
              if made.unless_none]
    back = lines_of(f"def _differentiate_{forward.name}", ["ctx", *(f"grad_{name}" for name in outputs)], ":")
    back.append(f"    {', '.join(saved)} = ctx.saved_tensors")
    back += lines_of(f"{', '.join(made.name for made in backward.returned)} = torch.ops.dsbuild.{backward.name}", words, "", 4)
    returned = []
    for position, name in enumerate(names):
        made = gradients.get(name)
        if made is None:
            returned.append("None")
        elif made.unless_none:
            returned.append(f"{made.name} if ctx.needs_input_grad[{position}] else None")
        else:
            returned.append(made.name)
    back += lines_of("return ", returned, "", 4)
    register = f'differentiate("{forward.name}", _differentiate_{forward.name}, _keep_{forward.name})'
    return "\n\n\n".join(["\n".join(keep), "\n".join(back), register])


# ---- the file

def op_text(op):
    operators = {operator.title: operator for operator in operators_of(op)}
    if not operators:
        return []
    parts = [f'{op_variable(op.name)} = Op("{op.name}")', *map(operator_text, operators.values())]
    for operator in operators.values():
        if operator.function.backward:
            parts.append(gradient_text(operator, operators[operator.function.backward]))
    return [f"# ---- {op.name}\n\n" + "\n\n\n".join(parts)]


def make(ops):
    """The text of the file."""
    return "\n\n\n".join([HEAD.rstrip("\n"), *[text for op in ops for text in op_text(op)]]) + "\n"


# ---- what tests need

def argument_facts(argument):
    return {"name": argument.name, "type": argument.type, "dtypes": argument.dtypes, "writes": argument.writes,
            "value": None if argument.type in op_functions.TENSOR_TYPES else op_functions.right_value(argument)}


def facts(ops):
    """{operator: what tests call it with}"""
    return {operator.title: {"op": operator.op, "backend": operator.backend, "overload": operator.overload,
                             "arguments": [argument_facts(argument) for argument in operator.inputs],
                             "returns": [made.name for made in operator.returned],
                             "has_backward": operator.function.backward is not None, "samples": operator.function.samples}
            for op in ops for operator in operators_of(op)}


def is_up_to_date(file, text):
    return (ROOT / file).exists() and (ROOT / file).read_text(encoding="utf-8") == text


def problems(ops, text):
    """What --check says."""
    found = [f"{PACK}/{op.name}/functions.yaml: the function {operator.name} writes tensors and has no samples"
             for op in ops for operator in operators_of(op) if not operator.overload and not operator.function.samples]
    if not is_up_to_date(FILE, text):
        found.append(f"{FILE} is not up to date: run scripts/make_torch_operators.py")
    return found


def main():
    try:
        ops = op_functions.read_pack(ROOT / PACK, PACK)
        text = make(ops)
    except op_functions.SpecError as error:
        sys.exit(str(error))
    if sys.argv[1:] == ["--samples"]:
        print(json.dumps(facts(ops), indent=1))
    elif sys.argv[1:] == ["--check"]:
        found = problems(ops, text)
        sys.exit("\n".join(found) if found else 0)
    elif not is_up_to_date(FILE, text):
        (ROOT / FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
