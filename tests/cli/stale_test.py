#!/usr/bin/env python3
"""Edits after which a compiler cache in front of nvcc may hand out old code: what slices build is what they build from
scratch, byte for byte. ccache with its defaults is shown each of them too; it preprocesses for the first arch alone."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import testspace  # noqa: E402
from sliced import SlicesTest, TestSpace, make_pack  # noqa: E402
from devices import BACKENDS, IS_HOST, IS_LATER, add_device_op, use_device_compiler  # noqa: E402
from stale import add_tests  # noqa: E402

SOURCE = """
#include "shift.h"
__global__ void scale(float* data) {
#if IS_LATER
  data[threadIdx.x] *= k_shift + 7;
#else
  data[threadIdx.x] *= k_shift;
#endif
}
#if IS_HOST
extern "C" int threads() { return 32; }
extern "C" int width() { return WIDTH; }
#ifdef MORE
extern "C" int more() { return MORE; }
#endif
#endif
extern "C" void scale_run(float* data) { scale<<<1, 32>>>(data); }
"""
HEADER = "constexpr int k_shift = {};\n"

# What a moved line may reach: names that compilers make up, and nothing else.
NAMELESS = """
#include "nameless.h"
template <class T> __host__ __device__ const char* name_of(T) { return __PRETTY_FUNCTION__; }
namespace { struct { int x; } hidden; struct Later { Later() { hidden.x = 1; } } later; }
template <class T>
__global__ void nameless(T* out, const char** names) {
  __shared__ T shared[32];
  static __device__ int calls;
  auto inner = [=](int x) { __shared__ int marks[32]; marks[threadIdx.x] = x; return marks[x & 31]; };
  shared[threadIdx.x] = static_cast<T>(inner(++calls)) + by();
  out[threadIdx.x] = shared[threadIdx.x ^ 1];
  *names = name_of(inner);
}
extern "C" int nameless_run(float* a, double* b, const char** names) {
  static Later local;
  auto count = [](int x) { static int calls; return calls += x; };
  nameless<<<1, 32>>>(a, names);
  nameless<<<1, 32>>>(b, names);
  return count(2) + name_of(local)[0] + name_of(count)[0];
}
"""
NAMELESS_HEADER = """
__device__ inline int by() {
  static int more = 3;
  return more++;
}
"""

# As torch has it: it reads the lines of whoever calls it.
PLACE = """
struct Place {
  unsigned line;
  static constexpr __host__ __device__ Place current(const unsigned line = __builtin_LINE()) { return {line}; }
};
struct Logged {
  unsigned line;
  template <class T>
  Logged(T, unsigned l = __builtin_LINE()) : line(l) {}
};
inline unsigned logged(Logged what) { return what.line; }
"""

# Code that knows where it stands: on the host, on the device, by a header, by a macro.
PLACED = {
    "by_header.cu": """
#include "place.h"
// moved
__global__ void device_place(unsigned* line) { *line = Place::current().line; }
extern "C" unsigned host_place() { return Place::current().line; }
""",
    "by_base.cu": """
#include "place.h"
// moved
struct Derived : Place { unsigned here() { return current().line; } };
extern "C" unsigned derived_place() { return Derived().here(); }
__global__ void nothing_derived() {}
""",
    "by_conversion.cu": """
#include "place.h"
// moved
extern "C" unsigned converted_place() { return logged("x"); }
__global__ void nothing_converted() {}
""",
    "host_line.cu": """
// moved
static int line_here(int line = __builtin_LINE()) { return line; }
extern "C" int host_line() { return line_here(); }
""",
    "device_line.cu": """
// moved
static __device__ int line_here(int line = __builtin_LINE()) { return line; }
__global__ void device_line(int* line) { *line = line_here(); }
""",
    "assertion.cu": """
