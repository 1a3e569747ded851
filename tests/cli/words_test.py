#!/usr/bin/env python3
"""What words mean that are no options: packs and ops; what is suggested works; what is ambiguous is said."""

import json
import pathlib
import re
import shlex
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack, kernel  # noqa: E402
from typed import as_it_was, fixes, printed_commands, type_command  # noqa: E402

LINES = pathlib.Path(__file__).with_name("wrong_lines.txt")


def wrong_lines():
    lines = [line for line in LINES.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(" => ")) for line in lines]


class WordsSpace(TestSpace):
    """A project's own dsbuild.yaml says what is built; a toolkit is made up."""

    def __init__(self):
        super().__init__()
        (self.root / "dsbuild.yaml").write_text("pack: pack\nops: alpha\narch: 8.0\ncuda_home: toolkit\n")


class WrongLinesTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = WordsSpace()
        run = cls.space.run("build")
        assert run.code == 0, run

    def suggested(self, err):
        return [shlex.split(printed.command)[1:] for printed in printed_commands(err) if printed.is_meant]

    def works(self, words):
        """A build is planned, which takes less time."""
        commands = {"plan", "verify", "inspect", "explain", "report", "toolkits", "new", "record", "clean"}
        if not commands & set(words):
            words = ["plan", *(word for word in words if word != "build")]
        code, said = type_command(self.space, "dsbuild " + shlex.join(words))
        self.assertEqual(code, 0, f"{words}\n{said}")

    def test_each_is_refused_with_a_suggestion_that_works_or_none(self):
        lines = wrong_lines()
        self.assertGreaterEqual(len(lines), 40)
        self.assertGreaterEqual(len([meant for _, meant in lines if meant != "-"]), 25)
        for typed, meant in lines:
            with self.subTest(typed), as_it_was(self.space.root):
                refused = self.space.run(*shlex.split(typed))
                self.assertEqual((refused.code, refused.out), (2, ""), refused)
                self.assertTrue(fixes(refused.err), refused)
                expected = [] if meant == "-" else [shlex.split(meant)]
                self.assertEqual(self.suggested(refused.err), expected, refused)
                if meant == "-":
                    continue
                self.works(shlex.split(meant))

    def test_a_value_that_is_missing_is_said_with_an_example(self):
        for words, example in ((("plan", "--arch"), "--arch 7.0,8.0+PTX"), (("plan", "--arch", "--strict"), "--arch 7.0,8.0+PTX"),
                               (("inspect", "dsbuild-out", "--gpu"), "--gpu H100,8.6")):
            run = self.space.run(*words)
            option = example.split()[0]
            self.assertIn(f"error[bad_option]: command line: {option}: needs its value, ", run.err)
            self.assertRegex(run.err, rf"fix: .*; as in {re.escape(example)}\.")


