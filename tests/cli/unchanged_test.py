#!/usr/bin/env python3
"""A build with nothing to do is not planned again (tests/faults/null_build_test.py). Whatever a plan, a bundle or an edge is made of: the build
after its change leaves nothing for a build that remembers nothing."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack, binding  # noqa: E402
from wrappers import Wrapper  # noqa: E402

SPEC = "alpha/op.yaml"


class Changes:
    """Each in a space that is built."""

    def __init__(self, space):
        self.space, self.more, self.env = space, [], {}

    def replace(self, path, old, new):
        text = path.read_text()
        assert old in text, path
        times = path.stat()
        path.write_text(text.replace(old, new))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def a_flag_in_a_spec(self):
        self.replace(self.space.pack.folder / SPEC, "name: ", "flags: {cxx: [-O1]}\nname: ")

    def a_source(self):
        self.replace(self.space.pack.source("alpha/alpha.cu"), "alpha_kernel", "alpha_kernel\n// more")

    def a_header(self):
        self.space.pack.source("alpha/shared.h").write_text("// another\n")

    def an_op_more(self):
        self.space.pack.add_op("more", {"more.cpp": 'extern "C" int more() { return 1; }\n'}, {"backend": "cpu", "exports": ["more"]})

    def an_op_less(self):
        shutil.rmtree(self.space.pack.folder / "host")

    def another_arch(self):
        self.space.arch = "8.0"

    def a_macro_of_the_environment(self):
        self.env = {"NVCC_APPEND_FLAGS": "-DMORE=1"}

    def another_option(self):
        self.more = ["--debug"]

    def a_published_library(self):
        file = self.space.out / "alpha.so"
        file.write_bytes(file.read_bytes()[:-1] + b"\1")

    def a_published_library_that_is_lost(self):
        (self.space.out / "alpha.so").unlink()

    def no_bundle(self):
        shutil.rmtree(self.space.out)

    def an_object_that_is_lost(self):
        next(self.space.build_dir.glob("obj/alpha/*/*/alpha.o")).unlink()

    def a_built_library_that_is_lost(self):
        (self.space.build_dir / "lib" / "alpha.so").unlink()

    def a_graph_that_was_edited(self):
        with open(self.space.build_dir / "build.ninja", "a", encoding="ascii") as file:
            file.write("# edited\n")

    def a_toolkit_upgraded_in_place(self):
        nvcc = self.space.toolkit.home / "bin" / "nvcc"
        nvcc.write_bytes(nvcc.read_bytes() + b"upgraded\n")

    def what_is_remembered_itself(self):
        file = self.space.build_dir / "unchanged"
        text = bytearray(file.read_bytes())
        text[len(text) // 2] ^= 1
        file.write_bytes(text)


CHANGES = [name for name in vars(Changes) if not name.startswith("_") and name != "replace"]


def make_pack_of_headers(folder):
    pack = Pack(folder, "headers")
    pack.add_op("host", {"host.cpp": '#include <v.h>\n' + binding("host_run") + "int value = V;\n"},
                {"backend": "cpu", "include_dirs": ["first", "second"]})
    for name in ("first", "second"):
        pack.source(name).mkdir()
    pack.source("second/v.h").write_text("#define V 1\n")
    return pack


class HeaderTest(CliTest):
    def test_a_new_header_that_stands_before_another_is_seen(self):
        """Its depfile names the other one alone."""
        self.space = TestSpace(pack=make_pack_of_headers)
        self.assertEqual(self.space.build().code, 0)
        before = self.space.hash()
        self.space.pack.source("first/v.h").write_text("#define V 2\n")
        self.assertEqual(self.space.build().code, 0)
        self.assertNotEqual(self.space.hash(), before)


def make_pack_with_library(folder):
    pack = Pack(folder, "libraries")
    pack.add_op("plain", {"plain.cpp": binding("plain_run")}, {"backend": "cpu"})
    pack.add_op("needy", {"needy.cpp": binding("needy_run")}, {"backend": "cpu", "requires": [{"library": "late", "function": "late_call"}]})
    return pack


class LibraryTest(CliTest):
    def test_a_library_that_is_missing_is_asked_for_again_and_nothing_is_planned(self):
        space = TestSpace(pack=make_pack_with_library)
        space.environment["LDFLAGS"] = f"-L{space.root}/libraries"
        self.assertEqual(space.build().code, 0)
        self.assertIn("-llate", (space.build_dir / "unchanged").read_text())
        again = space.build()
        self.assertIn("built 1, skipped 1", again.out)
        self.assertIn("unchanged", again.out)
        source = space.root / "late.c"
        source.write_text("void late_call(void) {}\n")
        (space.root / "libraries").mkdir()
        subprocess.run(["g++", "-x", "c", "-shared", "-fPIC", source, "-o", space.root / "libraries/liblate.so"], check=True)
        self.assertIn("built 2, skipped 0", space.build().out)


class UnchangedTest(CliTest):
    def setUp(self):
        self.space = TestSpace()

    def after(self, change):
        """The build after the change, and one that remembers nothing."""
        self.space = TestSpace()
        self.assertEqual(self.space.build().code, 0)
        self.assertTrue((self.space.build_dir / "unchanged").exists())
        changes = Changes(self.space)
        getattr(changes, change)()
        run = self.space.build(*changes.more, env=changes.env)
        self.assertEqual(run.code, 0, run)
        (self.space.build_dir / "unchanged").unlink(missing_ok=True)
        return run, self.space.build(*changes.more, env=changes.env)

    def did_something(self, run):
        return run.edges_run() > 0 or "unchanged" not in run.out

    def test_after_every_change_nothing_is_left_to_do(self):
        for change in testspace.some_of(CHANGES, 10):
            with self.subTest(change):
                run, full = self.after(change)
                self.assertFalse(self.did_something(full), full)
                harmless = change in ("a_graph_that_was_edited", "what_is_remembered_itself")
                self.assertEqual(self.did_something(run), not harmless, run)

    def test_it_says_what_it_said_before(self):
        first = self.space.build()
        again = self.space.build()
        progress = re.search(r"(?m)^\d\d:\d\d:\d\d \[", first.err)
        self.assertEqual(again.err, first.err[:progress.start()])
        self.assertIn("unchanged", again.out)
        self.assertIn("built 4, skipped 0", again.out)

    def test_a_build_that_failed_is_not_remembered(self):
        self.assertEqual(self.space.build().code, 0)
        self.space.pack.source("beta/one.cu").write_text("// export: beta_one\n#error no\n")
        self.space.toolkit.set(fail=["one.cu"])
        self.assertEqual(self.space.build().code, 1)
        self.assertEqual(self.space.build().code, 1)

    def test_another_dsbuild_in_the_folder_is_waited_for(self):
        self.assertEqual(self.space.build().code, 0)
        self.space.toolkit.set(sleep=2)
        self.space.pack.source("alpha/alpha.cu").write_text("// export: alpha_kernel\n// slow\n")
        with self.space.start_build() as first:
            testspace.wait_until(lambda: self.space.toolkit.starts() and "alpha" in str(self.space.toolkit.starts()[-1]))
            second = self.space.build()
            first.communicate()
        self.assertEqual((first.returncode, second.code), (0, 0), second)


class WrapperTest(CliTest):
    """CXX starts another compiler: it is asked again, and the plan is not made again."""

    def build(self):
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        return run

    def start(self, kind):
        self.space = TestSpace(pack=make_pack_of_headers)
        self.wrapper = Wrapper(self.space.root / "w/g++", shutil.which("g++"), kind, "-DFIRST")
        self.space.environment["CXX"] = str(self.wrapper.path)
        self.build()

    def another_compiler(self):
        other = Wrapper(self.space.root / "other/g++", shutil.which("g++"), "script", "-DOTHER")
        self.wrapper.start(other.path)

    def other_options(self):
        self.wrapper.put_first("-DSECOND")

    def a_variable_that_it_reads(self):
        self.space.environment["SPACK_OPTIONS"] = "-DMORE"

    def a_file_of_the_build_folder(self):
        (self.space.build_dir / ".site-options").write_text("-DMORE")

    def check(self, kind, change):
        self.start(kind)
        remembered = self.space.build_dir / "unchanged"
        before = remembered.read_text()
        self.assertIn("--version", before)
        self.assertEqual(self.build().edges_run(), 0)
        change()
        self.assertGreater(self.build().edges_run(), 0)
        self.assertNotEqual(remembered.read_text(), before)
        remembered.unlink()
        self.assertEqual(self.build().edges_run(), 0)

    def test_a_script(self):
        for change in (self.another_compiler, self.other_options, self.a_variable_that_it_reads, self.a_file_of_the_build_folder):
            with self.subTest(change.__name__):
                self.check("script", change)

    def test_a_program(self):
        self.check("program", self.another_compiler)


if __name__ == "__main__":
    testspace.main(each_commit=2)
