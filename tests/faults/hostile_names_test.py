#!/usr/bin/env python3
"""Names and values that a shell, Make or Ninja would take for something else: they reach the compiler byte for byte,
through the real Ninja and /bin/sh, or they are refused with their place. No command of theirs ever runs."""

import os
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from packs import Pack, binding, kernel  # noqa: E402
from testspace import SEED, TestSpace  # noqa: E402

CANARY = "CANARY"  # no file of this name may ever appear
NAMES = [
    "", " ", " lead", "trail ", "in side", "\t", "'", '"', "'\"'\"'", "\\", "trail\\", "$", "$$", "$HOME", "${in}", "$in",
    "$out", "$(touch CANARY)", "`touch CANARY`", ";touch CANARY", "&& touch CANARY", "|", "|| touch CANARY", "&", ">", "<",
    ">CANARY", "*", "?", "[a]", "{a,b}", "~", "~root", "!", "!!", "#", "# not a comment", ":", "=", "a=b", "%", "%s", "^",
    "@file", "-o", "--", "-", "-Wl,-z", "(", ")", "()", "a\nb", "a\rb", "a\r\nb", "a\0b", "\x1b[31mred", "\x07", "\x7f",
    "\u00e9", "e\u0301", "\u4e16\u754c", "\u202eevil", "\udcff", "\ufeffbom", "n" * 250, "CON", ".", "..", "../up", "$ ",
    "$:", "$|", "$^", "a\nbuild x: phony", "\n  command = touch CANARY", "pool = console", "a,b", "a;b", "+", "\u00a0",
]
WORKSPACES = ["with space", "it's", 'say "x"', "$HOME", "$(touch CANARY)", "`touch CANARY`", ";touch CANARY", "a:b", "a#b",
              "\u4e16\u754c \u00e9", "back\\slash", "-o", "a&b", "100%", "{in}", "a=b", "*", "\udcff", "~"]
# Ninja's reader of depfiles ends a name at these, whatever stands before them.
UNREADABLE = set("&;<>^")


def can_be_a_file(name):
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name


def empty_pack(folder):
    return Pack(folder)


def compile_words(start):
    """The word after each of these options, and the -I and -D words, as the compiler got them."""
    argv = start["argv"]
    return {"source": argv[argv.index("-c") + 1], "include": [word[2:] for word in argv if word.startswith("-I")],
            "define": [word for word in argv if word.startswith("-D")]}


