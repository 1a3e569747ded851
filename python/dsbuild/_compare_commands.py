"""What the commands of torch's own build_ext have that dsbuild's plan for the same extension has not, and the reverse.

Words count by what they do: where a folder of headers stands only matters where two folders have a header of one name.
"""

import os
import re
import shutil
import subprocess

from ._command_words import (arguments, first_option, flags_of_pythons_build, holds_files, pythons_folders, rpath_of, without,
                             CHANGES_CODE, CHANGES_LINK, OF_COMPILES_ALONE, POSITIONAL)

# dsbuild's own: of slices and records that name no machine, and of libraries without debug information.
OWN_OF_COMPILES = re.compile(r"-fPIC|-fno-canonical-system-headers|-Xcompiler=-fno-canonical-system-headers|-Xcompiler=-fPIC"
                             r"|-objdir-as-tempdir|-frandom-seed=.*|-include=pch/.*")
OWN_OF_LINKS = re.compile(r"-shared|-Wl,--exclude-libs,libstdc\+\+\.a|-Wl,--strip-all")
# nvcc's threads: how it works, not what it makes.
JOB_CONTROL = re.compile(r"-(t|threads|split-compile|j)(=.*)?|-j[0-9]*")
SHORT = {"-compiler-options": "-Xcompiler", "-generate-code": "-gencode", "-gpu-architecture": "-arch",
         "-ptxas-options": "-Xptxas", "-compiler-bindir": "-ccbin", "-relocatable-device-code": "-rdc"}
LISTS_OF_FOLDERS = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH")
CHOICES = {"CC", "CXX", "CUDAHOSTCXX", "NVCC_CCBIN"}
OF_SYSTEM = ("/usr/include", "/usr/local/include")


def differences(commands, planned, source_root, compares_archs=True):
    """Texts; none: dsbuild makes what torch's build_ext would. `planned`: an op of `dsbuild plan --json`; None: it has none."""
    if planned is None or planned["status"] != "build":
        return [f"dsbuild builds none ({(planned or {}).get('reason') or 'the reason is above'})"]
    ours = {os.path.realpath(os.path.join(source_root, source["file"])): source for source in planned["sources"]}
    found = [f"a command that compiles no source: {' '.join(words)}"[:200] for words in commands.others[:1]]
    compiled = {os.path.realpath(source) for source, _, _ in commands.compiles}
    found += [f"no command compiles {source}" for source in commands.extension.sources if os.path.realpath(source) not in compiled]
    for folder in dict.fromkeys(folder for _, _, folder in commands.compiles):
        found += relative_folders(folder) if folder != commands.objects else []  # where nothing lies before a build
    for source, words, _ in commands.compiles:
        mine = ours.get(os.path.realpath(source))
        if mine is None or mine["flags"] is None:
            found.append(f"the source {source}")
        else:
            found += differences_of_compile(Compile(words), Compile(mine["compiler"] + mine["flags"]), compares_archs)
    for words in commands.links:
        found += differences_of_link(arguments(words), arguments(planned["link_flags"]))
    if os.environ.get("LD_RUN_PATH"):
        found.append("the linker reads LD_RUN_PATH")
    return list(dict.fromkeys(found))


# ---- a compile


class Compile:
    """What a command says, in one spelling."""

    def __init__(self, words):
        self.macros, self.folders, self.system_folders, self.flags, self.ccbin = {}, [], [], [], None
        self.archs, self.short_arch = set(), set()  # of -gencode, of -arch
        self.program = words[first_option(words) - 1]  # behind ccache
        self.is_cuda = os.path.basename(self.program).startswith("nvcc")
        for option, value in arguments(words):
            self.take(option, value)
        self.archs |= self.short_arch

    def implied_folders(self):
        """nvcc's own, which it searches after those of -I."""
        if not self.is_cuda:
            return []
        home = os.path.join(os.path.dirname(resolved(self.program)), "..")
        below = (["include"], ["targets", "x86_64-linux", "include"], ["targets", "sbsa-linux", "include"])
        return list(map(os.path.realpath, (os.path.join(home, *each) for each in below)))

    def searched_folders(self):
        """With headers, in the order in which they are searched, each once."""
        folders = [*self.folders, *absolute_folders_of("CPATH"), *self.implied_folders(), *self.system_folders]
        return [folder for folder in dict.fromkeys(map(os.path.realpath, folders)) if holds_files(folder)]

    def take(self, option, value):
        name, is_joined, rest = option.partition("=")
        if is_joined and name.startswith("-") and value is None:
            option, value = name, rest
        if self.is_cuda and option.startswith("--"):
            option = option[1:]
        option = SHORT.get(option, option)
        if option in ("-D", "-U"):
            macro, _, given = value.partition("=")
            self.macros[macro] = None if option == "-U" else given if "=" in value else "1"
        elif option in ("-I", "-isystem"):
            (self.folders if option == "-I" else self.system_folders).append(value)
        elif option == "-ccbin":
            self.ccbin = value
        elif option == "-gencode":
            self.archs |= images_of(value)
        elif option == "-arch":
            self.short_arch = images_of(value)  # the last counts
        elif option in ("-Xcompiler", "-Xptxas", "-Xcudafe", "-Xfatbin"):
            self.flags += [f"{option}={word}" for word in re.split(r"[, ]+", value.strip("'\" ")) if word]
        elif not JOB_CONTROL.fullmatch(option):
            self.flags.append(option if value is None else f"{option}={value}")


