#!/usr/bin/env python3
"""Headers of the project that become others in ways that times and names do not tell: put back with an older time, links
that point elsewhere, another source tree, files that come to stand before them."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from devices import BACKENDS, add_device_op, use_device_compiler  # noqa: E402
from stale import TICK, StaleTest, add_tests  # noqa: E402

SOURCE = '#include <v.h>\nextern "C" int v() { return V; }\n'
OPTIONAL = '#if __has_include("NAME")\n#include "NAME"\n#else\n#define V 1\n#endif\nextern "C" int v() { return V; }\n'
ONE, TWO = "#define V 1\n", "#define V 2\n"
DEVICE = '#include "v.h"\n__global__ void k(int* x) { *x = V; }\nextern "C" int v() { return V; }\n'

# Each of them is a file's name to gcc, to Make and to a shell in its own way.
NAMES = ["a b.h", "a#b.h", "a$b.h", "a&b.h", "a;b.h", "a^b.h", "a:b.h", "a%b.h", "a\\b.h", "a'b.h", "a|b.h", "a<b.h", "a=b.h",
         "a*b.h", "a?b.h", "世.h", "a\tb.h", "a`b.h", "a(b).h", "a\\ b.h", "a\\#b.h", "ab\\\\.h", "a$$b.h",
         "a b c/v.h", "x~/v.h", "x.h~"]


def run(*words, cwd):
    subprocess.run(list(map(str, words)), cwd=cwd, check=True)


@testspace.deep_but("test_tar", "test_same_size_and_time", "test_epoch")
class OldTimeTest(StaleTest):
    """The header is put back from a copy that was made before the first build, with its time."""

    def check_put_back(self, keep, put_back):
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE}, include_dirs=["inc"])
        header, folder = self.space.write("inc/v.h", ONE), self.space.root
        keep(header, folder)
        time.sleep(TICK)
        header.write_text(TWO)
        self.check_change(lambda: put_back(header, folder))

    def test_mv(self):
        self.check_put_back(lambda header, folder: run("cp", "-p", header, folder / "v.h", cwd=folder),
                            lambda header, folder: run("mv", folder / "v.h", header, cwd=folder))

    def test_cp_p(self):
        self.check_put_back(lambda header, folder: run("cp", "-p", header, folder / "v.h", cwd=folder),
                            lambda header, folder: run("cp", "-p", folder / "v.h", header, cwd=folder))

    def test_tar(self):
        self.check_put_back(lambda header, folder: run("tar", "cf", folder / "v.tar", "v.h", cwd=header.parent),
                            lambda header, folder: run("tar", "xf", folder / "v.tar", cwd=header.parent))

    def test_rsync(self):
        if not shutil.which("rsync"):
            self.skipTest("rsync is not installed")
        self.check_put_back(lambda header, folder: run("rsync", "-a", header, folder / "v.h", cwd=folder),
                            lambda header, folder: run("rsync", "-a", "--checksum", folder / "v.h", header, cwd=folder))

    def test_same_size_and_time(self):
        """Only the time of the change of its inode tells."""
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE}, include_dirs=["inc"])
        header = self.space.write("inc/v.h", ONE)
        times = header.stat()

        def change():
            header.write_text(TWO)
            os.utime(header, ns=(times.st_atime_ns, times.st_mtime_ns))

        self.check_change(change)

    def test_epoch(self):
        """As tools that make archives reproducible leave times."""
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE}, include_dirs=["inc"])
        header = self.space.write("inc/v.h", ONE)

        def change():
            header.write_text(TWO)
            os.utime(header, (0, 0))

        self.check_change(change)


@testspace.deep_but("test_a_link_to_a_link_is_pointed_elsewhere", "test_a_folder_within_a_path_is_pointed_elsewhere")
class LinkTest(StaleTest):
    def check_link(self, link, target, other):
        path = self.space.pack.source(link)
        path.symlink_to(target)

        def change():
            path.unlink()
            path.symlink_to(other)

        self.check_change(change)

    def test_a_header_that_is_a_link_is_pointed_elsewhere(self):
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE}, include_dirs=["inc"])
        self.space.write("inc/v1.h", ONE)
        self.space.write("inc/v2.h", TWO)
        self.check_link("inc/v.h", "v1.h", "v2.h")

    def test_a_link_to_a_link_is_pointed_elsewhere(self):
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE}, include_dirs=["inc"])
        self.space.write("other/v1.h", ONE)
        self.space.write("other/v2.h", TWO)
        self.space.pack.source("inc").mkdir()
        self.space.pack.source("inc/v.h").symlink_to("../other/v.h")
        self.check_link("other/v.h", "v1.h", "v2.h")

    def test_a_folder_that_is_a_link_is_pointed_elsewhere(self):
        self.space.write("inc/v1/v.h", ONE)
        self.space.write("inc/v2/v.h", TWO)
        self.space.pack.source("inc/current").mkdir()
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE}, include_dirs=["inc/current"])
        self.space.pack.source("inc/current").rmdir()
        self.check_link("inc/current", "v1", "v2")

    def test_a_folder_within_a_path_is_pointed_elsewhere(self):
        self.space.write("inc/v1/v.h", ONE)
        self.space.write("inc/v2/v.h", TWO)
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE.replace("<v.h>", "<current/v.h>")}, include_dirs=["inc"])
        self.check_link("inc/current", "v1", "v2")


class TreeTest(StaleTest):
    def two_trees(self):
        for name, text in (("v1", ONE), ("v2", TWO)):
            (self.space.root / name / "inc").mkdir(parents=True)
            (self.space.root / name / "inc" / "v.h").write_text(text)
            shutil.copyfile(self.space.pack.source("a.cpp"), self.space.root / name / "a.cpp")

    def test_another_source_tree_in_the_same_build_folder(self):
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE, "inc/v.h": ONE}, include_dirs=["inc"])
        self.two_trees()
        before = self.build("--source", str(self.space.root / "v1"))
        self.check("--source", str(self.space.root / "v2"), before=before)

    def test_the_source_tree_is_exchanged_for_an_older_one(self):
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE, "inc/v.h": ONE}, include_dirs=["inc"])
        self.two_trees()
        current = self.space.root / "current"
        current.symlink_to("v1")
        before = self.build("--source", str(current))
        current.unlink()
        current.symlink_to("v2")
        self.check("--source", str(current), before=before)


@testspace.deep_but(
    "test_a_folder_with_a_dot_comes_later", "test_a_header_comes_to_stand_before_another_through_dots",
    "test_a_header_in_front_goes_away", "test_a_header_outside_the_project_comes_to_stand_before_another")
class ShadowTest(StaleTest):
    def test_a_name_with_a_dot_comes_later(self):
        self.space.add_cpu_op("hosty", {"a/a.cpp": OPTIONAL.replace("NAME", ".local.h")}, ["a/a.cpp"])
        self.check_change(lambda: self.space.write("a/.local.h", TWO))

    def test_a_folder_with_a_dot_comes_later(self):
        self.space.add_cpu_op("hosty", {"a/a.cpp": OPTIONAL.replace("NAME", "../.local/v.h")}, ["a/a.cpp"])
        self.check_change(lambda: self.space.write(".local/v.h", TWO))

    def test_a_header_comes_to_stand_before_another_through_dots(self):
        self.space.add_cpu_op("hosty", {"a/a.cpp": '#include "../common/x.h"\nextern "C" int v() { return V; }\n'}, ["a/a.cpp"],
                              include_dirs=["a"])
        self.space.write("common/x.h", '#include "v.h"\n')
        self.space.write("a/v.h", ONE)
        self.check_change(lambda: self.space.write("common/v.h", TWO))

    def test_a_header_comes_to_stand_before_another(self):
        self.space.pack.source("first").mkdir()
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE, "second/v.h": ONE}, include_dirs=["first", "second"])
        self.check_change(lambda: self.space.write("first/v.h", TWO))

    def test_a_header_in_front_goes_away(self):
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE, "first/v.h": ONE, "second/v.h": TWO}, include_dirs=["first", "second"])
        self.check_change(lambda: self.space.pack.source("first/v.h").unlink())

    def test_a_folder_of_headers_comes_later(self):
        """As a link, to a tree that is older than the build."""
        self.space.write("kept/v.h", TWO)
        self.space.write("elsewhere/x", "")
        files = {"a.cpp": SOURCE.replace("<v.h>", "<sub/v.h>"), "second/sub/v.h": ONE, "first/other.h": ""}
        self.space.add_cpu_op("hosty", files, include_dirs=["first", "second"])
        self.check_change(lambda: self.space.pack.source("first/sub").symlink_to("../kept"))

    def test_a_header_outside_the_project_comes_to_stand_before_another(self):
        """The source root's own folder is not where the op looks; its neighbour is reached through dots."""
        self.space.add_cpu_op("hosty", {"a/a.cpp": OPTIONAL.replace("NAME", "../../outside.h")}, ["a/a.cpp"])
        self.check_change(lambda: (self.space.pack.folder / "outside.h").write_text(TWO))


