#!/usr/bin/env python3
"""record: what a program loads is written down, and a build of exactly that leaves nothing to compile at its next start. The
tools and the GPUs are made up."""

import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, testspace  # noqa: E402
from packs import make_pack  # noqa: E402
from python_test import BEGIN, python_space  # noqa: E402

COMMENT = "# The ops that a program loaded (`dsbuild record`). To build exactly these: dsbuild --ops @FILE\n"


class RecordTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = python_space(store=True)

    def setUp(self):
        self.file = self.space.root / "workload.yaml"
        self.file.unlink(missing_ok=True)

    def record(self, *command, options=(), **more):
        return self.space.run("record", *options, "--", *map(str, command), **more)

    def load(self, op, gpu="90", pack=None):
        """A command that loads an op."""
        return [self.space.program, "load", op, "--pack", str(pack or self.space.pack.folder), "--gpu", gpu]

    def shell(self, *commands):
        return ["sh", "-c", "; ".join(" ".join(words) if isinstance(words, list) else words for words in commands)]

    def workload(self, **packs):
        """The text of a file; `pack` is the space's own."""
        text = COMMENT + "packs:\n"
        for pack, ops in packs.items():
            folder = self.space.pack.folder if pack == "pack" else self.space.root / pack
            text += f'  "{folder}":\n' + "".join(f"    {op}: [{archs}]\n" for op, archs in ops.items())
        return text

    def build(self, *words, **more):
        cores = ["-j", "2"] if "-j" in testspace.used_options(self.space.program, *words) else []
        return self.space.run("--ops", "@workload.yaml", "--out", str(self.space.out), "--build-dir", str(self.space.build_dir),
                              *cores, *words, **more)

    def archs_built(self):
        return {op["name"]: op["archs"] for op in json.loads((self.space.out / "manifest.json").read_text())["ops"]}


