#!/usr/bin/env python3
"""A header's candidate in an earlier folder that cannot be read: a compiler does not pass over it, so neither may a build that
has the object already."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from testspace import NOBODY  # noqa: E402
from stale import StaleSpace, StaleTest, add_tests  # noqa: E402

SOURCE = '#include "NAME"\nextern "C" int v() { return V; }\n'
ASKING = '#if __has_include("v.h")\n#define V 2\n#else\n#define V 1\n#endif\nextern "C" int v() { return V; }\n'
ONE, TWO = "#define V 1\n", "#define V 2\n"
HANGS = 8  # seconds; an incremental build that is stale takes a fraction of one


def link_to_itself(_, file):
    file.symlink_to(file.name)


def forbid(_, file):
    file.write_text(TWO)
    file.chmod(0)


def forbid_folder(folder, _):
    folder.chmod(0)


def link_folder_to_itself(folder, _):
    subprocess.run(["rm", "-r", str(folder)], check=True)
    folder.symlink_to(folder.name)


class UserSpace(StaleSpace):
    """Root reads files of any mode, so another user builds."""

    def __init__(self):
        super().__init__()
        self.copy_programs()

    def start(self, *arguments, **options):
        if os.geteuid() == 0:
            self.give_to_nobody()
            options.update(user=NOBODY, group=NOBODY, extra_groups=[])
        return super().start(*arguments, **options)


class UnreadableTest(StaleTest):
    def setUp(self):
        self.space = UserSpace()

    def add_op(self, name="v.h", source=SOURCE):
        self.space.add_cpu_op("hosty", {"a.cpp": source.replace("NAME", name), f"inc/{name}": ONE}, include_dirs=["inc0", "inc"])
        self.space.write(f"inc0/{pathlib.Path(name).parent}/other.h", "")

    def check_fails(self, change, name="v.h", source=SOURCE):
        self.add_op(name, source)
        self.build()
        change(self.space.pack.source("inc0"), self.space.pack.source(f"inc0/{name}"))
        run = self.check(fails=True)
        self.assertIn("inc0", run.err)

    def check_seen(self, change, name="v.h"):
        """A build from scratch hangs, which nobody waits for here."""
        self.add_op(name)
        self.build()
        change(self.space.pack.source("inc0"), self.space.pack.source(f"inc0/{name}"))
        with self.assertRaises(subprocess.TimeoutExpired):
            run = self.space.build(timeout=HANGS)
            self.fail(f"the build ends without a look at the pipe: {run}")

    def check_comes_back(self, change, undo):
        self.check_fails(change)
        undo(self.space.pack.source("inc0"), self.space.pack.source("inc0/v.h"))
        self.check()

    def test_it_may_be_read_again(self):
        self.check_comes_back(forbid_folder, lambda folder, _: folder.chmod(0o755))

    def test_a_folder_of_the_name_is_passed_over(self):
        self.add_op()
        self.build()
        self.space.pack.source("inc0/v.h").mkdir()
        self.check()

    def test_a_folder_that_may_not_be_listed_has_headers_all_the_same(self):
        self.add_op()
        self.space.write("inc0/.keep", "")
        self.space.pack.source("inc0").chmod(0o755)
        before = self.build()

        def change():
            self.space.write("inc0/v.h", TWO)
            self.space.pack.source("inc0").chmod(0o311)

        change()
        self.check(before=before)
        self.space.pack.source("inc0").chmod(0o755)
        self.space.pack.source("inc0/v.h").unlink()
        self.space.pack.source("inc0").chmod(0o311)
        self.check()

    def test_one_that_is_only_asked_for(self):
        """gcc cannot open it, and says how."""
        self.space.add_cpu_op("hosty", {"a.cpp": ASKING, "inc/v.h": ONE}, include_dirs=["inc"])
        self.build()
        self.space.pack.source("inc/v.h").chmod(0)
        reference, expected = self.space.scratch()
        run = self.space.build()
        self.assertEqual(run.code, reference.code, run)
        if run.code == 0:
            self.assertEqual(testspace.bundle_files(self.space.out), expected)


CHANGES = [("link", link_to_itself), ("file", forbid), ("folder", forbid_folder), ("loop", link_folder_to_itself)]
add_tests(UnreadableTest, "fails", lambda self, change: self.check_fails(change[1]), CHANGES)
add_tests(UnreadableTest, "fails_below", lambda self, change: self.check_fails(change[1], "sub/v.h"), CHANGES[:3])
add_tests(UnreadableTest, "fails_by_a_macro",
          lambda self, change: self.check_fails(change[1], source='#define H "NAME"\n#include H\nextern "C" int v() { return V; }\n'),
          CHANGES[:3])
add_tests(UnreadableTest, "is_seen", lambda self, name: self.check_seen(lambda _, file: os.mkfifo(file), name), ["v.h", "sub/v.h"])


testspace.deep_but("test_fails_link", "test_fails_folder", "test_fails_by_a_macro_link", "test_is_seen_v_2e_h",
                   "test_it_may_be_read_again", "test_a_folder_that_may_not_be_listed_has_headers_all_the_same")(UnreadableTest)

if __name__ == "__main__":
    testspace.main()
