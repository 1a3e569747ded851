#!/usr/bin/env python3
"""A remote cache by HTTP whose server refuses, is busy, drops connections, never answers, lies, and sends elsewhere: each file gets
the right answer in time, and no secret goes to another server. Works through tests/tools/remote_tool.cpp. Each test says what turns
it red; `done` is checked by the bytes' digest."""

import base64
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import bad_server  # noqa: E402
import testspace  # noqa: E402
from bad_server import Server  # noqa: E402
from remote_cache import RemoteTest, cas, digest  # noqa: E402

SECRET = "Bearer 5ecret-that-nobody-may-see"


class AnswersTest(RemoteTest):
    # Red where a verb, the path of a kind, the order of answers, or an empty body is wrong.
    def test_what_is_put_is_there(self):
        for body in (b"", b"\0one\n" * 100000):
            for kind in ("ac", "cas"):
                names = [f"{kind} {len(body)} {number}" for number in range(3)]
                self.assertEqual({answer.state for answer in self.ask("has", names, kind=kind)}, {"absent"})
                self.assertEqual([answer.state for answer in self.put(names[1:], body, kind=kind)], ["done"] * 2)
                first, second, third = self.ask("get", names, kind=kind)
                self.is_not_done(first, "absent")
                self.is_done(second, body)
                self.is_done(third, body)
                self.assertEqual([answer.state for answer in self.ask("has", names, kind=kind)],
                                 ["absent", "done", "done"])

    # Red where one of these headers is, or is not, as written here.
    def test_headers(self):
        self.put(["a"], b"body", url=self.url + "/")
        self.ask("get", ["a"])
        put, get = self.server.asked(cas("a"))
        self.assertRegex(put["User-Agent"], r"^dsbuild/\d")
        self.assertEqual(put["Content-Length"], "4")
        for headers in (put, get):
            self.assertFalse({"Expect", "Accept-Encoding", "Transfer-Encoding", "Authorization"} & set(headers), headers)

    # Red where a status is read as another state, or is asked for again.
    def test_statuses(self):
        states = {("get", 404): "absent", ("get", 410): "absent", ("has", 404): "absent", ("put", 404): "refused",
                  ("get", 401): "refused", ("get", 403): "refused", ("put", 401): "refused", ("put", 403): "refused",
                  ("has", 403): "refused", ("put", 405): "refused", ("put", 501): "refused", ("get", 405): "failed",
                  ("put", 413): "refused", ("put", 507): "refused", ("get", 500): "failed", ("put", 500): "failed",
                  ("get", 502): "failed", ("put", 204): "done", ("put", 200): "done", ("get", 206): "failed",
                  ("put", 301): "failed", ("get", 304): "failed"}
        for status in {status for _, status in states}:
            self.server.behaviours[cas(status)] = Server.says(status, b"" if status in (204, 304) else b"said by the server")
        for verb in ("get", "has", "put"):
            wanted = {status: state for (asked, status), state in states.items() if asked == verb}
            answers = self.put(wanted, b"body") if verb == "put" else self.ask(verb, wanted)
            for (status, state), answer in zip(wanted.items(), answers, strict=True):
                with self.subTest(verb=verb, status=status):
                    words = [] if state in ("done", "absent") else [str(status), self.url]
                    self.is_not_done(answer, state, *words)
        asked = collections.Counter((command, path) for command, path, _ in self.server.requests)
        self.assertEqual(set(asked.values()), {1})

    # Red where the body is sent to its end, or the broken connection is what is told.
    def test_a_large_file_is_refused_before_it_is_read(self):
        def refuse(handler, _):
            handler.answer(413, Connection="close")
            handler.close_connection = True
        self.server.behaviours[cas("large")] = refuse

        def refuse_and_break(handler, _):
            handler.send_response(413)
            handler.send_header("Content-Length", "100")
            handler.end_headers()
            handler.wfile.write(b"too")
            handler.drop()
        self.server.behaviours[cas("larger")] = refuse_and_break
        for answer in self.put(["large", "larger"], b"x" * (16 << 20)):
            self.is_not_done(answer, "refused", "413")

    # Red where the body is waited for.
    def test_a_body_of_more_than_512_mib_is_not_taken(self):
        def huge(handler, _):
            handler.send_response(200)
            handler.send_header("Content-Length", str(513 << 20))
            handler.end_headers()
            handler.server.never_answers()
        self.server.behaviours[cas("huge")] = huge
        answer, seconds = self.timed(lambda: self.ask_one("get", "huge"))
        self.is_not_done(answer, "refused", "512.0 MiB")
        self.assertLess(seconds, 4)


