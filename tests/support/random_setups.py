"""Random projects with a setup.py of torch's extensions, as text. What a case is made of stands in pools, {weight: words}; a
tuple is words that stand together."""

import os
import pathlib
import random
import re
import shlex
import shutil


class Code(str):
    """An expression of setup.py, where other words are strings."""
    __repr__ = str.__str__


MACROS = ("MA", "MB", "MC", "NDEBUG")
VALUES = {6: [None, "1", "(2+1)"], 2: ['"text"', "", "0"], 1: ['"a b"']}
# Each has a which.h of its own, and a header of a name that no other has.
TAGS = {"root": ".", "inc": "inc", "more": "more/inc", "csrc": "csrc", "up": "..", "out": "../elsewhere/out",
        "far": "../elsewhere/far", "cpath": "../elsewhere/cpath"}
FOLDERS = {6: ["inc", Code("here + '/inc'"), Code("here + '/more/inc'"), Code("elsewhere + '/out'")],
           2: ["csrc", ".", Code("here"), Code("here + '/csrc'"), Code("elsewhere + '/far'"),
               Code("packages + '/numpy/_core/include'")],
           1: ["..", "nowhere", "/nowhere/inc", "inc/", "more/../inc", "../elsewhere/out", "/usr/include",
               Code("CUDA_HOME + '/include'"), Code("sysconfig.get_path('include')"), Code("elsewhere + '/shadow'")]}
EITHER = {6: ["-O2", "-O3", "-DMA", "-DMA=1", "-DMB=(2+1)", "-UMC", "-g"],
          2: ["-O1", "-O0", ("-D", "MC=4"), ("-U", "MA"), "-DNDEBUG", "-UNDEBUG", "-std=c++17", "-std=c++20", "-w"],
          1: ['-DMC="text"', "-DMB=", Code("'-I' + here + '/inc'"), ("-I", "more/inc"),
              ("-isystem", Code("elsewhere + '/far'")), ("-include", Code("here + '/inc/which.h'"))]}
CXX = {**EITHER,
       5: ["-Wall", "-Wno-unused", "-fopenmp", "-fvisibility=hidden", "-ffast-math", "-fno-math-errno", "-funroll-loops",
           "-mavx2", "-march=x86-64-v3"],
       1: EITHER[1] + ["-Os", "-Ofast", "-O", "-std=gnu++17", "-pthread", "-fno-wrapv", "-fno-fast-math", "-mno-avx", "-g0",
                       "-flto", "-march=native", "-Wp,-DMA=7"]}
ARCHS = {5: [("-gencode", "arch=compute_80,code=sm_80"), "-gencode=arch=compute_90,code=sm_90",
             "-gencode=arch=compute_90,code=[sm_90,compute_90]", ("-gencode", "arch=compute_80,code=compute_80")],
         2: ["-arch=sm_80", ("-arch", "sm_90"), "--gpu-architecture=compute_80", "-gencode=arch=compute_80,code=sm_86",
             ("--generate-code", 'arch=compute_80,code="sm_80,compute_80"'), "-gencode=arch=compute_90a,code=sm_90a"]}
NAMES_ARCHS = re.compile("gencode|'-arch|--gpu-architecture|--generate-code")
NVCC = {**EITHER,
        5: ["--use_fast_math", "-lineinfo", ("-Xptxas", "-v"), ("--threads", "4"), ("-Xcompiler", "-fopenmp"),
            "-U__CUDA_NO_HALF_OPERATORS__", "--expt-extended-lambda"],
        1: EITHER[1] + ["-use_fast_math", "--fmad=false", "-ftz=true", "--std=c++20", "-G", "-rdc=true", "-DMA=2", "-res-usage",
                        "-Xptxas=-O2,-v", ("-Xfatbin", "-compress-all"), ("-Xcudafe", "--diag_suppress=177"), "-t=2",
                        "-Xcompiler=-Wall,-O1", ("-Xcompiler", "-Wall -O2"), ("--compiler-options", "-fvisibility=hidden,-DMC=5"),
                        ("-Xcompiler", "-march=x86-64-v3"), ("-maxrregcount", "64"), "--maxrregcount=32", ("-ccbin", "gcc"),
                        "--default-stream=per-thread"]}
LIBRARIES = {4: ["m", "cublas"], 2: ["dl", "cudart", "z", "pthread"]}
LINK = {4: ["-s", "-Wl,-rpath,$ORIGIN/lib", "-Wl,-z,now", "-Wl,--as-needed"],
        2: ["-lm", "-Wl,--no-as-needed", ("-Wl,--no-as-needed", "-lm"), "-fopenmp", "-pthread", "-g", "-lz", "-Wl,-O1"],
        1: ["-static-libgcc", Code("'-L' + elsewhere"), "-L/opt/lib", "-Wl,-rpath,/opt/lib", "-O2",
            ("-Wl,-rpath", "-Wl,$ORIGIN/../lib"), "-Wl,--exclude-libs,ALL", "-Wl,-Bsymbolic"]}
