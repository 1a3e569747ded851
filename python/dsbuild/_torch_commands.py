"""The commands that torch's own build_ext would run for a project's extensions, without running them, and what they say.

torch writes its commands to a build.ninja and has ninja run that (torch.utils.cpp_extension._run_ninja_build, a private name:
torch 2.0 to 2.11 have it); without ninja it starts each command by the compiler object. Both are replaced here by
what takes the commands down. So whatever a project says in whatever place (an extension, setup(), setup.cfg, the command line,
the environment, a build_ext of its own) counts as it counts in the project's own build.

Used by the hook (_hook.py), and by scripts/read_project.py, which may run in a Python without dsbuild: standard library alone.
"""

import contextlib
import copy
import functools
import json
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile

# What torch compiles for is asked for separately where the user says nothing: torch would ask a GPU, or fail without one.
ANY_ARCH = "8.0"
RULES = ("compile", "cuda_compile", "cuda_devlink", "sycl_compile", "sycl_devlink")


class Commands:
    """Of one extension."""

    def __init__(self, extension, objects):
        self.extension = extension
        self.objects = objects  # the folder that compiles write to
        self.compiles = []  # (source, words) of each
        self.links = []
        self.others = []  # neither a compile of one source nor a link of the module: device links
        self.bare = None  # Commands: what torch adds to an extension of this kind
        self.of_list = False  # for the archs of TORCH_CUDA_ARCH_LIST, where the flags name none

    def of_language(self, is_cuda):
        """The words of a compile of that language: all of an extension have the same. None where it has none."""
        return next((words for source, words in self.compiles if source.endswith(".cu") == is_cuda), None)

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
    """A compile, a link or another command of an extension. Paths are made absolute: `folder` is where it would run."""
    if "-c" not in words:
        (commands.links if "-shared" in words else commands.others).append(words)
        return
    source = next((word for word in reversed(words[words.index("-c"):]) if is_source(word)), None)
    if source is None:
        commands.others.append(words)
    else:
        commands.compiles.append((os.path.join(folder, source), [word for word in words if word != source]))


def is_source(word):
    return not word.startswith("-") and os.path.splitext(word)[1] in (".c", ".cc", ".cpp", ".cxx", ".cu", ".hip", ".sycl", ".mm",
                                                                     ".C", ".c++", ".m")


# ---- what they say

WITH_VALUE = ("-I", "-isystem", "-iquote", "-idirafter", "-D", "-U", "-include", "-L", "-l", "-Xcompiler", "--compiler-options",
              "-Xptxas", "--ptxas-options", "-Xlinker", "--linker-options", "-Xcudafe", "-Xfatbin", "-Xnvlink", "-ccbin",
              "--compiler-bindir", "-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code", "-std",
              "--std", "-o", "-MF", "-MT", "-MQ", "-x", "-rpath", "-maxrregcount", "--maxrregcount", "-t", "--threads",
              "-diag-suppress", "--diag-suppress", "-rdc", "--relocatable-device-code", "-dependency-output",
              "--dependency-output", "-B", "-u", "-z", "-T", "--param", "-isysroot", "-arch_only", "-default-stream",
              "--default-stream", "-Xarchive")
# Of a compile's call, no matter of what is compiled.
OF_CALL = ("-c", "-o", "-MD", "-MMD", "-MF", "-MT", "-MQ", "--generate-dependencies-with-compile", "-dependency-output",
           "--dependency-output")
JOINED = ("-I", "-D", "-U", "-L", "-l")


def units(words):
    """Options with their values: ["-I", "x", "-g"] -> [("-I", "x"), ("-g", None)]. An option's spelling stays."""
    found, rest = [], list(words)
    while rest:
        word = rest.pop(0)
        start = next((option for option in JOINED if word.startswith(option) and word != option and not is_long(word)), None)
        if start:
            found.append((start, word[len(start):]))
        elif word in WITH_VALUE and rest:
            found.append((word, rest.pop(0)))
        else:
            found.append((word, None))
    return found


def is_long(word):
    """nvcc has long options with one dash."""
    return word in ("-lineinfo", "-lto")


def words_of(found):
    return [word for option, value in found
            for word in ([option] if value is None else [option + value] if option in JOINED else [option, value])]


def without(found, others):
    """`found` less `others`, each once; in order."""
    others = list(others)
    rest = []
    for unit in found:
        if unit in others:
            others.remove(unit)
        else:
            rest.append(unit)
    return rest


def arguments(words):
    """Of a command, without its program and what is before it (ccache)."""
    first = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    return [unit for unit in units(words[first:]) if unit[0] not in OF_CALL]


# Of the flags that Python itself was built with, which distutils gives to every extension, those that change code. Its warnings,
# debug information, paths, libraries and link-time optimisation are no matter of an extension.
CHANGES_CODE = re.compile(r"-O[0-3s]|-[DU]|-f(no-)?(wrapv|strict-aliasing|strict-overflow|stack-protector(-strong|-all)?|exceptions"
                          r"|omit-frame-pointer|plt|tree-vectorize)|-m.*|-pthread")