class BusyTest(RemoteTest):
    # Red where the time is not waited for, or the file is given up.
    def test_retry_after_seconds_and_a_date(self):
        self.server.files[cas("a")] = self.server.files[cas("b")] = b"body"
        self.server.behaviours[cas("a")] = Server.is_busy(1, Retry_After="1")
        self.server.behaviours[cas("b")] = Server.is_busy(1, Retry_After=bad_server.http_date(1.9))
        answers, seconds = self.timed(lambda: self.ask("get", ["a", "b"]))
        for answer in answers:
            self.is_done(answer, b"body")
        self.assertGreater(seconds, 1)
        self.assertEqual(len(self.server.asked(cas("a"))), 2)

    # Red with two tries or four, or where the waits keep other files from their answers.
    def test_three_tries(self):
        self.server.behaviours[cas("a")] = Server.is_busy(99)
        self.server.files[cas("b")] = b"body"
        first, second = self.ask("get", ["a", "b"])
        self.is_not_done(first, "failed", "503")
        self.is_done(second, b"body")
        self.assertEqual(len(self.server.asked(cas("a"))), 3)

    # Red where dsbuild waits for longer than a file may take.
    def test_a_wait_past_the_deadline_is_not_begun(self):
        self.server.behaviours[cas("a")] = Server.is_busy(99, Retry_After="100")
        answer, seconds = self.timed(lambda: self.ask_one("get", "a"))
        self.is_not_done(answer, "failed", "503")
        self.assertLess(seconds, 4)
        self.assertEqual(len(self.server.asked(cas("a"))), 1)


