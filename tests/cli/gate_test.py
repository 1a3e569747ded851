#!/usr/bin/env python3
"""Gates: which GPUs a bundle covers and how large it is, by verify, build, inspect, report and plan. What is in the library
cuobjdump says, and its size the file system; with the real nvcc where there is one, else with the fake one."""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from cuobjdump import find_cuobjdump, list_images  # noqa: E402
from verify_test import make_pack, real_toolkit  # noqa: E402

GPUS = {"A100": (8, 0), "8.6": (8, 6), "H100": (9, 0), "10.0": (10, 0), "P4": (6, 1)}


def arch_of(name):
    number = name.split("_")[1]
    return int(number[:-1]), int(number[-1])


def how_it_runs(images, gpu):
    """The CUDA programming guide, "Binary compatibility" and "PTX compatibility"."""
    for kind, arch in images:
        major, minor = arch_of(arch)
        if kind == "elf" and major == gpu[0] and minor <= gpu[1]:
            return "native"
    return "ptx" if any(kind == "ptx" and arch_of(arch) <= gpu for kind, arch in images) else "none"


def up(size):
    return f"{-(-size // 1024)}K"


def down(size):
    return f"{(size - 1) // 1024}K"


class GateTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(pack=make_pack)
        cls.space.arch = "7.5;8.0+PTX"
        real = real_toolkit()
        if real:
            cls.space.use_real_toolkit(real[0])
            cls.space.arch = real[1]
            cls.space.environment["PATH"] = os.environ["PATH"]
        cls.first = cls.space.build()
        library = cls.space.out / "pair.so"
        lowest = cls.space.arch[:3].replace(".", "")
        cls.images = [("elf", f"sm_{lowest}"), ("elf", "sm_80"), ("ptx", "sm_80")]
        if real and library.exists():
            try:
                find_cuobjdump()
                cls.images = list_images(library)
            except unittest.SkipTest:
                pass
        cls.sizes = {file.stem: file.stat().st_size for file in cls.space.out.glob("*.so")}

    def setUp(self):
        self.assertEqual(self.first.code, 0, self.first)

    def commands(self):
        return {"verify": ["verify", "out"], "inspect": ["inspect", "out"], "report": self.space.arguments("report"),
                "build": self.space.arguments("build")}

    def gate(self, command, *words, code):
        run = self.space.run(*self.commands()[command], *words)
        self.assertEqual(run.code, code, run)
        return run

    def document(self, command, *words, code):
        return json.loads(self.gate(command, *words, "--json", code=code).out.splitlines()[-1])


class CoverageTest(GateTest):
    def test_the_gpus_are_of_all_kinds(self):
        self.assertEqual({how_it_runs(self.images, gpu) for gpu in GPUS.values()}, {"native", "ptx", "none"})

    def test_every_gpu_by_every_command(self):
        for name, gpu in GPUS.items():
            runs = how_it_runs(self.images, gpu)
            for command in self.commands():
                with self.subTest(command=command, gpu=name, runs=runs):
                    self.gate(command, "--gpu", name, code=0)
                    strict = self.gate(command, "--gpu", name, "--strict", code=1 if runs == "none" else 0)
                    self.assertEqual("error[gpu_not_covered]" in strict.err, runs == "none", strict)
                    self.assertEqual("by PTX" in strict.out or "[gpu_by_driver]" in strict.err, runs == "ptx", strict)

    def test_json(self):
        for name, gpu in GPUS.items():
            runs = how_it_runs(self.images, gpu)
            for command in self.commands():
                with self.subTest(command=command, gpu=name):
                    gate = self.document(command, "--gpu", name, code=0)["gate"]
                    self.assertEqual([(each["gpu"], each["runs"]) for each in gate["gpus"]], [(f"{gpu[0]}.{gpu[1]}", runs)])
                    self.assertTrue(gate["passed"])  # a question without --strict
            for command in ("verify", "inspect", "report"):
                document = self.document(command, "--gpu", name, "--strict", code=1 if runs == "none" else 0)
                self.assertEqual((document["gate"]["passed"], [each["code"] for each in document["gate"]["failures"]]),
                                 (runs != "none", ["gpu_not_covered"] if runs == "none" else []))

    def test_several_gpus_at_once(self):
        for command in self.commands():
            with self.subTest(command=command):
                run = self.gate(command, "--gpu", "H100,P4,8.0", "--strict", code=1)
                self.assertEqual(run.err.count("GPU 6.1 cannot run 1 of 1 "), 1, run)
                self.assertNotIn("cannot run 1 of 1 ops: GPU 9.0", run.err)

    def test_a_build_ends_before_anything_is_compiled(self):
        run = self.run_in(self.space, "build", "--gpu", "P4", "--strict", "--json", "--out", "other", "--build-dir", "other-build")
        self.assertEqual((run.code, run.result()["error"]["code"]), (1, "gpu_not_covered"), run)
        self.assertFalse((self.space.root / "other").exists())
        self.assertEqual(list(self.space.root.glob("other-build/**/*.o")), [])

    def test_a_plan_answers_too(self):
        for gpu, code in (("P4", 1), ("H100", 0)):
            self.assertEqual(self.space.run(*self.space.arguments("plan", "--gpu", gpu, "--strict")).code, code)

    def test_what_has_no_code_for_gpus_covers_none(self):
        build = ["build", "--ops", "host", "--out", "cpu", "--build-dir", "cpu-build"]
        self.assertEqual(self.run_in(self.space, *build).code, 0)
        for words in (["verify", "cpu"], ["inspect", "cpu"], build):
            run = self.run_in(self.space, *words, "--gpu", "9.0", "--strict")
            self.assertEqual(run.code, 1, run)
            self.assertIn("nothing here has code for GPUs", run.err)

    def test_a_gpu_that_nobody_knows(self):
        for command in self.commands():
            self.assertIn("error[unknown_arch]", self.gate(command, "--gpu", "H1000", code=2).err)


