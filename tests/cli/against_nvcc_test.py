#!/usr/bin/env python3
"""--verify-against-nvcc with a real nvcc: what slices made is what nvcc makes, and a build in which it is not says so and publishes nothing."""

import ctypes
import hashlib
import json
import pathlib
import re
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import testspace  # noqa: E402
from sliced import SlicesTest  # noqa: E402

# Nothing of it is seen from outside, so nvcc 11.8 makes its process id part of the module id.
HIDDEN = """
namespace {
__device__ int counter = 3;
__global__ void count(int* into) { *into = counter++; }
struct Start { Start() { count<<<1, 1>>>(nullptr); } } start;
}
"""
LABEL = "dsbuild_label_one"
# As torch's headers: names of internal linkage, and a first function that is C++, of which nvcc's module id has a checksum.
INTERNAL = """
namespace { __device__ int counter = 3; __global__ void count(int* into) { *into = counter++; } }
void count_run(int* into) { count<<<1, 1>>>(into); }
"""
# Which of two functions is called is in a relocation alone.
CALLS = """
extern "C" int first() { return 1; }
extern "C" int other() { return 2; }
extern "C" int called() { return first() + 1; }
"""
# What extensions of torch are built with, beside what pack deepspeed has; and values of defines that a shell would change.
FLAGS = {"nvcc": ["-Xptxas=-allow-expensive-optimizations=true", "-Xptxas=--register-usage-level=10", "-Xptxas=-O3,-v",
                  "-Xfatbin=-compress-all", "-diag-suppress", "177,550", "-t=0", "-ftemplate-backtrace-limit=0",
                  "-Xcompiler", "-Wall,-fpermissive"],
         "cxx": ["-flto", "-ftemplate-backtrace-limit=0", "-fpermissive"], "link": ["-flto"]}
DEFINES = {"STR": '"a, b; (c)* ~"', "TYPE": "float*", "P": "(2+1)", "CH": "'x'", "TWO": "unsigned long"}
DEFINED = """
extern "C" const char* NAMED() { return STR; }
extern "C" TWO NAMED_size() { return sizeof(TWO) + CH; }
"""
FLAGGED = DEFINED.replace("NAMED", "device_text") + """
template <class T> __global__ void k(TYPE p, T v) { *p = P + v; }
extern "C" void go(float* p) { k<int><<<1, 1>>>(p, 2); }
"""


def call(elf, name):
    """Of a relocation R_X86_64_PLT32: its r_info."""
    symbols = subprocess.run(["readelf", "--symbols", "--wide", elf], text=True, check=True, capture_output=True).stdout
    number = next(int(line.split(":")[0]) for line in symbols.splitlines() if line.endswith(f" {name}"))
    return struct.pack("<Q", number << 32 | 4)


@testspace.deep_but("test_images_that_nvcc_makes_otherwise", "test_a_bundle_that_nvcc_makes_otherwise_does_not_verify",
                    "test_flags_and_defines_of_real_projects", "test_an_op_that_does_not_compile_is_not_called_built")