class DeviceTest(StaleTest):
    """The same through the steps of nvcc, and of clang for HIP."""

    def add_op(self, backend):
        use_device_compiler(self.space, backend)
        add_device_op(self.space.pack, "tool", {"a.cu": DEVICE}, backend)

    def check_put_back_with_an_older_time(self, backend):
        self.add_op(backend)
        header = self.space.write("v.h", ONE)
        kept = self.space.root / "v.h"
        shutil.copy2(header, kept)
        time.sleep(TICK)
        header.write_text(TWO)
        self.check_change(lambda: os.replace(kept, header), cache=self.space.root / "cache")

    def check_touched(self, backend):
        """Nothing is compiled, and nothing is another file."""
        self.add_op(backend)
        header = self.space.write("v.h", ONE)
        before = self.build()
        time.sleep(TICK)
        header.touch()
        run = self.check(cache=self.space.root / "cache")
        self.assertEqual(testspace.bundle_files(self.space.out), before)
        self.assertNotIn("] compile tool", run.err)

    def check_link_is_pointed_elsewhere(self, backend):
        self.add_op(backend)
        self.space.write("v1.h", ONE)
        self.space.write("v2.h", TWO)
        link = self.space.pack.source("v.h")
        link.symlink_to("v1.h")

        def change():
            link.unlink()
            link.symlink_to("v2.h")

        self.check_change(change, cache=self.space.root / "cache")


