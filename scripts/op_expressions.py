"""Expressions of functions.yaml: shapes and dtypes of the tensors that a function makes, from its arguments (docs/reference/op_yaml.md).

A small part of Python, so that generated code runs them nearly as they stand, with symbolic sizes too: names of
arguments, x.shape, x.shape[i], x.shape[:i], x.numel(), x.dtype, numbers, texts, lists, *x.shape in a list, + - * // %, comparisons,
`A if CONDITION else B`, ceil_div(a, b); names of dtypes; calls of the op's own functions where they are allowed.
"""

import ast
import dataclasses

DTYPES = ("float32", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "float8_e4m3fn", "float8_e5m2")
ATTRIBUTES = ("shape", "dtype")
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.USub, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
             ast.Is, ast.IsNot, ast.And, ast.Or, ast.Not, ast.Load)
INNER = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.List,
         ast.Starred, *OPERATORS)


class ExpressionError(Exception):
    """What is wrong with an expression."""


@dataclasses.dataclass(frozen=True)
class Dialect:
    """How the generated code says it."""

    dtype: str  # {0} is the name of a dtype
    numel: str  # {0} is a tensor
    call: str = "module.{0}"  # {0} is one of the op's functions


TORCH = Dialect("torch.{0}", "{0}.numel()")
JAX = Dialect("'{0}'", "{0}.size")


class _Rewriter(ast.NodeTransformer):
    """Checks each node, and writes dtypes, numbers of elements and calls of the op's functions in a dialect."""

    def __init__(self, names, functions, dialect):
        self.names, self.functions, self.dialect = names, functions, dialect

    def visit(self, node):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Constant)):
            return getattr(self, f"visit_{type(node).__name__}")(node)
        if not isinstance(node, INNER):
            raise ExpressionError(f"'{ast.unparse(node)}' is not taken here")
        return self.generic_visit(node)

    def visit_Constant(self, node):
        if node.value is None or type(node.value) in (int, str, bool):
            return node
        raise ExpressionError(f"'{node.value!r}' is neither a whole number nor a text")

    def visit_Name(self, node):
        if node.id in self.names:
            return node
        if node.id in DTYPES:
            return _expression(self.dialect.dtype.format(node.id))
        raise ExpressionError(f"'{node.id}' is neither an argument nor a dtype")

    def visit_Attribute(self, node):
        if node.attr not in ATTRIBUTES:
            raise ExpressionError(f"'.{node.attr}' is not taken; there are .shape, .dtype and .numel()")
        return ast.Attribute(self.visit(node.value), node.attr, ast.Load())

    def visit_Call(self, node):
        if node.keywords:
            raise ExpressionError("arguments by name are not taken")
        words = [self.visit(word) for word in node.args]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "numel" and not words:
            return _expression(self.dialect.numel.format(ast.unparse(self.visit(node.func.value))))
        name = ast.unparse(node.func)
        if name == "ceil_div" and len(words) == 2:
            return ast.Call(node.func, words, [])
        if name in self.functions:
            return ast.Call(_expression(self.dialect.call.format(name)), words, [])
        raise ExpressionError(f"'{ast.unparse(node)}' is no call that is taken here")


def _expression(text):
    return ast.parse(text, mode="eval").body


def rewrite(text, names, functions=(), dialect=TORCH):
    """The expression in a dialect. `names`: of arguments; `functions`: of the op's that may be called."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise ExpressionError(f"'{text}' is no expression: {error.msg}") from error
    return ast.unparse(ast.fix_missing_locations(_Rewriter(names, functions, dialect).visit(tree)))