class AgainstNvccTest(SlicesTest):
    def compared(self, *more, ops="scaling"):
        return self.built("--verify-against-nvcc", *more, ops=ops).out

    def refused(self, name, words):
        """The compared build of `scaling` fails with the golden file's words, and there is no bundle."""
        run = self.check(name, self.space, "--verify-against-nvcc", "--quiet", "--ops", "scaling", code=1)
        self.assertIn(words, run.err)
        self.assertFalse(self.space.out.exists())

    def make_wrong(self, object_file, data):
        """As if it had been made so: what is only damaged is found by its record and made again."""
        record = object_file.with_name(object_file.name + ".record")
        text = record.read_text().split("\n", 1)[1]
        before, after = (hashlib.sha256(each).hexdigest() for each in (object_file.read_bytes(), data))
        self.assertIn(f"output {before} ", text)
        text = text.replace(f"output {before} ", f"output {after} ")
        record.write_text(hashlib.sha256(text.encode()).hexdigest() + "\n" + text)
        object_file.write_bytes(data)

    def test_every_sliced_file_is_compared_and_nothing_stays_of_it_but_nvccs_object(self):
        self.assertIn("compared 3 files: the same as nvcc's\n", self.compared(ops="scaling,inner"))
        kept = sorted(file.name for file in (self.space.build_dir / "against_nvcc").rglob("*") if file.is_file())
        self.assertEqual(kept, sorted(f"{stem}{end}" for stem in ("plain", "inner", "in-ner.v2")
                                      for end in (".module_id", ".nvcc.o", ".nvcc.o.record", ".nvcc.ok", ".nvcc.ok.record")))
        again = self.built("--verify-against-nvcc", ops="scaling,inner")
        self.assertEqual(again.edges_run(), 0)
        self.assertIn("compared 3 files", again.out)

    def test_nothing_that_is_compared_comes_from_the_store_but_what_slices_made(self):
        self.space.environment["DSBUILD_CACHE_SIZE"] = "1G"
        self.space.environment["DSBUILD_CACHE_DIR"] = str(self.space.root / "store")
        asked = []
        for more in ((), ("--verify-against-nvcc",)):
            self.built(*more, ops="inner")
            last = json.loads(self.space.run("cache", "stats", "--json").out)["last_build"]
            asked.append(last["hits"] + last["misses"])
            self.space.remove_build()
        self.assertEqual(asked[0], asked[1])
        self.assertIn("compared 2 files", self.compared(ops="inner"))

    def test_the_bundle_is_the_same_with_a_comparison_and_without_and_then_nothing_is_compiled_twice(self):
        self.compared(ops="inner")
        compared = self.space.hash()
        self.space.remove_build()
        self.space.remove_out()
        out = self.built(ops="inner").out
        self.assertEqual(self.space.hash(), compared)
        self.assertNotIn("compared", out)
        self.assertFalse((self.space.build_dir / "against_nvcc").exists())
        self.assertNotIn("action compare", (self.space.build_dir / "build.ninja").read_text())

    def test_the_older_name_of_the_option_is_the_same(self):
        self.assertIn("compared 1 file: the same as nvcc's\n", self.built("--audit", ops="scaling").out)

    def verify(self, *more, ops="scaling"):
        return self.space.run(*self.space.arguments("verify", "--against-nvcc", "--ops", ops, *more))

    def test_a_bundle_is_verified_against_nvcc_with_the_folder_of_its_build(self):
        self.built(ops="scaling,inner")
        run = self.verify(ops="scaling,inner")
        self.assertEqual(run.code, 0, run)
        self.assertIn("compared 3 files: the same as nvcc's\n", run.out)
        other = self.verify("--json", ops="inner")  # another build's options
        self.assertEqual((other.code, json.loads(other.out)["error"]["code"]), (1, "not_built"), other)
        self.edit("k_by + 7", "k_by + 8")()
        edited = self.verify("--json", ops="scaling,inner")
        self.assertEqual((edited.code, json.loads(edited.out)["error"]["code"]), (1, "not_built"), edited)

    def test_a_bundle_that_nvcc_makes_otherwise_does_not_verify(self):
        self.wrap_nvcc('[[ " $* " == *" --keep-dir="* ]] && exec REAL "$@" -Xptxas=-O0; exec REAL "$@"\n')
        self.built()
        run = self.verify()
        self.assertEqual(run.code, 1, run)
        self.assertRegex(run.out, "differs: scaling: plain.cu: .*its device images of sm_80, sm_90 differ from nvcc's")
        told = json.loads(self.verify("--json").out.splitlines()[-1])
        self.assertEqual((told["ok"], told["compared"], [each["op"] for each in told["differences"]]), (False, 0, ["scaling"]))

    def test_an_edit_is_compared_again(self):
        self.compared()
        self.edit("k_by + 7", "k_by + 8")()
        self.assertIn("compared 1 file: the same as nvcc's\n", self.compared())

    def flagged(self, more=()):
        flags = {**FLAGS, "nvcc": [*FLAGS["nvcc"], *more]}
        self.space.pack.add_op("flagged", {"flagged.cu": FLAGGED, "words.cpp": DEFINED.replace("NAMED", "host_text")},
                               {"flags": flags, "defines": DEFINES})
        self.assertIn("compared 1 file: the same as nvcc's\n", self.compared(ops="flagged"))
        library = ctypes.CDLL(str(next(self.space.out.rglob("flagged.so"))))
        for name in ("device_text", "host_text"):
            text, size = getattr(library, name), getattr(library, name + "_size")
            text.restype, size.restype = ctypes.c_char_p, ctypes.c_ulong
            self.assertEqual((text(), size()), (DEFINES["STR"].strip('"').encode(), 8 + ord("x")))

    def test_flags_and_defines_of_real_projects(self):
        self.flagged(["-static-global-template-stub=false"])

    def test_flags_and_defines_of_real_projects_with_cuda_11_8(self):
        self.use_toolkit_11_8()
        self.flagged()

    def test_flags_and_defines_of_real_projects_with_cuda_12_4(self):
        self.use_toolkit("12.4")
        self.flagged()

    def test_names_of_internal_linkage_with_cuda_11_8(self):
        self.use_toolkit_11_8()
        self.space.pack.add_op("hidden", {"hidden.cu": HIDDEN})
        self.assertIn("compared 1 file: the same as nvcc's\n", self.compared(ops="hidden"))

    def test_names_of_internal_linkage_are_compared_with_our_module_id_for_nvccs_and_no_step_runs_again(self):
        self.space.pack.add_op("internal", {"inter-nal.v2.cu": INTERNAL})
        ptxas_runs = self.count_ptxas()
        self.built(ops="listing")  # and the self-test
        before = ptxas_runs()
        self.assertIn("compared 1 file: the same as nvcc's\n", self.compared(ops="internal"))
        self.assertEqual(ptxas_runs() - before, 2)  # archs
        theirs = next((self.space.build_dir / "against_nvcc").rglob("*.module_id")).read_text().strip()
        ours = next((self.space.build_dir / "obj").rglob("inter-*.module_id")).read_text().strip()
        self.assertNotEqual(theirs, ours)
        self.assertEqual(re.sub("[0-9a-f]{8}", "", theirs), re.sub("[0-9a-f]{8}", "", ours))
        self.assertIn(ours.encode(), self.object("inter-nal.v2.cu").read_bytes())

    def test_images_that_nvcc_makes_otherwise(self):
        self.wrap_nvcc('[[ " $* " == *" --keep-dir="* ]] && exec REAL "$@" -Xptxas=-O0; exec REAL "$@"\n')
        self.refused("not_as_nvcc", "its device images of sm_80, sm_90 differ from nvcc's")

    def test_host_code_that_nvcc_makes_otherwise(self):
        self.wrap_nvcc('[[ " $* " == *" --keep-dir="* ]] && exec REAL "$@" -Xcompiler=-O3; exec REAL "$@"\n')
        self.refused("not_as_nvcc_host", "its host code differs from nvcc's in .text")

    def test_an_object_that_is_not_what_its_steps_make(self):
        file = self.space.pack.source("plain.cu")
        file.write_text(file.read_text() + f'extern "C" const char* label() {{ return "{LABEL}"; }}\n')
        self.built()
        self.space.remove_out()
        stale = self.object("plain.cu", ".host.o")
        self.make_wrong(stale, stale.read_bytes().replace(LABEL.encode(), LABEL.encode()[::-1]))
        self.refused("not_as_nvcc_stale", "plain.host.o is not what the same steps make now")

    def test_an_object_that_calls_another_function(self):
        file = self.space.pack.source("plain.cu")
        file.write_text(file.read_text() + CALLS)
        self.built()
        self.space.remove_out()
        stale = self.object("plain.cu", ".host.o")
        bytes_before = stale.read_bytes()
        self.assertEqual(bytes_before.count(call(stale, "first")), 1)
        self.make_wrong(stale, bytes_before.replace(call(stale, "first"), call(stale, "other")))
        self.refused("not_as_nvcc_stale", "plain.host.o is not what the same steps make now")

    def test_the_other_ops_are_published_with_keep_going(self):
        self.wrap_nvcc('[[ " $* " == *" --keep-dir="*plain* ]] && exec REAL "$@" -Xptxas=-O0; exec REAL "$@"\n')
        run = self.space.build("--ops", "scaling,inner", "--verify-against-nvcc", "--keep-going", "--json")
        self.assertEqual(run.code, 1, run)
        result = run.result()
        self.assertEqual((result["compared"], [op["name"] for op in result["ops"]]), (2, ["inner"]))
        self.assertEqual([(failed["op"], failed["source"]) for failed in result["failed"]], [("scaling", "plain.cu")])
        self.assertIn("error[not_as_nvcc]", result["failed"][0]["error"])

    def test_an_op_that_does_not_compile_is_not_called_built(self):
        with open(self.space.pack.source("plain.cu"), "a", encoding="ascii") as source:
            source.write("#error not this one\n")
        run = self.space.build("--ops", "scaling", "--verify-against-nvcc")
        self.assertEqual(run.code, 1, run)
        self.assertIn("failed: scaling; built: none\n", run.err)

    def test_what_is_not_sliced_is_not_counted(self):
        run = self.space.build("--ops", "scaling", "--verify-against-nvcc", env={"NVCC_APPEND_FLAGS": "-G"})
        self.assertEqual(run.code, 0, run)
        self.assertIn("compared 0 files: nvcc makes none in slices\n", run.out)

    def test_whole_nvcc_commands_leave_nothing_to_compare(self):
        self.check("nothing_to_compare", self.space, "--backend", "nvcc", "--verify-against-nvcc", code=2)


del SlicesTest  # what the others share is no test

if __name__ == "__main__":
    testspace.main(each_commit=2)
