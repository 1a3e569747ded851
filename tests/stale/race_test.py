#!/usr/bin/env python3
"""Files that are edited while a compiler reads them. A compiler that is a script makes the edit, once, at the moment that
a test is about; what is published is what is on disk, and the next build knows what was made of what."""

import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from stale import StaleTest, write_program  # noqa: E402

CACHE = tempfile.TemporaryDirectory(prefix="dsbuild-test-")
SOURCE = '#include "v.h"\nextern "C" int NAME() { return V; }\n'
CUDA = '#include "v.h"\n__global__ void k(int* x) { *x = V; }\nextern "C" int v() { return V; }\n'
COMPILE = "*'-c pack/a.cpp'*"
ONE, TWO = "#define V 1\n", "#define V 2\n"


class RaceTest(StaleTest):
    def setUp(self):
        super().setUp()
        self.marks = self.space.root / "marks"
        self.marks.mkdir()

    def use_compiler(self, *cases):
        """A compiler that does, for command lines with certain words, other things once: [(words, commands)]. In the commands
        $real is the compiler and `once` begins a command that runs a single time."""
        text = f'real="{shutil.which("g++")}"\nmarks="{self.marks}"\n' \
               'once() { mkdir "$marks/$1" 2>/dev/null && { shift; "$@"; }; }\n' \
               'until_there() { n=0; while [ ! -e "$marks/$1" ] && [ $n -lt 500 ]; do sleep 0.02; n=$((n+1)); done; }\n'
        for words, commands in cases:
            text += f'case "$*" in {words})\n{commands}\nexit $code;;\nesac\n'
        script = write_program(self.space.root / "compiler/g++", text + 'exec "$real" "$@"\n')
        self.space.environment.update({"CXX": str(script), "CUDAHOSTCXX": str(script)})

    def replacing(self, path, text, name="edit"):
        """The command that writes the text into the file."""
        new = self.space.root / f"new {name}"
        new.write_text(text)
        return f'once {name} cp "{new}" "{self.space.pack.source(path)}"'

    def check_race(self, **options):
        """What the build that is raced with publishes, if it does; what the next one ends with; and one that asks the cache."""
        run = self.space.build()
        if not (self.marks / "edit").exists():
            raise RuntimeError(f"nothing was edited: {run}")
        if run.code == 0:
            found = testspace.bundle_files(self.space.out)
            if found != self.space.scratch(**options)[1]:
                self.fail(f"what is published was never made of what is on disk\n{run}")
        self.check(**options)
        self.clean()
        self.check(**options)

    # ---- what is edited, and when

    def edit_header_while_it_compiles(self):
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE})
        self.space.write("v.h", ONE)
        self.use_compiler((COMPILE, f'"$real" "$@"; code=$?; sleep 0.05; {self.replacing("v.h", TWO)}; sleep 0.05'))

    def edit_source_while_it_compiles(self):
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE})
        self.space.write("v.h", ONE)
        edited = SOURCE.replace("V;", "V + 5;")
        self.use_compiler((COMPILE, f'"$real" "$@"; code=$?; sleep 0.05; {self.replacing("a.cpp", edited)}; sleep 0.05'))

    def edit_header_there_and_back(self):
        """The compiler reads what was there before and after in no moment."""
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE})
        self.space.write("v.h", ONE)
        back = self.replacing("v.h", ONE, "back")
        self.use_compiler((COMPILE, f'{self.replacing("v.h", TWO)}; "$real" "$@"; code=$?; {back}'))

    def edit_header_between_two_ops(self):
        for name in ("one", "two"):
            self.space.add_cpu_op(name, {f"{name}.cpp": SOURCE.replace("NAME", name)}, [f"{name}.cpp"])
        self.space.write("v.h", ONE)
        self.use_compiler(("*'-c pack/one.cpp'*", '"$real" "$@"; code=$?; mkdir -p "$marks/one"; until_there edit'),
                          ("*'-c pack/two.cpp'*", f'until_there one; {self.replacing("v.h", TWO)}; "$real" "$@"; code=$?'))

    def edit_header_between_two_passes(self):
        """One file of CUDA, of which the host sees another header than the device."""
        self.space.toolkit.home = pathlib.Path(testspace.find_real_toolkit())
        self.space.environment.update({"XDG_CACHE_HOME": CACHE.name, "DSBUILD_CACHE_DIR": str(self.space.root / "store")})
        self.space.pack.add_op("tool", {"a.cu": CUDA})
        self.space.write("v.h", ONE)
        self.use_compiler(("*-E*pack/a.cu*", f'"$real" "$@"; code=$?; {self.replacing("v.h", TWO)}'))

    def test_a_header_that_is_edited_while_it_compiles_is_not_published_half_and_counts_next_time(self):
        self.edit_header_while_it_compiles()
        self.check_race()

    def test_a_source_that_is_edited_while_it_compiles_is_not_published_half_and_counts_next_time(self):
        self.edit_source_while_it_compiles()
        self.check_race()

    def test_an_edit_there_and_back_is_not_published_and_is_gone_next_time(self):
        self.edit_header_there_and_back()
        self.check_race()

    def test_two_ops_that_saw_different_headers_are_not_published_together_and_are_made_anew_next_time(self):
        self.edit_header_between_two_ops()
        self.check_race()

    def test_a_file_whose_host_and_device_saw_different_headers_is_not_published_and_is_made_anew_next_time(self):
        self.edit_header_between_two_passes()
        self.check_race(cache=CACHE.name)


if __name__ == "__main__":
    testspace.main(each_commit=3)
