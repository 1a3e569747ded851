"""What the tests that run dsbuild share: a folder of their own, a controlled environment, hashes of bundles.

DSBUILD names the program under test, DSBUILD_TIER the tier (docs/internals/testing.md). DSBUILD_SEED repeats a run of a randomised test, DSBUILD_NIGHTLY=1 makes the
tests try more, DSBUILD_KEEP=1 keeps the folders. A script that cannot run here exits with 77, "skipped".
"""

import atexit
import filecmp
import functools
import hashlib
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "fakes" / "toolkit"))

from fake_toolkit import make_fake_compiler, make_fake_toolkit  # noqa: E402
import schemas  # noqa: E402
from packs import make_pack  # noqa: E402

SEED = int(os.environ.get("DSBUILD_SEED") or random.SystemRandom().randrange(1 << 32))
NIGHTLY = os.environ.get("DSBUILD_NIGHTLY") == "1"
TIER = os.environ.get("DSBUILD_TIER", "deep")  # of scripts/test.sh; a script that is run by hand tries all its cases
TIME_LIMIT = 400  # seconds for one run of the program; the first of a cache folder runs a self-test, sanitized


def skip(reason):
    print(f"skipped: {reason}", flush=True)
    sys.exit(77)


def dsbuild_program():
    program = os.environ.get("DSBUILD")
    if not program:
        skip("DSBUILD is not set (the program to test)")
    return os.path.abspath(program)


deep = unittest.skipUnless(TIER == "deep", "`scripts/test.sh deep` runs it")


def deep_but(*names):
    """Of the test case's tests, each commit runs these; `deep` runs all."""
    def mark(case):
        for name in unittest.TestLoader().getTestCaseNames(case):
            if name not in names:
                setattr(case, name, deep(getattr(case, name)))
        return case
    return mark


def some_of(values, number):
    """Each commit tries so many of them, others each time, by the seed; `deep` all."""
    values = list(values)
    return values if TIER == "deep" or len(values) <= number else random.Random(SEED).sample(values, number)


def is_sanitized(file=None):
    """Whether a file, the program where none is named, has the sanitizers, which take memory of their own."""
    return b"__asan_init" in pathlib.Path(file or os.environ["DSBUILD"]).read_bytes()


def count(default, nightly, deep_too=None):
    """How often to try something; `deep_too`: where `deep` tries it oftener than each commit."""
    usual = deep_too if deep_too and TIER == "deep" else default
    return nightly if NIGHTLY else usual


class TimedResult(unittest.TextTestResult):
    """Knows how many seconds each test took."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.seconds = {}

    def startTest(self, test):
        self.seconds[test.id().removeprefix("__main__.")] = -time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        self.seconds[test.id().removeprefix("__main__.")] += time.monotonic()
        super().stopTest(test)

    def slow(self):
        return ", ".join(f"{name} {seconds:.1f} s" for name, seconds in
                         sorted(self.seconds.items(), key=lambda item: -item[1]) if seconds >= 1)


def is_left_out(test_or_case):
    return getattr(test_or_case, "__unittest_skip__", False)


def sample_tests(number):
    """Of the calling script's tests, each commit runs so many, others each time, by the seed; `deep` all."""
    cases = dict.fromkeys(case for case in vars(sys.modules["__main__"]).values()
                          if isinstance(case, type) and issubclass(case, unittest.TestCase) and not is_left_out(case))
    tests = {(case, name): getattr(case, name) for case in cases for name in unittest.TestLoader().getTestCaseNames(case)
             if not is_left_out(getattr(case, name))}
    chosen = set(some_of(tests, number))
    for (case, name), test in tests.items():  # also those of a base class, which may be chosen in one class alone
        setattr(case, name, test if (case, name) in chosen else deep(test))
    with_tests = {case for case, _ in chosen}
    for case in cases:  # one without a test makes nothing ready
        deep(case)
        case.__unittest_skip__ = case not in with_tests


