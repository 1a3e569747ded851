"""A pack of C++ files and a compiler that holds as much memory as a file's name says, and notes when: what --memory and
--timings are tested with."""

import os
import shutil

from packs import Pack, binding

# Holds the MiB of "…_60m.cpp" for a while; says when it held them.
COMPILER = """#!/usr/bin/env python3
import os, re, sys, time
source = next((word for word in sys.argv if word.endswith(".cpp")), "")
size = re.search(r"_(\\d+)m\\.cpp$", source)
if size and "-c" in sys.argv:
    held = b"x" * (int(size.group(1)) << 20)
    begin = time.time()
    time.sleep(SECONDS)
    with open(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), LOG), "a") as log:
        log.write(f"{source} {os.getppid()} {begin} {time.time()}\\n")
os.execv(REAL, [REAL, *sys.argv[1:]])
"""


def make_pack(*names):
    """One op "large" of the files <name>.cpp."""
    def make(folder):
        pack = Pack(folder, "memory")
        pack.add_op("large", {f"{name}.cpp": binding(f"run_{name}") for name in names}, {"backend": "cpu"})
        return pack
    return make


def use_compiler(space, seconds):
    """From now on the space's C++ compiler is this one. The value: the file in which it says what it held."""
    log = space.root / "held.txt"
    compiler = space.root / "compiler" / "g++"
    compiler.parent.mkdir()
    text = COMPILER.replace("SECONDS", str(seconds)).replace("LOG", repr(os.path.relpath(log, space.root / "compiler")))
    compiler.write_text(text.replace("REAL", repr(shutil.which("g++", path="/usr/bin:/bin"))))
    compiler.chmod(0o755)
    space.environment["CXX"] = str(compiler)
    return log


def read_log(log):
    """source -> (begin, end), seconds since the epoch."""
    rows = [line.split() for line in log.read_text().splitlines()]
    return {row[0]: (float(row[2]), float(row[3])) for row in rows}
