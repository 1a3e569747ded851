#!/usr/bin/env python3
"""dsbuild cache push, pull, export and import: an empty machine gets what it needs without a build, from a shared cache or from
one file; what is missing is said."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from bad_server import Server, free_port  # noqa: E402
from entries import Key  # noqa: E402
from testspace import TestSpace  # noqa: E402


class TransferTest(unittest.TestCase):
    def setUp(self):
        self.share = TestSpace("share").root
        self.url = f"file://{self.share}/shared"

    def machine(self, name="second"):
        return TestSpace(name, steps=True, store=True)

    def built(self, *more):
        first = self.machine("first")
        run = first.build(*more)
        self.assertEqual(run.code, 0, run)
        first.toolkit.forget_starts()
        return first

    def cache(self, space, *words, code=0, **options):
        run = space.run("cache", *map(str, words), **options)
        self.assertEqual(run.code, code, run)
        return run

    def of_plan(self, space, verb, *more, code=0):
        return self.for_build(space, verb, "--remote", self.url, *more, code=code)

    def for_build(self, space, *words, code=0):
        return self.cache(space, *space.arguments("cache", *words)[1:], code=code)

    def builds_from_cache(self, first, second, *more):
        """Without the shared cache, and no tool is started."""
        run = second.build(*more)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(second.compiled(), [])
        ops, edges, found = map(int, re.search(r"built (\d+), .*, (\d+) edges run, (\d+) found in the cache", run.out).groups())
        self.assertEqual(edges - ops, found, run.out)  # all but the check of each op
        self.assertEqual(testspace.bundle_files(first.out), testspace.bundle_files(second.out))

    def is_as_before(self, space):
        """Nothing is left of the run, and no bundle was made."""
        self.assertEqual([path.name for path in (space.out, space.build_dir, pathlib.Path(f"{space.build_dir}-cache")) if path.exists()], [])


class SharedTest(TransferTest):
    def test_push_and_pull(self):
        first = self.built()
        self.assertIn("the local cache has all that the", self.of_plan(first, "push").out)
        self.assertEqual(first.toolkit.compiled(), [])
        second = TestSpace("second", steps=True, store=True, knows_tools=False)
        run = self.of_plan(second, "pull")
        self.assertIn("the local cache has all that the", run.out)
        self.assertEqual(run.err, "")
        self.assertEqual(second.toolkit.starts(), [])  # nobody has even asked nvcc for its version
        self.is_as_before(second)
        self.builds_from_cache(first, second)

    def test_only_the_plan_goes(self):
        first = self.built()
        self.of_plan(first, "push", "--ops", "alpha")
        second = self.machine()
        self.of_plan(second, "pull", "--ops", "alpha")
        run = self.of_plan(second, "pull", code=1)
        self.assertIn("the local cache lacks", run.out)
        self.assertIn("beta: beta/one.cu", run.out)
        self.assertNotIn("alpha/alpha.cu", run.out)

    # Red where an action may start a tool.
    def test_what_is_missing_is_said_and_nothing_is_compiled(self):
        second = self.machine()
        run = self.of_plan(second, "pull", code=1)
        self.assertEqual(second.toolkit.compiled(), [])
        for source in ("alpha/alpha.cu", "alpha/alpha.cpp", "beta/two.cu", "host/host.cpp"):
            self.assertIn(source, run.out)
        self.is_as_before(second)
        document = json.loads(self.of_plan(second, "pull", "--json", code=1).out.splitlines()[-1])
        self.assertEqual((document["transfer"], document["is_whole"]), ("pull", False))
        self.assertIn("compile host: host/host.cpp", document["missing"])

    def test_a_push_of_what_is_not_there_says_so(self):
        first = self.built("--ops", "alpha")
        run = self.of_plan(first, "push", code=1)
        self.assertIn("beta: beta/one.cu", run.out)
        second = self.machine()
        self.of_plan(second, "pull", "--ops", "alpha")

    def test_pull_writes_nothing_there_and_push_takes_nothing(self):
        first = self.built()
        self.of_plan(self.machine(), "pull", code=1)
        self.assertFalse((self.share / "shared").exists())
        self.of_plan(first, "push")
        other = self.machine("other")
        for _ in range(2):
            self.assertIn("host: host/host.cpp", self.of_plan(other, "push", code=1).out)

    def test_a_server(self):
        """Which takes uploads without credentials: to push is to ask for them."""
        self.url = Server(self).url
        first, second = self.built(), self.machine()
        self.of_plan(first, "push")
        self.of_plan(second, "pull")
        self.builds_from_cache(first, second)

    def test_a_server_that_is_gone(self):
        self.url = f"http://127.0.0.1:{free_port()}"
        self.assertIn("warning[remote_off]", self.of_plan(self.machine(), "pull", code=1).err)
        self.assertIn("warning[remote_off]", self.of_plan(self.built(), "push", code=1).err)

    def test_what_is_asked_wrongly(self):
        space = self.machine()
        for words, said in ((("push",), "no shared cache is named"), (("pull", "--cache-size", "0", "--remote", self.url), "has no room"),
                            (("pul",), "did you mean 'pull'"), (("prune", "x"), "not understood"), (("export",), "the name of a file"),
                            (("import",), "the name of a file"), (("pull", "absent", "--remote", self.url), "no folder and no op")):
            self.assertIn(said, self.cache(space, *words, code=2).err)


class ArchiveTest(TransferTest):
    def setUp(self):
        super().setUp()
        self.archive = self.share / "cache.tar"

    def test_all_of_a_cache(self):
        first, second = self.built(), self.machine()
        out = self.cache(first, "export", self.archive).out
        self.assertRegex(out, r"^export: [1-9]\d* entries went \(")
        out = self.cache(second, "import", self.archive).out
        self.assertRegex(out, r"^import: [1-9]\d* entries came \(")
        self.builds_from_cache(first, second)
        self.assertEqual(list(self.share.glob("cache.tar*")), [self.archive])

    def test_a_plan(self):
        first, second = self.built(), self.machine()
        self.for_build(first, "export", self.archive, "--ops", "alpha")
        self.cache(second, "import", self.archive)
        self.builds_from_cache(self.built("--ops", "alpha"), second, "--ops", "alpha")
        self.of_plan(second, "pull", code=1)

    def test_a_plan_that_is_not_all_there(self):
        first = self.built("--ops", "alpha")
        run = self.for_build(first, "export", self.archive, code=1)
        self.assertIn("beta: beta/one.cu", run.out)
        self.cache(self.machine(), "import", self.archive)  # what there is

    def test_equal_caches_make_the_same_members(self):
        first = self.built()
        members = []
        for name in ("one", "two"):
            self.cache(first, "export", self.share / name)
            with tarfile.open(self.share / name) as tar:
                members.append(sorted((member.name, tar.extractfile(member).read()) for member in tar if member.name != "keys"))
        self.assertEqual(*members)

    def test_tar_makes_a_shared_folder_of_it(self):
        first, second = self.built(), self.machine()
        self.cache(first, "export", self.archive)
        folder = self.share / "shared"
        folder.mkdir()
        subprocess.run(["tar", "-xf", self.archive, "-C", folder], check=True)
        self.of_plan(second, "pull")
        self.builds_from_cache(first, second)

    def test_a_scope(self):
        first, second = self.built(), self.machine()
        self.cache(first, "export", self.archive, "--remote-scope", "pr-7")
        self.assertIn("error[other_scope]", self.cache(second, "import", self.archive, code=2).err)
        self.cache(second, "import", self.archive, "--remote-scope", "pr-7")
        self.builds_from_cache(first, second)

    # Red where import does not ask who signed what is in the archive.
    def test_signatures(self):
        ours, theirs = Key(self.share, "ours"), Key(self.share, "theirs")
        first = self.built("--remote-sign", str(ours.private))
        self.cache(first, "export", self.archive, "--remote-sign", ours.private)
        good, bad = self.machine("good"), self.machine("bad")
        self.cache(good, "import", self.archive, "--remote-trust", ours.public)
        self.builds_from_cache(first, good, "--remote-trust", str(ours.public))
        run = self.cache(bad, "import", self.archive, "--remote-trust", theirs.public, code=1)
        self.assertIn("warning[remote_untrusted]", run.err)
        self.assertRegex(run.out, r"^import: 0 entries came .*, [1-9]\d* were refused")
        self.assertEqual(json.loads(self.cache(bad, "stats", "--json", "--remote-trust", theirs.public).out)["entries"], 0)
        document = json.loads(self.cache(bad, "import", self.archive, "--remote-trust", theirs.public, "--json", code=1).out)
        self.assertEqual((document["transfer"], document["entries"], document["is_whole"]), ("import", 0, False))

    def test_a_place_that_cannot_be_written(self):
        first = self.built()
        self.assertEqual(self.cache(first, "export", self.share / "absent" / "cache.tar", code=1).err.count("error["), 1)
        self.assertIn("cache.tar", self.cache(first, "import", self.share / "cache.tar", code=1).err)

    def test_an_export_over_an_older_one(self):
        first = self.built()
        self.archive.write_text("older")
        shutil.copyfile(self.archive, f"{self.archive}.part")
        self.cache(first, "export", self.archive)
        self.cache(self.machine(), "import", self.archive)


if __name__ == "__main__":
    testspace.main(each_commit=5)
