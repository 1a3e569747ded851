#!/usr/bin/env python3
"""report, the doctor: ds_report's layout, what is missing with its fix, coverage of GPUs; with no tool at all too. And
inspect --gpu."""

import json
import os
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, options_only, testspace  # noqa: E402
from distributions import deepspeed_files, edit_manifest, make_pack as make_modules  # noqa: E402
from packs import Pack, kernel  # noqa: E402

NVIDIA_SMI = """#!/bin/sh
[ "$*" = "--query-gpu=compute_cap,driver_version,name --format=csv,noheader" ] || exit 9
echo "9.0, 580.65.06, NVIDIA H100 80GB HBM3"
echo "8.6, 580.65.06, NVIDIA A40"
"""
VERSION_PY = """from typing import Optional
__version__ = '2.8.0+cu128'
debug = False
cuda: Optional[str] = '12.8'
hip: Optional[str] = None
"""


def program(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
    return str(folder)


class ReportTest(CliTest):
    def report(self, space, *words, code=0, **options):
        run = self.run_in(space, "report", *words, "--json", **options)
        self.assertEqual((run.code, run.err), (code, ""), run)
        return json.loads(run.out)

    def bare(self, *words, programs, name, **options):
        """report with only these programs on PATH and an empty folder as the demanded toolkit."""
        folder = options_only(self.space.root / name, *programs)
        return self.space.run("report", "--cuda-home", str(self.space.home), *words,
                              env={"PATH": str(folder), "DSBUILD_NINJA": "", **options.pop("env", {})}, **options)


class InstalledTest(ReportTest):
    """What lies in site-packages, made up; nothing of it is imported."""

    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(pack=make_modules)
        built = cls.space.build()
        assert built.code == 0, built
        cls.site = cls.space.home / "lib" / "python3.11" / "site-packages"
        cls.python = cls.space.home / "bin" / "python3"
        cls.python.parent.mkdir()
        cls.python.write_text("#!/bin/sh\nexit 9\n")
        cls.python.chmod(0o755)
        cls.bundle = cls.space.root / "bundle"
        shutil.move(cls.space.out, cls.bundle)

    def setUp(self):
        shutil.rmtree(self.site, ignore_errors=True)
        self.site.mkdir(parents=True)

    def add(self, files):
        for path, text in files.items():
            (self.site / path).parent.mkdir(parents=True, exist_ok=True)
            (self.site / path).write_text(text)

    def look(self, *words, **options):
        return self.report(self.space, "--python", self.python, *words, **options)

    def rows(self, *words, **options):
        return {row["name"]: row for row in self.look(*words, **options)["ops"]}

    def test_what_deepspeed_was_built_with_is_installed_as_ds_report_says(self):
        self.add(deepspeed_files("0.19.8", built_ops=["fused_adam"]))
        document = self.look()
        rows = {row["name"]: row for row in document["ops"]}
        self.assertEqual({name for name, row in rows.items() if row["installed"]}, {"fused_adam"})
        self.assertEqual(rows["fused_adam"]["installed_by"],
                         [{"by": "deepspeed", "name": "", "path": str(self.site / "deepspeed")}])
        self.assertEqual(document["deepspeed"],
                         {"path": str(self.site / "deepspeed"), "version": "0.19.8", "installed_ops": ["fused_adam"],
                          "accelerator": "cuda", "torch": "2.11", "cuda": "13.0"})
        run = self.run_in(self.space, "report", "--python", self.python)
        self.assertIn("fused_adam ............. [YES] ...... [OKAY]  (built into DeepSpeed)\n", run.out)
        self.assertIn(f"deepspeed install path ........... {self.site / 'deepspeed'}\n", run.out)
        self.assertIn("deepspeed info ................... 0.19.8\n", run.out)
        self.assertIn("deepspeed wheel compiled w. ...... torch 2.11, cuda 13.0, for cuda\n", run.out)

    def test_another_accelerator_than_deepspeeds_does_not_count(self):
        self.add(deepspeed_files("0.19.8", built_ops=["cpu_adam"], accelerator="cpu"))
        row = self.rows(env={"DS_ACCELERATOR": "cuda"})["cpu_adam"]
        self.assertFalse(row["installed"])
        self.assertEqual(row["notes"], ["DeepSpeed has it built, for the accelerator cpu, not for cuda"])
        self.assertTrue(self.rows(env={"DS_ACCELERATOR": "cpu"})["cpu_adam"]["installed"])

    def test_without_deepspeed(self):
        document = self.look()
        self.assertIsNone(document["deepspeed"])
        self.assertEqual(document["wheels"], [])
        self.assertFalse(any(row["installed"] for row in document["ops"]))

    def test_a_wheel_of_ops_is_found(self):
        installed = self.space.run("install", str(self.bundle), "--target", str(self.site))
        self.assertEqual(installed.code, 0, installed)
        document = self.look()
        folder = self.site / "dsbuild_deepspeed_ops"
        self.assertEqual([(wheel["name"], wheel["path"]) for wheel in document["wheels"]],
                         [("dsbuild_deepspeed_ops", str(folder))])
        self.assertTrue(all(row["installed_by"] == [{"by": "wheel", "name": "dsbuild_deepspeed_ops", "path": str(folder)}]
                            for row in document["ops"]))
        run = self.run_in(self.space, "report", "--python", self.python)
        self.assertIn("plain .................. [YES] ...... [OKAY]  (wheel dsbuild_deepspeed_ops)\n", run.out)

    def test_a_wheel_for_another_torch_or_deepspeed_says_why_it_does_not_count(self):
        bundle = self.space.root / "torch"
        shutil.copytree(self.bundle, bundle, dirs_exist_ok=True)
        edit_manifest(bundle)
        self.assertEqual(self.space.run("install", str(bundle), "--target", str(self.site)).code, 0)
        row = self.rows()["cpu_adam"]
        self.assertFalse(row["installed"])
        self.assertIn("torch", row["notes"][0])
        self.add(deepspeed_files("0.19.8+edaa7221"))  # of the wheel's release: torch is what is in the way
        self.assertNotIn("DeepSpeed", self.rows()["cpu_adam"]["notes"][0])
        self.add(deepspeed_files("0.19.9"))
        self.assertEqual(self.rows()["cpu_adam"]["notes"],
                         ["the wheel dsbuild_deepspeed_ops has it, not for this: "
                          "it is made for DeepSpeed 0.19.8, and 0.19.9 is here"])


class RealDeepSpeedTest(ReportTest):
    """DeepSpeed as pip leaves it. Golden: what its record says when Python executes it."""

    def test_its_record(self):
        source = pathlib.Path(os.environ.get("DSBUILD_DEEPSPEED_SOURCES") or "absent") / "0.19.8"
        file = "deepspeed/git_version_info_installed.py"
        if not (source / file).is_file():
            raise unittest.SkipTest("no sources of DeepSpeed 0.19.8 (DSBUILD_DEEPSPEED_SOURCES)")
        space = TestSpace()
        record = (source / file).read_text()
        for text in (record, record.replace("False", "True", 4)):
            copy = space.root / "copy"
            shutil.copytree(source, copy, symlinks=True, dirs_exist_ok=True)
            (copy / file).write_text(text)
            known = {}
            exec(text, known)
            document = self.report(space, "--pack", "deepspeed", "--source", copy, "--arch", "8.0")
            installed = sorted(op for op, there in known["installed_ops"].items() if there)
            self.assertEqual(document["deepspeed"],
                             {"path": str(copy / "deepspeed"), "version": known["version"].strip(), "installed_ops": installed,
                              "accelerator": known["accelerator_name"], "torch": known["torch_info"]["version"],
                              "cuda": known["torch_info"]["cuda_version"]})


class LayoutTest(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.space.build("--ops", "gamma")

    def lines(self, *words):
        run = self.run_in(self.space, "report", *words)
        self.assertEqual((run.code, run.err), (0, ""), run)
        return run.out.splitlines()

    def test_the_layout_is_that_of_ds_report(self):
        lines = self.lines()
        self.assertEqual(lines[0], "-" * 50)
        self.assertIn("ninja .................. [OKAY]", lines)
        self.assertIn("op name ................ installed .. compatible", lines)
        self.assertIn("alpha .................. [NO] ....... [OKAY]", lines)
        self.assertIn("gamma .................. [YES] ...... [OKAY]  8.0 9.0+PTX", lines)
        facts = [line for line in lines if line.startswith("dsbuild version ")]
        self.assertRegex(facts[0], r"^dsbuild version \.{18} \d+\.\d+\.\d+$")
        shared = [line for line in lines if line.startswith("shared memory (/dev/shm) size .... ")]
        self.assertEqual(len(shared), 1)

    def test_ds_reports_options_hide_what_they_hide_there(self):
        lines = self.lines("--hide_operator_status")
        self.assertNotIn("op name ................ installed .. compatible", lines)
        self.assertIn("dsbuild environment:", lines)
        missing = ["--arch", "7.0"]
        self.assertTrue(any("[WARNING]" in line for line in self.lines(*missing)))
        hidden = self.lines("--hide_errors_and_warnings", *missing)
        self.assertFalse(any("[WARNING]" in line for line in hidden))
        self.assertIn("op name ................ installed .. compatible", hidden)

    def test_verbose_shows_met_findings(self):
        self.assertTrue(any("[OKAY]     host: C++ compiler: /" in line for line in self.lines("-v")))
        self.assertFalse(any("[OKAY]     host" in line for line in self.lines()))

    def test_the_bundle_and_its_archs(self):
        report = self.report(self.space)
        self.assertEqual(report["bundle"], {"path": str(self.space.out), "cuda": "13.0.88", "ops": 1,
                                            "requested": ["8.0", "9.0+PTX"], "shared": ["8.0", "9.0+PTX"]})
        self.assertEqual(report["environment"]["bundle archs"], "8.0 9.0+PTX, shared by all: 8.0 9.0+PTX")
        empty = self.report(self.space, "--out", self.space.root / "none")
        self.assertIsNone(empty["bundle"])

    def test_every_finding_is_in_the_document(self):
        ops = {op["name"]: op for op in self.report(self.space)["ops"]}
        for op in ops.values():
            self.assertEqual(set(op), {"name", "selected", "installed", "installed_by", "notes", "compatible", "archs", "features_off",
                                       "coverage", "findings", "reasons"})
            self.assertEqual((op["compatible"], op["reasons"]), (True, []))
        self.assertEqual([set(finding) for finding in ops["host"]["findings"]], [{"kind", "subject", "ok", "why", "fix"}])
        self.assertEqual(ops["host"]["findings"][0]["subject"], "C++ compiler")
        self.assertEqual(ops["alpha"]["findings"][0]["subject"], "CUDA toolkit")

    def test_a_folder_that_is_no_toolkit_is_listed_with_the_reason(self):
        report = self.report(self.space, env={"CUDA_PATH": str(self.space.home)})
        self.assertIn({"path": str(self.space.home), "origin": "CUDA_PATH", "reason": "it has no bin/nvcc"},
                      report["rejected"])
        run = self.run_in(self.space, "report", env={"CUDA_PATH": str(self.space.home)})
        self.assertIn(f"not usable: {self.space.home} (CUDA_PATH): it has no bin/nvcc", run.out)


class MachineTest(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.space.build("--arch", "8.0+PTX")

    def test_visible_gpus_and_what_they_get(self):
        path = program(self.space.root / "gpus", "nvidia-smi", NVIDIA_SMI) + ":" + self.space.environment["PATH"]
        report = self.report(self.space, env={"PATH": path})
        self.assertEqual(report["gpus"], [{"cc": "8.6", "name": "NVIDIA A40", "driver": "580.65.06"},
                                          {"cc": "9.0", "name": "NVIDIA H100 80GB HBM3", "driver": "580.65.06"}])
        ops = {op["name"]: op["coverage"] for op in report["ops"]}
        self.assertEqual(ops["alpha"], [{"gpu": "8.6", "runs": "native", "by": "sm_80", "module": 0},
                                        {"gpu": "9.0", "runs": "ptx", "by": "compute_80", "module": 0}])
        self.assertEqual(ops["host"], [])
        run = self.run_in(self.space, "report", env={"PATH": path})
        self.assertIn("GPUs ............................. NVIDIA A40, 8.6, driver 580.65.06\n", run.out)
        self.assertIn("[OKAY]  8.0+PTX; on 8.6 native (sm_80), 9.0 by PTX (compute_80)\n", run.out)
        self.assertIn("driver for PTX ................... of CUDA 13.0.88 or newer\n", run.out)

    def test_the_gpus_of_other_machines(self):
        run = self.run_in(self.space, "report", "--gpu", "8.6,7.5")
        self.assertIn("[OKAY]  8.0+PTX; on 7.5 will not run, 8.6 native (sm_80)\n", run.out)
        self.assertNotIn("driver for PTX", run.out)
        self.check("report_unknown_gpu", self.space, "report", "--gpu", "8.66", code=2)
        self.check("report_no_gpu", self.space, "report", "--gpu", "native", code=3)

    def test_inspect_says_it_too(self):
        self.check_alone("inspect_gpu", self.space, "inspect", "out/gamma.so", "--gpu", "7.5,8.6,12.0", code=0)
        inspected = json.loads(self.space.run("inspect", str(self.space.out), "--gpu", "9.0", "--json").out)
        coverage = {os.path.basename(file["file"]): file["coverage"] for file in inspected["files"]}
        self.assertEqual(coverage["gamma.so"], [{"gpu": "9.0", "runs": "ptx", "by": "compute_80", "module": 0,
                                                "modules": [{"runs": "ptx", "by": "compute_80", "count": 2}]}])
        self.assertEqual(coverage["host.so"], [])

    def torch_in(self, name, version_py):
        """A PATH whose python3 finds a torch that cannot be imported."""
        packages = self.space.root / name
        (packages / "torch").mkdir(parents=True)
        (packages / "torch" / "__init__.py").write_text("raise SystemExit('torch was imported')\n")
        (packages / "torch" / "version.py").write_text(version_py)
        (packages / "torch-2.8.0.dist-info").mkdir()
        (packages / "torch-2.8.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.8.0\n")
        return {"PYTHONPATH": str(packages)}, packages / "torch"

    def test_torch_is_found_and_not_imported(self):
        env, home = self.torch_in("packages", VERSION_PY)
        report = self.report(self.space, env=env)
        self.assertEqual(report["torch"], {"path": str(home), "version": "2.8.0+cu128", "cuda": "12.8", "hip": None})
        self.assertEqual(report["environment"]["torch cuda version"], "12.8")
        self.assertRegex(report["python"]["version"], r"^3\.\d+\.\d+")

    def test_a_torch_without_cuda(self):
        env, _ = self.torch_in("cpu_packages", "__version__ = '2.8.0+cpu'\ncuda: Optional[str] = None\n")
        self.assertIsNone(self.report(self.space, env=env)["torch"]["cuda"])


class BareTest(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()

    def test_with_ninja_and_a_compiler_alone(self):
        run = self.bare(programs=("ninja", "g++", "as", "ld"), name="few")
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertIn("ninja .................. [OKAY]", run.out)
        self.assertRegex(run.out, r"cpu_adam \.{15} \[NO\] \.{7} \[NO\]")
        self.assertRegex(run.out, r"\[WARNING\]  fused_adam: CUDA toolkit: ")

    def test_with_nothing_at_all(self):
        run = self.bare(programs=(), name="none")
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertIn("ninja .................. [FAIL]", run.out)
        self.assertRegex(run.out, r"\[WARNING\]  ninja: .*\n +fix: apt-get install ninja-build")
        self.assertRegex(run.out, r"C\+\+ compilers \.+ no C\+\+ compiler was found .*\n +fix: apt-get install g\+\+")
        self.assertRegex(run.out, r"GPUs \.+ none\n")
        self.assertRegex(run.out, r"python \.+ none\n")

    def test_a_remedy_is_said_once(self):
        run = self.bare(programs=(), name="once")
        rows = run.out[:run.out.index("dsbuild environment:")]
        self.assertEqual(rows.count("fix: name the folder that holds bin/nvcc"), 1)
        self.assertIn("(fix: above)", rows)

    def test_the_document_of_a_bare_machine(self):
        report = json.loads(self.bare("--json", programs=(), name="document").out)
        for key in ("toolkit", "ninja", "python", "torch", "bundle"):
            self.assertIsNone(report[key], key)
        self.assertEqual([problem["code"] for problem in report["problems"]], ["no_ninja", "no_toolkit", "no_compiler"])
        for problem in report["problems"]:
            self.assertTrue(problem["fix"])
        for op in report["ops"]:
            self.assertFalse(op["compatible"])
            self.assertTrue(op["reasons"])

    def test_a_pack_of_cuda_ops_alone(self):
        pack = Pack(self.space.root / "cuda_only", "cuda_only")
        pack.add_op("only", {"only.cu": kernel("only_run")})
        run = self.space.run("report", "--pack", str(pack.folder),
                             env={"PATH": "/nowhere", "DSBUILD_NINJA": "", "DS_ACCELERATOR": "cpu"})
        self.assertEqual((run.code, run.err), (0, ""), run)
        self.assertRegex(run.out, r"only \.{19} \[NO\] \.{7} ")


class StrictTest(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.pack = Pack(cls.space.root / "wants", "wants")
        cls.pack.add_op("plain", {"plain.cu": kernel("plain_run")})
        cls.pack.add_op("wants", {"wants.cu": kernel("wants_run")}, {"requires": [{"command": "no-such-tool"}]})

    def code(self, *words):
        return self.run_in(self.space, "report", "--strict", *words).code

    def test_what_is_selected_must_be_compatible(self):
        self.assertEqual(self.code(), 0)
        self.assertEqual(self.code("--pack", self.pack.folder), 3)
        self.assertEqual(self.code("--pack", self.pack.folder, "--ops", "plain"), 0)
        self.assertEqual(self.code("--pack", self.pack.folder, "--ops", "wants"), 3)

    def test_so_must_be_the_request(self):
        self.assertEqual(self.code("--arch", "7.0"), 3)
        self.assertEqual(self.code("--arch", "7.5"), 3, "gamma is for 8.0 and newer")
        self.assertEqual(self.code("--arch", "7.5", "--ops", "all,-gamma"), 0)
        ops = {op["name"]: op for op in self.report(self.space, "--arch", "7.5")["ops"]}
        self.assertEqual(ops["gamma"]["reasons"], ["no arch left: supports >= 8.0, requested 7.5"])

    def test_with_nothing_at_all(self):
        self.assertEqual(self.bare("--strict", programs=(), name="strict").code, 3)


if __name__ == "__main__":
    testspace.main()