def runs_whole(case):
    """Whether all tests of the class run: none was left out, none named on the command line."""
    return len(sys.argv) == 1 and not any(is_left_out(getattr(case, name)) for name in unittest.TestLoader().getTestCaseNames(case))


def most_tests(each_commit):
    """How many of its tests a script runs; None: all."""
    wanted = os.environ.get("DSBUILD_MOST_TESTS")
    limits = [int(limit) for limit in (each_commit, wanted) if limit]
    return None if wanted == "0" else min(limits, default=None)


def main(each_commit=None):
    """Runs the calling script's tests: all, or so many of them on each commit."""
    dsbuild_program()
    print(f"seed={SEED}", flush=True)
    most = most_tests(each_commit)
    if most:
        sample_tests(most)
    program = unittest.main(module="__main__", exit=False,
                            testRunner=unittest.TextTestRunner(verbosity=2, resultclass=TimedResult))
    print(f"slow: {program.result.slow() or 'none'}", flush=True)
    if not program.result.wasSuccessful():
        print(f"to repeat: DSBUILD_SEED={SEED} {sys.argv[0]}", flush=True)
        sys.exit(1)
    if program.result.testsRun > 0 and len(program.result.skipped) == program.result.testsRun:
        sys.exit(77)


class Run:
    """How a run of dsbuild ended."""

    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def result(self):
        """The last event of build --json."""
        return json.loads(self.out.splitlines()[-1])

    def edges_run(self):
        counted = re.search(r", (\d+) edges? run", self.out)
        return int(counted.group(1)) if counted else self.result()["edges_run"]

    def __str__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


STATEMENT = "provenance.intoto.json"


# A compiler's parts are named as it names them, which may differ where the same file runs.
TOOL_PARTS = ("compiler part", "toolkit part")


def content_of(file):
    """Of a statement the files and what they were made of, without how they were asked for, who made them, when, and tools' parts."""
    if file.name != STATEMENT:
        return file.read_bytes()
    statement = json.loads(file.read_text())
    build = statement["predicate"]["buildDefinition"]
    made_of = [part for part in build["resolvedDependencies"] if part["annotations"]["kind"] not in TOOL_PARTS]
    return json.dumps([statement["subject"], made_of]).encode()


def without_statement(files):
    """Of bundle_files."""
    return [file for file in files if file[0] != STATEMENT]


def forge_manifest(bundle, manifest):
    """Of a bundle by hand: without a statement, which is of the manifest that was there."""
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    (bundle / STATEMENT).unlink(missing_ok=True)


def bundle_files(folder):
    """[(path, mode, sha256)], sorted: what a bundle is made of."""
    files = []
    for path in sorted(pathlib.Path(folder).rglob("*")):
        digest = hashlib.sha256(content_of(path)).hexdigest() if path.is_file() else "folder"
        files.append((str(path.relative_to(folder)), oct(path.lstat().st_mode), digest))
    return files


def bundle_hash(folder):
    """One digest over path, mode and bytes of every file; "" for a folder that is not there."""
    if not os.path.isdir(folder):
        return ""
    return hashlib.sha256(repr(bundle_files(folder)).encode()).hexdigest()


def compile_shim(source, output):
    """A library for LD_PRELOAD."""
    compiler = shutil.which("gcc")
    if not compiler:
        raise unittest.SkipTest("gcc is not installed")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", output, "-xc", "-", "-ldl"], input=source.encode(),
                   check=True)
    return str(output)


def base_environment(home, cache):
    """Nothing of the caller's but the Ninja that it has; sanitizers let a shim be loaded before them."""
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "XDG_CACHE_HOME": str(cache),
                   "LC_ALL": "C", "ASAN_OPTIONS": "verify_asan_link_order=0"}
    ninja = os.environ.get("DSBUILD_NINJA") or shutil.which("ninja")
    if ninja:
        environment["DSBUILD_NINJA"] = ninja
    return environment


# A user without files or processes of their own.
NOBODY = 65534