def images_of(value):
    """{("90", "sm_90"), ("90", "compute_90")}, virtual arch and code: of "arch=compute_90,code=[sm_90,compute_90]", of "sm_90"."""
    found = re.match(r"(?:arch=)?(?:compute|sm)_(\d+[af]?)", value)
    codes = re.findall(r"(?:sm|compute)_\d+[af]?", value.partition("code=")[2])
    of_short = {value, value.replace("sm_", "compute_")}
    return {(found[1], code) for code in codes or of_short} if found else {(value, value)}


def differences_of_compile(theirs, ours, compares_archs):
    found = []
    if not is_same_compiler(theirs.program, ours.program):
        found.append(f"the compiler is {theirs.program}, not {ours.program}")
    if theirs.is_cuda and not is_same_host_compiler(theirs.ccbin or os.environ.get("NVCC_CCBIN"), ours.ccbin or ""):
        found.append(f"the host compiler is {theirs.ccbin or 'the default'}, not {ours.ccbin}")
    pythons = [option for option, _ in flags_of_pythons_build()[0] if not CHANGES_CODE.fullmatch(option)]
    found += differences_of_flags(without(theirs.flags, [] if theirs.is_cuda else pythons), ours.flags)
    for macro in sorted(set(theirs.macros) | set(ours.macros)):
        if theirs.macros.get(macro) != ours.macros.get(macro):
            found.append(f"the macro {macro} is {said(theirs, macro)}, not {said(ours, macro)}")
    if compares_archs and theirs.archs != ours.archs:
        found.append(f"it is for {said_images(theirs)}, not {said_images(ours)}")
    return found + differences_of_folders(theirs, ours)


def said_images(compile_):
    images = sorted(f"{code} of compute_{virtual}" for virtual, code in compile_.archs)
    return ", ".join(images) or "the arch that nvcc takes by itself (torch names none beside a flag that holds 'arch')"


def said(compile_, macro):
    value = compile_.macros.get(macro)
    return "not defined" if value is None else repr(value)


def differences_of_flags(theirs, ours):
    theirs, ours = (last_of_each(flag for flag in flags if flag and not OWN_OF_COMPILES.fullmatch(flag))
                    for flags in (theirs, ours))
    found = [f"the flag {flag}" for flag in without(theirs, ours)]
    found += [f"dsbuild adds {flag}" for flag in without(ours, theirs)]
    if not found:
        families = {family(flag) for flag in theirs}
        found = [f"the order of the flags {name}" for name in sorted(families)
                 if [flag for flag in theirs if family(flag) == name] != [flag for flag in ours if family(flag) == name]]
    return found


def last_of_each(flags):
    """As the pack has them: the last of equal ones, of -std the last of all."""
    last = list(reversed(dict.fromkeys(reversed(list(flags)))))
    standards = [flag for flag in last if re.match(r"--?std=", flag)]
    return without(last, standards[:-1])


def family(flag):
    """Of flags of which the last counts."""
    return re.sub(r"^(-O).*", r"\1", re.sub(r"^(-(?:Xcompiler=-)?[fmW])no-", r"\1", flag)).split("=")[0]


def differences_of_folders(theirs, ours):
    needless = pythons_folders().union(OF_SYSTEM, theirs.implied_folders())
    known, mine = theirs.searched_folders(), ours.searched_folders()
    found = [f"the folder of headers {folder}" for folder in known if folder not in mine and folder not in needless]
    found += [f"dsbuild adds the folder of headers {folder}" for folder in mine
              if folder not in known and folder not in needless]
    common = [folder for folder in known if folder in mine]
    for at, first in enumerate(common):
        for second in common[at + 1:]:
            if mine.index(second) < mine.index(first) and set(os.listdir(first)) & set(os.listdir(second)):
                found.append(f"headers of one name are in {first} and then in {second}")
    return found


