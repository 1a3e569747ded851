"""`DSBUILD=1 pip install --no-build-isolation .`: a project's extensions of torch by dsbuild, and the project as it is.

setuptools calls `finalize_distribution` in every build (an entry point of this package). With DSBUILD=1 it puts a class
between the project's build_ext and torch's: what the project's own does around the build is done as ever, and where torch's
would start its compilers, one run of `dsbuild build` makes what it can. Of what it cannot it says why, and torch's goes on
with that; with DSBUILD=require it is an error instead. Options for dsbuild: DSBUILD_OPTIONS="--jobs 4 --memory 20G".
"""

import os
import re
import shlex
import shutil
import subprocess
import sys

REQUIRED = "require"
ON = ("1", "on", "true", "yes", REQUIRED)
# Of build_ext, for all extensions; scripts/read_project.py adds them to each.
OF_BUILD_EXT = ("include_dirs", "define", "undef", "libraries", "library_dirs", "rpath", "link_objects")
# Options of build_ext that change nothing of what is compiled, or are carried over.
CARRIED = {"inplace", "parallel", "force", "build_lib", "build_temp", "debug", *OF_BUILD_EXT}
LISTS = ("sources", "include_dirs", "undef_macros", "libraries", "library_dirs", "runtime_library_dirs", "extra_objects",
         "extra_link_args", "define_macros")


def finalize_distribution(distribution):
    if os.environ.get("DSBUILD", "").lower() not in ON:
        return
    builder = sys.modules.get("torch.utils.cpp_extension")  # a setup.py of torch's extensions has imported it
    own = distribution.cmdclass.get("build_ext")
    if builder is None or not isinstance(own, type) or not issubclass(own, builder.BuildExtension):
        if builder is not None and distribution.ext_modules:
            step_aside("the project's build_ext is not one of torch.utils.cpp_extension")
        return
    between = type("BuildExtension", (Between, builder.BuildExtension), {"dsbuild_builder": builder})
    # The project's super() is then `between`, whose super() is torch's.
    bases = (between,) if own is builder.BuildExtension else (own, between)
    distribution.cmdclass["build_ext"] = type("build_ext", bases, {"__module__": own.__module__})


finalize_distribution.order = 1000  # behind what others make of cmdclass


def say(line):
    print(f"dsbuild: {line}", file=sys.stderr, flush=True)


def step_aside(why):
    """The project builds as it would without dsbuild; unless the user wants to know."""
    if os.environ.get("DSBUILD", "").lower() == REQUIRED:
        raise SystemExit(f"dsbuild: {why} (DSBUILD={REQUIRED}; with DSBUILD=1 the project's own build_ext goes on)")
    say(f"{why}: the project's own build_ext goes on")


class Between:
    """Of a build_ext; `dsbuild_builder`: torch.utils.cpp_extension."""

    def build_extensions(self):
        from .setuptools import without

        built = build(self, self.dsbuild_builder)
        with without(self, built):
            if self.extensions or not built:
                super().build_extensions()


def build(command, builder):
    """Those of the command's extensions that dsbuild has built; they lie where the project's own build puts them."""
    why = refusal(command, builder)
    described = [] if why else described_extensions(command.extensions, builder)
    if not why and all(extension["dsbuild_kind"] == "plain" for extension in described):
        why = "none of the extensions is one of torch's"
    if why:
        step_aside(why)
        return []
    bundle = run_dsbuild(command, builder, described)
    return put_in_place(command, bundle, described) if bundle else []


def refusal(command, builder):
    for owner in type(command).__mro__:
        if "build_extension" in vars(owner):
            if owner.__module__.split(".")[0] not in ("torch", "setuptools", "distutils") and owner is not builder.BuildExtension:
                return f"{owner.__module__}.{owner.__qualname__} has a build_extension of its own"
            break
    others = sorted(set(command.distribution.get_option_dict("build_ext")) - CARRIED)
    return f"build_ext is given {', '.join(others)}" if others else ""


