#!/usr/bin/env python3
"""The servers of remote execution that tests have (support/exec_server.py), seen by a small client: what a client's tests stand on."""

import hashlib
import os
import pathlib
import sys
import threading
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import reapi_types as reapi  # noqa: E402
import testspace  # noqa: E402
from exec_client import Blobs, parse_operation  # noqa: E402
from exec_faults import POINTS, RESULTS  # noqa: E402
from exec_tests import PATH, ServerTest, is_there  # noqa: E402
from protobuf_lite import fields, first, message  # noqa: E402
from reapi_server import ZSTD, pack, unpack  # noqa: E402
from reapi_types import render_digest  # noqa: E402


class RunTest(ServerTest):
    def test_outputs(self):
        self.serve()
        result = self.run_shell("cat in/text > out; mkdir d; cp out d/b; mkdir d/a; ln -s b d/l; ln -s out link; echo '#!' > p; chmod +x p; echo > deep/er/out",
                                "out", "d", "link", "p", "none", "deep/er/out",
                                folder="work", tree={"work": {"in": {"text": b"some text\n"}}})
        self.assertEqual(result.exit_code, 0)
        self.assertEqual(result.files, {"out": (hashlib.sha256(b"some text\n").hexdigest(), 10, False),
                                        "deep/er/out": (hashlib.sha256(b"\n").hexdigest(), 1, False),
                                        "p": (hashlib.sha256(b"#!\n").hexdigest(), 3, True)})
        self.assertEqual(result.links, {"link": "out"})
        tree = self.read_of(result.folders["d"])
        (child,) = fields(tree)[2]
        self.assertEqual(child, b"")  # an empty folder
        root = reapi.parse_directory(first(tree, 1))
        self.assertEqual([file.name for file in root.files], ["b"])
        self.assertEqual(root.folders, [("a", (hashlib.sha256(child).hexdigest(), 0))])
        self.assertEqual(root.links, [("l", "b")])

    def test_what_an_action_sees(self):
        self.serve()
        os.environ["OF_THE_SERVER"] = "1"
        result = self.run_shell("/usr/bin/env; ls -R; ./tools/tool; cat tools/link; echo bad >&2", folder="work", environment={**PATH, "A": "b"},
                                tree={"work": {"tools": {"tool": ("program", b"#!/bin/sh\necho a tool\n"), "link": ("link", "../../x")}}, "x": b"x\n"})
        said = result.stdout.decode().splitlines()
        self.assertEqual({word for word in said if "=" in word and not word.startswith(("PWD", "_"))}, {"A=b", "PATH=/usr/bin:/bin"})
        self.assertEqual(said[-2:], ["a tool", "x"])
        self.assertIn("./tools:", said)
        self.assertEqual(result.stderr, b"bad\n")

    def test_metadata(self):
        self.serve(slots=1)
        metadata = self.run_shell("sleep 0.1").metadata
        queued, begin, end = (fields(metadata[number][0]) for number in (2, 3, 4))
        self.assertGreaterEqual(begin[1], queued[1])
        self.assertGreater((end[1][0] - begin[1][0]) * 1e9 + end[2][0] - begin[2][0], 9e7)

    def test_failures_are_not_kept(self):
        self.serve()
        for script, code in (("exit 3", 3), ("kill -9 $$", 137), ("no-such-program", 127)):
            digest = self.shell(script)
            for _ in 1, 2:
                response = self.last(self.execute(digest)).response
                self.assertEqual((response.result.exit_code, response.is_cached), (code, False))
            self.assertEqual(self.client.cached(digest).code, reapi.NOT_FOUND)
        self.assertEqual(self.server.counts["executed"], 6)

    def test_the_cache(self):
        self.serve()
        digest = self.shell("date +%N > out", "out")
        results = [self.last(self.execute(digest, skip=skip)).response for skip in (False, False, True)]
        self.assertEqual([each.is_cached for each in results], [False, True, False])
        self.assertEqual(results[0].result, results[1].result)
        self.assertNotEqual(results[1].result.files, results[2].result.files)
        self.assertEqual(self.client.cached(digest).code, 0)

    def test_long_texts_are_blobs(self):
        self.serve()
        result = self.run_shell("seq 2000 >&2; seq 3")
        self.assertEqual(result.stdout, b"1\n2\n3\n")
        self.assertTrue(self.read_of(result.stderr).endswith(b"\n1999\n2000\n"))

    def test_a_timeout(self):
        self.serve()
        begin = time.monotonic()
        response = self.last(self.execute(self.shell("sleep 20", timeout=1))).response
        self.assertEqual(response.status.code, reapi.DEADLINE_EXCEEDED)
        self.assertLess(time.monotonic() - begin, 5)

    def test_old_servers_know_other_fields(self):
        self.serve(version=(2, 0))
        self.assertEqual(set(self.run_shell("touch a b", "a", files=["b"]).files), {"b"})
        self.serve()
        self.assertEqual(set(self.run_shell("touch a b", "a", files=["b"]).files), {"a"})

    def test_capabilities(self):
        for enabled in (True, False):
            self.serve(exec_enabled=enabled)
            reply = self.client.call("build.bazel.remote.execution.v2.Capabilities/GetCapabilities", b"")
            self.assertEqual(fields(first(reply.messages[0], 2)).get(2, [0]), [int(enabled)])
        self.assertEqual(self.execute(self.shell("true")).code, reapi.UNIMPLEMENTED)


