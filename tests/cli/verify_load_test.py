#!/usr/bin/env python3
"""`dsbuild verify --load`: each library of a bundle opened in a process of its own. Libraries that cannot be: one that needs
a library which is not there, one with an undefined symbol, some whose constructors crash or exit."""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from distributions import OPS, edit_manifest, make_pack as make_modules  # noqa: E402
from packs import Pack  # noqa: E402

GOOD = "int good_run() { return 1; }\n"
CRASHES = "__attribute__((constructor)) static void crash() { *(volatile int*)0 = 1; }\n"
ABORTS = "#include <stdlib.h>\n__attribute__((constructor)) static void stop() { abort(); }\n"
EXITS = "#include <stdlib.h>\n__attribute__((constructor)) static void leave() { exit(0); }\n"
SAYS = '#include <stdio.h>\n__attribute__((constructor)) static void say() { puts("opened"); fflush(stdout); __builtin_trap(); }\n'
UNDEFINED = "int nobody_has_this();\nint undefined_run() { return nobody_has_this(); }\n"
TVM_FFI = "import ctypes\ndef load_module(path):\n    return ctypes.CDLL(path)\n"


def make_pack(folder):
    pack = Pack(folder)
    for op in ("alpha", "beta"):
        pack.add_op(op, {f"{op}.cpp": f'extern "C" int {op}_run() {{ return 1; }}\n'}, {"backend": "cpu"})
    return pack


class LoadTest(CliTest):
    pack = staticmethod(make_pack)

    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(pack=cls.pack)
        run = cls.space.build()
        assert run.code == 0, run
        cls.built = cls.space.root / "built"
        shutil.copytree(cls.space.out, cls.built)
        cls.packages = cls.space.root / "packages"
        cls.packages.mkdir()
        for name, text in (("tvm_ffi", TVM_FFI), ("torch", "")):
            (cls.packages / f"{name}.py").write_text(text)

    def setUp(self):
        shutil.rmtree(self.space.out)
        shutil.copytree(self.built, self.space.out)

    def replace(self, op, source, *flags, needs=()):
        """The op's library is one that gcc makes of `source`; the manifest says so too."""
        library = self.space.out / f"{op}.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", library, *flags], input=source.encode(), check=True)
        file = self.space.out / "manifest.json"
        manifest = json.loads(file.read_text())
        entry = next(entry for entry in manifest["ops"] if entry["name"] == op)
        entry.update(sha256=hashlib.sha256(library.read_bytes()).hexdigest(), bytes=library.stat().st_size)
        entry["runtime"]["libraries"] += needs
        testspace.forge_manifest(self.space.out, manifest)

    def loads(self, *words, code, **options):
        run = self.space.run("verify", "out", "--load", "--json", *words, **options)
        self.assertEqual(run.code, code, run)
        document = json.loads(run.out)
        self.assertEqual(document["ok"], code == 0)
        return {trial["op"]: trial for trial in document["loads"]}

    def missing_library(self, name):
        """Flags for a library that needs one of that name, which is nowhere."""
        folder = self.space.root / "gone"
        folder.mkdir(exist_ok=True)
        subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", folder / name, f"-Wl,-soname,{name}"],
                       input=b"int gone() { return 1; }\n", check=True)
        return ["-Wl,--no-as-needed", f"-L{folder}", f"-l:{name}"]


