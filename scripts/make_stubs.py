#!/usr/bin/env python3
"""make_stubs.py [--check]: python/dsbuild/native.pyi and the tables of docs/reference/ops.md, from what ops/native/*/functions.yaml
says of the functions (docs/reference/op_yaml.md).

--check writes nothing; it says what is wrong: a file that is not up to date, an op without its functions.yaml or its part
of the page.
"""

import collections
import dataclasses
import pathlib
import re
import sys
import textwrap

import op_functions
from op_functions import literal

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACK = "ops/native"
STUB = "python/dsbuild/native.pyi"
PAGE = "docs/reference/ops.md"
COLUMNS = 118
TYPES = {"tensor": "Tensor", "tensors": "Sequence[Tensor]", "tensor or None": "Tensor | None", "ints": "Sequence[int]",
         "dtype": "Dtype", "float or tensor": "float | Tensor", "int or tensor": "int | Tensor"}
LISTS = {"tensors": "list of tensors", "ints": "list of int"}
HEAD = '''"""The ops of the pack `native`, for type checkers and editors: what dsbuild.load returns for each of them.

There is no module of this name when a program runs: import from it below `if typing.TYPE_CHECKING:`. Made by
scripts/make_stubs.py of the functions.yaml of each op. Arguments are positional. Every call checks all of them before it
changes anything, and an error names its argument: "fused_adam_step: grads[3]: expected contiguous".

CUDA ops run on the caller's current stream of the tensors' device and return without waiting for it. All tensors of a
call are on one device, contiguous, and do not overlap.
"""

import os
import types
from collections.abc import Sequence
from typing import Any, Literal, Protocol, overload

class Tensor(Protocol):
    """Whatever DLPack shares without a copy: tensors of PyTorch, JAX, CuPy, tvm-ffi, arrays of NumPy."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> Any: ...

class _DtypeObject(Protocol):
    @property
    def itemsize(self) -> int: ...

# "float16", or a dtype of tvm-ffi, NumPy or PyTorch.
Dtype = str | _DtypeObject
'''


def class_name(op):
    return "".join(word.capitalize() for word in op.name.split("_"))


def python_type(argument):
    if argument.choices:
        return f"Literal[{', '.join(map(literal, argument.choices))}]"
    return TYPES.get(argument.type, argument.type)


def parameter(argument):
    default = "" if argument.default is None else f" = {literal(argument.default)}"
    return f"{argument.name}: {python_type(argument)}{default}"


def signature(function):
    """As one calls it: names and defaults."""
    return f"{function.name}({', '.join(map(op_functions.with_default, function.arguments))})"


def facts(argument):
    """What a value must be, in words; of a tensor its shape and dtypes."""
    said = []
    if argument.shape:
        said.append(f"shape {argument.shape}" if argument.shape.startswith("[") else f"shape: {argument.shape}")
    if argument.type in op_functions.TENSOR_TYPES:
        said.append(" or ".join(argument.dtypes) if argument.dtypes else "any dtype")
    if argument.choices:
        said.append(" or ".join(map(literal, argument.choices)))
    if argument.unit and not argument.choices:
        said.append(f"in {argument.unit}")
    if argument.must:
        said.append(argument.must)
    if argument.default is None and argument.example is not None:
        said.append(f"such as {literal(argument.example)}")
    return said


def sentence(text):
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def raises(op, function):
    """[(error, when)]: what the arguments bring with them, and what is said of the function beside it."""
    arguments = function.arguments
    typed = any(argument.dtypes for argument in arguments)
    when = {"TypeError": ["an argument is missing, one too many, or of another type than here" if arguments
                          else "an argument is given"],
            "ValueError": [], "RuntimeError": []}
    if typed:
        when["TypeError"].append("a tensor has another dtype than here")
        place = "a GPU, on one with the others" if op.backend == "cuda" else "the CPU"
        when["ValueError"].append(f"a tensor is not on {place}, not contiguous, or of another shape than here")
    if any(argument.must or argument.choices for argument in arguments):
        when["ValueError"].append("a value is not what it must be")
    if typed and op.backend == "cuda":
        when["RuntimeError"].append("the launch failed, or the library has no code for the GPU")
    for error, text in function.raises:
        when[error].append(text)
    return [(error, "; ".join(texts)) for error, texts in when.items() if texts]


def told(argument):
    """Sentences."""
    sentences = [argument.what]
    if argument.writes:
        sentences.insert(0, "Written to.")
    if facts(argument):
        sentences.append(sentence("; ".join(facts(argument))))
    return " ".join(sentences)


def docstring(op, function):
    """Lines, without their indent: what it does, what it takes, gives and refuses, and where that is from."""
    lines = fill(function.does, "")
    for title, rows in (
            ("Args:", [(argument.name, told(argument)) for argument in function.arguments]),
            ("Returns:", [("", sentence(function.returned))] if function.returned else []),
            ("Raises:", [(error, sentence(text)) for error, text in raises(op, function)]),
            ("Source:", [("", op.source)])):
        if rows:
            lines += ["", title]
        for name, text in rows:
            lines += fill(f"{name}: {text}" if name else text, "    ")
    return lines


def fill(text, indent):
    return textwrap.wrap(" ".join(text.split()), COLUMNS - 8, initial_indent=indent, subsequent_indent=indent * 2,
                         break_long_words=False, break_on_hyphens=False)


