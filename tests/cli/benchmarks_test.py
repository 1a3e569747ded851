#!/usr/bin/env python3
"""What benchmarks compare dsbuild with runs without dsbuild and without a cache; what they call cold has an empty store."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, TestSpace  # noqa: E402
import testspace  # noqa: E402

SCRIPTS = REPOSITORY / "scripts"
sys.path.insert(0, str(SCRIPTS))
import bench_deepspeed  # noqa: E402
import bench_packages  # noqa: E402
import packages_of_field  # noqa: E402
import plain_peer  # noqa: E402
from programs import Program  # noqa: E402

# Every other one compares dsbuild with a peer.
WITHOUT_PEER = {
    "bench_async_io.py": "an op against Python's own calls: nothing is built",
    "bench_estimate.py": "what dsbuild tells of itself, and what it then takes",
    "bench_execution.py": "a server that sleeps instead of compiling, and this client alone",
    "bench_execution_jobs.py": "dsbuild elsewhere and here",
    "bench_memory.py": "dsbuild with a bound and without",
    "bench_native_ops.py": "what ops cost by dsbuild",
    "bench_null.py": "dsbuild, and a Ninja that has nothing to do",
    "bench_plan.py": "dsbuild alone",
    "bench_tool_cpu.py": "the tools of one build by dsbuild",
    "bench_waiting.py": "dsbuild alone",
}

# A dsbuild that makes nothing but a note of each start: the entries of its store, and the variables that it was given.
STAND_IN = """#!/usr/bin/env python3
import json, os, pathlib, shutil, sys
here, words = pathlib.Path(__file__).resolve().parent, sys.argv[1:]
def value(name, default=None):
    return pathlib.Path(words[words.index(name) + 1]) if name in words else default
if "plan" in words:
    print(f"#   ln -sfn {here} pack\\n" + (here / "graph").read_text(), end="")
    sys.exit(0)
store = value("--cache-dir", pathlib.Path(os.environ.get("XDG_CACHE_HOME", here / "of_user")) / "dsbuild" / "store")
entries = len(list(store.iterdir())) if store.is_dir() else 0
own = sorted({name for name in os.environ if name.startswith("DSBUILD")} - {"DSBUILD_NINJA", "DSBUILD_CACHE_SIZE"})
with open(here / "log", "a") as log:
    print(json.dumps({"entries": entries, "variables": own, "size": os.environ.get("DSBUILD_CACHE_SIZE"), "words": words}), file=log)
store.mkdir(parents=True, exist_ok=True)
(store / str(entries)).write_text("")
value("--out").mkdir(parents=True, exist_ok=True)
(value("--out") / "a.so").write_text("a")
print("1 op built, 3 edges run")
"""
RULES = "rule run\n  command = $command\n"
PLAIN = RULES + "build obj/b.o: run\n  command = cp pack/graph obj/b.o\nbuild lib/a.so: run obj/b.o\n  command = cp obj/b.o lib/a.so\n"
WRAPPED = PLAIN.replace("cp obj/b.o", "'{program}' action run - lib/a.so -- cp obj/b.o")
SETUP = """import json, os, pathlib, sys
libraries, temporary = (pathlib.Path(sys.argv[sys.argv.index(name) + 1]) for name in ("--build-lib", "--build-temp"))
for folder in (libraries, temporary):
    folder.mkdir(parents=True, exist_ok=True)
