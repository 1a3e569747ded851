#!/usr/bin/env python3
"""tests/gpu/deepspeed.sh runs every test of a file once, and its comparison fails where the two ways differ."""

import _ctypes
import contextlib
import importlib.util
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import run  # noqa: E402


def result(outcomes, module="cpu_adam", exit_code=0, faults=()):
    file = {"seconds": 1, "exit": exit_code, "tests": outcomes, "modules": {module: "somewhere.so"}}
    return {"files": {"test_one.py": file}, "faults": list(faults), "compiled": {}, "compile_seconds": 0}


class TableTest(unittest.TestCase):
    def table(self, ours, jit):
        """What is wrong, and the row."""
        with contextlib.redirect_stdout(io.StringIO()) as text:
            wrong = run.table(ours, jit)
        return wrong, next(line for line in text.getvalue().splitlines() if ".py |" in line)

    def test_the_same_failures_are_no_difference(self):
        same = result({"a": "passed", "b": "failed", "c": "skipped"})
        self.assertEqual(self.table(same, same), ("", "| test_one.py | cpu_adam | 1 1 1 | 1 1 1 | yes |"))

    def test_outcomes_are_compared_by_name_and_not_by_number(self):
        wrong, row = self.table(result({"a": "passed", "b": "failed"}), result({"a": "failed", "b": "passed"}))
        self.assertEqual(wrong, "a: passed with dsbuild, failed with JIT\nb: failed with dsbuild, passed with JIT")
        self.assertIn("| 1 1 0 | 1 1 0 | no |", row)

    def test_a_test_that_one_way_did_not_reach_is_a_difference(self):
        self.assertIn("b: passed with dsbuild, not run with JIT",
                      self.table(result({"a": "passed", "b": "passed"}), result({"a": "passed"}))[0])

    def test_a_time_limit_is_a_difference_even_where_both_hit_it(self):
        slow = result({"a": "passed"}, exit_code=None)
        self.assertEqual(self.table(slow, slow)[0],
                         "test_one.py: not finished in time with dsbuild\ntest_one.py: not finished in time with JIT")

    def test_in_a_file_that_was_not_finished_only_what_both_ran_is_compared(self):
        left = result({"a": "passed", "b": "passed"}, exit_code=None)
        wrong, row = self.table(left, result({"a": "passed"}, exit_code=None))
        self.assertNotIn("b:", wrong)
        self.assertIn("| 2 0 0 | 1 0 0 | not finished |", row)
        self.assertIn("a: passed with dsbuild, failed with JIT", self.table(left, result({"a": "failed"}, exit_code=None))[0])

    def test_files_of_one_folder_with_the_same_ops_are_one_row(self):
        both = result({"a": "passed"})
        file = both["files"].pop("test_one.py")
        both["files"] = {"ops/test_one.py": file, "ops/test_two.py": {**file, "tests": {"b": "failed"}}}
        self.assertEqual(self.table(both, both), ("", "| ops/test_{one, two}.py | cpu_adam | 1 1 0 | 1 1 0 | yes |"))

    def test_a_file_of_which_nothing_was_run_proves_nothing(self):
        none = result({}, exit_code=4)
        self.assertIn("test_one.py: no test of it was run with JIT, pytest's exit code is 4", self.table(none, none)[0])

    def test_an_op_that_came_from_elsewhere_is_a_fault(self):
        same = result({"a": "passed"}, faults=["test_one.py loaded cpu_adam from /elsewhere.so"])
        self.assertIn("from /elsewhere.so", self.table(same, result({"a": "passed"}))[0])

    def test_a_test_that_hangs_both_ways_has_the_same_outcome(self):
        hung = result({"a": "hung", "b": "passed"}, exit_code=1)
        self.assertEqual(self.table(hung, hung)[0], "")

    def test_a_crash_is_shown_and_is_no_hang(self):
        crashed = result({"a": "crashed", "b": "passed"}, exit_code=-11)
        self.assertEqual(self.table(crashed, crashed), ("", "| test_one.py | cpu_adam | 1 1 0 (1 crashed) | 1 1 0 (1 crashed) | yes |"))
        self.assertIn("a: crashed with dsbuild, hung with JIT", self.table(crashed, result({"a": "hung", "b": "passed"}))[0])

    def test_both_must_have_loaded_the_same_ops(self):
        self.assertIn("JIT loaded none", self.table(result({"a": "passed"}), result({"a": "passed"}, module="_hashlib"))[0])


