"""Who makes and reads device code for GPUs of AMD and Intel: clang and LLVM's tools in their versions, ocloc."""

import glob
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import testspace  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "dsbuild"
FOLDER = CACHE / "offload_tools"  # as require_offload_tools of scripts/lib.sh fills it


def fetch():
    """All of them, where Debian's packages can be had."""
    got = subprocess.run(["bash", "-c", "source scripts/lib.sh; require_offload_tools"], cwd=REPOSITORY, check=False)
    if got.returncode != 0:
        testspace.skip("Debian's packages of clang and ocloc cannot be had here")


class Clang:
    """One version of it, with the tools beside it."""

    def __init__(self, folder):
        self.bin = pathlib.Path(folder)
        libraries = [self.bin.parent / "lib", *self.bin.parent.parent.glob("*-linux-gnu")]
        self.environment = dict(os.environ, LD_LIBRARY_PATH=os.pathsep.join(map(str, libraries)))
        self.version = int(re.search(r"clang version (\d+)", self.run("clang", "--version")).group(1))

    def has(self, *tools):
        return all((self.bin / tool).exists() for tool in tools)

    def run(self, tool, *words, cwd=None, **variables):
        run = subprocess.run([self.bin / tool, *map(str, words)], cwd=cwd, env=dict(self.environment, **variables), check=False,
                             capture_output=True, text=True, errors="replace")
        if run.returncode != 0:
            raise AssertionError(f"{tool} {' '.join(map(str, words))}\n{run.stdout}{run.stderr}")
        return run.stdout


def clangs():
    """Those of this machine with all that is needed, the newest last."""
    folders = [*FOLDER.glob("*/usr/lib/llvm-*/bin"), *map(pathlib.Path, glob.glob("/usr/lib/llvm-*/bin"))]
    found = {}
    for folder in folders:
        if all((folder / tool).exists() for tool in ("clang", "clang-offload-bundler", "llvm-readelf", "llvm-objcopy")):
            clang = Clang(folder)
            if clang.version >= 16:  # older bundlers have other options
                found.setdefault(clang.version, clang)
    return [found[version] for version in sorted(found)]


class Ocloc:
    """The one of `get_toolkit.sh ocloc`, for the tests that fetched it."""

    def __init__(self):
        self.program = next(iter(sorted((CACHE / "ocloc").glob("*/bin/ocloc"), reverse=True)), pathlib.Path("ocloc"))

    def run(self, *words, cwd=None):
        run = subprocess.run([self.program, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise AssertionError(f"ocloc {' '.join(map(str, words))}\n{run.stdout}{run.stderr}")
        return run.stdout

    def devices(self):
        """Names of single devices, and the version of each."""
        told = subprocess.run([self.program, "compile", "--help"], capture_output=True, text=True, check=False)
        names = re.search(r"<device_type> can be: ([^\n]*?), version", told.stdout).group(1).split(", ")  # and it says that it failed
        versions = {}
        for name in names:
            ids = self.run("ids", name).split("\n", 1)[1].split()
            if len(ids) == 1:
                versions[name] = ids[0]
        return versions
