"""Says what a project's build would compile, without compiling: `dsbuild new --from` and `dsbuild build DIR` start it.

    python3 read_project.py FOLDER|ARCHIVE UNPACK_INTO [GIVEN]

FOLDER has a setup.py, which is run as far as its call of setup(), or a build.toml of kernel-builder, or is an archive of
such a folder (then it is unpacked first). GIVEN is a file of python/dsbuild/_hook.py, whose setup.py runs already: what its
setup() and its build_ext were given; nothing of the project is run then. The answer on stdout is JSON; what the project
prints goes to stderr. Exit code 0, or 1 with {"error": {"code", "what", "fix"}}.

{"name", "version", "license", "folder", "file": "setup.py", "said": [what is worth knowing],
 "whole": an extension of which something must be left out is left out,
 "globs": [{"pattern", "files": []}],
 "environment": {variable that setup.py sets: value, or null where it removes it},
 "extensions": [{"name", "kind": "cuda" | "cpp" | "plain", "torch": it is one of torch, "where": "setup.py:71", "suffix": "" | ".so", "package_root",
                 "sources": [], "include_dirs": [], "defines": [[name, value or null]], "undefines": [],
                 "libraries": [], "library_dirs": [], "runtime_library_dirs": [], "extra_objects": [],
                 "cxx": [], "nvcc": [], "link": []}]}
"""

import contextlib
import glob
import json
import os
import runpy
import shlex
import sys
import tarfile
import traceback
import types
import zipfile

CAPABILITY = (8, 0)  # what a project is told that asks the GPU


class Refused(Exception):
    def __init__(self, code, what, fix):
        super().__init__(what)
        self.answer = {"error": {"code": code, "what": what, "fix": fix}}


# ---- archives


def unpack(archive, into):
    """The one folder that a source distribution holds."""
    os.makedirs(into, exist_ok=True)
    with open_archive(archive) as (names, extract):
        tops = {name.split("/", 1)[0] for name in names if name.strip("./")}
        if len(tops) != 1:
            raise Refused("bad_project", f"{archive} holds {len(tops)} files and folders, and a source distribution holds "
                          "one folder", "Unpack it, and name the folder.")
        extract(into)
    return os.path.join(into, tops.pop())


@contextlib.contextmanager
def open_archive(archive):
    if not os.path.exists(archive):
        raise Refused("bad_project", "there is no such folder or file", "Name a folder with a setup.py, or an archive of one.")
    try:
        if tarfile.is_tarfile(archive):
            with tarfile.open(archive) as tar:
                filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
                yield tar.getnames(), lambda into: tar.extractall(into, **filters)
            return
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                yield packed.namelist(), packed.extractall
            return
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
        raise Refused("bad_project", f"{archive} cannot be unpacked: {error}", "Fetch it again.") from error
    raise Refused("bad_project", f"{archive} is neither a folder nor an archive (tar, zip)",
                  "Name a folder with a setup.py, or a source distribution (pip download --no-deps --no-binary :all: NAME).")


# ---- setup.py


class Observer:
    """What setup.py uses of torch and of glob, replaced by what says what it was called with."""

    def __init__(self, folder):
        self.folder = folder
        self.said = []
        self.globs = {}

    def note(self, line):
        if line not in self.said:
            self.said.append(line)

    def where(self, frame):
        """The line of the project from which a function was called."""
        while frame is not None:
            file = os.path.abspath(frame.f_code.co_filename)
            if file.startswith(self.folder + os.sep):
                return f"{os.path.relpath(file, self.folder)}:{frame.f_lineno}"
            frame = frame.f_back
        return "setup.py"

    def watch_glob(self):
        original = glob.glob

        def observed(pathname, *arguments, **keywords):
            found = original(pathname, *arguments, **keywords)
            pattern = os.path.relpath(os.path.abspath(pathname), self.folder)
            if not found or pattern.startswith("..") or ("**" in pattern and not keywords.get("recursive")):
                return found
            self.globs[pattern] = sorted(os.path.relpath(os.path.abspath(file), self.folder) for file in found)
            return found

        glob.glob = observed

    def watch_torch(self):
        try:
            import torch
        except Exception as error:
            traceback.print_exc()
            raise Refused("bad_project", f"{sys.executable} cannot import torch: {type(error).__name__}: {error}",
                          "Install the torch that the project is for, or name the Python that has it (--python).") from error
        import torch.utils.cpp_extension as builder

        torch.cuda.is_available = lambda: True
        torch.cuda.device_count = lambda: 1
        torch.cuda.current_device = lambda: 0
        torch.cuda.get_device_capability = self.capability
        for name, kind in (("CUDAExtension", "cuda"), ("CppExtension", "cpp")):
            setattr(builder, name, self.watched(getattr(builder, name), kind))

    def capability(self, *_):
        self.note(f"it asks the GPU for its compute capability, and was told {CAPABILITY[0]}.{CAPABILITY[1]} "
                  f"({self.where(sys._getframe(1))})")
        return CAPABILITY

    def watched(self, make, kind):
        """The extension as torch makes it, with what torch has added of itself."""

        def observed(name, sources, *arguments, **keywords):
            extension = make(name, sources, *arguments, **keywords)
            extension.dsbuild_kind = kind
            extension.dsbuild_where = self.where(sys._getframe(1))
            extension.dsbuild_added = make("nothing", [])
            return extension

        return observed


