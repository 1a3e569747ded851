"""What the tests of the command line share: golden files of messages, and a terminal to run dsbuild on.

A golden file holds what a user types and sees: the command, what it printed, its exit code. Folders, times and
versions of the machine are replaced. DSBUILD_WRITE_GOLDEN=1 writes the files anew; read them before committing. Each
command that a golden file's text names is typed as it stands (support/typed.py).
"""

import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
REPOSITORY = TESTS.parent
GOLDEN = TESTS / "golden" / "cli"
sys.path.insert(0, str(TESTS / "support"))

import testspace  # noqa: E402
from testspace import TestSpace  # noqa: E402, F401 (tests import it from here)
from typed import check_printed  # noqa: E402

WRITE_GOLDEN = os.environ.get("DSBUILD_WRITE_GOLDEN") == "1"

# What differs from one machine or run to the next; each is checked by a test of its own where it matters.
REPLACED = [
    (re.compile(r"^\d\d:\d\d:\d\d \[.*\n", re.M), ""),
    (re.compile(r"^  (reproduce|nvcc alone): .*$", re.M), r"  \1: <COMMAND>"),
    (re.compile(r"\b(gcc|clang) \d+\.\d+\.\d+\b"), r"\1 <VERSION>"),
    (re.compile(r"^self-test, once for .*\n", re.M), ""),
    # Which of this machine's compilers an old toolkit takes.
    (re.compile(r"^(toolkit  CUDA 11\.8.*), (gcc|clang) <VERSION>$", re.M), r"\1, <COMPILER>"),
    (re.compile(r"^python   \S+ in \S+, torch", re.M), "python   <PYTHON>, torch"),
    (re.compile(r"^forecast  .*, at most .* of memory", re.M), "forecast  <SECONDS> s, at most <SIZE> of memory"),
    (re.compile(r"\b\d+\.\d s\b"), "<SECONDS> s"),
    (re.compile(r"slowest: .* \("), "slowest: <EDGE> ("),
    (re.compile(r"\b\d+(\.\d)? (B|KiB|MiB)\b"), "<SIZE>"),
    (re.compile(r"(platform |-)(manylinux_2_\d+)_(x86_64|aarch64)"), r"\1<PLATFORM>"),
    (re.compile(r"\((\w+)-[0-9a-f]{16}\)"), r"(\1-<KEY>)"),
    (re.compile(r"(byte that differs is number) \d+"), r"\1 <PLACE>"),
    (re.compile(r"\(\.text(\.\w+)?\+0x[0-9a-f]+\)"), "(.text+<PLACE>)"),
    # Toolkits of this machine beside the space's own.
    (re.compile(r"^ *(?:fix: )?CUDA [\d.]+ \(/.*\n", re.M), ""),
    (re.compile(r"^ *(?:fix: )?--cuda-home /.*\n", re.M), ""),
]


def replaced(space, text):
    text = text.replace(str(space.root), "<TMP>").replace(str(REPOSITORY), "<DSBUILD>")
    for pattern, placeholder in REPLACED:
        text = pattern.sub(placeholder, text)
    return text


def quoted(word):
    """As a reader would type it."""
    return word if re.fullmatch(r"[\w./=:,+<>-]+", word) else f'"{word}"'


def shown_command(space, words, env):
    variables = [f"{name}={quoted(value)}" for name, value in sorted((env or {}).items())]
    return replaced(space, " ".join(["$", *variables, "dsbuild", *(quoted(str(word)) for word in words)]))


class CliTest(unittest.TestCase):
    maxDiff = None

    def run_in(self, space, *words, without=(), **options):
        """dsbuild with these words, and the space's own folders, toolkit and request, where the command uses them and the words
        name none."""
        more = space.defaults(words, lambda option: option not in words and option not in without)
        return space.run(*map(str, words), *more, **options)

    def expect(self, name, space, run, code, words, env=None):
        """The run ended with this code and said what the golden file says."""
        self.assertEqual(run.code, code, run)
        text = shown_command(space, words, env) + "\n" + replaced(space, run.err)
        if run.out:
            text += "--- stdout\n" + replaced(space, run.out)
        text += f"exit code {run.code}\n"
        file = GOLDEN / f"{name}.txt"
        if WRITE_GOLDEN:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        golden = file.read_text(encoding="utf-8") if file.exists() else ""
        self.assertEqual(text, golden, f"tests/golden/cli/{file.name}; DSBUILD_WRITE_GOLDEN=1 writes it anew")

    def check(self, name, space, *words, code, env=None, without=(), **options):
        """Runs dsbuild in the space and compares with the golden file of that name."""
        run = self.run_in(space, *words, env=env, without=without, **options)
        self.expect(name, space, run, code, words, env)
        check_printed(self, space, run.out + run.err, env, options.get("cwd"))
        return run

    def check_alone(self, name, space, *words, code, env=None, **options):
        """The same with exactly these words."""
        run = space.run(*map(str, words), env=env, **options)
        self.expect(name, space, run, code, words, env)
        check_printed(self, space, run.out + run.err, env, options.get("cwd"))
        return run


class Folder:
    """The files of a folder, to see whether anything touched them."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.before = self._state()

    def _state(self):
        return {str(file): (file.lstat().st_mtime_ns, file.read_bytes() if file.is_file() else None)
                for file in self.path.rglob("*")}

    def is_untouched(self):
        return self._state() == self.before


def run_on_terminal(space, *words, columns=100, env=None, output="stderr"):
    """dsbuild with `output` (stdout, stderr or both) on a terminal of that width. The exit code and what the terminal got."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    streams = {name: slave if output in (name, "both") else subprocess.DEVNULL for name in ("stdout", "stderr")}
    process = subprocess.Popen([space.program, *map(str, words)], cwd=space.root, stdin=subprocess.DEVNULL,
                               env={**space.environment, "TERM": "xterm", **(env or {})}, **streams)
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # EIO: the other side is closed
            break
        if not piece:
            break
        text += piece
    os.close(master)
    return process.wait(timeout=testspace.TIME_LIMIT), text.decode(errors="replace")


def options_only(folder, *programs):
    """A folder for PATH that holds only these programs."""
    folder.mkdir()
    for program in programs:
        for place in ("/usr/local/bin", "/usr/bin", "/bin"):
            if os.access(os.path.join(place, program), os.X_OK):
                (folder / program).symlink_to(os.path.join(place, program))
                break
        else:
            raise unittest.SkipTest(f"{program} is not installed")
    return folder
