"""The program `dsbuild`, asked in a child: whatever it does leaves this process as it is, its environment, working folder,
signals, threads and descriptors."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig

from ._errors import DsbuildError

# Until a build that was told to stop has stopped its compilers and left its folder in order.
SECONDS_TO_STOP = 10


def find_program():
    """$DSBUILD_PROGRAM and no other, where that is set; else the one that pip installed with this package, else on PATH."""
    demanded = os.environ.get("DSBUILD_PROGRAM")
    if demanded:
        found = shutil.which(demanded)
        if found:
            return found
        raise DsbuildError("no_program", "DSBUILD_PROGRAM", f"'{demanded}' is not a program", "Name dsbuild, or unset it.")
    found = installed_program() or shutil.which("dsbuild")
    if found:
        return found
    raise DsbuildError("no_program", "dsbuild", "the program dsbuild is neither installed with this package nor on PATH",
                       "Set DSBUILD_PROGRAM to it, or install dsbuild's wheel.")


def version():
    """"0.3.0": of this package where it is installed, else of the program."""
    try:
        distribution = importlib.metadata.distribution(__package__)
    except importlib.metadata.PackageNotFoundError:
        distribution = None
    here = os.path.realpath(os.path.dirname(__file__))
    if distribution and os.path.realpath(distribution.locate_file(__package__)) == here:
        return distribution.version
    return subprocess.run([find_program(), "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]


def installed_program():
    """Beside the Python that this package is installed for: also of `pip install --user` and `--target`."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    schemes = [name for name in sysconfig.get_scheme_names() if name in ("posix_prefix", "posix_local", "posix_user", "venv")]
    folders = [sysconfig.get_path("scripts")]
    folders += [sysconfig.get_path("scripts", name) for name in schemes if sysconfig.get_path("purelib", name) == here]
    folders.append(os.path.join(here, "bin"))
    for folder in folders:
        program = os.path.join(folder, "dsbuild")
        if os.access(program, os.X_OK) and os.path.isfile(program):
            return program
    return None


def ask(words, packages_of=sys.executable, environment=None, meanwhile=None):
    """Runs `dsbuild WORDS --json` and returns what it answers. Its progress goes to stderr as it is. The Python whose
    packages count is this one, and so is the environment unless another is given. `meanwhile` is called while it works.

    Raises DsbuildError: what the program refused, or that it did not answer.
    """
    python = ["--python", packages_of] if packages_of else []
    command = [find_program(), *words, *python, "--json"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment) as child:
        try:
            if meanwhile:
                meanwhile()
            output = child.stdout.read()
            code = child.wait()
        except BaseException:  # KeyboardInterrupt above all: the build ends too, in order
            child.terminate()
            try:
                child.wait(SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                child.kill()
            raise
    # A program that ignores SIGCHLD gets no exit codes: what counts is the answer.
    lines = output.decode(errors="replace").splitlines()
    try:
        answer = json.loads(lines[-1])
    except (IndexError, ValueError):
        raise DsbuildError("no_answer", command[0], f"it ended with code {code} and without an answer",
                           f"Run it by hand: {' '.join(words)}") from None
    if "error" in answer:
        error = answer["error"]
        raise DsbuildError(error["code"], error["where"], error["what"], error["fix"])
    return answer
