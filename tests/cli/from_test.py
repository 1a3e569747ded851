#!/usr/bin/env python3
"""dsbuild new --from, dsbuild build DIR: a project with a setup.py as a pack, with a torch and a CUDA that are made up. The
packages of PyPI are in packages_test.py."""

import io
import json
import pathlib
import re
import sys
import sysconfig
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, testspace  # noqa: E402
from packs import binding, kernel  # noqa: E402
from typed import check_printed  # noqa: E402
from torch_test import TorchSpace  # noqa: E402

try:
    import setuptools  # noqa: F401
except ImportError:
    testspace.skip("setuptools is not installed for this Python")

# What setup.py files use of torch; cpp_flag is what dsbuild itself looks for.
TORCH = '''__version__ = "2.11.0+cu130"
class cuda:
    is_available = staticmethod(lambda: False)
    device_count = staticmethod(lambda: 0)
'''
BUILDER = '''import copy, os, setuptools
from distutils.ccompiler import CCompiler
from setuptools.command.build_ext import build_ext
cpp_flag_prefix, cpp_flag = "-std=", ""
cpp_flag = cpp_flag_prefix + 'c++17'
CUDA_HOME = os.environ.get("CUDA_HOME")
HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NVCC = ["-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
        "-D__CUDA_NO_HALF2_OPERATORS__", "--expt-relaxed-constexpr", "--compiler-options", "'-fPIC'"]
def CppExtension(name, sources, *more, **given):
    given["include_dirs"] = given.get("include_dirs", []) + [HOME + "/include", HOME + "/include/torch/csrc/api/include"]
    given["libraries"] = given.get("libraries", []) + ["c10", "torch", "torch_cpu", "torch_python"]
    given["library_dirs"] = given.get("library_dirs", []) + [HOME + "/lib"]
    return setuptools.Extension(name, sources, *more, language="c++", **given)
def CUDAExtension(name, sources, *more, **given):
    extension = CppExtension(name, sources, *more, **given)
    extension.include_dirs.append(CUDA_HOME + "/include")
    extension.library_dirs.append(CUDA_HOME + "/lib64")
    extension.libraries += ["cudart", "c10_cuda", "torch_cuda"]
    return extension
def archs(flags):
    if any("arch" in flag and "TORCH_EXTENSION_NAME" not in flag for flag in flags):
        return []
    found = []
    for arch in os.environ["TORCH_CUDA_ARCH_LIST"].replace(" ", ";").split(";"):
        number = arch.split("+")[0].replace(".", "")
        found += [f"-gencode=arch=compute_{number},code={code}_{number}" for code in ["sm"] + ["compute"] * ("+PTX" in arch)]
    return found
# The project's own build writes what it makes, so that a test sees whose it is.
def make(compiler, command, **_):
    if "-shared" in command:
        file = command[command.index("-o") + 1]
        name = ".".join(file[:-len(".so")].split("/")[-2:])
        os.makedirs(os.path.dirname(file), exist_ok=True)
        open(file, "w").write("made by the project's own build of " + name)
CCompiler.spawn = CCompiler.call = make
class BuildExtension(build_ext):
    def build_extensions(self):
        for extension in self.extensions:
            extension.extra_compile_args = flags = copy.deepcopy(extension.extra_compile_args)
            for words in flags.values() if isinstance(flags, dict) else [flags]:
                words += ["-DTORCH_API_INCLUDE_EXTENSION_H", "-DTORCH_EXTENSION_NAME=" + extension.name.split(".")[-1]]
        self.compiler.src_extensions += [".cu"]
        compile_one = self.compiler._compile
        def compile_(object_, source, end, first, flags, options):
            before = self.compiler.compiler_so
            plus = getattr(self.compiler, "compiler_so_cxx", before)
            language = "nvcc" if source.endswith(".cu") else "cxx"
            for tool in ("compiler_so", "compiler_so_cxx"):
                self.compiler.set_executable(tool, os.environ.get("CXX", "c++").split() + before[1:])
            flags = list(flags[language] if isinstance(flags, dict) else flags)
            if language == "nvcc":
                self.compiler.set_executable("compiler_so", [CUDA_HOME + "/bin/nvcc"])
                flags = NVCC + flags + archs(flags)
            if not any(flag.startswith("-std=") for flag in flags):
                flags.append("-std=c++17")
            compile_one(object_, source, end, first, flags, options)
            self.compiler.set_executable("compiler_so", before)
            self.compiler.set_executable("compiler_so_cxx", plus)
        self.compiler._compile = compile_
        super().build_extensions()
    @classmethod
    def with_options(cls, **options):
        class Chosen(cls):
            def get_ext_filename(self, name):
                plain = options.get("no_python_abi_suffix")
                return name.replace(".", "/") + ".so" if plain else super().get_ext_filename(name)
        return Chosen
'''
SETUP = '''import glob, os, subprocess, torch
from setuptools import setup, Extension
from torch.utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension, CUDA_HOME
here = os.path.dirname(os.path.abspath(__file__))
assert "release" in subprocess.check_output([CUDA_HOME + "/bin/nvcc", "--version"], text=True)
archs = ["-gencode", "arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=[sm_90,compute_90]"]
flags = {"cxx": ["-O3", "-std=c++17", "-march=native"],
         "nvcc": ["-O3", "-Xptxas", "-v", "--threads", "4", "-I", here + "/csrc/more"] + archs}
cuda = [CUDAExtension(f"shapes._{name}_cuda", [f"csrc/{name}.cpp", f"csrc/cuda/{name}.cu"],
                      include_dirs=[here + "/csrc"], define_macros=[("WITH_CUDA", None), ("LANES", "4")],
                      extra_compile_args=flags, extra_link_args=["-s", "-L/opt/x"], libraries=["cublas"])
        for name in ("scatter", "gather")]
setup(name="Shapes", version="1.2.post1", packages=["shapes"], package_dir={},
      ext_modules=cuda + [
          CppExtension("shapes._host", glob.glob("csrc/host/*.cpp") + [here + "/csrc/last.cc"], include_dirs=["csrc"],
                       extra_compile_args=["-O2"], define_macros=[("WITH_CUDA", None)]),
          Extension("shapes.words", ["words.c"])],
      cmdclass={"build_ext": BuildExtension.with_options(no_python_abi_suffix=True)})
'''
# Written by hand, of that setup.py and docs/reference/op_yaml.md; PYTHONS are flags that Python was built with.
PACK = testspace.TESTS / "golden" / "from" / "shapes.yaml"
MODULE = 'extern "C" void* PyInit_%s() { return 0; }\n'


