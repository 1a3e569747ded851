#!/usr/bin/env python3
"""Servers that remove files by age, and --remote-ttl. One machine fills the server; its files get older; a second machine uses them; a
rule removes what was not written since; a third machine looks for them. Each test has the same run without the option, where the third
machine finds nothing."""

import os
import pathlib
import re
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import entries  # noqa: E402
import testspace  # noqa: E402
from entries import Key  # noqa: E402
from remote_entries import Checker  # noqa: E402
from shared_servers import SharedCasd, SharedFolder, SharedHttp  # noqa: E402
from testspace import TestSpace  # noqa: E402

DAY = 86400
TTL = ("--remote-ttl", "10")


class OldFolder(SharedFolder):
    """A file that is written again is another file."""

    def __init__(self, test, root):
        super().__init__(test, root)
        self.test = test

    def marks(self):
        return {path: path.stat().st_ino for path in self.files.rglob("*") if path.is_file()}

    def note_files(self):
        self.old = self.marks()
        for path in self.old:  # so that no number is used again
            self.test.addCleanup(path.open("rb").close)

    def remove_old(self):
        for path, mark in self.marks().items():
            if self.old.get(path) == mark:
                path.unlink()


class OldHttp(SharedHttp):
    def note_files(self):
        self.requests.clear()

    def remove_old(self):
        written = {path for command, path, _ in self.requests if command == "PUT"}
        self.files = {path: body for path, body in self.files.items() if path in written}


class OldCasd(SharedCasd):
    """Who asks whether a file is there gives it the time of now, as the protocol wants it."""

    def paths(self):
        return [path for path in self.files.rglob("*") if path.is_file()]

    def note_files(self):
        for path in self.paths():
            os.utime(path, (path.stat().st_mtime - DAY,) * 2)

    def remove_old(self):
        for path in self.paths():
            if path.stat().st_mtime < time.time() - DAY / 2:
                path.unlink()


class TtlTest(unittest.TestCase):
    def build(self, name, *more):
        space = TestSpace(name, steps=True, store=True, payload=20_000)
        run = space.build("--remote", self.server.url, *map(str, more))
        self.assertEqual(run.code, 0, run)
        found, asked = map(int, re.search(r"shared: (\d+) of (\d+) found there", run.out).groups())
        return run, found, asked

    def start(self, kind, *more):
        self.server = kind(self, TestSpace("server").root)
        self.build("first", "--remote-upload", "always", *more)

    def age(self, days):
        """What lies there says that it was written so many days ago."""
        for name in self.server.names("ac"):
            outputs = self.outputs(name)
            for output in outputs:
                output.properties["uploaded"] = str(int(output.properties["uploaded"]) - days * DAY)
            self.server.write("ac", name, entries.write_entry(entries.name_in(self.server.read("ac", name)), outputs))
        self.server.note_files()

    def outputs(self, name):
        return entries.read_entry(self.server.read("ac", name))

    def check(self, kind, days, *more, is_there, first=()):
        """Whether all is there for the third machine, or nothing is."""
        self.start(kind, *first)
        self.age(days)
        run, found, asked = self.build("second", *more)
        self.assertEqual(found, asked, run)
        self.server.remove_old()
        self.assertEqual(Checker(self.server).problems(), [])
        _, found, asked = self.build("third", *more)
        self.assertEqual(found, asked if is_there else 0)
        return run

    def check_kind(self, kind, *always):
        run = self.check(kind, 6, *always, *TTL, is_there=True)
        self.assertRegex(run.out, r", [1-9]\d* written again")
        run = self.check(kind, 4, *always, *TTL, is_there=False)  # they are young: older servers' rules are not this one's
        self.assertNotIn("written again", run.out)
        self.check(kind, 6, *always, is_there=False)

    def test_a_folder(self):
        self.check_kind(OldFolder)

    def test_http(self):
        self.check_kind(OldHttp, "--remote-upload", "always")

    def test_casd(self):
        self.check_kind(OldCasd, "--remote-upload", "always")

    def test_who_may_not_write_renews_nothing(self):
        self.check(OldHttp, 6, *TTL, is_there=False)
        self.assertNotIn("PUT", [command for command, _, _ in self.server.requests])

    # Red where an entry goes up before its files.
    def test_files_are_written_before_their_entry(self):
        self.check(OldHttp, 6, "--remote-upload", "always", *TTL, is_there=True)
        seen = set()
        for command, path, _ in self.server.requests:
            if command == "PUT" and path.startswith("/ac/"):
                files = {f"/cas/{output.packed_digest}" for output in self.outputs(path[4:]) if not output.contents}
                self.assertEqual(files - seen, set())
            seen |= {path} if command == "PUT" else set()

    # Red where a server that fails while files are written again gets their entry.
    def test_a_server_that_takes_no_files(self):
        self.start(OldHttp)
        self.age(6)
        for path in [path for path in self.server.files if path.startswith("/cas/")]:
            self.server.behaviours[path] = lambda handler, _: (
                self.server.says(507)(handler, _) if handler.command == "PUT" else self.server.as_usual)
        run, found, asked = self.build("second", "--remote-upload", "always", *TTL)
        self.assertEqual(found, asked, run)
        written = [path[4:] for command, path, _ in self.server.requests if command == "PUT" and path.startswith("/ac/")]
        self.assertTrue(all(output.contents for name in written for output in self.outputs(name)))

    # Red where an entry that is written again is packed anew: its signature would be of something else.
    def test_signatures_are_kept(self):
        ours = Key(TestSpace("keys").root, "ours")
        trust = ("--remote-trust", ours.public)
        self.check(OldFolder, 6, *trust, *TTL, is_there=True, first=("--remote-sign", ours.private))


if __name__ == "__main__":
    testspace.main(each_commit=1)