class PackedTest(ServerTest):
    """Blobs that travel by zstd."""

    def setUp(self):
        self.serve(compressors=[ZSTD])
        self.text = b"some text that is packed well " * 1000
        self.digest = render_digest((hashlib.sha256(self.text).hexdigest(), len(self.text)))
        self.name = f"compressed-blobs/zstd/{hashlib.sha256(self.text).hexdigest()}/{len(self.text)}"

    def stream(self, method, *messages):
        return self.client.call(f"google.bytestream.ByteStream/{method}", *messages)

    def test_batches(self):
        put = self.client.cas("BatchUpdateBlobs", message((2, message((1, self.digest), (2, pack(self.text)), (3, ZSTD)))))
        self.assertEqual(first(put.messages[0], 1, 2), b"")
        (found,) = fields(self.client.cas("BatchReadBlobs", message((2, self.digest), (3, bytes([ZSTD])))).messages[0])[1]
        self.assertEqual((unpack(first(found, 2)), fields(found)[4]), (self.text, [ZSTD]))
        (found,) = fields(self.client.cas("BatchReadBlobs", message((2, self.digest))).messages[0])[1]
        self.assertEqual((first(found, 2), 4 in fields(found)), (self.text, False))
        bad = self.client.cas("BatchUpdateBlobs", message((2, message((1, self.digest), (2, b"not packed"), (3, ZSTD)))))
        self.assertEqual(bad.code, reapi.INVALID_ARGUMENT)

    def test_streams(self):
        packed = pack(self.text)
        name = f"uploads/{uuid.uuid4()}/{self.name}"
        put = self.stream("Write", message((1, name), (10, packed[:20])), message((2, 20), (3, 1), (10, packed[20:])))
        self.assertEqual((put.code, fields(put.messages[0])[1]), (0, [len(packed)]))
        got = self.stream("Read", message((1, self.name)))
        self.assertEqual(unpack(b"".join(first(each, 10) for each in got.messages)), self.text)


