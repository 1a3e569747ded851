"""Says what a project's build would compile, without compiling: `dsbuild new --from` and `dsbuild build DIR` start it.

    python3 read_project.py FOLDER|ARCHIVE UNPACK_INTO

FOLDER has a setup.py, which is run until torch's build_ext would start its compilers, or a build.toml of kernel-builder, or is
an archive of such a folder (then it is unpacked first). The answer on stdout is JSON, as python/dsbuild/_hook.py writes it too;
what the project prints goes to stderr. Exit code 0, or 1 with {"error": {"code", "what", "fix"}}.

{"name", "version", "license", "folder", "file": "setup.py", "said": [what is worth knowing],
 "whole": an extension of which something must be left out is left out,
 "globs": [{"pattern", "files": []}],
 "environment": {variable that setup.py sets: value, or null where it removes it},
 "unset": {variable that setup.py looks for in vain: "setup.py:12"},
 "passed": [variables that a compiler reads which is a script],
 "extensions": [{"name", "kind": "cuda" | "cpp" | "plain", "torch": it is one of torch, "where": "setup.py:71", "suffix": "" | ".so", "package_root",
                 "sources": [], "include_dirs": [], "folders": [{"folder", "in": "packages" | "python" | "project" | "", "for"}],
                 "defines": [[name, value or null]], "list_archs": [-gencode of TORCH_CUDA_ARCH_LIST],
                 "libraries": [], "library_dirs": [], "runtime_library_dirs": [], "extra_objects": [],
                 "cxx": [], "nvcc": [], "link": []}]}
"""

import contextlib
import glob
import importlib
import json
import os
import runpy
import sys
import tarfile
import traceback
import types
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def shared_modules():
    """Of the package dsbuild, which the project's Python need not have: beside this file, or in the sources."""
    package = types.ModuleType("dsbuild_of_program")
    package.__path__ = [HERE, os.path.join(HERE, "..", "python", "dsbuild")]
    sys.modules[package.__name__] = package
    return tuple(importlib.import_module(f"{package.__name__}.{name}") for name in ("_extensions", "_torch_commands"))


_extensions, _torch_commands = shared_modules()

PYTHONS_OWN = ("os", "_collections_abc", "frozen os", "frozen _collections_abc")  # where os.environ is written
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
        self.makers = {}  # torch's functions for extensions, by kind
        self.unset = {}  # variables that the project's files look for in vain, each with the first place

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

    def watch_environment(self):
        observer = self

        class Watched(type(os.environ)):
            def __getitem__(self, name):
                try:
                    return super().__getitem__(name)
                except KeyError:
                    observer.take_unset(name, sys._getframe(1))
                    raise

            def __contains__(self, name):
                is_set = super().__contains__(name)
                if not is_set:
                    observer.take_unset(name, sys._getframe(1))
                return is_set

        os.environ.__class__ = Watched

    def take_unset(self, name, frame):
        """By os.getenv and the like, but not by what the project calls."""
        while frame is not None and os.path.basename(frame.f_code.co_filename).strip("<>").split(".")[0] in PYTHONS_OWN:
            frame = frame.f_back
        if frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(self.folder + os.sep):
            self.unset.setdefault(name, self.where(frame))

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
        if hasattr(builder, "_check_cuda_version"):  # dsbuild has its own rules, and more than one toolkit to choose from
            builder._check_cuda_version = lambda *_: None
        for name, kind in (("CUDAExtension", "cuda"), ("CppExtension", "cpp")):
            self.makers[kind] = getattr(builder, name)
            setattr(builder, name, self.watched(self.makers[kind]))

    def capability(self, *_):
        self.note(f"it asks the GPU for its compute capability, and was told {CAPABILITY[0]}.{CAPABILITY[1]} "
                  f"({self.where(sys._getframe(1))})")
        return CAPABILITY

    def watched(self, make):
        def observed(*arguments, **keywords):
            extension = make(*arguments, **keywords)
            extension.dsbuild_where = self.where(sys._getframe(1))
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
    observer.watch_environment()
    setup_sets_own_variables()
    before = dict(os.environ)
    distribution = run_setup(folder, observer)
    command, described = described_extensions(distribution, observer)
    globs = observer.globs if described.folder == folder else {}
    metadata = distribution.metadata
    return {"name": metadata.get_name(), "version": metadata.get_version(),
            "license": getattr(metadata, "license_expression", None) or "", "file": "setup.py", "said": observer.said,
            "globs": [{"pattern": pattern, "files": files} for pattern, files in sorted(globs.items())],
            "environment": changed_variables(before, observer.note), "unset": observer.unset, "passed": _extensions.variables_of_wrappers(),
            "folder": described.folder,
            "extensions": [{**extension, **_extensions.placed(extension["name"], command, described.folder, observer.note)}
                           for extension in described.extensions]}


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


class Reached(BaseException):
    """The project's build_ext is where torch's would start its compilers; no `except Exception` of the project stops it."""


def described_extensions(distribution, observer):
    """(the project's build_ext, its extensions): what it does before it compiles is done."""
    import torch.utils.cpp_extension as builder

    own = distribution.get_command_obj("build_ext")
    if isinstance(own, builder.BuildExtension):
        try:
            return run_until_it_compiles(own, builder, observer)
        except Refused:
            raise
        except Exception as error:  # of the project's own class
            traceback.print_exc()
            observer.note(f"its build_ext fails before it compiles ({type(error).__name__}: {error}); torch's own is asked")
    return run_until_it_compiles(builder.BuildExtension(distribution), builder, observer)


def run_until_it_compiles(command, builder, observer):
    answer = []
    torchs = builder.BuildExtension.build_extensions

    def build_extensions(self):
        builder.BuildExtension.build_extensions = torchs
        answer.append((self, _extensions.described_extensions(self, builder, observer.makers, observer.folder)))
        raise Reached

    builder.BuildExtension.build_extensions = build_extensions
    try:
        command.ensure_finalized()
        command.run()
    except Reached:
        pass
    except _torch_commands.Unreadable as error:
        raise Refused("bad_project", f"torch's build_ext does not say its commands: {error}",
                      "Run the project's own build to see more: python setup.py build_ext.") from error
    finally:
        builder.BuildExtension.build_extensions = torchs
    return answer[0] if answer else (command, _extensions.Described(folder=observer.folder))


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
                 "package_root": "torch-ext", "sources": sources, "include_dirs": includes, "defines": [],
                 "libraries": libraries, "library_dirs": [], "runtime_library_dirs": [], "extra_objects": [],
                 "capabilities": capabilities, "link": [], **flags}
    return {"name": name, "version": str(general.get("version", "")), "license": str(general.get("license", "")),
            "file": "build.toml", "said": said, "globs": [], "extensions": [extension] if sources else []}


def read_project(named, unpack_into):
    folder = os.path.realpath(named if os.path.isdir(named) else unpack(named, unpack_into))
    os.chdir(folder)
    if os.path.isfile("setup.py"):
        answer = read_setup(folder)
    elif os.path.isfile("build.toml"):
        answer = read_toml(folder)
    else:
        raise Refused("bad_project", f"{folder} has no setup.py, and no build.toml of kernel-builder",
                      "Name the folder that has one.")
    if not answer["extensions"]:
        unset = ", ".join(f"{name} ({place})" for name, place in answer.get("unset", {}).items())
        raise Refused("bad_project", f"{answer['file']} of {folder} names no extension modules",
                      f"It may want a variable that is not set: it looks for {unset}." if unset else
                      "It looks for no variable that is not set; what it wants is in its first lines.")
    return {"folder": folder, **answer}


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