CFG = {4: ["define = CFG", "undef = MB", "include_dirs = inc", "include_dirs = PROJECT/more/inc:ELSEWHERE/out"],
       2: ["libraries = m", "force = 1", "parallel = 2", "debug = 1"],
       1: ["rpath = /opt/lib", "library_dirs = ELSEWHERE", "library_dirs = /usr/lib", "define = MA,MC", "link_objects = x.o"]}
OPTIONS = {3: [("-D", "CLI"), ("-U", "MA"), ("-I", "ELSEWHERE/far"), "-j2", "--force"],
           1: [("--define", "MA=5,MB"), "--debug", "--inplace", ("-l", "z"), "--include-dirs=PROJECT/csrc:inc"]}
USER = {4: [("CFLAGS", "-DENV=1 -O1"), ("CFLAGS", "-O2 -march=x86-64-v3"), ("LDFLAGS", "-Wl,--as-needed"),
            ("CPATH", "ELSEWHERE/cpath"), ("CC", "gcc"), ("CXX", "g++")],
        2: [("CPPFLAGS", "-DMB=9 -IELSEWHERE/far"), ("CXXFLAGS", "-DMC=8"), ("LDFLAGS", "-Wl,--no-as-needed -lz"),
            ("CXX", "g++-11"), ("CC", "gcc-11"), ("CC", "/usr/bin/cc"), ("NVCC_APPEND_FLAGS", "-DAPP=1 -UMB"),
            ("CPLUS_INCLUDE_PATH", "ELSEWHERE/cpath")],
        1: [("NVCC_PREPEND_FLAGS", "-lineinfo"), ("CC", "clang"), ("CXX", "ccache g++"), ("CUDAHOSTCXX", "g++-11"),
            ("NVCC_CCBIN", "g++-11"), ("CPATH", ":ELSEWHERE/cpath:inc"), ("LDSHARED", "gcc -shared"),
            ("CFLAGS", "-DMA=3 -UMC -march=native")]}
LISTS = {5: ["8.0", "8.0;9.0", "9.0+PTX"], 2: ["8.0 8.6+PTX", "9.0a", None], 1: ["Ampere", "8.0,9.0"]}
IN_SETUP = {1: ["os.environ['CFLAGS'] = '-DENV=2 -O1'", "os.environ['TORCH_CUDA_ARCH_LIST'] = '9.0'", "os.environ['CC'] = 'gcc'",
                "os.environ['NVCC_APPEND_FLAGS'] = '-DAPP=2'", "os.environ['CXX'] = 'g++-11'", "os.environ.pop('CFLAGS', None)"]}
WAYS = {18: ["BuildExtension"], 3: ["BuildExtension.with_options(use_ninja=False)"],
        2: ["BuildExtension.with_options(no_python_abi_suffix=True)", "Flags", "Folder"],
        1: ["Alone", "Compiler", "Flags.with_options(use_ninja=False)"]}
CLASSES = {"Flags": """
    def build_extensions(self):
        for extension in self.extensions:
            words = extension.extra_compile_args
            for each in words.values() if isinstance(words, dict) else [words]:
                each.append("-DOWN=1")
        super().build_extensions()
""", "Folder": """
    def finalize_options(self):
        super().finalize_options()
        self.include_dirs.append(here + "/more/inc")
""", "Alone": """
    def build_extension(self, extension):
        extension.define_macros.append(("ALONE", "1"))
        super().build_extension(extension)
""", "Compiler": """
    def build_extensions(self):
        self.compiler.compiler_so = [word for word in self.compiler.compiler_so if word != "-DNDEBUG"]
        self.compiler.add_library("dl")
        super().build_extensions()
"""}
HEAD = """import os, sysconfig, torch
from setuptools import setup, Extension
from torch.utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension, CUDA_HOME
here = os.path.dirname(os.path.abspath(__file__))
elsewhere, packages = os.path.dirname(here) + "/elsewhere", os.path.dirname(os.path.dirname(torch.__file__))
"""
# What a source says that it was compiled with. It includes none of torch's headers, which take long.
SEEN = ("MA", "MB", "MC", "NDEBUG", "ENV", "APP", "CFG", "CLI", "OWN", "WHICH", "Py_LIMITED_API", "TORCH_EXTENSION_NAME",
        "TORCH_API_INCLUDE_EXTENSION_H", "__cplusplus", "__OPTIMIZE__", "__OPTIMIZE_SIZE__", "__FAST_MATH__", "__NO_MATH_ERRNO__",
        "__AVX2__", "_OPENMP", "_REENTRANT", "__GNUC__", "__clang__", "__STRICT_ANSI__", "__CUDA_ARCH_LIST__",
        "__CUDA_NO_HALF_OPERATORS__", "SHADOW")
