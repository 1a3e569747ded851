"""Words of compilers' command lines: options with their values, and which of those that Python itself was built with count."""

import functools
import os
import re
import sysconfig

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


def languages_of(found):
    """Of {"cxx": folders or None, "nvcc": …}: {folder: the one language that has it; "" for all that are there}, in order."""
    there = {language: folders for language, folders in found.items() if folders is not None}
    every = dict.fromkeys(folder for folders in there.values() for folder in folders)
    return {folder: "" if all(folder in folders for folders in there.values())
            else next(language for language, folders in there.items() if folder in folders) for folder in every}


def rpath_of(option):
    """The folder of -Wl,-rpath,DIR, in each of its spellings, alone; None of another option."""
    found = re.fullmatch(r"-Wl,(?:--enable-new-dtags,)?(?:--?rpath[,=]|-R,?)([^,]+)", option)
    return found and found[1]


def first_option(words):
    """Where a command's options begin, after its program and what is before that (ccache)."""
    return next((at for at, word in enumerate(words) if word.startswith("-")), len(words))


def arguments(words):
    """The options of a command, without those of OF_CALL."""
    return [unit for unit in units(words[first_option(words):]) if unit[0] not in OF_CALL]


# Of the flags that Python itself was built with, which distutils gives to every extension, those that change code. Its warnings,
# debug information, paths, libraries and link-time optimisation are no matter of an extension.
CHANGES_CODE = re.compile(r"-O[0-3s]|-[DU]|-f(no-)?(wrapv|strict-aliasing|strict-overflow|stack-protector(-strong|-all)?"
                          r"|exceptions|omit-frame-pointer|plt|tree-vectorize)|-m.*|-pthread")
CHANGES_LINK = re.compile(r"-Wl,(-z,(relro|now|noexecstack)|-Bsymbolic-functions|--as-needed|-O1)|-pthread|-[lL]")
# They count for the libraries after them alone.
POSITIONAL = ("-Wl,--as-needed", "-Wl,--no-as-needed")
# distutils gives CFLAGS to the linker too.
OF_COMPILES_ALONE = re.compile(r"-O.*|-[DUI]|-isystem|-g.*|-W(?!l,).*|-f(?!lto|openmp|sanitize).*|-m.*|-std|-std=.*|-include"
                               r"|-pipe|-c|-shared|-o")


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


def is_inside(path, folder):
    return os.path.abspath(path).startswith(os.path.abspath(folder) + os.sep)


def holds_files(folder):
    return any(files for _, _, files in os.walk(folder))


def pythons_folders():
    """Of its own headers."""
    from distutils.sysconfig import get_python_inc

    folders = [get_python_inc(), get_python_inc(True), sysconfig.get_path("include"), sysconfig.get_path("platinclude")]
    return set(map(os.path.realpath, folders))
