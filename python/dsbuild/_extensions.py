"""A project's extensions as `dsbuild build DIR --extensions FILE` takes them: by what torch's own build_ext would run for them,
without what torch adds of itself. Used by the hook (_hook.py) and by scripts/read_project.py."""

import copy
import os
import re
import shlex
import shutil
import sys
import sysconfig
import tempfile

from ._command_words import (arguments, flags_of_pythons_build, holds_files, is_inside, languages_of, pythons_folders, rpath_of,
                             without, words_of, CHANGES_CODE, CHANGES_LINK, OF_COMPILES_ALONE, POSITIONAL)
from ._torch_commands import bare_commands, commands_of, has_own_archs, Commands


def libraries_of(commands):
    return [value for words in commands.links for option, value in arguments(words) if option == "-l"]


def kind_of(commands):
    """"cuda", "cpp", or "plain" where it is none of torch's."""
    libraries = set(libraries_of(commands))
    return "plain" if not {"c10", "torch"} <= libraries else "cuda" if "c10_cuda" in libraries else "cpp"


class Described:
    """The extensions of a build_ext that is about to start its compilers."""

    def __init__(self, commands=(), extensions=(), folder=""):
        self.commands, self.extensions = commands, extensions  # of each, in one order
        self.folder = folder  # that their paths are relative to, and that holds the sources


def described_extensions(command, builder, makers, folder):
    """`makers`: torch's functions by kind; `folder`: of the project. Raises Unreadable."""
    everything, of_list = commands_of(command, builder)
    bare = {kind: bare_of(kind, command, builder, makers) for kind in set(map(kind_of, everything))}
    for commands in everything:
        commands.bare, commands.of_list = bare[kind_of(commands)], of_list
    root = root_of_sources(everything, folder)
    return Described(everything, [described(commands, root) for commands in everything], root)


MOST_ABOVE = 2


def root_of_sources(everything, folder):
    """The project's folder; where sources lie beside it, as those of python/setup.py in csrc, the nearest one above both."""
    sources = [os.path.realpath(source) for commands in everything for source, _, _ in commands.compiles]
    root = os.path.commonpath([folder, *(os.path.dirname(source) for source in sources)])
    above = os.path.relpath(folder, root).count(os.sep) + 1 if root != folder else 0
    is_shared = root in map(os.path.realpath, ("/", "/usr", tempfile.gettempdir(), os.path.expanduser("~")))
    return folder if above > MOST_ABOVE or is_shared else root


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
        of_list = list(filter(names_an_arch, flags["nvcc"]))
        flags["nvcc"] = without(flags["nvcc"], of_list)
        list_archs = words_of(of_list) if commands.of_list else []
    flags["nvcc"] = flags["nvcc"] and with_last_arch(flags["nvcc"])
    inside, outside = own_folders({language: found and folders_of(found) for language, found in flags.items()}, folder)
    defines = once_defined([without(found, of_compile) for found in flags.values() if found is not None])
    words = {language: words_of(unit for unit in found or [] if unit[0] not in ("-I", "-isystem")
                                and not (unit[0] == "-D" and unit[1] in defines)) for language, found in flags.items()}
    kind = kind_of(commands)
    where = getattr(commands.extension, "dsbuild_where", "setup.py")
    return {"name": commands.extension.name, "kind": kind, "torch": kind != "plain", "where": where, "suffix": "",
            "package_root": "",
            "sources": [within(source, folder) for source, _, _ in commands.compiles],
            "include_dirs": inside, "folders": outside, "list_archs": list_archs,
            "defines": [define.split("=", 1) for define in defines],
            **words, **described_link(commands, of_link)}


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
    torchs = [unit for unit in arguments(commands.bare.of_language(is_cuda) or []) if not names_an_arch(unit)]
    own = [unit for unit in without(arguments(words), torchs)
           if not (unit[0] == "-D" and unit[1].startswith("TORCH_EXTENSION_NAME="))]
    standards = [unit for unit in arguments(words) if is_standard(unit)]
    is_torchs = standards and standards[-1] in torchs  # the last counts
    return [unit for unit in own if not (is_torchs and is_standard(unit))]