SOURCE = """#include <string>
#define TEXT_(...) #__VA_ARGS__
#define TEXT(...) TEXT_(__VA_ARGS__)
#if __has_include(<which.h>)
#include <which.h>
#endif
__attribute__((visibility("default"))) std::string FUNCTION() {
  std::string text = "FUNCTION:";
""" + "".join(f'#ifdef {name}\n  text += " {name}=" TEXT({name});\n#endif\n' for name in SEEN) + "".join(
    f'#if __has_include(<only_{tag}.h>)\n  text += " +{tag}";\n#endif\n' for tag in TAGS) + "  return text;\n}\n"
MODULE = """
static PyObject* seen(PyObject*, PyObject*) { return PyUnicode_FromString((TEXTS).c_str()); }
static PyMethodDef methods[] = {{"seen", seen, METH_NOARGS, ""}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "LEAF", "", -1, methods, nullptr, nullptr, nullptr, nullptr};
PyMODINIT_FUNC PyInit_LEAF() { return PyModule_Create(&module); }
"""
KERNEL = """__global__ void kernel_FUNCTION(float* x) {
  x[0] = x[1] / x[2] + sinf(x[3]) * x[4] + sqrtf(x[5]);
#ifdef __CUDA_ARCH__
  x[6] = __CUDA_ARCH__;
#endif
}
"""


