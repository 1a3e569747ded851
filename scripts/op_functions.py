"""functions.yaml of an op: what Python calls in its library (docs/reference/op_yaml.md). Read strictly: an unknown key, a wrong type
or a function that is no export is a SpecError with file:line:column.

The stubs and the tables of docs/reference/ops.md are made of it (make_stubs.py), and the torch operators (make_torch_operators.py);
builds do not read it, so that an edit of a sentence compiles, links and plans nothing.
"""

import dataclasses
import difflib
import pathlib

import yaml

import op_expressions

PREFIX = "__tvm_ffi_"  # of the symbol that tvm-ffi looks a function up by
TENSOR_TYPES = ("tensor", "tensors", "tensor or None")
VALUE_TYPES = {"int": int, "float": float, "bool": bool, "str": str, "ints": list, "dtype": str, "int or tensor": int,
               "float or tensor": float}
DTYPES = ("float32", "float16", "bfloat16", "int8", "uint8")
ERRORS = ("TypeError", "ValueError", "RuntimeError")


class SpecError(Exception):
    """What is wrong, behind "file:line:column: "."""


@dataclasses.dataclass(frozen=True)
class Argument:
    """As a function of the op takes it. None: it is not said."""

    name: str
    type: str           # of TENSOR_TYPES or VALUE_TYPES, or the name of a handle
    what: str
    shape: str = None   # of tensors
    dtypes: tuple = ()  # of tensors; (): any
    unit: str = None
    default: object = None  # None: it must be given
    choices: tuple = ()     # there are no others
    example: object = None
    must: str = None        # what a value must be, as the binding's error says it: "expected <must>"
    refused: object = None  # a value that is not so
    writes: bool = False    # the function writes to the tensor


@dataclasses.dataclass(frozen=True)
class Made:
    """A tensor that a function writes whole and does not read, as a caller allocates it. Shape and dtype are expressions that
    op_expressions.rewrite takes; None: whoever calls the torch operator says it."""

    name: str
    shape: str
    dtype: str
    is_returned: bool = True  # False: memory to work in
    unless_none: str = None   # it is not made where this argument is None


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    does: str  # sentences
    arguments: tuple
    returns: str = None  # a type; None: nothing
    returned: str = ""   # what that is
    raises: tuple = ()   # (error, when), beside what every function raises
    makes: tuple = ()    # of Made, in the order of the arguments
    backward: str = None  # the function that works out this one's gradients
    samples: tuple = ()   # {argument: what a test gives for it}


@dataclasses.dataclass(frozen=True)
class Op:
    name: str
    description: str
    backend: str  # "cuda" or "cpu"
    source: str   # the paper or the interface that it is made after
    handles: tuple  # (class, what it is): what functions return and others take
    arguments_of: str  # the op whose arguments are taken where a name is not described here; or None
    own_arguments: tuple  # names in this file
    functions: tuple


class _File:
    """One YAML file, whose nodes know where they stand."""

    def __init__(self, path, shown):
        self.shown = shown
        text = path.read_text(encoding="utf-8")
        try:
            for event in yaml.parse(text, yaml.SafeLoader):
                if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                    raise SpecError(f"{self.where(event)}: anchors and aliases are not read")
            self.root = yaml.compose(text, yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            raise SpecError(f"{shown}:{mark.line + 1}:{mark.column + 1}: {error.problem}") from error

    def where(self, node):
        return f"{self.shown}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"

    def refuse(self, node, what):
        raise SpecError(f"{self.where(node)}: {what}")

    def entries(self, node, owner, known=None):
        """{key: its node}; `known`: the keys that there are."""
        if not isinstance(node, yaml.MappingNode):
            self.refuse(node, f"{owner} takes a map")
        found = {}
        for key, value in node.value:
            if key.value in found:
                self.refuse(key, f"'{key.value}' stands twice in {owner}")
            if known is not None and key.value not in known:
                near = difflib.get_close_matches(key.value, known, 1)
                self.refuse(key, f"unknown key '{key.value}' in {owner}" + (f"; did you mean '{near[0]}'?" if near else ""))
            found[key.value] = value
        return found

    def value(self, node, owner, kind):
        """A value of that type. Texts are taken as written, as dsbuild takes them."""
        if kind is str:
            if not isinstance(node, yaml.ScalarNode):
                self.refuse(node, f"{owner} takes a text")
            return node.value
        value = _plain(node)
        if type(value) is not kind:
            self.refuse(node, f"{owner} takes a value of type {kind.__name__}, not {value!r}")
        return value

    def texts(self, node, owner, known=None):
        if not isinstance(node, yaml.SequenceNode):
            self.refuse(node, f"{owner} takes a list")
        texts = [self.value(item, owner, str) for item in node.value]
        for item, text in zip(node.value, texts):
            if known is not None and text not in known:
                self.refuse(item, f"{owner}: '{text}' is none of {', '.join(known)}")
        return tuple(texts)


def _plain(node):
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node, deep=True)
    finally:
        loader.dispose()


