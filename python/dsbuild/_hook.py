"""`DSBUILD=1 pip install --no-build-isolation .`: a project's extensions of torch by dsbuild, and the project as it is.

setuptools calls `finalize_distribution` in every build (an entry point of this package). With DSBUILD=1 it puts a class
between the project's build_ext and torch's: what the project's own does around the build is done as ever, and where torch's
would start its compilers, one run of `dsbuild build` makes what it can. Of what it cannot it says why, and torch's goes on
with that; with DSBUILD=require it is an error instead. Options for dsbuild: DSBUILD_OPTIONS="--jobs 4 --memory 20G".
"""

import json
import os
import shlex
import shutil
import subprocess
import sys

REQUIRED = "require"
ON = ("1", "on", "true", "yes", REQUIRED)
# Options of build_ext that change nothing of what is compiled, or stand in the commands of torch's.
CARRIED = {"inplace", "parallel", "force", "build_lib", "build_temp", "debug", "include_dirs", "define", "undef", "libraries",
           "library_dirs", "rpath", "link_objects"}


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


def is_required():
    return os.environ.get("DSBUILD", "").lower() == REQUIRED


def step_aside(why):
    """The project builds as it would without dsbuild; unless the user wants to know."""
    if is_required():
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
    from ._extensions import Described, described_extensions
    from ._torch_commands import Unreadable

    why, described = refusal(command, builder), Described()
    try:
        if not why:
            described = described_extensions(command, builder, makers_of(builder), folder_of_project())
    except Unreadable as error:
        why = f"torch's build_ext does not say its commands ({error})"
    for extension in described.extensions:
        extension["suffix"] = suffix_of(command, extension["name"])
    if not why and all(extension["kind"] == "plain" for extension in described.extensions):
        why = "none of the extensions is one of torch's"
    if why:
        step_aside(why)
        return []
    return build_those_alike(command, builder, described)


def build_those_alike(command, builder, described):
    """Of the extensions for which dsbuild would run what torch's own build_ext would."""
    from ._errors import DsbuildError

    try:
        run = Run(command, builder, described.folder)
        run.write_extensions(described.extensions)
        plan = run.plan()
        alike = extensions_alike(plan, described, run) if plan else []
        if not alike:
            return []
        run.write_extensions(alike)
        return run.put_in_place() if run.build() else []
    except DsbuildError as error:
        step_aside(str(error))
        return []


def extensions_alike(plan, described, run):
    """Says of each other why it is left to the project's own build."""
    from ._compare_commands import differences

    planned = {op["module"]: op for op in plan["ops"]}
    alike = []
    for its_commands, extension in zip(described.commands, described.extensions):
        is_said = extension["name"] not in planned and not is_required()  # by plan, in a line of its own
        if extension["kind"] == "plain" or is_said:
            continue
        compares_archs = its_commands.names_archs() and "--arch" not in run.given
        found = differences(its_commands, planned.get(extension["name"]), plan["source_root"], compares_archs)
        if found:
            step_aside(f"{extension['name']} would not be what it is ({'; '.join(found)})")
        else:
            alike.append(extension)
    return alike


def suffix_of(command, name):
    from ._extensions import placed

    return placed(name, command, folder_of_project(), say).get("suffix", "")


def makers_of(builder):
    return {"cuda": builder.CUDAExtension, "cpp": builder.CppExtension}


def folder_of_project():
    return os.path.realpath(os.getcwd())


def refusal(command, builder):
    for owner in type(command).__mro__:
        if "build_extension" in vars(owner):
            if owner.__module__.split(".")[0] not in ("torch", "setuptools", "distutils") and owner is not builder.BuildExtension:
                return f"{owner.__module__}.{owner.__qualname__} has a build_extension of its own"
            break
    others = sorted(set(command.distribution.get_option_dict("build_ext")) - CARRIED)
    return f"build_ext is given {', '.join(others)}" if others else ""


def check_not_ended_from_outside(code):
    if code < 0:
        raise SystemExit(f"dsbuild was ended by signal {-code}")
    if code > 128:  # interrupted
        raise SystemExit(code)


def in_one_line(error):
    """Of a message: what is wrong; where and how to mend it where that is short."""
    lines = error["fix"].splitlines()
    left_out = [line.removeprefix("left out: ") for line in lines if line.startswith("left out: ")]
    parts = [error.get("where", ""), error["what"], "; ".join(left_out or lines[:1])]
    return ": ".join(" ".join(part.split()) for part in parts if part and part != os.getcwd())


class Run:
    """dsbuild's runs for a build_ext: they share a folder and options."""

    def __init__(self, command, builder, folder):
        from ._program import find_program

        self.command, self.folder = command, folder
        self.work = os.path.join(os.path.abspath(command.build_temp), "dsbuild")
        self.file, self.bundle = os.path.join(self.work, "extensions.json"), os.path.join(self.work, "bundle")
        options = shlex.split(os.environ.get("DSBUILD_OPTIONS", ""))
        self.given = {word.split("=")[0] for word in options}
        for name, value in (("--cuda-home", builder.CUDA_HOME), ("--jobs", command.parallel)):
            options += [name, str(value)] if value and name not in self.given else []
        self.words = [os.getcwd(), "--extensions", self.file, "--python", sys.executable, "--out", self.bundle, "--build-dir",
                      os.path.join(self.work, "build"), *(["--debug"] if command.debug else []), *options]
        self.program = find_program()

    def write_extensions(self, described):
        from ._extensions import variables_of_wrappers

        os.makedirs(self.work, exist_ok=True)
        with open(self.file, "w", encoding="utf-8") as opened:
            json.dump({"name": self.command.distribution.get_name(), "version": self.command.distribution.get_version(),
                       "folder": self.folder, "file": "setup.py", "whole": True, "passed": variables_of_wrappers(),
                       "extensions": described}, opened, indent=1)

    def plan(self):
        """None where dsbuild cannot build here, which it has said."""
        run = subprocess.run([self.program, "plan", *self.words, "--json"], stdout=subprocess.PIPE, check=False)
        check_not_ended_from_outside(run.returncode)
        try:
            answer = json.loads(run.stdout)
        except ValueError:  # its options are wrong: its message is on the terminal
            answer = {"error": {"what": f"`dsbuild plan` gave exit code {run.returncode}", "fix": ""}}
        if "error" in answer:
            step_aside(f"it cannot build {self.name()} here ({in_one_line(answer['error'])})")
            return None
        return answer

    def build(self):
        code = subprocess.call([self.program, "build", *self.words])
        check_not_ended_from_outside(code)
        if code:
            step_aside(f"it cannot build {self.name()} here (exit code {code}, its messages are above)")
        return code == 0

    def name(self):
        return self.command.distribution.get_name()

    def put_in_place(self):
        from .setuptools import library_of

        built = []
        for extension in self.command.extensions:
            library = library_of(self.bundle, "module", extension.name)
            if library is None:
                continue
            to = os.path.abspath(self.command.get_ext_fullpath(extension.name))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copyfile(library, to)
            built.append(extension)
        say(f"built {', '.join(extension.name for extension in built) or 'nothing'}")
        return built
