#!/usr/bin/env python3
"""The days of six kinds of users, typed on a terminal: what they see stands in tests/golden/days. Toolkits are made up.
DSBUILD_WRITE_GOLDEN=1 writes the transcripts anew."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import GOLDEN, WRITE_GOLDEN, CliTest, TestSpace, replaced, run_on_terminal, shown_command, testspace  # noqa: E402
from typed import check_printed  # noqa: E402

DAYS = GOLDEN.parent / "days"
DRAWN = re.compile(r"\r[^\r\n]*\x1b\[K|\r")
EDGES = re.compile(r"\d+ edges? run")  # behind a failure it is chance how far the others were
COLOUR = re.compile(r"\x1b\[\d*m")


class DaysTest(CliTest):
    def setUp(self):
        self.space = TestSpace(steps=True, store=True)
        self.transcript = []
        self.space.environment["CUDA_HOME"] = str(self.space.toolkit.home)

    def types(self, *words, code=0, env=None):
        """One command in the space's folder; what the terminal showed, without what was drawn over."""
        ended, text = run_on_terminal(self.space, *words, columns=400, env=env, output="both")  # lines with times are not broken
        text = EDGES.sub("<EDGES> run", COLOUR.sub("", DRAWN.sub("", text)))
        self.assertEqual(ended, code, text)
        check_printed(self, self.space, text.replace("\r\n", "\n"), env)
        self.transcript.append(shown_command(self.space, words, env) + "\n" + replaced(self.space, text) + f"exit code {ended}\n")
        return text

    def check_day(self, name):
        file, text = DAYS / f"{name}.txt", "\n".join(self.transcript)
        if WRITE_GOLDEN:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        self.assertEqual(text, file.read_text())

    def edit(self, path, old, new):
        source = self.space.pack.source(path)
        source.write_text(source.read_text().replace(old, new))

    def test_an_image(self):
        """Whoever bakes ops into an image, on a machine without a GPU."""
        build = ("--pack", "pack", "--ops", "all", "--arch", "7.5,8.0,9.0+PTX")
        _, text = run_on_terminal(self.space, *build, output="stderr")
        told = "self-test, once for this toolkit, during the build: whether slices make what its nvcc makes"
        self.assertEqual(text.count(told), 1, text)
        self.assertNotIn("self-test", self.types(*build))
        self.types("verify")
        self.types("inspect", "dsbuild-out/gamma.so", "--gpu", "7.5,8.9,9.0")
        self.check_day("image")

    def test_a_pipeline(self):
        """A job that annotates, and its next run."""
        github = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(self.space.root)}
        self.space.toolkit.set(fail=["two.cu"])
        build = ("--pack", "pack", "--ops", "beta,host", "--arch", "8.0", "--keep-going", "--color", "never")
        self.types(*build, code=1, env=github)
        self.space.toolkit.set(fail=[])
        self.types(*build, env=github)
        self.check_day("pipeline")

    def test_a_user_of_deepspeed(self):
        """The variables that DeepSpeed's own build has."""
        variables = {"DS_BUILD_ALPHA": "1", "DS_BUILD_GAMMA": "1", "TORCH_CUDA_ARCH_LIST": "7.5 8.0+PTX"}
        self.types("plan", "--pack", "pack", env=variables)
        self.types("--pack", "pack", env=variables)
        self.types("explain", "gamma", "7.5", "--pack", "pack", env=variables)
        self.check_day("deepspeed")

    def test_an_author_of_kernels(self):
        """From an error to a kernel that is built for one arch more."""
        build = ("--pack", "pack", "--ops", "alpha", "--arch", "8.0")
        self.space.toolkit.set(fail=["alpha.cu"])
        self.types(*build, code=1)
        self.space.toolkit.set(fail=[])
        self.types(*build)
        self.edit("alpha/shared.h", "// what", "// changed: what")
        self.types("explain", "alpha", *build[:2], "--arch", "8.0")
        self.types(*build, "-v")
        self.types("--pack", "pack", "--ops", "host", "--add", "--arch", "8.0")
        self.check_day("author")

    def test_a_release(self):
        """What is shipped, against what was."""
        self.types("--pack", "pack", "--ops", "all", "--arch", "8.0,9.0", "--out", "v1", "--build-dir", "b1", "-q")
        self.types("--pack", "pack", "--ops", "alpha,beta", "--arch", "8.0,9.0,10.0", "--out", "v2", "--build-dir", "b2", "-q")
        self.types("verify", "v2")
        self.types("diff", "v1", "v2", code=1)
        self.types("diff", "v2", "v2")
        self.check_day("release")

    def test_someone_who_mistypes(self):
        pack = ("--pack", "pack")
        for words in (("pln", *pack), ("plan", *pack, "--ops", "alhpa"), ("plan", *pack, "--ops", "all", "--arch", "H100"),
                      ("plan", *pack, "--ops", "all", "--arch", "8.0", "9.0"),
                      ("plan", *pack, "--ops", "all", "--arch", "8.0PTX"),
                      ("plan", *pack, "--ops", "all", "--arch", "8.0", "--memory", "8"), ("verfy",)):
            self.types(*words, code=2)
        (self.space.root / "dsbuild.yaml").write_text("pack: pack\nops: all\narhc: 8.0\n")
        self.types("plan", code=2)
        (self.space.root / "dsbuild.yaml").write_text("pack: pack\nops: all\narch: [8.0, 9.0+PTX]\n")
        self.assertEqual(json.loads(self.space.run("plan", "--json").out)["requested"], ["8.0", "9.0+PTX"])
        self.check_day("mistakes")


if __name__ == "__main__":
    testspace.main()