def method(op, function):
    words = ", ".join(["self", *map(parameter, function.arguments), "/"])
    returns = "None" if function.returns is None else TYPES.get(function.returns, function.returns)
    head = [f"    def {function.name}({words}) -> {returns}:"]
    if len(head[0]) > COLUMNS:
        head = [f"    def {function.name}(", "        self,", *[f"        {parameter(a)}," for a in function.arguments],
                "        /,", f"    ) -> {returns}:"]
    doc = docstring(op, function)
    body = ['"""' + doc[0], *doc[1:], '"""'] if len(doc) > 1 else [f'"""{doc[0]}"""']
    return "\n".join(head + [f"        {line}".rstrip() for line in body])


def protocol(op):
    """The classes of an op."""
    handles = [f'class {name}:\n    """{what}"""\n' for name, what in op.handles]
    head = f'class {class_name(op)}(Protocol):\n    """{op.description}."""\n'
    return "\n".join([*handles, head + "\n" + "\n\n".join(method(op, function) for function in op.functions) + "\n"])


def overloads(ops):
    rows = [f'@overload\ndef load(\n    name: Literal["{op.name}"], pack: Literal["native"] = "native", '
            f"path: str | os.PathLike[str] | None = None\n) -> {class_name(op)}: ..." for op in ops]
    rows.append("@overload\ndef load(\n    name: str, pack: str = \"native\", path: str | os.PathLike[str] | None = None\n"
                ") -> types.ModuleType | Any: ...")
    return "\n".join(rows)


def stub(ops):
    """The text of native.pyi."""
    return "\n".join([HEAD, *[protocol(op) for op in ops], overloads(ops)]) + "\n"


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def table(title, rows):
    return [f"| {title} |", "|" + "---|" * (title.count("|") + 1), *[f"| {' | '.join(map(cell, row))} |" for row in rows], ""]


def described(op):
    """The op's own arguments, one row for all that are told alike: [(names, argument)]. A name that means one thing in one
    function and another in the next has those functions' names with it."""
    rows = {}  # how it is told: (argument, {name: functions})
    for function in op.functions:
        for argument in function.arguments:
            alike = dataclasses.astuple(dataclasses.replace(argument, name="", writes=False))
            rows.setdefault(repr(alike), (argument, {}))[1].setdefault(argument.name, []).append(function.name)
    meanings = collections.Counter(name for _, names in rows.values() for name in names)
    for argument, names in rows.values():
        if not op.arguments_of or set(op.own_arguments) & set(names):
            yield ", ".join(f"`{name}`" if meanings[name] == 1 else f"`{name}` of {' and '.join(f'`{user}`' for user in users)}"
                            for name, users in names.items()), argument


def tables(op):
    """The op's part of the page."""
    lines = ["```python", *[signature(function) for function in op.functions], "```", ""]
    rows = [[f"`{function.name}`", " ".join([function.does, f"Returns {function.returned}." if function.returned else "",
                                              *[f"`{error}` if {text}." for error, text in function.raises]]),
             ", ".join(f"`{a.name}`" for a in function.arguments if a.writes)] for function in op.functions]
    lines += table("function | what | written to", rows)
    rows = [[names, LISTS.get(argument.type, argument.type), "; ".join(facts(argument)), argument.what]
            for names, argument in described(op)]
    if rows:
        lines += table("argument | type | must be | what", rows)
    if op.arguments_of:
        lines += [f"Other arguments are those of {op.arguments_of}.", ""]
    return "\n".join(lines + textwrap.wrap("Source: " + " ".join(op.source.split()), 120, break_on_hyphens=False)) + "\n"


def page_with(page, op):
    """The page with the op's part made anew, or None where it has none."""
    begin, end = f"<!-- functions:{op.name} -->\n", "<!-- end of functions -->\n"
    part = re.compile(re.escape(begin) + r".*?" + re.escape(end), re.S)
    return part.sub(lambda _: begin + tables(op) + end, page) if part.search(page) else None


def make(ops, page):
    """(stub, page, what is wrong)"""
    problems = []
    for op in ops:
        made = page_with(page, op)
        if made is None:
            problems.append(f"{PAGE}: there is no line <!-- functions:{op.name} --> with its end")
        page = made or page
    return stub(ops), page, problems


def undescribed(folder):
    """Ops of the pack that Python can call, without a functions.yaml."""
    return [f"{path.relative_to(ROOT)}: there is no functions.yaml beside it" for path in sorted(folder.glob("*/op.yaml"))
            if op_functions.PREFIX in path.read_text(encoding="utf-8") and not (path.parent / "functions.yaml").is_file()]


def main():
    try:
        ops = op_functions.read_pack(ROOT / PACK, PACK)
    except op_functions.SpecError as error:
        sys.exit(str(error))
    page_file, stub_file = ROOT / PAGE, ROOT / STUB
    before = {stub_file: stub_file.read_text(encoding="utf-8") if stub_file.exists() else "",
              page_file: page_file.read_text(encoding="utf-8")}
    stub_text, page, problems = make(ops, before[page_file])
    problems += undescribed(ROOT / PACK)
    for file, text in ((stub_file, stub_text), (page_file, page)):
        if sys.argv[1:] != ["--check"]:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        elif before[file] != text:
            problems.append(f"{file.relative_to(ROOT)} is not up to date: run scripts/make_stubs.py")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
