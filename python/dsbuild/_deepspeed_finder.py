"""Hooks DeepSpeed's op builders as soon as a program imports them (docs/guides/deepspeed.md, "Just in time"). The wheel
dsbuild-deepspeed has a copy of this file, and a .pth file with a finder of the same kind in one line: that is three quarters
of a millisecond less at Python's start than importing the copy there."""

import sys

BUILDER = "deepspeed.ops.op_builder.builder"  # the one module whose import is looked at


class Finder:
    """In front of sys.meta_path until that module is imported."""

    waits_for = BUILDER  # tells this finder, and that of the .pth file, from others

    def find_spec(self, name, path=None, target=None):
        return find(self, path) if name == BUILDER else None


def find(finder, path):
    """What the finders behind this one find, with a loader that hooks."""
    for other in sys.meta_path[sys.meta_path.index(finder) + 1:]:
        spec = other.find_spec(BUILDER, path) if hasattr(other, "find_spec") else None
        if spec is not None:
            spec.loader = Loader(spec.loader, finder)
            return spec
    return None


class Loader:
    def __init__(self, own, finder):
        self.own = own
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.own, name)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.own
        self.own.exec_module(module)
        # Not before it worked: a program may try again.
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        hook()


def hook():
    try:
        import dsbuild.deepspeed
    except ImportError as error:
        import warnings
        warnings.warn(f"dsbuild-deepspeed is installed without dsbuild ({error}): DeepSpeed compiles its ops itself.",
                      RuntimeWarning)
        return
    dsbuild.deepspeed.hook()


def install():
    if not any(getattr(finder, "waits_for", None) == BUILDER for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())
