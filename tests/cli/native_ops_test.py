#!/usr/bin/env python3
"""Ops for the CPU in a plan and a bundle: what needs what, what happens where a library is missing, and what a compiler
puts into a library."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack  # noqa: E402

# A machine without libaio: its compiler finds no such library.
COMPILER = """#!/bin/sh
for word; do
  if [ "$word" = -laio ]; then
    echo "/usr/bin/ld: cannot find -laio: No such file or directory" >&2
    exit 1
  fi
done
exec g++ "$@"
"""


def cpu_space():
    space = TestSpace()
    space.environment.update(TVM_FFI_HOME=testspace.find_tvm_ffi(), DS_ACCELERATOR="cpu")
    return space


class ArchsTest(CliTest):
    def test_an_op_without_a_filter_does_not_lose_what_another_op_drops(self):
        space = TestSpace(version="11.8")
        space.environment["TVM_FFI_HOME"] = testspace.find_tvm_ffi()
        run = space.run("plan", "--ops", "all", "--arch", "7.0;8.0+PTX", "--cuda-home", str(space.toolkit.home), "--json")
        self.assertEqual(run.code, 0, run)
        plan = json.loads(run.out)
        self.assertEqual(plan["shared"]["archs"], ["8.0+PTX"])
        extras = {op["name"]: op["extra"]["archs"] for op in plan["ops"] if op["extra"]["archs"]}
        self.assertEqual(extras, {name: ["7.0"] for name in ("evoformer_attn", "fused_adam", "fused_lamb", "fused_lion",
                                                              "layer_norm", "quantizer", "rms_norm")})


class NeedsTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = cpu_space()
        if cls.space.run("plan", "--ops", "async_io").code == 3:
            testspace.skip("libaio is not installed (libaio-dev)")

    def plan(self, *words, **env):
        run = self.space.run("plan", *words, env=env)
        self.assertEqual(run.code, 0, run)
        return run

    def test_the_plan_says_that_an_op_comes_along_and_why(self):
        run = self.plan("--ops", "async_io")
        self.assertIn("\nadded  pin_memory: needed by async_io\n", run.out)
        ops = {op["name"]: op for op in json.loads(self.plan("--ops", "async_io", "--json").out)["ops"]}
        self.assertEqual((ops["pin_memory"]["status"], ops["pin_memory"]["reason"]), ("build", "needed by async_io"))

    def test_an_op_that_was_asked_for_is_not_said_to_come_along(self):
        for ops in ("all", "async_io,pin_memory"):
            self.assertNotIn("needed by", self.plan("--ops", ops).out)

    def test_it_comes_along_even_if_its_variable_leaves_it_out_as_in_deepspeed(self):
        for words, env in ((["--ops", "async_io"], {}), (["--ops", "all"], {}), ([], {"DS_BUILD_AIO": "1"})):
            run = self.plan(*words, DS_BUILD_PIN_MEMORY="0", **env)
            self.assertRegex(run.out, r"\npin_memory +CPU\n")
            self.assertIn("it is built although it was left out (DS_BUILD_PIN_MEMORY=0), because async_io needs it",
                          run.err)


class WithoutLibaioTest(CliTest):
    def setUp(self):
        self.space = cpu_space()
        compiler = self.space.root / "c++"
        compiler.write_text(COMPILER)
        compiler.chmod(0o755)
        self.space.environment["CXX"] = str(compiler)

    def build(self, *words, code):
        run = self.space.run("--ops", "all,-cpu_adam,-cpu_adagrad,-cpu_lion", *words)
        self.assertEqual(run.code, code, run)
        manifest = json.loads((self.space.root / "dsbuild-out" / "manifest.json").read_text())
        self.assertEqual([op["name"] for op in manifest["ops"]], ["pin_memory"])
        return run.out + run.err

    def test_the_rest_is_built_and_the_skip_says_how_to_mend_it(self):
        text = self.build(code=0)
        self.assertRegex(text, r"skipped  async_io: .*cannot find -laio.*\(DS_BUILD_AIO=0 silences this\)\n"
                         r"  fix: \S+ .*libaio\S*\n")
        self.assertRegex(self.build("--strict", code=3), r"error\[skipped_ops\]: --strict: 1 op skipped: async_io")

    def test_asked_for_by_name_it_is_an_error_with_the_same_fix(self):
        run = self.space.run("--ops", "async_io")
        self.assertEqual(run.code, 3, run)
        self.assertRegex(run.err, r"error\[op_not_compatible\]: --ops: async_io cannot be built here: .*-laio.*\n"
                         r"  fix: \S+ .*libaio")


SPEAK = """#include <iostream>
extern "C" int speak(unsigned number) {
  std::cout << "layer " << number << " of two" << std::endl;
  return std::cout.good();
}
"""


class StaticLibstdcxxTest(CliTest):
    """A compiler that links libstdc++ statically: without more, streams of such a library are those of the process by halves
    and end at the first number, once another library with streams is there, as in a Python with torch."""

    def setUp(self):
        self.space = cpu_space()
        self.compiler = self.space.root / "c++"
        self.compiler.write_text('#!/bin/sh\nexec g++ "$@" -static-libstdc++\n')
        self.compiler.chmod(0o755)
        self.space.environment["CXX"] = str(self.compiler)
        self.pack = Pack(self.space.root / "own")
        self.pack.add_op("voice", {"voice.cpp": SPEAK}, {"backend": "cpu", "exports": ["speak"]})

    def link(self, compiler, name):
        library = self.space.root / name
        subprocess.run([compiler, "-O2", "-fPIC", "-shared", self.pack.source("voice.cpp"), "-o", library], check=True)
        return library

    def said(self, library):
        """What it says in a process where another one has spoken."""
        script = "import ctypes, sys\nfor library in sys.argv[1:]: ctypes.CDLL(library).speak(7)"
        return subprocess.run([sys.executable, "-c", script, self.link("g++", "first.so"), library], text=True,
                              stdout=subprocess.PIPE).stdout.partition("layer 7 of two\n")[2]

    def test_a_library_speaks_beside_others(self):
        self.assertNotEqual(self.said(self.link(self.compiler, "plain.so")), "layer 7 of two\n")
        run = self.space.run("--pack", str(self.pack.folder), "--ops", "voice")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(self.said(self.space.root / "dsbuild-out" / "voice.so"), "layer 7 of two\n")


if __name__ == "__main__":
    testspace.main()