def entries_of(variable):
    return os.environ[variable].split(":") if os.environ.get(variable) else []


def absolute_folders_of(variable):
    return [folder for folder in entries_of(variable) if os.path.isabs(folder)]


def relative_folders(folder):
    """dsbuild's commands run in a folder of its own, where those of a compiler's variables name nothing; an empty one is "."."""
    return [f"{variable} names the folder '{entry}', which is relative" for variable in LISTS_OF_FOLDERS
            for entry in entries_of(variable) if not os.path.isabs(entry) and holds_files(os.path.join(folder, entry))]


def resolved(program):
    return os.path.realpath(shutil.which(program) or program)


def is_same_host_compiler(theirs, ours):
    """nvcc's default, where torch names none, is g++; dsbuild takes CXX, which may be a script in front of the same."""
    return is_same_compiler(theirs or "g++", ours) or (theirs is None and version_of("g++") == version_of(ours) is not None)


def version_of(compiler):
    try:
        run = subprocess.run([compiler, "-dumpfullversion", "-dumpmachine"], stdout=subprocess.PIPE, check=True)
        return run.stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def is_same_compiler(theirs, ours):
    """A C compiler's name stands for the C++ compiler beside it, and a folder for the compiler in it."""
    is_chosen = theirs not in ("c++", "g++", "gcc", "cc") or CHOICES & set(os.environ)
    if not is_chosen and re.search(r"g\+\+", os.path.basename(resolved(ours))):
        return True  # an older gcc may be what the toolkit needs
    folder, name = os.path.split(theirs)
    of_cxx = [re.sub(c, cxx, name) for c, cxx in (("gcc", "g++"), ("clang", "clang++"), ("^cc$", "c++"))]
    spelled = [theirs, os.path.join(theirs, "g++"), *(os.path.join(folder, each) for each in of_cxx)]
    return resolved(ours) in map(resolved, spelled)


# ---- a link


def differences_of_link(theirs, ours):
    libraries, mine = ([name_of_library(value) for option, value in found if option == "-l"] for found in (theirs, ours))
    found = [f"the library {name}" for name in libraries if name not in mine]
    found += [f"dsbuild adds the library {name}" for name in mine if name not in libraries]
    if not found and state_of_libraries(theirs) != state_of_libraries(ours):
        found.append("the order of the libraries")
    found += [f"the library {name} is that of {place(name, theirs)}, not of {place(name, ours)}"
              for name in libraries if name in mine and place(name, theirs) != place(name, ours)]
    pythons = [option for option, _ in flags_of_pythons_build()[1] if not CHANGES_LINK.fullmatch(option)]
    flags = without([in_one_spelling(option) for option, value in theirs if option.startswith("-") and option not in ("-l", "-L")],
                    pythons)
    flags = [flag for flag in flags if flag not in POSITIONAL and not OF_COMPILES_ALONE.fullmatch(flag)
             and not OWN_OF_LINKS.fullmatch(flag)]
    others = [option for option, value in ours if option.startswith("-") and option not in ("-l", "-L")
              and option not in POSITIONAL and not OWN_OF_LINKS.fullmatch(option)]
    found += [f"the link's {flag}" for flag in without(flags, others)]
    return found + [f"dsbuild adds to the link {flag}" for flag in without(others, flags)]


def in_one_spelling(option):
    folder = rpath_of(option)
    return f"-Wl,-rpath,{folder}" if folder else option


def state_of_libraries(found):
    """In order, each with the last of the words before it that changes how it is linked; where cudart stands is no matter."""
    state, libraries = None, []
    for option, value in found:
        state = option if option in POSITIONAL else state
        if option == "-l" and name_of_library(value) != "cudart":
            libraries.append((name_of_library(value), state))
    return list(dict.fromkeys([*libraries, ("the compiler's own", state)]))


def name_of_library(value):
    """cudart of :libcudart.so.13 too, by which PyPI's packages name it."""
    file = re.fullmatch(r":lib(.*)\.so[.0-9]*", value)
    return file[1] if file else value


def place(library, found):
    """The folder of -L in which the linker finds it; None: in its own."""
    for option, folder in found:
        if option == "-L":
            for end in (".so", ".a"):
                file = os.path.join(folder, f"lib{library}{end}")
                if os.path.exists(file):
                    return os.path.dirname(os.path.realpath(file))
    return None
