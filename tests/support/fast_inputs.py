"""One digest of all files that a test of the tier fast may read (fast_tier.py).

While it is the same, a test that passed need not run again. It may have too many files, never too few.
"""

import hashlib
import os
import pathlib
import re
import stat
import subprocess
import sys

import elf

# Lints read these as text, and scripts that name such a folder. Other tests see the programs that they are compiled to.
COMPILED = re.compile(r"lib/.*\.(cpp|h)|apps/.*\.cpp|tests/unit/\w+/\w+\.(cpp|h)")
NAMES_SOURCES = re.compile(r"""["'/](lib|apps)\b""")
# A script of tests: others read it only if they name it.
SCRIPT = re.compile(r"tests/.*/(\w+_test)\.py")
# Variables that terminals set.
OF_TERMINALS = re.compile(r"_|SHLVL|PWD|OLDPWD|COLUMNS|LINES|TERM|(SSH|TMUX|XDG_SESSION)_\w+")


def digest(*what):
    return hashlib.sha256(repr(what).encode()).hexdigest()


def content(data):
    """Without the debug information of a program, which a comment changes."""
    if data[:5] != b"\x7fELF\x02":
        return hashlib.sha256(data).hexdigest()
    whole = hashlib.sha256()
    for section in elf.sections(data):
        if not section.name.startswith((b".debug_", b".note.gnu.build-id")):
            whole.update(section.name + b"\0%d\0" % len(section.data) + section.data)
    return whole.hexdigest()


def file_digest(path):
    try:
        mode = os.lstat(path).st_mode
        what = os.readlink(path) if stat.S_ISLNK(mode) else content(pathlib.Path(path).read_bytes())
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return f"{mode:o} {what}"


def checkout_files(root):
    """{path: digest} of all files of a checkout that git does not ignore."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {path: file_digest(os.path.join(root, path)) for path in sorted(set(listed.split("\0")) - {""})}


def machine():
    """What tests find outside of the checkout: variables, packages, and what the scripts have fetched."""
    variables = sorted(item for item in os.environ.items() if not OF_TERMINALS.fullmatch(item[0]))
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "dsbuild"
    fetched = sorted(map(str, [*cache.glob("*"), *cache.glob("toolkits/*")]))
    return digest(variables, fetched, sorted(os.listdir("/usr/local")), file_digest("/var/lib/dpkg/status"),
                  sys.version, os.uname().release)


def property_of(test, name):
    """Of a test as `ctest --show-only=json-v1` tells of it."""
    return next((each["value"] for each in test["properties"] if each["name"] == name), [])


class Inputs:
    """Of the tests of one build folder."""

    def __init__(self, root, build):
        self.root, self.build = pathlib.Path(root), pathlib.Path(build)
        files = checkout_files(root)
        self.scripts = {path: files[path] for path in files if SCRIPT.fullmatch(path)}
        self.all = digest(files, machine())
        self.sources = {path: files[path] for path in files if COMPILED.fullmatch(path)}
        self.most = digest({path: known for path, known in files.items()
                            if path not in self.scripts and path not in self.sources}, machine())
        self.programs = {}  # path: its digest, and the programs of the build folder that it names

    def key(self, test):
        """The digest for a test; None where it is not built."""
        if "command" not in test:
            return None
        if "lint" in property_of(test, "LABELS"):
            return digest(test["command"], test["properties"], self.all)
        words = [*test["command"], *(word.partition("=")[2] for word in property_of(test, "ENVIRONMENT"))]
        return digest(test["command"], test["properties"], self.most, self.programs_of(words), self.scripts_of(words))

    def programs_of(self, words):
        """{path: digest}: those that are named, and those of the build folder that their text names."""
        found, due = {}, list(words)
        while due:
            path = due.pop()
            if path in found or not os.path.isfile(path):
                continue
            found[path], named = self.program(path)
            due += named
        return sorted(found.items())

    def program(self, path):
        if path not in self.programs:
            data = pathlib.Path(path).read_bytes()
            in_build = re.compile(re.escape(os.fsencode(self.build)) + rb"/[\w./+-]+")
            named = set(map(os.fsdecode, in_build.findall(data))) if self.build in pathlib.Path(path).parents else ()
            self.programs[path] = content(data), [each for each in named if os.access(each, os.X_OK)]
        return self.programs[path]

    def scripts_of(self, words):
        """[(path, digest)] of the test's own script and of those that it names, and so on; of the sources that these name."""
        found, due = {}, [path for path in self.scripts if str(self.root / path) in words]
        while due:
            path = due.pop()
            if path not in found:
                found[path] = self.scripts[path]
                text = (self.root / path).read_text()
                due += [other for other in self.scripts if pathlib.Path(other).stem in text]
                if NAMES_SOURCES.search(text):
                    found |= self.sources
        return sorted(found.items())
