#!/usr/bin/env python3
"""Completion: what `dsbuild complete` answers, bash with the script really sourced and Tab really pressed, the syntax of
the other shells' scripts."""

import os
import pathlib
import pty
import select
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402


class CompletionTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()

    def words(self, line):
        run = self.space.run("complete", "dsbuild " + line)
        self.assertEqual((run.code, run.err), (0, ""), run)
        return [candidate.split("\t")[0] for candidate in run.out.splitlines()]


class AnswerTest(CompletionTest):
    def test_commands_first_and_once(self):
        self.assertLessEqual({"build", "plan", "report", "inspect", "verify", "toolkits", "new", "clean", "cache", "completion"},
                             set(self.words("")))
        self.assertEqual(self.words("pl"), ["plan"])
        self.assertEqual(self.words("report pl"), [])

    def test_options_of_the_program_and_of_the_command(self):
        self.assertEqual(self.words("--arc"), ["--arch"])
        self.assertEqual(self.words("plan --form"), ["--format"])
        self.assertEqual(self.words("--form"), [], "an option of another command")
        self.assertIn("-j", self.words("-"))

    def test_values_of_enumerations(self):
        self.assertEqual(self.words("--color "), ["auto", "always", "never"])
        self.assertEqual(self.words("plan --format "), ["table", "json", "env", "flags", "ninja", "compile_commands"])
        self.assertEqual(self.words("plan --format=j"), ["json"])
        self.assertEqual(self.words("new x --backend c"), ["cuda", "cpu"])
        self.assertEqual(self.words("--backend "), ["cuda", "hip", "sycl", "auto", "slices", "nvcc"])
        self.assertEqual(self.words("new x --back"), ["--backend"])
        self.assertEqual(self.words("completion "), ["bash", "zsh", "fish"])
        self.assertEqual(self.words("cache "), ["stats", "prune", "clear", "push", "pull", "export", "import", ":files"])

    def test_presets_are_the_files_of_configs(self):
        presets = sorted(file.stem for file in (REPOSITORY / "configs").glob("*.yaml"))
        self.assertEqual(self.words("--config "), [*presets, ":files"])

    def test_ops_of_the_pack_that_the_line_names(self):
        self.assertEqual(self.words(f"--pack {self.space.pack.folder} --ops "), ["all", "alpha", "beta", "gamma", "host"])
        self.assertEqual(self.words("--pack absent --ops c"), [])
        native = sorted(file.parent.name for file in (REPOSITORY / "ops" / "native").glob("*/op.yaml"))
        self.assertEqual(self.words("--ops "), ["all", *native])

    def test_a_list_goes_on_behind_its_commas_with_what_is_not_in_it(self):
        pack = f"--pack '{self.space.pack.folder}' "
        self.assertEqual(self.words(pack + "--ops alpha,"), [f"alpha,{op}" for op in ("all", "beta", "gamma", "host")])
        self.assertEqual(self.words(pack + "--ops=all,-g"), ["all,-gamma"])
        self.assertEqual(self.words('--arch "7.0;8.9'), ["7.0;8.9", "7.0;8.9+PTX"])
        self.assertEqual(self.words('--arch "7.0 Hop'), ["7.0 Hopper"])

    def test_explain_takes_an_op_and_archs(self):
        self.assertEqual(self.words("explain fused_a"), ["fused_adam"])
        self.assertEqual(self.words("explain fused_adam 8.9"), ["8.9", "8.9+PTX"])
        self.assertEqual(self.words("report --gpu 8.6,8.9"), ["8.6,8.9"])
        self.assertEqual(self.words("verify --gpu 8.6,H1"), ["8.6,H100"])

    def test_options_that_the_line_uses(self):
        self.assertEqual(self.words("verify --arc"), [])
        self.assertEqual(self.words("verify --against-nvcc --arc"), ["--arch"])
        self.assertEqual(self.words("cache --remote-up"), [])
        self.assertEqual(self.words("cache push --remote-up"), ["--remote-upload"])
        self.assertEqual(self.words("wheel --ou"), ["--out"])
        self.assertEqual(self.words("wheel bundle --ou"), [], "the bundle is named")

    def test_every_word_offered_for_arch_is_accepted(self):
        offered = {word for begun in ("", "sm_", "compute_") for word in self.words("--arch " + begun)}
        self.assertLessEqual({"8.0", "8.0+PTX", "9.0a", "sm_90a", "compute_80", "Ampere", "native", "all"}, offered)
        of_families = {word for word in offered if word.rstrip("+PTX").endswith("f")}  # not beside 12.0 (conflicting_archs)
        for words in (offered - {"native"} - of_families, of_families):
            run = self.run_in(self.space, "plan", "--ops", "host", "--arch", ";".join(sorted(words)))
            self.assertEqual(run.code, 0, run)

    def test_folders_and_files(self):
        self.assertEqual(self.words("--out "), [":folders"])
        self.assertEqual(self.words("inspect "), [":files"])
        self.assertEqual(self.words("--jobs "), [], "a number has no candidates")

    def test_a_broken_line_is_no_error(self):
        for line in ('--ops "al', "--no-such-option x", "--config absent.yaml --ops ", "-- ", "--ops=a=b"):
            self.words(line)

    def test_an_unknown_shell(self):
        self.check_alone("completion_unknown_shell", self.space, "completion", "tcsh", code=2)


