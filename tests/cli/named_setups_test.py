#!/usr/bin/env python3
"""What setup.py files and their surroundings say in unusual ways, each by itself: the hook takes the extension and its commands
mean the same, or it says what would differ. Random ones are in random_setup_test.py."""

import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import random_setup_test  # noqa: E402
from cli import CliTest, testspace  # noqa: E402
from random_setups import HEAD, Case  # noqa: E402

BOTH = "['csrc/a.cpp', 'csrc/k.cu']"
OF_TORCH = "site-packages/torch/include"


def of_flags(cxx=(), nvcc=()):
    return f"CUDAExtension('_a', {BOTH}, extra_compile_args={{'cxx': {list(cxx)}, 'nvcc': {list(nvcc)}}})"


class NamedSetupsTest(CliTest):
    compared = random_setup_test.RandomSetupTest.compared

    @classmethod
    def setUpClass(cls):
        cls.space = random_setup_test.SetupSpace()
        cls.addClassCleanup(cls.space.torch.communicate)

    def case(self, extensions, environment=None, way="BuildExtension", archs="8.0"):
        case = Case(self.space.root, 0, "named")
        case.setup = HEAD + f"setup(name='pk', version='1', cmdclass={{'build_ext': {way}}}, ext_modules=[{extensions}])\n"
        case.kinds = {name: kind for kind, name in re.findall(r"(CUDAExtension|CppExtension)\('([\w.]+)'", extensions)}
        case.sources = dict.fromkeys(re.findall(r"(?:(?:\.\./)+(?:elsewhere/)?|csrc/)[\w/.]+\.\w+", extensions), "")
        case.cfg, case.options = "", []
        case.environment = {name: case.real(value) for name, value in (environment or {}).items()} | {"TORCH_CUDA_ARCH_LIST": archs}
        return case

    def check(self, *of_case, aside=0, said="", **more_of_case):
        """So many extensions are left to the project's own build, with a line that holds `said`."""
        case, self.counts = self.case(*of_case, **more_of_case), collections.Counter()
        self.assertEqual(self.compared(case), [])
        self.assertEqual((self.counts["aside"], self.counts["taken"]), (aside, len(case.kinds) - aside))
        lines = [line for line in self.space.build(case, True)[1].splitlines() if re.match("dsbuild: |  left out: |error", line)]
        self.assertEqual((len(lines), sum(said in line for line in lines)), (aside, aside), lines)

    def test_folders_of_one_language(self):
        """CFLAGS and CPPFLAGS reach C++ alone; both sources ask by __has_include."""
        self.check(of_flags(), {"CPPFLAGS": "-IELSEWHERE/far"})
        self.check(of_flags(), {"CFLAGS": "-isystem ELSEWHERE/far"})
        self.check(of_flags(["-Imore/inc"], ["-Iinc"]), way="BuildExtension.with_options(use_ninja=False)")
        self.check(of_flags().replace("'cxx': []", "'cxx': ['-I' + here + '/inc']"))

    def test_folders_of_the_compiler_s_variables(self):
        relative = "CPATH names the folder 'inc', which is relative"
        without_ninja = "BuildExtension.with_options(use_ninja=False)"
        self.check("CppExtension('_a', ['csrc/a.cpp'])", {"CPATH": "inc"}, without_ninja, aside=1, said=relative)
        self.check("CppExtension('_a', ['csrc/a.cpp'])", {"CPLUS_INCLUDE_PATH": ":/nowhere"}, without_ninja, aside=1,
                   said="CPLUS_INCLUDE_PATH names the folder ''")
        self.check("CppExtension('_a', ['csrc/a.cpp'])", {"CPATH": "inc"})  # ninja runs elsewhere
        self.check("CppExtension('_a', ['csrc/a.cpp'])", {"CPATH": "ELSEWHERE/shadow"}, aside=1, said=OF_TORCH)

    def test_archs_in_flags(self):
        self.check(of_flags(nvcc=["-Xcompiler", "-march=x86-64-v3"]), aside=1, said="it is for the arch that nvcc takes by itself")
        self.check(of_flags(nvcc=["-Dsearch=1"]), aside=1, said="it is for the arch that nvcc takes by itself")
        self.check(of_flags(nvcc=["-arch=sm_80", "--gpu-architecture=sm_90"]))
        self.check(of_flags(nvcc=["-arch", "sm_90", "-arch", "sm_80", "-arch", "sm_90"]))

    def test_archs_that_two_extensions_do_not_share(self):
        """8.0 is what torch is asked for to tell what it adds by itself. Names without a letter: ops' names are made of them."""
        flags = [of_flags(nvcc=[f"-gencode=arch=compute_{arch},code=sm_{arch}"]).replace("'_a'", f"'_{arch}'") for arch in (80, 90)]
        self.check(flags[0])
        self.check(flags[0], {"TORCH_CUDA_ARCH_LIST": "9.0"})
        self.check(", ".join(flags))

    def test_libraries(self):
        self.check("CUDAExtension('_a', ['csrc/a.cpp'], libraries=['cudart'], extra_link_args=['-ldl'])", aside=1,
                   said="the order of the libraries")
        self.check("CUDAExtension('_a', ['csrc/a.cpp'], extra_link_args=['-Wl,--no-as-needed'])", aside=1,
                   said="the order of the libraries")  # it counts for those that the compiler adds
        self.check("CUDAExtension('_a', ['csrc/a.cpp'])", {"LDFLAGS": "-Wl,--no-as-needed"})
        self.check("CUDAExtension('_a', ['csrc/a.cpp'], libraries=['cudart'])")
        self.check("CUDAExtension('_a', ['csrc/a.cpp'], runtime_library_dirs=['$ORIGIN/lib'])")

    def test_the_linker_s_variable(self):
        self.check("CppExtension('_a', ['csrc/a.cpp'])", {"LD_RUN_PATH": "/opt/lib"}, aside=1, said="LD_RUN_PATH")

    def test_the_standard_in_the_user_s_flags(self):
        self.check(of_flags(), {"CFLAGS": "-std=c++14"})
        self.check(of_flags(["-std=c++20"], ["-std=c++20"]), {"CFLAGS": "-std=c++14"})

    def test_extensions_that_share_nothing(self):
        self.check("CppExtension('_a', ['csrc/a.cpp'], include_dirs=['inc']), CppExtension('_b', ['csrc/b.cpp'])")

    def test_a_cuda_source_of_a_cpp_extension(self):
        """The other extension is taken all the same."""
        self.check(f"CppExtension('_a', {BOTH}), CppExtension('_b', ['csrc/b.cpp'])", aside=1, said="left out: _a is left to its own build: csrc/k.cu: a CUDA source of a CppExtension")

    def test_what_lies_or_is_made_elsewhere(self):
        """Each by one line; a project may be in a folder beside its sources."""
        left = "it has no extension that dsbuild can take as it is: _a is left to its own build: "
        self.check("CUDAExtension('_a', ['csrc/a.cpp', '../elsewhere/k.cu'], include_dirs=['../elsewhere/out', 'inc'])")
        self.check("CppExtension('_a', ['csrc/a.cpp', '../elsewhere/b.cpp'])", way="BuildExtension.with_options(use_ninja=False)")
        self.check("CppExtension('_a', ['csrc/a.cpp', '../../../../b.cpp'])", aside=1, said="b.cpp: lies outside of the project")
        self.check("CUDAExtension('_a', ['csrc/a.cpp'], extra_link_args=[here + '/x.o'])", aside=1, said=left + "extra_objects ")
        self.check("CppExtension('_a', ['csrc/a.cpp', 'csrc/b.c'])", aside=1, said=left + "csrc/b.c: neither C++ nor CUDA")


if __name__ == "__main__":
    testspace.main(each_commit=5)
