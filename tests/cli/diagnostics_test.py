#!/usr/bin/env python3
"""What compilers say, as people and machines are told it. A real nvcc and g++ say it."""

import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, run_on_terminal, testspace  # noqa: E402
from packs import Pack  # noqa: E402

FOUR = "8.0,8.6,9.0,10.0"
THREE_ERRORS = """__global__ void scale(float* x, float by) {
  x[0] = first_unknown;
  x[1] = "text";
  x[2] *= by
}
"""
WARNS = """__global__ void scale(float* x) {
  int unused;
  x[0] = 1;
}
"""
ONE_ARCH_WARNS = """__global__ void scale(float* x) {
#if __CUDA_ARCH__ == 900
  int unused;
#endif
  x[0] = 1;
}
"""
HOST_WARNS = '#warning "old code"\nextern "C" int scale_run() { return 1; }\n'


def pack_of(text, name="scale.cu"):
    def make(folder):
        pack = Pack(folder)
        pack.add_op("scale", {f"scale/{name}": text})
        return pack
    return make


class DiagnosticsTest(CliTest):
    def space(self, text, name="scale.cu", **settings):
        space = TestSpace(pack=pack_of(text, name), **settings)
        space.use_real_toolkit()
        self.own_path = str(space.pack.source(f"scale/{name}").relative_to(space.root))
        return space

    def check_once(self, run, *texts):
        for text in texts:
            self.assertEqual(run.err.count(text), 1, f"{text}\n{run}")
        self.assertNotRegex(run.err, r"\bpack/scale", run)

    def test_three_errors_of_a_kernel_for_four_archs_are_told_once_each_with_their_lines(self):
        for backend in ("slices", "nvcc"):
            space = self.space(THREE_ERRORS)
            run = self.run_in(space, "--arch", FOUR, "--backend", backend, "--keep-going")
            self.assertEqual(run.code, 1, run)
            self.check_once(run, f'{self.own_path}(2): error: identifier "first_unknown" is undefined\n'
                                 "    x[0] = first_unknown;\n           ^\n",
                            f"{self.own_path}(3): error: a value of type \"const char *\"", '    x[1] = "text";\n',
                            f'{self.own_path}(5): error: expected a ";"')
            self.assertNotIn("only for", run.err)
            self.assertNotIn("detected in the compilation", run.err)
            self.assertNotIn("reproduce:", run.err)
            self.assertEqual(run.err.splitlines()[-1], "failed: scale; built: none")
            self.assertEqual(run.err.count("\nfailed: compile"), 1, run)

    def test_json_has_each_once_and_ends_with_the_result(self):
        run = self.run_in(self.space(THREE_ERRORS), "--arch", FOUR, "--json")
        events = [json.loads(line) for line in run.out.splitlines()]
        told = [event for event in events if event["event"] == "diagnostic"]
        self.assertEqual([(one["severity"], one["file"], one["line"], one["op"]) for one in told],
                         [("error", self.own_path, line, "scale") for line in (2, 3, 5)])
        self.assertIn("    x[0] = first_unknown;\n", told[0]["text"])
        result = events[-1]
        self.assertEqual((result["event"], result["exit"], result["error"]["code"], result["built"]),
                         ("result", 1, "edge_failed", []))
        self.assertEqual({one["op"] for one in result["failed"]}, {"scale"})

    def test_an_annotation_names_the_file_in_the_repository_from_a_subfolder_too(self):
        space = self.space(THREE_ERRORS)
        (space.root / ".git").mkdir()
        below = space.root / "ci"
        below.mkdir()
        for env in ({}, {"GITHUB_WORKSPACE": str(space.root)}):
            run = self.run_in(space, "--arch", FOUR, env={"GITHUB_ACTIONS": "true", **env}, cwd=below)
            lines = [line for line in run.err.splitlines() if line.startswith("::error file")]
            self.assertEqual([re.match(r"::error file=([^,]*),line=(\d+),", line).groups() for line in lines],
                             [(self.own_path, line) for line in "235"], run)
            self.assertEqual(run.err.count("::group::scale\n"), 3)

    def check_warning(self, run, line):
        self.assertEqual(run.code, 0, run)
        self.check_once(run, f'{self.own_path}({line}): warning #177-D: variable "unused" was declared but never referenced\n'
                             "    int unused;\n        ^\n")

    def test_a_warning_is_told_also_where_the_object_is_the_caches(self):
        for backend in ("slices", "nvcc"):
            space = self.space(WARNS, store=True)
            words = ("--arch", "8.0,9.0", "--backend", backend)
            self.check_warning(self.run_in(space, *words), 2)
            again = self.run_in(space, *words)
            self.assertEqual(again.edges_run(), 0)
            self.check_warning(again, 2)
            space.remove_build()
            run = self.run_in(space, *words)
            self.assertIn("found in the cache", run.out)
            self.check_warning(run, 2)
            other = self.space(WARNS, name="scale.cu")
            other.environment = {**other.environment, "XDG_CACHE_HOME": space.environment["XDG_CACHE_HOME"]}
            other.environment.pop("DSBUILD_CACHE_SIZE")
            elsewhere = other.root / "elsewhere"
            shutil.move(other.pack.folder, elsewhere)
            other.pack.folder = elsewhere
            self.own_path = "elsewhere/src/scale/scale.cu"
            run = self.run_in(other, *words)
            self.assertIn("found in the cache", run.out)
            self.check_warning(run, 2)

    def test_lines_that_move_are_those_of_the_source_now(self):
        space = self.space(WARNS, store=True)
        self.check_warning(self.run_in(space, "--arch", "8.0"), 2)
        space.pack.source("scale/scale.cu").write_text("// a line more\n" + WARNS)
        self.check_warning(self.run_in(space, "--arch", "8.0"), 3)
        space.remove_build()
        self.check_warning(self.run_in(space, "--arch", "8.0"), 3)

    def test_what_one_arch_alone_says_names_it(self):
        run = self.run_in(self.space(ONE_ARCH_WARNS), "--arch", "8.0,8.6,9.0")
        self.assertEqual(run.code, 0, run)
        self.check_once(run, "(3): warning #177-D", "    int unused;\n        ^\n  only for 9.0\n")

    def test_a_cpp_file_warns_too_and_quiet_is_quiet(self):
        space = self.space(HOST_WARNS, "scale.cpp", store=True)
        told = f'{self.own_path}:1:2: warning: #warning "old code" [-Wcpp]\n'
        self.check_once(self.run_in(space), told)
        space.remove_build()
        self.check_once(self.run_in(space), told)
        space.remove_build()
        self.assertEqual(self.run_in(space, "-q").err, "")

    def test_colours_are_for_terminals(self):
        space = self.space(THREE_ERRORS)
        _, text = run_on_terminal(space, *space.arguments("--arch", "8.0"), env={"TERM": "xterm"})
        self.assertIn("\x1b[91merror\x1b[0m: identifier", text)
        _, text = run_on_terminal(space, *space.arguments("--arch", "8.0"), env={"TERM": "dumb"})
        self.assertIn("error: identifier", text)
        self.assertNotIn("\x1b", text)


if __name__ == "__main__":
    testspace.main(each_commit=4)
