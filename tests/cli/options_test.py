#!/usr/bin/env python3
"""An option does something where it is typed, or it is refused: every option with every command, both read out of the
program's own help, man page and completion."""

import json
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402

# A value that is understood before anything is looked at; others take any text.
VALUES = {"N": "1", "SIZE": "1G", "DAYS": "30", "VERSION": "1", "DATE": "2026-01-31", "RANGE": "1"}
NOT_ASKED = {"--help", "--help-all", "--help-man", "--version", "--verbose", "--quiet"}  # of no command


def plain(text):
    return re.sub(r"\\f[BIR]", "", text).replace("\\-", "-")


class Interface:
    """What the program says of itself."""

    def __init__(self, space):
        self.space = space
        page = space.run("--help-man").out
        self.options = dict(self.read_options(page[page.index(".SH OPTIONS"):].split("\n.SH ")[0]))
        # `help` answers as --help does, whatever else is typed.
        self.commands = [word for word in self.completed("") if not word.startswith("nvcc") and word != "help"]
        self.own = {}  # of a command: its own options, with their types
        self.modes = [mode for command in self.commands for mode in self.read_modes(command)]

    @staticmethod
    def read_options(section):
        """{its name: its type}; "" of a flag."""
        for term in re.findall(r"^\.TP\n(.*)$", section, re.M):
            names, _, kind = term.partition(" \\fI")
            yield plain(names).split(", ")[0], plain(kind)

    def completed(self, line):
        return [answer.split("\t")[0] for answer in self.space.run("complete", "dsbuild " + line).out.splitlines()]

    def read_modes(self, command):
        """(its words, the options that it uses), for each way to call it."""
        own, common, text = re.split("Common options:|Examples:", self.space.run(command, "--help").out)
        self.own[command] = dict(re.findall(r"^  (?:-\w,)?(--[\w-]+)(?: ([A-Z]\S*|[a-z]+\|\S+))?", own, re.M))
        other = "".join(re.findall(r"^(?:Other options|With \S+ (?:also|only)):.*", text, re.M | re.S)).split("`dsbuild --help-all`")[0]
        usual, *modes = re.split(r"^With `?([\w-]+)`? (also|only):", other, flags=re.M)
        usual = (set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", common, re.M)) | set(re.findall(r"--[\w-]+", usual))) - NOT_ASKED
        yield [command], usual
        for mode, how, names in zip(modes[0::3], modes[1::3], modes[2::3]):
            yield [command, mode], set(re.findall(r"--[\w-]+", names)) | (usual if how == "also" else set())

    def line(self, words, options):
        """The words and these options, but those by which the command would be called in another way."""
        others = {mode[-1] for mode, _ in self.modes if mode[0] == words[0]} - set(words)
        mode = words[-1]
        value = "x" if mode in self.options and self.options[mode] or self.own[words[0]].get(mode) else ""
        return [*words, *([value] if value else []), *self.typed(options - others - set(words) - set(self.own[words[0]]))]

    def typed(self, options):
        return [word for option in sorted(options)
                for word in ([option] if self.options[option] == "" else [option, self.value_of(option)])]

    def value_of(self, option):
        kind = self.options[option]
        return "absent.yaml" if option == "--config" else VALUES.get(kind, kind.split("|")[0])


class OptionsTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.interface = Interface(cls.space)
        cls.all = set(cls.interface.options) - NOT_ASKED

    def error_of(self, words):
        run = self.space.run(*words, "--json")
        if run.code == 0:
            return {"code": "", "what": "", "fix": ""}
        error = json.loads(run.out.splitlines()[-1])["error"]
        if error["code"] == "unused_option":
            self.assertEqual(run.code, 2, run)
        return error

    def refused(self, words):
        error = self.error_of(words)
        return set(re.findall(r"'(--[\w-]+)'", error["what"])) if error["code"] == "unused_option" else set()

    def test_the_table_was_read(self):
        self.assertGreater(len(self.all), 50)
        self.assertLessEqual({"--arch", "--ops", "--strict", "--remote-exec", "--gpu", "--max-size"}, self.all)
        words = [" ".join(words) for words, _ in self.interface.modes]
        self.assertLessEqual({"build", "verify", "verify --load", "verify --gpu", "cache push", "toolkits --for"}, set(words))
        self.assertGreater(len(words), 25)

    def test_every_pair_is_used_or_refused(self):
        for words, used in self.interface.modes:
            with self.subTest(" ".join(words)):
                line = self.interface.line(words, self.all)
                self.assertEqual(self.refused(line), (self.all & set(line)) - used)
                completed = set(self.interface.completed(shlex.join(self.interface.line(words, set())) + " --"))
                self.assertEqual((completed - set(self.interface.own[words[0]])) & self.all, used, "what Tab offers")

    def test_what_is_used_is_not_refused_for_another(self):
        for words, used in self.interface.modes:
            with self.subTest(" ".join(words)):
                self.assertEqual(self.refused(self.interface.line(words, used)), set())

    def test_the_fix_names_commands_that_use_it(self):
        users = {" ".join(words): used for words, used in self.interface.modes}
        for words, used in testspace.some_of(self.interface.modes, 6):
            options = [option for option in sorted(self.all - used) if option in self.interface.line(words, {option})]
            for option in testspace.some_of(options, 8):
                with self.subTest(words=words, option=option):
                    error = self.error_of(self.interface.line(words, {option}))
                    self.assertEqual(error["code"], "unused_option")
                    name, _, named = error["fix"].splitlines()[-1].partition(": used by ")
                    self.assertEqual(name, option)
                    for user in named.split(", "):
                        self.assertIn(option, users[user])

    def test_the_line_that_is_proposed_is_not_refused(self):
        for words in (["verify", "out", "--arch", "9.0", "--ops", "foo", "--strict", "-j4"], ["clean", "-j", "2", "-k"],
                      ["inspect", "a.so", "--arch=9.0"], ["--arch", "9.0", "cache", "stats"]):
            with self.subTest(words=words):
                error = self.error_of(words)
                self.assertEqual(error["code"], "unused_option")
                line = re.match(r"Leave \w+ out: dsbuild (.*)", error["fix"]).group(1)
                self.assertNotIn("[unused_option]", self.space.run(*shlex.split(line)).err)
                self.assertNotRegex(line, r"9\.0|foo| -[jk]")

    def test_own_options_are_of_their_command_alone(self):
        """Of `verify --kernels` nobody knows what it is."""
        own = {words[0]: set(self.interface.completed(words[0] + " --")) - set(self.interface.completed("--"))
               for words, _ in self.interface.modes}
        for command in own:
            for other, options in own.items():
                for option in sorted(options - own[command])[:1]:
                    with self.subTest(command=command, option=option):
                        run = self.space.run(command, option)
                        self.assertEqual(run.code, 2, run)
                        self.assertIn("error[bad_option]", run.err)

    def test_an_operand_that_says_the_same(self):
        for words, option in ((["verify", "b"], "--out"), (["wheel", "b"], "--out"), (["install", "b"], "--out"),
                              (["page", "b"], "--out"), (["page", "b"], "--build-dir")):
            error = self.error_of([*words, option, "c"])
            self.assertEqual(error["code"], "unused_option")
            self.assertIn("with 'b'", error["what"])

    def test_what_needs_another_option(self):
        """Typed, it is refused without; a variable may stand for a cache that is named elsewhere."""
        named = {"--remote": "reapi://127.0.0.1:1/x", "--remote-exec": "reapi://127.0.0.1:1/x"}
        for option, needs in (("--remote-ttl", ["--remote"]), ("--remote-upload", ["--remote"]), ("--remote-jobs", ["--remote-exec"]),
                              ("--remote-local", ["--remote-exec"]), ("--remote-ca", ["--remote", "--remote-exec"])):
            value = self.interface.value_of(option)
            for words, is_refused in [([], True), *(([need, named[need]], False) for need in needs)]:
                with self.subTest(option=option, words=words):
                    error = self.error_of(["plan", option, value, *words])
                    self.assertEqual(error["code"] == "unused_option", is_refused, error)
        self.assertNotIn("unused_option", self.space.run("plan", "--ops", "all", env={"DSBUILD_REMOTE_TTL": "3"}).err)

    def test_messages(self):
        self.check_alone("unused_option_without", self.space, "plan", "--remote-ttl", "30", code=2)
        self.check_alone("unused_option", self.space, "verify", "out", "--arch", "9.0", "--ops", "foo", code=2)
        self.check_alone("unused_option_of_mode", self.space, "cache", "stats", "--remote", "file:///srv/cache", code=2)


class DefaultsTest(CliTest):
    """Variables and config files say what holds where it is used."""

    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()

    def test_variables_and_config_files_are_accepted_everywhere(self):
        self.assertEqual(self.space.build().code, 0)
        (self.space.root / "dsbuild.yaml").write_text(
            "arch: 9.0\nops: alpha\njobs: 2\nstrict: true\nkeep_going: true\ntimings: true\nmemory: 8G\npch: on\n")
        env = {"TORCH_CUDA_ARCH_LIST": "8.0", "DS_BUILD_OPS": "1", "MAX_JOBS": "2", "DSBUILD_SHARD": "1/2", "DSBUILD_BACKEND": "nvcc",
               "DSBUILD_REMOTE_EXEC": "reapi://127.0.0.1:1/x", "DSBUILD_PARANOID": "1"}
        for words in (["verify", "out"], ["inspect", "out"], ["toolkits"], ["cache"], ["page", "out"], ["diff", "out", "out"],
                      ["completion", "bash"], ["clean"]):
            with self.subTest(words=words):
                run = self.space.run(*words, env=env)
                self.assertEqual(run.code, 0, run)


if __name__ == "__main__":
    testspace.main()