def run_setup(folder, observer):
    """The Distribution of the project's setup() before any command runs."""
    import distutils.core
    import setuptools  # noqa: F401  it brings its own distutils

    core = sys.modules["distutils.core"] if "distutils.core" in sys.modules else distutils.core
    file = os.path.join(folder, "setup.py")
    sys.argv = [file, "build_ext"]
    sys.path.insert(0, folder)
    core._setup_stop_after = "commandline"
    core._setup_distribution = None
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as end:
        if core._setup_distribution is None:
            raise Refused("bad_project", f"setup.py ends itself ({end.code}) before it calls setup()",
                          "What it printed above says why.") from end
    except BaseException as error:
        raise Refused("bad_project", "setup.py fails: " + last_lines(error, folder),
                      "dsbuild runs it with FORCE_CUDA=1 and CUDA_HOME="
                      + os.environ.get("CUDA_HOME", "(none)") + ", by " + sys.executable
                      + ": install there what it imports, or name another Python (--python).") from error
    finally:
        core._setup_stop_after = None
    if core._setup_distribution is None:
        raise Refused("bad_project", "setup.py does not call setup()", "Name the folder of a project that setuptools builds.")
    return core._setup_distribution


def last_lines(error, folder):
    traceback.print_exception(type(error), error, error.__traceback__)
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(folder + os.sep)]
    place = f" ({os.path.relpath(own[-1].filename, folder)}:{own[-1].lineno}: {own[-1].line})" if own else ""
    return "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()[-1] + place


def read_setup(folder):
    observer = Observer(folder)
    os.environ.setdefault("FORCE_CUDA", "1")
    observer.watch_glob()
    observer.watch_torch()
    setup_sets_own_variables()
    before = dict(os.environ)
    distribution = run_setup(folder, observer)
    metadata, command = distribution.metadata, finalized_build_ext(distribution, observer)
    of_all = of_all_extensions(build_ext_lists(command) if command else {})
    extensions = [described(extension, *placed(extension, command, observer), of_all, observer.note)
                  for extension in distribution.ext_modules or []]
    return {"name": metadata.get_name(), "version": metadata.get_version(),
            "license": getattr(metadata, "license_expression", None) or "", "file": "setup.py", "said": observer.said,
            "globs": [{"pattern": pattern, "files": files} for pattern, files in sorted(observer.globs.items())],
            "environment": changed_variables(before, observer.note), "extensions": extensions}


def setup_sets_own_variables():
    """PLAT and a HOME that is missing."""
    import setuptools  # noqa: F401  it brings its own distutils
    from distutils.util import check_environ

    check_environ()


def changed_variables(before, note):
    """Of the environment, by setup.py: compilers and torch's build read some of them."""
    changed = {name: os.environ.get(name) for name in sorted({*before, *os.environ}) if os.environ.get(name) != before.get(name)}
    for name, value in changed.items():
        note(f"setup.py sets {name}={value}" if value is not None else f"setup.py removes {name}")
    return changed


# ---- build_ext

