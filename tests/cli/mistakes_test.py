#!/usr/bin/env python3
"""What people mistype: it is refused, and what its fix says is taken at its word, works and plans what was meant."""

import json
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402

# (words, the wrong one among them, ops that were meant, archs that were meant)
ONE = ("--ops", "alpha")
MISTAKES = [
    ((*ONE, "--arch", "8.0/9.0"), "8.0/9.0", ["alpha"], ["8.0", "9.0"]),
    ((*ONE, "--arch", "8.0PTX"), "8.0PTX", ["alpha"], ["8.0+PTX"]),
    ((*ONE, "--arch", "sm90"), "sm90", ["alpha"], ["9.0"]),
    ((*ONE, "--arch", "cc8.9"), "cc8.9", ["alpha"], ["8.9"]),
    ((*ONE, "--arch", "compute80"), "compute80", ["alpha"], ["8.0-virtual"]),
    ((*ONE, "--arch", "H100"), "H100", ["alpha"], ["9.0"]),
    ((*ONE, "--arch", "A100"), "A100", ["alpha"], ["8.0"]),
    ((*ONE, "--arch", "rtx4090"), "rtx4090", ["alpha"], ["8.9"]),
    ((*ONE, "--arch", "L40S"), "L40S", ["alpha"], ["8.9"]),
    ((*ONE, "--arch", "hoper"), "hoper", ["alpha"], ["9.0+PTX"]),
    ((*ONE, "--arch", "8.0", "9.0"), None, ["alpha"], ["8.0", "9.0"]),
    ((*ONE, "--arch", "8.0", "--arch", "9.0"), None, ["alpha"], ["8.0", "9.0"]),
    (("--arch", "8.0", "--ops", "alpha", "--ops", "beta"), None, ["alpha", "beta"], ["8.0"]),
    (("--arch", "8.0", "--ops", "alpha", "beta"), None, ["alpha", "beta"], ["8.0"]),
    (("--arch", "8.0", "--ops=alpha", "beta"), None, ["alpha", "beta"], ["8.0"]),
    (("--arch", "8.0", "--ops", "ALL"), "ALL", ["alpha", "beta", "gamma", "host"], ["8.0"]),
    (("--arch", "8.0", "--ops", "Alpha"), "Alpha", ["alpha"], ["8.0"]),
    (("--arch", "8.0", "--ops", "alhpa"), "alhpa", ["alpha"], ["8.0"]),
    (("--arch", "8.0", "--ops", "*a"), "*a", ["alpha", "beta", "gamma"], ["8.0"]),
    (("--arch", "8.0", "--ops", "al*"), "al*", ["alpha"], ["8.0"]),
]


class MistakesTest(CliTest):
    def setUp(self):
        self.space = TestSpace()

    def mended(self, words, wrong, fix):
        """The words as the fix has them."""
        command = re.search(r"A list is one word: dsbuild (.*)", fix)
        if command:
            return shlex.split(command[1])
        meant = re.search(r"did you mean '([^']+)'\?|Use ([^ ]+)\. ", fix)
        self.assertIsNotNone(meant, fix)
        return [word.replace(wrong, meant[1] or meant[2]) if wrong else word for word in words]

    def test_what_the_fix_says_works_and_is_what_was_meant(self):
        for words, wrong, ops, archs in MISTAKES:
            with self.subTest(" ".join(words)):
                words = ["plan", *words]
                refused = self.run_in(self.space, *words, without=("--arch", "--ops"))
                self.assertEqual((refused.code, refused.out), (2, ""), refused)
                mended = self.mended(words, wrong, refused.err)
                run = self.run_in(self.space, *mended, "--json", without=("--arch", "--ops"))
                self.assertEqual(run.code, 0, f"{mended}\n{run}")
                plan = json.loads(run.out)
                self.assertEqual([op["name"] for op in plan["ops"] if op["status"] == "build"], ops, mended)
                self.assertEqual(plan["requested"], archs, mended)

    def test_help_and_version_as_words(self):
        help_of = self.space.run("help", "plan")
        self.assertEqual((help_of.code, help_of.out), (0, self.space.run("plan", "--help").out))
        self.assertEqual(self.space.run("help").out, self.space.run("--help").out)
        for words in (["version"], ["-V"]):
            self.assertEqual(self.space.run(*words).out, self.space.run("--version").out)


if __name__ == "__main__":
    testspace.main()
