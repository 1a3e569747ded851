#!/usr/bin/env python3
"""The runner of tests/gpu/run.sh with stand-ins for its groups: whatever they do, there is a table and a file with all that is known.
scripts/make_gpu_figures.py puts the tables of such files on its page, and sees where one was edited."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATH = [str(HERE), str(ROOT / "tests" / "python")]
sys.path[1:1] = PATH

import figures  # noqa: E402
import groups  # noqa: E402
import outcome  # noqa: E402
import run  # noqa: E402
import sanitized_kernels  # noqa: E402
from runner import processes_of  # noqa: E402

WAIT = 240  # seconds for a run of some: the machine may be busy
TESTS = """
import unittest
class A(unittest.TestCase):
    def test_one(self): pass
    @unittest.skip("needs two GPUs")
    def test_two(self): pass
    def test_three(self):
        for i in range(2):
            with self.subTest(i=i): self.assertTrue({value})
class B(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("no cupy")
    def test_four(self): pass
unittest.main(argv=["x", "-v"])
"""
MEASURES = """
import figures
with figures.table("optimizers") as table:
    table.add_speed("step", "268 M", 2.0, "torch", 3.0, bytes=4e9)
    table.add_speed("step", "16 K", 4.0, "torch", 3.0, bytes=1e9)
    table.add_speed("step", "1 K", 1.0, "none alike", bytes=1e9)
with figures.table("norms") as table:
    table.add_speed("rms_norm_forward", "8 rows", 2.0, figures.COPY, 1.0, bytes=4e9)
    {end}
"""
HANGS = """
import subprocess, sys, time
subprocess.Popen(["setsid", "sleep", "600"])
print("test_slow (x) ... ", flush=True)
time.sleep(600)
"""
RUN = """
import json, pathlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored where the tests run
sys.path[1:1] = {path!r}
import runner
groups = [runner.Group(**group) for group in {groups!r}]
work = pathlib.Path({work!r})
facts = {{"machine": {{"gpu": "NVIDIA X", "driver": "1", "cuda": "13.0", "torch": "2", "python": "3", "cores": 16}}, "date": "2026-12-01",
          "commit": "0123456789abcdef", "chosen": {chosen!r}}}
sys.exit(runner.Run("speed", groups, {lanes!r}, {limit!r}, work, work / "out", facts).go())
"""


def python(name, code, **options):
    return dict(name=name, command=[sys.executable, "-c", code], **options)


class Space:
    """A run in a folder of its own."""

    def __init__(self, test):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-gpu-"))
        test.addCleanup(shutil.rmtree, self.folder)

    def start(self, given, lanes=None, limit=60, chosen=()):
        code = RUN.format(path=PATH, groups=given, work=str(self.folder), lanes=lanes or {}, limit=limit, chosen=list(chosen))
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "python")}
        return subprocess.Popen([sys.executable, "-B", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env=environment)

    def run(self, given, **options):
        """The exit code, and the tables at the end, each time as S."""
        process = self.start(given, **options)
        text, _ = process.communicate(timeout=WAIT)
        return process.returncode, tables_in(text)

    def stop(self, process, file, word, number=signal.SIGTERM):
        """Sends the signal when this file of a group has the word. Returns the tables."""
        deadline = time.monotonic() + WAIT
        path = self.folder / "speed" / file
        while not (path.exists() and word in path.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        text, _ = process.communicate(timeout=WAIT)
        return tables_in(text)

    def json(self):
        return json.loads((self.folder / "out" / "speed.json").read_text())

    def results(self):
        return {row["name"]: row["result"] for row in self.json()["groups"]}


def tables_in(text):
    return re.sub(r"\| \d+\.\d \|", "| S |", text[text.index("\n| group |") + 1:])


class RunnerTest(unittest.TestCase):
    def test_one_table_tells_of_all_groups(self):
        space = Space(self)
        code, text = space.run([
            python("passes", TESTS.format(value="True")), python("fails", TESTS.format(value="i > 5")),
            python("is not here", "import sys; print('skipped: numpy is not installed', file=sys.stderr); sys.exit(77)"),
            python("measures", MEASURES.format(end="")), python("crashes", "import os; os.kill(os.getpid(), 11)"),
            python("hangs", HANGS, limit=1), python("needs it", "print(1)", needs=("hangs",)),
            dict(name="no program", command=["/nowhere/dsbuild"])])
        self.assertEqual(code, 1)
        self.assertEqual(text[:text.index("\nspeed: ")], """\
| group | tests | passed | skipped | s | result |
|---|---|---|---|---|---|
| passes | 4 | 2 | 1: needs two GPUs; 1: no cupy | S | passed |
| fails | 4 | 1 | 1: needs two GPUs; 1: no cupy | S | failed: exit code 1 |
| is not here | – | – | – | S | skipped: numpy is not installed |
| measures | – | – | – | S | passed |
| crashes | – | – | – | S | failed: signal 11 |
| hangs | – | – | – | S | timed out: after its 1 s |
| needs it | – | – | – | S | not run: hangs: timed out |
| no program | – | – | – | S | failed: [Errno 2] No such file or directory: '/nowhere/dsbuild' |

Slower than what they are compared with:

| call | size | ms | compared with | ms | times as fast |
|---|---|---|---|---|---|
| step | 16 K | 4.000 | torch | 3.000 | 0.75 |
""")
        self.assertRegex(text, r"speed: 2 passed, 3 failed, 1 skipped, 1 timed out, 1 not run in \d+ s; .*/speed\.json\n$")

    def test_the_file_has_what_the_table_has(self):
        space = Space(self)
        code, _ = space.run([python("measures", MEASURES.format(end="")), python("passes", TESTS.format(value="True"))])
        found = space.json()
        self.assertEqual(code, 0)
        self.assertEqual((found["part"], found["machine"]["gpu"], found["commit"], found["stopped"]),
                         ("speed", "NVIDIA X", "0123456789abcdef", None))
        self.assertEqual([dict(row, seconds=0) for row in found["groups"]],
                         [{"name": "measures", "result": "passed", "why": "", "seconds": 0},
                          {"name": "passes", "tests": 4, "passed": 2, "skipped": {"needs two GPUs": 1, "no cupy": 1},
                           "result": "passed", "why": "", "seconds": 0}])
        self.assertEqual([row["size"] for row in found["behind"]], ["16 K"])
        self.assertEqual([len(found["tables"][name]["rows"]) for name in ("optimizers", "norms")], [3, 1])
        self.assertIn("== passes\ntest_one", (space.folder / "out" / "speed.log").read_text())

    def test_chosen_groups_have_files_of_their_own(self):
        space = Space(self)
        space.run([python("load first", "print(1)")], chosen=["load first"])
        self.assertEqual(sorted(path.name for path in (space.folder / "out").iterdir()), ["speed-load-first.json", "speed-load-first.log"])

    def test_a_group_is_ended_with_all_that_it_started(self):
        space = Space(self)
        space.run([python("hangs", HANGS, limit=1)])
        self.assertEqual(processes_of(f"DSBUILD_GPU_GROUP={space.folder}/speed/hangs".encode()), [])

    def test_what_was_measured_before_an_end_is_kept(self):
        space = Space(self)
        process = space.start([python("hangs", MEASURES.format(end="import time; time.sleep(600)"))])
        space.stop(process, "hangs.rows", "rms_norm_forward")
        tables = space.json()["tables"]
        self.assertEqual([(name, table["complete"], len(table["rows"])) for name, table in tables.items()],
                         [("optimizers", True, 3), ("norms", False, 1)])

    def test_a_signal_stops_the_run_and_the_table_tells_where(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            with self.subTest(number=number):
                space = Space(self)
                process = space.start([python("passes", TESTS.format(value="True")), python("hangs", HANGS), python("waits", "print(1)")])
                text, name = space.stop(process, "hangs.log", "test_slow", number), number.name
                self.assertEqual(process.returncode, code, text)
                self.assertIn(f"| hangs | – | – | – | S | stopped: by {name} |\n"
                              f"| waits | – | – | – | S | not run: stopped by {name} |\n", text)
                self.assertEqual((space.json()["stopped"], space.results()),
                                 (name, {"passes": "passed", "hangs": "stopped", "waits": "not run"}))
                self.assertEqual(processes_of(f"DSBUILD_GPU_GROUP={space.folder}/speed/hangs".encode()), [])

    def test_a_part_ends_at_its_limit(self):
        space = Space(self)
        code, text = space.run([python("hangs", HANGS), python("waits", "print(1)")], limit=1)
        self.assertEqual(code, 1)
        self.assertIn("| hangs | – | – | – | S | timed out: the 1 s of this part are over |\n"
                      "| waits | – | – | – | S | not run: the 1 s of this part are over |\n", text)

    def test_lanes_run_side_by_side_and_groups_of_one_in_turn(self):
        waits = "import os, time\nwhile not os.path.exists({0!r}): time.sleep(0.02)"
        for lanes, expected in (({}, ["timed out", "passed"]), ({"gpu": 2}, ["passed", "passed"])):
            space = Space(self)
            file = str(space.folder / "made")
            given = [python("waits", waits.format(file), limit=60 if lanes else 1), python("makes", f"open({file!r}, 'w')")]
            space.run(given, lanes=lanes)
            self.assertEqual(list(space.results().values()), expected, lanes)
        space = Space(self)
        file = str(space.folder / "made")
        code, _ = space.run([python("waits", waits.format(file)), python("makes", f"open({file!r}, 'w')", lane="cpu")])
        self.assertEqual(code, 0)


class SanitizerTest(unittest.TestCase):
    ERROR = "========= Uninitialized __global__ memory read of size 4 bytes\n=========     at void {0}<float>(T1 *)+0x90\n"

    def judged(self, code, text):
        found = outcome.outcome(code, text, is_sanitized=True)
        return found["result"], found["why"]

    def test_no_error(self):
        self.assertEqual(self.judged(0, "done\n========= ERROR SUMMARY: 0 errors\n"), ("passed", "0 errors"))
        self.assertEqual(self.judged(0, "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"),
                         ("passed", "0 errors"))

    def test_an_error_is_a_failure(self):
        self.assertEqual(self.judged(1, "========= ERROR SUMMARY: 3 errors\n"), ("failed", "3 errors, exit code 1"))

    def test_of_initcheck_only_the_kernels_of_dsbuild_count(self):
        own, other = self.ERROR.format("dsbuild::ops::norm_kernel"), self.ERROR.format("at::native::fill_kernel")
        self.assertEqual(self.judged(0, other + "========= ERROR SUMMARY: 1 error\n"), ("passed", "1 errors, all in other libraries' kernels"))
        self.assertEqual(self.judged(0, other + own + "========= ERROR SUMMARY: 2 errors\n"),
                         ("failed", "1 errors in dsbuild's kernels, the first in void dsbuild::ops::norm_kernel<float>(T1 *)"))

    def test_what_cannot_be_read_is_no_success(self):
        self.assertEqual(self.judged(0, "done\n"), ("failed", "compute-sanitizer printed no summary, exit code 0"))
        self.assertEqual(self.judged(0, "========= ERROR SUMMARY: 7 errors\n"), ("failed", "7 errors, and no kernel is named"))

    def test_a_missing_tool_is_a_skip(self):
        self.assertEqual(self.judged(77, "skipped: torch is not installed\n"), ("skipped", "torch is not installed"))
        space = Space(self)
        code, text = space.run([dict(name="memcheck", command=["no-sanitizer-here"], is_sanitized=True)])
        self.assertEqual((code, space.results()), (0, {"memcheck": "skipped"}), text)


class GroupsTest(unittest.TestCase):
    def setUp(self):
        os.environ.setdefault("DSBUILD_PROGRAM", "dsbuild")
        self.parts = {name: part(groups.Parts(pathlib.Path("/kept"))) for name, part in groups.PARTS.items()}

    def scripts(self):
        return {word for part in self.parts.values() for group in part for word in group.command if word.endswith(".py")}

    def test_every_script_is_there_and_in_a_group(self):
        used = {pathlib.Path(word) for word in self.scripts() if not word.startswith("/kept/")}
        self.assertEqual([path for path in used if not path.exists()], [])
        there = {path for pattern in ("test_*.py", "speed*.py", "sanitize_*.py") for path in HERE.glob(pattern)}
        self.assertEqual(there - used, set())

    def test_every_op_with_kernels_is_sanitized(self):
        optimizers, quantizers = {"optimizers"}, {"quantizers"}
        included = {"norm": {"rms_norm", "layer_norm"}, "include": {*optimizers, *quantizers}, "fp8_linear": {"operators"},
                    "fp_quantizer": quantizers, "quantizer": quantizers, "fused_adam": optimizers, "fused_lamb": optimizers}
        for file in (ROOT / "kernels").glob("*/*.cu*"):
            if "__global__" in file.read_text():
                self.assertLessEqual(included.get(file.parent.name, {file.parent.name}), set(groups.SANITIZED), file)

    def test_a_kernel_that_no_script_launches_is_named(self):
        every = sanitized_kernels.kernels_of_sources()
        source = "".join(file.read_text() for file in (ROOT / "kernels").glob("*/*.cu*"))
        self.assertEqual(len(every), source.count("__global__"))
        names = [f"void dsbuild::ops::(anonymous namespace)::{name}<float>(float*)" for name in every if name != "grad_q_kernel"]
        self.assertEqual(sanitized_kernels.not_launched(names), ["grad_q_kernel (evoformer_attn/attention_backward.cuh)"])
        without = [name for name in names if "::quantize_groups" not in name] + ["_ZN7dsbuild3ops13grad_q_kernelIfEEvPf"]
        self.assertEqual(sanitized_kernels.not_launched(without), ["quantize_groups (include/grouped.cuh)"])

    def test_names_are_those_of_one_group(self):
        for part in self.parts.values():
            names = [group.name for group in part]
            self.assertEqual(len(names), len(set(names)))
            self.assertLessEqual({need for group in part for need in group.needs}, set(names))

    def test_a_chosen_group_comes_with_what_it_needs(self):
        names = [group.name for group in run.chosen(self.parts["tests"], ["fused_adam"])]
        self.assertEqual(names, ["bundle", "foreign", "fused_adam"])
        with self.assertRaisesRegex(SystemExit, "no group fused; there are: bundle, "):
            run.chosen(self.parts["tests"], ["fused"])

    def test_without_a_part_the_script_says_how(self):
        done = subprocess.run([HERE / "run.sh"], capture_output=True, text=True, env={**os.environ, "PYTHON": sys.executable})
        self.assertEqual((done.returncode, done.stderr.splitlines()[0][:23]), (2, "run.sh PART [GROUP...]:"))


PAGE = """# Figures

<!-- not yet made from optimizers.json by scripts/make_gpu_figures.py -->
An older table.
<!-- end of optimizers -->

Text between.

{rest}"""
PLACES = "".join(f"<!-- not yet made from {name}.json by scripts/make_gpu_figures.py -->\nolder {name}\n<!-- end of {name} -->\n"
                 for name in figures.TABLES if name != "optimizers")
MADE = """<!-- made from optimizers.json by scripts/make_gpu_figures.py -->
One NVIDIA X (driver 1, CUDA 13.0, torch 2, Python 3, 16 cores, cuBLASLt 13.1.1), 2026-12-01, commit 0123456789ab:

| call | size | ms | GB/s | compared with | ms | times as fast |
|---|---|---|---|---|---|---|
| step | 268 M | 2.000 | 2000 | torch | 3.000 | 1.50 |
<!-- end of optimizers -->
"""


class FiguresTest(unittest.TestCase):
    """scripts/make_gpu_figures.py on a page of its own."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-figures-"))
        self.addCleanup(shutil.rmtree, self.root)
        for name in ("scripts/make_gpu_figures.py", "tests/python/figures.py"):
            (self.root / name).parent.mkdir(parents=True)
            shutil.copy(ROOT / name, self.root / name)
        self.page = self.root / "docs" / "figures" / "gpu.md"
        self.page.parent.mkdir(parents=True)
        self.page.write_text(PAGE.format(rest=PLACES))

    def script(self, *words):
        command = [sys.executable, "-B", self.root / "scripts" / "make_gpu_figures.py", *words]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def part(self, name="speed", complete=True, chosen=(), groups=()):
        """A part's file."""
        row = {"call": "step", "size": "268 M", "ms": 2.0, "peer": "torch", "peer_ms": 3.0, "ratio": 1.5, "bytes": 4e9}
        table = {"group": "optimizers", "notes": {"cuBLASLt": "13.1.1"}, "rows": [row], "complete": complete}
        machine = {"gpu": "NVIDIA X", "driver": "1", "cuda": "13.0", "torch": "2", "python": "3", "cores": 16}
        found = {"part": name, "machine": machine, "date": "2026-12-01", "commit": "0123456789abcdef", "chosen": list(chosen),
                 "stopped": None, "groups": list(groups), "tables": {"optimizers": table} if name == "speed" else {}}
        file = self.root / f"{name}.json"
        file.write_text(json.dumps(found))
        return file

    def test_a_table_takes_its_place_and_the_others_stay(self):
        self.assertEqual(self.script("--check"), (0, ""))
        self.assertEqual(self.script(self.part()), (0, ""))
        self.assertEqual(self.page.read_text(), f"# Figures\n\n{MADE}\nText between.\n\n{PLACES}")
        self.assertEqual(self.script("--check"), (0, ""))

    def test_an_edited_table_is_found(self):
        self.script(self.part())
        self.page.write_text(self.page.read_text().replace("| 1.50 |", "| 1.60 |"))
        self.assertEqual(self.script("--check"), (1, "docs/figures/gpu.md: it is not up to date: run scripts/make_gpu_figures.py\n"))
        self.assertEqual(self.script(), (0, ""))
        self.assertIn(MADE, self.page.read_text())

    def test_a_table_without_its_file_and_a_file_without_its_table_are_found(self):
        self.script(self.part())
        file = self.root / "docs" / "figures" / "gpu" / "optimizers.json"
        file.rename(file.with_name("others.json"))
        self.assertEqual(self.script("--check"), (1, "docs/figures/gpu.md: others.json is of no table\n"))
        file.with_name("others.json").unlink()
        self.assertEqual(self.script("--check")[0], 1)

    def test_a_missing_place_is_found(self):
        self.page.write_text(PAGE.format(rest=PLACES.replace("end of norms", "end of norm")))
        self.assertEqual(self.script("--check"), (1, "docs/figures/gpu.md: it has no place for norms\n"))

    def test_half_a_table_is_not_taken(self):
        before = self.page.read_text()
        self.assertEqual(self.script(self.part(complete=False)),
                         (0, "optimizers stays as it is: optimizers did not measure all of it\n"))
        self.assertEqual(self.script(self.part("tests", chosen=["norm"])), (0, "tests stays as it is: not all groups were run\n"))
        self.assertEqual(self.page.read_text(), before)

    def test_groups_of_tests_are_rows(self):
        rows = [{"name": "norm", "result": "passed", "why": "", "tests": 24, "passed": 23, "skipped": {"needs two GPUs": 1}, "seconds": 41.2},
                {"name": "optim", "result": "failed", "why": "exit code 1", "tests": 6, "passed": 5, "skipped": {}, "seconds": 9.0},
                {"name": "frameworks", "result": "skipped", "why": "torch is not installed", "seconds": 1.0}]
        self.assertEqual(self.script(self.part("tests", groups=rows)), (0, ""))
        self.assertIn("""
| norm | 23 of 24; 1 skipped: needs two GPUs | 41 |
| optim | 5 of 6; exit code 1 | 9 |
| frameworks | skipped: torch is not installed | 1 |
<!-- end of tests -->
""", self.page.read_text())

    def test_what_the_runner_wrote_is_taken(self):
        space = Space(self)
        space.run([python("measures", MEASURES.format(end="")), python("passes", TESTS.format(value="True"))])
        self.assertEqual(self.script(space.folder / "out" / "speed.json"), (0, ""))
        self.assertIn("| rms_norm_forward | 8 rows | 2.000 | 2000 | 0.50 | – | – | – |\n<!-- end of norms -->", self.page.read_text())

    def test_the_page_of_this_checkout_is_as_its_files_say(self):
        command = [sys.executable, "-B", ROOT / "scripts" / "make_gpu_figures.py", "--check"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
