"""An op as DeepSpeed's op builders show theirs (op_builder/builder.py: OpBuilder): what it is made of, whether it can be built
here, and the op itself."""

import sys

from ._errors import DsbuildError
from ._loader import load, names_of, open_op, source_words, words_of
from ._program import ask


def op(name, pack="native"):
    """The builder of an op. Nothing is looked at before it is asked.

    name, pack: as of `load`.
    """
    return OpBuilder(*names_of(name, pack))


class OpBuilder:
    """Sources and flags are those of a build for the archs that are asked for (TORCH_CUDA_ARCH_LIST), else for the GPUs that
    are visible, else for all that the toolkit is for by default. Where the op cannot be built here these are errors, and
    is_compatible() says so without one."""

    def __init__(self, name, pack="native"):
        self.name = name
        self.pack = pack
        self.error_log = None  # why the last question was answered by no, or with an error: text
        self._plan = None

    def __repr__(self):
        return f"dsbuild.op({self.name!r}, pack={self.pack!r})"

    def absolute_name(self):
        """The Python module, such as deepspeed.ops.adam.fused_adam_op; of an op that is none, dsbuild_PACK.NAME."""
        return self._planned()["module"] or f"dsbuild_{self.pack}.{self.name}"

    def sources(self):
        """Absolute paths."""
        plan = self._planned()
        return [f"{plan['source_root']}/{path}" for path in dict.fromkeys(s["file"] for s in plan["sources"])]

    def include_paths(self):
        """Absolute paths, in the order in which they are searched."""
        every = [path for source in self._planned()["sources"] for path in split_includes(source["flags"])[0]]
        return list(dict.fromkeys(every))

    def cxx_args(self):
        """The flags of its first C++ file, without those that name include folders."""
        return self._flags_of(is_cuda=False)

    def nvcc_args(self):
        """The flags of its first CUDA file, likewise, with -gencode; [] where it has none."""
        return self._flags_of(is_cuda=True)

    def extra_ldflags(self):
        return list(self._planned()["link_flags"])

    def is_compatible(self, verbose=False):
        """Whether it can be built here. `verbose`: why not is said on stderr; error_log keeps it."""
        try:
            answer = ask(["report", "--no-config", "--pack", self.pack, "--ops", self.name, *source_words(self.pack)])
        except DsbuildError as error:
            return self._refuse(str(error), verbose)
        row = next(row for row in answer["ops"] if row["name"] == self.name)
        if row["compatible"]:
            self.error_log = None
            return True
        return self._refuse("; ".join(row["reasons"]), verbose)

    def load(self, verbose=False):
        """As dsbuild.load."""
        return self._keep_error(lambda: load(self.name, self.pack))

    def jit_load(self, verbose=False):
        """Built for this machine, whatever is there already. Not remembered: each call asks anew, and costs no compile where
        nothing has changed."""
        def build():
            return open_op(ask([*words_of(self.name, self.pack, installed=()), "--build"]))
        return self._keep_error(build)

    def builder(self, name=None):
        """The op as an extension of a setup.py, whose `cmdclass` has dsbuild.setuptools.BuildExtension.

        name   of the module, "mypkg._fused_adam"; as absolute_name() where it is left out
        """
        from .setuptools import DsbuildExtension
        is_module = bool(self._planned()["module"])
        return DsbuildExtension(name or self.absolute_name(), self.name, self.pack, self.sources(), is_module)

    def _planned(self):
        if self._plan is None:
            self._plan = self._keep_error(self._ask_for_plan)
        return self._plan

    def _ask_for_plan(self):
        # Whole commands: a slice's flags are those of nvcc's own tools.
        answer = ask(["plan", "--no-config", "--pack", self.pack, "--ops", self.name, "--backend", "nvcc",
                      *source_words(self.pack)])
        row = next(row for row in answer["ops"] if row["name"] == self.name)
        if row["status"] != "build":
            raise DsbuildError("not_built", self.name, row["reason"])
        return {**row, "source_root": answer["source_root"]}

    def _flags_of(self, is_cuda):
        for source in self._planned()["sources"]:
            if source["file"].endswith(".cu") == is_cuda:
                return split_includes(source["flags"])[1]
        return []

    def _keep_error(self, call):
        try:
            answer = call()
        except DsbuildError as error:
            self.error_log = str(error)
            raise
        self.error_log = None
        return answer

    def _refuse(self, reason, verbose):
        self.error_log = reason
        if verbose:
            print(f"dsbuild: {self.name}: {reason}", file=sys.stderr)
        return False


def split_includes(flags):
    """(folders, other flags)"""
    folders, others = [], []
    words = iter(flags)
    for word in words:
        if word in ("-I", "-isystem", "-idirafter"):
            folders.append(next(words))
        elif word.startswith("-I"):
            folders.append(word[2:])
        else:
            others.append(word)
    return folders, others