class BrokenTest(RemoteTest):
    BODY = b"0123456789" * 10000

    # Red where half a body counts as one, where it is not asked for again, or again and again.
    def test_a_connection_that_closes_in_the_body(self):
        self.server.files[cas("once")] = self.server.files[cas("always")] = self.BODY
        self.server.behaviours[cas("once")] = Server.drops_in_the_body(1, self.BODY)
        self.server.behaviours[cas("always")] = Server.drops_in_the_body(99, self.BODY)
        once, always = self.ask("get", ["once", "always"])
        self.is_done(once, self.BODY)
        self.is_not_done(always, "failed", self.url, "transfer closed")
        self.assertEqual([len(self.server.asked(cas(name))) for name in ("once", "always")], [2, 2])

    # Red where the second try sends another body than the first.
    def test_a_put_that_is_dropped(self):
        body = os.urandom(4 << 20)
        self.server.behaviours[cas("once")] = Server.drops_what_it_is_sent(1)
        self.server.behaviours[cas("always")] = Server.drops_what_it_is_sent(99)
        once, always = self.put(["once", "always"], body)
        self.is_not_done(once, "done")
        self.is_not_done(always, "failed", self.url)
        self.assertEqual(self.server.files, {cas("once"): body})

    # Red where a kept connection that the server closed without a word fails the next file.
    def test_a_kept_connection_that_was_closed(self):
        self.server.files[cas("a")] = b"body"

        def close_after(handler, _):
            handler.answer(200, b"body")
            handler.drop()
        self.server.behaviours[cas("a")] = close_after
        for answer in self.ask("get", ["a"], "--repeat=5"):
            self.is_done(answer, b"body")

    # Red where bytes past the length that was told fail the next file on the connection.
    def test_a_length_that_is_too_small(self):
        def lie(handler, _):
            handler.send_response(200)
            handler.send_header("Content-Length", "4")
            handler.end_headers()
            handler.wfile.write(b"body and more")
        self.server.behaviours[cas("lie")] = lie
        for answer in self.ask("get", ["lie"], "--repeat=3"):
            self.is_done(answer, b"body")

    # Red without a deadline, or with one for each 16 of the files.
    def test_a_server_that_never_answers(self):
        names = range(100)
        for name in names:
            self.server.behaviours[cas(name)] = self.server.never_answers
        answers, seconds = self.timed(lambda: self.ask("get", names, "--deadline-ms=400"))
        for answer in answers:
            self.is_not_done(answer, "failed", "timed out")
        self.assertLess(seconds, 2.5)

    # Red where one file that is not answered fails the others.
    def test_one_file_that_is_never_answered(self):
        names = range(90)
        self.server.files.update({cas(name): b"body" for name in names})

        def slow(*_):
            time.sleep(0.15)
            return Server.as_usual
        self.server.behaviours.update({cas(name): slow for name in names})
        self.server.behaviours[cas(0)] = self.server.never_answers
        first, *others = self.ask("get", names, "--deadline-ms=600")
        self.is_not_done(first, "failed", "timed out")
        for answer in others:
            self.is_done(answer, b"body")

    def test_no_server(self):
        port = bad_server.free_port()
        answers, seconds = self.timed(lambda: self.ask("get", range(200), url=f"http://127.0.0.1:{port}"))
        for answer in answers:
            self.is_not_done(answer, "failed", f"127.0.0.1 port {port}")
        self.assertLess(seconds, 2.5)

    # Red where cancel() waits for the deadline.
    def test_cancel(self):
        for name in range(50):
            self.server.behaviours[cas(name)] = self.server.never_answers
        answers, seconds = self.timed(lambda: self.ask("get", range(50), "--cancel-after-ms=200", "--repeat=2", "--threads=4"))
        self.assertEqual(len(answers), 400)
        for answer in answers:
            self.is_not_done(answer, "failed", "the call was")
        self.assertLess(seconds, 2.5)

    # Red with a connection for each file, or with one for all.
    def test_many_files_share_16_connections(self):
        names = range(300)
        self.server.files.update({cas(name): str(name).encode() for name in names})

        def slow(_, __):
            time.sleep(0.02)
            return Server.as_usual
        self.server.behaviours.update({cas(name): slow for name in names})
        for name, answer in zip(names, self.ask("get", names), strict=True):
            self.is_done(answer, str(name).encode())
        self.assertLessEqual(self.server.connections, 16)
        self.assertGreater(self.server.most_open, 8)


    # Red where the answers of one caller reach another, or where callers have connections of their own.
    def test_many_callers_at_once(self):
        names = range(40)
        self.server.files.update({cas(name): str(name).encode() for name in names})
        answers = self.ask("get", names, "--threads=3", "--repeat=2")
        self.assertEqual(len(answers), 3 * 2 * 40)
        for number, answer in enumerate(answers):
            self.is_done(answer, str(number % 40).encode())
        self.assertLessEqual(self.server.connections, 16)


