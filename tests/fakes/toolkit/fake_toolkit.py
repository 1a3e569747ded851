"""Makes CUDA toolkit trees whose nvcc is nvcc.py, and a C++ compiler that can be slowed down (compiler.py)."""

import json
import os
import pathlib
import shutil
import sys

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


def _install(source, program):
    """The Python file as a program that starts fast: no site packages, nothing of the environment."""
    program.parent.mkdir(parents=True, exist_ok=True)
    text = (HERE / source).read_text(encoding="utf-8")
    program.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{text}", encoding="utf-8")
    program.chmod(0o755)


def make_fake_toolkit(home, version="13.0", **settings):
    """`version`: 11.8, 12.4, 12.8, 12.9 or 13.0. `settings`: as nvcc.py lists them."""
    home = pathlib.Path(home)
    answers = ANSWERS / f"cuda-{version}"
    for program in ("nvcc", *(STEPS if settings.get("steps") else ())):
        _install("nvcc.py", home / "bin" / program)
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
    """<folder>/g++, to be named by CXX or CUDAHOSTCXX."""
    folder = pathlib.Path(folder)
    _install("compiler.py", folder / "g++")
    compiler = FakeTool(folder / "g++", folder, folder / "starts.jsonl")
    compiler.set(real=shutil.which("g++", path="/usr/bin:/bin:/usr/local/bin"), **settings)
    return compiler