class QueueTest(ServerTest):
    def many(self, digests):
        """Replies, by a client for each."""
        replies = [None] * len(digests)

        def one(number):
            replies[number] = self.connect().execute(digests[number])
        threads = [threading.Thread(target=one, args=(number,)) for number in range(len(digests))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        return replies

    def test_slots(self):
        self.serve(slots=2)
        replies = self.many([self.shell(f"sleep 0.1; echo {number}") for number in range(6)])
        self.assertEqual([self.last(reply).response.result.stdout for reply in replies], [b"%d\n" % number for number in range(6)])
        state = self.server.state()
        self.assertEqual((state["most_running"], state["running"], state["waiting"], state["counts"]["executed"]), (2, 0, 0, 6))
        self.assertGreaterEqual(state["most_waiting"], 3)

    def test_equal_actions_run_once(self):
        self.serve()
        digest = self.shell("sleep 0.3; date +%N")
        replies = self.many([digest] * 3)
        self.assertEqual(len({self.last(reply).response.result.stdout for reply in replies}), 1)
        self.assertEqual((self.server.counts["executed"], self.server.counts["joined"]), (1, 2))

    def test_cancel(self):
        self.serve()
        mark = f"37.{os.getpid():07d}"
        names = []

        def cancels(data):
            operation = parse_operation(data)
            if operation.stage == reapi.EXECUTING:
                testspace.wait_until(lambda: is_there(mark.encode()))
                self.assertEqual(self.connect().cancel(operation.name).code, 0)
                names.append(operation.name)
            return False
        last = self.last(self.execute(self.shell(f"sleep {mark}"), stop=cancels))
        self.assertEqual(last.error.code, reapi.CANCELLED)
        self.assertTrue(testspace.wait_until(lambda: not is_there(mark.encode())))
        self.assertEqual(self.server.state()["counts"]["operations_cancelled"], 1)
        self.assertEqual(self.client.cancel("operations/no").code, reapi.NOT_FOUND)

    def give_up(self, **options):
        self.serve(**options)
        reply = self.execute(self.shell("sleep 0.4; echo done"), stop=lambda data: parse_operation(data).stage == reapi.EXECUTING)
        self.assertTrue(testspace.wait_until(lambda: self.server.counts["streams_given_up"] == 1))
        return parse_operation(reply.messages[0]).name

    def test_a_stream_that_is_given_up(self):
        name = self.give_up()
        self.assertEqual(self.last(self.client.wait(name)).response.result.stdout, b"done\n")
        name = self.give_up(ends_with_stream=True)
        operation = self.last(self.client.wait(name))
        self.assertEqual(operation.error.code, reapi.CANCELLED)

    def test_idle_connections_end(self):
        self.serve(most_idle=0.3)
        digest = self.shell("sleep 2")
        self.client.h2.ping(b"12345678")
        self.assertIsNone(self.execute(digest).code)
        self.assertEqual(self.server.state()["pings"], 1)


class FaultsTest(ServerTest):
    """What each fault looks like."""

    seen = set()

    def meet(self, kind, script="echo hi > out; echo hi > out2", **more):
        self.seen.add(kind)
        self.serve({"kind": kind, **more})
        return self.execute(self.shell(script, "out", "out2"))

    def test_errors_of_the_call(self):
        for kind, code in (("no_worker", reapi.FAILED_PRECONDITION), ("permission_denied", reapi.PERMISSION_DENIED),
                           ("unimplemented", reapi.UNIMPLEMENTED), ("invalid", reapi.INVALID_ARGUMENT), ("error", reapi.UNAVAILABLE)):
            reply = self.meet(kind)
            self.assertEqual((reply.code, reply.messages), (code, []), kind)
        reply = self.meet("resource_exhausted", retry_seconds=1.5)
        self.assertEqual(reply.code, reapi.RESOURCE_EXHAUSTED)
        self.assertEqual([(kind, fields(first(detail, 1))) for kind, detail in reply.details],
                         [("google.rpc.RetryInfo", {1: [1], 2: [500000000]})])
        self.meet("error", method="GetActionResult", code=reapi.INTERNAL)
        self.assertEqual(self.client.cached(("a", 1)).code, reapi.INTERNAL)

    def test_missing_inputs(self):
        for where in ("response", "operation", "call"):
            reply = self.meet("missing_input", where=where)
            status = reply if where == "call" else None
            if not status:
                operation = self.last(reply)
                status = operation.error or operation.response.status
            self.assertEqual(status.code, reapi.FAILED_PRECONDITION)
            ((kind, detail),) = status.details
            self.assertEqual(kind, "google.rpc.PreconditionFailure")
            self.assertEqual((first(detail, 1, 1), first(detail, 1, 2)[:6]), (b"MISSING", b"blobs/"))
        self.assertEqual(self.last(self.meet("missing_input_internal")).response.status[::2], (reapi.INTERNAL, []))

    def test_workers_that_are_lost(self):
        for kind, code in (("worker_lost", reapi.UNAVAILABLE), ("worker_aborted", reapi.ABORTED)):
            operation = self.last(self.meet(kind, times=1))
            self.assertEqual((operation.error.code, operation.response), (code, None))
            self.assertEqual(len(self.last(self.execute(self.shell("echo hi > out", "out"))).response.result.files), 1)
        self.serve()
        digest = self.shell("sleep 20")
        threading.Thread(target=lambda: testspace.wait_until(self.server.lose_worker)).start()
        self.assertEqual(self.last(self.execute(digest)).error.code, reapi.UNAVAILABLE)

    def test_queues(self):
        for kind, stage in (("stays_queued", reapi.QUEUED), ("runs_for_ever", reapi.EXECUTING)):
            self.seen.add(kind)
            self.serve({"kind": kind})
            digest = self.shell("true")
            reply = self.execute(digest, stop=lambda data, stage=stage: parse_operation(data).stage == stage)
            name = parse_operation(reply.messages[0]).name
            self.assertEqual(self.client.cancel(name).code, 0)
            self.assertEqual(self.last(self.client.wait(name)).error.code, reapi.CANCELLED)
        begin = time.monotonic()
        self.last(self.meet("waits_in_queue", seconds=0.3))
        self.assertGreater(time.monotonic() - begin, 0.3)

    def test_results(self):
        results = {}
        for kind in RESULTS:
            more = {"bytes": 9000} if kind == "huge_stderr" else {}
            results[kind] = self.last(self.meet(kind, **more)).response.result
            name, size, *_ = next(iter(results[kind].files.values()), ("", 0))
            data = self.read_of((name, size)) if len(name) == 64 else b""
            self.assertEqual(data == b"hi\n", kind in ("wrong_size", "huge_stderr", "other_paths", "one_output_less"), kind)
            if kind in ("wrong_bytes", "missing_output"):
                self.assertEqual(data, {"wrong_bytes": b"hi\x0b", "missing_output": reapi.NOT_FOUND}[kind])
        self.assertEqual((results["no_outputs"].exit_code, results["no_outputs"].files), (0, {}))
        self.assertEqual((results["exit_code"].exit_code, results["exit_code"].stderr), (127, b"the loader: no such library\n"))
        self.assertEqual(results["wrong_size"].files["out"][1], 4)
        self.assertEqual(len(results["wrong_hash_function"].files["out"][0]), 40)
        self.assertEqual(results["huge_stderr"].stderr[1], 9000)
        reply = self.meet("huge_stderr", bytes=9 << 20, most_raw=1 << 30)
        self.assertGreater(len(self.last(reply).response.result.stderr), 8 << 20)
        self.assertEqual(set(results["other_paths"].files), {"../../escaped"})
        self.assertEqual(set(results["one_output_less"].files), {"out2"})
        self.assertEqual(results["links_for_files"].links, {"out": "/etc/passwd", "out2": "/etc/passwd"})

    def test_a_failure_that_is_cached(self):
        self.meet("exit_code", code=139, cached=True, times=1)
        last = self.last(self.execute(self.shell("echo hi > out; echo hi > out2", "out", "out2"))).response
        self.assertEqual((last.is_cached, last.result.exit_code), (True, 139))

    def test_streams_that_break_off(self):
        for how in ("reset", "close", "end", "half", "garbage"):
            reply = self.meet("drop_stream", "sleep 0.2; echo done", how=how)
            self.assertEqual(reply.code, 0 if how in ("end", "garbage") else None, how)
            self.assertEqual(reply.messages[-1] == b"\xff" * 4, how == "garbage")
            operation = parse_operation(reply.messages[0])
            self.assertIsNone(operation.response)
            last = self.last(self.connect().wait(operation.name))
            self.assertEqual(last.response.result.stdout, b"done\n")
        self.seen.add("wait_not_found")
        self.server.faults.set([{"kind": "wait_not_found"}])
        self.assertEqual(self.connect().wait(operation.name).code, reapi.NOT_FOUND)

    def test_never_answers(self):
        self.seen.add("never_answers")
        self.serve({"kind": "never_answers"})
        digest = self.shell("true")
        self.client.socket.settimeout(0.3)
        with self.assertRaises(TimeoutError):
            self.execute(digest)

    def test_which_and_how_often(self):
        self.serve({"kind": "exit_code", "after": 1, "times": 2, "output": "a.cubin"})
        codes = [self.run_shell(f"echo {number}", *outputs).exit_code
                 for number, outputs in enumerate([["a.cubin"], ["b"], ["x/a.cubin"], ["a.cubin"], ["a.cubin"]])]
        self.assertEqual(codes, [0, 0, 127, 127, 0])
        for wrong in ({"kind": "no_such"}, {"kind": "exit_code", "secods": 1}, {}):
            with self.assertRaises(ValueError):
                self.server.faults.set([wrong])

    @classmethod
    def tearDownClass(cls):
        missed = set(POINTS) - cls.seen - {"kill_server"}
        assert not missed or not testspace.runs_whole(cls), missed


class StrictTest(ServerTest):
    """Red where an action that the specification forbids is run."""

    def check(self, words, blobs, digest, code=reapi.INVALID_ARGUMENT):
        self.serve()
        self.client.upload(blobs)
        reply = self.execute(digest)
        self.assertEqual(reply.code, code, (words, reply))
        self.assertIn(words, reply.words)
        return reply

    def command(self, words, *parts, folder=b""):
        blobs = Blobs()
        command = blobs.add(message((1, "true"), *parts))
        self.check(words, blobs, blobs.add(message((1, render_digest(command)), (2, render_digest(blobs.add(folder))))))

    def test_commands(self):
        def pair(name):
            return (2, message((1, name), (2, "x")))
        self.command("comes after", pair("B"), pair("A"))
        self.command("twice", pair("A"), pair("A"))
        self.command("comes after", (7, "b"), (7, "a"))
        self.command("is absolute", (7, "/a"))
        self.command("not canonical", (7, "a/"))
        self.command("not canonical", (7, "../a"))
        self.command("not canonical", (7, "./a"))
        self.command("not in the input tree", (6, "work"))
        self.command("comes after field", (7, "a"), (6, "work"))
        self.command("unknown field", (30, "a"))
        self.command("platform differ", (5, message((1, message((1, "OSFamily"), (2, "linux"))))))

    def test_folders(self):
        blob = render_digest((hashlib.sha256(b"").hexdigest(), 0))

        def node(name, number=1, digest=blob):
            return (number, message((1, name), (2, digest)))
        self.command("comes after", folder=message(node("b"), node("a")))
        self.command("twice", folder=message(node("a"), node("a")))
        self.command("twice", folder=message(node("a"), node("a", 2)))
        for name in ("a/b", "..", ""):
            self.command("the name", folder=message(node(name)))
        self.command("is not a SHA-256 digest", folder=message(node("a", digest=render_digest(("ab", 1)))))
        self.command("bytes and not", folder=message(node("a", digest=render_digest((hashlib.sha256(b"").hexdigest(), 1)))))
        self.command("the link", folder=message((3, message((1, "l"), (2, "/etc")))))
        self.command("has its default", folder=message((1, message((1, "a"), (2, blob), (4, 0)))))
        self.command("has its default", folder=message(node("a", digest=blob + message((2, 0)))))

    def test_missing_inputs(self):
        blobs = Blobs()
        digest = blobs.action(["true"], {"a": {"b": b"some"}})
        name = hashlib.sha256(b"some").hexdigest()
        del blobs.data[name]
        reply = self.check("missing", blobs, digest, reapi.FAILED_PRECONDITION)
        ((kind, detail),) = reply.details
        self.assertEqual((kind, first(detail, 1, 2)), ("google.rpc.PreconditionFailure", f"blobs/{name}/4".encode()))

    def test_other_paths_of_services(self):
        self.serve()
        self.assertEqual(self.client.call("build.bazel.remote.execution.v2.ActionCache/Execute", b"").code, reapi.UNIMPLEMENTED)


if __name__ == "__main__":
    testspace.main()
