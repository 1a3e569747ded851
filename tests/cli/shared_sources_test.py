#!/usr/bin/env python3
"""One source in two ops under other macros: compiled once where its preprocessed text is the same, else twice; and
whichever it is, an op's bytes are those of the op built alone. Real compilers; nvcc where there is one."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack  # noqa: E402

SAME = '#include "common.h"\nextern "C" int same_run() { return COMMON; }\n'
NAMED = '#define TEXT(x) #x\n#define NAME_OF(x) TEXT(x)\nextern "C" const char* name() { return NAME_OF(NAME); }\n'
# What differs is seen by the device code of one arch alone.
KERNEL = """
__global__ void fill(int* to) { *to = 1; }
extern "C" void fill_run(int* to) { fill<<<1, 1>>>(to); }
"""
KERNEL_OF_80 = KERNEL.replace("*to = 1;", """
#if defined(SECOND) && __CUDA_ARCH__ == 800
  *to = 2;
#else
  *to = 1;
#endif
""")


def add_pair(pack, name, sources, keys):
    """Two ops with the same sources; the second has a macro more, and both have a macro of their own."""
    for op, more in ((f"{name}_a", {}), (f"{name}_b", {"SECOND": "1"})):
        pack.add_op(op, sources, {**keys, "defines": {"NAME": op, **more}})


def make_pack(folder):
    pack = Pack(folder, "shared")
    pack.source("common.h").write_text("#define COMMON 3\n")
    add_pair(pack, "cpu", {"same.cpp": SAME, "named.cpp": NAMED}, {"backend": "cpu"})
    add_pair(pack, "cuda", {"fill.cu": KERNEL, "of80.cu": KERNEL_OF_80.replace("fill", "other")}, {})
    return pack


class SharedSourcesTest(CliTest):
    def setUp(self):
        self.space = TestSpace(pack=make_pack, store=True)
        self.space.arch = "8.0;9.0"

    def objects(self, source):
        """The bytes of a source's object, by op; of a sliced one the images."""
        name = pathlib.Path(source).with_suffix(".o")
        return {file.parts[-3]: file.read_bytes() for file in self.space.build_dir.glob(f"obj/*/{source}/{name}")}

    def libraries(self):
        return {file.name: file.read_bytes() for file in self.space.out.glob("*.so")}

    def built(self, ops, *more):
        run = self.space.build("--ops", ops, *more)
        self.assertEqual(run.code, 0, run)
        return run

    def alone_and_together(self, first, second, *more):
        self.built(second, "--cache-size", "0", *more)
        alone = self.libraries()[f"{second}.so"]
        self.space.remove_build()
        run = self.built(f"{first},{second}", *more)
        self.assertEqual(self.libraries()[f"{second}.so"], alone, "other bytes than the op built alone")
        return run


class CpuSharedSourcesTest(SharedSourcesTest):
    def setUp(self):
        super().setUp()
        self.space.use_fake_compiler()

    def compiled(self, source):
        """How often it was compiled since the last call."""
        starts = self.space.compiler.starts()
        self.space.compiler.forget_starts()
        return sum("-c" in start["argv"] and f"pack/{source}" in start["argv"] for start in starts)

    def test_a_macro_that_is_not_used_costs_no_second_compile(self):
        self.built("cpu_a,cpu_b")
        self.assertEqual(self.compiled("same.cpp"), 1)
        objects = self.objects("same.cpp")
        self.assertEqual(objects["cpu_a"], objects["cpu_b"])

    def test_without_a_cache_each_op_compiles_its_own(self):
        self.built("cpu_a,cpu_b", "--cache-size", "0")
        self.assertEqual(self.compiled("same.cpp"), 2)
        objects = self.objects("same.cpp")
        self.assertEqual(objects["cpu_a"], objects["cpu_b"])

    def test_a_macro_that_is_used_costs_one(self):
        self.built("cpu_a,cpu_b")
        self.assertEqual(self.compiled("named.cpp"), 2)
        objects = self.objects("named.cpp")
        self.assertIn(b"cpu_b\0", objects["cpu_b"])
        self.assertIn(b"cpu_a\0", objects["cpu_a"])

    def test_an_op_has_the_bytes_that_it_has_alone(self):
        self.alone_and_together("cpu_a", "cpu_b")

    def test_a_source_and_a_header_that_change_reach_both_ops(self):
        self.built("cpu_a,cpu_b")
        self.space.pack.source("common.h").write_text("#define COMMON 4\n")
        self.built("cpu_a,cpu_b")
        self.compiled("")
        objects = self.objects("same.cpp")
        self.assertEqual(objects["cpu_a"], objects["cpu_b"])
        self.space.pack.source("same.cpp").write_text(SAME.replace("COMMON", "COMMON + sizeof(NAME_OF)")
                                                      + "#ifdef SECOND\nint second = 1;\n#endif\n")
        self.space.pack.source("common.h").write_text("#define COMMON 5\n#define NAME_OF 1\n")
        self.built("cpu_a,cpu_b")
        self.assertEqual(self.compiled("same.cpp"), 2)
        objects = self.objects("same.cpp")
        self.assertNotEqual(objects["cpu_a"], objects["cpu_b"])
        self.assertEqual(self.built("cpu_a,cpu_b").edges_run(), 0)

    def test_a_source_that_does_not_compile_is_reported_as_ever(self):
        self.space.pack.source("same.cpp").write_text("#ifdef SECOND\n#error not twice\n#endif\nint one;\n")
        run = self.space.build("--ops", "cpu_a,cpu_b")
        self.assertEqual(run.code, 1, run)
        self.assertIn("same.cpp:2:2: error", run.err)
        self.assertIn("not twice", run.err)

    def test_debug_info_is_each_op_s_own(self):
        self.built("cpu_a,cpu_b", "--debug")
        self.assertEqual(self.compiled("same.cpp"), 2)


class CudaSharedSourcesTest(SharedSourcesTest):
    def setUp(self):
        super().setUp()
        self.space.use_real_toolkit()

    def test_device_code_of_one_arch_that_differs_is_compiled_and_other_code_is_taken(self):
        for backend in ("slices", "nvcc"):
            with self.subTest(backend):
                # One edge at a time: images that both ops join in the same moment are joined twice.
                run = self.alone_and_together("cuda_a", "cuda_b", "--backend", backend, "-j", "1")
                # The front, both archs, the host and the images of fill.cu; all but 8.0 of of80.cu and its images.
                self.assertEqual("8 found in the cache" in run.out + run.err, backend == "slices", run)
                same, differing = self.objects("fill.cu"), self.objects("of80.cu")
                self.assertEqual(same["cuda_a"], same["cuda_b"])
                self.assertNotEqual(differing["cuda_a"], differing["cuda_b"])
                self.assertEqual(self.built("cuda_a,cuda_b", "--backend", backend).edges_run(), 0)


del SharedSourcesTest  # what the two share is no test

if __name__ == "__main__":
    testspace.main(each_commit=4)