def flags_of_python():
    """Those of this Python that change code, by the rule of docs/guides/python.md."""
    flags = " ".join(map(sysconfig.get_config_var, ("CFLAGS", "CCSHARED"))).split()
    return [flag for flag in flags if re.match(r"-O|-D|-fwrapv|-fno-strict|-fstack-protector|-fexceptions|-fno-omit", flag)]


def expected_pack():
    def last_of_each(match):
        words = match[1].replace("PYTHONS", ", ".join(flags_of_python())).split(", ")
        return "cxx: [" + ", ".join(word for at, word in enumerate(words) if word not in words[at + 1:]) + "]"

    return re.sub(r"cxx: \[(.*)\]", last_of_each, PACK.read_text())


def make_project(folder, setup=SETUP):
    files = {"setup.py": setup, "words.c": "", "shapes/__init__.py": "", "csrc/shapes.h": "#pragma once\n", "csrc/more/m.h": "",
             "csrc/last.cc": binding("last_run"), **{f"csrc/host/{n}.cpp": binding(f"{n}_run") for n in ("a", "b", "c")}}
    for name in ("scatter", "gather"):
        files[f"csrc/{name}.cpp"] = binding(f"{name}_run", f"{name}_kernel")
        files[f"csrc/cuda/{name}.cu"] = kernel(f"{name}_kernel")
    files["csrc/scatter.cpp"] += MODULE % "_scatter_cuda"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


class FromSpace(TorchSpace):
    def __init__(self, setup=SETUP):
        super().__init__()
        (self.torch.home / "__init__.py").write_text(TORCH)
        (self.torch.home / "utils" / "__init__.py").write_text("")
        (self.torch.home / "utils" / "cpp_extension.py").write_text(BUILDER)
        (self.toolkit.home / "lib64" / "libcublas.so").write_text("/* a library without symbols */\n")
        self.project = make_project(self.root / "project", setup)
        self.options = ["--python", str(self.torch.python), "--cuda-home", str(self.toolkit.home)]


