#!/usr/bin/env python3
"""DSBUILD=1 pip install of a project as it is, the backend of PEP 517, and what they leave to the project's own build: with a
torch and a CUDA that are made up. Real ones are in package_builds_test.py."""

import configparser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, testspace  # noqa: E402
from from_test import SETUP, FromSpace  # noqa: E402
from packs import binding  # noqa: E402

# dsbuild can take all but `shapes.words`.
WHOLE = SETUP.replace(', "-march=native"', "").replace('"-s", "-L/opt/x"', '"-s"').replace('"-I", here + "/csrc/more"',
                                                                                           '"-Icsrc/more"')
MODULES = {"_scatter_cuda": "scatter_cuda", "_gather_cuda": "gather_cuda", "_host": "shapes_host"}


def entry_points():
    """As the wheel of dsbuild has them."""
    text = (testspace.TESTS.parent / "pyproject.toml").read_text()
    section = re.search(r'\[project\.entry-points\."(.*?)"\]\n(.*?)\n\n', text, re.DOTALL)
    points = configparser.ConfigParser(inline_comment_prefixes="#")
    points.read_string(f"[{section[1]}]\n" + section[2].replace('"', ""))
    return f"[{section[1]}]\n" + "".join(f"{key} = {value}\n" for key, value in points[section[1]].items())


def make_program(path):
    """That says nothing and does nothing."""
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def install_package(site):
    """dsbuild's package as pip installs it."""
    (site / "dsbuild-1.dist-info").mkdir(parents=True)
    (site / "dsbuild").symlink_to(testspace.TESTS.parent / "python" / "dsbuild")
    (site / "dsbuild-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: dsbuild\nVersion: 1\n")
    (site / "dsbuild-1.dist-info" / "entry_points.txt").write_text(entry_points())


class HookSpace(FromSpace):
    def __init__(self, setup=WHOLE):
        super().__init__(setup)
        install_package(self.torch.site)
        self.environment.update(DSBUILD_PROGRAM=str(self.program), CUDA_HOME=str(self.toolkit.home), PYTHONDONTWRITEBYTECODE="1")
        self.environment.pop("DSBUILD", None)

    def python(self, *words, **environment):
        return subprocess.run([str(self.torch.python), *words], cwd=self.project, text=True, capture_output=True,
                              env={**self.environment, **environment}, timeout=testspace.TIME_LIMIT, check=False)

    def setup(self, *words, on="1", **environment):
        return self.python("setup.py", *words, **environment, **({"DSBUILD": on} if on else {}))

    def module(self, name, folder="build/lib/shapes"):
        return (self.project / folder / f"{name}.so").read_bytes()

    def work(self):
        return next(self.project.glob("build/temp*/dsbuild"), None)