class SizeTest(GateTest):
    def test_all_libraries_together(self):
        total = sum(self.sizes.values())
        for command in self.commands():
            with self.subTest(command=command):
                self.gate(command, "--max-size", up(total), code=0)
                run = self.gate(command, "--max-size", down(total), code=1)
                self.assertIn(f"error[too_large]: {'2 files' if command == 'inspect' else self.where(command)}: 2 ", run.err)
                self.assertIn(f": {total} B (", run.err)

    def where(self, command):
        return "out" if command == "verify" else str(self.space.out)

    def test_each_op(self):
        largest = max(self.sizes, key=self.sizes.get)
        for command in self.commands():
            with self.subTest(command=command):
                self.gate(command, "--max-op-size", up(self.sizes[largest]), code=0)
                run = self.gate(command, "--max-op-size", down(self.sizes[largest]), code=1)
                self.assertIn(f"{largest} is too large: {self.sizes[largest]} B (", run.err)

    def test_one_op(self):
        for op, size in self.sizes.items():
            for command in self.commands():
                with self.subTest(command=command, op=op):
                    self.gate(command, "--max-op-size", f"1K,{','.join(f'{each}={up(n)}' for each, n in self.sizes.items())}", code=0)
                    run = self.gate(command, "--max-op-size", f"{op}={down(size)}", code=1)
                    self.assertEqual(run.err.count(" is too large: "), 1, run)

    def test_what_is_too_large_is_not_published(self):
        build = ["build", "--out", "large"]
        self.assertEqual(self.run_in(self.space, *build, "--max-op-size", "1K").code, 1)
        self.assertFalse((self.space.root / "large").exists())
        self.assertEqual(self.run_in(self.space, *build, "--max-op-size", "1G").code, 0)
        self.assertTrue((self.space.root / "large" / "pair.so").exists())

    def test_json(self):
        for command in ("verify", "inspect", "report"):
            gate = self.document(command, "--max-size", "1K", code=1)["gate"]
            self.assertEqual((gate["passed"], gate["bytes"], gate["failures"][0]["code"]),
                             (False, sum(self.sizes.values()), "too_large"))

    def test_a_size_for_no_op(self):
        for command in self.commands():
            run = self.gate(command, "--max-op-size", "piar=1M", code=2)
            self.assertIn("error[unknown_op]", run.err)
            self.assertIn("did you mean 'pair'?", run.err)

    def test_what_is_no_size(self):
        for words in (["--max-size", "lots"], ["--max-size", "200"], ["--max-op-size", "pair="], ["--max-op-size", "1M,2M"],
                      ["--max-op-size", "a=1M,a=2M"], ["--max-op-size", ","]):
            self.assertIn("error[bad_size]", self.gate("verify", *words, code=2).err, words)


class MessageTest(CliTest):
    """With the fake nvcc, whose libraries are the same everywhere."""

    def test_messages(self):
        space = TestSpace()
        space.arch = "7.5;8.0+PTX"
        self.assertEqual(space.build().code, 0)
        self.check_alone("gate_verify", space, "verify", "out", "--gpu", "T4,A100,H100,V100", code=0)
        self.check_alone("gate_verify_strict", space, "verify", "out", "--gpu", "T4,A100,H100,V100", "--strict", code=1)
        self.check_alone("gate_inspect_strict", space, "inspect", "out/gamma.so", "--gpu", "T4", "--strict", code=1)
        self.check_alone("gate_sizes", space, "verify", "out", "--max-size", "2K", "--max-op-size", "1G,host=1K", code=1)
        self.check("gate_build", space, "--ops", "gamma", "--gpu", "T4", "--strict", code=1)


if __name__ == "__main__":
    testspace.main(each_commit=9)
