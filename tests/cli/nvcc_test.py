#!/usr/bin/env python3
"""`dsbuild nvcc` in front of the real nvcc: command lines in all spellings give what nvcc gives, from the cache too, and most
of the compiles are sliced."""

import concurrent.futures
import ctypes
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import testspace  # noqa: E402
import nvcc_lines  # noqa: E402
from cuobjdump import extract_images, find_cuobjdump, without_names_of_run  # noqa: E402

CUDA = pathlib.Path(os.environ.get("DSBUILD_TEST_CUDA") or "/usr/local/cuda")
NVCC = CUDA / "bin" / "nvcc"
ARCHS = ["75", "80", "90"]


def symbols(file):
    listed = subprocess.run(["nm", file], capture_output=True, check=True).stdout
    names = [line.split(maxsplit=1)[-1] if line[:1] == b" " else line[17:] for line in listed.splitlines()]
    return sorted(without_names_of_run(re.sub(rb"dsbuild_fatbin_[0-9a-f]+|fatbinData", b"IMAGES", name))
                  for name in names if b"__nv_module_id" not in name)


def section(file, name):
    copied = subprocess.run(["objcopy", "-O", "binary", f"--only-section={name}", file, "/dev/stdout"], capture_output=True, check=False)
    return copied.stdout


class Ended:
    """What a command line gave: exit code, streams, and the files that it wrote."""

    def __init__(self, run, folder, before):
        self.code, self.out, self.err = run.returncode, run.stdout, run.stderr
        self.files = {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*"))
                      if file.is_file() and (str(file.relative_to(folder)) not in before or "out/" in str(file))}


class NvccCase(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if not os.access(NVCC, os.X_OK):
            raise unittest.SkipTest(f"no nvcc in {CUDA}")
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-nvcc-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)

    def project(self, name):
        folder = self.root / name
        shutil.rmtree(folder, ignore_errors=True)
        nvcc_lines.write_project(folder)
        return folder

    def environment(self, **more):
        return {**{name: value for name, value in os.environ.items() if not name.startswith("NVCC_")},
                "XDG_CACHE_HOME": str(self.root / "cache"), "TMPDIR": str(self.tmp), "LC_ALL": "C", **more}

    @property
    def tmp(self):
        folder = self.root / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    def run_line(self, program, words, folder, **more):
        """In a folder without outputs."""
        (folder / "out").mkdir(exist_ok=True)
        for file in [*folder.glob("*"), *(folder / "out").rglob("*")]:
            if file.is_file() and str(file.relative_to(folder)) not in self.sources():
                file.unlink()
        before = {str(file.relative_to(folder)) for file in folder.rglob("*")}
        run = subprocess.run([*map(str, program), *words], cwd=folder, env=self.environment(**more), capture_output=True,
                             stdin=subprocess.DEVNULL, timeout=testspace.TIME_LIMIT, check=False)
        return Ended(run, folder, before)

    @staticmethod
    def sources():
        return {*nvcc_lines.SOURCES, *nvcc_lines.HEADERS}

    def by_nvcc(self, words, folder, **more):
        return self.run_line([NVCC], words, folder, **more)

    def by_dsbuild(self, words, folder, **more):
        """And how the call ended, by its log."""
        log = self.tmp / f"calls-{os.getpid()}-{id(folder)}"
        log.unlink(missing_ok=True)
        ended = self.run_line([testspace.dsbuild_program(), "nvcc", NVCC], words, folder, DSBUILD_CALL_LOG=str(log), **more)
        calls = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        self.assertEqual(len(calls), 1, (words, calls, ended.err))
        return ended, calls[0]

    def check_same(self, ours, nvccs, words, objects=None):
        """`objects`: those of nvcc's that stand for its own."""
        objects = objects or {}
        self.check_said(ours, nvccs, words)
        self.assertEqual(sorted(ours.files), sorted(nvccs.files), words)
        for name, content in nvccs.files.items():
            if content[:4] == b"\x7fELF" and name.endswith(".o"):
                self.check_object(ours.files[name], objects.get(name, content), (name, words))
            else:
                self.assertEqual(without_names_of_run(ours.files[name]), without_names_of_run(content), (name, words))

    def check_said(self, ours, nvccs, words):
        self.assertEqual(ours.code, nvccs.code, (words, ours.err, nvccs.err))
        self.assertEqual(without_names_of_run(ours.out), without_names_of_run(nvccs.out), words)
        in_order = sorted if any("threads" in word or word.startswith("-t") for word in words) else list
        self.assertEqual(in_order(without_times(ours.err).splitlines()), in_order(without_times(nvccs.err).splitlines()), words)

    def check_object(self, ours, nvccs, what):
        files = []
        for name, content in (("ours.o", ours), ("nvccs.o", nvccs)):
            files.append(self.tmp / f"{os.getpid()}-{id(ours)}-{name}")
            files[-1].write_bytes(content)
        try:
            self.assertEqual(symbols(files[0]), symbols(files[1]), what)
            self.assertEqual(images(files[0]), images(files[1]), what)
            self.assertEqual(section(files[0], ".text"), section(files[1], ".text"), what)
        finally:
            for file in files:
                file.unlink()


