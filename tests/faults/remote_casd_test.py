#!/usr/bin/env python3
"""A remote cache by a real server of the Remote Execution API, buildbox-casd: by tests/tools/remote_tool.cpp, and as builds share it.
Each test says what turns it red."""

import hashlib
import os
import pathlib
import re
import sys
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("support", "cli")]
import testspace  # noqa: E402
from casd import Casd  # noqa: E402
from reapi_server import ReapiServer  # noqa: E402
from remote_cache import Answer, RemoteTest, digest  # noqa: E402
from remote_test import RemoteTest as SharingTest  # noqa: E402

MIB = 1 << 20


def name_of(blob):
    return f"{hashlib.sha256(blob).hexdigest()}/{len(blob)}"


class CasdTest(RemoteTest):
    kind = Casd
    starts_slowly = False

    def setUp(self):
        super().setUp()
        self.server = self.kind(self, self.root / "server")
        self.url = self.server.url

    def answers(self, *words):
        return [Answer(*line.split(" ", 3)) for line in self.run_tool(*words).splitlines()]

    def files_of(self, blobs):
        files = [self.root / f"file {number}" for number in range(len(blobs))]
        for file, blob in zip(files, blobs, strict=True):
            file.write_bytes(blob)
        return files

    # Red where the server does not take what is sent, or what it says is not understood.
    def test_what_is_put_is_there(self):
        blobs = [os.urandom(size) for size in (1, 9 * MIB, 3 * MIB, 4 * MIB, 70_000, *[3000] * 600)]
        names = list(map(name_of, blobs))
        self.assertEqual({answer.state for answer in self.answers("has", self.url, "cas", *names)}, {"absent"})
        self.assertEqual({answer.state for answer in self.answers("get", self.url, "cas", *names)}, {"absent"})
        for _ in range(2):
            put = self.answers("put-files", self.url, "cas", *self.files_of(blobs))
            self.assertEqual({answer.state for answer in put}, {"done"}, put)
        self.assertEqual({answer.state for answer in self.answers("has", self.url, "cas", *names)}, {"done"})
        for answer, blob in zip(self.answers("get", self.url, "cas", *names), blobs, strict=True):
            self.is_done(answer, blob)

    def test_results(self):
        body = b"\x2a\x03abc"  # stdout_raw
        self.is_not_done(self.ask_one("get", "a", kind="ac"), "absent")
        (put,) = self.put(["a"], body, kind="ac")
        self.is_not_done(put, "done")
        self.is_done(self.ask_one("get", "a", kind="ac"), body)
        self.assertEqual([answer.state for answer in self.ask("has", ["a", "b"], kind="ac")], ["done", "absent"])

    # Red where what is not an ActionResult, or has another digest, is said to be taken.
    def test_what_is_refused(self):
        (bad,) = self.answers("put", self.url, "cas", digest("other"), self.files_of([b"bytes"])[0])
        self.is_not_done(bad, "failed", "BatchUpdateBlobs", "INVALID_ARGUMENT")
        (no_result,) = self.put(["a"], b"\xff\xff", kind="ac")
        self.is_not_done(no_result, "failed")
        (none,) = self.answers("get", self.url + "/no/such/instance", "cas", name_of(b"a"))
        self.is_not_done(none, "failed", "GetCapabilities", self.url)

    # Red where a killed server is more than failed files, or is not used again.
    def test_the_server_is_killed_and_comes_back(self):
        blobs = [os.urandom(200_000) for _ in range(60)]
        found = []

        def work():
            found.extend(self.answers("put-files", self.url, "cas", *files, "--repeat=40", "--threads=2"))
            found.extend(self.answers("get", self.url, "cas", *map(name_of, blobs)))
        files = self.files_of(blobs)
        worker = threading.Thread(target=work)
        worker.start()
        for _ in range(3):
            time.sleep(0.3)
            self.server.kill()
            self.server.start()
        worker.join(60)
        self.assertEqual(len(found), 60 * 81)
        for answer in found:
            self.assertIn(answer.state, ("done", "failed", *(("absent",) if self.starts_slowly else ())), answer)
        if self.starts_slowly:  # the client may have sent everything before that
            self.assertEqual({answer.state for answer in self.answers("put-files", self.url, "cas", *files)}, {"done"})
        for answer, blob in zip(self.answers("get", self.url, "cas", *map(name_of, blobs)), blobs, strict=True):
            self.is_done(answer, blob)


class CasdSharingTest(SharingTest):
    """Two machines with folders of their own."""
    kind = Casd

    def setUp(self):
        super().setUp()
        self.server = self.kind(self, self.machine("share").root / "server")
        self.url = self.server.url

    # Red where what one machine has built is not what another takes, or where a build with nothing to do asks.
    def test_machines_share(self):
        second = self.check_takes_all(self.fill())
        self.server.kill()
        run = self.build(second)
        self.assertNotIn("remote_off", run.err)

    # Red where the server's entries are those of each scope.
    def test_a_scope_sees_its_own(self):
        self.fill()
        run = self.build(self.machine("other scope"), "--remote-scope", "pr-7")
        self.assertEqual(self.found(run)[0], 0)

    # Red where a server that is gone fails a build.
    def test_the_server_is_gone(self):
        first = self.fill()
        self.server.kill()
        second = self.machine("second")
        run = self.build(second)
        self.assertIn("warning[remote_off]", run.err)
        self.assertIn(self.url, run.err)
        self.is_same(first, second)


class LiesTest(SharingTest):
    """Red where bytes or names of an entry are believed: the bundle is the same all the same."""

    def setUp(self):
        super().setUp()
        self.reapi = ReapiServer(self)
        self.url = self.reapi.url + "/team"
        self.first = self.fill()

    def check_right(self):
        second = self.machine("second")
        self.reapi.calls.clear()
        run = self.build(second)
        self.is_same(self.first, second)
        found, asked = self.found(run)
        self.assertTrue(found < asked or asked == 0, run)  # 0: not even a record came

    # Red where the requests that are told are those of files.
    def test_requests_are_counted(self):
        self.reapi.calls.clear()
        run = self.build(self.machine("second"))
        self.assertEqual(int(re.search(r", (\d+) requests", run.out)[1]), len(self.reapi.calls), run)

    def test_damaged_files(self):
        self.reapi.blobs.update({name: blob[:-1] + bytes([blob[-1] ^ 1]) for name, blob in self.reapi.blobs.items() if blob})
        self.check_right()

    def test_lost_files(self):
        for name in list(self.reapi.blobs)[::2]:
            del self.reapi.blobs[name]
        self.check_right()

    def test_results_of_others(self):
        names, results = list(self.reapi.results), list(self.reapi.results.values())
        self.reapi.results = dict(zip(names, results[1:] + results[:1], strict=True))
        self.check_right()

    def test_a_server_that_breaks_off(self):
        self.reapi.behaviours["BatchReadBlobs"] = lambda call, _: call.reset(2)
        self.check_right()


if __name__ == "__main__":
    testspace.main(each_commit=3)