class SecretsTest(RemoteTest):
    def redirect(self, name, url, status=302):
        self.server.behaviours[cas(name)] = Server.says(status, Location=url)

    # Red where the header is sent on to another port, or gets lost on the way to the same server.
    def test_a_redirect_to_another_server_gets_no_secret(self):
        other = Server(self)
        other.files["/there"] = other.files[cas("b")] = self.server.files["/here"] = b"body"
        self.redirect("a", other.url + "/there?signature=1")
        other.behaviours["/there?signature=1"] = Server.says(307, Location="/there")
        self.redirect("b", f"{other.url.replace('127.0.0.1', 'localhost')}{cas('b')}", 308)
        self.redirect("c", "/here", 301)
        for variable, url in ((SECRET, self.url), (None, self.url.replace("//", "//user:5ecret@"))):
            with self.subTest(url):
                self.environment.pop("REMOTE_AUTHORIZATION", None)
                if variable:
                    self.environment["REMOTE_AUTHORIZATION"] = variable
                self.server.requests.clear()
                other.requests.clear()
                for answer in self.ask("get", ["a", "b", "c"], url=url):
                    self.is_done(answer, b"body")
                wanted = variable or "Basic " + base64.b64encode(b"user:5ecret").decode()
                self.assertEqual({headers.get("Authorization") for _, _, headers in self.server.requests}, {wanted})
                self.assertEqual(len(self.server.requests), 4)
                self.assertEqual({headers.get("Authorization") for _, _, headers in other.requests}, {None})
                self.assertEqual(len(other.requests), 3)

    # Red where it comes back with the secret, for whatever path the other server chose.
    def test_a_redirect_that_comes_back_gets_no_secret_either(self):
        other = Server(self)
        self.environment["REMOTE_AUTHORIZATION"] = SECRET
        self.redirect("a", other.url + "/there")
        other.behaviours["/there"] = Server.says(302, Location=self.url + "/back")
        self.server.files["/back"] = b"body"
        self.is_done(self.ask_one("get", "a"), b"body")
        self.assertEqual([headers.get("Authorization") for headers in self.server.asked("/back")], [None])

    # Red with more than 5 hops, or where another scheme is followed.
    def test_redirects_that_lead_nowhere(self):
        (self.root / "file").write_bytes(b"body")
        self.redirect("circle", cas("circle"))
        self.redirect("file", f"file://{self.root}/file")
        self.server.behaviours[cas("none")] = Server.says(302)
        for name in ("circle", "file", "none"):
            self.is_not_done(self.ask_one("get", name), "failed", "redirects")
        self.assertEqual(len(self.server.asked(cas("circle"))), 6)

    # Red where netrc is not read, or is preferred to what the user gave.
    def test_netrc(self):
        netrc = self.root / ".netrc"
        netrc.write_text("machine 127.0.0.1 login me password 5ecret\n")
        netrc.chmod(0o600)
        self.server.files[cas("a")] = b"body"
        self.is_done(self.ask_one("get", "a"), b"body")
        self.is_done(self.ask_one("get", "a", "--no-netrc"), b"body")
        self.environment["REMOTE_AUTHORIZATION"] = SECRET
        self.is_done(self.ask_one("get", "a"), b"body")
        self.assertEqual([headers.get("Authorization") for headers in self.server.asked(cas("a"))],
                         ["Basic " + base64.b64encode(b"me:5ecret").decode(), None, SECRET])

    # Red where a message shows the header or the password; run_tool looks for them in all that is printed.
    def test_messages_show_no_secret(self):
        port = bad_server.free_port()
        self.environment["REMOTE_AUTHORIZATION"] = SECRET
        self.server.behaviours[cas("a")] = Server.says(500)
        for url in (self.url.replace("//", "//me:5ecret@"), f"http://me:5ecret@127.0.0.1:{port}"):
            self.is_not_done(self.ask_one("get", "a", url=url), "failed", "127.0.0.1")
        for url in ("http://me:5ecret@host:port", "me:5ecret@host", "ftp://me:5ecret@host", "http://me:5ecret@host?a"):
            self.assertIn("error[bad_remote_url]", self.run_tool("get", url, "cas", digest("a"), code=1))
        self.environment["REMOTE_AUTHORIZATION"] = SECRET + "\r\nX-Other: 1"
        self.assertIn("error[bad_remote_url]", self.run_tool("get", self.url, "cas", digest("a"), code=1))

    def test_a_proxy(self):
        self.environment["http_proxy"] = self.url
        self.server.behaviours[f"http://cache.invalid:81{cas('a')}"] = Server.says(200, b"body")
        self.is_done(self.ask_one("get", "a", url="http://cache.invalid:81"), b"body")


class LibraryTest(RemoteTest):
    NAMES = ("libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4")

    def refused(self):
        self.environment["LD_LIBRARY_PATH"] = str(self.root)
        out = self.run_tool("get", self.url, "cas", digest("a"), code=1)
        self.assertIn("error[no_libcurl]", out)
        return out

    def test_no_libcurl(self):
        for name in self.NAMES:
            (self.root / name).write_text("no library")
        self.assertIn("libcurl.so.4", self.refused())

    def compile(self, code):
        if not shutil.which("cc"):
            self.skipTest("there is no cc")
        (self.root / "curl.c").write_text(code)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.root / self.NAMES[0], self.root / "curl.c"], check=True)

    def test_an_old_libcurl(self):
        self.compile('struct { int age; const char* version; unsigned number; } info = {5, "7.64.0", 0x074000};\n'
                     "void* curl_version_info(int age) { return &info; }\n")
        self.assertIn("libcurl 7.64.0 is too old", self.refused())

    def test_another_library(self):
        self.compile("int a;\n")
        self.assertIn("the library is not libcurl", self.refused())


if __name__ == "__main__":
    testspace.main()
