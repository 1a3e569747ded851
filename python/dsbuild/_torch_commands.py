"""The commands that torch's own build_ext would run for a project's extensions, without running them.

torch writes its commands to a build.ninja and has ninja run that (torch.utils.cpp_extension._run_ninja_build, a private name:
torch 2.0 to 2.15 have it); without ninja it starts each command by the compiler object. Here a recorder stands in for both. So
flags and folders count wherever a project gives them (an extension, setup(), setup.cfg, the command line, the environment, a
build_ext of its own), as they count in the project's own build.
"""

import contextlib
import copy
import json
import logging
import os
import shlex
import subprocess
import tempfile

from ._command_words import units, words_of

# What torch compiles for is asked for separately where the user says nothing: torch would ask a GPU, or fail without one.
ANY_ARCH = "8.0"
RULES = ("compile", "cuda_compile", "cuda_devlink", "sycl_compile", "sycl_devlink")


class Commands:
    """Of one extension."""

    def __init__(self, extension, objects):
        self.extension = extension
        self.objects = objects  # the folder that compiles write to
        self.made = set()  # what they write
        self.compiles = []  # (source, words, the folder that it would run in) of each
        self.links = []
        self.others = []  # neither a compile of one source nor a link of the module: device links
        self.bare = None  # Commands: what torch adds to an extension of this kind
        self.of_list = False  # for the archs of TORCH_CUDA_ARCH_LIST, where the flags name none

    def of_language(self, is_cuda):
        """The words of a compile of that language: all of an extension have the same. None where it has none."""
        return next((words for source, words, _ in self.compiles if source.endswith(".cu") == is_cuda), None)

    def names_archs(self):
        """The user's or the project's; else what they are for is torch's choice, and dsbuild's."""
        return self.of_list or has_own_archs(self.extension)


class Unreadable(Exception):
    """torch's build_ext ends before it has made its commands."""


# ---- taking them down


def commands_of(command, builder):
    """Of each extension of a build_ext that is about to start its compilers; and whether they are for the archs of the user's
    TORCH_CUDA_ARCH_LIST. Changes nothing of the build_ext. Raises Unreadable."""
    users = os.environ.get("TORCH_CUDA_ARCH_LIST")
    first = None
    ways = [(ANY_ARCH, True), (ANY_ARCH, False)]  # this torch may not know an arch, and ninja refuses a.cpp beside a.cu
    if users:
        ways = [(users, True), (users, False)] + ways
    for archs, by_ninja in ways:
        try:
            with arch_list(archs):
                return taken_down(copied(command), builder, by_ninja), archs == users
        except Unreadable as error:
            first = first or error
    raise first


def copied(command):
    asked = copy.copy(command)
    asked.extensions = copy.deepcopy(command.extensions)
    asked.compiler = copy.copy(command.compiler)
    return asked


def bare_commands(command, builder, make, sources):
    """Of an extension without anything of the project's, of the user's or of Python's own build: what torch adds."""
    asked = copy.copy(command)
    nothing = make("nothing", list(sources))
    nothing._full_name, nothing._links_to_dynamic, nothing._needs_stub = "nothing", False, False  # setuptools looks at them
    asked.extensions = [nothing]
    asked.compiler = compiler = copy.copy(command.compiler)
    for tool in ("compiler", "compiler_so", "compiler_cxx", "compiler_so_cxx", "linker_so", "linker_so_cxx"):
        if getattr(compiler, tool, None):
            setattr(compiler, tool, ["c++", "-shared"] if tool.startswith("linker") else ["c++"])
    for given_to_all in ("macros", "include_dirs", "libraries", "library_dirs", "runtime_library_dirs", "objects"):
        setattr(compiler, given_to_all, [])
    with arch_list(ANY_ARCH):
        return taken_down(asked, builder)[0]


def taken_down(asked, builder, by_ninja=True):
    """The commands of `asked`, a copy of a build_ext that may be changed."""
    with tempfile.TemporaryDirectory(prefix="dsbuild-") as folder:
        return taken_down_in(folder, asked, builder, by_ninja)


