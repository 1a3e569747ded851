#!/usr/bin/env python3
"""What a source says to a compiler behind the preprocessor's back: files that the assembler reads, comments that warnings
are about, headers that are one file while they are equal, lines and files that code knows."""

import functools
import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from stale import StaleSpace, StaleTest, add_tests, write_program  # noqa: E402
from testspace import bundle_files  # noqa: E402

CACHE = tempfile.TemporaryDirectory(prefix="dsbuild-test-")  # what is known of the real toolkit, its self-test among it


def use_real_toolkit(space):
    space.toolkit.home = pathlib.Path(testspace.find_real_toolkit())
    space.environment["XDG_CACHE_HOME"] = CACHE.name
    testspace.copy_facts(space.cache_folder())
    space.environment["DSBUILD_CACHE_DIR"] = str(space.root / "store")


class AssemblerCase(StaleTest):
    """Sources of which files are read that the compiler's depfile does not name."""

    def add(self, source, path="a.cpp", **keys):
        self.space.pack.add_op("hosty", {path: source}, keys)
        self.write("1")

    def write(self, value):
        self.space.write("x.s", f".globl value\nvalue: .long {value}\n")
        self.space.write("x.bin", value)

    def check_read_by_assembler(self, source, path="a.cpp", clean=False, more=(), **keys):
        self.add(source, path, **keys)

        def change():
            self.write("2")
            if clean:
                self.clean()

        self.check_change(change, *more, cache=CACHE.name)

    INCLUDE = 'asm(".data\\n.include \\"pack/x.s\\"\\n.text\\n");\nextern "C" int v() { return 1; }\n'
    INCBIN = 'asm(".data\\n.incbin \\"pack/x.bin\\"\\n.text\\n");\nextern "C" int v() { return 1; }\n'
    COMPUTED = '#define TEXT(x) #x\n#define NAME(a, b) TEXT(.a##b "pack/x.bin")\n' \
               'asm(".data\\n" NAME(inc, bin) "\\n.text\\n");\n' \
               'extern "C" int v() { return 1; }\n'
    KERNEL = "__global__ void k() {}\n#ifndef __CUDA_ARCH__\n"

    def built(self):
        run = self.space.build()
        if run.code != 0:
            raise RuntimeError(str(run))
        return run


@testspace.deep_but(
    "test_include", "test_computed_incbin_after_clean", "test_include_of_a_cuda_file",
    "test_what_it_read_is_known_to_the_cache_of_a_cuda_file", "test_a_file_of_a_folder_that_is_searched_later")
class AssemblerTest(AssemblerCase):
    """GNU as says which they are."""

    def test_include(self):
        self.check_read_by_assembler(self.INCLUDE, backend="cpu")

    def test_include_after_clean(self):
        self.check_read_by_assembler(self.INCLUDE, backend="cpu", clean=True)

    def test_incbin(self):
        self.check_read_by_assembler(self.INCBIN, backend="cpu")

    def test_incbin_after_clean(self):
        self.check_read_by_assembler(self.INCBIN, backend="cpu", clean=True)

    def test_computed_incbin(self):
        self.check_read_by_assembler(self.COMPUTED, backend="cpu")

    def test_computed_incbin_after_clean(self):
        self.check_read_by_assembler(self.COMPUTED, backend="cpu", clean=True)

    def test_include_of_a_cuda_file(self):
        use_real_toolkit(self.space)
        self.check_read_by_assembler(self.KERNEL + self.INCLUDE + "#endif\n", "a.cu")

    def test_include_of_a_cuda_file_after_clean(self):
        use_real_toolkit(self.space)
        self.check_read_by_assembler(self.KERNEL + self.INCLUDE + "#endif\n", "a.cu", clean=True)

    def test_computed_incbin_of_a_cuda_file(self):
        use_real_toolkit(self.space)
        self.check_read_by_assembler(self.KERNEL + self.COMPUTED + "#endif\n", "a.cu")

    def test_computed_incbin_of_a_cuda_file_that_nvcc_compiles_whole(self):
        use_real_toolkit(self.space)
        self.check_read_by_assembler(self.KERNEL + self.COMPUTED + "#endif\n", "a.cu", more=("--backend", "nvcc"))

    def check_kept(self):
        """Nothing is compiled for nothing, and the cache has what was made of either state."""
        first = self.build()
        self.assertEqual(self.built().edges_run(), 0)
        self.write("2")
        second = self.build()
        self.assertNotEqual(first, second)
        self.assertEqual(self.built().edges_run(), 0)
        for value, expected in (("2", second), ("1", first)):
            self.write(value)
            self.clean()
            run = self.built()
            self.assertEqual(bundle_files(self.space.out), expected)
            last = json.loads(self.space.run("cache", "stats", "--json").out)["last_build"]
            self.assertEqual((last["hits"] > 0, last["misses"]), (True, 0))
            self.assertNotIn("unnamed_files", run.err)

    def test_what_it_read_is_known_to_the_cache(self):
        self.add(self.COMPUTED, backend="cpu")
        self.check_kept()

    def test_what_it_read_is_known_to_the_cache_of_a_cuda_file(self):
        use_real_toolkit(self.space)
        self.add(self.KERNEL + self.INCLUDE + "#endif\n", "a.cu")
        self.check_kept()

    def test_a_file_of_a_folder_that_is_searched_later(self):
        """One of that name comes to a folder that is searched before."""
        self.space.write("late/y.bin", "1")
        self.space.pack.source("early").mkdir()
        self.add('asm(".data\\n.incbin \\"y.bin\\"\\n.text\\n");\nextern "C" int v() { return 1; }\n', backend="cpu",
                 include_dirs=["early", "late"])
        self.check_change(lambda: self.space.write("early/y.bin", "2"))


