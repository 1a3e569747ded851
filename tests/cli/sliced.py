"""What the tests of slices share: a small pack with real CUDA code, built with a real nvcc."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace  # noqa: E402
from packs import Pack  # noqa: E402

SIZES = "constexpr int k_by = 2;\n"
PLAIN = """
#include "sizes.h"
__global__ void scale(float* data) {
#if __CUDA_ARCH__ >= 900
  data[threadIdx.x] *= k_by + 7;  // newest
#else
  data[threadIdx.x] *= k_by;  // older
#endif
}
#ifndef __CUDA_ARCH__
extern "C" int threads() { return 32; }
#endif
extern "C" void scale_run(float* data) { scale<<<1, 32>>>(data); }
"""
INNER = """
namespace {
__device__ int counter = 3;
__constant__ float table[4] = {1, 2, 3, 4};
__global__ void add(float* data) { data[threadIdx.x] += table[threadIdx.x & 3] + counter; }
}
extern "C" void add_run(float* data) { add<<<1, 32>>>(data); }
"""
LISTED = """
#define TEXT(...) #__VA_ARGS__
#define LIST(...) TEXT(__VA_ARGS__)
extern "C" const char* listed_archs() { return LIST(__CUDA_ARCH_LIST__); }
__global__ void nothing() {}
"""
# As CCCL does: an inline namespace that names the list of archs, with a kernel and a variable in it.
NAMED = """
#define N1(a) THRUST_300001_SM_##a##_NS
#define N2(a, b) THRUST_300001_SM_##a##_##b##_NS
#define N3(a, b, c) THRUST_300001_SM_##a##_##b##_##c##_NS
#define PICK(a, b, c, name, ...) name
#define NAME(...) PICK(__VA_ARGS__, N3, N2, N1)(__VA_ARGS__)
#define LIST_NAME NAME(__CUDA_ARCH_LIST__)
namespace thrust { inline namespace LIST_NAME {
struct part { float x; };
__device__ float bias = 3;
template <class T> __global__ void add(T* data) { data[threadIdx.x].x += bias + 1; }
} }
MORE
extern "C" void named_run(float* data) { thrust::add<<<1, 32>>>((thrust::part*)data); }
"""
# Of line information: a function that is inlined, whose name .debug_str has; and code behind a name, whose column PTX has.
LINED = {
    "lined": """
namespace thrust { inline namespace LIST_NAME {
template <class T> __device__ T thrice(T x) { return x * 3 + threadIdx.x; }
} }
__global__ void inlining(float* data) { data[threadIdx.x] += thrust::thrice(data[0]); }
""",
    "lined_behind": """
