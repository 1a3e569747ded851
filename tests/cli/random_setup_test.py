#!/usr/bin/env python3
"""Random setup.py files of torch's extensions (support/random_setups.py): the commands of each that dsbuild takes mean what those
of torch's own build do, and of each other it says that the project's own build goes on.

One process imports torch once and forks for each question (`serve`): what would the project's own build run, what the hook?
What commands mean is read by rules of this file, none of _torch_commands.py or _compare_commands.py. Some cases are built in
both ways and imported. DSBUILD_SEED=N repeats a run, with DSBUILD_CASE=N one case of it; what is shown of a case is all of it."""

import collections
import hashlib
import json
import os
import pathlib
import re
import runpy
import shlex
import shutil
import struct
import subprocess
import sys
import threading
import traceback
from unittest import mock

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parent))

# ---- asking what a build runs, in the Python that has torch

OF_ENVIRONMENT = ("PATH", "CC", "CXX", "CPATH", "CPLUS_INCLUDE_PATH", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN",
                  "TORCH_CUDA_ARCH_LIST")
NO_GPU = "7.5"  # in the place of the GPU that torch would ask; no case names it


class Recorder:
    """Takes down what a build would start."""

    def __init__(self):
        self.commands, self.plan, self.failed = [], None, ""
        self.thread = threading.local()  # build_ext --parallel has some

    def install(self, builder):
        from distutils.ccompiler import CCompiler
        from setuptools.command.build_ext import build_ext
        before = build_ext.build_extension

        def build_extension(command, extension):
            self.thread.extension = extension.name
            before(command, extension)

        build_ext.build_extension = build_extension
        # setuptools calls the one or the other; torch has ninja run its build.ninja.
        CCompiler.spawn = CCompiler.call = lambda _, words, **__: self.take(list(words), os.getcwd())
        builder._run_ninja_build = lambda folder, *_, **__: [self.take(words, folder) for words in ninja_commands(folder)]
        builder._get_cuda_arch_flags = without_a_gpu(builder._get_cuda_arch_flags)

    def take(self, words, folder):
        environment = {name: os.environ[name] for name in OF_ENVIRONMENT if name in os.environ}
        self.commands.append({"extension": self.thread.extension, "words": words, "folder": folder, "environment": environment})
        if "-shared" in words:
            touch(words[words.index("-o") + 1])

    def install_in_hook(self, is_blind):
        """Where dsbuild would build, it is asked for its commands."""
        from dsbuild import _compare_commands, _hook

        def build(run):
            words = [run.program, "plan", *run.words, "--format", "json"]
            self.plan = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
            return True

        def put_in_place(run):
            names = [op["module"] for op in self.plan["ops"]]
            for name in names:
                touch(run.command.get_ext_fullpath(name))
            return [extension for extension in run.command.extensions if extension.name in names]

        _hook.Run.build, _hook.Run.put_in_place = build, put_in_place
        if is_blind:
            _compare_commands.differences = lambda *_: []


def without_a_gpu(archs_of):
    def archs(*flags):
        with mock.patch.dict(os.environ, {"TORCH_CUDA_ARCH_LIST": os.environ.get("TORCH_CUDA_ARCH_LIST", NO_GPU)}):
            return archs_of(*flags)
    return archs


def touch(path):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    pathlib.Path(path).touch()


def ninja_commands(folder):
    """Of a build.ninja as torch writes it."""
    variables, rules, found, rule = {}, {}, [], None

    def expanded(text, **more):
        values = {**variables, **more}
        return re.sub(r"\$(?:([\w-]+)|(.))", lambda match: values.get(match[1], "") if match[1] else match[2], text)

    for line in pathlib.Path(folder, "build.ninja").read_text().splitlines():
        if match := re.fullmatch(r"rule (\w+)", line):
            rule = match[1]
        elif match := re.fullmatch(r"build (.*?)(?<!\$): (\w+) (.*)", line):
            found.append((match[2], {"out": shlex.quote(expanded(match[1])), "in": shlex.quote(expanded(match[3]))}))
        elif match := re.fullmatch(r"  command = (.*)", line):
            rules[rule] = match[1]
        elif match := re.fullmatch(r"(\w+) = ?(.*)", line):
            variables[match[1]] = expanded(match[2])
    return [shlex.split(expanded(rules[rule], **files)) for rule, files in found]


