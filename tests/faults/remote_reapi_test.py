#!/usr/bin/env python3
"""A remote cache by the Remote Execution API whose server refuses, is busy, breaks calls off, never answers and lies: each file gets
the right answer in time. Works through tests/tools/remote_tool.cpp. Each test says what turns it red."""

import base64
import collections
import os
import pathlib
import resource
import socket
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from bad_grpc_server import GrpcServer  # noqa: E402
from protobuf_lite import fields, first, message  # noqa: E402
from reapi_server import ReapiServer, digest, sha256  # noqa: E402
from reapi_types import UNAVAILABLE, wait_header  # noqa: E402
from remote_cache import Answer, RemoteTest, certificate_for  # noqa: E402

CANCELLED, INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED = 1, 3, 5, 6, 7
RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL, UNAUTHENTICATED = 8, 12, 13, 16
MIB = 1 << 20
SECRET = "Bearer 5ecret-that-nobody-may-see"
# A stream's end: NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM (RFC 9113, section 7).
BROKEN, REFUSED = 2, 7


class ReapiTest(RemoteTest):
    def setUp(self):
        super().setUp()
        self.server = ReapiServer(self)
        self.url = self.server.url

    def answers(self, *words):
        return [Answer(*line.split(" ", 3)) for line in self.run_tool(*words).splitlines()]

    def get(self, blobs, *options, verb="get", url=None):
        return self.answers(verb, url or self.url, "cas", *(f"{sha256(blob)}/{len(blob)}" for blob in blobs), *options)

    def put_blobs(self, blobs, *options, url=None):
        files = []
        for number, blob in enumerate(blobs):
            files.append(self.root / f"file {number}")
            files[-1].write_bytes(blob)
        return self.answers("put-files", url or self.url, "cas", *files, *options)

    def keep(self, *blobs):
        self.server.blobs.update({sha256(blob): blob for blob in blobs})
        return list(blobs)

    def are_done(self, answers, blobs):
        self.assertEqual(len(answers), len(blobs))
        for answer, blob in zip(answers, blobs, strict=True):
            self.is_done(answer, blob)

    def are_not_done(self, answers, state, *words):
        for answer in answers:
            self.is_not_done(answer, state, *words)

    def states(self, answers):
        return [answer.state for answer in answers]

    def result(self):
        """Puts one, and has its name."""
        (answer,) = self.put(["result"], b"\x2a\x03abc", kind="ac")
        return answer