ARGUMENT_KEYS = ("type", "shape", "dtypes", "unit", "default", "choices", "example", "must", "refused", "what")


def _read_values(file, entries, kind, owner):
    """The keys whose values are of the argument's own type."""
    read = {}
    for key in ("default", "example", "refused"):
        if key in entries:
            read[key] = file.value(entries[key], f"{owner}: {key}", kind)
    if "choices" in entries:
        if not isinstance(entries["choices"], yaml.SequenceNode):
            file.refuse(entries["choices"], f"{owner}: choices takes a list")
        read["choices"] = tuple(file.value(item, f"{owner}: choices", kind) for item in entries["choices"].value)
    return read


def _check_argument(file, node, argument, owner):
    """What a reader and a test need is there."""
    if argument.type in VALUE_TYPES and argument.type != "bool":
        if argument.default is None and not argument.choices and argument.example is None:
            file.refuse(node, f"{owner} has no default, no choices and no example")
    if (argument.must is None) != (argument.refused is None):
        file.refuse(node, f"{owner}: 'must' and 'refused' go together")
    if argument.choices and argument.default is not None and argument.default not in argument.choices:
        file.refuse(node, f"{owner}: the default is none of the choices")
    if argument.type in TENSOR_TYPES and argument.shape is None:
        file.refuse(node, f"{owner} has no shape")


def _read_argument(file, name, node, handles):
    owner = f"the argument {name}"
    entries = file.entries(node, owner, ARGUMENT_KEYS)
    for key in ("type", "what"):
        if key not in entries:
            file.refuse(node, f"{owner} has no '{key}'")
    kind = file.value(entries["type"], f"{owner}: type", str)
    is_value = kind in VALUE_TYPES
    if not is_value and kind not in TENSOR_TYPES and kind not in handles:
        file.refuse(entries["type"], f"{owner}: there is no type '{kind}'")
    for key in entries:
        for_values = key in ("unit", "default", "choices", "example", "must", "refused")
        for_tensors = key in ("shape", "dtypes")
        if (for_values and not is_value) or (for_tensors and kind not in TENSOR_TYPES):
            file.refuse(entries[key], f"{owner}: '{key}' does not go with the type {kind}")
    read = {key: file.value(entries[key], f"{owner}: {key}", str)
            for key in ("what", "shape", "unit", "must") if key in entries}
    if "dtypes" in entries:
        read["dtypes"] = file.texts(entries["dtypes"], f"{owner}: dtypes", DTYPES)
    if is_value:
        read.update(_read_values(file, entries, VALUE_TYPES[kind], owner))
    argument = Argument(name=name, type=kind, **read)
    _check_argument(file, node, argument, owner)
    return argument


def _read_takes(file, node, owner, known, writes):
    """The arguments in order: names, or {name: the entry that describes it}."""
    if not isinstance(node, yaml.SequenceNode):
        file.refuse(node, f"{owner}: takes takes a list")
    arguments = []
    for item in node.value:
        name, entry = item.value, item.value
        if isinstance(item, yaml.MappingNode):
            pairs = file.entries(item, f"{owner}: takes")
            if len(pairs) != 1:
                file.refuse(item, f"{owner}: an argument is a name, or one name with its description's")
            name, entry = next((key, value.value) for key, value in pairs.items())
        if entry not in known:
            file.refuse(item, f"{owner}: the argument '{entry}' is not described")
        if arguments and arguments[-1].default is not None and known[entry].default is None:
            file.refuse(item, f"{owner}: '{name}' must be given, and the one before it need not")
        arguments.append(dataclasses.replace(known[entry], name=name, writes=name in writes))
    return tuple(arguments)