#include <cassert>
// moved
__global__ void device_assertion(int* data) { assert(*data == 7); }
extern "C" void host_assertion(int* data) { assert(*data == 8); }
"""}
LOCATED = """
#include <source_location>
// moved
constexpr unsigned line_here(std::source_location where = std::source_location::current()) { return where.line(); }
__global__ void device_location(unsigned* line) { *line = line_here(); }
extern "C" unsigned host_location() { return line_here(); }
"""


def move(file, before="// moved\n"):
    """Puts lines before each place in the file that has the words."""
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, "// a line more\n" * 20 + before))


class Project:
    """The op's files, what its compile takes besides, and the edits."""

    def __init__(self, pack, backend="cuda"):
        self.pack, self.backend, self.width, self.environment = pack, backend, 1, {}
        source = SOURCE.replace("IS_LATER", IS_LATER[backend]).replace("IS_HOST", IS_HOST[backend])
        add_device_op(pack, "shifted", {"main/shifted.cu": source}, backend)
        self.spec = (pack.folder / "shifted" / "op.yaml").read_text()
        for folder in ("first", "second"):
            pack.source(folder).mkdir()
        pack.source("second/shift.h").write_text(HEADER.format(2))
        self.write_spec()

    def write_spec(self):
        (self.pack.folder / "shifted" / "op.yaml").write_text(
            f"{self.spec}include_dirs: [first, second]\ndefines: {{WIDTH: {self.width}}}\n")

    def replace(self, old, new):
        file = self.pack.source("main/shifted.cu")
        text = file.read_text()
        assert text.count(old) == 1
        file.write_text(text.replace(old, new))

    def edit_code_of_a_later_arch(self):
        self.replace("k_shift + 7", "k_shift + 8")

    def edit_code_that_only_the_host_sees(self):
        self.replace("return 32", "return 33")

    def shadow_a_header(self):
        self.pack.source("first/shift.h").write_text(HEADER.format(5))

    def change_a_macro_of_the_command(self):
        self.width = 2
        self.write_spec()

    def change_a_flag_of_the_environment(self):
        self.environment = {"NVCC_APPEND_FLAGS": "-DMORE=4"}

    def edits(self):
        """In an order in which each still changes something after those before it."""
        of_nvcc = [self.change_a_flag_of_the_environment] if self.backend == "cuda" else []  # no such variable is clang's
        return [self.edit_code_of_a_later_arch, self.edit_code_that_only_the_host_sees, self.change_a_macro_of_the_command,
                *of_nvcc, self.shadow_a_header]


class StaleTest(SlicesTest):
    def setUp(self):
        self.space = TestSpace(pack=make_pack)

    def library(self):
        self.built(ops="shifted", env=self.project.environment)
        return (self.space.out / "shifted.so").read_bytes()

    def fresh_library(self, name):
        self.space.build_dir, kept = self.space.root / name, self.space.build_dir
        library = self.library()
        self.space.build_dir = kept
        return library

    def check_never_stale(self, backend):
        use_device_compiler(self.space, backend)
        self.project = Project(self.space.pack, backend)
        before = self.library()
        for edit in self.project.edits():
            with self.subTest(edit.__name__):
                edit()
                after = self.library()
                self.assertNotEqual(after, before)
                self.assertEqual(after, self.fresh_library(edit.__name__))
                before = after


add_tests(StaleTest, "slices_are_never_stale", StaleTest.check_never_stale, BACKENDS)