class Case:
    """A project, and how a user builds it. `is_built`: it is, so it must be one that torch can build without a GPU."""

    def __init__(self, root, seed, number, is_built=False):
        self.random, self.number = random.Random(f"{seed} {number} {is_built}"), number
        self.eager = self.random.choice((0.3, 0.7, 1.2))  # some are plain, some have something of everything
        self.folder = root / f"case{number}" / "project"
        self.kinds, self.sources = {}, {}  # by the extension's name; the text by path
        extensions = [self.extension(at) for at in range(self.random.choice((1, 1, 2, 3)))]
        self.setup = self.text_of_setup(extensions)
        self.cfg = "[build_ext]\n" + self.real("\n".join(self.each(CFG)) if self.may(.2) else "") + "\n"
        self.options = [self.real(word) for word in (self.words(OPTIONS, 1, 2) if self.may(.2) else [])]
        if is_built:
            self.options = [word for word in self.options if word != "--inplace"]
        if len(extensions) > 1:  # torch has one build.ninja for all, so threads of its own build disturb each other
            self.options = [word for word in self.options if word != "-j2"]
            self.cfg = self.cfg.replace("parallel = 2", "")
        self.environment = {name: self.real(value) for name, value in ([self.pick(USER)] if self.may(.3) else [])}
        name_archs = [".cu'" not in each or NAMES_ARCHS.search(each) is not None for each in extensions]
        archs = None if all(name_archs) and self.random.random() < .6 else self.pick(LISTS)
        if archs or (is_built and not all(name_archs)):
            self.environment["TORCH_CUDA_ARCH_LIST"] = archs or "8.0"

    def text_of_setup(self, extensions):
        before = self.pick(IN_SETUP) + "\n" if self.may(.1) else ""
        way = self.pick(WAYS)
        for name, body in CLASSES.items():
            before += f"class {name}(BuildExtension):{body}" if way.startswith(name) else ""
        of_all = f", include_dirs={self.words(FOLDERS, 1, 2)}" if self.may(.1) else ""
        return HEAD + before + f"setup(name='pk', version='1'{of_all}, cmdclass={{'build_ext': {way}}}, ext_modules=[\n    " + (
            ",\n    ".join(extensions)) + "])\n"

    # ---- choosing

    def may(self, chance):
        return self.random.random() < chance * self.eager

    def pick(self, pool):
        weight = self.random.choices(list(pool), [weight * len(those) for weight, those in pool.items()])[0]
        return self.random.choice(pool[weight])

    def words(self, pool, least=0, most=3):
        picked = [self.pick(pool) for _ in range(self.random.randint(least, most))]
        return [word for each in picked for word in (each if isinstance(each, tuple) else [each])]

    def each(self, pool):
        """Lines of which no two have one key."""
        found = [self.pick(pool) for _ in range(self.random.randint(1, 2))]
        return list({line.split(" = ")[0]: line for line in found}.values())

    def real(self, text):
        return text.replace("PROJECT", str(self.folder)).replace("ELSEWHERE", str(self.folder.parent / "elsewhere"))

    # ---- an extension

    def extension(self, at):
        kind = self.random.choices(("CUDAExtension", "CppExtension", "Extension"), (6, 4, 1))[0]
        name = self.random.choice(("", "pk.", "pk.sub.")) + f"_module{at}"
        self.kinds[name] = kind
        sources = self.sources_of(f"_module{at}", kind)
        has_cuda = any(path.endswith(".cu") for path in sources)
        given = {}
        for field, chance, make in (
                ("include_dirs", .6, lambda: self.words(FOLDERS, 1)), ("define_macros", .7, self.macros),
                ("undef_macros", .1, lambda: [self.random.choice(MACROS + ("__CUDA_NO_HALF_OPERATORS__", ))]),
                ("libraries", .4, lambda: self.words(LIBRARIES, 1, 2)), ("extra_link_args", .3, lambda: self.words(LINK, 1, 2)),
                ("library_dirs", .05, lambda: [self.random.choice((Code("elsewhere"), "/usr/lib", "nowhere"))]),
                ("runtime_library_dirs", .04, lambda: ["$ORIGIN/lib"]), ("extra_objects", .02, lambda: [Code("here + '/x.o'")]),
                ("extra_compile_args", .85, lambda: self.flags(has_cuda, kind)), ("depends", .1, lambda: ["inc/which.h"]),
                ("py_limited_api", .08, lambda: True), ("optional", .05, lambda: True),
                ("dlink", .03 if has_cuda and kind == "CUDAExtension" else 0, lambda: True),
                ("language", .2 if kind == "Extension" else 0, lambda: "c++")):
            if self.may(chance):
                given[field] = make()
        return f"{kind}({name!r}, {sources}" + "".join(f", {field}={value!r}" for field, value in given.items()) + ")"

    def macros(self):
        return [(self.random.choice(MACROS), self.pick(VALUES)) for _ in range(self.random.randint(1, 3))]

    def sources_of(self, leaf, kind):
        """Words of setup.py; the texts are kept. The first is Python's module, which says what each says."""
        paths = [f"csrc/{leaf}{self.random.choice(('.cpp', '.cc', '.cxx'))}"]
        paths += [f"csrc/deep/{leaf}_more.cpp"] if self.random.random() < .3 else []
        chance = {"CUDAExtension": .85, "CppExtension": .03}.get(kind, 0)
        paths += [f"csrc/{leaf}_gpu.cu"] if self.random.random() < chance else []
        functions = [re.sub(r"\W", "_", path[len("csrc/"):]) for path in paths]
        for path, function in zip(paths, functions):
            text = "#include <cuda_fp16.h>\n" + SOURCE + KERNEL if path.endswith(".cu") else SOURCE
            self.sources[path] = text.replace("FUNCTION", function)
        texts = ' + "\\n" + '.join(f"{function}()" for function in functions)
        self.sources[paths[0]] = "#include <Python.h>\n" + self.sources[paths[0]] + "".join(
            f"std::string {function}();\n" for function in functions) + MODULE.replace("TEXTS", texts).replace("LEAF", leaf)
        return [Code(f"here + '/{path}'") if self.may(.05) else f"./{path}" if self.may(.03) else path for path in paths]

    def flags(self, has_cuda, kind):
        if kind == "Extension" or self.random.random() < (.1 if has_cuda else .6):
            return self.words(EITHER if has_cuda else CXX, 1, 4)
        if not has_cuda:
            return {"cxx": self.words(CXX, 1, 4)}
        archs = self.words(ARCHS, 1, 2) if self.may(.25) else []
        flags = {"cxx": self.words(CXX, 0, 4), "nvcc": self.words(NVCC, 0, 4) + archs}
        return {language: words for language, words in flags.items() if words or self.random.random() < .5}

    # ---- its files

    def write(self):
        """Again for each build, which leaves things behind."""
        shutil.rmtree(self.folder.parent, ignore_errors=True)
        files = {"setup.py": self.setup, "setup.cfg": self.cfg, **self.sources, "../elsewhere/shadow/pybind11/pybind11.h": "",
                 "../elsewhere/shadow/cuda_fp16.h": "#define SHADOW 1\n#include_next <cuda_fp16.h>\n"}
        for tag, folder in TAGS.items():
            files[f"{folder}/which.h"] = f"#undef WHICH\n#define WHICH {tag}_\n"
            files[f"{folder}/only_{tag}.h"] = ""
        for path, text in files.items():
            file = pathlib.Path(os.path.normpath(self.folder / path))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def __str__(self):
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in self.environment.items())
        return f"{variables} setup.py build_ext {shlex.join(self.options)}\n--- setup.cfg\n{self.cfg}--- setup.py\n{self.setup}"