def described_extensions(extensions, builder):
    """As scripts/read_project.py takes them: with what torch has added."""
    added = {}
    for kind, make in (("cuda", builder.CUDAExtension), ("cpp", builder.CppExtension)):
        try:
            added[kind] = make("nothing", [])
        except Exception as error:  # there is no CUDA, then there are no extensions of it
            say(f"torch makes no {kind} extension here ({error})")
    described = []
    for extension in extensions:
        kind = next((kind for kind, nothing in added.items() if is_of(extension, nothing)), "plain")
        if isinstance(extension.extra_compile_args, dict) and set(extension.extra_compile_args) - {"cxx", "nvcc"}:
            others = ", ".join(sorted(set(extension.extra_compile_args) - {"cxx", "nvcc"}))
            step_aside(f"{extension.name} has flags for {others}")
            kind = "plain"
        described.append({"name": extension.name, "dsbuild_kind": kind, "dsbuild_where": "setup.py", **attributes(extension),
                          "dsbuild_added": attributes(added[kind]) if kind in added else {"define_macros": []}})
    return described


def is_of(extension, nothing):
    """With py_limited_api torch leaves out one of its libraries."""
    return all(library in extension.libraries for library in nothing.libraries if library != "torch_python")


def attributes(extension):
    flags = extension.extra_compile_args or []
    return {**{key: [each if isinstance(each, (list, tuple)) else str(each) for each in getattr(extension, key) or []]
               for key in LISTS},
            "extra_compile_args": {key: list(map(str, words)) for key, words in flags.items()} if isinstance(flags, dict)
            else list(map(str, flags))}


def run_dsbuild(command, builder, described):
    """The bundle; None where dsbuild cannot build here, which it has said."""
    import json

    from ._errors import DsbuildError
    from ._program import find_program

    work = os.path.join(os.path.abspath(command.build_temp), "dsbuild")
    file, bundle = os.path.join(work, "extensions.json"), os.path.join(work, "bundle")
    os.makedirs(work, exist_ok=True)
    with open(file, "w", encoding="utf-8") as opened:
        json.dump({"name": command.distribution.get_name(), "version": command.distribution.get_version(),
                   "build_ext": {key: list(getattr(command, key, None) or []) for key in OF_BUILD_EXT},
                   "extensions": described}, opened, indent=1, default=str)
    options = shlex.split(os.environ.get("DSBUILD_OPTIONS", ""))
    given = {word.split("=")[0] for word in options}
    for name, value in (("--cuda-home", builder.CUDA_HOME), ("--jobs", command.parallel)):
        options += [name, str(value)] if value and name not in given else []
    passed = variables_of_wrappers()
    if passed and "--pass-environment" not in given:
        options += ["--pass-environment", ",".join(passed)]
    try:
        code = subprocess.call([find_program(), "build", os.getcwd(), "--extensions", file, "--python", sys.executable, "--out",
                                bundle, "--build-dir", os.path.join(work, "build"), *(["--debug"] if command.debug else []),
                                *options])
    except DsbuildError as error:
        step_aside(str(error))
        return None
    if code < 0:
        raise SystemExit(f"dsbuild was ended by signal {-code}")
    if code > 128:  # interrupted
        raise SystemExit(code)
    if code:
        step_aside(f"it cannot build {command.distribution.get_name()} here (exit code {code}, its messages are above)")
        return None
    return bundle


# Of the session, whatever a script names.
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


def put_in_place(command, bundle, described):
    from .setuptools import library_of

    built, plain = [], {extension["name"] for extension in described if extension["dsbuild_kind"] == "plain"}
    for extension in command.extensions:
        library = library_of(bundle, "module", extension.name)
        if library is None:
            if extension.name not in plain:
                step_aside(f"{extension.name} is left out (the reason is above)")
            continue
        to = os.path.abspath(command.get_ext_fullpath(extension.name))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(library, to)
        built.append(extension)
    say(f"built {', '.join(extension.name for extension in built) or 'nothing'}")
    return built