add_tests(DeviceTest, "a_header_is_put_back_with_an_older_time", DeviceTest.check_put_back_with_an_older_time, BACKENDS)
add_tests(DeviceTest, "a_link_is_pointed_elsewhere", DeviceTest.check_link_is_pointed_elsewhere, BACKENDS)
add_tests(DeviceTest, "a_header_is_touched", DeviceTest.check_touched, BACKENDS)


class NameTest(StaleTest):
    """An edit of a header with an unusual name is seen, and so is its being put back."""

    def header(self, name):
        self.space.add_cpu_op("hosty", {"a.cpp": SOURCE.replace("<v.h>", f'"{name}"')}, include_dirs=["inc"])
        return self.space.write(f"inc/{name}", ONE)

    def check_edited(self, name):
        header = self.header(name)
        self.check_change(lambda: header.write_text(TWO))

    def check_put_back(self, name):
        """Under its old time."""
        header = self.header(name)

        def change():
            header.write_text(TWO)
            os.utime(header, (1, 1))

        self.check_change(change)


add_tests(NameTest, "edited", NameTest.check_edited, NAMES)
# (Ninja never finds these two in its log, and so compiles each time.)
add_tests(NameTest, "old_time", NameTest.check_put_back, NAMES[::4])

if __name__ == "__main__":
    testspace.main(each_commit=9)