def _read_made(file, node, owner, arguments, functions):
    """How the tensor of a `makes` is allocated: {like: NAME}, {shape: …, dtype: …}."""
    name = owner.rpartition(" ")[2]
    entries = file.entries(node, owner, ("like", "shape", "dtype", "returned"))
    inputs = [argument.name for argument in arguments if not argument.writes]
    texts = {key: _expression_text(file, entries[key], f"{owner}: {key}") for key in ("shape", "dtype") if key in entries}
    if "like" in entries:
        like = file.value(entries["like"], f"{owner}: like", str)
        if like not in inputs:
            file.refuse(entries["like"], f"{owner}: like: '{like}' is no argument that the function reads")
        texts = {"shape": f"{like}.shape", "dtype": f"{like}.dtype", **texts}
    read = {key: None if text == "given" else text for key, text in texts.items()}
    for key in ("shape", "dtype"):
        if key not in texts:
            file.refuse(node, f"{owner} has no '{key}' and no 'like'")
        try:
            op_expressions.rewrite(read[key] or "0", inputs, functions)
        except op_expressions.ExpressionError as error:
            file.refuse(entries.get(key, node), f"{owner}: {key}: {error}")
    if "returned" in entries:
        read["is_returned"] = file.value(entries["returned"], f"{owner}: returned", bool)
    argument = next(argument for argument in arguments if argument.name == name)
    of = name.removeprefix("grad_")
    if argument.type == "tensor or None" and of in [a.name for a in arguments if a.type == "tensor or None" and not a.writes]:
        read["unless_none"] = of
    return Made(name, **read)


def _expression_text(file, node, owner):
    """A list of expressions is one expression."""
    if isinstance(node, yaml.SequenceNode):
        return f"[{', '.join(file.texts(node, owner))}]"
    return file.value(node, owner, str)


def _read_makes(file, node, owner, arguments, functions):
    entries = file.entries(node, f"{owner}: makes", [argument.name for argument in arguments if argument.writes])
    made = {name: _read_made(file, entry, f"{owner}: makes {name}", arguments, functions) for name, entry in entries.items()}
    return tuple(made[argument.name] for argument in arguments if argument.name in made)


def _read_samples(file, node, owner, arguments, makes):
    if not isinstance(node, yaml.SequenceNode):
        file.refuse(node, f"{owner}: samples takes a list")
    made = [made.name for made in makes]
    names = [argument.name for argument in arguments if argument.name not in made]
    names += [key for key in ("shape", "dtype") if any(getattr(made, key) is None for made in makes)]
    return tuple({name: _plain(value) for name, value in file.entries(item, f"{owner}: samples", names).items()}
                 for item in node.value)


FUNCTION_KEYS = ("does", "takes", "writes", "returns", "raises", "makes", "backward", "samples")


def _read_torch_side(file, entries, owner, arguments, functions):
    """{what a torch operator needs beside the arguments}"""
    read = {}
    if "makes" in entries:
        read["makes"] = _read_makes(file, entries["makes"], owner, arguments, functions)
    if "backward" in entries:
        read["backward"] = file.value(entries["backward"], f"{owner}: backward", str)
        if read["backward"] not in functions:
            file.refuse(entries["backward"], f"{owner}: backward: there is no function '{read['backward']}'")
    if "samples" in entries:
        read["samples"] = _read_samples(file, entries["samples"], owner, arguments, read.get("makes", ()))
    return read