@testspace.deep_but("test_incbin_after_clean", "test_each_build_says_so_once")
class SilentAssemblerTest(AssemblerCase):
    """One that does not say what it read: what may have had it read files is made anew in each build."""

    def setUp(self):
        super().setUp()
        self.space.environment["CXX"] = str(write_program(
            self.space.root / "g++", 'case "$*" in *-Wa,--help*|*--MD*) exit 1;; esac\nexec g++ "$@"\n'))

    def test_include(self):
        self.check_read_by_assembler(self.INCLUDE, backend="cpu")

    def test_incbin_after_clean(self):
        self.check_read_by_assembler(self.INCBIN, backend="cpu", clean=True)

    def test_each_build_says_so_once(self):
        self.add(self.INCBIN, backend="cpu")
        self.space.pack.add_op("too", {"b.cpp": self.INCLUDE, "c.cpp": "int w;\n"}, {"backend": "cpu"})
        for _ in range(2):
            run = self.built()
            self.assertEqual(re.findall(r"warning\[unnamed_files\]: (\S+):", run.err), ["a.cpp", "b.cpp"])
            self.assertGreaterEqual(run.edges_run(), 2)
        run = self.space.build("--json")
        warnings = json.loads(run.out.splitlines()[-1])["warnings"] if run.code == 0 else []
        self.assertEqual([(each["code"], each["where"]) for each in warnings],
                         [("unnamed_files", "a.cpp"), ("unnamed_files", "b.cpp")], run)


class LinkTimeTest(AssemblerCase):
    """What -flto compiles is assembled when it is linked."""

    def test_incbin(self):
        self.space.environment["CXX"] = str(write_program(self.space.root / "g++", 'exec g++ -flto "$@"\n'))
        self.check_read_by_assembler(self.INCBIN, backend="cpu")

    def test_incbin_of_a_cuda_file(self):
        use_real_toolkit(self.space)
        self.space.environment["NVCC_APPEND_FLAGS"] = "-Xcompiler=-flto"
        self.check_read_by_assembler(self.KERNEL + self.INCBIN + "#endif\n", "a.cu")


FALL = """#pragma GCC diagnostic error "-Wimplicit-fallthrough"
extern "C" int v(int x) {
  switch (x) {
    case 1:
      x += 2;
      // fall through
    case 2:
      x += 3;
  }
  return x;
}
"""


class CommentTest(StaleTest):
    """Comments that a diagnostic is about: with another one the source does not compile."""

    def check_fails(self, source, old, new, path="a.cpp", main=None, flags=("-Wimplicit-fallthrough=3",)):
        files = {path: source} if main is None else {"a.cpp": main, path: source}
        self.space.add_cpu_op("hosty", files, flags={"cxx": flags})
        self.build()
        self.space.edit(path, old, new)
        self.check(fails=True)

    def test_the_comment_that_says_a_fall_through_is_meant_goes_away(self):
        self.check_fails(FALL, "      // fall through\n", "\n")

    def test_it_becomes_another_comment(self):
        self.check_fails(FALL, "// fall through", "// falls down")

    def test_it_goes_away_in_a_header(self):
        self.check_fails(FALL, "      // fall through\n", "\n", "v.h", main='#include "v.h"\n')


ONCE = "#pragma once\n#ifdef SEEN\n#define TWICE\n#endif\n#define SEEN\n"
BOTH = '#include "x.h"\n#include "y.h"\n#ifdef TWICE\n#define V 2\n#else\n#define V 1\n#endif\n'


@testspace.deep_but(
    "test_their_bytes_become_different_under_equal_times", "test_their_times_become_different_by_an_older_one",
    "test_their_times_become_different_to_nvcc")