# In the place of pytest, with the plugin's view of four tests: it notes what it is to run, the test b never ends, and c
# crashes where it is asked to.
PYTEST = """
import os, sys, types
sys.path.insert(0, {here!r})
import dsbuild_witness as witness
items = [types.SimpleNamespace(nodeid=name) for name in "abcd"]
witness.pytest_collection_modifyitems(items)
for item in items:
    witness.note(started=item.nodeid)
    if item.nodeid == "b": sys.exit(1)
    if item.nodeid == os.environ.get("CRASHING"): os.abort()
    witness.note(test=item.nodeid, outcome="passed")
"""


class PartsTest(unittest.TestCase):
    def run_files(self, parts, **variables):
        """What became of the tests of a file that is run in so many parts, and its exit code."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "pytest.py").write_text(PYTEST.format(here=str(HERE)))
            with unittest.mock.patch.dict(os.environ, PYTHONPATH=folder, JOBS="2", **variables), \
                    unittest.mock.patch.dict(run.PARTS, {"test_one.py": parts}), contextlib.redirect_stderr(io.StringIO()):
                done = run.run_files(["test_one.py"], pathlib.Path(folder), pathlib.Path(folder))["test_one.py"]
        return done["tests"], done["exit"]

    def test_each_test_is_run_in_one_part_and_what_is_behind_a_hanging_one_too(self):
        for parts in (1, 2, 3):
            with self.subTest(parts=parts):
                self.assertEqual(self.run_files(parts), ({"a": "passed", "b": "hung", "c": "passed", "d": "passed"}, 1))

    def test_what_is_behind_a_crash_is_run_too(self):
        self.assertEqual(self.run_files(1, CRASHING="c")[0], {"a": "passed", "b": "hung", "c": "crashed", "d": "passed"})

    def test_a_part_that_reaches_the_time_limit_is_not_run_again(self):
        self.assertEqual(self.run_files(1, FILE_LIMIT="0")[1], None)


class WhereFromTest(unittest.TestCase):
    """Extension modules of Python's own stand in for ops."""

    LOAD = """
import contextlib, dsbuild_witness, importlib.util as u
with contextlib.suppress(ImportError):  # of a module that the file does not hold: it was looked for
    u.module_from_spec(u.spec_from_file_location("{module}", "{file}"))
"""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def loaded(self, file, module="_ctypes"):
        """What the witness writes down of loading a module from this file, where torch compiles into `folder`."""
        log = self.folder / "log"
        variables = {"PYTHONPATH": str(HERE), "TORCH_EXTENSIONS_DIR": str(self.folder), "WITNESS_LOG": str(log)}
        subprocess.run([sys.executable, "-B", "-c", self.LOAD.format(file=file, module=module)], env=variables, check=True)
        return run.read_log(log)[1]

    def test_the_file_of_a_compiled_module_is_written_down_and_of_others_not(self):
        if not getattr(_ctypes, "__file__", ""):
            self.skipTest("_ctypes is not a file of its own here")
        copy = shutil.copy(_ctypes.__file__, self.folder)
        self.assertEqual(self.loaded(copy), {"_ctypes": copy})

    def test_an_op_has_one_name_both_ways(self):
        copy = shutil.copy(importlib.util.find_spec("_ctypes").origin, self.folder)
        for op, module in (("inference_core_ops", "deepspeed.inference.v2.kernelsinference_core_ops"),
                           ("utils", "deepspeed.ops.utils_op"), ("ragged_ops", "deepspeed.inference.v2.ragged_ops")):
            for name in (op, module):
                self.assertEqual(self.loaded(copy, name), {op: copy}, name)
                (self.folder / "log").unlink()

    def faults(self, way, file):
        with unittest.mock.patch.dict(os.environ, TORCH_EXTENSIONS_DIR=str(self.folder)):
            return run.faults_of(way, {"test_one.py": {"modules": {"cpu_adam": file, "_ctypes": file}}})

    def test_each_way_must_load_its_own(self):
        inside, outside = f"{self.folder}/cpu_adam/cpu_adam.so", "/site-packages/cpu_adam_op.so"
        self.assertEqual((self.faults("ours", outside), self.faults("jit", inside)), ([], []))
        self.assertEqual(self.faults("ours", inside), [f"test_one.py loaded cpu_adam from {inside}"])
        self.assertEqual(self.faults("jit", outside), [f"test_one.py loaded cpu_adam from {outside}"])

    def test_with_the_wheel_nothing_may_have_been_compiled(self):
        (self.folder / "cpu_adam").mkdir()
        self.assertEqual(self.faults("ours", "/site-packages/cpu_adam_op.so"),
                         [f"cpu_adam was compiled: {self.folder}/cpu_adam"])


if __name__ == "__main__":
    unittest.main()