class MeaningTest(CliTest):
    """Plans of `dsbuild WORDS`."""

    def setUp(self):
        self.space = TestSpace()
        self.space.environment.update(CUDA_HOME=str(self.space.toolkit.home), TORCH_CUDA_ARCH_LIST="8.0")
        mine = Pack(self.space.root / "mine", "mine")
        mine.add_op("scale", {"scale/scale.cu": kernel("scale_run")})
        mine.add_op("shift", {"shift/shift.cu": kernel("shift_run")})

    def built(self, *words, code=0, **env):
        """{pack: ops} that the plan of a build with these words has; and `build` understands them as well."""
        run = self.space.run("plan", *words, "--json", env=env)
        self.assertEqual(run.code, code, run)
        plan = json.loads(run.out)
        return [op["name"] for op in plan["ops"] if op["status"] == "build"] if code == 0 else plan["error"]

    def test_a_pack_alone_means_all_its_ops(self):
        for words in (("mine",), ("./mine",), ("./mine/",), ("--pack", "mine"), ("--pack", "./mine"), ("mine", "all")):
            self.assertEqual(self.built(*words), ["scale", "shift"], words)

    def test_ops_are_named_by_words(self):
        for words in (("--pack", "mine", "scale"), ("mine", "scale"), ("./mine", "scale"), ("scale", "--pack", "mine"),
                      ("mine/scale",), ("mine", "--ops", "scale"), ("mine", "--ops", "all,-shift")):
            self.assertEqual(self.built(*words), ["scale"], words)
        self.assertEqual(self.built("mine", "shift", "scale"), ["scale", "shift"])

    def test_build_is_what_a_line_without_a_command_means(self):
        for words in (("mine", "scale"), ("--pack", "mine", "scale"), ("build", "mine", "scale")):
            run = self.space.run(*words)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(sorted(file.name for file in (self.space.root / "dsbuild-out").iterdir()), ["manifest.json", "provenance.intoto.json", "scale.so"])

    def test_variables_of_the_environment_select_as_ever(self):
        self.assertEqual(self.built("--pack", "mine", DS_BUILD_SHIFT="1"), ["shift"])
        self.assertEqual(self.built("--pack", "mine", DS_BUILD_SHIFT="0"), ["scale"])
        self.assertEqual(self.built("--pack", "mine", code=2, DS_BUILD_OPS="0")["code"], "nothing_selected")

    def test_the_pack_of_the_projects_own_file(self):
        (self.space.root / "dsbuild.yaml").write_text("pack: mine\n")
        self.assertEqual(self.built(), ["scale", "shift"])
        self.assertEqual(self.built("shift"), ["shift"])

    def test_add_keeps_what_is_there_and_adds_nothing_by_itself(self):
        self.assertEqual(self.space.run("mine", "scale").code, 0)
        self.assertEqual(self.built("--pack", "mine", "--add"), ["scale"])
        self.assertEqual(self.built("mine", "shift", "--add"), ["scale", "shift"])

    def ways(self, error):
        """The command lines that an ambiguous word's message offers."""
        ways = [shlex.split(printed.command)[1:] for printed in printed_commands(f"  fix: {error['fix']}".replace("\n", "\n       "))]
        self.assertEqual(len(ways), 2, error)
        return ways

    def test_a_folder_that_is_an_op_too_is_ambiguous(self):
        (self.space.root / "dsbuild.yaml").write_text("pack: mine\n")
        shutil.copytree(self.space.root / "pack", self.space.root / "scale")
        error = self.built("scale", code=2)
        self.assertEqual((error["code"], error["what"]), ("bad_option", "'scale' is a folder here and an op of pack 'mine'"))
        folder, op = self.ways(error)
        self.assertEqual(self.built(*folder[1:]), ["alpha", "beta", "gamma", "host"])
        self.assertEqual(self.built(*op[1:]), ["scale"])

    def test_a_folder_that_is_called_as_a_pack_of_dsbuilds_own(self):
        shutil.copytree(self.space.root / "mine", self.space.root / "native")
        error = self.built("native", code=2)
        self.assertEqual(error["what"], "'native' is a folder here and a pack of dsbuild itself")
        folder, own = self.ways(error)
        self.assertEqual(self.built(*folder[1:]), ["scale", "shift"])
        self.assertEqual(own[1:], ["--pack", "native", "--ops", "all"])

    def test_a_folder_of_ops_with_a_build_of_its_own(self):
        folder = self.space.root / "both"
        (folder / "wave").mkdir(parents=True)
        (folder / "wave" / "op.yaml").write_text("name: wave\nsources: [wave/wave.cu]\n")
        (folder / "wave" / "wave.cu").write_text(kernel("wave_run"))
        (folder / "setup.py").write_text("raise SystemExit('it was run')\n")
        error = self.built("both", code=2)
        self.assertEqual(error["what"], "'both' is a folder of ops, and it has a build of its own")
        ops, own = self.ways(error)
        self.assertEqual(self.built(*ops[1:]), ["wave"])
        self.assertEqual(own, ["new", "--from", "both", "--pack", "both-pack"])

    def test_what_cannot_be_both(self):
        self.assertIn("both say what is built", self.built("./mine", "--pack", "pack", code=2)["what"])
        self.assertIn("both say what is built", self.built("mine/scale", "--ops", "shift", code=2)["what"])
        self.assertIn("both say what is built", self.built("mine/scale", "shift", code=2)["what"])

    def test_a_word_that_is_nothing(self):
        error = self.built("mine", "frobnicate", code=2)
        self.assertEqual(error["what"], "unknown word 'frobnicate': no command, no folder and no op of pack 'mine'")
        self.assertEqual(error["fix"], "Ops: scale, shift.")
        error = self.built("./absent", code=2)
        self.assertEqual(error["what"], "unknown word './absent': no folder and no op of pack 'native'")
        self.assertEqual(self.built("--pack", "pack", "scale", code=2)["fix"], "Pack './mine' has it: --pack ./mine --ops scale.")


if __name__ == "__main__":
    testspace.main(each_commit=9)
