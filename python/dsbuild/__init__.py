"""Loads GPU operators: prebuilt where they fit this machine, built on the spot where they do not.

    import dsbuild
    adam = dsbuild.load("fused_adam")                        # the tvm-ffi module of the op of the pack `native`
    adam = dsbuild.load("fused_adam", pack="deepspeed")      # the torch module of DeepSpeed's op

Importing this starts nothing and looks at nothing. docs/guides/python.md has the rules.
"""

from ._errors import DsbuildError
from ._loader import Stats, load, stats
from ._op_builder import OpBuilder, op

__all__ = ["DsbuildError", "OpBuilder", "Stats", "load", "op", "stats"]


def __getattr__(name):
    """`__version__`: of the installed package, else of the program that would be asked. Looked up when it is asked for."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._program import version
    return version()
