"""Makes CUDA toolkit trees whose programs are those of tools/ (tools/nvcc.cpp says what they do), and C++ compilers: one
that can be slowed down, and one that is made up (tools/compiler.cpp).

DSBUILD_FAKE_TOOLS names the program that CMake has built of them; without it, it is built once into the folder for
temporaries.
"""

import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ANSWERS = HERE.parent.parent / "unit" / "toolkit" / "data"  # texts of the real nvcc, per version
STEPS = ("cudafe++", "cicc", "ptxas", "fatbinary")  # programs that nvcc runs


class FakeTool:
    """A program made here: its settings (fake.json) and the log of its starts."""

    def __init__(self, program, folder, log):
        self.program, self._folder, self._log = program, folder, log
        self._settings = {"log": str(log)}

    def set(self, **settings):
        """Changes how it behaves from its next start on."""
        self._settings.update(settings)
        temporary = self._folder / "fake.json.new"
        temporary.write_text(json.dumps(self._settings))
        temporary.replace(self._folder / "fake.json")

    def starts(self):
        """What it was started with so far: [{"argv", "cwd", "pid"}]."""
        if not self._log.exists():
            return []
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def forget_starts(self):
        self._log.unlink(missing_ok=True)


class FakeToolkit(FakeTool):
    def __init__(self, home):
        super().__init__(home / "bin" / "nvcc", home, home / "starts.jsonl")
        self.home = home

    def compiled(self):
        """The source of each compilation that was started; all slices of a source are one. Without the self-test's."""
        starts = [(start["source"], start["pid"] if "-c" in start["argv"] else 0) for start in self.starts()]
        return [source for source, _ in dict.fromkeys(starts) if source != "pack/probe.cu"]

    def sliced(self):
        """(source, virtual arch) of each slice that was started."""
        return [(start["source"], start["argv"][start["argv"].index("-arch") + 1]) for start in self.starts()
                if "-arch" in start["argv"]]


@functools.cache
def fake_tools():
    """The program that is all of them, by its name."""
    if built := os.environ.get("DSBUILD_FAKE_TOOLS"):
        return built
    sources = sorted((HERE / "tools").glob("*.cpp"))
    texts = b"".join(path.read_bytes() for path in [*sources, *sorted((HERE / "tools").glob("*.h"))])
    name = f"dsbuild-fake-tools-{os.getuid()}-{hashlib.sha256(texts).hexdigest()[:16]}"
    program = pathlib.Path(os.environ.get("TMPDIR") or "/tmp", name)
    if not program.exists():
        new = f"{program}.{os.getpid()}"
        subprocess.run(["g++", "-std=c++20", "-O1", "-static-libstdc++", "-static-libgcc", "-s", *sources, "-o", new], check=True)
        os.replace(new, program)
    return str(program)


def _install(program):
    """A copy: tests change some of them."""
    program.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(fake_tools(), program)
    program.chmod(0o755)


def make_fake_toolkit(home, version="13.0", **settings):
    """`version`: 11.8, 12.4, 12.8, 12.9 or 13.0. `settings`: as tools/nvcc.cpp lists them."""
    home = pathlib.Path(home)
    answers = ANSWERS / f"cuda-{version}"
    for program in ("nvcc", *(STEPS if settings.get("steps") else ())):
        _install(home / "bin" / program)
    for name in ("help.txt", "version.txt"):
        shutil.copyfile(answers / name, home / name)
    (home / "include" / "crt").mkdir(parents=True)
    shutil.copyfile(answers / "include" / "crt" / "host_config.h", home / "include" / "crt" / "host_config.h")
    for header in ("cuda_runtime.h", "cuda_runtime_api.h"):
        (home / "include" / header).write_text("#pragma once\n")
    (home / "lib64").mkdir()
    (home / "lib64" / "libcudart_static.a").write_bytes(b"!<arch>\n")  # an archive without members
    toolkit = FakeToolkit(home)
    toolkit.set(**settings)
    return toolkit


def make_fake_compiler(folder, **settings):
    """<folder>/g++, to be named by CXX or CUDAHOSTCXX: the real one, slowed down."""
    return make_made_up_compiler(folder, real=shutil.which("g++", path="/usr/bin:/bin:/usr/local/bin"), **settings)


def make_made_up_compiler(folder, **settings):
    """The same, that does all by itself."""
    folder = pathlib.Path(folder)
    _install(folder / "g++")
    compiler = FakeTool(folder / "g++", folder, folder / "starts.jsonl")
    compiler.set(**settings)
    return compiler