class PlainTest(LoadTest):
    def test_libraries_that_can_be_opened(self):
        self.check_alone("verify_load", self.space, "verify", "out", "--load", code=0)
        self.assertEqual([(trial["op"], trial["loaded"], trial["by"]) for trial in self.loads(code=0).values()],
                         [("alpha", True, "dlopen"), ("beta", True, "dlopen")])

    def test_no_python_is_needed(self):
        self.loads(code=0, env={"PATH": "/nonexistent"})

    def test_a_needed_library_that_is_not_there(self):
        self.replace("alpha", GOOD, *self.missing_library("libgone.so.1"))
        self.check_alone("verify_load_missing", self.space, "verify", "out", "--load", code=1)
        self.assertTrue(self.loads(code=1)["beta"]["loaded"])

    def test_the_package_of_a_library_that_images_lack(self):
        self.replace("alpha", GOOD, *self.missing_library("libcufile.so.0"))
        trial = self.loads(code=1)["alpha"]
        self.assertIn("libcufile.so.0: cannot open shared object file", trial["why"])
        self.assertIn("apt-get install libcufile", trial["fix"])

    def test_an_undefined_symbol(self):
        self.replace("beta", UNDEFINED)
        trial = self.loads(code=1)["beta"]
        self.assertIn("undefined symbol: nobody_has_this", trial["why"])

    def test_constructors_that_end_the_process(self):
        self.space.environment["ASAN_OPTIONS"] += ":handle_segv=0:handle_abort=0"  # a sanitized program tells of them in its words
        for source, why in ((CRASHES, "SIGSEGV"), (ABORTS, "SIGABRT"), (EXITS, "exit code 0"), (SAYS, "SIG")):
            self.replace("alpha", source)
            trials = self.loads(code=1)
            self.assertIn(why, trials["alpha"]["why"])
            self.assertEqual((trials["alpha"]["loaded"], trials["beta"]["loaded"]), (False, True))

    def test_what_differs_from_its_manifest_is_not_run(self):
        marker = self.space.root / "was_run"
        self.replace("alpha", '#include <stdio.h>\n__attribute__((constructor)) static void run()'
                     f' {{ fopen("{marker}", "w"); }}\n')
        self.loads(code=0)
        self.assertTrue(marker.exists())
        marker.unlink()
        with (self.space.out / "alpha.so").open("ab") as library:
            library.write(b"more")
        run = self.space.run("verify", "out", "--load")
        self.assertEqual(run.code, 1, run)
        self.assertFalse(marker.exists())


class TvmFfiTest(LoadTest):
    def loads_by_python(self, *words, code, path=None):
        return self.loads(*words, code=code, env={"PYTHONPATH": str(path or self.packages)})

    def test_python_opens_what_needs_tvm_ffi(self):
        self.replace("alpha", GOOD, needs=["libtvm_ffi.so"])
        trials = self.loads_by_python(code=0)
        self.assertEqual((trials["alpha"]["by"], trials["beta"]["by"]), ("tvm_ffi", "dlopen"))

    def test_a_crash_takes_neither_python_nor_its_neighbour(self):
        for source, why in ((CRASHES, "SIGSEGV"), (EXITS, "exit code 0"), (UNDEFINED, "undefined symbol: nobody_has_this")):
            self.replace("alpha", source, needs=["libtvm_ffi.so"])
            self.replace("beta", GOOD, needs=["libtvm_ffi.so"])
            trials = self.loads_by_python(code=1)
            self.assertIn(why, trials["alpha"]["why"])
            self.assertTrue(trials["beta"]["loaded"], trials)

    def test_a_python_without_tvm_ffi_and_none_at_all(self):
        self.replace("alpha", GOOD, needs=["libtvm_ffi.so"])
        empty = self.space.root / "empty"
        empty.mkdir(exist_ok=True)
        (empty / "tvm_ffi.py").write_text("raise ModuleNotFoundError(\"No module named 'tvm_ffi'\")\n")
        trial = self.loads_by_python(code=1, path=empty)["alpha"]
        self.assertIn("No module named 'tvm_ffi'", trial["why"])
        self.assertIn("pip install apache-tvm-ffi", trial["fix"])
        trial = self.loads_by_python("--python", "/nonexistent/python", code=1)["alpha"]
        self.assertIn("/nonexistent/python", trial["why"])
        self.assertIn("--python", trial["fix"])
        trial = self.loads_by_python("--python", "/bin/false", code=1)["alpha"]
        self.assertIn("exit code 1", trial["why"])


class TorchTest(LoadTest):
    pack = staticmethod(make_modules)

    def setUp(self):
        super().setUp()
        edit_manifest(self.space.out)

    def test_python_imports_what_is_a_module_of_torch(self):
        trials = self.loads(code=0, env={"PYTHONPATH": str(self.packages)})
        self.assertEqual({op: trial["by"] for op, trial in trials.items()}, {**dict.fromkeys(OPS, "torch"), "plain": "dlopen"})

    def test_a_library_that_is_no_module(self):
        self.replace("fused_adam", GOOD)
        trials = self.loads(code=1, env={"PYTHONPATH": str(self.packages)})
        self.assertIn("does not define module export function", trials["fused_adam"]["why"])
        self.assertTrue(trials["cpu_adam"]["loaded"])

    def test_another_python_than_it_is_built_for(self):
        edit_manifest(self.space.out, torch={"python": "cp37"})
        trial = self.loads(code=1, env={"PYTHONPATH": str(self.packages)})["cpu_adam"]
        self.assertIn("it is built for the Python cp37, and", trial["why"])
        self.assertIn("--python", trial["fix"])


del LoadTest

if __name__ == "__main__":
    testspace.main()