(libraries / "a.so").write_text("a")
pathlib.Path({log!r}).write_text(json.dumps(sorted(os.environ)))
(temporary / "build.ninja").write_text({graph!r})
"""


class StandInTest(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-test-")).resolve()
        self.addCleanup(shutil.rmtree, self.work)
        self.program = self.work / "bin" / "dsbuild"
        self.program.parent.mkdir()
        self.program.write_text(STAND_IN)
        self.program.chmod(0o755)
        self.graph(PLAIN)
        self.source = self.work / "deepspeed"
        for file, text in {"version.txt": "1.2.3\n", "a.cu": "", "a.h": "", "setup.py": self.setup_script()}.items():
            (self.source / file).parent.mkdir(exist_ok=True)
            (self.source / file).write_text(text)

    def setup_script(self, graph=PLAIN):
        return SETUP.format(log=str(self.work / "setup.json"), graph=graph)

    def graph(self, text):
        (self.program.parent / "graph").write_text(text)

    def starts(self):
        log = self.program.parent / "log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def run_script(self, name, *words, **variables):
        plain = {name: value for name, value in os.environ.items() if name not in plain_peer.COMPILER_VARIABLES}
        environment = {**plain, "XDG_CACHE_HOME": str(self.work / "of_user"), **variables}
        ninja = testspace.base_environment("", "").get("DSBUILD_NINJA")
        return subprocess.run([sys.executable, "-B", SCRIPTS / name, *map(str, words)], capture_output=True, text=True, check=False,
                              env={**environment, **({"DSBUILD_NINJA": ninja} if ninja else {})})

    def deepspeed(self, *parts, **variables):
        return self.run_script("bench_deepspeed.py", self.source, *parts, "--dsbuild", self.program, "--python", sys.executable,
                               "--ninja", os.environ.get("DSBUILD_NINJA", "ninja"), "--work", self.work / "work", "--ops", "fused_adam",
                               "--edit", "a.cu", "--header", "a.h", **variables)

    def slices(self, *words, **variables):
        return self.run_script("bench_slices.py", "--rounds", "2", "--ops", "fused_adam", "--dsbuild", self.program, *words, **variables)

    def one_file(self):
        return self.run_script("bench_one_file.py", "--rounds", "1", "--file", "fused_adam/fused_adam.cu", "--dsbuild", self.program)

    def assert_refused(self, run, *words):
        self.assertNotEqual(run.returncode, 0, run.stdout)
        for word in ("not measured", *words):
            self.assertIn(word, run.stderr)

    def assert_good(self, run):
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return bench_deepspeed.read_rows(run.stdout)


class PeerTest(StandInTest):
    def test_no_script_measures_a_graph_whose_commands_dsbuild_runs(self):
        self.graph(WRAPPED.format(program=self.program))
        for run in (self.deepspeed("plain"), self.slices(), self.one_file()):
            self.assert_refused(run, "action of dsbuild", f"{self.program}' action run - lib/a.so")
        self.assertEqual([start for start in self.starts() if start["entries"]], [])

    def test_deepspeeds_plain_graph_is_run_by_ninja_alone(self):
        rows = self.assert_good(self.deepspeed("plain"))
        self.assertEqual([(row["edges"], row["libraries"]) for row in rows], [("2", "1, 0.0 MB")])
        self.assertEqual(self.starts(), [])

    def test_a_compiler_that_is_a_cache_is_no_peer(self):
        folder = self.work / "masquerade"
        folder.mkdir()
        (folder / "ccache").write_text("#!/bin/sh\n")
        (folder / "ccache").chmod(0o755)
        (folder / "g++").symlink_to("ccache")
        path = f"{folder}:{os.environ['PATH']}"
        self.assert_refused(self.deepspeed("ninja", PATH=path), "g++", "ccache")
        self.assert_refused(self.deepspeed("default", CXX=f"{folder}/ccache g++"), "CXX", "ccache")
        self.assertEqual(plain_peer.command_refusal(f"{folder}/g++ -c a.cpp"), f"it runs {folder}/ccache")
        self.assert_refused(self.run_script("bench_extensions.py", self.make_sdist(), "--ways", "own", "--states", "cold", PATH=path),
                            "g++", "ccache")

    def test_a_script_that_starts_a_cache_is_no_peer(self):
        compiler = self.work / "g++"
        compiler.touch(mode=0o755)
        for text, refused in (('exec "/opt/ccache" g++ "$@"', True), ("# no ccache\nexec g++ $@", False)):
            compiler.write_text(f"#!/bin/sh\n{text}\n")
            self.assertEqual(bool(plain_peer.command_refusal(f"{compiler} -c a.cpp")), refused, text)

    def make_sdist(self):
        (self.work / "a-1").mkdir()
        with tarfile.open(self.work / "a-1.tar.gz", "w:gz") as archive:
            archive.add(self.work / "a-1", "a-1")
        return self.work / "a-1.tar.gz"

    def test_a_hook_of_the_callers_is_no_part_of_deepspeeds_build(self):
        self.assert_good(self.deepspeed("ninja", DSBUILD="1", DSBUILD_CACHE_DIR="/x"))
        given = json.loads((self.work / "setup.json").read_text())
        self.assertIn("DS_BUILD_FUSED_ADAM", given)
        self.assertEqual([name for name in given if name.startswith("DSBUILD") and name != "DSBUILD_NINJA"], [])

    def test_a_graph_that_deepspeeds_build_wrote_with_dsbuild_in_it_is_refused(self):
        (self.source / "setup.py").write_text(self.setup_script(WRAPPED.format(program=self.program)))
        self.assert_refused(self.deepspeed("ninja"), "action of dsbuild")

    def test_what_each_benchmark_is_compared_with_is_known(self):
        for script in sorted(SCRIPTS.glob("bench_*.py")):
            uses = re.search(r"^(import plain_peer|from plain_peer import .*PlainGraph)", script.read_text(), re.MULTILINE)
            self.assertEqual(bool(uses), script.name not in WITHOUT_PEER, script.name)


class ColdTest(StandInTest):
    def fill_stores(self):
        for folder in (self.work / "work" / "cache", self.work / "of_user"):
            (folder / "dsbuild" / "store").mkdir(parents=True)
            (folder / "dsbuild" / "store" / "old").write_text("")

    def test_deepspeeds_ops_are_built_cold_each_time(self):
        self.fill_stores()
        for _ in range(2):
            self.assert_good(self.deepspeed("dsbuild", "again", DSBUILD_CACHE_DIR=str(self.work / "of_user")))
        self.assertEqual([start["entries"] for start in self.starts()], [0, 1, 2, 3] * 2)
        self.assertEqual({str(start["variables"]) for start in self.starts()}, {"[]"})

    def test_changes_of_all_kinds_begin_with_an_empty_store_in_each_round(self):
        self.fill_stores()
        run = self.slices("--whole", DSBUILD_CACHE_DIR=str(self.work / "of_user"))
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        of_slices = [start["entries"] for start in self.starts() if "slices" in start["words"]]
        states = len(of_slices) // 2  # of a round; one more start is the warm-up
        self.assertEqual(of_slices, [0, *range(states), *range(states)])
        self.assertTrue(all("--cache-size" in start["words"] for start in self.starts() if "nvcc" in start["words"]))
        self.assertEqual({str(start["variables"]) for start in self.starts()}, {"[]"})
        self.assertIn("| cold | ", run.stdout)
        self.assertIn("plain nvcc: wall, cores, edges", run.stdout)

    def test_one_file_is_built_without_the_store(self):
        self.graph(PLAIN.replace("obj/b.o", "obj/fused_adam.o"))
        self.one_file()  # plain, then by the stand-in, which writes no log of Ninja's
        self.assertEqual([start["size"] for start in self.starts()], ["0"])

    def test_a_program_has_no_store_but_its_own(self):
        with unittest.mock.patch.dict(os.environ, DSBUILD_CACHE_DIR="/x", DSBUILD="1", DSBUILD_NINJA="/n"):
            environment = Program("a", self.program, self.work / "own").environment()
        self.assertEqual(environment["XDG_CACHE_HOME"], str(self.work / "own"))
        self.assertEqual([name for name in environment if name.startswith("DSBUILD")], ["DSBUILD_NINJA"])


class CommandTest(unittest.TestCase):
    def test_words_that_start_dsbuild_or_a_cache(self):
        for command in ("dsbuild action run t o -- g++ -c a.cpp", "'/a b/dsbuild' nvcc -c a.cu", "'/a b/other' action slice t o s -- a.cu",
                        "cd x && ccache g++ -c a.cpp", "CXX=1 sccache nvcc a.cu", "env dsbuild nvcc a.cu", "nvcc -ccbin=/x/dsbuild a.cu",
                        "nvcc -ccbin /x/ccache a.cu"):
            self.assertNotEqual(plain_peer.command_refusal(command), "", command)

    def test_words_that_only_name_it(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/dsbuild")
            for command in (f"g++ -isystem {folder}/dsbuild -c a.cpp", "g++ -I/home/u/dsbuild -DNAME=dsbuild -c a.cpp",
                            "g++ -isystem /home/u/.cache/dsbuild/tvm_ffi -c a.cpp", "printf '%s\\n' '#include <action run>' > a.h"):
                self.assertEqual(plain_peer.command_refusal(command), "", command)

    def test_dsbuilds_own_graph_is_refused_and_what_it_plans_of_plain_commands_is_not(self):
        space = TestSpace(steps=True)
        ninja = space.environment.get("DSBUILD_NINJA", "ninja")
        for backend in ("nvcc", "slices"):
            self.assertEqual(space.build("--backend", backend).code, 0)
            commands = plain_peer.graph_commands(space.build_dir, ninja)
            with self.assertRaises(plain_peer.NotPlain) as refused:
                plain_peer.check_commands(commands, space.build_dir)
            self.assertIn("action of dsbuild", str(refused.exception))
        graph = plain_peer.PlainGraph(space.root / "plain", ninja)
        graph.write(space.program, space.arguments(), space.environment)
        outputs = re.findall(r"^build (\S+): compile", (graph.folder / "build.ninja").read_text(), re.MULTILINE)
        self.assertEqual(outputs, sorted(outputs))
        environment = {**space.environment, "PATH": f"{space.toolkit.home}/bin:{space.environment['PATH']}"}
        run = subprocess.run(graph.command(2), env=environment, capture_output=True, text=True, check=True)
        self.assertEqual(plain_peer.edges_run(run.stdout), len(plain_peer.graph_commands(graph.folder, ninja)))
        libraries = {file.name: file.read_bytes() for file in space.out.glob("*.so")}
        self.assertEqual({file.name: file.read_bytes() for file in graph.folder.glob("lib/*.so")}, libraries)


class PackagesTableTest(unittest.TestCase):
    def measured(self, times, tests, images="a"):
        found = bench_packages.Measured()
        found.times, found.loads, found.tests = times, "yes", tests
        found.images = {"module": [bench_packages.bench_extensions.Image("sm_90.cubin", images, "code")]}
        return found

    def test_a_row_is_made_of_medians(self):
        own = self.measured([(10, 20), (30, 40), (12, 21)], {"a": "passed", "b": "skipped"})
        build = self.measured([(6, 21), (5, 10), (7, 42)], {"a": "passed", "b": "skipped"})
        row = bench_packages.row_of("torchlpc", {"own": own, "build": build})
        self.assertEqual(row, "| torchlpc 0.7.2 | 12.0 s, 21.0 s | 0.50, 1.00 |  |  | all | yes | 1 passed, 1 skipped |")

    def test_a_row_names_what_is_not_as_own_s(self):
        own, build, wrap = (self.measured([(10, 20)], {"a": "passed"}, images) for images in "aab")
        hook = self.measured([(10, 20)], {"a": "failed"})
        wrap.loads = "ImportError"
        row = bench_packages.row_of("torchlpc", {"own": own, "build": build, "hook": hook, "wrap": wrap})
        self.assertIn("| `dsbuild build`: all; hook: all; wrap: 0 of 1 equal, of 1 more the machine code, the same archs |", row)
        self.assertIn("| own: yes; `dsbuild build`: yes; hook: yes; wrap: ImportError |", row)
        self.assertIn("hook: 1 failed; OTHERS THAN OWN'S: a; wrap: 1 passed |", row)

    def test_what_fails_has_no_figures(self):
        own, hook = self.measured([(10, 20)], None), self.measured([], None)
        hook.failed = "no"
        self.assertEqual(bench_packages.row_of("torchsort", {"own": own, "hook": hook}),
                         "| torchsort 0.1.10 | 10.0 s, 20.0 s |  | failed |  |  | yes |  |")

    def test_the_outcomes_of_pytest(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "outcomes.xml"
            file.write_text("""<testsuites><testsuite><testcase classname="t" name="a"/><testcase classname="t" name="b"><skipped/>
                </testcase><testcase classname="t" name="c"><failure/></testcase><testcase classname="t" name="d"><error/></testcase>
                </testsuite></testsuites>""")
            self.assertEqual(packages_of_field.read_outcomes(file),
                             {"t.a": "passed", "t.b": "skipped", "t.c": "failed", "t.d": "failed"})

    def test_without_its_sdists_it_says_so_and_asks_no_index(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "cuobjdump").write_text("#!/bin/sh\n")
            (pathlib.Path(folder) / "cuobjdump").chmod(0o755)
            run = subprocess.run([sys.executable, "-B", SCRIPTS / "bench_packages.py", folder, "--only", "torchlpc"], check=False,
                                 env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}, capture_output=True, text=True)
            self.assertIn(f"torchlpc: {folder} has no torchlpc-0.7.2.tar.gz (--fetch)", run.stderr)


class FiguresTest(unittest.TestCase):
    ROWS = [("dsbuild, cold", "40.0 s", "400.0 s"), ("dsbuild, nothing to do", "0.2 s", "0.1 s"),
            ("dsbuild, multi_tensor_adam.cu edited", "20.0 s", "30.0 s"), ("plain nvcc --threads=8, one Ninja graph, -j16", "36.0 s", "410.0 s"),
            ("DeepSpeed with Ninja, all ops", "100.0 s", "500.0 s"), ("DeepSpeed as it is", "400.0 s", "600.0 s")]

    def table(self, rows):
        lines = ["| " + " | ".join(bench_deepspeed.COLUMNS) + " |", "|---|---|---|---|---|---|"]
        return "\n".join(lines + [f"| {name} | {wall} | {cpu} | 1 GB | 6 | 6, 13.5 MB |" for name, wall, cpu in rows]) + "\n"

    def test_readme_says_what_plain_nvcc_takes_also_where_it_is_faster(self):
        text = bench_deepspeed.render_readme("text\n\n" + self.table(self.ROWS) + "\n" + self.table([("dsbuild, cold", "1.0 s", "1.0 s")]))
        self.assertIn("| build | wall | times as long | CPU | libraries |\n", text)
        self.assertIn("| dsbuild | 40 s | 1 | 400 s | 13.5 MB |\n", text)
        self.assertIn("| plain nvcc, one Ninja graph | 36 s | 0.9 | 410 s | 13.5 MB |\n", text)
        self.assertIn("| nothing to do | 0 s | | 0 s | |\n", text)

    def test_a_row_that_is_missing_is_said(self):
        with self.assertRaises(SystemExit) as missing:
            bench_deepspeed.render_readme(self.table(self.ROWS[1:]))
        self.assertEqual(str(missing.exception), "no row of: dsbuild, cold")

    def test_cpu_seconds_are_those_of_children_and_theirs(self):
        before = plain_peer.cpu_seconds()
        subprocess.run(["sh", "-c", f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.3: pass'; true"], check=True)
        self.assertGreaterEqual(plain_peer.cpu_seconds() - before, 0.3)


if __name__ == "__main__":
    testspace.main()
