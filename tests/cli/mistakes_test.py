#!/usr/bin/env python3
"""What people mistype: it is refused, and what its fix says is taken at its word, works and plans what was meant."""

import json
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack, binding, kernel  # noqa: E402

# Before a whole command.
INTRODUCTIONS = "A list is one word|Meant|Its name here|That is a command here|One at a time|Keep one, as in"
EVERY = ["alpha", "beta", "gamma", "host"]
BASE = ("--ops", "alpha", "--arch", "8.0")


class Mistake:
    """`words` and `env` with what is `wrong` in them; the ops and archs that were meant. {pack}, {cuda} and {out} stand for
    the space's folders."""

    def __init__(self, *words, wrong=None, ops=("alpha",), archs=("8.0",), code=2, **env):
        self.words, self.wrong, self.ops, self.archs, self.code = words, wrong, list(ops), list(archs), code
        self.env = env

    def __str__(self):
        return " ".join([*(f"{name}={value}" for name, value in self.env.items()), *self.words])


def arch(text, *meant):
    return Mistake("plan", "--ops", "alpha", "--arch", text, wrong=text, archs=meant)


def ops(text, *meant):
    return Mistake("plan", "--arch", "8.0", "--ops", text, wrong=text, ops=meant)


def value(option, text, *more, **keys):
    return Mistake("plan", *BASE, option, text, *more, wrong=text, **keys)


MISTAKES = [
    # Architectures.
    arch("8.0/9.0", "8.0", "9.0"),
    arch("8.0PTX", "8.0+PTX"),
    arch("sm90", "9.0"),
    arch("cc8.9", "8.9"),
    arch("compute80", "8.0-virtual"),
    arch("H100", "9.0"),
    arch("A100", "8.0"),
    arch("rtx4090", "8.9"),
    arch("L40S", "8.9"),
    arch("hoper", "9.0+PTX"),
    arch("", "8.0", "9.0+PTX"),
    Mistake("plan", "--ops", "alpha", "--arch=", wrong="", archs=("8.0", "9.0+PTX")),
    Mistake("plan", "--ops", "alpha", "--arch", "8.0", "9.0", archs=("8.0", "9.0")),
    Mistake("plan", "--ops", "alpha", "--arch", "8.0", "--arch", "9.0", archs=("8.0", "9.0")),
    Mistake("plan", "--ops", "alpha", wrong="Hoper", archs=("9.0+PTX",), TORCH_CUDA_ARCH_LIST="Hoper"),
    # Ops.
    Mistake("plan", "--arch", "8.0", "--ops", "alpha", "--ops", "beta", ops=("alpha", "beta")),
    Mistake("plan", "--arch", "8.0", "--ops", "alpha", "beta", ops=("alpha", "beta")),
    Mistake("plan", "--arch", "8.0", "--ops=alpha", "beta", ops=("alpha", "beta")),
    ops("ALL", *EVERY),
    ops("Alpha", "alpha"),
    ops("alhpa", "alpha"),
    ops("*a", "alpha", "beta", "gamma"),
    ops("al*", "alpha"),
    ops("omega", "omega"),
    ops("./mypack", "async_io", "omega"),
    ops("./mypack/", "async_io", "omega"),
    ops("mypack/omega", "omega"),
    Mistake("plan", "--arch", "8.0", "--pack", "mypack", "--ops", "aio", wrong="aio", ops=("async_io",)),
    Mistake("plan", "--arch", "8.0", "--pack", "mypcak", "--ops", "omega", wrong="mypcak", ops=("omega",)),
    Mistake("plan", "--arch", "8.0", wrong="DS_BUILD_ALHPA", DS_BUILD_ALHPA="1"),
    Mistake("plan", "--arch", "8.0", wrong="ja", DS_BUILD_ALPHA="ja"),
    # Commands and names of options.
    Mistake("paln", *BASE),
    Mistake("biuld", *BASE),
    Mistake("build", "plan", *BASE),
    Mistake("plan", "--opps", "alpha", "--arch", "8.0"),
    Mistake("plan", "-ops", "alpha", "--arch", "8.0"),
    Mistake("plan", "ops=alpha", "--arch", "8.0"),
    Mistake("plan", "--keep-goin", *BASE),
    Mistake("--dry-run", *BASE),
    Mistake("build", "-n", *BASE),
    Mistake("plan", "--output", "{out}", *BASE),
    Mistake("plan", "--parallel=2", *BASE),
    Mistake("plan", "--out", "a", "--out", "{out}", *BASE),
    Mistake("plan", "--jobs", "1", "-j2", *BASE),
    # Values.
    value("--jobs", "0"),
    value("--jobs", "-1"),
    value("--jobs", "4.0"),
    value("--memory", "8"),
    value("--memory", "50%"),
    value("--cache-size", "10"),
    value("--lock-timeout", "5s"),
    value("--config", "dokcer"),
    value("--backend", "nvc"),
    value("--color", "yes"),
    value("--pch", "no"),
    value("--pch", "maybe"),
    value("--format", "jsno"),
    value("--cuda-home", "{cuda}/bin", code=3),
    value("--cuda-home", "{cuda}/bin/nvcc", code=3),
    value("--cuda-home", "/absent", code=3),
    value("--python", "/absent/python3", code=3),
    # Variables.
    Mistake("plan", *BASE, code=3, CXX="/absent/g++"),
    Mistake("plan", *BASE, code=3, CUDAHOSTCXX="/absent/g++"),
    Mistake("plan", *BASE, code=3, NVCC_CCBIN="no-such-compiler"),
    Mistake("plan", *BASE, code=3, DSBUILD_NINJA="/absent/ninja"),
    Mistake("plan", *BASE, MAX_JOBS="many"),
    Mistake("plan", *BASE, wrong="nvc", DSBUILD_BACKEND="nvc"),
    Mistake("plan", *BASE, wrong="10", DSBUILD_CACHE_SIZE="10"),
]