def taken_down_in(folder, asked, builder, by_ninja):
    asked.build_temp, asked.build_lib, asked.inplace = os.path.join(folder, "temp"), os.path.join(folder, "lib"), False
    asked.force, asked.parallel, asked.dry_run = True, None, False
    asked.ext_map = dict(getattr(asked, "ext_map", None) or {})
    compiler = asked.compiler
    compiler.force, compiler.dry_run = True, False
    for changed in ("src_extensions", "include_dirs", "compiler_so", "linker_so"):
        if isinstance(getattr(compiler, changed, None), list):
            setattr(compiler, changed, list(getattr(compiler, changed)))
    everything = []

    def spawn(words, **_):
        sort_in(everything[-1], list(words), os.getcwd())

    def run_ninja_build(build_directory, *_, **__):
        for words in ninja_commands(build_directory):
            sort_in(everything[-1], words, build_directory)

    def build_extension(extension):
        everything.append(Commands(extension, asked.build_temp))
        builder.BuildExtension.build_extension(asked, extension)

    compiler.spawn = compiler.call = spawn  # setuptools calls the one or the other
    asked.build_extension = build_extension
    try:
        with replaced(builder, "_run_ninja_build", run_ninja_build), quiet():
            if not by_ninja or not hasattr(builder, "_run_ninja_build"):
                asked.use_ninja = False
            builder.BuildExtension.build_extensions(asked)
    except Exception as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from error
    return everything


@contextlib.contextmanager
def replaced(owner, name, value):
    """While this is open; nothing where the owner has no such name."""
    before = getattr(owner, name, None)
    if before is not None:
        setattr(owner, name, value)
    try:
        yield
    finally:
        if before is not None:
            setattr(owner, name, before)


@contextlib.contextmanager
def arch_list(value):
    """As TORCH_CUDA_ARCH_LIST, while this is open."""
    before = os.environ.get("TORCH_CUDA_ARCH_LIST")
    os.environ["TORCH_CUDA_ARCH_LIST"] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ["TORCH_CUDA_ARCH_LIST"]
        else:
            os.environ["TORCH_CUDA_ARCH_LIST"] = before


@contextlib.contextmanager
def quiet():
    """distutils' and torch's own lines are said when the project's own build runs."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stdout(nothing), \
                contextlib.redirect_stderr(nothing):
            yield
    finally:
        logging.disable(before)


def ninja_commands(folder):
    answer = subprocess.run(["ninja", "-C", folder, "-t", "compdb", *RULES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            check=True)
    return [shlex.split(entry["command"]) for entry in json.loads(answer.stdout)]


def sort_in(commands, words, folder):
    """A compile, a link or another command of an extension, which would run in `folder`: ninja runs elsewhere than distutils, so
    that a relative folder of headers is another one there, or none."""
    words = [word for unit in units(words) for word in words_of([(unit[0], absolute(unit, folder))])]
    if "-c" not in words:
        (commands.links if "-shared" in words else commands.others).append(words)
        return
    commands.made |= {os.path.abspath(os.path.join(folder, words[at + 1])) for at, word in enumerate(words[:-1]) if word == "-o"}
    source = next((word for word in reversed(words[words.index("-c"):]) if is_source(word)), None)
    if source is None:
        commands.others.append(words)
    else:
        commands.compiles.append((os.path.join(folder, source), [word for word in words if word != source], folder))


def absolute(unit, folder):
    option, value = unit
    return os.path.join(folder, value) if option in ("-I", "-isystem", "-L", "-include") else value


def is_source(word):
    return not word.startswith("-") and os.path.splitext(word)[1] in (".c", ".cc", ".cpp", ".cxx", ".cu", ".hip", ".sycl", ".mm",
                                                                     ".C", ".c++", ".m")


def has_own_archs(extension):
    """As torch decides: its list of archs is not for them then."""
    given = extension.extra_compile_args or []
    flags = given.get("nvcc", []) if isinstance(given, dict) else given
    return any("arch" in str(flag) and "TORCH_EXTENSION_NAME" not in str(flag) for flag in flags)