def without_times(text):
    return re.sub(rb"\d+\.\d+ ms", b"ms", without_names_of_run(text))


def images(file):
    """Of an object of nvcc's, the bytes of its images, one text for all of them."""
    return sorted(image for _, image in extract_images(find_cuobjdump(), file.resolve()))


class LinesTest(NvccCase):
    def test_random_lines(self):
        number = 2000 if testspace.NIGHTLY else 400 if testspace.TIER == "deep" else 12
        # Each commit runs the same ones; `deep` looks for new ones.
        is_free = testspace.TIER == "deep" or "DSBUILD_SEED" in os.environ
        lines = nvcc_lines.Lines(testspace.SEED if is_free else 2867638939, ARCHS)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            ends = list(pool.map(self.check_line, range(number), [lines.line() for _ in range(number)]))
        failures = [end["failure"] for end in ends if "failure" in end]
        self.assertFalse(failures, f"{len(failures)} lines; the first:\n" + "\n\n".join(failures[:6]))
        compiles = [end for end in ends if end["compiled"]]
        sliced = [end for end in compiles if end["kind"] == "sliced" or end["kind"] == "taken"]
        print(f"{len(ends)} lines, {len(compiles)} that compile CUDA, {len(sliced)} sliced")
        self.assertGreaterEqual(len(sliced), 0.7 * len(compiles),
                                sorted((end["why"], end["kind"]) for end in compiles if end not in sliced))

    def objects_with_debug_information(self, words, folder):
        """That names nvcc's temporaries, which it numbers: with a depfile, which each kept command writes, there is one more."""
        if "-G" not in words or any(word in ("-MD", "-MMD", "--generate-dependencies-with-compile") for word in words):
            return {}
        files = self.by_nvcc([*words, "-MD", "-MF", "out/of_this.d", "-MT", "object"], folder).files
        return {name: content for name, content in files.items() if name.endswith(".o")}

    def check_line(self, index, words):
        folder = self.project(f"project-{index}")
        try:
            nvccs = self.by_nvcc(words, folder)
            objects = self.objects_with_debug_information(words, folder)
            ours, call = self.by_dsbuild(words, folder)
            self.check_same(ours, nvccs, words, objects)
            if call["kind"] in ("sliced", "kept_whole"):
                again, second = self.by_dsbuild(words, folder)
                self.assertEqual(second["kind"], "taken", words)
                self.check_said(again, nvccs, words)
                self.assertEqual(again.files, ours.files, words)
            return {**call, "compiled": nvccs.code == 0 and any(content[:4] == b"\x7fELF" and b".nv_fatbin" in content
                                                               for content in nvccs.files.values())}
        except AssertionError as failure:
            return {"failure": f"{shlex.join(words)}\n{failure}"[:3000]}
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def descendants_named(name, folder):
    """Processes of that name whose current folder lies there."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "comm").read_text().strip() == name and folder in os.readlink(process / "cwd"):
                found.append(int(process.name))
        except OSError:
            continue
    return found


ARCH = ["-gencode", "arch=compute_80,code=sm_80"]
COMPILE = ["-O3", *ARCH, "-Iinc", "-MD", "-MF", "out/deps.d", "-c", "a.cu", "-o", "out/a.o"]


class CallsTest(NvccCase):
    """One call after another: what may be taken, and what may not."""

    def setUp(self):
        self.folder = self.project(f"project-{self.id().rpartition('.')[2]}")
        shutil.rmtree(self.root / "cache" / "dsbuild" / "store", ignore_errors=True)

    def call(self, words=COMPILE, kind="sliced", folder=None, **more):
        """What it gives is what nvcc gives."""
        folder = folder or self.folder
        time.sleep(0.05)  # what changed within the last tick of the file system's clock leaves no record that holds
        ours, call = self.by_dsbuild(words, folder, **more)
        self.assertEqual(call["kind"], kind, call)
        self.check_same(ours, self.by_nvcc(words, folder, **more), words)
        return ours

    def edit(self, name, old, new):
        file = self.folder / name
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new))

    def test_another_checkout_takes_all(self):
        self.call()
        other = self.project("another-checkout")
        self.call(kind="taken", folder=other)

    def test_a_text_that_names_its_checkout_is_not_taken_elsewhere(self):
        words = [str(word) if word != "none.cu" else str(self.folder / "none.cu") for word in ("-c", *ARCH, "none.cu", "-o", "out/a.o")]
        self.call(words)
        self.call(words, kind="taken")
        other = self.project("named-checkout")
        ours = self.call([word.replace(str(self.folder), str(other)) for word in words], folder=other)
        self.assertIn(str(other / "none.cu").encode(), ours.files["out/a.o"])

    def test_an_edited_header(self):
        self.call()
        self.edit("inc/a.h", "2 * v", "3 * v")
        self.call()
        self.edit("inc/a.h", "3 * v", "2 * v")
        self.call(kind="taken")

    def test_a_touched_header(self):
        self.call()
        os.utime(self.folder / "inc" / "a.h")
        self.call(kind="taken")

    def test_a_header_that_comes_to_stand_in_front(self):
        words = ["-Isys", *COMPILE]
        (self.folder / "a.cu").write_text("#include <a.h>\n" + nvcc_lines.SOURCES["a.cu"].replace('#include "inc/a.h"\n', ""))
        self.call(words)
        (self.folder / "sys" / "a.h").write_text(nvcc_lines.HEADERS["inc/a.h"].replace("2 * v", "5 * v"))
        self.call(words)

    def test_variables_that_the_host_compiler_looks_at(self):
        (self.folder / "a.cu").write_text("#include <a.h>\n" + nvcc_lines.SOURCES["a.cu"].replace('#include "inc/a.h"\n', ""))
        words = ["-c", *ARCH, "a.cu", "-o", "out/a.o"]
        (self.folder / "sys" / "a.h").write_text(nvcc_lines.HEADERS["inc/a.h"].replace("2 * v", "5 * v"))
        self.call(words, CPATH=str(self.folder / "inc"))
        self.call(words, CPATH=str(self.folder / "sys"))

    def test_flags_of_the_environment(self):
        self.call(NVCC_PREPEND_FLAGS="-DSCALE=7")
        self.call(kind="sliced")
        self.call(NVCC_APPEND_FLAGS="-DSCALE=8")
        self.call(kind="taken", NVCC_PREPEND_FLAGS="-DSCALE=7")

    def test_a_host_compiler_that_is_named(self):
        """torch does where CC is set."""
        gcc = pathlib.Path(shutil.which("gcc"))
        (self.folder / "tools").mkdir()
        (self.folder / "tools" / "gcc").write_text(f'#!/bin/sh\nexec {gcc} "$@"\n')
        (self.folder / "tools" / "gcc").chmod(0o755)
        self.call(["-ccbin", str(gcc), *COMPILE])
        self.call([f"--compiler-bindir={gcc.parent}", *COMPILE], kind="taken")
        self.call(["-ccbin=tools/gcc", *COMPILE])
        self.call(["-ccbin", "tools", *COMPILE], kind="taken")

    def test_what_ptxas_says_of_a_slice_that_is_taken(self):
        """Without an image it only checks."""
        words = ["-gencode=arch=compute_90,code=compute_90", "-maxrregcount=32", "-c", "a.cu", "-o", "out/a.o"]
        ours = self.call(words)
        self.assertIn(b"ptxas warning", ours.err)
        self.edit("a.cu", "__global__", "/* a comment */ __global__")
        self.call(words)

    def test_a_program_called_nvcc(self):
        """On PATH before the real one."""
        folder = self.root / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "nvcc"
        if not program.is_symlink():
            program.symlink_to(testspace.dsbuild_program())
        path = f"{folder}:{CUDA / 'bin'}:{os.environ['PATH']}"
        ours = self.run_line([program], COMPILE, self.folder, PATH=path, CUDA_HOME="")
        self.check_same(ours, self.by_nvcc(COMPILE, self.folder), COMPILE)
        self.assertEqual(self.run_line([program], ["--version"], self.folder, PATH=path, CUDA_HOME="").out,
                         self.by_nvcc(["--version"], self.folder).out)

    def test_no_nvcc_at_all(self):
        run = subprocess.run([testspace.dsbuild_program(), "nvcc", "-c", "a.cu"], cwd=self.folder, capture_output=True, text=True, check=False,
                             env={"PATH": "/nonexistent", "HOME": str(self.root), "DSBUILD_NVCC": "/nonexistent/nvcc"})
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("/nonexistent/nvcc", run.stderr)


class FailsOpenTest(NvccCase):
    """Where slices are not to be had nvcc does it, and one line says why."""

    def check_left(self, why, nvcc=NVCC, words=COMPILE, **more):
        folder = self.project("left")
        ended = self.run_line([testspace.dsbuild_program(), "nvcc", nvcc], words, folder, **more)
        said = ended.err.decode().splitlines()
        self.assertTrue(said and said[0].startswith("dsbuild nvcc: left to nvcc: ") and why in said[0], ended.err)
        ended.err = b"".join(line + b"\n" for line in ended.err.splitlines()[1:])
        self.check_same(ended, self.by_nvcc(words, folder), words)

    def test_a_cache_that_cannot_be_written(self):
        self.check_left("the cache folder cannot be written", XDG_CACHE_HOME="/dev/null")

    def test_a_script(self):
        script = self.root / "nvcc-script"
        script.write_text(f'#!/bin/sh\nexec {NVCC} "$@"\n')
        script.chmod(0o755)
        self.check_left("it starts another program", nvcc=script)

    def test_a_bound_that_is_none(self):
        self.check_left("DSBUILD_MEMORY", DSBUILD_MEMORY="much")

    def test_a_failing_compile_says_what_nvcc_says(self):
        folder = self.project("failing")
        words = ["-c", *ARCH, "bad.cu", "-o", "out/a.o"]
        ours, call = self.by_dsbuild(words, folder)
        self.check_same(ours, self.by_nvcc(words, folder), words)
        self.assertEqual((ours.code, call["kind"]), (2, "left"))


class JobServerTest(NvccCase):
    """Of a build tool that says in MAKEFLAGS how many jobs there may be: make, Ninja, cargo."""

    HOST_COMPILER = """#!/bin/sh
