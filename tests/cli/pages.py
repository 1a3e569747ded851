"""What the tests share that follow a page of the documentation: its files, its commands, a Python for ops.

Before a block stands `<!-- file:NAME -->`, its content belongs into that file, or `<!-- typed by TEST -->`, its lines are typed by
that test (tests/lint/commands.py).
"""

import os
import pathlib
import re
import subprocess
import sys
import textwrap

from cli import REPOSITORY, testspace

BLOCK = r"<!-- {} -->\n```\w*\n(.*?)```"


def page_files(text):
    """{path: content}, as the page shows them."""
    return dict(re.findall(BLOCK.format(r"file:(\S+)"), text, re.S))


def page_commands(text):
    return [line for block in typed_blocks(text) for line in block.splitlines()]


def typed_blocks(text):
    """Those that the page marks as typed by the script that runs."""
    return re.findall(BLOCK.format(f"typed by tests/cli/{pathlib.Path(sys.argv[0]).name}"), text, re.S)


def read_page(name):
    return (REPOSITORY / name).read_text(encoding="utf-8")


def pattern_of(shown):
    """What stands in the page's block, line by line and in order; … is anything within a line."""
    lines = (".*".join(map(re.escape, re.split("…", line))).replace(r"\ ", " ") for line in shown.splitlines())
    return re.compile(r"(?s:.*)".join(re.sub(" +", " +", line) for line in lines))


def find_python():
    """A Python with NumPy and tvm_ffi, and the folder of its tvm_ffi."""
    python = os.environ.get("DSBUILD_TEST_PYTHON")
    if not python:
        testspace.skip("DSBUILD_TEST_PYTHON is not set (a Python with numpy and tvm_ffi)")
    script = "import numpy, tvm_ffi, os; print(os.path.dirname(tvm_ffi.__file__))"
    run = subprocess.run([python, "-c", script], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        testspace.skip(f"{python} has no numpy or no tvm_ffi")
    return python, run.stdout.strip()


def use_python(space):
    """In `space`, ops find tvm_ffi, and `dsbuild` and `python3` are what a reader would type."""
    python, home = find_python()
    programs = space.root / "programs"
    programs.mkdir()
    (programs / "dsbuild").symlink_to(space.program)
    (programs / "python3").write_text(textwrap.dedent(f"""\
        #!/bin/sh
        exec '{python}' -B "$@"
        """))
    (programs / "python3").chmod(0o755)
    space.environment["TVM_FFI_HOME"] = home
    space.environment["PATH"] = f"{programs}:{space.environment['PATH']}"


def type_line(space, line, **env):
    """The line in a shell in the space's folder: (exit code, all that it printed)."""
    run = subprocess.run(["bash", "-c", line], cwd=space.root, text=True, check=False, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=testspace.TIME_LIMIT * 3,
                         env={**space.environment, **env})
    return run.returncode, run.stdout