# What build_ext adds to each extension, by its attribute -> as an Extension calls it.
OF_BUILD_EXT = {"include_dirs": "include_dirs", "define": "define_macros", "undef": "undef_macros", "libraries": "libraries",
                "library_dirs": "library_dirs", "rpath": "runtime_library_dirs", "link_objects": "extra_objects"}


def finalized_build_ext(distribution, observer):
    """With what setup() and setup.cfg give to all extensions; None where the project's own class fails."""
    try:
        command = distribution.get_command_obj("build_ext")
        command.ensure_finalized()
        return command
    except Exception as error:  # of the project's own class
        observer.note(f"its build_ext does not say what it is given ({type(error).__name__}: {error})")
        return None


def build_ext_lists(command):
    return {key: [list(item) if isinstance(item, (list, tuple)) else str(item) for item in getattr(command, key, None) or []]
            for key in OF_BUILD_EXT}


def of_all_extensions(lists):
    """As attributes of an Extension, without what each build_ext has (Python's own folders)."""
    from setuptools.dist import Distribution

    plain = Distribution().get_command_obj("build_ext")
    plain.ensure_finalized()
    usual = build_ext_lists(plain)
    return {name: [item for item in lists.get(key, []) if item not in usual[key]] for key, name in OF_BUILD_EXT.items()}


def without(items, added):
    """What torch has added stands behind or before the project's own."""
    rest = [str(item) for item in items or []]
    for item in map(str, added or []):
        if item in rest:
            rest.remove(item)
    return rest


def described(extension, suffix, root, of_all, note):
    added = getattr(extension, "dsbuild_added", None)

    def own(key):
        return without(getattr(extension, key, None), getattr(added, key, None)) + list(of_all.get(key, []))

    flags = extension.extra_compile_args or []
    flags = flags if isinstance(flags, dict) else {"cxx": flags, "nvcc": flags}
    for other in sorted(set(flags) - {"cxx", "nvcc"}):
        if flags[other]:
            note(f"{extension.name}: flags for {other} are left out: {' '.join(map(str, flags[other]))}")
    added_flags = getattr(added, "extra_compile_args", None) or []
    added_flags = added_flags if isinstance(added_flags, dict) else {"cxx": added_flags, "nvcc": added_flags}
    kind = getattr(extension, "dsbuild_kind", "plain")
    return {"name": extension.name, "kind": kind, "torch": kind != "plain",
            "where": getattr(extension, "dsbuild_where", "setup.py"), "suffix": suffix, "package_root": root,
            "sources": [str(source) for source in extension.sources], "include_dirs": own("include_dirs"),
            "defines": [[macro[0], macro[1] if len(macro) > 1 and macro[1] is not None else None]
                        for macro in [*(macro for macro in extension.define_macros
                                        if macro not in (added.define_macros if added else [])), *of_all["define_macros"]]],
            "undefines": own("undef_macros"), "libraries": own("libraries"), "library_dirs": own("library_dirs"),
            "runtime_library_dirs": own("runtime_library_dirs"), "extra_objects": own("extra_objects"),
            "cxx": [*words_of_variables("CFLAGS", "CPPFLAGS"), *without(flags.get("cxx"), added_flags.get("cxx"))],
            "nvcc": without(flags.get("nvcc"), added_flags.get("nvcc")),
            "link": [*words_of_variables("LDFLAGS"), *own("extra_link_args")]}


def words_of_variables(*names):
    """distutils' customize_compiler adds them to the commands of the C++ compiler, ahead of an extension's own."""
    return [word for name in names for word in shlex.split(os.environ.get(name, ""))]


def placed(extension, command, observer):
    """How the project's build_ext names the module's file, and the folder that packages are in."""
    import sysconfig

    if command is None:
        return "", ""
    try:
        name = command.get_ext_filename(extension.name)
        stem = os.path.join(*extension.name.split("."))
        suffix = name[len(stem):] if name.startswith(stem) else ""
        command.inplace = True
        lies = os.path.relpath(os.path.abspath(command.get_ext_fullpath(extension.name)), observer.folder)
        root = lies[:-len(name)].rstrip("/") if lies.endswith(name) else ""
    except Exception as error:  # of the project's own class
        observer.note(f"{extension.name}: its build_ext does not say what the module's file is called "
                      f"({type(error).__name__}: {error})")
        return "", ""
    return ("" if suffix == sysconfig.get_config_var("EXT_SUFFIX") else suffix), root


