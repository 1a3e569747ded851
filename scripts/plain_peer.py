"""The other side of a benchmark: builds in which dsbuild takes no part and no cache answers, and the check that it is so.

Each benchmark that compares dsbuild with something else starts that through here (tests/cli/benchmarks_test.py). A command
that starts dsbuild, or a cache of compiles, ends the benchmark before anything is measured (exit code 1).
"""

import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys

DSBUILD = "dsbuild"
CACHES = {"ccache", "sccache", "distcc", "icecc"}
ACTIONS = {"run", "slice", "verify", "compare", "bundle", "hipify"}  # apps/dsbuild/command_action.cpp
COMPILERS = ("nvcc", "g++", "gcc", "c++", "cc")
COMPILER_VARIABLES = ("CXX", "CC", "CUDACXX", "CUDAHOSTCXX", "NVCC_CCBIN", "PYTORCH_NVCC", "CMAKE_CXX_COMPILER_LAUNCHER",
                      "CMAKE_CUDA_COMPILER_LAUNCHER")
KEPT = {"DSBUILD_NINJA"}  # where a tool is, not how anything is built
CCBIN = {"-ccbin", "--compiler-bindir"}
LARGEST_SCRIPT = 1 << 20


class NotPlain(SystemExit):
    """What is to be measured as a build without dsbuild, and without caches, is none."""


def cpu_seconds():
    """User and system time of all children that have ended, with those that they waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def clean_environment(cache=None, **more):
    """Without what the caller has set for dsbuild: DSBUILD=1 would hook it into pip, DSBUILD_CACHE_DIR name a filled store.
    `cache`: the folder that programs keep caches in."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DSBUILD") or name in KEPT}
    return {**environment, **({"XDG_CACHE_HOME": str(cache)} if cache else {}), **more}


def empty(*folders):
    """What is built next is built cold."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        if os.path.lexists(folder):
            raise NotPlain(f"{folder} cannot be emptied, so nothing is cold that has its store there")


def split_words(command):
    """The words of a command for sh; `&&` and the like are words too."""
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    return list(words)


def refusal_of_name(path, folder, allowed):
    """Why a word of a command may not be the program that is run: "" where it may, or names a folder."""
    if path.rpartition("/")[2] in ({DSBUILD} | CACHES) - allowed and not os.path.isdir(os.path.join(folder, path)):
        return f"it runs {path}"
    return ""


def refusal_of_script(file, allowed):
    """Why a script may not be run in a compiler's place: "" where it may, or `file` is a binary."""
    with open(file, "rb") as program:
        if program.read(2) != b"#!":
            return ""
        lines = program.read(LARGEST_SCRIPT).decode(errors="replace").splitlines()
    words = [word for line in lines if not line.lstrip().startswith("#") for word in re.findall(r"[^\s'\"=;|&()]+", line)]
    return next(filter(None, (refusal_of_name(word, ".", allowed) for word in words)), "")


def refusal_of_compiler(program, path, folder=".", allowed=frozenset()):
    """Why a program, a name or a file, may not be a peer's: "" where it may, or is not there."""
    file = shutil.which(os.path.join(folder, program) if "/" in program else program, path=path)
    if not file:
        return ""
    target = os.path.realpath(file)
    return refusal_of_name(target, folder, allowed) or refusal_of_script(target, allowed)


def programs_of(words):
    """Of a command: what it starts and what it names as the compiler of the host, which others start."""
    starts, programs = True, []
    for word, before in zip(words, ["", *words]):
        option, _, value = word.partition("=")
        if starts and not re.fullmatch(r"\w+=.*", word, re.DOTALL) or before in CCBIN:
            programs.append(word)
        elif option in CCBIN and value:
            programs.append(value)
        starts = word in ("&&", "||", ";", "|") or starts and bool(re.fullmatch(r"\w+=.*", word, re.DOTALL))
    return programs