CHANGES_LINK = re.compile(r"-Wl,(-z,(relro|now|noexecstack)|-Bsymbolic-functions|--as-needed|-O1)|-pthread|-[lL]")
# distutils gives CFLAGS to the linker too.
OF_COMPILES_ALONE = re.compile(r"-O.*|-[DUI]|-isystem|-g.*|-W(?!l,).*|-f(?!lto|openmp|sanitize).*|-m.*|-std|-std=.*|-include|-pipe|-c|-shared|-o")


@functools.lru_cache(maxsize=None)
def flags_of_pythons_build():
    """(of each compile, of each link)"""
    from distutils import ccompiler
    from distutils.sysconfig import customize_compiler

    users = ("CC", "CXX", "CPP", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS", "LDSHARED", "LDCXXSHARED", "AR", "ARFLAGS")
    before = {name: os.environ.pop(name) for name in users if name in os.environ}
    try:
        compiler = ccompiler.new_compiler()
        customize_compiler(compiler)
    finally:
        os.environ.update(before)
    return units(list(compiler.compiler_so)[1:]), units(list(compiler.linker_so)[1:])


def libraries_of(commands):
    return [value for words in commands.links for option, value in arguments(words) if option == "-l"]


def kind_of(commands):
    """"cuda", "cpp", or "plain" where it is none of torch's."""
    libraries = set(libraries_of(commands))
    return "plain" if not {"c10", "torch"} <= libraries else "cuda" if "c10_cuda" in libraries else "cpp"


def described_extensions(command, builder, makers, folder):
    """(the commands, the descriptions) of the extensions of a build_ext that is about to start its compilers. `makers`: torch's
    functions by kind; `folder`: of the project. Raises Unreadable."""
    everything, of_list = commands_of(command, builder)
    bare = {kind: bare_of(kind, command, builder, makers) for kind in set(map(kind_of, everything))}
    for commands in everything:
        commands.bare, commands.of_list = bare[kind_of(commands)], of_list
    return everything, [described(commands, folder) for commands in everything]


def bare_of(kind, command, builder, makers):
    """What torch adds to an extension of this kind."""
    if kind == "plain":
        return Commands(None, "")
    return bare_commands(command, builder, makers[kind], ["nothing.cpp"] + ["nothing_on_gpu.cu"] * (kind == "cuda"))


def described(commands, folder):
    """As scripts/read_project.py answers of an extension."""
    of_compile, of_link = flags_of_pythons_build()
    flags = {"cxx": own_flags(commands, False), "nvcc": own_flags(commands, True)}
    if flags["cxx"] is not None:
        flags["cxx"] = without(flags["cxx"], [unit for unit in of_compile if not CHANGES_CODE.fullmatch(unit[0])])
    list_archs = []
    if flags["nvcc"] and not has_own_archs(commands.extension):
        of_list = [unit for unit in flags["nvcc"] if unit[0].split("=")[0] == "-gencode"]
        flags["nvcc"] = without(flags["nvcc"], of_list)
        list_archs = words_of(of_list) if commands.of_list else []
    inside, outside = own_folders([value for found in flags.values() for option, value in found or [] if option in ("-I", "-isystem")], folder)
    defines = once_defined([without(found, of_compile) for found in flags.values() if found is not None])
    words = {language: words_of(unit for unit in found or [] if unit[0] not in ("-I", "-isystem")
                                and not (unit[0] == "-D" and unit[1] in defines)) for language, found in flags.items()}
    kind = kind_of(commands)
    where = getattr(commands.extension, "dsbuild_where", "setup.py")
    return {"name": commands.extension.name, "kind": kind, "torch": kind != "plain", "where": where, "suffix": "", "package_root": "",
            "sources": [within(source, folder) for source, _ in commands.compiles],
            "include_dirs": inside, "folders": outside, "list_archs": list_archs, "defines": [define.split("=", 1) for define in defines],
            "undefines": [], **words, **described_link(commands, of_link)}


def placed(name, command, folder, note):
    """How a build_ext names the module's file, and the folder of the project that packages are in."""
    try:
        file = command.get_ext_filename(name)
        stem = os.path.join(*name.split("."))
        suffix = file[len(stem):] if file.startswith(stem) else ""
        asked = copy.copy(command)
        asked.inplace = True
        lies = os.path.relpath(os.path.abspath(asked.get_ext_fullpath(name)), folder)
        root = lies[:-len(file)].rstrip("/") if lies.endswith(file) else ""
    except Exception as error:  # of the project's own class
        note(f"{name}: its build_ext does not say what the module's file is called ({type(error).__name__}: {error})")
        return {}
    return {"suffix": "" if suffix == sysconfig.get_config_var("EXT_SUFFIX") else suffix, "package_root": root}


def own_flags(commands, is_cuda):
    """Without those that torch adds; None where the extension has no source of that language."""
    words = commands.of_language(is_cuda)
    if words is None:
        return None
    return [unit for unit in without(arguments(words), arguments(commands.bare.of_language(is_cuda) or []))
            if not (unit[0] == "-D" and unit[1].startswith("TORCH_EXTENSION_NAME="))]


def has_own_archs(extension):
    """As torch decides: its list of archs is not for them then."""
    given = extension.extra_compile_args or []
    flags = given.get("nvcc", []) if isinstance(given, dict) else given
    return any("arch" in str(flag) and "TORCH_EXTENSION_NAME" not in str(flag) for flag in flags)


def once_defined(languages):
    """Macros that each of the compiles defines in the same way, and once: where they stand makes no difference."""
    def names(found):
        return [value.split("=")[0] for option, value in found if option in ("-D", "-U")]

    if not languages:
        return []
    return [value for option, value in languages[0]
            if option == "-D" and not value.endswith("=") and all(names(found).count(value.split("=")[0]) == 1 for found in languages)
            and all((option, value) in found for found in languages)]


def within(path, folder):
    """Relative to the project's folder where it lies in it."""
    relative = os.path.relpath(path, folder)
    return path if relative.startswith("..") and os.path.isabs(path) else relative


def own_folders(folders, project):
    """(those in the project, those elsewhere as op.yaml's `folder` has them): neither Python's own nor ones without a file."""
    usual = pythons_folders()
    inside, outside = [], []
    for folder in dict.fromkeys(folders):
        whole = os.path.join(project, folder)
        if not os.path.relpath(whole, project).startswith(".."):
            inside.append(within(whole, project))
        elif os.path.realpath(whole) not in usual and any(files for _, _, files in os.walk(whole)):
            outside.append(elsewhere(whole))
    return inside, outside


def pythons_folders():
    """Of its own headers."""
    from distutils.sysconfig import get_python_inc

    return {os.path.realpath(get_python_inc(is_platforms)) for is_platforms in (False, True)}


def elsewhere(folder):
    """By what moves with it: Python's packages, Python."""
    folder = os.path.realpath(folder) if ".." in folder.split(os.sep) else os.path.normpath(folder)
    for name, places in (("packages", (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))), ("python", (sys.prefix, ))):
        for place in places:
            if is_inside(folder, place):
                return {"folder": os.path.relpath(folder, place), "in": name}
    return {"folder": folder, "in": ""}