class PragmaOnceTest(StaleTest):
    """Two headers with #pragma once are one file to gcc if their bytes and times are equal."""

    def check_once(self, change, y_time=1000, path="a.cpp", backend="cpu", **options):
        x, y = self.space.write("inc/x.h", ONCE), self.space.write("inc/y.h", ONCE)
        self.space.pack.add_op("hosty", {path: BOTH + 'extern "C" int v() { return V; }\n'},
                               {"backend": backend, "include_dirs": ["inc"]})
        os.utime(x, (1000, 1000))
        os.utime(y, (y_time, y_time))
        self.check_change(lambda: change(x, y), **options)

    @staticmethod
    def add_comment(_, y):
        with y.open("a") as file:
            file.write("// c\n")

    def test_their_bytes_become_different(self):
        self.check_once(self.add_comment)

    def test_their_bytes_become_different_under_equal_times(self):
        def change(x, y):
            self.add_comment(x, y)
            os.utime(y, (1000, 1000))

        self.check_once(change)

    def test_their_times_become_different(self):
        self.check_once(lambda _, y: os.utime(y))

    def test_their_times_become_different_by_an_older_one(self):
        self.check_once(lambda _, y: os.utime(y, (900, 900)))

    def test_their_times_become_equal(self):
        self.check_once(lambda _, y: os.utime(y, (1000, 1000)), y_time=2000)

    def test_a_touch_before_a_clean(self):
        """The cache is asked."""
        def change(_, y):
            os.utime(y)
            self.clean()

        self.check_once(change)

    def test_their_times_become_different_to_nvcc(self):
        use_real_toolkit(self.space)
        self.check_once(lambda _, y: os.utime(y), path="a.cu", backend="cuda", cache=CACHE.name)


# A name; a header; where there is "// file", what stands in the file before the lines that come; what stands behind them.
POSITION_TEXT = """
== derived_from_qualified
namespace ns { struct Place { static constexpr __host__ __device__ unsigned current(AT) { return line; } }; }
// moved
struct D : ns::Place { unsigned f() const { return current(); } };
extern "C" unsigned where() { return D().f(); }
== member_out_of_class
struct Place { static unsigned current(AT) { return line; } unsigned g(); };
// moved
unsigned Place::g() { return current(); }
== constructor_template
struct L { unsigned line; template <class T> L(T, AT) : line(line) {} };
// moved
extern "C" unsigned where() { L x(5); return x.line; }
== implicit_conversion
struct L { unsigned line; template <class T> L(T, AT) : line(line) {} };
unsigned log_at(L l) { return l.line; }
// moved
extern "C" unsigned where() { return log_at("x"); }
== member_template
struct P { template <class T> static unsigned current(AT) { return line; } };
// file
template <class Q> unsigned g() {
// moved
return Q::template current<int>(); }
extern "C" unsigned where() { return g<P>(); }
== device_out_of_class
struct Place { static __device__ unsigned current(AT) { return line; } __device__ unsigned g(); };
// moved
__device__ unsigned Place::g() { return current(); }
__global__ void more(unsigned* x) { Place p; *x = p.g(); }
== line_macro
// moved
__global__ void more(unsigned* x) { *x = __LINE__; }
== using_declaration
struct Place { static unsigned current(AT) { return line; } };
struct E2 { using P = Place; };
// moved
struct D2 : E2::P { unsigned f() { return current(); } };
extern "C" unsigned where() { return D2().f(); }
== friend_function
struct Place { unsigned v; friend unsigned at(Place, AT) { return line; } };
// moved
extern "C" unsigned where() { return at(Place{1}); }
== nested_class
struct Place { static unsigned current(AT) { return line; } struct In { unsigned g(); }; };
// moved
unsigned Place::In::g() { return current(); }
== lambda
static auto f = [](unsigned x, AT) { return line + x; };
// moved
extern "C" unsigned where() { return f(1); }
== function_object
struct F { template <class T> unsigned operator()(T x, AT) const { return line + x; } };
static F f;
// moved
extern "C" unsigned where() { return f(1); }
== default_template_argument
// moved
template <unsigned L = __builtin_LINE()> struct X { static constexpr unsigned v = L; };
extern "C" unsigned where() { return X<>::v; }
== enumerator
constexpr unsigned at(AT) { return line; }
// file
enum E {
// moved
 a = at(), b };
extern "C" unsigned where() { return a; }
== array_bound
constexpr unsigned at(AT) { return line; }
// moved
extern "C" { char buffer[at()]; }
"""
POSITIONS = {name: text.replace("AT", "unsigned line = __builtin_LINE()") for name, text in testspace.some_of(
    (part.split("\n", 1) for part in POSITION_TEXT.split("== ")[1:]), 4)}