class AnswersTest(ReapiTest):
    # Red where the client's thread does not rest: libcurl 7.88 never waits while it may not send.
    def test_waiting_for_a_server_that_takes_nothing_costs_little(self):
        def early(call):
            time.sleep(3)
            return GrpcServer.as_usual
        self.server.early_behaviours = {"Write": early}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(self.states(self.put_blobs([os.urandom(5 * MIB)])), ["done"])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)

    # Red where a message, the name of a stream, or the order of answers is wrong.
    def test_what_is_put_is_there(self):
        blobs = [b"a", os.urandom(9 * MIB), os.urandom(3 * MIB), b"b" * 2000, os.urandom(3 * MIB - 128)]
        for url in (self.url, self.url + "/team/main"):
            self.server.blobs = {sha256(b""): b""}
            self.server.calls.clear()
            self.assertEqual(set(self.states(self.get(blobs, verb="has", url=url))), {"absent"})
            self.are_not_done(self.get(blobs, url=url), "absent")
            self.assertEqual(set(self.states(self.put_blobs(blobs, url=url))), {"done"})
            self.assertEqual(set(self.states(self.get(blobs, verb="has", url=url))), {"done"})
            self.are_done(self.get(blobs, url=url), blobs)
            instance = url[len(self.url) + 1:]
            names = [first(call.messages[0], 1).decode() for call in self.server.called("Read") + self.server.called("Write")]
            self.assertEqual(len(names), 2 * 2 + 2)
            for name in names:
                self.assertRegex(name, f"^{instance and instance + '/'}(uploads/[0-9a-f-]{{36}}/)?blobs/[0-9a-f]{{64}}/\\d+$")
            for call in self.server.called("BatchUpdateBlobs") + self.server.called("FindMissingBlobs"):
                self.assertEqual(first(call.messages[0], 1).decode(), instance)

    # Red where an Action or its Command does not go up first; the server refuses the result then.
    def test_results(self):
        names, body = range(20), b"\x2a\x03abc"
        self.are_not_done(self.ask("get", names, kind="ac"), "absent")
        self.assertEqual(set(self.states(self.put(names, body, kind="ac"))), {"done"})
        self.are_done(self.ask("get", names, kind="ac"), [body] * 20)
        self.assertEqual(self.states(self.ask("has", [1, "another"], kind="ac")), ["done", "absent"])
        self.assertEqual(len(self.server.called("BatchUpdateBlobs")), 1)
        self.assertEqual(len(self.server.results), 20)

    # Red where what is there goes up again, or where there is a call for each file.
    def test_few_calls(self):
        blobs = [os.urandom(1000) for _ in range(300)]
        self.keep(*blobs[:100])
        self.put_blobs(blobs)
        (update,) = self.server.called("BatchUpdateBlobs")
        self.assertEqual(len(fields(update.messages[0])[2]), 200)
        self.are_done(self.get(blobs), blobs)
        self.assertEqual(collections.Counter(call.method for call in self.server.calls),
                         {"GetCapabilities": 2, "FindMissingBlobs": 1, "BatchUpdateBlobs": 1, "BatchReadBlobs": 1})

    # Red where one of these headers is, or is not, as written here.
    def test_headers(self):
        self.environment["REMOTE_AUTHORIZATION"] = SECRET
        self.get(self.keep(b"body"), "--deadline-ms=7000")
        invocations = set()
        for call in self.server.calls:
            self.assertEqual((call.headers["te"], call.headers["content-type"], call.headers["grpc-timeout"]),
                             ("trailers", "application/grpc", "7000m"))
            self.assertEqual(call.headers["authorization"], SECRET)
            metadata = base64.b64decode(call.headers["build.bazel.remote.execution.v2.requestmetadata-bin"])
            self.assertEqual(first(metadata, 1, 1), b"dsbuild")
            self.assertRegex(first(metadata, 1, 2).decode(), r"^\d+\.\d+")
            self.assertRegex(first(metadata, 3).decode(), "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
            invocations.add(first(metadata, 3))
        self.assertEqual(len(invocations), 1)
        self.assertEqual(fields(self.server.called("BatchReadBlobs")[0].messages[0])[4], [1])

    # Red where the server is asked what it can do more than once, or its answer is not heeded.
    # Red where the helper is asked for URLs of http alone, or for each call.
    def test_a_credential_helper(self):
        program = self.root / "helper"
        program.write_text(f"""#!/bin/sh\ncat >>{self.root}/asked\necho '{{"headers": {{"authorization": ["{SECRET}"]}}}}'\n""")
        program.chmod(0o755)
        self.ask("get", ["a"], f"--helper={program}", "--repeat=2")
        self.assertEqual({call.headers["authorization"] for call in self.server.calls}, {SECRET})
        self.assertEqual((self.root / "asked").read_text().count("uri"), 1)

    def test_capabilities(self):
        blobs = self.keep(os.urandom(700_000), os.urandom(700_000), os.urandom(3 * MIB - 200))
        self.server.most_batch = MIB
        self.are_done(self.get(blobs, "--repeat=3", "--threads=2"), blobs * 6)
        counted = collections.Counter(call.method for call in self.server.calls)
        self.assertEqual(counted, {"GetCapabilities": 1, "BatchReadBlobs": 12, "Read": 6})
        self.server.blobs.clear()
        self.assertEqual(self.states(self.put_blobs(blobs)), ["done"] * 3)
        self.assertEqual((len(self.server.called("BatchUpdateBlobs")), len(self.server.called("Write"))), (2, 1))

    # Red where a file goes there all the same.
    def test_a_server_that_takes_nothing(self):
        self.server.takes_results = False
        self.are_not_done(self.put_blobs([b"a"]), "refused", "update_enabled")
        self.is_not_done(self.result(), "refused", "update_enabled")
        self.are_done(self.get(self.keep(b"a")), [b"a"])
        self.assertEqual({call.method for call in self.server.calls}, {"GetCapabilities", "BatchReadBlobs"})

    # Red where digests are of another function than the server's.
    def test_a_server_without_sha256(self):
        self.server.functions = [2, 6]
        self.are_not_done(self.get(self.keep(b"a")), "refused", "no cache of SHA-256 digests", self.url)
        self.server.behaviours["GetCapabilities"] = lambda call, _: call.reply(b"")
        self.are_not_done(self.put_blobs([b"b"]), "refused", "no cache of SHA-256 digests")
        self.server.behaviours["GetCapabilities"] = lambda call, _: call.reply(message((1, message((1, b"\x02\x01"), (2, b"\x08\x01")))))
        self.are_done(self.get([b"a"]), [b"a"])  # packed, as writers of proto3 do
        self.assertEqual({call.method for call in self.server.calls}, {"GetCapabilities", "BatchReadBlobs"})


class StatusTest(ReapiTest):
    # Red where a code is read as another state.
    def test_codes(self):
        others = (CANCELLED, INVALID_ARGUMENT, INTERNAL)
        states = {"get": {NOT_FOUND: "absent", UNAUTHENTICATED: "refused", PERMISSION_DENIED: "refused", UNIMPLEMENTED: "failed"},
                  "put": {NOT_FOUND: "failed", UNAUTHENTICATED: "refused", PERMISSION_DENIED: "refused", UNIMPLEMENTED: "refused",
                          ALREADY_EXISTS: "done"}}
        for verb, known in states.items():
            for code, state in {**known, **dict.fromkeys(others, "failed"), 99: "failed"}.items():
                for method in ("GetActionResult", "UpdateActionResult"):
                    self.server.behaviours[method] = GrpcServer.says(code, "caf%C3%A9 100%: no%0Asuch")
                answer = self.result() if verb == "put" else self.ask_one("get", "result", kind="ac")
                with self.subTest(verb=verb, code=code):
                    words = [] if state in ("done", "absent") else [self.url, "café 100%: no such"]
                    self.is_not_done(answer, state, *words)

    # Red where one file's status is that of all.
    def test_codes_of_one_file(self):
        blobs = [b"a", b"b", b"c", b"d"]
        codes = dict(zip(map(sha256, blobs), (0, PERMISSION_DENIED, RESOURCE_EXHAUSTED, INTERNAL), strict=True))

        def answer(call, _):
            given = [first(one, 1) for one in fields(call.messages[0])[2]]
            call.reply(message(*((1, message((1, name), (2, message((1, codes[first(name, 1).decode()]), (2, "words"))))) for name in given)))
        self.server.behaviours["BatchUpdateBlobs"] = answer
        answers = self.put_blobs(blobs)
        self.assertEqual(self.states(answers), ["done", "refused", "refused", "failed"])
        self.assertIn("PERMISSION_DENIED: words", answers[1].why)

    # Red where a proxy's page is read as an answer, or its status as another.
    def test_a_proxy_in_front(self):
        for status, state in ((401, "refused"), (403, "refused"), (404, "failed"), (200, "failed"), (502, "failed")):
            self.server.behaviours["GetCapabilities"] = lambda call, _, status=status: call.reply_raw(
                [(":status", str(status)), ("content-type", "text/html")], b"<html>sign in</html>")
            with self.subTest(status=status):
                self.are_not_done(self.get([b"a"]), state, "grpc-status" if status == 200 else str(status))


class BusyTest(ReapiTest):
    # Red where the call is not made again, or once too often.
    def test_a_server_that_is_not_available_for_a_while(self):
        (blob,) = self.keep(b"body")
        for code in (UNAVAILABLE, RESOURCE_EXHAUSTED):
            for method in ("GetCapabilities", "BatchReadBlobs"):
                self.server.calls.clear()
                self.server.behaviours = {method: GrpcServer.says(code, "later", times=2)}
                self.are_done(self.get([blob]), [blob])
                self.assertEqual(len(self.server.called(method)), 3)
                self.server.calls.clear()
                self.server.behaviours = {method: GrpcServer.says(code, "later")}
                self.are_not_done(self.get([blob]), "failed", "later")
                self.assertEqual(len(self.server.called(method)), 3)

    # Red where a full server is asked to take more.
    def test_a_quota(self):
        self.server.behaviours = {"BatchUpdateBlobs": GrpcServer.says(RESOURCE_EXHAUSTED, "the quota is used up")}
        self.are_not_done(self.put_blobs([b"a", b"b"]), "refused", "the quota is used up")

    # Red where the time is not waited for, or waited for past the deadline.
    def test_the_wait_that_the_server_asks_for(self):
        (blob,) = self.keep(b"body")
        self.server.behaviours = {"BatchReadBlobs": GrpcServer.says(UNAVAILABLE, times=1, more=wait_header(1.2))}
        answers, seconds = self.timed(lambda: self.get([blob]))
        self.are_done(answers, [blob])
        self.assertGreater(seconds, 1.2)
        self.server.behaviours = {"BatchReadBlobs": GrpcServer.says(UNAVAILABLE, "busy", more=wait_header(100))}
        answers, seconds = self.timed(lambda: self.get([blob]))
        self.are_not_done(answers, "failed", "busy")
        self.assertLess(seconds, 4)

    # Red without a deadline.
    def test_a_server_that_never_answers(self):
        for method in ("GetCapabilities", "BatchReadBlobs", "Read"):
            self.server.behaviours = {method: self.server.never_answers}
            answers, seconds = self.timed(lambda: self.get([b"a", b"b" * 4 * MIB], "--deadline-ms=400", "--repeat=2"))
            with self.subTest(method):
                self.assertEqual(len(answers), 4)
                self.assertIn("failed", self.states(answers))
                self.assertLess(seconds, 2.5)
        self.assertEqual(len(self.server.called("GetCapabilities")), 3)

    # Red where cancel() waits for the deadline.
    def test_cancel(self):
        self.server.behaviours = {"BatchReadBlobs": self.server.never_answers}
        answers, seconds = self.timed(lambda: self.get([b"a"], "--cancel-after-ms=200", "--threads=4"))
        self.are_not_done(answers, "failed", "cancelled")
        self.assertLess(seconds, 2.5)


class BrokenTest(ReapiTest):
    # Red where a call that broke off is not made again, or again and again.
    def test_streams_that_are_reset(self):
        (blob,) = self.keep(b"body" * 1000)
        for code in (REFUSED, BROKEN):
            self.server.behaviours = {"BatchReadBlobs": lambda call, number, code=code: self.server.as_usual if number > 1 else call.reset(code)}
            self.server.calls.clear()
            self.are_done(self.get([blob]), [blob])
            self.assertEqual(len(self.server.called("BatchReadBlobs")), 2)
        self.server.behaviours = {"BatchReadBlobs": lambda call, _: call.reset(BROKEN)}
        self.server.calls.clear()
        self.are_not_done(self.get([blob]), "failed")
        self.assertEqual(len(self.server.called("BatchReadBlobs")), 2)

    # Red where half a message counts as one.
    def test_a_stream_that_is_reset_in_the_answer(self):
        (blob,) = self.keep(b"body" * 1000)

        def half(call, number):
            if number > 1:
                return self.server.as_usual
            call.reply_half(b"x" * 4000)
            return call.reset(BROKEN)
        self.server.behaviours = {"BatchReadBlobs": half}
        self.are_done(self.get([blob]), [blob])

    # Red where an upload that broke off is begun again under its name.
    def test_an_upload_that_breaks_off(self):
        blob = os.urandom(5 * MIB)

        def broken(call, number):
            if number > 1:
                return self.server.as_usual
            self.server.uploads.add(first(call.messages[0], 1).decode().split("/")[1])
            return call.reset(BROKEN)
        self.server.behaviours = {"Write": broken}
        self.assertEqual(self.states(self.put_blobs([blob])), ["done"])
        self.assertEqual(self.server.blobs[sha256(blob)], blob)
        self.server.blobs.clear()
        self.server.behaviours = {"Write": GrpcServer.says(UNAVAILABLE, "later")}
        self.server.calls.clear()
        self.are_not_done(self.put_blobs([blob]), "failed", "later")
        self.assertEqual(len(self.server.called("Write")), 2)

    # Red where the status is not read, because the body could not be sent to its end.
    def test_an_upload_that_is_answered_before_it_has_ended(self):
        blob = os.urandom(12 * MIB)
        self.server.behaviours["FindMissingBlobs"] = lambda call, number: (
            call.reply(message((2, digest(blob)))) if number % 2 else self.server.as_usual)
        for code, state in ((0, "done"), (PERMISSION_DENIED, "refused")):
            self.server.calls.clear()
            self.keep(blob)  # another client was faster

            def early(call, code=code):
                call.reply(*([message((1, len(blob)))] if code == 0 else []), status=code)
                call.reset(0)
            self.server.early_behaviours = {"Write": early}
            (answer,) = self.put_blobs([blob])
            if (code, answer.state) != (PERMISSION_DENIED, "failed"):  # libcurl 7.88 loses such a status now and then
                self.is_not_done(answer, state, *(["PERMISSION_DENIED"] if code else []))

    # Red where dropped connections fail a batch.
    def test_a_server_that_drops_its_connections(self):
        blobs = self.keep(*(os.urandom(MIB) for _ in range(12)))
        self.server.behaviours = {"BatchReadBlobs": lambda _, number: self.server.drop_all() if number == 3 else self.server.as_usual}
        self.are_done(self.get(blobs), blobs)

    # Red where a server that comes back is not found, or one that is gone is waited for.
    def test_a_server_that_is_killed_and_comes_back(self):
        blobs = self.keep(*(os.urandom(MIB) for _ in range(12)))

        def killed(_, number):
            if number != 3:
                return self.server.as_usual
            self.server.die()
            time.sleep(0.1)
            self.server.open()
            return is_back.set()
        is_back = threading.Event()
        self.server.behaviours = {"BatchReadBlobs": killed}
        for answer, blob in zip(self.get(blobs), blobs, strict=True):
            if answer.state == "done":
                self.is_done(answer, blob)
            else:
                self.is_not_done(answer, "failed", self.url)
        is_back.wait(5)
        self.are_done(self.get(blobs), blobs)
        self.server.die()
        answers, seconds = self.timed(lambda: self.get(blobs))
        self.are_not_done(answers, "failed", self.url)
        self.assertLess(seconds, 2.5)

    # Red where a proxy gets frames of HTTP/2, which it does not understand.
    def test_a_proxy_is_asked_for_a_tunnel(self):
        with socket.create_server(("127.0.0.1", 0)) as proxy:
            heard = []

            def listen():
                connection, _ = proxy.accept()
                with connection:
                    heard.append(connection.recv(1000).splitlines()[0])
            threading.Thread(target=listen, daemon=True).start()
            self.environment["http_proxy"] = f"http://127.0.0.1:{proxy.getsockname()[1]}"
            self.are_not_done(self.get([b"a"], "--deadline-ms=2000", url="reapi://cache.invalid:8980"), "failed")
        self.assertEqual(heard, [b"CONNECT cache.invalid:8980 HTTP/1.1"])


class LiesTest(ReapiTest):
    """Red where answers are matched by their order, or are not checked; a crash is an exit code of the tool."""

    BLOBS = [b"first", b"second", b"third"]

    def answered(self, *answers, wants=None):
        """Those of a batch that is answered so."""
        self.server.behaviours["BatchReadBlobs"] = lambda call, _: call.reply(*answers)
        return self.get(wants or self.BLOBS)

    def blob_answer(self, blob, data=None, code=0):
        return (1, message((1, digest(blob)), (2, blob if data is None else data), *([(3, message((1, code)))] if code else [])))

    def test_order_and_others(self):
        given = [self.blob_answer(blob) for blob in (b"third", b"nobody asked", b"first", b"second", b"first")]
        self.are_done(self.answered(message(*given)), self.BLOBS)

    def test_none_for_a_file(self):
        first_, second, third = self.answered(message(self.blob_answer(b"first"), self.blob_answer(b"third")))
        self.is_done(first_, b"first")
        self.is_not_done(second, "failed", "no answer")
        self.is_done(third, b"third")

    def test_sizes(self):
        for data in (b"", b"secon", b"second and more", b"x" * 5 * MIB):
            _, second, _ = self.answered(message(self.blob_answer(b"first"), self.blob_answer(b"second", data)))
            self.is_not_done(second, "failed", "size")
        wrong = (1, message((1, digest(b"second", 7)), (2, b"second!")))
        self.is_not_done(self.answered(message(wrong))[1], "failed", "no answer")

    def test_no_messages(self):
        for answers in ([], [b"\xff" * 40], [b"\x0a\xff\xff\xff\xff\x0f"], [b"", b""], [b"\x0a\x80"]):
            self.are_not_done(self.answered(*answers), "failed")

    def test_frames(self):
        whole = message(*(self.blob_answer(blob) for blob in self.BLOBS))
        head, status = [(":status", "200"), ("content-type", "application/grpc")], [("grpc-status", "0")]
        for body in (b"\1\0\0\0\4abcd", b"\0\xff\xff\xff\xff" + whole, b"\0\0", b"\0\0\0\1\0" + whole[:4]):
            self.server.behaviours["BatchReadBlobs"] = lambda call, _, body=body: call.reply_raw(head, body, status)
            self.are_not_done(self.get(self.BLOBS), "failed", "not whole")
        self.server.behaviours["BatchReadBlobs"] = lambda call, _: call.reply_raw(head, b"\0\0\0\0\0")
        self.are_not_done(self.get(self.BLOBS), "failed", "broke off")

    def test_streams(self):
        blob = os.urandom(4 * MIB)
        for pieces in ([], [blob[:-1]], [blob, b"x"], [blob[:MIB]], [b"\xff" * 50]):
            self.server.behaviours["Read"] = lambda call, _, pieces=pieces: call.reply(*(message((10, piece)) for piece in pieces))
            self.are_not_done(self.get([blob]), "failed")
        for taken in (0, 1, len(blob) + 1, -1):
            self.server.behaviours["Write"] = lambda call, _, taken=taken: call.reply(message((1, taken)))
            self.are_not_done(self.put_blobs([blob]), "failed", "whole file")

    def test_what_is_missing(self):
        nobody_asked = [(2, digest(b"nobody asked")), (2, b""), (2, message((1, "../x"), (2, 1 << 63)))]
        self.server.behaviours["FindMissingBlobs"] = lambda call, _: call.reply(message(*nobody_asked))
        self.assertEqual(self.states(self.put_blobs(self.BLOBS)), ["done"] * 3)
        self.server.behaviours["FindMissingBlobs"] = lambda call, _: call.reply(b"\xff\xff")
        self.are_not_done(self.put_blobs(self.BLOBS), "failed")
        del self.server.behaviours["FindMissingBlobs"]
        self.server.behaviours["BatchUpdateBlobs"] = lambda call, _: call.reply(b"")
        self.are_not_done(self.put_blobs(self.BLOBS), "failed", "no answer")

    def test_results(self):
        for answers in ([], [b"", b""]):
            self.server.behaviours["GetActionResult"] = lambda call, _, answers=answers: call.reply(*answers)
            self.are_not_done(self.ask("get", ["a"], kind="ac"), "failed")


class TlsTest(ReapiTest):
    """One connection with many streams."""

    def setUp(self):
        super().setUp()
        file, key = certificate_for(self)
        self.server.use_tls(file, key)
        self.url, self.own = self.server.url, f"--ca-file={file}"
        self.names = range(150)

    def results(self, *options):
        self.assertEqual(set(self.states(self.put(self.names, b"\x2a\x03abc", self.own, kind="ac"))), {"done"})
        self.server.opened = 0
        self.server.calls.clear()
        self.are_done(self.ask("get", self.names, self.own, *options, kind="ac"), [b"\x2a\x03abc"] * len(self.names))

    # Red where calls have connections of their own.
    def test_one_connection(self):
        self.results()
        self.assertEqual(self.server.opened, 1)

    # Red where the server gets more streams than it permits; h2 ends the connection then.
    def test_a_limit_of_streams(self):
        self.server.most_streams = 3
        self.results()

    # Red where a call that the server has not begun fails, or goes to the connection that ends.
    def test_a_server_that_goes_away(self):
        def goes_away(call, number):
            if call.connection is ended.get("connection") and call.stream >= ended["stream"]:
                return None
            if number != 40:
                return self.server.as_usual
            ended.update(connection=call.connection, stream=call.stream)
            call.go_away(call.stream - 2)
            time.sleep(wait)
            return call.connection.close()
        for wait in (0.05, 2):
            ended = {}
            self.server.behaviours["GetActionResult"] = goes_away
            self.results()
            self.assertGreater(self.server.opened, 1)

    def test_streams_that_are_reset(self):
        def resets(call, number):  # each once, for a call is made again once
            if number > 20 and len(reset) < 15 and call.messages[0] not in reset:
                reset.append(call.messages[0])
                return call.reset(REFUSED if number % 2 else BROKEN)
            return self.server.as_usual
        reset = []
        self.server.behaviours["GetActionResult"] = resets
        self.results()


if __name__ == "__main__":
    testspace.main(each_commit=15)