class NextStartTest(RecordTest):
    PROGRAM = [sys.executable, "-B", "-c", BEGIN + """
for op in ("beta", "gamma", "host"): dsbuild.load(op, pack)
counts = dsbuild.stats()
show([counts.loaded, counts.prebuilt, counts.compiles])
"""]

    def start(self, **env):
        """The program's own counts, and the files whose compilation was started."""
        self.space.toolkit.forget_starts()
        run = subprocess.run(self.PROGRAM, cwd=self.space.root, env={**self.space.environment, **env}, capture_output=True, text=True,
                             timeout=testspace.TIME_LIMIT)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout), self.space.compiled()

    def test_results_of_slices_spare_the_compiles_too(self):
        self.space = python_space(store=True, steps=True)
        self.assertEqual(self.record(*self.PROGRAM).code, 0)
        counts, _ = self.start()
        self.assertEqual(counts, [3, 0, 0])
        for folder in ("jit", "store"):
            shutil.rmtree(self.space.cache_folder() / folder)
        self.assertEqual(self.build().code, 0)
        self.assertEqual(self.start(), ([3, 0, 0], []))
        shutil.rmtree(self.space.cache_folder() / "jit")
        self.assertEqual(self.start(), ([3, 0, 0], []))

    def test_a_build_of_what_was_recorded_leaves_nothing_to_compile(self):
        run = self.record(*self.PROGRAM)
        self.assertEqual(run.code, 0, run)
        loaded, prebuilt, compiles = json.loads(run.out)
        self.assertEqual((loaded, prebuilt), (3, 0))
        self.assertGreater(compiles, 0)
        self.assertTrue(run.err.endswith("dsbuild: 3 ops noted in workload.yaml\nnext: dsbuild --ops @workload.yaml\n"), run)
        self.assertEqual(self.file.read_text(), self.workload(pack={"beta": '"9.0+PTX"', "gamma": '"9.0+PTX"', "host": ""}))

        shutil.rmtree(self.space.cache_folder())
        counts, compiled = self.start()
        self.assertGreater(counts[2], 0, "nothing of the first run is left")
        self.assertNotEqual(compiled, [])

        shutil.rmtree(self.space.cache_folder())
        self.assertEqual(self.build().code, 0)
        self.assertEqual(self.archs_built(), {"beta": ["9.0+PTX"], "gamma": ["9.0+PTX"], "host": []})
        self.assertFalse((self.space.cache_folder() / "jit").exists())
        self.assertEqual(self.start(DSBUILD_BUNDLE=str(self.space.out)), ([3, 3, 0], []))
        self.assertFalse((self.space.cache_folder() / "jit").exists())
        self.assertEqual(self.start(), ([3, 0, 0], []), "without the bundle, from the cache of results")

    def test_a_prebuilt_op_is_recorded_for_the_archs_of_this_machine(self):
        self.assertEqual(self.space.build("--arch", "8.0", "--ops", "gamma").code, 0)
        run = self.record(*self.load("gamma", "86"), env={"DSBUILD_BUNDLE": str(self.space.out)})
        self.assertEqual((run.code, run.out), (0, f"{self.space.out}/gamma.so\n"), run)
        self.assertEqual(self.file.read_text(), self.workload(pack={"gamma": '"8.6+PTX"'}))

    def test_the_archs_that_a_variable_asks_for(self):
        self.record(*self.load("gamma", "90"), env={"TORCH_CUDA_ARCH_LIST": "8.0 9.0"})
        self.assertEqual(self.file.read_text(), self.workload(pack={"gamma": '"8.0", "9.0+PTX"'}))

    def test_each_op_is_built_for_its_own_archs(self):
        self.file.write_text(self.workload(pack={"beta": '"8.0+PTX"', "gamma": '"9.0"'}))
        self.assertEqual(self.build().code, 0)
        self.assertEqual(self.archs_built(), {"beta": ["8.0+PTX"], "gamma": ["9.0"]})
        explained = self.build("explain", "gamma")
        self.assertRegex(explained.out, r"(?m)^9\.0")
        self.assertNotRegex(explained.out, r"(?m)^8\.0")
        self.assertEqual(self.build("--arch", "8.0;9.0+PTX").code, 0)
        self.assertEqual(self.archs_built(), {"beta": ["8.0", "9.0+PTX"], "gamma": ["8.0", "9.0+PTX"]})
        self.assertEqual(self.build(env={"TORCH_CUDA_ARCH_LIST": "9.0"}).code, 0)
        self.assertEqual(self.archs_built(), {"beta": ["9.0"], "gamma": ["9.0"]})

    def test_a_changed_workload_is_a_new_build(self):
        for archs in ("8.0", "9.0"):
            self.file.write_text(self.workload(pack={"beta": '"8.0", "9.0"', "gamma": f'"{archs}"'}))
            self.assertEqual(self.build().code, 0)
            self.assertEqual(self.archs_built()["gamma"], [archs])

    def test_a_config_file_names_it_too(self):
        self.file.write_text(self.workload(pack={"gamma": '"8.0"'}))
        (self.space.root / "config.yaml").write_text('ops: "@workload.yaml"\narch: 9.0\n')
        run = self.space.run("--config", "config.yaml", "--out", str(self.space.out), "--build-dir", str(self.space.build_dir))
        self.assertEqual(run.code, 0, run)
        self.assertEqual(self.archs_built(), {"gamma": ["8.0"]})