# ---- a setup.py that runs already


def read_given(file):
    with open(file, encoding="utf-8") as opened:
        given = json.load(opened)
    said, of_all = [], of_all_extensions(given["build_ext"])
    extensions = [types.SimpleNamespace(**{**extension, "dsbuild_added": types.SimpleNamespace(**extension["dsbuild_added"])})
                  for extension in given["extensions"]]
    return {**given, "license": "", "file": "setup.py", "said": said, "globs": [], "whole": True,
            "extensions": [described(extension, "", "", of_all, said.append) for extension in extensions]}


# ---- build.toml of kernel-builder


def read_toml(folder):
    try:
        import tomllib
    except ImportError as error:
        raise Refused("bad_project", "build.toml needs a Python with tomllib (3.11)", "Name one: --python.") from error
    with open(os.path.join(folder, "build.toml"), "rb") as file:
        try:
            build = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise Refused("bad_project", f"build.toml is no TOML: {error}", "Correct it.") from error
    said = []
    general, torch = build.get("general", {}), build.get("torch", {})
    name = str(general.get("name", os.path.basename(folder))).replace("-", "_")
    sources, includes, flags, capabilities, libraries = [], [], {"cxx": [], "nvcc": []}, {}, []
    for key, kernel in build.get("kernel", {}).items():
        backend = kernel.get("backend", "cuda")
        if backend != "cuda":
            said.append(f"kernel.{key} is for {backend} and left out")
            continue
        own = [source for source in kernel.get("src", []) if not source.endswith((".h", ".hpp", ".cuh"))]
        sources += [source for source in own if source not in sources]
        includes += [folder_of for folder_of in kernel.get("include", []) if folder_of not in includes]
        for kind, words in (("cxx", kernel.get("cxx-flags", [])), ("nvcc", kernel.get("cuda-flags", []))):
            flags[kind] += [word for word in words if word not in flags[kind]]
        for capability in kernel.get("cuda-capabilities", []):
            for source in own:
                capabilities.setdefault(source, []).append(str(capability))
        for dependency in kernel.get("depends", []):
            if dependency != "torch":
                said.append(f"kernel.{key} depends on {dependency}: give its headers in include_dirs or requires")
    sources += [source for source in torch.get("src", []) if not source.endswith((".h", ".hpp"))]
    includes += [include for include in torch.get("include", []) if include not in includes]
    extension = {"name": f"{name}._{name}", "kind": "cuda", "torch": "torch" in build, "where": "build.toml", "suffix": ".abi3.so",
                 "package_root": "torch-ext", "sources": sources, "include_dirs": includes, "defines": [], "undefines": [],
                 "libraries": libraries, "library_dirs": [], "runtime_library_dirs": [], "extra_objects": [],
                 "capabilities": capabilities, "link": [], **flags}
    return {"name": name, "version": str(general.get("version", "")), "license": str(general.get("license", "")),
            "file": "build.toml", "said": said, "globs": [], "extensions": [extension] if sources else []}


def read_project(named, unpack_into, given=None):
    folder = os.path.realpath(named if os.path.isdir(named) else unpack(named, unpack_into))
    os.chdir(folder)
    if given:
        answer = read_given(given)
    elif os.path.isfile("setup.py"):
        answer = read_setup(folder)
    elif os.path.isfile("build.toml"):
        answer = read_toml(folder)
    else:
        raise Refused("bad_project", f"{folder} has no setup.py, and no build.toml of kernel-builder",
                      "Name the folder that has one.")
    if not answer["extensions"]:
        raise Refused("bad_project", f"{answer['file']} of {folder} names no extension modules",
                      "It may ask for a variable before it does (its options are in its first lines).")
    return {**answer, "folder": folder}


def main():
    words = [os.path.abspath(word) for word in sys.argv[1:]]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.dont_write_bytecode = True
    try:
        answer, code = read_project(*words), 0
    except Refused as refused:
        answer, code = refused.answer, 1
    json.dump(answer, answers)
    answers.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # torch takes its time to end


if __name__ == "__main__":
    main()