@functools.lru_cache(maxsize=None)
def used_options(program, *words):
    """The options that this command uses, by its completion."""
    run = subprocess.run([program, "complete", shlex.join(["dsbuild", *words, "-"])], env={"PATH": "/usr/bin:/bin"},
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    return {line.split("\t")[0] for line in run.stdout.splitlines()}


class TestSpace:
    """A folder with a fake toolkit and a small pack, and dsbuild run in it. Without a store, what is made is made here.
    Where it `knows_tools` the machine's own need not be asked again; its cache folder is there then.
    With `steps` the toolkit can be sliced, which takes three times as long; without, files are whole nvcc commands, and
    each run says so."""

    def __init__(self, name="space", version="13.0", pack=make_pack, store=False, knows_tools=True, **toolkit_settings):
        parent = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-test-")).resolve()
        if os.environ.get("DSBUILD_KEEP") != "1":
            atexit.register(shutil.rmtree, parent, ignore_errors=True)
        self.root = parent / name
        self.root.mkdir()
        self.program = dsbuild_program()
        self.toolkit = make_fake_toolkit(self.root / "toolkit", version, **toolkit_settings)
        self.pack = pack(self.root / "pack")
        self.home = self.root / "home"
        self.home.mkdir()
        self.environment = base_environment(self.home, self.root / "cache")
        if knows_tools:
            copy_facts(self.cache_folder(), "compilers")
        if not store:
            self.environment["DSBUILD_CACHE_SIZE"] = "0"
        self.out, self.build_dir = self.root / "out", self.root / "build"
        self.arch = "8.0;9.0+PTX"

    def use_fake_compiler(self):
        """From now on all C++ goes through a compiler that can be slowed down."""
        self.compiler = make_fake_compiler(self.root / "compiler")
        self.environment["CXX"] = str(self.compiler.program)

    def use_real_toolkit(self, home=None):
        """From now on a real nvcc compiles: that of this toolkit, or of the newest."""
        self.toolkit.home = pathlib.Path(home or find_real_toolkit())
        copy_facts(self.cache_folder())

    def copy_programs(self):
        """From now on copies of the programs run, for root's own folders are closed to other users."""
        self.program = shutil.copy(self.program, self.root / "dsbuild")
        if "DSBUILD_NINJA" in self.environment:
            self.environment["DSBUILD_NINJA"] = shutil.copy(self.environment["DSBUILD_NINJA"], self.root / "ninja")

    def give_to_nobody(self):
        subprocess.run(["chown", "-hR", f"{NOBODY}:{NOBODY}", self.root.parent], check=True)

    def cache_folder(self):
        return pathlib.Path(self.environment["XDG_CACHE_HOME"]) / "dsbuild"

    def arguments(self, *more):
        """dsbuild's options for the space's own pack, toolkit and folders, as far as the command of `more` uses them and
        `more` does not give others."""
        return [*more, *self.defaults(more, lambda option: option not in ("--arch", "--ops", "-j") or option not in more)]

    def defaults(self, words, is_wanted):
        used = used_options(self.program, *map(str, words))
        defaults = {"--pack": self.pack.folder, "--cuda-home": self.toolkit.home, "--out": self.out,
                    "--build-dir": self.build_dir, "--arch": self.arch, "--ops": "all", "-j": "2"}
        return [str(word) for option, value in defaults.items() if option in used and is_wanted(option)
                for word in (option, value)]

    def start(self, *arguments, env=None, prefix=(), **options):
        """dsbuild in a session of its own, with exactly these arguments."""
        return subprocess.Popen([*prefix, options.pop("program", self.program), *arguments], cwd=options.pop("cwd", self.root),
                                env={**self.environment, **(env or {})}, start_new_session=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, errors="surrogateescape", **options)

    def run(self, *arguments, timeout=TIME_LIMIT, **options):
        begin = time.monotonic()
        with self.start(*arguments, **options) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                kill_all(process.pid)
                raise
        if process.returncode >= 0:  # else it was killed
            schemas.check_answer(self.program, arguments, out)
        return Run(process.returncode, out, err, time.monotonic() - begin)

    def build(self, *more, **options):
        return self.run(*self.arguments(*more), **options)

    def start_build(self, *more, **options):
        return self.start(*self.arguments(*more), **options)

    def verify(self, bundle=None):
        return self.run("verify", str(bundle or self.out))

    def hash(self):
        return bundle_hash(self.out)

    def remove_build(self):
        shutil.rmtree(self.build_dir, ignore_errors=True)

    def remove_out(self):
        shutil.rmtree(self.out, ignore_errors=True)

    def compiled(self):
        """The .cu files whose compilation was started since the last call."""
        names = sorted(source.removeprefix("pack/") for source in self.toolkit.compiled())
        self.toolkit.forget_starts()
        return names


def children(pid):
    """Every living process below `pid`, parents first; what ends meanwhile is left out."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    direct = [child for thread in threads for child in children_of_thread(f"/proc/{pid}/task/{thread}/children")]
    return [each for child in direct for each in [child, *children(child)]]


def children_of_thread(file):
    try:
        return [int(word) for word in pathlib.Path(file).read_text().split()]
    except OSError:
        return []


def command_of(pid):
    """argv of a process; [] when it is gone."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
    return [os.fsdecode(word) for word in words[:-1]]


def program_of(pid):
    """The file that a process runs; "" when it is gone."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def kill_all(pid):
    for each in [pid, *children(pid)]:
        send(each, 9)


def processes_in(folder):
    """Living processes whose current folder or command line is in `folder`."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            inside = os.readlink(entry / "cwd").startswith(str(folder))
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if state != "Z" and (inside or any(str(folder) in word for word in command_of(int(entry.name)))):
            found.append(int(entry.name))
    return found


def wait_until(condition, seconds=20.0, step=0.005):
    """Whether `condition` became true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(step)
    return False


def copy_facts(cache_folder, of="cuda"):
    """What dsbuild knows of the machine's own tools (real_facts.py), so that it need not find it out again: of compilers alone,
    of real toolkits of CUDA too, or of HIP. What a cache folder has learnt by itself stays."""
    folder = pathlib.Path(os.environ.get("DSBUILD_TEST_FACTS") or "/nowhere")
    known, least, mine = folder / f"{of}.json", folder / "compilers.json", cache_folder / "facts.json"
    if known.is_file() and (not mine.exists() or filecmp.cmp(mine, least, shallow=False)):
        cache_folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(known, mine)


def find_real_toolkit():
    if TIER == "fast":
        raise unittest.SkipTest("a real nvcc is not for `scripts/test.sh fast`")
    for home in (os.environ.get("DSBUILD_CUDA_13"), "/usr/local/cuda"):
        if home and os.path.isfile(os.path.join(home, "bin", "nvcc")):
            return home
    raise unittest.SkipTest("no CUDA 13 toolkit (DSBUILD_CUDA_13)")


def find_tvm_ffi():
    """As the scripts install it."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    places = sorted(cache.glob("dsbuild/tvm_ffi/*/tvm_ffi"))
    home = os.environ.get("TVM_FFI_HOME") or (str(places[-1]) if places else "")
    if not home:
        raise unittest.SkipTest("tvm-ffi is not installed (TVM_FFI_HOME)")
    return home


class RealSpace(TestSpace):
    """The project's own ops and a real nvcc."""

    def __init__(self):
        tvm_ffi = find_tvm_ffi()
        super().__init__("real")
        self.use_real_toolkit()
        self.environment["TVM_FFI_HOME"] = tvm_ffi
        self.arch = "9.0"

    def arguments(self, *more):
        mine = super().arguments(*(more if "--ops" in more else (*more, "--ops", "fused_adam")))
        pack = mine.index("--pack")
        return mine[:pack] + mine[pack + 2:]
