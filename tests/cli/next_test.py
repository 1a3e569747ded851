#!/usr/bin/env python3
"""What is printed behind "next:" works when it is typed where it was printed, with what the user gave, and keeps what was
there. Commands of fixes are typed by every test of a golden file (support/typed.py)."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack, binding  # noqa: E402
from pages import find_python, type_line, use_python  # noqa: E402
from typed import COMMANDS, check_printed, printed_commands, unmarked_commands  # noqa: E402


class RuleTest(CliTest):
    """The rule that finds commands."""

    def commands(self, fix):
        return [printed.command for printed in printed_commands(f"error[x]: y\n  fix: {fix}\n")]

    def test_it_finds_them(self):
        self.assertEqual(self.commands("`dsbuild clean` and build again."), ["dsbuild clean"])
        self.assertEqual(self.commands("Meant: dsbuild plan --ops all"), ["dsbuild plan --ops all"])
        self.assertEqual(self.commands("dsbuild toolkits get 11.8   (fetches it)\n       or others"), ["dsbuild toolkits get 11.8"])
        self.assertEqual(self.commands("The folder: dsbuild build ./a\n       The op: dsbuild build --ops a"),
                         ["dsbuild build ./a", "dsbuild build --ops a"])
        self.assertEqual(self.commands("Usage: dsbuild explain OP [ARCH…]"), [])
        self.assertEqual([each.command for each in printed_commands("a\nnext: dsbuild verify out\n")], ["dsbuild verify out"])

    def test_what_it_would_not_find_is_seen(self):
        self.assertEqual(unmarked_commands("x\n  fix: Use this (dsbuild toolkits get 13.5).\n", COMMANDS),
                         ["Use this (dsbuild toolkits get 13.5)."])

    def test_a_command_that_does_not_work_is_seen(self):
        space = TestSpace()
        for wrong in ("next: dsbuild verify --frobnicate", "next: dsbuild verify absent", "x\n  fix: Meant: dsbuild plan --opps all"):
            with self.assertRaises(AssertionError):
                check_printed(self, space, wrong + "\n")
        check_printed(self, space, "next: dsbuild toolkits\n")


class NextTest(CliTest):
    def setUp(self):
        self.space = TestSpace()
        use_python(self.space)
        self.space.environment["CUDA_HOME"] = str(self.space.toolkit.home)

    def next_of(self, *words):
        run = self.space.run(*words)
        self.assertEqual(run.code, 0, run)
        return [printed.command for printed in printed_commands(run.out + run.err)]

    def types(self, command):
        code, text = type_line(self.space, command)
        self.assertEqual(code, 0, f"{command}\n{text}")
        return text

    def ops_in(self, folder="dsbuild-out"):
        return sorted(file.stem for file in (self.space.root / folder).glob("*.so"))

    def test_an_op_after_others_removes_none_of_them(self):
        [command] = self.next_of("new", "scale", "--backend", "cpu")
        self.assertEqual(command, "dsbuild --pack mypack --ops scale && python3 mypack/scale/test_scale.py")
        self.assertRegex(self.types(command), r"\nOK\n$")
        [command] = self.next_of("new", "shift", "--backend", "cpu")
        self.assertRegex(self.types(command), r"\nOK\n$")
        self.assertEqual(self.ops_in(), ["scale", "shift"])

    def test_a_bundle_of_another_pack_stays_and_options_are_kept(self):
        self.assertEqual(self.space.run("--pack", "pack", "--ops", "host").code, 0)
        python, _ = find_python()
        mine = self.space.root / "my python"
        mine.write_text(f"#!/bin/sh\nexec '{python}' -B \"$@\"\n")
        mine.chmod(0o755)
        given = ("--pack", "my pack", "--python", "./my python")
        [command] = self.next_of("new", "scale", "--backend", "cpu", *given)
        self.assertEqual(command, "dsbuild --pack 'my pack' --ops scale --out 'dsbuild-out-my pack' --python './my python' "
                                  "&& DSBUILD_BUNDLE='dsbuild-out-my pack' './my python' 'my pack/scale/test_scale.py'")
        self.types(command)
        self.assertEqual((self.ops_in(), self.ops_in("dsbuild-out-my pack")), (["host"], ["scale"]))

    def test_a_folder_that_was_named_with_a_blank(self):
        [command] = self.next_of("--pack", "pack", "--ops", "host", "--out", "my ops")
        self.assertEqual(command, "dsbuild verify 'my ops'")
        self.assertIn("my ops", self.types(command))

    def test_json_has_the_same(self):
        document = json.loads(self.space.run("new", "scale", "--backend", "cpu", "--json").out)
        self.assertTrue(document["next"].startswith("dsbuild --pack mypack --ops scale && "))

    def test_workloads_of_several_packs_are_bundles_of_their_own(self):
        other = Pack(self.space.root / "other", "other")
        other.add_op("wave", {"wave.cpp": binding("wave_run")}, {"backend": "cpu"})
        (self.space.root / "load.sh").write_text("dsbuild load ./pack/host\ndsbuild load ./other/wave\n")
        commands = self.next_of("record", "--", "sh", "load.sh")
        self.assertEqual(len(commands), 2, commands)
        for command in commands:
            self.types(command)
        built = {folder.name: self.ops_in(folder.name) for folder in self.space.root.glob("dsbuild-out*")}
        self.assertEqual(built, {"dsbuild-out-pack": ["host"], "dsbuild-out-other": ["wave"]})

    def test_clean_is_of_the_build_folder_that_was_named(self):
        ninja = self.space.root / "broken-ninja"
        ninja.write_text("#!/bin/sh\n[ \"$1\" = --version ] && exec echo 1.13.2\nexit 1\n")
        ninja.chmod(0o755)
        run = self.space.run("--pack", "pack", "--ops", "host", "--build-dir", "my build", env={"DSBUILD_NINJA": str(ninja)})
        self.assertIn("error[ninja_failed]", run.err)
        [printed] = printed_commands(run.err)
        self.assertEqual(printed.command, "dsbuild clean --build-dir 'my build'")
        self.assertTrue((self.space.root / "my build").exists())
        self.types(printed.command)
        self.assertFalse((self.space.root / "my build").exists())


if __name__ == "__main__":
    testspace.main()