@functools.cache
def positions_built():
    """op -> (its library before lines moved, after, and from scratch): all of them in one pack."""
    space = StaleSpace()
    use_real_toolkit(space)
    for name, text in POSITIONS.items():
        mark = "// file\n" if "// file\n" in text else "// moved\n"
        header, code = text.split(mark)
        space.pack.add_op(name, {f"{name}/a.cu": f'#include "place.h"\n{mark}{code}__global__ void k() {{}}\n'})
        space.write(f"{name}/place.h", header)

    def libraries():
        return {file.stem: file.read_bytes() for file in space.out.glob("*.so")}

    def built(*more):
        run = space.build(*more)
        assert run.code == 0, run
        return libraries()

    first = built()
    for name in POSITIONS:
        space.edit(f"{name}/a.cu", "// moved\n", "// moved\n// a line more\n// and another\n")
    second = built()
    space.remove_build()
    space.environment["DSBUILD_CACHE_SIZE"] = "0"
    third = built()
    return {name: (first[name], second[name], third[name]) for name in POSITIONS}


class PositionTest(StaleTest):
    """Code that reads its own line, in front of which lines are put."""

    def setUp(self):
        testspace.find_real_toolkit()

    def check_position(self, name):
        before, after, scratch = positions_built()[name]
        if before == scratch:
            raise RuntimeError("the moved lines change nothing")
        self.assertTrue(after == scratch, "the library is the one before the change")


add_tests(PositionTest, "line", PositionTest.check_position, list(POSITIONS))

BACKSLASH = "// c:\\\\temp\\\n"
RAW = '// R"(\n'


@testspace.deep_but(
    "test_a_comment_that_ends_in_a_backslash", "test_cuda_with_comments_kept_and_a_raw_string",
    "test_an_edit_behind_such_comments_is_seen", "test_a_comment_that_takes_the_next_line_in_is_seen")
class MovedCheckoutTest(StaleTest):
    """A second checkout, in a folder of another name, with the first one's cache."""

    def check_moved(self, comment, *more, path="a.cpp", env=None, real=False, **options):
        spaces = [self.space, StaleSpace("elsewhere and longer")]
        for number, space in enumerate(spaces):
            if real:
                use_real_toolkit(space)
            space.environment["DSBUILD_CACHE_DIR"] = str(self.space.root / "store")
            space.write("v.h", "#define V 1\n" + comment)
            kernel = "__global__ void k(int* x) { *x = V; }\n" if path.endswith(".cu") else ""
            code = f'{comment}\n#include "v.h"\n{comment}\n{kernel}extern "C" int v() {{ return V; }}\n'
            space.pack.add_op("hosty", {path: code}, {} if kernel else {"backend": "cpu"})
            if number == 0:
                self.build(*more, space=space, env=env)
            else:
                self.check(*more, space=space, env=env, cache=CACHE.name, **options)

    def test_a_comment_that_ends_in_a_backslash(self):
        self.check_moved(BACKSLASH)

    def test_a_comment_with_a_raw_string(self):
        self.check_moved(RAW)

    def test_a_comment_that_ends_in_a_backslash_with_debug_information(self):
        self.check_moved(BACKSLASH, "--debug", same_folder=True)

    def test_cuda_with_a_comment_that_ends_in_a_backslash(self):
        self.check_moved(BACKSLASH, "--debug", path="a.cu", real=True)

    def test_cuda_with_a_comment_with_a_raw_string(self):
        self.check_moved(RAW, "--debug", path="a.cu", real=True)

    def test_cuda_with_comments_kept_and_a_backslash(self):
        self.check_moved(BACKSLASH, "--debug", path="a.cu", real=True, env={"NVCC_APPEND_FLAGS": "-Xcompiler=-C"})

    def test_cuda_with_comments_kept_and_a_raw_string(self):
        self.check_moved(RAW, "--debug", path="a.cu", real=True, env={"NVCC_APPEND_FLAGS": "-Xcompiler=-C"})

    def test_an_edit_behind_such_comments_is_seen(self):
        for comment in (BACKSLASH, RAW):
            with self.subTest(comment):
                self.space = StaleSpace()
                self.space.add_cpu_op("hosty", {"a.cpp": f'{comment}\nextern "C" int v() {{ return 1; }}\n'})
                self.check_change(lambda: self.space.edit("a.cpp", "return 1", "return 2"))

    def test_a_comment_that_takes_the_next_line_in_is_seen(self):
        code = '#define V 1\n// one line\n#undef V\n#define V 2\nextern "C" int v() { return V; }\n'
        self.space.add_cpu_op("hosty", {"a.cpp": code})
        self.check_change(lambda: self.space.edit("a.cpp", "// one line\n#undef V\n#define V 2", "// one line\\\n#undef V\n//"))


if __name__ == "__main__":
    testspace.main(each_commit=6)
