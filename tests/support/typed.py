"""Commands that dsbuild's messages name are typed as they stand, where they were printed.

One rule finds them. A line "next: dsbuild …" is a command. In a fix a command stands in backticks, or begins a line or follows a
colon and goes on to the line's end, or to three blanks and a remark in brackets. "Usage: dsbuild …" has words to be filled in.
"""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

import testspace

FIX = re.compile(r"^ +fix: (.*(?:\n {7}.*)*)", re.M)
IN_FIX = re.compile(r"`(dsbuild(?: [^`]*)?)`|(?:^ *|(?<!Usage): )(dsbuild .*?)(?= {3}\(|$)", re.M)
USAGE = re.compile(r"\bUsage: dsbuild .*")
# Of these the command says what was meant, and not what it will do.
MEANT = re.compile(r"^(A list is one word|Meant|Its name here|That is a command here|One at a time|Keep one, as in|"
                   r"Leave (?:it|them) out): ")


class Printed:
    def __init__(self, command, fix):
        self.command, self.fix = command, fix
        self.is_meant = bool(MEANT.match(fix))

    def __repr__(self):
        return self.command


def fixes(text):
    return [fix.replace("\n       ", "\n") for fix in FIX.findall(text)]


def printed_commands(text):
    """Of what dsbuild printed."""
    found = [Printed(command, "") for command in re.findall(r"^next: (dsbuild .*)$", text, re.M)]
    for fix in fixes(text):
        found += [Printed(match[1] or match[2], fix) for match in IN_FIX.finditer(fix)]
    return found


def unmarked_commands(text, words):
    """What the rule does not find, and a reader would take for a command. `words`: commands and options of dsbuild."""
    rest = [IN_FIX.sub("", USAGE.sub("", fix)) for fix in fixes(text)]
    return [fix for fix in rest if re.search(rf"\bdsbuild (?:--|(?:{'|'.join(words)})\b)", fix)]


@contextlib.contextmanager
def as_it_was(folder):
    """Whatever happens to the folder meanwhile is undone, times of files too."""
    aside = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-aside-", dir=folder.parent))
    subprocess.run(["cp", "-a", "--", folder, aside / "copy"], check=True)
    folder.rename(aside / "own")
    (aside / "copy").rename(folder)
    try:
        yield
    finally:
        shutil.rmtree(folder)
        (aside / "own").rename(folder)
        aside.rmdir()


def type_command(space, command, env=None, cwd=None):
    """In a shell, `dsbuild` being the space's program. (exit code, all that it printed)."""
    if re.match(r"dsbuild toolkits get \S+$", command):
        command += " --offline"  # fetching has tests of its own
    with tempfile.TemporaryDirectory(prefix="dsbuild-programs-") as programs:
        os.symlink(os.path.abspath(space.program), os.path.join(programs, "dsbuild"))
        environment = {**space.environment, **(env or {})}
        environment["PATH"] = f"{programs}:{environment.get('PATH', '')}"
        run = subprocess.run(["bash", "-c", command], cwd=cwd or space.root, env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                             timeout=testspace.TIME_LIMIT)
    return run.returncode, run.stdout


def check_understood(test, space, line):
    """A line of dsbuild is right, without doing anything: parsing comes first, then it meets a config file that is not there."""
    words = shlex.split(re.search(r"\bdsbuild\b([^|)]*)", line).group(1), comments=True)
    for option in ("--config", "--pack"):
        if option in words:
            words[words.index(option):words.index(option) + 2] = []
    if words[:1] == ["nvcc"]:  # its words are nvcc's
        return
    own = words[:words.index("--")] if "--" in words else words  # the rest is of the command that it runs
    used = testspace.used_options(space.program, *own)
    run = space.run(*(["--config", "absent.yaml"] if "--config" in used else []),
                    *(["--offline"] if "--offline" in used else []), *words)
    test.assertNotIn("command line: ", run.err, line)
    test.assertIn(run.code, (0, 2, 3), run)


def check_printed(test, space, text, env=None, cwd=None):
    """Each command that `text` names does what it promises."""
    test.assertEqual(unmarked_commands(text, COMMANDS), [])
    for printed in printed_commands(text):
        with as_it_was(space.root):
            code, said = type_command(space, printed.command, env, cwd)
        shown = f"{printed.command}\nexit code {code}\n{said}"
        if printed.is_meant:  # it is understood, whatever there is for it to do
            test.assertNotRegex(said, r"error\[bad_option\]|error\[bad_choice\]|error\[internal\]", shown)
        elif "toolkits get" in printed.command:
            test.assertTrue(code == 0 or "error[offline]" in said, shown)
        elif " verify " in printed.command and "shows all of them" in printed.fix:
            test.assertEqual(code, 1, shown)
            test.assertNotIn("error[", said)
        else:
            test.assertEqual(code, 0, shown)


COMMANDS = ("build", "plan", "report", "explain", "inspect", "verify", "diff", "page", "load", "record", "nvcc", "wrap", "wheel",
            "install", "toolkits", "new", "clean", "cache", "completion")