class BashTest(CompletionTest):
    """A shell on a terminal; the line is shown by an `echo ` that goes before it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        programs = cls.space.root / "programs"
        programs.mkdir()
        (programs / "dsbuild").symlink_to(cls.space.program)
        (cls.space.root / "folder with a blank").mkdir()
        cls.environment = {**cls.space.environment, "PATH": f"{programs}:{cls.space.environment['PATH']}", "PS1": "$ ",
                           "TERM": "dumb", "INPUTRC": "/dev/null", "HISTFILE": "", "COLUMNS": "500"}

    def setUp(self):
        self.process, self.master = self.start_bash()
        self.typed("source <(dsbuild completion bash); bind 'set enable-bracketed-paste off'; echo rea''dy\n", "ready")

    def start_bash(self):
        master, slave = pty.openpty()
        process = subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], cwd=self.space.root, env=self.environment,
                                   stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(os.close, master)
        return process, master

    def typed(self, keys, end):
        """What the terminal shows up to `end`."""
        os.write(self.master, keys.encode())
        text, deadline = "", time.monotonic() + 30
        while end not in text and time.monotonic() < deadline:
            if select.select([self.master], [], [], 0.1)[0]:
                text += os.read(self.master, 65536).decode(errors="replace")
        self.assertIn(end, text)
        return text

    def completed(self, line):
        """The words of the line after Tab, as bash then reads them."""
        shown = self.typed(line + "\t\x01printf '<%s>' \x05; echo; echo en''d\n", "\nend")
        return shown[shown.rindex("\n<"):].split("\r")[0].strip()

    def test_tab_completes_a_list_of_ops(self):
        self.assertEqual(self.completed("dsbuild --ops cpu_adam,fused_a"), "<dsbuild><--ops><cpu_adam,fused_adam>")

    def test_tab_completes_behind_an_equals_sign(self):
        self.assertEqual(self.completed("dsbuild --ops=fused_a"), "<dsbuild><--ops=fused_adam>")

    def test_tab_completes_within_quotes(self):
        self.assertEqual(self.completed('dsbuild --arch "7.0;Hop'), "<dsbuild><--arch><7.0;Hopper>")

    def test_tab_completes_commands_and_options(self):
        self.assertEqual(self.completed("dsbuild toolk"), "<dsbuild><toolkits>")
        self.assertEqual(self.completed("dsbuild plan --for"), "<dsbuild><plan><--format>")

    def test_tab_completes_folders(self):
        self.assertEqual(self.completed("dsbuild --out fold"), "<dsbuild><--out><folder with a blank/>")
        self.assertEqual(self.completed("dsbuild --out=fold"), "<dsbuild><--out=folder with a blank/>")


class ScriptTest(CompletionTest):
    def script(self, shell):
        run = self.space.run("completion", shell)
        self.assertEqual((run.code, run.err), (0, ""), run)
        return run.out

    def test_each_shell_reads_its_script(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell=shell):
                if not shutil.which(shell):
                    self.skipTest(f"{shell} is not installed")
                run = subprocess.run([shell, "-n"], input=self.script(shell), text=True, capture_output=True, check=False)
                self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_fish_completes_with_it(self):
        fish = shutil.which("fish")
        if not fish:
            self.skipTest("fish is not installed")
        environment = {**self.space.environment, "PATH": f"{self.space.root}:{self.space.environment['PATH']}"}
        (self.space.root / "dsbuild").symlink_to(self.space.program)
        cases = {"dsbuild --ops cpu_adam,fused_a": ["cpu_adam,fused_adam"], "dsbuild --ops=fused_a": ["--ops=fused_adam"],
                 "dsbuild verif": ["verify"]}
        for line, words in cases.items():
            command = f"dsbuild completion fish | source; complete --do-complete '{line}'"
            run = subprocess.run([fish, "--no-config", "-c", command], env=environment, cwd=self.space.root, text=True,
                                 capture_output=True, check=False)
            self.assertEqual([found.split("\t")[0] for found in run.stdout.splitlines()], words, run.stderr)


if __name__ == "__main__":
    testspace.main()