class CommandTest(RecordTest):
    def test_the_command_has_its_own_streams_words_and_exit_code(self):
        run = subprocess.run([self.space.program, "record", "--", "sh", "-c", 'cat; echo "$@" >&2; exit 7', "sh", "--json", "[a,b]", "-j", "",
                              "--", "record"], cwd=self.space.root, env=self.space.environment, input="text\n", capture_output=True, text=True,
                             check=False)
        self.assertEqual((run.returncode, run.stdout), (7, "text\n"))
        self.assertEqual(run.stderr, "--json [a,b] -j  -- record\ndsbuild: the command loaded no op through dsbuild: no workload is written\n")
        self.assertFalse(self.file.exists())

    def test_what_a_failing_command_loaded_is_written(self):
        for ending, code in (("exit 3", 3), ("kill -TERM $$", 143), ("kill -KILL $$", 137)):
            with self.subTest(ending):
                self.file.unlink(missing_ok=True)
                self.assertEqual(self.record(*self.shell(self.load("gamma"), ending)).code, code)
                self.assertEqual(self.file.read_text(), self.workload(pack={"gamma": '"9.0+PTX"'}))

    def test_processes_that_load_at_once(self):
        loads = [" ".join(self.load(op, gpu)) + " &" for op in ("gamma", "host") for gpu in ("80", "90") for _ in range(3)]
        run = self.record("sh", "-c", " ".join([*loads, "wait"]))
        self.assertEqual(run.code, 0, run)
        self.assertEqual(self.file.read_text(), self.workload(pack={"gamma": '"8.0+PTX", "9.0+PTX"', "host": ""}))

    def test_append(self):
        self.record(*self.load("gamma", "80"))
        self.record(*self.load("host"), options=["--append"])
        self.record(*self.load("gamma"), options=["--append"])
        self.assertEqual(self.file.read_text(), self.workload(pack={"gamma": '"8.0+PTX", "9.0+PTX"', "host": ""}))
        self.record(*self.load("host"))
        self.assertEqual(self.file.read_text(), self.workload(pack={"host": ""}))
        self.file.write_text("damaged")
        run = self.record("touch", "started", options=["--append"])
        self.assertEqual(run.code, 2)
        self.assertFalse((self.space.root / "started").exists(), "a mistake shows before the command runs")

    def test_packs_are_built_one_at_a_time(self):
        other = make_pack(self.space.root / "other").folder
        run = self.record(*self.shell(self.load("gamma"), self.load("host", pack=other), self.load("gamma", "80", pack="other")))
        self.assertEqual(self.file.read_text(), self.workload(other={"gamma": '"8.0+PTX"', "host": ""}, pack={"gamma": '"9.0+PTX"'}))
        self.assertIn(f"next: dsbuild --pack {other} --ops @workload.yaml --out dsbuild-out-other\n", run.err)
        without = ("--arch", "--ops", "--pack")
        self.check("record_several_packs", self.space, "plan", "--ops", "@workload.yaml", code=2, without=without)
        self.check("record_no_such_pack", self.space, "plan", "--ops", "@workload.yaml", "--pack", "native", code=2, without=without)
        for pack, archs in (("other", {"gamma": ["8.0+PTX"], "host": []}), (str(self.space.pack.folder), {"gamma": ["9.0+PTX"]})):
            self.assertEqual(self.build("--pack", pack).code, 0)
            self.assertEqual(self.archs_built(), archs)

    def test_json(self):
        run = self.record(*self.load("gamma"), options=["--json", "--workload", "w.yaml"])
        document = json.loads(run.out.splitlines()[-1])
        self.assertEqual((document["schema"], document["workload"], document["exit_code"], document["warnings"]), (1, "w.yaml", 0, []))
        self.assertEqual(document["packs"], {str(self.space.pack.folder): {"gamma": ["9.0+PTX"]}})
        self.assertEqual(run.err, "")
        nothing = json.loads(self.record("false", options=["--json"]).out)
        self.assertEqual((nothing["workload"], nothing["packs"], nothing["exit_code"]), (None, {}, 1))

    def test_notes_lie_where_nobody_else_can_enter_and_go_away(self):
        self.space.environment["TMPDIR"] = str(self.space.root)
        mode, folder = self.record("sh", "-c", "stat -c %a $DSBUILD_RECORD; echo $DSBUILD_RECORD").out.split()
        del self.space.environment["TMPDIR"]
        self.assertEqual((mode, pathlib.Path(folder).parent), ("700", self.space.root))
        self.assertFalse(os.path.exists(folder))

    def test_a_signal_for_record_alone_reaches_the_command(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number):
                with self.space.start("record", "--", "sh", "-c", "trap 'exit 9' TERM INT HUP; echo ready; while :; do sleep 0.05; done") as run:
                    run.stdout.readline()
                    os.kill(run.pid, number)
                    run.communicate(timeout=30)
                self.assertEqual(run.returncode, 9)
                self.assertEqual(testspace.processes_in(self.space.root), [])

    def test_ctrl_c_reaches_the_command_once_and_what_was_loaded_is_written(self):
        caught = ("import signal, sys, time; seen = []; signal.signal(signal.SIGINT, lambda *_: seen.append(1)); print('ready', flush=True)\n"
                  "while not seen: time.sleep(0.01)\n"
                  "time.sleep(0.3); print(f'caught {len(seen)}'); sys.exit(5)")
        script = " ".join(self.load("gamma")) + f'; exec {sys.executable} -c "$0"'
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.space.root)
            os.execve(self.space.program, [self.space.program, "record", "--", "sh", "-c", script, caught], self.space.environment)
        text = b""
        while b"ready" not in text:
            text += os.read(terminal, 4096)
        os.write(terminal, b"\x03")
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # EIO: the other side is closed
                break
            text += piece
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5, text)
        os.close(terminal)
        self.assertIn(b"caught 1", text)
        self.assertEqual(self.file.read_text(), self.workload(pack={"gamma": '"9.0+PTX"'}))

    def test_the_command_ignores_and_blocks_what_the_caller_does(self):
        program = "import signal, os, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
        run = subprocess.run([sys.executable, "-c", program, self.space.program, "record", "--", "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"],
                             capture_output=True, text=True, cwd=self.space.root, env=self.space.environment, check=True)
        blocked, ignored = (int(line.split()[1], 16) for line in run.stdout.splitlines())
        self.assertEqual(blocked, 0)
        self.assertEqual([ignored >> number - 1 & 1 for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE)], [1, 0, 0])