def without_option(words, *names):
    """The words but these options, each with its value."""
    left = list(words)
    for name in names:
        if name in left:
            at = left.index(name)
            del left[at:at + 2]
    return left


class MistakesTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        pack = Pack(cls.space.root / "mypack", "mypack")
        pack.add_op("omega", {"omega.cu": kernel("omega_run")})
        pack.add_op("async_io", {"aio.cpp": binding("aio_run")}, {"backend": "cpu", "build_var": "DS_BUILD_AIO"})

    def filled(self, words):
        places = {"pack": self.space.pack.folder, "cuda": self.space.toolkit.home, "out": self.space.out}
        return [word.format(**places) for word in words]

    def asked(self, words, env, *more):
        """Nothing is added that could be what is wrong."""
        own = {"--jobs": "-j", "--parallel": "-j", "-j2": "-j", "MAX_JOBS": "-j", "--config": "--out", "--output": "--out"}
        without = ["--arch", "--ops", *(own[name] for name in own if name in {word.split("=")[0] for word in [*words, *env]})]
        return self.run_in(self.space, *words, *more, without=without, env=env)

    def mended(self, words, env, wrong, err):
        """The words and variables as the fix has them."""
        fix = err.split("\n  fix: ", 1)[1].splitlines()[0]
        if command := re.search(rf"^(?:{INTRODUCTIONS}): dsbuild (.*)$", fix):
            return shlex.split(command[1]), env
        if other := re.search(r": (--pack .* --ops .*)\.$", fix):
            return [*without_option(words, "--pack", "--ops"), *shlex.split(other[1])], env
        meant = re.search(r"did you mean '([^']+)'\?", err) or re.search(
            r"Use (\S+)\. |Use (\S+) or |Choose (\w+),|as in (\w+)\.|for example (\S+), or", fix)
        if meant:
            right = next(group for group in meant.groups() if group)
            replaced = [right if word == wrong else word + right if wrong == "" and word.endswith("=") else word
                        for word in words]
            return replaced, {wrong == name and right or name: right if text == wrong else text
                              for name, text in env.items()}
        left_out = re.search(r"leave (\S+) out|or (unset) it", fix)
        self.assertIsNotNone(left_out, err)
        if left_out[1] and left_out[1] not in env:
            return without_option(words, left_out[1]), env
        self.assertIn(f"]: {next(iter(env))}: ", err)
        return words, {}

    def test_what_the_fix_says_works_and_is_what_was_meant(self):
        self.assertGreaterEqual(len(MISTAKES), 40)
        for mistake in MISTAKES:
            with self.subTest(str(mistake)):
                words = self.filled(mistake.words)
                wrong = mistake.wrong and self.filled([mistake.wrong])[0]
                refused = self.asked(words, mistake.env)
                self.assertEqual((refused.code, refused.out), (mistake.code, ""), refused)
                mended, env = self.mended(words, mistake.env, wrong, refused.err)
                self.assertNotEqual((mended, env), (words, mistake.env), refused.err)
                if mended[0] == "build":
                    mended[0] = "plan"
                run = self.asked(mended, env, "--json")
                self.assertEqual(run.code, 0, f"{mended}\n{run}\n{refused.err}")
                plan = json.loads(run.out)
                self.assertEqual([op["name"] for op in plan["ops"] if op["status"] == "build"], mistake.ops, mended)
                if mistake.archs and plan["requested"]:
                    self.assertEqual(plan["requested"], mistake.archs, mended)

    def test_an_op_of_a_pack_of_dsbuilds_own_names_that_pack(self):
        run = self.asked(["plan", "--arch", "8.0", "--ops", "cpu_adam"], {})
        self.assertIn("fix: Pack 'deepspeed' has it: --pack deepspeed --ops cpu_adam.\n", run.err)
        run = self.asked(["plan", "--arch", "8.0", "--ops", "deepspeed/fused_adam"], {})
        self.assertIn("fix: Pack 'deepspeed' has it: --pack deepspeed --ops fused_adam.\n", run.err)
        run = self.asked(["plan", "--arch", "8.0", "--ops", "native"], {})
        self.assertIn("fix: It is a pack: --pack native --ops all.\n", run.err)

    def test_a_key_of_a_config_file(self):
        file = self.space.root / "own.yaml"
        file.write_text("ops: alpha\narhc: 8.0\n")
        refused = self.asked(["plan", "--config", "own.yaml"], {})
        self.assertEqual(refused.code, 2, refused)
        self.assertIn("error[bad_config]: own.yaml:2:1: unknown key 'arhc' (did you mean 'arch'?)", refused.err)
        file.write_text(file.read_text().replace("arhc", "arch"))
        run = self.run_in(self.space, "plan", "--config", "own.yaml", "--json", without=("--ops", "--arch"))
        self.assertEqual((run.code, json.loads(run.out)["requested"]), (0, ["8.0"]))

    def test_other_commands(self):
        self.assertEqual(self.space.build("--ops", "alpha").code, 0)
        own = ["--pack", str(self.space.pack.folder), "--cuda-home", str(self.space.toolkit.home)]
        for words, wrong in ((("verify", "otu"), "otu"), (("verify", "mybundle"), "mybundle"), 
                             (("explain", "alhpa", *own), "alhpa"), (("completion", "basg"), "basg"),
                             (("cache", "prun"), "prun"), (("new", "My-Op", "--pack", "./fresh"), "My-Op")):
            with self.subTest(words):
                refused = self.space.run(*words)
                self.assertNotIn(refused.code, (0, 70), refused)
                mended, _ = self.mended(list(words), {}, wrong, refused.err)
                run = self.space.run(*mended)
                self.assertEqual(run.code, 0, f"{mended}\n{run}")

    def test_toolkits_get_says_what_can_be_got(self):
        run = self.space.run("toolkits", "get", "12.1")
        self.assertEqual((run.code, run.out), (2, ""), run)
        offered = re.findall(r"dsbuild (toolkits get \S+)", run.err)
        self.assertEqual(len(offered), 4, run)
        for words in offered:  # what it fetches is a test of its own
            self.assertIn("error[offline]", self.space.run(*words.split(), "--offline").err)

    def test_a_misspelt_name_of_the_list_of_archs_is_told(self):
        for name in ("TORCH_CUDA_ARCH", "TORCH_CUDA_ARCHLIST", "TORCH_CUDA_ARCH_LISTS"):
            run = self.asked(["plan", "--ops", "alpha"], {name: "8.0"})
            self.assertEqual(run.code, 0, run)
            said = f"warning[ignored_variable]: {name}: it is set but not used (did you mean 'TORCH_CUDA_ARCH_LIST'?)"
            self.assertIn(said, run.err)

    def test_sizes_with_a_blank_or_small_letters(self):
        for size in ("8g", "8 GB", "8GiB", "8192M"):
            run = self.asked(["plan", "-v", *BASE, "--memory", size], {})
            self.assertRegex(run.out, r"memory +8\.0 GiB +--memory", run)

    def test_help_and_version_as_words(self):
        help_of = self.space.run("help", "plan")
        self.assertEqual((help_of.code, help_of.out), (0, self.space.run("plan", "--help").out))
        self.assertEqual(self.space.run("help").out, self.space.run("--help").out)
        for words in (["version"], ["-V"]):
            self.assertEqual(self.space.run(*words).out, self.space.run("--version").out)


if __name__ == "__main__":
    testspace.main()
