#!/usr/bin/env python3
"""dsbuild's commands for pack deepspeed against what DeepSpeed's own builders and torch's BuildExtension pass.

The ops of 0.19.6 and 0.19.8 for both accelerators, for six arch lists: the same ops and, of each, the same module, sources, include folders in their order, archs, and
flags, save for the rows of deepspeed_differences.py, each of which must be needed by some op. Nothing is compiled:
DeepSpeed's side only records, and a stand-in for Ninja leaves dsbuild's build.ninja as it was written.
Exits with 77 without torch, DeepSpeed's sources, CUDA 13 or Ninja. `--table` prints the table of docs/guides/deepspeed.md.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "support"))

import deepspeed_differences as differences  # noqa: E402
import testspace  # noqa: E402

VERSIONS = ["0.19.8", "0.19.6"]
ARCH_LISTS = ["7.5", "8.0", "7.5;8.0+PTX", "7.5;8.0;9.0+PTX", "8.0;8.6;8.9;9.0+PTX", "9.0;10.0;12.0+PTX"]
LISTS = {"cuda": ARCH_LISTS, "cpu": ["8.0"]}  # of each accelerator
# Neither can be built with a torch of today: sparse_attn asks for one before 2.0.
NOT_ASKED = {"sparse_attn", "deepspeed_not_implemented"}


def path_of(variable):
    value = os.environ.get(variable, "")
    if not value or not os.path.exists(value):
        testspace.skip(f"{variable} names nothing that is there (scripts/test.sh sets it): '{value}'")
    return pathlib.Path(value)


# Both versions declare a template parameter of fp_quantizer again, so dsbuild skips it; what its build would be is
# asked about sources without that.
FAULT = ("deepspeed/ops/csrc/fp_quantizer/fp_quantize_impl.cu", "constexpr int q_exponent_bits = total_q_bits - mantisa_bits - 1;")


class Machine:
    """What both sides find on it: the libraries that few machines have are empty ones of our own."""

    def __init__(self, root):
        self.root = root
        self.python = path_of("DSBUILD_TORCH_PYTHON")
        self.cuda = path_of("DSBUILD_CUDA_13")
        self.ninja = path_of("DSBUILD_NINJA")
        self.packages = root / "venv" / "lib" / "python3.11" / "site-packages"
        self.ccl, self.lib = root / "ccl", root / "lib"
        self.make_libraries()
        self.make_ninja()
        home = root / "home"
        home.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(home), "XDG_CACHE_HOME": str(root / "cache"), "LC_ALL": "C",
            "CUDA_HOME": str(self.cuda), "CUTLASS_PATH": "DS_IGNORE_CUTLASS_DETECTION",
            "CCL_ROOT": str(self.ccl), "LDFLAGS": f"-L{self.lib}", "PYTHONPATH": str(self.packages),
            "VIRTUAL_ENV": str(root / "venv"), "PYTHONDONTWRITEBYTECODE": "1"}

    def make_libraries(self):
        kernels = self.packages / "dskernels"
        for folder in (kernels, self.ccl / "include" / "oneapi", self.ccl / "lib", self.lib):
            folder.mkdir(parents=True)
        (kernels / "__init__.py").write_text("import os\n\n\ndef library_path():\n    return os.path.dirname(__file__)\n")
        (self.ccl / "include" / "oneapi" / "ccl.hpp").write_text("")
        for library, code in {kernels / "libdeepspeedft.so": "", kernels / "libblockedflash.so": "",
                              self.ccl / "lib" / "libccl.so": "", self.lib / "libcuda.so": "void cuGetErrorName(){}",
                              self.lib / "libcufile.so": "void cuFileDriverOpen(){}"}.items():
            testspace.compile_shim(code, library)

    def make_ninja(self):
        """Says its version and fails: build.ninja is then what a build would have run."""
        self.no_ninja = self.root / "ninja"
        self.no_ninja.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 1.13.2 && exit 0\nexit 1\n")
        self.no_ninja.chmod(0o755)

    def ask_deepspeed(self, source, accelerator):
        asked = subprocess.run([self.python, "-B", HERE / "deepspeed_ask.py", *LISTS[accelerator]], cwd=source,
                               env={**self.environment, "DS_ACCELERATOR": accelerator}, capture_output=True, text=True)
        if asked.returncode != 0:
            sys.exit(asked.stderr)
        return json.loads(asked.stdout)

    def mended(self, source):
        """A copy of the sources without the fault."""
        copy = self.root / "mended" / source.name
        if not copy.exists():
            shutil.copytree(source / "deepspeed", copy / "deepspeed")
            shutil.copy(source / "version.txt", copy)
            file = copy / FAULT[0]
            file.write_text(file.read_text().replace(FAULT[1], ""))
        return copy

    def ask_dsbuild(self, source, accelerator, archs):
        """{op: {"cxx": words, "nvcc": words, "link": words, "sources": paths, "module": name}}"""
        build = self.root / "build" / source.name / accelerator / re.sub(r"\W", "_", archs)
        words = ["--pack", "deepspeed", "--source", str(self.mended(source)), "--python", str(self.python), "--arch", archs,
                 "--cuda-home", str(self.cuda), "--build-dir", str(build), "--out", str(build) + ".out", "--ops", "all",
                 "--backend", "nvcc"]  # whole commands
        environment = {**self.environment, "DSBUILD_NINJA": str(self.no_ninja), "DS_ACCELERATOR": accelerator}
        del environment["CUDA_HOME"]
        subprocess.run([testspace.dsbuild_program(), *words], env=environment, capture_output=True, cwd=self.root)
        if not (build / "build.ninja").exists():
            told = subprocess.run([testspace.dsbuild_program(), "plan", *words], env=environment, capture_output=True,
                                  text=True, cwd=self.root)
            sys.exit(told.stderr)
        text = subprocess.run([self.ninja, "-C", build, "-t", "commands"], capture_output=True, text=True, check=True)
        return commands_by_op(text.stdout)


def commands_by_op(text):
    ops = {}
    for line in text.splitlines():
        words = shlex.split(line)
        output = next((word for word in words if re.match(r"(obj|lib)/.*\.tmp$", word)), None)
        if not output or "-o" not in words:
            continue
        words = words[:words.index("&&")] if "&&" in words else words
        if "--" in words:  # dsbuild step twin … -- what the other op's object came from -- what this one would
            words = words[len(words) - words[::-1].index("--"):]
        words = words[1:]
        op = ops.setdefault(re.match(r"\w+/(\w+)", output)[1], {"cxx": None, "nvcc": None, "link": None, "sources": []})
        if output.startswith("lib/"):
            op["link"] = words
            continue
        source = words[words.index("-c") + 1]
        op["sources"].append(source)
        op["nvcc" if source.endswith(".cu") else "cxx"] = words
    return ops


class Names:
    """Paths of this machine -> names that both sides share."""

    def __init__(self, machine, source):
        torch = subprocess.run([machine.python, "-c", "import sysconfig, importlib.util as u; print(u.find_spec('torch')"
                                ".submodule_search_locations[0]); print(sysconfig.get_paths()['include'])"],
                               capture_output=True, text=True, check=True).stdout.split()
        self.known = [(f"{source}/csrc", "csrc"), (f"{source}/", ""), ("pack/deepspeed/ops/csrc", "csrc"), ("pack/", ""),
                      (torch[0], "torch"), (torch[1], "Python"), (str(machine.cuda.resolve()), "CUDA"),
                      (str(machine.cuda), "CUDA"),
                      (str(machine.packages / "dskernels"), "dskernels"), (str(machine.ccl), "oneCCL")]

    def short(self, path):
        for prefix, name in self.known:
            if path.startswith(prefix):
                return name + path[len(prefix):]
        return path


PAIRED = {"-isystem", "-I", "-include", "-MF", "-MT", "-o", "-c", "-ccbin", "--compiler-options", "-Xcompiler"}
# Not flags but the command's own words; -L only says where on this machine.
PLUMBING = {"-MD", "-MF", "-MT", "-o", "-c", "-ccbin"}


def flags_of(words, names):
    """(flags, own include folders): pairs are joined, what only names inputs and outputs is left out."""
    flags, includes, words = [], [], list(words or [])
    while words:
        word = words.pop(0)
        value = words.pop(0) if word in PAIRED and words and not (word == "-c" and words[0].startswith("-")) else None
        include = value if word in ("-isystem", "-I") else word[2:] if word.startswith("-I") else None
        if include is not None:
            includes.append(names.short(include))
        elif word == "-include":
            flags.append(f"-include {re.sub('[0-9a-f]{8}', '…', value)}")
        elif word in ("--compiler-options", "-Xcompiler"):
            flags.append("-Xcompiler=" + value.strip("'\""))
        elif word not in PLUMBING and not word.startswith(("@", "-L")):
            flags.append(word)
    return flags, includes


def macros(flags):
    """The last word on each macro."""
    state = {}
    for flag in flags:
        if flag[:2] in ("-D", "-U"):
            state[flag[2:].split("=")[0]] = flag
    return state


def arch_codes(flags):
    return sorted(re.search(r"code=\[?(\w+)", flag)[1] for flag in flags if flag.startswith("-gencode"))


def plain(flags):
    """As a set; of each macro the last word alone, archs apart."""
    others = {flag for flag in flags if flag[:2] not in ("-D", "-U") and not flag.startswith("-gencode")}
    return others | set(macros(flags).values())


def own_folders(includes):
    """The op's own, in order; of the others only which."""
    own = [folder for folder in includes if folder.startswith(("csrc", "deepspeed/")) and "torch" not in folder]
    rest = {folder.split("/")[0] for folder in includes if folder.split("/")[0] in ("torch", "Python", "CUDA", "oneCCL")}
    return own, rest