def command_refusal(command, folder=".", allowed=frozenset()):
    """Why a peer may not run this command, in this folder: "" where it may. `allowed`: caches that its row is named after."""
    words = split_words(command)
    if any(word == "action" and after in ACTIONS for word, after in zip(words, words[1:])):
        return f"it is an action of {DSBUILD}"
    for word in words:
        reason = "" if word.startswith("-") else refusal_of_name(word, folder, allowed)
        if reason:
            return reason
    path = os.environ.get("PATH", os.defpath)
    return next(filter(None, (refusal_of_name(program, folder, allowed) or refusal_of_compiler(program, path, folder, allowed)
                              for program in programs_of(words))), "")


def check_commands(commands, folder=".", allowed=frozenset()):
    """Ends the benchmark at the first command that a peer may not run."""
    for command in commands:
        reason = command_refusal(command, folder, allowed)
        if reason:
            raise NotPlain(f"not measured, for this command is no plain one: {reason}\n  {command}")


def check_compilers(environment):
    """Ends the benchmark where a compiler that a build with this environment finds is dsbuild or a cache."""
    path = environment.get("PATH", os.defpath)
    programs = [(name, name) for name in COMPILERS]
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if variable in environment:
            programs.append((variable, os.path.join(environment[variable], "bin", "nvcc")))
    for variable in COMPILER_VARIABLES:
        programs += [(variable, word) for word in split_words(environment.get(variable, ""))]
    for where, program in programs:
        reason = refusal_of_compiler(program, path)
        if reason:
            raise NotPlain(f"not measured, for the compiler is no plain one: {where}: {program}: {reason}")


def in_alphabetical_order(graph):
    """dsbuild's graphs have the longest edges first, by what earlier builds took: a peer does not know that."""
    edges = re.compile(r"(?:^build .*\n  command = .*\n)+", re.MULTILINE)

    def sort(match):
        return "".join(sorted(re.findall(r"build .*\n  command = .*\n", match.group())))

    return edges.sub(sort, graph)


class PlainGraph:
    """What dsbuild would build, as a graph of the compilers' own commands (`plan --format ninja`), run by Ninja alone."""

    def __init__(self, folder, ninja="ninja", allowed=frozenset()):
        self.folder, self.ninja, self.allowed = pathlib.Path(folder), ninja, frozenset(allowed)

    def write(self, program, words, environment):
        """Plans it: no part of what is measured. What is in the folder stays. Ends the benchmark where a command is no plain one."""
        plan = subprocess.run([str(word) for word in (program, "plan", *words, "--backend", "nvcc", "--format", "ninja")],
                              env=environment, text=True, capture_output=True, check=False)
        if plan.returncode:
            sys.exit(f"no plain graph (exit code {plan.returncode}):\n{plan.stderr[-4000:]}")
        self.folder.mkdir(parents=True, exist_ok=True)
        for link in re.findall(r"^#   ((?:mkdir -p|ln -sfn) .*)$", plan.stdout, re.MULTILINE):
            subprocess.run(link, shell=True, cwd=self.folder, check=True)
        (self.folder / "build.ninja").write_text(in_alphabetical_order(plan.stdout), encoding="utf-8")
        self.check()

    def check(self):
        check_commands(graph_commands(self.folder, self.ninja), self.folder, self.allowed)

    def command(self, jobs=None):
        return [str(self.ninja), "-C", str(self.folder), *([f"-j{jobs}"] if jobs else [])]


def graph_commands(folder, ninja="ninja"):
    """Of each edge of a folder's build.ninja."""
    database = subprocess.run([str(ninja), "-C", str(folder), "-t", "compdb"], check=True, text=True, stdout=subprocess.PIPE).stdout
    edges = json.loads(database[database.index("["):])  # after what -C says
    if not any(edge["command"] for edge in edges):
        raise NotPlain(f"{folder}/build.ninja has no command")
    return [edge["command"] for edge in edges if edge["command"]]


def edges_run(output):
    """How many edges Ninja ran, by what it printed."""
    return max((int(number) for number in re.findall(r"^\[(\d+)/\d+\] ", output, re.MULTILINE)), default=0)