__device__ thrust::LIST_NAME::part made(float x) { return {x * x + 1}; }
__global__ void making(float* data) { data[threadIdx.x] = made(data[1]).x; }
""",
}
# Of a name's spelling: in a string of the source, in one that the compiler makes, and its length.
SPELLED = {
    "quoted": "#define TEXT_(x) #x\n#define TEXT(x) TEXT_(x)\n__device__ const char spelled[] = TEXT(LIST_NAME);",
    "function": "template <class T> __device__ const char* name_of() { return __PRETTY_FUNCTION__; }\n"
                "__global__ void spell(const char** to) { *to = name_of<thrust::part>(); }",
    "column": "#include <source_location>\n"
              "__global__ void place(thrust::LIST_NAME::part*, int* to) { *to = std::source_location::current().column(); }",
}


def make_pack(folder):
    pack = Pack(folder, "sliced")
    pack.add_op("scaling", {"plain.cu": PLAIN})
    pack.add_op("inner", {"inner.cu": INNER, "in-ner.v2.cu": INNER.replace("add_run", "more_run")})
    pack.add_op("listing", {"listed.cu": LISTED})
    pack.add_op("naming", {"named.cu": NAMED.replace("MORE", "")})
    for name, code in SPELLED.items():
        pack.add_op(f"spelling_{name}", {f"{name}.cu": NAMED.replace("MORE", code)},
                    {"std": {"nvcc": 20}, "flags": {"nvcc": ["--expt-relaxed-constexpr"]}})
    for name, code in LINED.items():
        pack.add_op(name, {f"{name}.cu": NAMED.replace("MORE", code)}, {"flags": {"nvcc": ["-lineinfo"]}})
    pack.source("sizes.h").write_text(SIZES)
    return pack


# Facts about the toolkit, its self-test among them, are found once for all spaces.
CACHE = tempfile.TemporaryDirectory(prefix="dsbuild-test-")


def make_space(name="space"):
    space = TestSpace(name=name, pack=make_pack)
    space.environment["XDG_CACHE_HOME"] = CACHE.name
    space.use_real_toolkit()
    space.arch = "8.0;9.0+PTX"
    return space


class SlicesTest(CliTest):
    def setUp(self):
        self.space = make_space()

    def built(self, *more, ops="scaling", env=None):
        run = self.space.build("--ops", ops, *more, env=env)
        self.assertEqual(run.code, 0, run)
        self.assertNotIn("not_sliced", run.err)
        return run

    def keys(self, source):
        """part -> the key of its result, as its record has it. The object of all images ("o") follows from the others."""
        folder = next(self.space.build_dir.glob(f"obj/*/{source}"))
        found = {}
        for record in folder.glob("*.record"):
            part, result = record.name.split(".")[1], re.search(r"(?m)^result (.*)$", record.read_text())
            if result and part != "o":
                found["front" if part == "cudafe1" else part] = result.group(1)
        return found

    def made_by(self, change, source="plain.cu", **options):
        """The parts whose tools ran behind the preprocessor in the build after the change."""
        before = self.keys(source)
        change()
        self.built(**options)
        after = self.keys(source)
        return {part for part in after if after[part] != before.get(part)}

    def edit(self, old, new, source="plain.cu"):
        file = self.space.pack.source(source)
        text = file.read_text()
        self.assertIn(old, text)
        return lambda: file.write_text(text.replace(old, new))

    def object(self, source, end=".o"):
        return next(self.space.build_dir.glob(f"obj/*/{source}/{source.removesuffix('.cu')}{end}"))

    def images(self, source):
        file = self.object(source)
        section = file.with_suffix(".section")
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.nv_fatbin",
                        "--set-section-flags", ".nv_fatbin=alloc", file, section], check=True)
        return section.read_bytes()

    def wrap_nvcc(self, script):
        """A toolkit whose nvcc goes through a script first; `real` stands for the real one."""
        home, real = self.space.root / "wrapped", self.space.toolkit.home
        home.mkdir()
        for entry in real.iterdir():
            if entry.name != "bin":
                (home / entry.name).symlink_to(entry)
        shutil.copytree(real / "bin", home / "bin", symlinks=True)
        (home / "bin" / "nvcc").unlink()
        (home / "bin" / "nvcc").write_text("#!/bin/bash\n" + script.replace("REAL", str(real / "bin" / "nvcc")))
        (home / "bin" / "nvcc").chmod(0o755)
        self.space.toolkit.home = home

    def count(self, tool, real, lines=""):
        """From now on slices run a `tool` that is counted, in those of nvcc's commands that `lines` chooses; the value counts."""
        log, counted = self.space.root / "counted.log", self.space.root / "counted" / os.path.basename(real)
        counted.parent.mkdir()
        counted.write_text(f'#!/bin/bash\necho >> "{log}"\nexec "{real}" "$@"\n')
        counted.chmod(0o755)
        self.wrap_nvcc('if [[ " $* " == *" --dryrun "* ]]; then '
                       f'REAL "$@" 2>&1 | /usr/bin/sed "{lines}s#\\$ {tool} #$ {counted} #" >&2\nelse REAL "$@"; fi\n')
        return lambda: log.read_text().count("\n") if log.exists() else 0

    def count_ptxas(self):
        return self.count("ptxas", f"{self.space.toolkit.home}/bin/ptxas")

    def count_cicc(self):
        return self.count("[^ ]*/cicc.", f"{self.space.toolkit.home}/nvvm/bin/cicc")

    def count_preprocessors(self):
        return self.count("[^ ]*", shutil.which("g++"), "/ -E /")

    def use_toolkit(self, version):
        name = "DSBUILD_CUDA_" + version.replace(".", "_")
        home = os.environ.get(name)
        if not home or not os.path.isdir(home):
            self.skipTest(f"no CUDA {version} toolkit ({name})")
        self.space.use_real_toolkit(home)
        self.space.arch = "7.0;8.0+PTX"

    def use_toolkit_11_8(self):
        self.use_toolkit("11.8")