case " $* " in *" -E "*) echo begin >> LOG; SLEEP 0.4; echo end >> LOG;; esac
exec COMPILER "$@"
"""

    def most_at_once(self, name, scale, **more):
        """Of the preprocessors of a call with a front and three slices."""
        folder = self.project(name)
        compiler = self.root / "slow" / "g++"
        compiler.parent.mkdir(exist_ok=True)
        text = self.HOST_COMPILER.replace("LOG", str(self.root / "log"))
        compiler.write_text(text.replace("SLEEP", shutil.which("sleep")).replace("COMPILER", shutil.which("g++")))
        compiler.chmod(0o755)
        (self.root / "log").unlink(missing_ok=True)
        words = [word for arch in ARCHS for word in ("-gencode", f"arch=compute_{arch},code=sm_{arch}")]
        ended, call = self.by_dsbuild(["-ccbin", str(compiler), *words, "-DSCALE=" + scale, "-c", "a.cu", "-o", "out/a.o"], folder,
                                      DSBUILD_JOBS="8", **more)
        self.assertEqual((ended.code, call["kind"]), (0, "sliced"), (ended.err, call))
        running = most = 0
        for line in (self.root / "log").read_text().splitlines():
            running += 1 if line == "begin" else -1
            most = max(most, running)
        return most

    def test_parts_are_as_many_at_once_as_there_are_jobs(self):
        self.most_at_once("warm_up", "2")  # asks nvcc and the compiler what they are
        self.assertGreaterEqual(self.most_at_once("free", "4"), 3)
        fifo = self.root / "jobs"
        os.mkfifo(fifo)
        server = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, server)
        for jobs in (b"", b"1"):
            os.write(server, jobs)
            flags = f" -j{len(jobs) + 1} --jobserver-auth=fifo:{fifo}"
            self.assertEqual(self.most_at_once(f"of_{len(jobs)}", f"{len(jobs) + 5}", MAKEFLAGS=flags), len(jobs) + 1)
        self.assertEqual(os.read(server, 8), b"1")


class KillTest(NvccCase):
    def test_a_killed_call_takes_its_compilers_along_and_leaves_no_turn(self):
        folder = self.project("killed")
        self.by_dsbuild(COMPILE, folder)  # the self-test has run
        chance = random.Random(testspace.SEED)
        for i in range(30 if testspace.TIER == "deep" else 3):
            (folder / "a.cu").write_text(nvcc_lines.SOURCES["a.cu"] + f"int another_{i}() {{ return {i}; }}\n")
            process = subprocess.Popen([testspace.dsbuild_program(), "nvcc", NVCC, *COMPILE], cwd=folder, env=self.environment(DSBUILD_JOBS="1"),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.random() * 1.2)
            process.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
            process.wait()
            gone = testspace.wait_until(lambda: not descendants_named("cicc", str(self.tmp)) and not descendants_named("cc1plus", str(self.tmp)))
            self.assertTrue(gone, "compilers outlive their call")
            ours, _ = self.by_dsbuild(COMPILE, folder, DSBUILD_JOBS="1")
            self.check_same(ours, self.by_nvcc(COMPILE, folder), COMPILE)


class WrapTest(NvccCase):
    def wrap(self, *command, folder, options=(), **more):
        return subprocess.run([testspace.dsbuild_program(), "wrap", *options, "--", *map(str, command)], cwd=folder, text=True, check=False,
                              env=self.environment(PATH=f"{CUDA / 'bin'}:{os.environ['PATH']}", **more), capture_output=True,
                              timeout=testspace.TIME_LIMIT)

    def test_a_script_that_calls_nvcc(self):
        folder = self.project("script")
        script = "set -e; mkdir -p out; nvcc -arch=sm_80 -c a.cu -o out/a.o; nvcc -arch=sm_80 -G -c none.cu -o out/n.o; nvcc --version"
        run = self.wrap("sh", "-c", script, folder=folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("release", run.stdout)
        self.assertIn("dsbuild: 2 CUDA compiles: 0 from the cache, 1 in slices, 1 whole and kept, 0 left to nvcc\n"
                      "  not sliced: has debug information (-G): none.cu\n", run.stderr)
        run = self.wrap("sh", "-c", script + "; exit 7", folder=folder, options=["--json"])
        self.assertEqual(run.returncode, 7)
        document = json.loads(run.stdout.splitlines()[-1])
        self.assertEqual((document["from_cache"], document["in_slices"], document["whole_and_kept"], document["other_calls"],
                          document["exit_code"]), (2, 0, 0, 1, 7))

    def test_another_temporary_folder_has_the_same(self):
        """Host code names its files, as torch's headers do; device code that does is made for each folder."""
        host = "const char* a() { return __FILE__; }\nconst char* b() { return __builtin_FILE(); }\n__global__ void k() {}\n"
        device = "__global__ void k(const char** x) { x[0] = __FILE__; }\n"
        for text, ends in ((host, ("0 from the cache, 1 in slices", "1 from the cache, 0 in slices")),
                           (device, ("0 from the cache, 1 in slices", "0 from the cache, 1 in slices"))):
            for name, end in zip(("pip-install-one", "pip-install-two"), ends):
                folder = self.tmp / name / "p"
                (folder / "csrc").mkdir(parents=True, exist_ok=True)
                (folder / "csrc" / "n.cu").write_text(text)
                run = self.wrap(NVCC.name, "-arch=sm_80", "-c", folder / "csrc" / "n.cu", "-o", "n.o", folder=folder)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertIn(f"dsbuild: 1 CUDA compile: {end}, ", run.stderr)
                is_named = "this folder alone: device code or a macro names it: " in run.stderr
                self.assertEqual((is_named, str(folder).encode() in (folder / "n.o").read_bytes()), (text == device, ) * 2)
        self.assertNotIn(b"pip-install-one", (folder / "n.o").read_bytes())

    def test_without_wrap_a_temporary_folder_keeps_its_name(self):
        folder = self.project("plain")
        ended, _ = self.by_dsbuild(["-arch=sm_80", "-c", str(folder / "none.cu"), "-o", "out/n.o"], folder)
        self.assertEqual(ended.code, 0, ended.err)
        self.assertIn(str(folder / "none.cu").encode(), ended.files["out/n.o"])

    def test_where_no_cache_can_be_written_the_command_runs_as_it_is(self):
        folder = testspace.TestSpace().root
        run = self.wrap("sh", "-c", "echo $CUDA_HOME; exit 7", folder=folder,
                        XDG_CACHE_HOME="/dev/null/cache", CUDA_HOME="/usr/local/cuda")
        self.assertEqual((run.returncode, run.stdout), (7, "/usr/local/cuda\n"), run.stderr)
        self.assertRegex(run.stderr, r"^dsbuild wrap: left alone: /dev/null[^\n]*\n$")

    def test_a_command_line_without_a_command(self):
        run = subprocess.run([testspace.dsbuild_program(), "wrap"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("dsbuild wrap [OPTIONS] -- COMMAND", run.stderr)

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    def test_a_cmake_project(self):
        folder = self.project("cmake")
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES CXX CUDA)\nset(CMAKE_CUDA_ARCHITECTURES 80 90)\n"
            "add_library(kernels SHARED a.cu csrc/b.cu)\ntarget_include_directories(kernels PRIVATE inc)\n")
        build = ["sh", "-c", "cmake -S . -B build -G Ninja && cmake --build build -- -j2"]
        run = self.wrap(*build, folder=folder)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stderr, r"dsbuild: \d+ CUDA compiles?: 0 from the cache, [2-9] in slices")
        library = folder / "build" / "libkernels.so"
        self.assertTrue(library.is_file())
        images = subprocess.run([testspace.dsbuild_program(), "inspect", library, "--json"], capture_output=True, text=True, check=True).stdout
        self.assertIn("sm_80", images)
        self.assertIn("sm_90", images)
        ctypes.CDLL(str(library))
        (folder / "inc" / "a.h").write_text(nvcc_lines.HEADERS["inc/a.h"] + "// more\n")
        again = self.wrap("cmake", "--build", "build", folder=folder)
        self.assertIn("2 CUDA compiles", again.stderr, "Ninja reads the depfiles")
        shutil.rmtree(folder / "build")
        self.assertRegex(self.wrap(*build, folder=folder).stderr, r": [2-9] from the cache, [01] in slices, ", "but for CMake's own trial")


if __name__ == "__main__":
    testspace.main(each_commit=3)