def answer(question, builder):
    """In a process of its own."""
    said = os.open(question["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.environ.clear()
    os.environ.update(question["environment"])
    os.chdir(question["folder"])
    if "modules" in question:
        sys.path.insert(0, question["folder"])
        return {name: seen(name) for name in question["modules"]}
    recorder = Recorder()
    if question["is_recorded"]:
        recorder.install(builder)
        recorder.install_in_hook(question["is_blind"])
    sys.argv = ["setup.py", "build_ext", *question["words"]]
    try:
        runpy.run_path("setup.py", run_name="__main__")
    except BaseException:  # SystemExit above all
        recorder.failed = traceback.format_exc()
    return {"commands": recorder.commands, "plan": recorder.plan, "failed": recorder.failed}


def seen(module):
    try:
        return __import__(module, fromlist=["seen"]).seen()
    except ImportError:  # as of -rdc=true, which torch does not link
        return ""


def serve():
    import sysconfig
    from torch.utils import cpp_extension as builder
    print(json.dumps(sysconfig.get_config_var("LIBDIR")), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                pathlib.Path(question["answer"]).write_text(json.dumps(answer(question, builder)))
            except BaseException:
                traceback.print_exc()
            os._exit(0)
        os.waitpid(child, 0)
        print(flush=True)


if sys.argv[1:] == ["serve"]:
    serve()
    sys.exit()

from cli import CliTest, testspace  # noqa: E402
from cuobjdump import find_cuobjdump, machine_code, stored_images  # noqa: E402
from elf import sections  # noqa: E402
from pypi import PackageSpace, built_by_the_hook  # noqa: E402
from random_setups import HEAD, TAGS, Case  # noqa: E402

# ---- what commands mean, by the manuals of gcc, nvcc and ld

PROBES = ["which.h", *(f"only_{tag}.h" for tag in TAGS), "csrc/which.h", "pybind11/pybind11.h", "cuda_fp16.h", "Python.h",
          "numpy/arrayobject.h", "torch/extension.h", "cuda_runtime.h", "zlib.h"]
SHORT = {"compiler-options": "Xcompiler", "ptxas-options": "Xptxas", "generate-code": "gencode", "gpu-architecture": "arch",
         "gpu-code": "code", "compiler-bindir": "ccbin", "threads": "t", "generate-line-info": "lineinfo"}
JOINED = ("-D", "-U", "-I", "-L", "-l")
VALUED = {*JOINED, "-isystem", "-include", "-o", "-MF", "-Xlinker"}
VALUED_OF_NVCC = {"-Xcompiler", "-Xptxas", "-Xcudafe", "-Xfatbin", "-gencode", "-arch", "-code", "-ccbin", "-std", "-t", "-rdc",
                  "-maxrregcount", "-default-stream", "-fmad", "-ftz", "-dependency-output", "-frandom-seed"}
# Warnings, debug information (dsbuild has its own), positions, files of dependencies: code is the same with and without.
NO_MATTER = re.compile(r"-W(?!p,).*|-w|-g[0-3]?|-f(PIC|pic)|-M\w*|-c|-o|-t|-fno-canonical-system-headers|-objdir-as-tempdir"
                       r"|-frandom-seed|-generate-dependencies-with-compile|-dependency-output|-diag_suppress.*")
MATTERS_IN_LINK = re.compile(r"-f(openmp|lto|sanitize).*|-pthread|-static.*|-nostd.*")


def options(words, is_nvcc=False):
    """[(name, value or None)], nvcc's in their short spelling."""
    words, found = collections.deque(words), []
    while words:
        word = words.popleft()
        name, equals, value = word.partition("=")
        if is_nvcc and name.startswith("-"):
            name = "-" + SHORT.get(name.lstrip("-"), name.lstrip("-"))
        if word[:2] in JOINED and len(word) > 2 and name != "-lineinfo":
            found.append((word[:2], word[2:]))
        elif name in VALUED or (is_nvcc and name in VALUED_OF_NVCC):
            found.append((name, value if equals else words.popleft()))
        else:
            found.append((name + equals + value, None))
    return found


def split(words):
    """A command's program, behind ccache, and the rest."""
    first = next(at for at, word in enumerate(words) if word.startswith("-"))
    return words[first - 1], words[first:]


def driver(name, environment):
    """The file that this name is; of a C compiler its C++ compiler, as whose language counts."""
    file = os.path.realpath(shutil.which(name, path=environment["PATH"]) or name)
    plus = re.sub(r"gcc(?=[-\d.]*$)", "g++", file)
    return plus if os.path.exists(plus) else file


def first_file(folders, *names):
    files = (os.path.join(folder, name) for folder in folders for name in names)
    return next((os.path.realpath(file) for file in files if os.path.isfile(file)), None)


class Compile:
    def __init__(self, words, folder, environment):
        self.folder, self.environment = folder, environment
        program, words = split(words)
        self.program, self.is_nvcc = driver(program, environment), os.path.basename(program) == "nvcc"
        self.macros, self.near, self.far, self.flags, self.included, self.standard = {}, [], [], [], [], None
        self.gencode, self.arch, self.code, self.ccbin = set(), None, None, environment.get("NVCC_CCBIN", "gcc")
        if self.is_nvcc:
            before, after = (shlex.split(environment.get(f"NVCC_{where}_FLAGS", "")) for where in ("PREPEND", "APPEND"))
            words = before + words + after
        for name, value in options(words, self.is_nvcc):
            self.take(name, value)

    def take(self, name, value):
        if name in ("-D", "-U"):
            macro, _, given = value.partition("=")
            self.macros[macro] = None if name == "-U" else given if "=" in value else "1"  # no case undefines one of gcc's own
        elif name in ("-I", "-isystem"):
            (self.near if name == "-I" else self.far).append(value)
        elif name.startswith("-std"):
            self.standard = value or name[len("-std="):]
        elif name == "-include" and not value.startswith("pch/"):  # a precompiled header of dsbuild's
            self.included.append(os.path.realpath(os.path.join(self.folder, value)))
        elif name == "-gencode":
            arch, codes = re.fullmatch(r"arch=(\w+),code=(.*)", value).groups()
            self.gencode |= {(arch, code) for code in re.findall(r"\w+", codes)}
        elif name in ("-arch", "-code", "-ccbin"):
            setattr(self, name[1:], value)
        elif name == "-Xcompiler":
            self.flags += [f"host {word}" for word in re.split("[ ,]", value.strip("'")) if not NO_MATTER.fullmatch(word)]
        elif not NO_MATTER.fullmatch(name):
            self.flags.append(name if value is None else f"{name} {value}")

    def archs(self):
        """-arch=sm_80 alone is machine code and PTX."""
        if not self.arch:
            return sorted(self.gencode)
        virtual = self.arch.replace("sm_", "compute_")
        return sorted(self.gencode | {(virtual, code) for code in (self.code or f"{self.arch},{virtual}").split(",")})

    def headers(self):
        """Which file each name is. A folder of -I that is one of the system too counts as that."""
        home = pathlib.Path(self.program).parent.parent
        own = [str(next(home.glob(f"targets/{os.uname().machine}-linux"), home) / f"include{end}") for end in ("", "/cccl")]
        own = [own[:1], own[1:]] if self.is_nvcc else [[], []]
        near, far = self.near + own[0] + self.folders_of("CPATH"), self.far + own[1] + self.folders_of("CPLUS_INCLUDE_PATH")
        near, far = ([os.path.realpath(os.path.join(self.folder, each)) for each in those] for those in (near, far))
        far += ["/usr/local/include", "/usr/include"]
        folders = [each for each in near if each not in far] + far
        return {name: first_file(folders, name) for name in PROBES}

    def folders_of(self, variable):
        return self.environment[variable].split(":") if self.environment.get(variable) else []

    def meaning(self):
        flags = list(reversed(dict.fromkeys(reversed(self.flags))))  # the last of each counts
        levels = [flag for flag in flags if re.fullmatch(r"-O\w*", flag)]
        meaning = {"compiler": self.program, "macros": self.macros, "headers": self.headers(), "standard": self.standard,
                   "included": self.included, "flags": [flag for flag in flags if flag not in levels[:-1]]}
        return meaning | ({"host": driver(self.ccbin, self.environment), "archs": self.archs()} if self.is_nvcc else {})


def meaning_of_link(words, space):
    """Where cudart stands among torch's libraries is dsbuild's choice, and the rpath of Python's own folder is not carried."""
    libraries, folders, pieces, flags, objects = {}, [], [], [], []
    for name, value in options(split(words)[1]):
        if name == "-l":
            states = [space.as_needed, *(piece.lstrip("-") for piece in pieces if piece.endswith("-as-needed"))]
            libraries.setdefault(re.sub(r"^:lib(.*)\.so[\d.]*$", r"\1", value), states[-1])
        elif name == "-L":
            folders.append(value)
        elif name.startswith("-Wl,"):
            pieces += name.split(",")[1:]
        elif MATTERS_IN_LINK.fullmatch(name):
            flags.append(name)
        elif not name.startswith("-") and "/temp." not in name:
            objects.append(name)
    text, rpath = " ".join(pieces) + " ", r"--?(?:rpath[ =]|R ?)(\S+) "
    others = re.sub(rpath + r"|--(no-)?as-needed |--enable-new-dtags |--strip-all |--exclude-libs libstdc\S+ ", "", text)
    return {"libraries": [each for each in libraries.items() if each[0] != "cudart"], "cudart": "cudart" in libraries,
            "places": {name: first_file(folders, f"lib{name}.so", f"lib{name}.a") for name in libraries if name != "cudart"},
            "rpaths": list(dict.fromkeys(each for each in re.findall(rpath, text) if each != space.libdir)),
            "flags": sorted(set(flags)), "words for the linker": others.split(), "objects": objects}


def differences(commands, op, plan, space):
    """Of an op of dsbuild's plan from the commands of torch's own build: [(what, theirs, ours)]."""
    theirs, rest = {}, []
    for each in commands:
        words = each["words"]
        source = words[-words[::-1].index("-c")] if "-c" in words else ""
        if source:
            theirs[os.path.realpath(os.path.join(each["folder"], source))] = each | {"words": [x for x in words if x != source]}
        else:
            rest.append(words)
    ours = {os.path.realpath(os.path.join(plan["source_root"], each["file"])): each for each in op["sources"]}
    found = unlike("", {"sources": sorted(theirs)}, {"sources": sorted(ours)})
    for source in sorted(set(theirs) & set(ours)):
        found += differences_of_compile(source, theirs[source], [*ours[source]["compiler"], *ours[source]["flags"]])
    if len(rest) != 1:
        return found + [("commands", rest, ["a link"])]
    return found + unlike(" of the link", *(meaning_of_link(words, space) for words in (rest[0], ["g++", *op["link_flags"]])))


def differences_of_compile(source, command, ours):
    environment, of_gpu = command["environment"], "sm_" + NO_GPU.replace(".", "")
    meanings = [Compile(words, folder, environment).meaning() for words, folder in (
        (command["words"], command["folder"]), (ours, "/nowhere"))]  # in dsbuild's build folder lies nothing of the project's
    if "TORCH_CUDA_ARCH_LIST" not in environment and of_gpu in dict(meanings[0].get("archs", ())).values():
        del meanings[0]["archs"]  # torch's choice, and dsbuild's
    if not {"CC", "CXX"} & set(environment):
        meanings[0] = {key: value for key, value in meanings[0].items() if key not in ("compiler", "host")}  # nobody's choice
    return unlike(f" of {os.path.basename(source)}", *meanings)


def unlike(of, theirs, ours):
    found = []
    for key, value in theirs.items():
        pair = [value, ours.get(key)]
        if isinstance(value, dict):
            names = [name for name in {**pair[0], **pair[1]} if pair[0].get(name) != pair[1].get(name)]
            pair = [{name: each.get(name) for name in names} for each in pair]
        found += [(key + of, *pair)] if pair[0] != pair[1] else []
    return found


# ---- the tests

CASES_OF_COMMITS = 1
LEAST_TAKEN = .4  # what is true of all that is taken is true of nothing, too


class SetupSpace(PackageSpace):
    """Where one process answers for all cases."""

    def __init__(self):
        super().__init__(MAX_JOBS="2", PYTHONDONTWRITEBYTECODE="1")
        del self.environment["TORCH_CUDA_ARCH_LIST"], self.environment["FORCE_CUDA"]
        self.torch = subprocess.Popen([self.python, HERE, "serve"], env=self.environment, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.libdir = json.loads(self.torch.stdout.readline())
        # A gcc may give it to ld unasked.
        subprocess.run(["gcc", "-shared", "-o", self.root / "needs.so", "-x", "c", "/dev/null", "-lm"], check=True)
        self.as_needed = "no-as-needed" if "libm.so.6" in dynamic(self.root / "needs.so")[0] else "as-needed"

    def ask(self, folder, environment, **question):
        """(the answer, what was said)"""
        said, file = self.root / "said", self.root / "answer"
        file.unlink(missing_ok=True)
        question.update(folder=str(folder), environment={**self.environment, **environment}, said=str(said), answer=str(file))
        print(json.dumps(question), file=self.torch.stdin, flush=True)
        self.torch.stdout.readline()
        if not file.exists():
            raise AssertionError(f"no answer: {said.read_text(errors='replace')}")
        return json.loads(file.read_text()), said.read_text(errors="replace")

    def build(self, case, is_hooked, *words, is_recorded=True, is_blind=False):
        case.write()
        environment = case.environment | ({"DSBUILD": "1"} if is_hooked else {})
        return self.ask(case.folder, environment, words=[*case.options, *words], is_recorded=is_recorded, is_blind=is_blind)


def is_announced(name, names, said):
    """By its name, or of all."""
    line_of_name = re.compile(rf"(?<![\w.]){re.escape(name)}(?![\w.])")
    return any(line_of_name.search(line) or not any(each in line for each in names) for line in said.splitlines()
               if re.search("left out: |^dsbuild: .*the project's own build_ext goes on$", line))


def dynamic(file):
    """(the libraries that it needs, its RUNPATH)"""
    found = {section.name: section.data for section in sections(file.read_bytes())}
    strings = found[b".dynstr"]
    texts = [(tag, strings[at:strings.index(b"\0", at)].decode()) for tag, at in struct.iter_unpack("<qQ", found[b".dynamic"])
             if tag in (1, 15, 29)]
    return [text for tag, text in texts if tag == 1], [part for tag, text in texts if tag != 1 for part in text.split(":")]


class RandomSetupTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = SetupSpace()
        # Each commit has the same cases, `deep` others each time.
        is_fixed = testspace.TIER != "deep" and "DSBUILD_SEED" not in os.environ
        cls.seed = CASES_OF_COMMITS if is_fixed else testspace.SEED
        cls.addClassCleanup(cls.space.torch.communicate)

    def setUp(self):
        self.counts = collections.Counter()

    def test_what_is_taken_means_the_same_and_all_else_is_announced(self):
        self.check(self.compared, 30, 2000)

    def test_what_is_built_says_the_same(self):
        self.check(self.imported, 5, 200, is_built=True)

    def check(self, differences_of_case, usual, deep, **of_cases):
        alone = os.environ.get("DSBUILD_CASE")
        numbers = [int(alone)] if alone else range(deep if testspace.TIER == "deep" else usual)
        cases = [Case(self.space.root, self.seed, number, **of_cases) for number in numbers]
        problems = [(case, found) for case in cases if (found := differences_of_case(case))]
        print(f"seed={self.seed}, {dict(self.counts)}, {len(problems)} of {len(cases)} cases differ", flush=True)
        shown = [f"\nDSBUILD_SEED={self.seed} DSBUILD_CASE={case.number}\n{case}" + "".join(
            f"\n{name}: {what}\n  of torch's: {theirs}\n  of dsbuild: {ours}\n" for name, what, theirs, ours in found)
                 for case, found in problems[:3]]
        self.assertEqual(len(problems), 0, "\n".join(shown))
        if not alone:
            least = LEAST_TAKEN if len(cases) >= 30 else .1
            self.assertGreater(self.counts["taken"], least * (self.counts["taken"] + self.counts["aside"]), self.counts)
            self.assertLess(self.counts["own build fails"], .2 * len(cases), self.counts)

    def compared(self, case, is_blind=False):
        """[(extension, what, theirs, ours)]"""
        own, own_said = self.space.build(case, False)
        hooked, said = self.space.build(case, True, is_blind=is_blind)
        if own["failed"]:
            self.counts["own build fails"] += 1
            return []
        if hooked["failed"]:
            return [("all", "the hook ends the build", own_said, said + hooked["failed"])]
        taken, found = {op["module"]: op for op in (hooked["plan"] or {"ops": []})["ops"]}, []
        for name, kind in case.kinds.items():
            theirs, left = ([each for each in build["commands"] if each["extension"] == name] for build in (own, hooked))
            self.counts["taken" if name in taken else "plain" if kind == "Extension" else "aside"] += 1
            if name in taken:
                found += [(name, *each) for each in differences(theirs, taken[name], hooked["plan"], self.space)]
            elif not is_announced(name, case.kinds, said):
                found.append((name, "no line says that it is left to the project's own build", "", said))
            if left != ([] if name in taken else theirs):
                found.append((name, "the project's own build after the hook", theirs, left))
        return found

    def imported(self, case):
        folders = [self.space.root / "libraries" / way for way in ("own", "hooked")]
        shutil.rmtree(folders[0].parent, ignore_errors=True)
        own, own_said = self.space.build(case, False, "--build-lib", str(folders[0]), is_recorded=False)
        hooked, said = self.space.build(case, True, "--build-lib", str(folders[1]), is_recorded=False)
        if own["failed"]:
            self.counts["own build fails"] += 1
            return []
        if hooked["failed"]:
            return [("all", "the hook ends the build", own_said, said + hooked["failed"])]
        taken = built_by_the_hook(said) if "dsbuild: built " in said else []
        of_torch = [name for name, kind in case.kinds.items() if kind != "Extension"]
        self.counts.update(taken=len(taken), aside=len(of_torch) - len(taken), plain=len(case.kinds) - len(of_torch))
        theirs, ours = (self.facts(case, folder, taken) for folder in folders)
        return [(name, *each) for name in theirs for each in unlike("", theirs[name], ours.get(name, {}))]

    def facts(self, case, folder, names):
        texts, found = self.space.ask(folder, {}, modules=names)[0], {}
        if not re.search(r"\bCC\b|\bCXX\b", str(case)):  # nobody's choice, as in `differences`
            texts = {name: re.sub(r" __GNUC__=\d+", "", text) for name, text in texts.items()}
        for name in filter(texts.get, names):
            file = next((folder / name.replace(".", "/")).parent.glob(f"{name.split('.')[-1]}*.so"))
            needed, runpath = dynamic(file)
            images = [(arch, hashlib.sha256(repr(machine_code(image)).encode()).hexdigest()[:12])
                      for arch, image in stored_images(find_cuobjdump(), file)]
            found[name] = {"text": texts[name].splitlines(), "libraries": [each for each in needed if "cudart" not in each],
                           "cudart": any("cudart" in each for each in needed), "device code": sorted(images),
                           "RUNPATH": [each for each in runpath if each != self.space.libdir]}
        return found

    def test_without_its_comparison_the_hook_would_be_seen(self):
        """A folder elsewhere ahead of one of the project: dsbuild's commands have them the other way round."""
        case = Case(self.space.root, self.seed, "blind")
        case.setup = HEAD + "setup(name='pk', version='1', cmdclass={'build_ext': BuildExtension}, ext_modules=[\n    " + (
            "CppExtension('_module0', ['csrc/a.cpp'], include_dirs=[elsewhere + '/out', here + '/inc'])])\n")
        case.kinds, case.sources = {"_module0": "CppExtension"}, {"csrc/a.cpp": ""}
        case.cfg, case.options, case.environment = "", [], {}
        self.assertEqual(self.compared(case), [])
        self.assertEqual(self.counts, {"aside": 1})
        found = self.compared(case, is_blind=True)
        self.assertEqual([what for _, what, _, _ in found], ["headers of a.cpp"])
        self.assertRegex(found[0][2]["which.h"] + " " + found[0][3]["which.h"], "/elsewhere/out/which.h .*/project/inc/which.h")


if __name__ == "__main__":
    testspace.main()