class DeepSpeedFlags(unittest.TestCase):
    maxDiff = None
    used = set()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="dsbuild-test-")
        cls.machine = Machine(pathlib.Path(cls.folder.name).resolve())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def compare_flags(self, op, tool, theirs, ours):
        for side, flags in ((differences.DEEPSPEED, theirs - ours), (differences.DSBUILD, ours - theirs)):
            for flag in sorted(flags):
                rows = differences.find(tool, side, op, flag)
                self.assertTrue(rows, f"{op}: {tool}: {side}: {flag}")
                self.used.update(rows)

    def compare_tool(self, op, tool, theirs, ours, names):
        if not theirs and not ours:
            return
        their_flags, their_includes = flags_of(theirs, names)
        our_flags, our_includes = flags_of(ours, names)
        their_own, their_rest = own_folders(their_includes)
        if tool == "nvcc":
            self.assertEqual(arch_codes(their_flags), arch_codes(our_flags), op)
            their_rest.discard("CUDA")  # nvcc knows its own headers
        if tool == "link":
            our_flags.remove("-shared")
        our_own, our_rest = own_folders(our_includes)
        allowed = [folder for folder in their_own if folder in our_own]
        self.assertEqual(allowed, our_own, f"{op}: include folders")
        missing = {f"include {folder}" for folder in [*set(their_own) - set(our_own), *(their_rest - our_rest)]}
        self.compare_flags(op, "cxx", missing, set())
        self.compare_flags(op, tool, plain(their_flags), plain(our_flags))

    def compare_op(self, op, theirs, ours, names):
        self.assertEqual(sorted(names.short(source) for source in theirs["sources"]),
                         sorted(names.short(source) for source in ours["sources"]), f"{op}: sources")
        has_cuda = any(source.endswith(".cu") for source in ours["sources"])
        self.compare_tool(op, "cxx", theirs["cxx"], ours["cxx"], names)
        if has_cuda:
            self.compare_tool(op, "nvcc", theirs["nvcc"], ours["nvcc"], names)
        self.compare_tool(op, "link", theirs["link"], ours["link"], names)

    def compare_list(self, source, accelerator, archs, answers, names):
        built = self.machine.ask_dsbuild(source, accelerator, archs)
        for op, by_list in answers.items():
            if op in NOT_ASKED:
                continue
            theirs = by_list[archs]
            with self.subTest(version=source.name, accelerator=accelerator, archs=archs, op=op):
                if "refused" in theirs:
                    self.assertIn("no compute capabilities remaining", theirs["refused"])
                    self.assertNotIn(op, built)
                else:
                    self.assertIn(op, built)
                    folder = differences.CPU_FUSED_ADAM if (op, accelerator) == ("fused_adam", "cpu") else op
                    self.compare_op(folder, theirs, built[op], names)
        self.assertEqual(set(built) - set(answers), set(), "ops that DeepSpeed does not have")

    def test_every_op_gets_what_deepspeed_and_torch_pass(self):
        for version in VERSIONS:
            source = path_of("DSBUILD_DEEPSPEED_SOURCES") / version
            if not source.is_dir():
                testspace.skip(f"the sources of DeepSpeed {version} are not in {source.parent}")
            names = Names(self.machine, source)
            for accelerator, lists in LISTS.items():
                answers = self.machine.ask_deepspeed(source, accelerator)
                for archs in lists:
                    self.compare_list(source, accelerator, archs, answers, names)
        unused = [row.shown + ": " + row.reason for row in differences.DIFFERENCES if row not in self.used]
        self.assertEqual(unused, [], "rows of deepspeed_differences.py that nothing needs")

    def test_the_table_of_the_documentation_is_this_one(self):
        page = HERE.parent.parent / "docs" / "guides" / "deepspeed.md"
        self.assertIn(differences.table(), page.read_text(encoding="utf-8"), "deepspeed_flags.py --table prints it")


if __name__ == "__main__":
    if "--table" in sys.argv:
        print(differences.table(), end="")
    elif not shutil.which("gcc"):
        testspace.skip("gcc is not installed")
    else:
        testspace.main()