class NewFromTest(CliTest):
    def setUp(self):
        self.space = FromSpace()

    def new(self, *words, code=0):
        run = self.space.run("new", *words, *self.space.options)
        self.assertEqual(run.code, code, run)
        return run

    def test_the_pack_says_what_setup_py_says(self):
        run = self.new("--from", "project", "--pack", "mine")
        self.assertIn("its setup.py, if it has one, is run", run.err)
        self.assertEqual(run.out, "wrote mine/pack.yaml (3 ops)\n"
                                  "next: dsbuild --pack mine --ops all --arch '8.0;9.0+PTX' --cuda-home "
                                  f"{self.space.toolkit.home} --python {self.space.torch.python}\n")
        check_printed(self, self.space, run.out)
        self.assertEqual((self.space.root / "mine" / "pack.yaml").read_text(), expected_pack())
        self.assertIn("left out of gather_cuda: flags.cxx -march=native: makes the bundle depend on the machine", run.err)

    def test_it_plans_unchanged(self):
        self.new("--from", "project", "--pack", "mine")
        plan = self.space.run("plan", "--pack", "mine", "--ops", "all", "--arch", "8.0;9.0+PTX", "--strict", "--json",
                              *self.space.options)
        self.assertEqual(plan.code, 0, plan)
        ops = {op["name"]: op for op in json.loads(plan.out)["ops"]}
        self.assertEqual(set(ops), {"gather_cuda", "scatter_cuda", "shapes_host"})
        source = next(each for each in ops["scatter_cuda"]["sources"] if each["path"].endswith(".cu"))
        self.assertEqual(source["archs"], ["8.0", "9.0+PTX"])
        self.assertEqual(len(ops["shapes_host"]["sources"]), 4)

    def test_sources_beside_the_folder_of_setup_py(self):
        (self.space.root / "last.cc").write_text(binding("last_run"))
        (self.space.project / "setup.py").write_text(SETUP.replace('here + "/csrc/last.cc"', '"../last.cc"'))
        self.new("--from", "project", "--pack", "mine")
        text = (self.space.root / "mine" / "pack.yaml").read_text()
        self.assertIn("\nsource_root: ..\npackage_root: project\n", text)
        self.assertIn("[last.cc, project/csrc/host/a.cpp, ", text)
        self.assertIn("include_dirs: [project/csrc]", text)

    def test_a_source_distribution_is_unpacked_beside_its_pack(self):
        with tarfile.open(self.space.root / "shapes.tar.gz", "w:gz") as tar:
            tar.add(self.space.project, "shapes-1.2")
        self.new("--from", "shapes.tar.gz", "--pack", "packs/mine")
        text = (self.space.root / "packs" / "mine" / "pack.yaml").read_text()
        self.assertIn("\nsource_root: shapes-1.2\n", text)
        self.assertTrue((self.space.root / "packs" / "mine" / "shapes-1.2" / "csrc" / "cuda" / "scatter.cu").exists())

    def test_an_archive_may_not_write_elsewhere(self):
        if not hasattr(tarfile, "data_filter"):
            self.skipTest("this Python's tarfile does not filter")
        with tarfile.open(self.space.root / "bad.tar", "w") as tar:
            for name in ("p/setup.py", "p/../../escaped"):
                tar.addfile(tarfile.TarInfo(name), io.BytesIO())
        self.assertIn("bad_project", self.new("--from", "bad.tar", "--pack", "packs/mine", code=1).err)
        self.assertFalse((self.space.root / "escaped").exists())
        self.assertFalse((self.space.root / "packs" / "escaped").exists())

    def test_a_build_toml_of_kernel_builder(self):
        if sys.version_info < (3, 11):
            self.skipTest("tomllib comes with Python 3.11")
        (self.space.project / "setup.py").unlink()
        (self.space.project / "build.toml").write_text(
            '[general]\nname = "shapes"\n[torch]\nsrc = ["csrc/scatter.cpp", "csrc/shapes.h"]\n'
            '[kernel.scatter]\nbackend = "cuda"\ndepends = ["torch"]\ncuda-capabilities = ["9.0a"]\n'
            'src = ["csrc/cuda/scatter.cu", "csrc/shapes.h"]\ninclude = ["csrc"]\ncuda-flags = ["-lineinfo"]\n')
        self.new("--from", "project", "--pack", "mine")
        text = (self.space.root / "mine" / "pack.yaml").read_text()
        self.assertIn("      - {path: csrc/cuda/scatter.cu, archs: {only: [9.0a]}}\n", text)
        self.assertIn("    module: shapes._shapes\n    module_suffix: .abi3.so\n", text)
        self.assertIn("      nvcc: [-lineinfo]\n", text)
        self.assertIn("    requires: [{torch: '>=2.0'}]\n", text)
        plan = self.space.run("plan", "--pack", "mine", "--ops", "all", "--arch", "9.0a", "--strict", *self.space.options)
        self.assertEqual(plan.code, 0, plan)
        # Not every kernel is one of torch.
        toml = self.space.project / "build.toml"
        toml.write_text(toml.read_text().replace('[torch]\nsrc = ["csrc/scatter.cpp", "csrc/shapes.h"]\n', "").replace(
            'depends = ["torch"]\n', ""))
        self.new("--from", "project", "--pack", "other")
        self.assertNotIn("torch:", (self.space.root / "other" / "pack.yaml").read_text())
        plan = self.space.run("plan", "--pack", "other", "--ops", "all", "--arch", "9.0a", "--strict", *self.space.options)
        self.assertEqual(plan.code, 0, plan)

    def test_the_same_project_gives_the_same_bytes(self):
        texts = set()
        for name in ("one", "two"):
            self.new("--from", "project", "--pack", name)
            texts.add((self.space.root / name / "pack.yaml").read_text())
        self.assertEqual(len(texts), 1)

    def test_what_is_there_stays(self):
        (self.space.root / "mine").mkdir()
        (self.space.root / "mine" / "pack.yaml").write_text("# mine\n")
        self.assertIn("error[file_exists]", self.new("--from", "project", "--pack", "mine", code=2).err)
        self.assertEqual((self.space.root / "mine" / "pack.yaml").read_text(), "# mine\n")


