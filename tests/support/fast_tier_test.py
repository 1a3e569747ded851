#!/usr/bin/env python3
"""scripts/test.sh fast runs a test again after a change of any file that it may read, and says which tests it leaves out."""

import contextlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fast_inputs  # noqa: E402
import fast_tier  # noqa: E402

# Each run of a test adds its name to a file that git ignores.
SCRIPT = """#!/bin/sh
echo {name} >> {root}/build/ran
exit $(cat {root}/build/{name}.code 2>/dev/null || echo 0)
"""
# The labels, and the variables that name programs.
TESTS = {"unit_one": ("unit", ""), "cli_two": ("cli", "DSBUILD={root}/build/program"), "lint_three": ("lint", "")}
FILES = ["README.md", "lib/one.cpp", "lib/one.h", "tests/golden/two.txt", "tests/support/space.py", "tests/unit/exec/one_test.cpp", "tests/unit/exec/data/one.h",
         "tests/cli/another_test.py", ".gitignore"]


class Checkout:
    """A repository with three tests, and CTest's file of them in its build folder."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-test-")).resolve()
        self.build = self.root / "build"
        self.build.mkdir()
        for file in FILES:
            self.write(file, f"{file}\n")
        self.write(".gitignore", "build/\n")
        self.write("build/program", "a program\n")
        self.write("build/CTestTestfile.cmake", "".join(map(self.add_test, TESTS)))
        for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "all"]):
            subprocess.run(["git", "-C", self.root, *words], check=True)

    def add_test(self, name):
        """unit_one is a program of the build folder, the others are scripts."""
        label, environment = TESTS[name]
        script = "build/unit_one" if label == "unit" else f"tests/{label}/{name}_test.py"
        self.write(script, SCRIPT.format(name=name, root=self.root))
        (self.root / script).chmod(0o755)
        return (f'add_test({name} "{self.root / script}")\n'
                f'set_tests_properties({name} PROPERTIES LABELS "{label};fast" ENVIRONMENT "{environment.format(root=self.root)}")\n')

    def write(self, file, text):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, seconds=60.0):
        """The names of the tests that ran."""
        (self.build / "ran").unlink(missing_ok=True)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.code = fast_tier.main(self.root, self.build, seconds)
        self.said = said.getvalue()
        return sorted((self.build / "ran").read_text().split()) if (self.build / "ran").exists() else []

    def record(self, **changes):
        """Changes what is recorded of all tests."""
        record = fast_tier.Record(self.build / "fast_tests.json")
        for test in record.tests.values():
            test.update(changes)
        record.save()


class FastTierTest(unittest.TestCase):
    def setUp(self):
        self.checkout = Checkout()
        self.addCleanup(shutil.rmtree, self.checkout.root)
        self.cache = self.checkout.build / "cache" / "dsbuild"
        variables = mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.cache.parent), "CTEST_PARALLEL_LEVEL": "1"})
        variables.start()
        self.addCleanup(variables.stop)
        self.assertEqual(self.checkout.run(), sorted(TESTS))

    def check_change(self, file, text, expected):
        self.assertEqual(self.checkout.run(), [])
        self.checkout.write(file, text)
        self.assertEqual(self.checkout.run(), expected)
        self.assertEqual(self.checkout.run(), [])

    def test_what_passed_runs_again_after_a_change_of_a_file_that_it_may_read(self):
        for file in ("tests/golden/two.txt", "tests/support/space.py", "README.md", "tests/new.txt"):
            with self.subTest(file=file):
                self.check_change(file, "other\n", sorted(TESTS))

    def test_a_mode_is_part_of_a_file(self):
        (self.checkout.root / "README.md").chmod(0o700)
        self.assertEqual(self.checkout.run(), sorted(TESTS))

    def test_a_file_that_is_removed_is_a_change(self):
        (self.checkout.root / "tests/golden/two.txt").unlink()
        self.assertEqual(self.checkout.run(), sorted(TESTS))

    def test_sources_of_programs_are_read_by_lints_alone(self):
        for file in ("lib/one.cpp", "lib/one.h", "tests/unit/exec/one_test.cpp"):
            with self.subTest(file=file):
                self.check_change(file, "other\n", ["lint_three"])
        self.check_change("tests/unit/exec/data/one.h", "other\n", sorted(TESTS))

    def test_sources_are_read_by_a_script_that_names_their_folder(self):
        script = "tests/cli/cli_two_test.py"
        self.checkout.write(script, (self.checkout.root / script).read_text() + '# REPOSITORY / "lib" / "one.h"\n')
        self.checkout.run()
        self.check_change("lib/one.h", "other\n", ["cli_two", "lint_three"])

    def test_a_script_is_read_by_what_names_it(self):
        self.check_change("tests/cli/another_test.py", "other\n", ["lint_three"])
        script = "tests/cli/cli_two_test.py"
        text = (self.checkout.root / script).read_text()
        self.check_change(script, text + "# import another_test\n", ["cli_two", "lint_three"])
        self.check_change("tests/cli/another_test.py", "third\n", ["cli_two", "lint_three"])

    def test_another_program_is_a_change(self):
        self.check_change("build/program", "another program\n", ["cli_two"])
        text = (self.checkout.root / "build/unit_one").read_text()
        self.check_change("build/unit_one", text + "# more\n", ["unit_one"])

    def test_a_program_that_a_program_names_is_a_change(self):
        helper = self.checkout.build / "helper"
        self.checkout.write("build/helper", "first\n")
        helper.chmod(0o755)
        self.check_change("build/program", f"starts {helper}\n", ["cli_two"])
        self.check_change("build/helper", "second\n", ["cli_two"])

    def test_another_variable_is_a_change(self):
        with mock.patch.dict(os.environ, {"DSBUILD_SEED": "7"}):
            self.assertEqual(self.checkout.run(), sorted(TESTS))

    def test_another_toolkit_of_the_machine_is_a_change(self):
        (self.cache / "toolkits" / "13.5").mkdir(parents=True)
        self.assertEqual(self.checkout.run(), sorted(TESTS))

    def test_after_a_day_all_is_due(self):
        self.checkout.record(ended=time.time() - 2 * fast_tier.DAY)
        self.assertEqual(self.checkout.run(), sorted(TESTS))

    def test_what_failed_runs_again_also_without_time(self):
        self.checkout.write("build/cli_two.code", "1")
        self.checkout.write("README.md", "other\n")
        self.checkout.run()
        self.assertNotEqual(self.checkout.code, 0)
        self.assertEqual(self.checkout.run(seconds=0), ["cli_two"])
        self.assertNotEqual(self.checkout.code, 0)

    def test_what_was_skipped_has_not_passed(self):
        listed = self.checkout.build / "CTestTestfile.cmake"
        listed.write_text(listed.read_text() + "set_tests_properties(cli_two PROPERTIES SKIP_RETURN_CODE 77)\n")
        self.checkout.write("build/cli_two.code", "77")
        self.assertEqual(self.checkout.run(), ["cli_two"])
        self.assertEqual(self.checkout.run(), ["cli_two"])

    def test_the_seconds_of_a_test_are_those_of_several_runs(self):
        self.checkout.record(seconds=10.0)
        self.checkout.write("README.md", "other\n")
        self.checkout.run()
        record = fast_tier.Record(self.checkout.build / "fast_tests.json")
        self.assertAlmostEqual(record.of("cli_two")["seconds"], 5.0, delta=1.0)

    def test_a_fixture_is_no_test_of_the_tier(self):
        listed = self.checkout.build / "CTestTestfile.cmake"
        listed.write_text(f'{listed.read_text()}add_test(facts "true")\nset_tests_properties(facts PROPERTIES FIXTURES_SETUP f)\n'
                          "set_tests_properties(cli_two PROPERTIES FIXTURES_REQUIRED f)\n")
        self.assertEqual(self.checkout.run(), ["cli_two"])
        self.assertIn("ran 1 of 3 tests; 2 had passed", self.checkout.said)

    def test_a_test_during_which_a_file_changed_is_due_also_when_the_file_is_as_before(self):
        page = self.checkout.root / "README.md"
        script = "tests/cli/cli_two_test.py"
        self.checkout.write(script, (self.checkout.root / script).read_text().replace("exit", f"echo >> {page}\nexit"))
        self.assertEqual(self.checkout.run(), ["cli_two", "lint_three"])
        page.write_text("README.md\n")
        self.assertIn("cli_two", self.checkout.run())

    def test_what_does_not_fit_is_named_and_begins_the_next_run(self):
        self.checkout.record(seconds=10.0)
        self.checkout.write("README.md", "other\n")
        for_two = 25.0 / fast_tier.SHARE
        first = self.checkout.run(for_two)
        self.assertEqual(len(first), 2)
        self.assertIn("lint_three", first)
        left_out = (set(TESTS) - set(first)).pop()
        self.assertIn(f"1 left out for time: {left_out}\n", self.checkout.said)
        self.assertIn("`scripts/test.sh` runs all tests", self.checkout.said)
        self.assertEqual(self.checkout.run(for_two), [left_out])
        self.assertNotIn("left out", self.checkout.said)


class OrderTest(unittest.TestCase):
    def test_failed_then_lints_and_what_an_edit_names_then_the_oldest_and_the_shortest(self):
        record = fast_tier.Record("/nowhere")
        for name, ended, seconds, passed in (("cli_long", 1, 9, True), ("cli_short", 1, 2, True), ("cli_new", 9, 1, True),
                                             ("cli_explain", 5, 1, True), ("lint_size", 7, 1, True), ("cli_broken", 8, 1, False)):
            record.put(name, ended=ended, seconds=seconds, passed=passed)
        ordered = sorted(record.tests, key=lambda name: fast_tier.order({"name": name}, record, {"explain"}))
        self.assertEqual(ordered, ["cli_broken", "cli_explain", "lint_size", "cli_short", "cli_long", "cli_new"])


class ContentTest(unittest.TestCase):
    def compiled(self, source):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            subprocess.run(["g++", "-g1", "-xc++", "-", "-o", program], input=source.encode(), cwd=folder, check=True)
            return fast_inputs.content(program.read_bytes())

    def test_a_comment_changes_no_program(self):
        program = "int main() { return 1; }\n"
        self.assertEqual(self.compiled(program), self.compiled("// comment\n" + program))
        self.assertNotEqual(self.compiled(program), self.compiled(program.replace("1", "2")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
