#!/usr/bin/env python3
"""Commands of dsbuild on pages of the documentation. Blocks that a page marks as typed by this script are typed, line by line, in
the folder of a small project; their addresses are replaced. All other lines have commands and options that there are."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack, kernel  # noqa: E402
from pages import pattern_of, read_page, typed_blocks  # noqa: E402
from typed import check_understood, type_command  # noqa: E402

PROJECT = "pack: ./pack\nops: all\narch: [8.0, 9.0+PTX]\njobs: 2\n"
SERVE = 'import os, subprocess\nsubprocess.run(["dsbuild", "load", "scale", "--pack", "./pack", "--gpu", "9.0"], check=True)\n'
POLICY = "trust_key: [release.pub.pem]\ngpu: [A100, 9.0]\n"
MADE_PAGE = REPOSITORY / "docs" / "reference" / "messages.md"  # of golden files
PAGES = {str(page.relative_to(REPOSITORY)): read_page(page)
         for page in [REPOSITORY / "README.md", *sorted({*(REPOSITORY / "docs").rglob("*.md")} - {MADE_PAGE})]}
FENCE = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.M | re.S)
INLINE = re.compile(r"`((?:\w+=\S+ )*dsbuild (?:[^`\n]|\n(?!\n))*)`")
OPTION = re.compile(r"(?<![^\s\[(|])(--?[a-zA-Z][\w-]*)")


def make_pack(folder):
    pack = Pack(folder)
    pack.add_op("scale", {"scale.cu": kernel("scale")})
    pack.add_op("fused_adam", {"fused_adam.cu": kernel("adam")})
    pack.add_op("cpu_adam", {"cpu_adam.cpp": 'extern "C" int adam_run() { return 1; }\n'}, {"backend": "cpu"})
    return pack


def joined_lines(block):
    """Its commands; of a transcript, those after a `$`."""
    lines = block.replace("\\\n", " ").splitlines()
    return [line[2:] for line in lines if line.startswith("$ ")] or [line for line in lines if line.strip()]


def shell_blocks(text):
    return [block for language, block in FENCE.findall(text) if language in ("", "sh", "bash", "console")]


def without_remark(line):
    """After a # or two blanks."""
    return re.split(r"  +|#", line)[0].strip()


def shown_output(block):
    return "".join(line + "\n" for line in block.splitlines() if not line.startswith("$ ")) if block.startswith("$ ") else ""


class DocCommandsTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(pack=make_pack, store=True, steps=False)
        root = cls.space.root
        for name, text in {"dsbuild.yaml": PROJECT, "serve.py": SERVE, "policy.yaml": POLICY}.items():
            (root / name).write_text(text)
        (root / "remote").mkdir()
        cls.space.environment.update(CUDA_HOME=str(cls.space.toolkit.home), DSBUILD_CACHE_SIZE="1G")
        cls.replaced = {"https://cache.example.org/dsbuild": f"file://{root}/remote", "URL": f"file://{root}/remote",
                        "/var/lib/node_exporter/": f"{root}/"}

    def type(self, line):
        for there, here in self.replaced.items():
            line = line.replace(there, here)
        return type_command(self.space, line)

    def check_block(self, block):
        shown, printed = shown_output(block), ""
        for line in joined_lines(block):
            code, said = self.type(line)
            printed += said
            self.assertEqual(code != 0, "error[" in shown, f"{line}\nexit code {code}\n{said}")
        self.assertRegex(printed, pattern_of(shown))

    def test_what_pages_mark_is_typed(self):
        self.assertEqual(self.type("dsbuild")[0], 0)
        blocks = [(page, block) for page, text in PAGES.items() for block in typed_blocks(text)]
        self.assertGreater(len(blocks), 5)
        for page, block in blocks:
            with self.subTest(page=page, block=block):
                self.check_block(block)


class UnderstoodTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()

    def check_options(self, span):
        """Of a line with words to be filled in: its options are of its command."""
        words = re.split(r" -- | \| ", span)[0].split("dsbuild ", 1)[1].split()
        command = [word for word in words[:2] if re.fullmatch(r"[a-z]+", word)]
        used = testspace.used_options(self.space.program, *command) | testspace.used_options(self.space.program, *command[:1])
        if command[:1] not in (["nvcc"], ["action"]):  # their words are nvcc's, and build.ninja's
            self.assertLessEqual(set(OPTION.findall(" ".join(words))), used, span)

    def test_lines_of_blocks(self):
        lines = {line: page for page, text in PAGES.items() for block in shell_blocks(text) if block not in typed_blocks(text)
                 for line in map(without_remark, joined_lines(block)) if re.match(r"(\w+=\S+ +)*dsbuild [^\[]*$", line)}
        self.assertGreater(len(lines), 40)
        for line, page in lines.items():
            with self.subTest(page=page, line=line):
                check_understood(self, self.space, line)

    def test_commands_within_a_sentence(self):
        spans = {" ".join(span.split()): page for page, text in PAGES.items() for span in INLINE.findall(FENCE.sub("", text))}
        self.assertGreater(len(spans), 100)
        for span, page in spans.items():
            with self.subTest(page=page, span=span):
                self.check_options(span)

    def test_mistakes_would_be_seen(self):
        for line in ("dsbuild plan --fromat env", "dsbuild paln"):
            self.assertRaises(AssertionError, check_understood, self, self.space, line)
        for span in ("dsbuild plan --fromat FORMAT", "dsbuild cache prune --arch LIST"):
            self.assertRaises(AssertionError, self.check_options, span)


if __name__ == "__main__":
    testspace.main()