class BuildTest(CliTest):
    """dsbuild build DIR."""

    def setUp(self):
        self.space = FromSpace()

    def build(self, *words, code=0, **options):
        run = self.space.run("build", *words, *self.space.options, **options)
        self.assertEqual(run.code, code, run)
        return run

    def archs(self, op):
        manifest = json.loads((self.space.root / "dsbuild-out" / "manifest.json").read_text())
        return next(each for each in manifest["ops"] if each["name"] == op)["archs"]

    def test_modules_lie_where_the_package_looks_for_them(self):
        self.build("project", "--inplace")
        self.assertEqual(self.archs("scatter_cuda"), ["8.0", "9.0+PTX"])  # of setup.py, for none are asked for
        for name, op in (("_scatter_cuda", "scatter_cuda"), ("_gather_cuda", "gather_cuda"), ("_host", "shapes_host")):
            self.assertEqual((self.space.project / "shapes" / f"{name}.so").read_bytes(),
                             (self.space.root / "dsbuild-out" / f"{op}.so").read_bytes())
        self.assertEqual(sorted(file.name for file in (self.space.project / "shapes").iterdir()),
                         ["__init__.py", "_gather_cuda.so", "_host.so", "_scatter_cuda.so"])

    def test_nothing_changed_is_nothing_to_do_and_what_went_is_put_back(self):
        self.build("project", "--inplace")
        module = self.space.project / "shapes" / "_host.so"
        before = module.read_bytes()
        module.unlink()
        again = self.build("project", "--inplace")
        self.assertEqual((again.edges_run(), module.read_bytes()), (0, before), again)

    def test_clean_takes_the_pack_too_where_it_is_not_yours(self):
        pack = self.space.root / ".dsbuild-project"
        for mine in (False, True):
            self.build("project")
            if mine:
                (pack / "pack.yaml").write_text("# mine\n" + (pack / "pack.yaml").read_text())
            run = self.space.run("clean", "--build-dir", ".dsbuild")
            self.assertEqual((run.code, pack.exists()), (0, mine), run)
            self.assertEqual(run.err.count("removed"), 1 if mine else 2)

    def test_what_is_asked_for_beats_the_projects_archs(self):
        self.build("project", "--arch", "9.0")
        self.assertEqual(self.archs("scatter_cuda"), ["9.0"])

    def test_variables_that_setup_py_sets_are_those_of_the_build(self):
        """As they are where setup.py itself builds: torch reads its own after setup.py has set it."""
        without_archs = SETUP.replace("] + archs}", "]}").replace('"--threads", "4"', '"-DX"')
        (self.space.project / "setup.py").write_text("import os\nos.environ['TORCH_CUDA_ARCH_LIST'] = '8.0;9.0'\n" + without_archs)
        for asked, archs in (({}, ["8.0", "9.0"]), ({"TORCH_CUDA_ARCH_LIST": "7.5"}, ["8.0", "9.0"])):
            run = self.build("project", env=asked)
            self.assertIn("setup.py sets TORCH_CUDA_ARCH_LIST=8.0;9.0", run.err)
            self.assertEqual(self.archs("scatter_cuda"), archs)
        self.build("project", "--arch", "9.0")
        self.assertEqual(self.archs("scatter_cuda"), ["9.0"])
        (self.space.project / "setup.py").write_text("import os\nos.environ['CFLAGS'] = '-DOF_SETUP=4'\n" + SETUP)
        (self.space.project / "csrc" / "last.cc").write_text(binding("last_run") + "#if OF_SETUP != 4\n#error missing\n#endif\n")
        self.build("project")

    def test_the_projects_own_folder_holds_headers(self):
        (self.space.project / "setup.py").write_text(SETUP.replace('include_dirs=["csrc"]', "include_dirs=[here]"))
        (self.space.project / "csrc" / "last.cc").write_text(binding("last_run") + '#include "csrc/shapes.h"\n')
        self.build("project")
        self.assertIn("include_dirs: [.]", (self.space.root / ".dsbuild-project" / "pack.yaml").read_text())
        plan = json.loads(self.space.run("plan", "--pack", ".dsbuild-project", "--ops", "shapes_host", "--json", *self.space.options).out)
        host = next(op for op in plan["ops"] if op["name"] == "shapes_host")
        self.assertIn(f"-I{self.space.project}", host["sources"][0]["flags"])
        self.assertEqual(self.build("project").edges_run(), 0)
        (self.space.project / "csrc" / "shapes.h").write_text("#error seen\n")
        self.assertIn("csrc/shapes.h:1:2: error: #error seen", self.build("project", code=1).err)

    def test_a_module_is_built_whole_or_not_at_all(self):
        for old, new, said in (('["csrc"],', '["csrc"], extra_objects=["prebuilt.o"],', "extra_objects prebuilt.o"),
                               ('here + "/csrc/last.cc"', '"csrc/fast.c"', "csrc/fast.c: neither C++ nor CUDA"),
                               ('here + "/csrc/last.cc"', '"/opt/elsewhere.cc"', "/opt/elsewhere.cc: lies outside of the project")):
            (self.space.project / "setup.py").write_text(SETUP.replace(old, new))
            run = self.build("project", code=1)
            self.assertIn("modules would not be whole without", run.err)
            self.assertIn(said, run.err)
            self.assertFalse((self.space.root / "dsbuild-out").exists())

    def test_the_pack_is_never_older_than_what_it_is_made_of(self):
        self.build("project")
        self.assertEqual(self.build("project").edges_run(), 0)
        # A file that its glob finds, a variable that it reads, a file that it reads, itself.
        setup = self.space.project / "setup.py"
        (self.space.project / "csrc" / "host" / "d.cpp").write_text(binding("d_run"))
        added = self.build("project")
        self.assertGreater(added.edges_run(), 0)
        self.assertIn("csrc/host/d.cpp", (self.space.root / "dsbuild-out" / "manifest.json").read_text())
        setup.write_text(SETUP.replace('"-O2"', 'os.environ.get("LEVEL", "-O2"), open("level").read()'))
        (self.space.project / "level").write_text("-g1")
        self.build("project")
        text = (self.space.root / ".dsbuild-project" / "pack.yaml").read_text()
        self.assertIn("-O2, -g1]", text)
        self.assertGreater(self.build("project", env={"LEVEL": "-O1"}).edges_run(), 0)
        (self.space.project / "level").write_text("-g2")
        self.assertGreater(self.build("project").edges_run(), 0)
        self.assertIn("-O2, -g2]", (self.space.root / ".dsbuild-project" / "pack.yaml").read_text())

    def test_packages_below_a_folder(self):
        (self.space.project / "setup.py").write_text(SETUP.replace("package_dir={}", 'package_dir={"": "src"}'))
        (self.space.project / "src" / "shapes").mkdir(parents=True)
        (self.space.project / "src" / "shapes" / "__init__.py").write_text("")
        self.build("project", "--inplace")
        self.assertTrue((self.space.project / "src" / "shapes" / "_host.so").exists())
        self.assertFalse((self.space.project / "shapes" / "_host.so").exists())

    def test_a_folder_with_a_pack_of_its_own_is_that_pack(self):
        self.space.run("new", "--from", "project", "--pack", "mine", *self.space.options)
        (self.space.project / "setup.py").write_text("raise SystemExit('it was run')\n")
        self.build("mine", "--arch", "8.0")
        self.assertEqual(self.archs("scatter_cuda"), ["8.0"])

    def test_words_that_are_no_folder(self):
        self.check_alone("build_no_folder", self.space, "build", "scatter", code=2)
        self.assertIn("both say what is built", self.build("project", "--pack", "mine", code=2).err)
        (self.space.project / "setup.py").write_text("raise ValueError('whales')\n")
        self.assertIn("ValueError: whales", self.build("project", code=1).err)