class HostileNamesTest(unittest.TestCase):
    def space(self, name="space"):
        space = TestSpace(name, pack=empty_pack)
        space.arch = "8.0"
        self.addCleanup(self.look_for_canary, space.root.parent)
        return space

    def look_for_canary(self, folder):
        found = [path for path in folder.rglob("*") if path.name == CANARY]
        self.assertEqual(found + list(pathlib.Path().glob(CANARY)), [], "a command of a hostile name ran")

    def plan_with(self, space, spec, sources):
        """dsbuild plan with one op; the op is gone again afterwards. Whether it was accepted."""
        space.pack.add_op("tried", sources, spec)
        run = space.run(*space.arguments("plan"))
        testspace.shutil.rmtree(space.pack.folder / "tried")
        if run.code != 0:
            self.assertEqual(run.code, 2, run)
            self.assertRegex(run.err, r"tried/op\.yaml:\d+:\d+")
            self.assertNotRegex(run.err, r"[\x00-\x08\x0b-\x1f\x7f]", "a control character reached the terminal")
        return run.code == 0

    def build_and_read_starts(self, space):
        run = space.build()
        self.assertEqual(run.code, 0, run)
        starts = [compile_words(start) for start in space.toolkit.starts()]
        space.toolkit.forget_starts()
        self.assertEqual(space.build().code, 0)
        for name in space.compiled():
            self.assertTrue(set(name) & UNREADABLE, f"{name} is compiled again and again")
        return starts

    def test_source_names_arrive_as_they_are_or_are_refused(self):
        space = self.space()
        accepted = {}
        for number, name in enumerate(NAMES):
            for path in (f"{name}.cu", f"d{name}/k.cu", name):
                if not all(can_be_a_file(part) for part in path.split("/")):
                    continue
                text = {path: kernel(f"f{len(accepted)}_{number}")}
                if len(os.fsencode(path.split("/")[0])) <= 255 and self.plan_with(space, {}, text) and \
                        path.endswith(".cu"):
                    accepted.update(text)
        self.assertGreater(len(accepted), 40)
        space.pack.add_op("names", accepted)
        starts = self.build_and_read_starts(space)
        self.assertEqual(sorted(start["source"] for start in starts), sorted("pack/" + name for name in accepted))

    def test_include_folders_arrive_as_they_are_or_are_refused(self):
        space = self.space()
        source = {"k.cu": kernel("k")}
        accepted = []
        for name in NAMES:
            if can_be_a_file(name):
                (space.pack.sources / name).mkdir(exist_ok=True)
            if self.plan_with(space, {"include_dirs": [name]}, source):
                accepted.append(name)
        self.assertGreater(len(accepted), 20)
        space.pack.add_op("names", source, {"include_dirs": accepted})
        starts = self.build_and_read_starts(space)
        self.assertEqual(starts[0]["include"], ["pack" if name == "." else "pack/" + name for name in accepted])

    def test_values_and_flags_arrive_as_they_are_or_are_refused(self):
        space = self.space()
        source = {"k.cu": kernel("k")}
        defines = {}
        for number, name in enumerate(NAMES):
            if self.plan_with(space, {"defines": {f"VALUE_{number}": name}}, source):
                defines[f"VALUE_{number}"] = name
            self.plan_with(space, {"defines": {name: 1}}, source)
            flag = {"flags": {"nvcc": [name], "cxx": [name], "link": [name]}}
            self.assertFalse(self.plan_with(space, flag, source), f"the flag {name!r} was accepted")
        self.assertGreater(len(defines), 3)
        space.pack.add_op("names", source, {"defines": defines})
        starts = self.build_and_read_starts(space)
        self.assertEqual(sorted(starts[0]["define"]),
                         sorted(f"-D{name}={value}" if value else f"-D{name}" for name, value in defines.items()))

    def test_names_of_ops_are_plain(self):
        space = self.space()
        for name in NAMES:
            self.assertFalse(self.plan_with(space, {"name": name}, {"k.cu": kernel("k")}), repr(name))

    def test_words_of_the_user_pass_through_ninja_and_the_shell_unchanged(self):
        """Random bytes in NVCC_APPEND_FLAGS, whose words end at blanks alone."""
        space = self.space()
        space.pack.add_op("one", {"k.cu": kernel("k")})
        generator = random.Random(SEED)
        characters = [chr(c) for c in range(0x21, 0x7f)] + ["$", "'", '"', "\\", "`", "\u00e9", "\u4e16", "\udcfe"]
        for _ in range(testspace.count(2, 40, deep_too=4)):
            words = ["-DW=" + "".join(generator.choices(characters, k=generator.randrange(24))) for _ in range(250)]
            space.toolkit.forget_starts()
            run = space.build(env={"NVCC_APPEND_FLAGS": " ".join(words)})
            self.assertEqual(run.code, 0, run)
            self.assertEqual(compile_words(space.toolkit.starts()[0])["define"], words)

    def test_a_command_too_long_for_the_system_is_refused_before_ninja_dies_of_it(self):
        space = self.space()
        space.pack.add_op("one", {"k.cu": kernel("k")})
        fits = " ".join(f"-DW{i}={'x' * 200}" for i in range(440))
        self.assertEqual(space.build(env={"NVCC_APPEND_FLAGS": fits}).code, 0)
        run = space.build(env={"NVCC_PREPEND_FLAGS": fits, "NVCC_APPEND_FLAGS": fits})
        self.assertEqual(run.code, 2, run)
        self.assertIn("one: k.cu: its command is too long", run.err)

    def test_control_characters_in_words_of_the_user_are_refused(self):
        space = self.space()
        space.pack.add_op("one", {"k.cu": kernel("k")})
        for word in ("a\x1bb", "a\x7fb", "a\x01b"):
            run = space.build(env={"NVCC_APPEND_FLAGS": "-DW=" + word})
            self.assertEqual(run.code, 2, run)
            self.assertIn("control character", run.err)
        self.assertEqual(space.toolkit.starts(), [])

    def check_workspace(self, name, first_line=""):
        space = self.space(name)
        space.pack.add_op("one", {"one.cu": kernel("one"), "b.cpp": first_line + binding("b", "one")},
                          {"exports": ["b"]})
        run = space.build()
        self.assertEqual(run.code, 0, run)
        again = space.build()
        self.assertEqual(again.edges_run(), 0, again)
        self.assertEqual(space.verify().code, 0)
        self.assertEqual(compile_words(space.toolkit.starts()[0])["source"], "pack/one.cu")

    def test_a_workspace_of_any_name_works(self):
        """Pack, toolkit, build folder and bundle below a folder of that name."""
        for name in testspace.some_of(WORKSPACES, 3):
            with self.subTest(name=name):
                self.check_workspace(name)

    def test_headers_of_a_toolkit_in_such_a_folder_do_not_rebuild_for_ever(self):
        """Ninja's reader of depfiles knows these escapes of gcc; it has none for quotes."""
        for name in ("with space", "$HOME", "a#b", "a:b"):
            with self.subTest(name=name):
                self.check_workspace(name, "#include <cuda_runtime.h>\n")

    def test_a_workspace_with_a_line_break_works_or_is_refused(self):
        space = self.space("a\nb")
        space.pack.add_op("one", {"one.cu": kernel("one")})
        run = space.build()
        self.assertIn(run.code, (0, 2), run)
        if run.code == 2:
            self.assertIn("line break", run.err)

    def test_relative_folders_work(self):
        space = self.space("it's $HOME")
        space.pack.add_op("one", {"one.cu": kernel("one")})
        run = space.run("--pack", "pack", "--cuda-home", "toolkit", "--out", "my out", "--build-dir", "my $build",
                        "--arch", "8.0", "--ops", "all")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(space.verify("my out").code, 0)

    def test_a_failure_in_a_hostile_folder_tells_a_command_that_works(self):
        """The `reproduce:` line of a failed edge, given to a shell as it is."""
        space = self.space("it's $HOME `touch CANARY`")
        space.pack.add_op("one", {"o n&e.cu": kernel("one")})
        space.toolkit.set(fail=["o n&e.cu"])
        run = space.build("-v")
        self.assertEqual(run.code, 1, run)
        self.assertRegex(run.err, r"(?m)^  reproduce: ")
        again = re.search(r"^  reproduce: (.*)$", run.err, re.M).group(1)
        space.toolkit.forget_starts()
        shell = testspace.subprocess.run(["sh", "-c", again], cwd="/", capture_output=True, text=True, check=False)
        self.assertEqual(shell.returncode, 2, shell)
        self.assertIn("undefined_name", shell.stderr + shell.stdout)
        self.assertEqual(len(space.toolkit.starts()), 1)


if __name__ == "__main__":
    testspace.main(each_commit=3)
