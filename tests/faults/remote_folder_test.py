#!/usr/bin/env python3
"""A remote cache in a shared folder: read only, full, not there, damaged, and filled by many at once. Works through
tests/tools/remote_tool.cpp. Each test says what turns it red."""

import hashlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import mounts  # noqa: E402
import testspace  # noqa: E402
from remote_cache import ToolTest, digest  # noqa: E402

HOUR = 3600


class RemoteFolderTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.folder = self.root / "shared" / "cache"

    def ask(self, verb, names, *options, kind="cas", file=None):
        words = [self.tool, verb, f"file://{self.folder}", kind, *map(digest, names), *([file] if file else []), *options]
        run = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run)
        return [line.split(" ", 3) for line in run.stdout.splitlines()]

    def put(self, names, body, *options, **more):
        with tempfile.NamedTemporaryFile(dir=self.root) as file:
            file.write(body)
            file.flush()
            return self.ask("put", names, *options, file=file.name, **more)

    def states(self, answers):
        return [answer[0] for answer in answers]

    def file_of(self, name, kind="cas"):
        return self.folder / kind / digest(name)[:2] / digest(name)[2:]

    # Red where a file lies elsewhere, has other bytes than were put, or a kind is taken for the other.
    def test_what_is_put_is_there(self):
        for kind in ("ac", "cas"):
            self.assertEqual(self.states(self.ask("get", ["a", "b"], kind=kind)), ["absent", "absent"])
            self.assertEqual(self.states(self.put(["a"], b"body", kind=kind)), ["done"])
            found, absent = self.ask("get", ["a", "b"], kind=kind)
            self.assertEqual(found[:3], ["done", "4", digest("body")])
            self.assertEqual(absent[0], "absent")
            self.assertEqual(self.states(self.ask("has", ["a", "b"], kind=kind)), ["done", "absent"])
            self.assertEqual(self.file_of("a", kind).read_bytes(), b"body")

    # Red where reading makes the folder.
    def test_only_a_put_makes_the_folder(self):
        self.ask("get", ["a"])
        self.ask("has", ["a"])
        self.put(["a"], b"body", "--read-only")
        self.assertFalse(self.folder.exists())

    # Red where a use is not marked, or each of them is.
    def test_a_use_is_marked_once_a_minute(self):
        self.put(["a"], b"body")
        for before, is_marked in ((HOUR, True), (30, False)):
            then = time.time() - before
            os.utime(self.file_of("a"), (then, then))
            self.ask("get", ["a"])
            self.assertEqual(self.file_of("a").stat().st_mtime > then + 1, is_marked)

    # Red where a refusal has no reason, or reading a file needs to write.
    def test_read_only(self):
        self.put(["a"], b"body")
        then = time.time() - HOUR
        os.utime(self.file_of("a"), (then, then))
        ((state, _, _, why),) = self.put(["b"], b"body", "--read-only")
        self.assertEqual((state, why), ("refused", f"{self.folder}: used for reading alone"))
        mounts.make_read_only(self, self.folder)
        ((state, _, _, why),) = self.put(["c"], b"body")
        self.assertEqual(state, "refused")
        self.assertIn("Read-only file system", why)
        self.assertEqual(self.states(self.ask("get", ["a", "b", "c"])), ["done", "absent", "absent"])

    # Red where half a file appears, or a temporary stays.
    def test_a_full_disk(self):
        self.folder.parent.mkdir()
        mounts.mount_disk(self, self.folder, "1m")
        ((state, _, _, why),) = self.put(["a"], b"x" * (2 << 20))
        self.assertEqual(state, "refused")
        self.assertIn("No space left on device", why)
        self.assertEqual([path for path in self.folder.rglob("*") if path.is_file()], [])
        self.assertEqual(self.states(self.ask("get", ["a"])), ["absent"])

    # Red where a folder or a link in a file's place is read, or counts as absent.
    def test_what_is_no_file(self):
        self.file_of("a").mkdir(parents=True)
        self.file_of("b").parent.mkdir(parents=True, exist_ok=True)
        (self.root / "elsewhere").write_bytes(b"body")
        self.file_of("b").symlink_to(self.root / "elsewhere")
        for state, size, _, why in self.ask("get", ["a", "b"]):
            self.assertEqual((state, size), ("failed", "0"))
            self.assertIn(str(self.folder), why)

    # Red where the reading thread is waited for: with a long deadline (--first-ms=100000) the tool does not end within a minute.
    # LeakSanitizer stops all threads at the end, which this one cannot be.
    @unittest.mock.patch.dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    def test_a_disk_that_never_answers(self):
        self.folder.parent.mkdir()
        mounts.mount_dead(self, self.folder)
        began = time.monotonic()
        for verb in ("get", "has"):
            for state, _, _, why in self.ask(verb, ["a", "b"]):
                self.assertEqual((state, why), ("failed", f"{self.folder}: no answer in 1 s"))
        ((state, _, _, why),) = self.put(["a"], b"body")
        self.assertEqual((state, why), ("failed", f"{self.folder}: no answer in 1 s"))
        self.assertLess(time.monotonic() - began, 10)

    # Red where a reader sees a part of a file.
    def test_many_at_once(self):
        bodies = [random.Random(number).randbytes(300000) for number in range(4)]
        wanted = {hashlib.sha256(body).hexdigest() for body in bodies}
        self.put(["a"], bodies[0])
        ends = time.monotonic() + 1
        failures = []

        def work(number):
            while time.monotonic() < ends:
                if number < 4:
                    self.put(["a"], bodies[number])
                    continue
                failures.extend(answer for answer in self.ask("get", ["a"], "--repeat=20") if answer[2] not in wanted)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(len([path for path in self.folder.rglob("*") if path.is_file()]), 1)


if __name__ == "__main__":
    mounts.enter_namespace()
    testspace.main()