def names_an_arch(unit):
    """As torch does."""
    return unit[0].split("=")[0] == "-gencode"


def is_standard(unit):
    return re.match(r"--?std\b", unit[0]) is not None


def once_defined(languages):
    """Macros that each of the compiles defines in the same way, and once: where they stand makes no difference."""
    def names(found):
        return [value.split("=")[0] for option, value in found if option in ("-D", "-U")]

    if not languages:
        return []
    return [value for option, value in languages[0]
            if option == "-D" and not value.endswith("=") and all((option, value) in found for found in languages)
            and all(names(found).count(value.split("=")[0]) == 1 for found in languages)]


def within(path, folder):
    """Relative to the project's folder where it lies in it."""
    relative = os.path.relpath(path, folder)
    return path if relative.startswith("..") and os.path.isabs(path) else relative


def folders_of(found):
    return [value for option, value in found if option in ("-I", "-isystem")]


def own_folders(of_languages, project):
    """(those in the project for all languages, the others): neither Python's own nor, outside of the project, ones without a
    file."""
    usual = pythons_folders()
    inside, outside = [], []
    for folder, language in languages_of(of_languages).items():
        whole = os.path.join(project, folder)
        is_of_project = not os.path.relpath(whole, project).startswith("..")
        if is_of_project and language:
            outside.append({"folder": within(whole, project), "in": "project", "for": language})
        elif is_of_project:
            inside.append(within(whole, project))
        elif os.path.realpath(whole) not in usual and holds_files(whole):
            outside.append(elsewhere(whole) | {"for": language})
    return inside, outside


def with_last_arch(found):
    """nvcc takes the last of several -arch."""
    of_arch = [unit for unit in found if re.fullmatch(r"(-arch|--gpu-architecture)(=.*)?", unit[0])]
    return without(found, of_arch[:-1])


def elsewhere(folder):
    """By what moves with it: Python's packages, Python."""
    folder = os.path.realpath(folder) if ".." in folder.split(os.sep) else os.path.normpath(folder)
    for name, place in (("packages", sysconfig.get_path("purelib")), ("packages", sysconfig.get_path("platlib")),
                        ("python", sys.prefix)):
        if is_inside(folder, place):
            return {"folder": os.path.relpath(folder, place), "in": name}
    return {"folder": folder, "in": ""}


def described_link(commands, of_link):
    whole = [unit for words in commands.links for unit in arguments(words)]
    last = max((at for at, (option, _) in enumerate(whole) if option == "-l"), default=0)
    own = without([unit for at, unit in enumerate(whole) if at < last or unit[0] not in POSITIONAL],
                  [unit for words in commands.bare.links for unit in arguments(words)])
    libraries = [value for option, value in own if option == "-l"]
    found = without(own, [unit for unit in of_link if not CHANGES_LINK.fullmatch(unit[0])])
    described_as = {"libraries": libraries, "library_dirs": [], "runtime_library_dirs": [], "extra_objects": [], "link": []}
    for option, value in found:
        rpath = rpath_of(option)
        if option == "-l":
            continue
        if option == "-L":
            described_as["library_dirs"] += [value] if holds_one(value, libraries) else []
        elif rpath:
            described_as["runtime_library_dirs"].append(rpath)
        elif not option.startswith("-"):
            if os.path.abspath(option) not in commands.made:
                described_as["extra_objects"].append(option)
        elif not OF_COMPILES_ALONE.fullmatch(option):
            described_as["link"] += words_of([(option, value)])
    return described_as


def holds_one(folder, libraries):
    """A folder that holds none of them is of no use to the linker, nor is one that it looks in anyway."""
    usual = os.path.realpath(folder) in map(os.path.realpath, ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"))
    usual = usual or is_inside(os.path.realpath(folder), os.path.realpath(os.environ.get("CUDA_HOME") or "/usr/local/cuda"))
    files = [f"lib{name}{end}" for name in libraries for end in (".so", ".a")]
    return not usual and any(os.path.exists(os.path.join(folder, file)) for file in files)


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
