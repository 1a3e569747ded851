#!/usr/bin/env python3
"""What help says holds: its examples are understood, the man page has every option, an installation has its place for
everything."""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from typed import check_understood  # noqa: E402

EXAMPLE = re.compile(r"^  (\S.*?)(?:  +\S.*)$", re.M)


class HelpTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()

    def answer(self, *words):
        run = self.space.run(*words)
        self.assertEqual((run.code, run.err), (0, ""), run)
        return run.out

    def commands(self):
        block = re.search(r"^Commands:\n(.*?)\n\n", self.answer("--help"), re.M | re.S).group(1)
        return re.findall(r"^  (\w+) ", block, re.M)

    def examples(self, *words):
        return EXAMPLE.findall(self.answer(*words).split("Examples:\n")[1].split("\n\n")[0])


class CommandTest(HelpTest):
    def test_every_command_explains_how_much_it_says(self):
        for command in self.commands():
            with self.subTest(command=command):
                common = self.answer(command, "--help").split("Common options:\n")[1].split("\n\n")[0]
                self.assertRegex(common, r"(?m)^  -v,--verbose +Say more$")
                self.assertRegex(common, r"(?m)^  -q,--quiet +Say less$")


class ExampleTest(HelpTest):
    def test_every_command_teaches_with_an_example_of_its_own(self):
        commands = self.commands()
        self.assertIn("plan", commands)
        for command in commands:
            for line in self.examples(command, "--help"):
                with self.subTest(line=line):
                    self.assertRegex(line, r"\bdsbuild " + ("" if command == "build" else command + r"\b"))
                    check_understood(self, self.space, line)

    def test_the_examples_of_the_first_screen(self):
        examples = self.examples("--help")
        self.assertGreaterEqual(len(examples), 4)
        for line in examples:
            check_understood(self, self.space, line)

    def test_an_example_with_a_mistake_would_be_seen(self):
        with self.assertRaises(AssertionError):
            check_understood(self, self.space, "dsbuild plan --fromat env")
        with self.assertRaises(AssertionError):
            check_understood(self, self.space, "dsbuild paln")


class ManPageTest(HelpTest):
    def test_it_has_every_command_and_option_of_help_all(self):
        page = self.answer("--help-man").replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
        all_help = self.answer("--help-all").split("Examples:")[0]
        for option in set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9_-]*", all_help)):
            self.assertRegex(page, rf"(?<![\w-]){option}(?![\w-])")
        for command in self.commands():
            self.assertIn(f"dsbuild {command} ", page)

    def test_man_has_nothing_to_say_against_it(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed")
        file = self.space.root / "dsbuild.1"
        file.write_text(self.answer("--help-man"))
        run = subprocess.run(["mandoc", "-T", "lint", file], text=True, capture_output=True, check=False)
        self.assertEqual((run.returncode, run.stdout), (0, ""))


class InstallTest(HelpTest):
    def test_everything_is_in_its_usual_place_and_works_from_there(self):
        build = pathlib.Path(self.space.program).parents[2]
        if not shutil.which("cmake") or not (build / "cmake_install.cmake").exists():
            self.skipTest("cmake is not installed, or the program is not in a build folder")
        prefix = self.space.root / "prefix"
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, check=True)
        share = prefix / "share"
        for name in ("bash-completion/completions/dsbuild", "zsh/site-functions/_dsbuild",
                     "fish/vendor_completions.d/dsbuild.fish", "man/man1/dsbuild.1"):
            self.assertTrue((share / name).is_file(), name)
        self.space.program = str(prefix / "bin" / "dsbuild")
        self.assertEqual(self.answer("completion", "bash"), (share / "bash-completion/completions/dsbuild").read_text())
        self.assertEqual(self.answer("--help-man"), (share / "man/man1/dsbuild.1").read_text())
        self.assertIn("wrote mypack/scale/scale.cu", self.answer("new", "scale"))


if __name__ == "__main__":
    testspace.main()