class MessageTest(RecordTest):
    def test_refusals_of_record(self):
        (self.space.root / "folder").mkdir(exist_ok=True)
        for name, words, code in (("record_nothing", ["record"], 2),
                                  ("record_no_marker", ["record", "python3", "serve.py"], 2),
                                  ("record_cannot_start", ["record", "--", "no-such-program"], 3),
                                  ("record_folder", ["record", "--workload", "folder", "--", "true"], 2),
                                  ("record_no_folder", ["record", "--workload", "absent/w.yaml", "--", "true"], 2)):
            with self.subTest(name):
                self.expect(name, self.space, self.space.run(*words), code, words)

    def test_what_cannot_be_written_is_shown(self):
        (self.space.root / "gone").mkdir()
        run = self.record(*self.shell(self.load("gamma"), "rmdir gone"), options=["--workload", "gone/w.yaml"])
        self.assertEqual(run.code, 1)
        self.assertIn("error[io]: gone/w.yaml: writing: No such file or directory\n  fix: This is what was to be written:\n", run.err)
        self.assertIn('gamma: ["9.0+PTX"]', run.err)

    def test_wrong_workloads(self):
        pack = f'packs:\n  "{self.space.pack.folder}":\n'
        for name, text in (("absent", None), ("no_yaml", "packs: [\n"), ("no_map", "- gamma\n"), ("other_key", pack + "    gamma: []\nops: all\n"),
                           ("no_pack", "packs: {}\n"), ("no_op", pack), ("no_list", pack + "    gamma: 9.0\n"),
                           ("unknown_arch", pack + '    gamma: ["9.0+PTX", "9.x"]\n'), ("arch_in_words", pack + "    gamma: [native]\n"),
                           ("unknown_op", pack + "    gama: []\n"), ("no_arch_left", pack + '    gamma: ["5.0"]\n')):
            with self.subTest(name):
                file = self.space.root / f"{name}.yaml"
                if text is not None:
                    file.write_text(text)
                code = 3 if name == "no_arch_left" else 2
                self.check("workload_" + name, self.space, "plan", "--ops", f"@{name}.yaml", code=code, without=("--arch", "--ops", "--pack"))

    def test_an_op_that_cannot_be_noted_is_loaded_all_the_same(self):
        words = self.load("host")[1:]
        for folder in ("absent", "file"):
            (self.space.root / "file").touch()
            run = self.space.run(*words, env={"DSBUILD_RECORD": folder})
            self.assertEqual((run.code, run.out.count("\n")), (0, 1), run)
            self.assertRegex(run.err, rf"\Adsbuild: DSBUILD_RECORD: host is not noted: {folder}/\w+\.yaml: .*\n\Z")

    def test_behind_the_marker_completion_offers_files(self):
        self.assertEqual(self.space.run("complete", "dsbuild record -- python3 --j").out, ":files\n")
        self.assertEqual(self.space.run("complete", "dsbuild record --wo").out, "--workload\tThe file [workload.yaml]\n")


if __name__ == "__main__":
    testspace.main(each_commit=14)
