#!/usr/bin/env python3
"""docs/troubleshooting.md: each fault is provoked, its section's commands typed, and they print what the page says. The toolkits
are made up."""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, testspace  # noqa: E402
from hook_test import SETUP, HookSpace  # noqa: E402
from messages_test import NO_LOCKS  # noqa: E402
from packs import Pack, kernel  # noqa: E402
from pages import BLOCK, page_commands, pattern_of, read_page, typed_blocks  # noqa: E402
from torch_test import TorchSpace  # noqa: E402
from typed import type_command  # noqa: E402
from verify_load_test import UNDEFINED  # noqa: E402

PAGE = "docs/troubleshooting.md"
PROJECT = "pack: ./pack\nops: all\narch: [8.0+PTX]\njobs: 2\n"
SEARCHED = ("no kernel image is available", "undefined symbol", "CUDA_HOME", "Unsupported gpu architecture", "nvcc fatal",
            "Killed", "cannot be written", "HOME", "NFS", "unsupported GNU version")


def make_pack(folder):
    pack = Pack(folder)
    pack.add_op("fused_adam", {"fused_adam.cu": kernel("adam")})
    pack.add_op("fp_quantizer", {"fp_quantizer.cu": kernel("quantize")}, {"archs": {"min": "8.0"}})
    pack.add_op("cpu_adam", {"cpu_adam.cpp": 'extern "C" int adam_run() { return 1; }\n'},
                {"backend": "cpu", "flags": {"cxx": ["-march=baseline"]}})
    return pack


def make_pack_without_cutlass(folder):
    pack = make_pack(folder)
    needs = {"header": "cutlass/cutlass.h", "hint": "pip install nvidia-cutlass, or set CUTLASS_PATH"}
    pack.add_op("evoformer_attn", {"evoformer_attn.cu": kernel("attention")}, {"requires": [needs]})
    return pack


def make_torch_pack(folder):
    pack = Pack(folder)
    pack.add_op("fused_adam", {"fused_adam.cu": kernel("adam")}, {"module": "a.fused_adam", "requires": [{"torch": ">=2.0"}]})
    return pack


def sections(text):
    """{heading: its text}"""
    parts = re.split(r"^### (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], (re.split(r"^## ", part, flags=re.M)[0] for part in parts[2::2])))


class TroubleshootingTest(CliTest):
    def space(self, make=TorchSpace, **settings):
        space = make(**settings)
        (space.root / "dsbuild.yaml").write_text(PROJECT)
        space.environment.update(CUDA_HOME=str(space.toolkit.home), DSBUILD_CACHE_SIZE="1G")
        return space

    def built(self):
        space = self.space(pack=make_pack)
        self.assertEqual(space.run().code, 0)
        return space

    def follow(self, heading, space, *codes, env=None, cwd=None):
        """The section's commands end with these exit codes, and print what it shows."""
        text = sections(read_page(PAGE))[heading]
        commands = page_commands(text)
        shown = re.findall(BLOCK.format("prints"), text, re.S)
        runs = [type_command(space, command, env, cwd) for command in commands]
        self.assertEqual([code for code, _ in runs], list(codes), runs)
        for block in shown:
            self.assertRegex("\n".join(said for _, said in runs), pattern_of(block))

    def edit_op(self, space, op, **changes):
        bundle = space.root / "dsbuild-out"
        manifest = json.loads((bundle / "manifest.json").read_text())
        entry = next(entry for entry in manifest["ops"] if entry["name"] == op)
        entry.update(changes)
        testspace.forge_manifest(bundle, manifest)

    def test_a_bundle(self):
        space = self.built()
        self.follow("no kernel image is available for execution on the device", space, 1)
        self.follow("the provided PTX was compiled with an unsupported toolchain", space, 0)
        self.follow("Killed signal terminated program cc1plus", space, 0)
        source = space.pack.source("fused_adam.cu")
        source.write_text(source.read_text() + "// edited\n")
        self.follow("Everything is compiled again", space, 0)
        self.follow("dsbuild waits for another dsbuild", space, 0, 0)
        self.edit_op(space, "cpu_adam", cpu_baseline={"level": "x86-64-v3", "features": ["feature_of_tomorrow"]})
        self.follow("Illegal instruction (core dumped)", space, 0)
        self.follow("No space left on device", space, 0, 0, 0)

    def test_a_library_that_cannot_be_opened(self):
        space = self.built()
        library = space.root / "dsbuild-out" / "cpu_adam.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", library], input=UNDEFINED.encode(), check=True)
        self.edit_op(space, "cpu_adam", sha256=hashlib.sha256(library.read_bytes()).hexdigest(), bytes=library.stat().st_size)
        self.follow("undefined symbol, cannot open shared object file", space, 1)

    def test_toolkits(self):
        space = self.space(pack=make_pack)
        self.follow("CUDA_HOME environment variable is not set", space, 0, 3)
        self.follow("Unsupported gpu architecture", space, 3)
        self.follow("nvcc fatal", space, 0, env={"NVCC_APPEND_FLAGS": "--no-such-option"})
        self.follow("unsupported GNU version", space, 0)
        self.follow("Ninja is required to load C++ extensions", space, 0)

    def test_ops_that_are_skipped(self):
        space = self.space(pack=make_pack_without_cutlass)
        self.follow("An op is skipped, or a header is missing", space, 0, env={"DS_BUILD_FUSED_ADAM": "0"})

    def test_another_cuda_than_that_of_torch(self):
        space = self.space(toolkit="11.8", pack=make_torch_pack)
        space.environment["PATH"] = f"{space.torch.python.parent}:{space.environment['PATH']}"
        self.follow("The detected CUDA version mismatches", space, 3)

    def test_folders(self):
        space = self.space(pack=make_pack)
        shim = testspace.compile_shim(NO_LOCKS, space.root / "no_locks.so")
        self.follow("This file system has no locks (NFS)", space, 3, env={"LD_PRELOAD": shim})
        for name in ("HOME", "XDG_CACHE_HOME"):
            del space.environment[name]
        self.follow("The cache folder cannot be written (no HOME)", space, 0, 0)

    def test_an_arch_that_is_dropped(self):
        space = self.space(pack=make_pack)
        (space.root / "dsbuild.yaml").write_text(PROJECT.replace("8.0", "7.5, 8.0"))
        self.follow("An op has the wrong architectures", space, 0, 0)

    def test_the_hook_steps_aside(self):
        space = HookSpace(SETUP)
        space.environment["PATH"] = f"{space.torch.python.parent}:{space.environment['PATH']}"
        self.follow("pip install does not use dsbuild", space, 1, cwd=space.project)


class PageTest(unittest.TestCase):
    def test_each_section_with_commands_is_followed(self):
        own = pathlib.Path(__file__).read_text(encoding="utf-8")
        for heading, text in sections(read_page(PAGE)).items():
            self.assertEqual(bool(typed_blocks(text)), f'self.follow("{heading}"' in own, heading)
            self.assertNotRegex(re.sub(r"<!-- (typed by \S+|prints) -->\n```.*?```", "", text, flags=re.S), "```", heading)

    def test_headings_have_the_words_that_people_search_for(self):
        headings = "\n".join(sections(read_page(PAGE)))
        for words in SEARCHED:
            self.assertIn(words, headings)


if __name__ == "__main__":
    testspace.main()