def described_link(commands, of_link):
    own = without([unit for words in commands.links for unit in arguments(words)],
                  [unit for words in commands.bare.links for unit in arguments(words)])
    libraries = [value for option, value in own if option == "-l"]
    found = without(own, [unit for unit in of_link if not CHANGES_LINK.fullmatch(unit[0])])
    described_as = {"libraries": libraries, "library_dirs": [], "runtime_library_dirs": [], "extra_objects": [], "link": []}
    for option, value in found:
        rpath = re.fullmatch(r"-Wl,(?:--enable-new-dtags,)?-?-rpath[,=](.*)", option)
        if option == "-l":
            continue
        if option == "-L":
            described_as["library_dirs"] += [value] if holds_one(value, libraries) else []
        elif rpath:
            described_as["runtime_library_dirs"].append(rpath[1])
        elif not option.startswith("-"):
            if not is_inside(option, commands.objects):
                described_as["extra_objects"].append(option)
        elif not OF_COMPILES_ALONE.fullmatch(option):
            described_as["link"] += words_of([(option, value)])
    return described_as


def holds_one(folder, libraries):
    """A folder that holds none of them is of no use to the linker, nor is one that it looks in anyway."""
    usual = os.path.realpath(folder) in map(os.path.realpath, ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"))
    usual = usual or is_inside(os.path.realpath(folder), os.path.realpath(os.environ.get("CUDA_HOME") or "/usr/local/cuda"))
    return not usual and any(os.path.exists(os.path.join(folder, f"lib{name}{end}")) for name in libraries for end in (".so", ".a"))


def is_inside(path, folder):
    return os.path.abspath(path).startswith(os.path.abspath(folder) + os.sep)


# ---- of the session

OF_SESSION = {"HOME", "LANG", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "TERM", "TMPDIR", "USER", "_"}
LONGEST_SCRIPT = 1 << 16


def variables_of_wrappers():
    """Those that are set and that a compiler names which is a script: the project's own build hands all on to it."""
    names = set()
    for variable in ("CC", "CXX", "CUDAHOSTCXX"):
        for word in shlex.split(os.environ.get(variable, "")):
            names.update(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text_of_script(shutil.which(word))))
    return sorted((names & set(os.environ)) - OF_SESSION)


def text_of_script(program):
    if not program or not os.access(program, os.R_OK):
        return ""
    with open(program, "rb") as file:
        text = file.read(LONGEST_SCRIPT)
    return text.decode(errors="replace") if text.startswith(b"#!") else ""