class HookTest(CliTest):
    def setUp(self):
        self.space = HookSpace()

    def built(self, *words, code=0, **options):
        run = self.space.setup(*(words or ("build", "--build-lib", "build/lib")), **options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run

    def check_modules(self, by_dsbuild, folder="build/lib/shapes"):
        for module, op in MODULES.items():
            bytes_there = self.space.module(module, folder)
            if module in by_dsbuild:
                self.assertEqual(bytes_there, (self.space.work() / "bundle" / f"{op}.so").read_bytes())
            else:
                self.assertEqual(bytes_there.decode(), f"made by the project's own build of shapes.{module}")
        words = self.space.module("words", folder)
        self.assertEqual(words.decode(), "made by the project's own build of shapes.words")

    def test_dsbuild_builds_what_torch_would(self):
        run = self.built()
        self.check_modules(MODULES)
        self.assertIn("dsbuild: built shapes._scatter_cuda, shapes._gather_cuda, shapes._host", run.stderr)
        self.assertIn("shapes.words (setup.py) is not an extension of torch", run.stderr)
        manifest = json.loads((self.space.work() / "bundle" / "manifest.json").read_text())
        self.assertEqual({op["name"]: op["archs"] for op in manifest["ops"] if op["archs"]},
                         {"scatter_cuda": ["8.0", "9.0+PTX"], "gather_cuda": ["8.0", "9.0+PTX"]})
        self.assertEqual(manifest["torch"]["version"], "2.11.0+cu130")
        self.assertEqual(sorted(self.space.toolkit.compiled()), ["pack/csrc/cuda/gather.cu", "pack/csrc/cuda/scatter.cu"])
        self.space.toolkit.forget_starts()
        self.built()
        self.assertEqual(self.space.toolkit.compiled(), [])

    def test_the_pack_is_that_of_new_from(self):
        (self.space.project / "setup.py").write_text(WHOLE.replace('glob.glob("csrc/host/*.cpp")', '["csrc/host/a.cpp"]'))
        self.built()
        new = self.space.run("new", "--from", "project", "--pack", "mine", *self.space.options)
        self.assertEqual(new.code, 0, new)
        by_new, by_hook = (
            re.sub(r"\n *(#|module_suffix:|source_root:).*| *#.*", "", file.read_text())
            for file in (self.space.root / "mine" / "pack.yaml", self.space.work() / "build-project" / "pack.yaml"))
        self.assertEqual(by_new, by_hook)
        self.assertIn("\n    archs: {only: [8.0, 9.0]}\n", by_new)

    def test_without_the_variable_nothing_changes(self):
        for value in (None, "0", "", "/usr/bin/dsbuild"):
            self.built(on=value)
            self.check_modules([])
            self.assertIsNone(self.space.work())

    def test_in_place(self):
        self.built("build_ext", "--inplace")
        self.check_modules(MODULES, "shapes")

    def test_a_host_compiler_in_the_flags_is_that_of_dsbuild_or_the_project_builds(self):
        """As `-ccbin $CC`, which many a setup.py hands on."""
        (self.space.project / "setup.py").write_text(WHOLE.replace("] + archs}", '] + ["-ccbin", os.environ["CC"]] + archs}'))
        gcc, other = shutil.which("gcc"), make_program(self.space.root / "other-gcc")
        for named, also in ((gcc, {}), ("gcc", {}), (os.path.dirname(gcc), {}), (shutil.which("g++"), {}),
                            ("gcc", {"CXX": "ccache " + shutil.which("g++")})):
            run = self.built(CC=named, **also)
            self.check_modules(MODULES)
            self.assertNotIn("ccbin", run.stderr)
        for named, also in ((str(other), {}), ("gcc", {"CUDAHOSTCXX": str(other)}), ("/nowhere/gcc", {})):
            shutil.rmtree(self.space.project / "build")
            run = self.built(CC=named, **also)
            self.check_modules(["_host"])
            self.assertIn(f"left to its own build: flags.nvcc -ccbin={named}: names a host compiler; that is what CUDAHOSTCXX",
                          run.stderr)

    def test_what_dsbuild_would_have_to_leave_out_is_left_whole(self):
        (self.space.project / "setup.py").write_text(WHOLE.replace('["-O2"]', '["-O2", "-march=native"]'))
        run = self.built()
        self.check_modules(["_scatter_cuda", "_gather_cuda"])
        self.assertRegex(run.stderr, r"left out: shapes\._host is left to its own build: flags\.cxx -march=native: makes")

    def test_where_nothing_can_be_taken_all_is_left(self):
        (self.space.project / "setup.py").write_text(SETUP.replace('["-O2"]', '["-march=native"]'))
        run = self.built()
        self.check_modules([])
        self.assertIn("it has no extension that dsbuild can take as it is", run.stderr)

    def test_where_dsbuild_cannot_build_the_projects_own_build_goes_on(self):
        for case in ({"DSBUILD_PROGRAM": "/nowhere/dsbuild"}, {"DSBUILD_OPTIONS": "--arch 99.9"},
                     {"DSBUILD_OPTIONS": "--whales"}):
            run = self.built(**case)
            self.check_modules([])
            self.assertEqual(len([line for line in run.stderr.splitlines() if line.startswith(("dsbuild:", "error[", "  fix:"))]),
                             1, run.stderr)
            self.assertIn("the project's own build_ext goes on", run.stderr)

    def test_a_compiler_s_error_is_shown_and_the_projects_own_build_goes_on(self):
        """It may know of what dsbuild does not."""
        (self.space.project / "csrc" / "last.cc").write_text("this is not a C++\n")
        run = self.built()
        self.assertIn("csrc/last.cc:1", run.stderr + run.stdout)
        self.assertIn("it cannot build Shapes here (exit code 1, its messages are above): the project's own build_ext goes on",
                      run.stderr)
        self.check_modules([])

    def test_where_dsbuild_is_required_nothing_is_left_to_the_projects_own_build(self):
        self.built(on="require")
        self.check_modules(MODULES)
        for case in ({"DSBUILD_PROGRAM": "/nowhere/dsbuild"}, {"DSBUILD_OPTIONS": "--arch 99.9"}):
            shutil.rmtree(self.space.project / "build")
            run = self.built(on="require", code=1, **case)
            self.assertIn("DSBUILD=require", run.stderr)
            self.assertEqual(list((self.space.project / "build").rglob("*.so")), [])

    def test_what_setup_and_setup_cfg_give_to_all_extensions(self):
        """The C++ and CUDA sources do not compile without each of them."""
        (self.space.project / "more").mkdir()
        (self.space.project / "more" / "lanes.h").write_text("#define MORE 1\n")
        (self.space.project / "csrc" / "last.cc").write_text(
            binding("last_run") + "#include <lanes.h>\n#if !MORE || OF_CFG != 1\n#error missing\n#endif\n")
        (self.space.project / "setup.py").write_text(WHOLE.replace("package_dir={},", 'package_dir={}, include_dirs=["more"],'))
        (self.space.project / "setup.cfg").write_text("[build_ext]\ndefine = OF_CFG\n")
        run = self.built()
        self.assertIn("built shapes._scatter_cuda", run.stderr, run.stdout)
        self.check_modules(MODULES)

    def test_a_compiler_that_is_a_script_gets_the_variables_that_it_reads(self):
        script = self.space.root / "g++-site"
        script.write_text(f'#!/bin/sh\nexec {shutil.which("g++")} $SITE_EXTRA_FLAGS "$@"\n')
        script.chmod(0o755)
        (self.space.project / "csrc" / "last.cc").write_text(binding("last_run") + "#if SITE != 1\n#error missing\n#endif\n")
        run = self.built(CXX=str(script), SITE_EXTRA_FLAGS="-DSITE=1")
        self.assertIn("built shapes._scatter_cuda", run.stderr, run.stdout)
        self.check_modules(MODULES)

    def test_a_folder_of_libraries_for_all_extensions_is_left_to_the_projects_own_build(self):
        libraries = self.space.root / "libraries"
        libraries.mkdir()
        (self.space.project / "setup.cfg").write_text(f"[build_ext]\nlibrary_dirs = {libraries}\nlibraries = shapes_more\n")
        (libraries / "libshapes_more.so").write_text("/* a library without symbols */\n")
        run = self.built()
        self.check_modules([])
        self.assertIn(f"library_dirs {libraries}", run.stderr)

    def test_what_the_project_does_around_its_build_is_done(self):
        own = '''
class Own(BuildExtension):
    def build_extensions(self):
        open("csrc/last.cc", "a").write(GENERATED)
        super().build_extensions()
        open(os.path.join(self.build_lib, "shapes", "after"), "w").close()
'''.replace("GENERATED", repr('extern "C" int generated() { return 1; }\n'))
        (self.space.project / "setup.py").write_text(
            WHOLE.replace("here = os", own + "here = os", 1).replace("BuildExtension.with_options(no_python_abi_suffix=True)",
                                                                    "Own.with_options(no_python_abi_suffix=True)"))
        self.built()
        self.check_modules(MODULES)
        self.assertIn(b"generated", self.space.module("_host"))
        self.assertTrue((self.space.project / "build" / "lib" / "shapes" / "after").exists())

    def test_a_build_ext_with_ways_of_its_own_is_left_alone(self):
        for line, said in (("def build_extension(self, extension): super().build_extension(extension)", "has a build_extension of its own"), ):
            (self.space.project / "setup.py").write_text(
                WHOLE.replace("here = os", f"class Own(BuildExtension):\n    {line}\nhere = os", 1)
                .replace("BuildExtension.with_options", "Own.with_options"))
            self.assertIn(said, self.built().stderr)
            self.check_modules([])
        (self.space.project / "setup.py").write_text(WHOLE)
        self.assertIn("build_ext is given swig_opts", self.built("build_ext", "--swig-opts=-c++", "build", "--build-lib",
                                                                 "build/lib").stderr)
        self.check_modules([])

    def test_a_build_ext_that_does_not_say_its_commands_goes_on_by_itself(self):
        (self.space.project / "setup.py").write_text(WHOLE.replace("from setuptools import", """
from torch.utils.cpp_extension import BuildExtension
class Own(BuildExtension):
    calls = []
    def build_extensions(self):
        super().build_extensions()
    def get_ext_fullpath(self, name):
        Own.calls.append(name)
        if len(Own.calls) <= 4:
            raise ValueError("whales")
        return super().get_ext_fullpath(name)
from setuptools import""", 1).replace('"build_ext": BuildExtension', '"build_ext": Own'))
        run = self.built(TORCH_CUDA_ARCH_LIST="8.0")
        self.check_modules([])
        self.assertIn("torch's build_ext does not say its commands (ValueError: whales)", run.stderr)

    def test_options_for_dsbuild(self):
        self.built(DSBUILD_OPTIONS="--arch 9.0")
        manifest = json.loads((self.space.work() / "bundle" / "manifest.json").read_text())
        self.assertEqual(next(op for op in manifest["ops"] if op["name"] == "scatter_cuda")["archs"], ["9.0"])


class BackendTest(CliTest):
    """Through a front end of PEP 517, which is pip where it is there."""

    CALL = """
import sys, json
sys.path.insert(0, ".")
import {backend} as backend
hook, settings = sys.argv[1], json.loads(sys.argv[2])
print("NAME", getattr(backend, hook)("dist", settings))
"""

    def setUp(self):
        interpreter = os.environ.get("DSBUILD_TEST_PYTHON")
        if not interpreter or not os.access(interpreter, os.X_OK):
            self.skipTest("DSBUILD_TEST_PYTHON is not set (a Python with a setuptools that makes wheels)")
        self.space = HookSpace()
        script = self.space.torch.python
        script.write_text(script.read_text().replace(os.path.realpath(sys.executable), interpreter))

    def wheel(self, settings, backend="dsbuild.build_backend", hook="build_wheel", **environment):
        run = self.space.python("-c", self.CALL.format(backend=backend), hook, json.dumps(settings), **environment)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return zipfile.ZipFile(self.space.project / "dist" / re.findall("NAME (.*)", run.stdout)[-1])

    def test_a_wheel_has_the_modules(self):
        for backend, environment in (("dsbuild.build_backend", {}), ("setuptools.build_meta", {"DSBUILD": "1"})):
            wheel = self.wheel({}, backend, **environment)
            for module, op in MODULES.items():
                self.assertEqual(wheel.read(f"shapes/{module}.so"),
                                 (self.space.work() / "bundle" / f"{op}.so").read_bytes())

    def test_a_wheel_has_the_name_the_tags_and_the_files_of_the_projects_own(self):
        seen = []
        for on in ("0", "1"):
            wheel = self.wheel({}, "setuptools.build_meta", DSBUILD=on)
            said = {name: wheel.read(name).decode() for name in wheel.namelist() if name.endswith(("/WHEEL", "/METADATA"))}
            record = next(wheel.read(name).decode() for name in wheel.namelist() if name.endswith("/RECORD"))
            seen.append((wheel.filename, sorted(wheel.namelist()), said, sorted(line.split(",")[0] for line in record.split())))
            self.assertEqual(b"own build" in wheel.read("shapes/_host.so"), on == "0")
        self.assertEqual(seen[0], seen[1])

    def test_an_editable_wheel_is_that_of_the_projects_own_with_the_modules_in_place(self):
        seen = []
        for on in ("0", "1"):
            wheel = self.wheel({}, "setuptools.build_meta", "build_editable", DSBUILD=on)
            files = {file.name: file.read_bytes() for file in (self.space.project / "shapes").glob("*.so")}
            seen.append((pathlib.Path(wheel.filename).name, sorted(re.sub(r"__editable__\W*", "", name) for name in wheel.namelist()),
                         sorted(files)))
            self.assertEqual(b"own build" in files["_host.so"], on == "0")
        self.assertEqual(seen[0], seen[1])
        self.assertLessEqual({f"{module}.so" for module in MODULES}, set(files))

    def test_settings(self):
        wheel = self.wheel({"dsbuild": "off"})
        self.assertIn(b"own build", wheel.read("shapes/_host.so"))
        self.wheel({"dsbuild.arch": "9.0", "dsbuild.offline": ""})
        manifest = json.loads((self.space.work() / "bundle" / "manifest.json").read_text())
        self.assertEqual(next(op for op in manifest["ops"] if op["name"] == "scatter_cuda")["archs"], ["9.0"])

    def test_pip(self):
        run = self.space.python("-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index", "--target", "into", ".",
                                DSBUILD="1")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        for module, op in MODULES.items():
            self.assertEqual(self.space.module(module, "into/shapes"),
                             (self.space.work() / "bundle" / f"{op}.so").read_bytes())


if __name__ == "__main__":
    testspace.main(each_commit=6)
