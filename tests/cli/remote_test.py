#!/usr/bin/env python3
"""A cache that machines share: what one machine has built, another with other folders and an empty cache takes, byte for byte; and
whatever the shared cache says or fails to say, the bundle is that of a build without it."""

import pathlib
import re
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import bad_server  # noqa: E402
import testspace  # noqa: E402
from bad_server import Server  # noqa: E402
from testspace import TestSpace  # noqa: E402

ARCHS = "8.0;9.0+PTX"


class RemoteTest(unittest.TestCase):
    tools = {}

    def setUp(self):
        self.server = Server(self)
        self.url = self.server.url + "/team"

    def machine(self, name):
        return TestSpace(name, steps=True, store=True, **self.tools)

    def build(self, space, *more, url=None, code=0):
        run = space.build("--remote", url or self.url, *more)
        self.assertEqual(run.code, code, run)
        return run

    def fill(self, **options):
        """The first machine; what it made is there."""
        first = self.machine("first")
        run = self.build(first, "--remote-upload", "always", **options)
        self.assertRegex(run.out, r"shared: 0 of \d+ found there \(0 B\), [1-9]\d* brought there")
        first.toolkit.forget_starts()
        return first

    def found(self, run):
        """(found, asked for)"""
        return tuple(map(int, re.search(r"shared: (\d+) of (\d+) found there", run.out).groups()))

    def is_same(self, first, second):
        self.assertEqual(testspace.bundle_files(first.out), testspace.bundle_files(second.out))

    def check_takes_all(self, first, *more, **options):
        second = self.machine("another machine")
        run = self.build(second, *more, **options)
        found, asked = self.found(run)
        self.assertEqual((found, second.compiled()), (asked, []), run)
        self.assertGreater(found, 0)
        self.is_same(first, second)
        return second


class SharingTest(RemoteTest):
    def test_a_server(self):
        second = self.check_takes_all(self.fill())
        before = len(self.server.requests)
        self.build(second)
        self.assertEqual(len(self.server.requests), before)  # there is nothing to do

    def test_a_folder(self):
        url = "file://" + str(self.machine("share").root / "shared")
        first = self.fill(url=url)
        self.check_takes_all(first, url=url)

    def test_what_is_here_is_not_asked_for(self):
        first = self.fill()
        first.remove_build()
        first.remove_out()
        self.server.requests.clear()
        run = self.build(first)
        self.assertEqual(first.compiled(), [], run)
        self.assertEqual([path for command, path, _ in self.server.requests if command == "GET" and "/cas/" in path], [])

    def test_a_scope_sees_its_own(self):
        self.fill()
        other = self.machine("other scope")
        run = self.build(other, "--remote-scope", "pr-7", "--remote-upload", "always")
        self.assertEqual(self.found(run)[0], 0)
        self.check_takes_all(other, "--remote-scope", "pr-7")

    def test_uploads_are_asked_for(self):
        """A server without credentials is only read; with a file of them, it is written, and nobody sees them."""
        space = self.machine("first")
        run = self.build(space)
        self.assertNotIn("brought there", run.out)
        self.assertEqual([command for command, _, _ in self.server.requests if command == "PUT"], [])
        space.remove_build()
        space.environment["DSBUILD_CACHE_DIR"] = str(space.root / "new cache")
        secret = space.root / "secret"
        secret.write_text("Bearer 5ecret\n")
        run = self.build(space, "--remote-credentials", str(secret))
        self.assertIn("brought there", run.out)
        self.assertEqual({headers.get("Authorization") for command, _, headers in self.server.requests if command == "PUT"},
                         {"Bearer 5ecret"})
        said = run.out + run.err + "".join(file.read_text(errors="replace") for file in space.build_dir.rglob("*") if file.is_file())
        self.assertNotIn("5ecret", said)

    def test_json(self):
        self.fill()
        run = self.build(self.machine("another"), "--json")
        self.assertRegex(run.out, r'"remote": ?\{"hits": ?[1-9]\d*, ?"misses": ?0, ?"uploaded": ?0')

    # Red where a word of the command line is repeated as it was typed.
    def test_a_password_in_a_word_that_is_no_option_is_hidden(self):
        space = self.machine("typed")
        for words in (("verify",), ("cache",), ("cache", "pull"), ("cache", "import"), ("explain",), ("plan",), ("build",), ("inspect",)):
            for more in ((), ("--json",)):
                with self.subTest(words=words, more=more):
                    run = space.run(*words, "https://me:5ecret@host/x", *more)
                    self.assertNotEqual(run.code, 0)
                    self.assertIn("***@host/x", run.out + run.err)
                    self.assertNotIn("5ecret", run.out + run.err)

    def test_what_is_no_cache(self):
        for url, said in (("ftp://host/x", "has no known scheme"), ("file://folder", "is not absolute"),
                          ("http://", "is not an address of HTTP")):
            with self.subTest(url):
                run = self.build(self.machine("bad"), url=url, code=2)
                self.assertIn("error[bad_remote_url]", run.err)
                self.assertIn(said, run.err)


