#!/usr/bin/env python3
"""The Python package with made-up tools: what it asks the program, and that it leaves its process alone. Real ops are loaded
in python_ops_test.py."""

import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402
from fake_driver import make_fake_driver  # noqa: E402

# What a test's program begins with. The made-up tools make libraries that nobody can open: `load` gives what it would open.
BEGIN = """
import json, os, signal, sys, threading
import dsbuild
from dsbuild import _loader
_loader.open_op = lambda answer: type("Module", (), {"answer": answer})()
pack = os.environ["PACK"]
def show(value): print(json.dumps(value))
"""


def python_space(**settings):
    space = TestSpace(**settings)
    space.environment.update(make_fake_driver(space.root / "driver"), FAKE_GPUS="90", PACK=str(space.pack.folder),
                             CUDA_HOME=str(space.toolkit.home), PYTHONPATH=str(REPOSITORY / "python"),
                             DSBUILD_PROGRAM=space.program)
    return space


class PythonTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = python_space()
        cls.log = pathlib.Path(cls.space.environment["FAKE_LOG"])

    def python(self, code, env=None, words=None, space=None):
        space = space or self.space
        return subprocess.run([sys.executable, "-B", *(words or ("-c", BEGIN + code))], cwd=space.root,
                              env={**space.environment, **(env or {})}, capture_output=True, text=True, timeout=testspace.TIME_LIMIT)

    def answers(self, code, **options):
        run = self.python(code, **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def test_an_op_is_built_and_nothing_of_the_process_changes(self):
        before, after, answer, counts = self.answers("""
def state():
    return [dict(os.environ), os.getcwd(), sorted(os.listdir("/proc/self/fd")), threading.active_count(), os.umask(0o22),
            [str(signal.getsignal(number)) for number in range(1, 32)], sorted(map(str, signal.pthread_sigmask(signal.SIG_BLOCK, [])))]
show(state())
module = dsbuild.load("gamma", pack)
show(state())
show(module.answer)
show(dsbuild.stats().__dict__)
""")
        self.assertEqual(before, after)
        self.assertEqual((answer["op"], answer["archs"], answer["from"]), ("gamma", ["9.0+PTX"], "built"))
        self.assertEqual((counts["loaded"], counts["prebuilt"]), (1, 0))

    def test_a_second_call_gives_the_same_object_and_looks_at_nothing(self):
        self.assertEqual(self.answers("""
module = dsbuild.load("gamma", pack)
calls = []
sys.addaudithook(lambda name, arguments: calls.append(name))
again = dsbuild.load("gamma", pack)
in_one_word = dsbuild.load(pack + "/gamma")
seen = list(calls)
show([again is module, in_one_word is module, seen, dsbuild.stats().loaded])
"""), [[True, True, [], 1]])

    def test_threads_that_want_one_op_get_one_object(self):
        self.assertEqual(self.answers("""
found = []
threads = [threading.Thread(target=lambda: found.append(dsbuild.load("gamma", pack))) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
show([len(set(map(id, found))), dsbuild.stats().loaded])
"""), [[1, 1]])

    def test_importing_and_loading_start_no_cuda_in_this_process(self):
        self.log.unlink(missing_ok=True)
        maps, = self.answers("""
dsbuild.load("gamma", pack)
show([line.split()[-1] for line in open("/proc/self/maps") if "libcuda" in line])
""", env={"CUDA_VISIBLE_DEVICES": "0"})
        self.assertEqual(maps, [])
        self.assertEqual(self.log.read_text(), "cuInit\n")

    def test_where_cuda_runs_already_its_gpus_count_and_in_a_fork_it_does_not(self):
        parent, child = self.answers("""
import ctypes
ctypes.CDLL("libcuda.so.1").cuInit(0)
os.environ["FAKE_GPUS"] = "80"  # as CUDA_VISIBLE_DEVICES is changed behind cuInit: without effect on this process
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
show(dsbuild.load("gamma", pack).answer["archs"])
sys.stdout.flush()
if os.fork() == 0:
    _loader._loaded.clear()
    show(dsbuild.load("gamma", pack).answer["archs"])
    sys.stdout.flush()
    os._exit(0)
os.wait()
""")
        self.assertEqual((parent, child), (["9.0+PTX"], ["8.0+PTX"]))

    def test_an_error_has_the_words_of_the_program(self):
        run = self.python("dsbuild.load('gamma', pack)", env={"DSBUILD_JIT": "0", "FAKE_GPUS": "75", "CUDA_VISIBLE_DEVICES": "75"})
        self.assertEqual(run.returncode, 1)
        last = run.stderr[run.stderr.index("dsbuild._errors.DsbuildError"):]
        self.assertRegex(last, r"^dsbuild._errors.DsbuildError: gamma of the pack .* is off \(DSBUILD_JIT\)\n")
        self.assertIn("--ops gamma --out dsbuild-out-gamma --arch", last)
        error, = self.answers("""
try: dsbuild.load("nix", pack)
except dsbuild.DsbuildError as error: show([error.code, error.where, error.what, bool(error.fix)])
""")
        self.assertEqual(error[0], "unknown_op")

    def test_an_error_begins_with_what_is_wrong_and_not_with_a_variable_that_nobody_set(self):
        run = self.python("dsbuild.load('gamma', pack)", env={"FAKE_GPUS": "", "CUDA_VISIBLE_DEVICES": ""})
        self.assertIn("\ndsbuild._errors.DsbuildError: no GPU is visible, and it is to be built for those of this machine (gamma)\n",
                      run.stderr)

    def test_the_version(self):
        said = self.space.run("--version").out.split()[-1]
        self.assertEqual(self.answers("show(dsbuild.__version__)"), [said])
        metadata = self.space.root / "dsbuild-9.9.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: dsbuild\nVersion: 9.9\n")
        elsewhere = {"PYTHONPATH": f"{REPOSITORY / 'python'}:{self.space.root}"}
        self.assertEqual(self.answers("show(dsbuild.__version__)", env=elsewhere), [said], "metadata of another installation")
        shutil.copytree(REPOSITORY / "python" / "dsbuild", self.space.root / "dsbuild")
        self.assertEqual(self.answers("show(dsbuild.__version__)", env={"PYTHONPATH": str(self.space.root)}), ["9.9"])

    def test_a_process_that_ignores_the_end_of_its_children_gets_the_answer(self):
        self.assertEqual(self.answers("""
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
show(dsbuild.load("gamma", pack).answer["op"])
"""), ["gamma"])

    def test_ctrl_c_ends_the_build_in_order(self):
        space = python_space(sleep=600)
        run = self.python("""
def interrupt():
    import pathlib, time
    while not list(pathlib.Path("cache").rglob("build.ninja")): time.sleep(0.05)
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try: dsbuild.load("alpha", pack)
except KeyboardInterrupt: show("interrupted")
show(dsbuild.stats().loaded)
""", space=space)
        self.assertEqual(run.stdout, '"interrupted"\n0\n', run.stderr)
        self.assertEqual(testspace.processes_in(space.root), [])

    def test_compiles_are_logged_once(self):
        run = self.python("""
import logging
logging.basicConfig(level=logging.INFO)
dsbuild.load("beta", pack)
dsbuild.load("beta", pack)
show(dsbuild.stats().compiles)
""", env={"FAKE_GPUS": "103", "CUDA_VISIBLE_DEVICES": "103"})
        self.assertEqual(run.stderr.count("INFO:dsbuild:compiled"), 1, run.stderr)
        self.assertGreater(int(run.stdout), 0)

    def test_the_builder_answers_what_deepspeeds_do(self):
        facts, = self.answers("""
op = dsbuild.op("gamma", pack)
show([op.name, op.absolute_name(), op.sources(), op.include_paths(), op.nvcc_args(), op.cxx_args(), op.extra_ldflags(), op.is_compatible(),
      op.error_log])
""", env={"TORCH_CUDA_ARCH_LIST": "8.0;9.0+PTX"})
        name, module, sources, includes, nvcc, cxx, link, is_compatible, log = facts
        self.assertEqual((name, is_compatible, log), ("gamma", True, None))
        self.assertTrue(sources and all(pathlib.Path(path).is_file() for path in sources), sources)
        self.assertEqual([word for word in nvcc if "gencode" in word],
                         ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90",
                          "-gencode=arch=compute_90,code=compute_90"])
        self.assertTrue(all(not word.startswith("-I") for word in nvcc + cxx), facts)
        self.assertIn("-shared", link)

    def test_the_builder_keeps_why_it_could_not(self):
        kept, = self.answers("""
op = dsbuild.op("gamma", pack)
try: op.load()
except dsbuild.DsbuildError: show(op.error_log)
""", env={"DSBUILD_JIT": "0", "FAKE_GPUS": "75", "CUDA_VISIBLE_DEVICES": "75"})
        self.assertIn("building it here is off", kept)

    def test_the_module_is_the_command(self):
        run = self.python("", words=("-m", "dsbuild", "--version"))
        self.assertEqual((run.returncode, run.stdout), (0, self.space.run("--version").out))

    def test_a_program_that_is_not_there(self):
        run = self.python("", words=("-m", "dsbuild", "--version"), env={"DSBUILD_PROGRAM": "/nowhere"})
        self.assertEqual((run.returncode, run.stderr), (1, "'/nowhere' is not a program (DSBUILD_PROGRAM)\n  Name dsbuild, or unset it.\n"))


if __name__ == "__main__":
    testspace.main()