def _read_function(file, name, node, known, handles, functions):
    owner = f"the function {name}"
    entries = file.entries(node, owner, FUNCTION_KEYS)
    if "does" not in entries:
        file.refuse(node, f"{owner} has no 'does'")
    writes = file.texts(entries["writes"], f"{owner}: writes") if "writes" in entries else ()
    arguments = _read_takes(file, entries["takes"], owner, known, writes) if "takes" in entries else ()
    tensors = [argument.name for argument in arguments if argument.type in TENSOR_TYPES]
    if "writes" in entries:
        file.texts(entries["writes"], f"{owner}: writes", tensors)
    returns, returned = None, ""
    if "returns" in entries:
        parts = file.entries(entries["returns"], f"{owner}: returns", ("type", "what"))
        if set(parts) != {"type", "what"}:
            file.refuse(entries["returns"], f"{owner}: returns has 'type' and 'what'")
        returns, returned = (file.value(parts[key], f"{owner}: returns", str) for key in ("type", "what"))
        if returns not in (*TENSOR_TYPES, *VALUE_TYPES, *handles):
            file.refuse(parts["type"], f"{owner}: there is no type '{returns}'")
    raises = file.entries(entries["raises"], f"{owner}: raises", ERRORS) if "raises" in entries else {}
    return Function(name, file.value(entries["does"], f"{owner}: does", str), arguments, returns, returned,
                    tuple((error, file.value(raises[error], f"{owner}: {error}", str)) for error in ERRORS if error in raises),
                    **_read_torch_side(file, entries, owner, arguments, functions))


def _check_exports(file, functions, exports):
    """The functions are exactly what the library exports for tvm-ffi."""
    for name, node in functions.items():
        if PREFIX + name not in exports:
            file.refuse(node, f"the function {name} is no export of the op")
    for export in exports:
        if export.startswith(PREFIX) and export[len(PREFIX):] not in functions:
            file.refuse(file.root, f"the export {export} is not described")


def read_op(folder, shown=None):
    """The Op of a folder with op.yaml and functions.yaml."""
    shown = shown or str(folder)
    op = yaml.safe_load((folder / "op.yaml").read_text(encoding="utf-8"))
    file = _File(folder / "functions.yaml", f"{shown}/functions.yaml")
    top = file.entries(file.root, "functions.yaml", ("source", "handles", "arguments", "arguments_of", "functions"))
    for key in ("source", "functions"):
        if key not in top:
            file.refuse(file.root, f"there is no '{key}'")
    handles = _read_handles(file, top)
    known, other = {}, None
    if "arguments_of" in top:
        other = file.value(top["arguments_of"], "arguments_of", str)
        if not (folder.parent / other / "functions.yaml").is_file():
            file.refuse(top["arguments_of"], f"arguments_of: there is no op '{other}' with a functions.yaml beside this one")
        known = read_arguments(folder.parent / other, f"{pathlib.PurePath(shown).parent}/{other}")
    own = _read_arguments(file, top, handles)
    known.update(own)
    nodes = file.entries(top["functions"], "functions")
    _check_exports(file, nodes, [entry["value"] if isinstance(entry, dict) else entry for entry in op.get("exports", [])])
    functions = tuple(_read_function(file, name, node, known, handles, tuple(nodes)) for name, node in nodes.items())
    return Op(op["name"], op.get("description", ""), op.get("backend", "cuda"), file.value(top["source"], "source", str),
              tuple(handles.items()), other, tuple(own), functions)


def _read_handles(file, top):
    nodes = file.entries(top["handles"], "handles") if "handles" in top else {}
    return {name: file.value(node, f"handles: {name}", str) for name, node in nodes.items()}


def _read_arguments(file, top, handles):
    nodes = file.entries(top["arguments"], "arguments") if "arguments" in top else {}
    return {name: _read_argument(file, name, node, handles) for name, node in nodes.items()}


def read_arguments(folder, shown):
    """{name: Argument} of what an op's own file describes."""
    file = _File(folder / "functions.yaml", f"{shown}/functions.yaml")
    top = file.entries(file.root, "functions.yaml")
    return _read_arguments(file, top, _read_handles(file, top))


def read_pack(folder, shown=None):
    """Every op of the pack that has a functions.yaml, by name."""
    return [read_op(path.parent, f"{shown or folder}/{path.parent.name}") for path in sorted(folder.glob("*/functions.yaml"))]


def right_value(argument):
    """A value of this type that its function takes; tensors and handles are the caller's to make."""
    if argument.default is not None:
        return argument.default
    if argument.choices:
        return argument.choices[0]
    return True if argument.type == "bool" else argument.example


def literal(value):
    """As Python, and a schema of torch, has it."""
    return '"' + value + '"' if isinstance(value, str) else repr(value)


def with_default(argument):
    """name=value, where there is a default."""
    return argument.name + ("" if argument.default is None else f"={literal(argument.default)}")