class FaultsTest(RemoteTest):
    """Red where bytes or names of an entry are believed, or where the shared cache is waited for."""

    tools = {"payload": 6000}  # too large to be in an entry

    def setUp(self):
        super().setUp()
        self.first = self.fill()

    def check_right(self, *more):
        second = self.machine("second")
        run = self.build(second, *more)
        self.is_same(self.first, second)
        return run

    def files(self, kind):
        return [path for path in self.server.files if f"/{kind}/" in path]

    def replace(self, kind, change):
        for path in self.files(kind):
            self.server.files[path] = change(self.server.files[path])

    def test_damaged_files(self):
        whole = dict(self.server.files)
        for kind, change in (("cas", lambda body: body[:-1]), ("cas", lambda body: body[:-1] + bytes([body[-1] ^ 1])),
                             ("cas", lambda _: b""), ("ac", lambda body: body[:len(body) // 2]), ("ac", lambda _: b"\xff" * 40),
                             ("ac", lambda _: b"<html>sign in</html>")):
            with self.subTest(kind):
                self.replace(kind, change)
                found, asked = self.found(self.check_right())
                self.assertLess(found, asked)  # the fake tools make the same bytes of several inputs
                self.server.files.update(whole)

    def test_files_of_others(self):
        """Each file is a good one of another name: as of a server that mixes them up."""
        for kind in ("cas", "ac"):
            paths = self.files(kind)
            bodies = [self.server.files[path] for path in paths]
            self.server.files.update(zip(paths, bodies[1:] + bodies[:1]))
            with self.subTest(kind):
                self.check_right()
            self.server.files.update(zip(paths, bodies))

    def test_a_lost_file_is_a_miss_and_is_brought_again(self):
        for path in self.files("cas")[::3]:
            del self.server.files[path]
        run = self.check_right("--remote-upload", "always")
        found, asked = self.found(run)
        self.assertLess(found, asked)
        self.check_takes_all(self.first)

    def test_a_server_that_is_gone(self):
        url = f"http://127.0.0.1:{bad_server.free_port()}"
        second = self.machine("second")
        begin = time.monotonic()
        run = self.build(second, url=url)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertIn("warning[remote_off]", run.err)
        self.assertIn("127.0.0.1", run.err)
        self.is_same(self.first, second)

    def test_a_server_that_never_answers(self):
        """Two rounds of ten seconds at most."""
        for path in self.files("ac"):
            self.server.behaviours[path] = self.server.never_answers
        second = self.machine("second")
        run = self.build(second)
        self.assertIn("warning[remote_off]", run.err)
        self.is_same(self.first, second)

    def test_a_server_that_refuses_to_be_read_or_written(self):
        for path in self.files("ac"):
            self.server.behaviours[path] = Server.says(403)
        self.assertIn("403", self.check_right().err)
        self.server.behaviours.clear()
        for path in list(self.server.files):
            self.server.behaviours[path] = lambda handler, _: Server.says(507)(handler, _) if handler.command == "PUT" else handler.answer(404)
        run = self.check_right("--remote-upload", "always")
        self.assertIn("it takes none", run.out)
        self.assertIn("507", run.out)

    def test_a_server_that_drops_connections(self):
        for path in self.files("cas"):
            self.server.behaviours[path] = Server.drops_in_the_body(99, self.server.files[path])
        self.check_right()


if __name__ == "__main__":
    testspace.main(each_commit=3)