@testspace.deep_but("test_nothing_is_made_where_lines_move")
class MovedLinesTest(SlicesTest):
    """An edit that only moves lines: nothing is made anew where no output can show it, and everything else is."""

    def objects(self, sources):
        """(file, end) -> the bytes that are linked."""
        return {(source, end): self.object(source, end).read_bytes() for source in sources for end in (".o", ".host.o")}

    def fresh_objects(self, op, sources):
        self.space.build_dir, kept = self.space.root / "fresh", self.space.build_dir
        self.built(ops=op)
        objects = self.objects(sources)
        self.space.build_dir = kept
        return objects

    def check_nothing_is_made(self):
        pack = self.space.pack
        pack.add_op("moved", {"nameless.cu": NAMELESS})
        pack.source("nameless.h").write_text(NAMELESS_HEADER)
        self.built(ops="moved")
        for file, before in (("nameless.cu", "  auto "), ("nameless.cu", "namespace"), ("nameless.h", "  return")):
            self.assertEqual(self.made_by(lambda: move(pack.source(file), before), source="nameless.cu", ops="moved"), set())
        self.assertEqual(self.objects(["nameless.cu"]), self.fresh_objects("moved", ["nameless.cu"]))

    def check_nothing_is_stale(self, files, spec=None):
        self.space.pack.add_op("placed", files, spec)
        self.space.pack.source("place.h").write_text(PLACE)
        self.built(ops="placed")
        before = self.objects(files)
        for file in files:
            move(self.space.pack.source(file))
        self.built(ops="placed")
        after, fresh = self.objects(files), self.fresh_objects("placed", files)
        self.assertEqual([key for key in after if after[key] != fresh[key]], [])
        return {file for file, end in after if after[file, end] != before[file, end]}

    def test_nothing_is_made_where_lines_move(self):
        self.check_nothing_is_made()

    def test_no_image_is_made_where_lines_move_that_only_the_host_may_read(self):
        runs, pack = self.count_ptxas(), self.space.pack
        pack.add_op("moved", {"host.cu": '#include "place.h"\n// moved\n__global__ void nothing() {}\n'
                              'extern "C" unsigned place() { return Place::current().line; }\n'})
        pack.source("place.h").write_text(PLACE)
        self.built(ops="moved")
        before = runs()
        made = self.made_by(lambda: move(pack.source("host.cu")), source="host.cu", ops="moved")
        self.assertEqual(made, {"front", "host", "compute_80", "compute_90"})
        self.assertEqual(runs(), before)

    def test_nothing_is_made_where_lines_move_with_cuda_11_8(self):
        self.use_toolkit_11_8()
        self.check_nothing_is_made()

    def test_a_device_edit_that_moves_lines_compiles_nothing_for_the_host(self):
        self.built()
        self.assertEqual(self.made_by(self.edit("  data[threadIdx.x] *= k_by + 7;", "\n\n  data[threadIdx.x] *= k_by + 8;")) - {"front"},
                         {"compute_90"})

    def test_code_that_knows_its_line_is_not_stale(self):
        self.assertEqual(self.check_nothing_is_stale(PLACED), set(PLACED))

    def test_code_that_knows_its_line_is_not_stale_with_cuda_11_8(self):
        self.use_toolkit_11_8()
        self.assertEqual(self.check_nothing_is_stale(PLACED), set(PLACED))

    def test_source_location_is_not_stale(self):
        spec = {"std": {"nvcc": 20}, "flags": {"nvcc": ["--expt-relaxed-constexpr"]}}
        self.assertEqual(self.check_nothing_is_stale({"located.cu": LOCATED}, spec), {"located.cu"})

    def test_flags_that_write_lines_are_not_stale(self):
        self.space.environment["NVCC_APPEND_FLAGS"] = "-Xcompiler=-fsanitize=signed-integer-overflow"
        code = """
// moved
extern "C" int sum(int a, int b) { return a + b; }
__global__ void nothing() {}
"""
        self.assertEqual(self.check_nothing_is_stale({"checked.cu": code}, {"libraries": ["ubsan"]}), {"checked.cu"})


@testspace.deep_but("test_code_of_a_later_arch_is_stale")
class CcacheTest(SlicesTest):
    """What a cache that knows nothing of nvcc's steps does with the same edits."""

    def setUp(self):
        super().setUp()
        if not shutil.which("ccache"):
            self.skipTest("ccache is not installed")
        self.project = Project(self.space.pack)
        self.output = self.space.root / "shifted.o"

    def object(self, *launcher):
        """As nvcc makes it, the same each time."""
        nvcc = [self.space.toolkit.home / "bin" / "nvcc", "-frandom-seed=1", "-objtemp", f"-DWIDTH={self.project.width}", "-Ifirst", "-Isecond",
                "-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90", "-c", "main/shifted.cu", "-o", self.output]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.space.home), "CCACHE_DIR": str(self.space.root / "ccache"),
                       **self.project.environment}
        subprocess.run([*launcher, *nvcc], cwd=self.space.pack.sources, env=environment, check=True)
        return self.output.read_bytes()

    def stale_after(self, edit):
        old = self.object("ccache")
        edit()
        cached = self.object("ccache")
        self.assertNotEqual(self.object(), old, "the edit changes nothing")
        return cached == old

    def test_code_of_a_later_arch_is_stale(self):
        self.assertTrue(self.stale_after(self.project.edit_code_of_a_later_arch))

    def test_code_that_only_the_host_sees_is_stale(self):
        self.assertTrue(self.stale_after(self.project.edit_code_that_only_the_host_sees))

    def test_others_are_stale_with_some_versions(self):
        for edit in (self.project.change_a_macro_of_the_command, self.project.change_a_flag_of_the_environment,
                     self.project.shadow_a_header):
            with self.subTest(edit.__name__):
                print(f"ccache, {edit.__name__}: {'stale' if self.stale_after(edit) else 'seen'}", flush=True)


del SlicesTest  # what the others share is no test

if __name__ == "__main__":
    testspace.main(each_commit=2)