class FaultyTest(CliTest):
    """Each says what is wrong and what helps."""

    @classmethod
    def setUpClass(cls):
        cls.space = FromSpace()

    def refused(self, setup, named="project"):
        if setup is not None:
            (self.space.project / "setup.py").write_text(setup)
        run = self.space.run("new", "--from", named, "--pack", "mine", *self.space.options)
        self.assertEqual(run.code, 1, run)
        self.assertIn("error[bad_project]", run.err)
        self.assertFalse((self.space.root / "mine" / "pack.yaml").exists())
        return run.err

    def test_a_setup_py_that_fails_is_named_with_its_line(self):
        said = self.refused("import torch\n\nraise RuntimeError('no compiler for whales')\n")
        self.assertIn("setup.py fails: RuntimeError: no compiler for whales (setup.py:3: raise RuntimeError", said)
        self.assertRegex(said, r"Its last lines:\n +Traceback")

    def test_one_that_imports_what_is_not_there(self):
        self.assertIn("ModuleNotFoundError: No module named 'whales'", self.refused("import whales\n"))

    def test_one_that_ends_itself(self):
        self.assertIn("ends itself (3) before it calls setup()", self.refused("import sys\nsys.exit(3)\n"))

    def test_one_that_does_not_call_setup(self):
        self.assertIn("does not call setup()", self.refused("x = 1\n"))

    def test_one_without_extensions(self):
        self.assertIn("names no extension modules", self.refused("from setuptools import setup\nsetup(name='a')\n"))
        reads = ["os.environ.get('BUILD_A')", "os.getenv('BUILD_B', '0')", "'BUILD_C' in os.environ", "os.environ.get('BUILD_A')",
                 "os.environ.copy(), {**os.environ}, os.environ['PATH']"]
        text = "import os\nfrom setuptools import setup\n" + "".join(f"{each}\n" for each in reads) + "setup(name='a')\n"
        self.assertIn("is not set: it looks for BUILD_A (setup.py:3), BUILD_B (setup.py:4), BUILD_C (setup.py:5).", self.refused(text))

    def test_one_whose_extensions_are_not_of_torch(self):
        said = self.refused("from setuptools import setup, Extension\nsetup(name='a', ext_modules=[Extension('a', ['a.c'])])\n")
        self.assertIn("no extension that is one of torch", said)

    def test_a_folder_without_setup_py_and_a_file_that_is_no_archive(self):
        (self.space.root / "empty").mkdir()
        self.assertIn("has no setup.py", self.refused(None, "empty"))
        (self.space.root / "no.tar.gz").write_text("no archive\n")
        self.assertIn("neither a folder nor an archive", self.refused(None, "no.tar.gz"))
        self.assertIn("there is no such folder or file", self.refused(None, "absent"))

    def test_what_it_says(self):
        (self.space.root / "bare").mkdir()
        self.check_alone("new_from_bare", self.space, "new", "--from", "bare", "--pack", "mine", *self.space.options, code=1)

    def test_no_python(self):
        run = self.space.run("new", "--from", "project", "--python", "/nonexistent/python")
        self.assertEqual(run.code, 3, run)
        self.assertIn("error[python]", run.err)


if __name__ == "__main__":
    testspace.main(each_commit=12)
