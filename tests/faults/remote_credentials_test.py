#!/usr/bin/env python3
"""Who we are to a server: a credential helper that answers, fails, hangs or lies, certificates, and a password in the URL, which
nobody sees. Works through tests/tools/remote_tool.cpp and the program. Each test says what turns it red."""

import pathlib
import shutil
import ssl
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from aws_server import stamp  # noqa: E402
from bad_server import Server  # noqa: E402
from remote_cache import RemoteTest, cas  # noqa: E402
from testspace import TestSpace  # noqa: E402

SECRET = "Bearer 5ecret-of-the-helper"


class HelperTest(RemoteTest):
    def setUp(self):
        super().setUp()
        self.server.files[cas("a")] = b"body"

    def helper(self, lines):
        """A program of the user; what it is asked goes to a file."""
        program = self.root / "helper"
        program.write_text(f'#!/bin/sh\n[ "$1" = get ] || exit 9\ncat >>{self.root}/asked\n{lines}\n')
        program.chmod(0o755)
        return f"--helper={program}"

    def answers(self, headers, more=""):
        return self.helper(f"""echo '{{"headers": {headers}{more}}}'""")

    def asked(self):
        return (self.root / "asked").read_text().splitlines()

    def sent(self):
        return [headers.get("Authorization") for headers in self.server.asked(cas("a"))]

    # Red where it is not asked by the protocol, is asked for each file, or its headers are lost.
    def test_its_headers_are_sent(self):
        helper = self.answers(f'{{"Authorization": ["{SECRET}"], "X-Team": ["one", "two"]}}')
        for answer in self.ask("get", ["a"] * 3, helper, "--repeat=3"):
            self.is_done(answer, b"body")
        self.assertEqual(self.asked(), [f'{{"uri":"{self.url}"}}'])
        self.assertEqual(self.sent(), [SECRET] * 9)
        self.assertEqual(self.server.asked(cas("a"))[0]["X-Team"], "two")

    # Red where they go to a different server, or the URL's password goes to the helper.
    def test_nobody_else_gets_them(self):
        other = Server(self)
        other.files["/there"] = b"body"
        self.server.behaviours[cas("a")] = Server.says(302, Location=other.url + "/there")
        helper = self.answers(f'{{"Authorization": ["{SECRET}"], "X-Secret": ["5ecret"]}}')
        self.is_done(self.ask_one("get", "a", helper, url=self.url.replace("//", "//me:5ecret@")), b"body")
        ((_, _, headers),) = other.requests
        self.assertFalse({"Authorization", "X-Secret"} & set(headers))
        self.assertEqual(self.asked(), [f'{{"uri":"{self.url}"}}'])
        self.assertEqual(self.sent(), [SECRET])

    # Red where what has expired is used on, or what has not is asked for again.
    def test_it_is_asked_again_when_its_answer_expires(self):
        for seconds, times in ((50, 3), (3600, 1)):
            (self.root / "asked").unlink(missing_ok=True)
            helper = self.answers(f'{{"Authorization": ["{SECRET}"]}}', f', "expires": "{stamp(time.time() + seconds)}"')
            for answer in self.ask("get", ["a"], helper, "--repeat=3"):
                self.is_done(answer, b"body")
            self.assertEqual(len(self.asked()), times)

    # Red where a file is asked for without what the helper should have given, a secret is shown, or a header is begun by it.
    def test_helpers_that_give_nothing(self):
        cases = (("exit 3", "exit code 3"), ("echo said by the helper >&2; echo 5ecret; exit 1", "said by the helper"),
                 ("echo 5ecret", "its answer is not"), ("echo '[]'", "its answer is not"), ("true", "its answer is not"),
                 ("""echo '{"headers": {"A": "5ecret"}}'""", "its answer is not"),
                 ("""echo '{"headers": {"A": ["5ecret\\\\r\\\\nB: c"]}}'""", "its answer is not"),
                 ("""echo '{"headers": {"A b": ["5ecret"]}}'""", "its answer is not"),
                 ("""echo '{"headers": {}, "expires": "soon"}'""", "is not a time"))
        for lines, said in cases:
            with self.subTest(lines):
                (self.root / "asked").unlink(missing_ok=True)
                for answer in self.ask("get", ["a"], self.helper(lines), "--repeat=2"):
                    self.is_not_done(answer, "refused", said, "helper")
                self.assertEqual(len(self.asked()), 1)
        self.is_not_done(self.ask_one("get", "a", f"--helper={self.root}/nowhere"), "refused", "No such file")
        self.assertEqual(self.server.requests, [])

    # Red where it is waited for.
    def test_a_helper_that_hangs(self):
        answer, seconds = self.timed(lambda: self.ask_one("get", "a", self.helper("sleep 100")))
        self.is_not_done(answer, "refused", "no answer in 10 s")
        self.assertLess(seconds, 20)

    # Red where dsbuild waits until the helper has read its input.
    def test_a_helper_that_reads_nothing(self):
        program = self.root / "helper"
        program.write_text(f"""#!/bin/sh\necho '{{"headers": {{"Authorization": ["{SECRET}"]}}}}'\n""")
        program.chmod(0o755)
        long = self.ask_one("get", "a", f"--helper={program}", url=self.url + "/" + "x" * 100000)  # a pipe holds 65536
        self.is_not_done(long, "failed", "414")
        self.is_done(self.ask_one("get", "a", f"--helper={program}"), b"body")


class ProgramTest(RemoteTest):
    """The options of the program."""

    def machine(self, **more):
        space = TestSpace("machine", steps=True, store=True)
        space.environment.update(more)
        return space

    def build(self, url, *more, code=0):
        run = self.machine().build("--remote", url, *more)
        self.assertEqual(run.code, code, run)
        return run

    # Red where a helper is no reason to upload, is looked for elsewhere than on PATH, or what it says is shown.
    def test_a_helper(self):
        space = self.machine()
        (space.root / "bin").mkdir(exist_ok=True)
        program = space.root / "bin" / "our-helper"
        program.write_text(f"""#!/bin/sh\necho '{{"headers": {{"Authorization": ["{SECRET}"]}}}}'\n""")
        program.chmod(0o755)
        space.environment["PATH"] = f"{space.root}/bin:" + space.environment["PATH"]
        run = space.build("--remote", self.url, env={"DSBUILD_REMOTE_CREDENTIAL_HELPER": "our-helper"})
        self.assertEqual(run.code, 0, run)
        self.assertIn("brought there", run.out)
        self.assertEqual({headers.get("Authorization") for _, _, headers in self.server.requests}, {SECRET})
        self.assertNotIn("5ecret", run.out + run.err)
        self.assertEqual([file for file in space.root.rglob("*") if file.is_file() and b"5ecret" in file.read_bytes()], [program])

    # Red where the certificate or its key is not sent, or is no reason to upload.
    def test_a_client_certificate(self):
        if not shutil.which("openssl"):
            self.skipTest("there is no openssl")
        certificate, key = self.root / "cert", self.root / "key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                        "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(certificate)
        context.verify_mode = ssl.CERT_REQUIRED
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        url = self.url.replace("http://", "https://")
        own = ("--remote-ca", str(certificate), "--remote-client-cert", str(certificate))
        self.assertIn("brought there", self.build(url, *own, "--remote-client-key", str(key)).out)
        self.assertIn("remote_off", self.build(url, *own[:2]).err)
        both = self.root / "both"
        both.write_text(certificate.read_text() + key.read_text())
        self.assertRegex(self.build(url, *own[:2], "--remote-client-cert", str(both)).out, r"shared: ([1-9]\d*) of \1 found there")
        self.assertIn("--remote-client-cert", self.build(url, "--remote-client-key", str(key), code=2).err)
        self.build(url, "--remote-client-cert", str(self.root / "nowhere"), code=1)

    # Red where any of them shows it.
    def test_a_password_in_the_url_is_not_shown(self):
        url = self.url.replace("//", "//me:5ecret@")
        space = self.machine()
        for shown in (url, self.url.replace("//", "//me:5ecret/@word@"), "ftp://me:5ecret@host", "me:5ecret@host",
                      "s3://me:5ecret@bucket", "http://me:5ecret@host:port"):
            run = space.run("plan", "-v", *space.arguments("--remote", shown))
            self.assertIn("***@" + shown.rpartition("@")[2], run.out)
            self.assertNotIn("5ecret", run.out + run.err)
        for words in (["plan", "--json"], ["build", "-v"], ["build", "--json"]):
            for shown, code in ((url, 0), ("http://me:5ecret@127.0.0.1:1", 0), ("ftp://me:5ecret@host", 2), ("me:5ecret@host", 2),
                                ("s3://me:5ecret@bucket", 2), ("http://me:5ecret@host:port", 2)):
                with self.subTest(words=words, url=shown):
                    run = space.run(*words, *space.arguments("--remote", shown))
                    self.assertEqual(run.code, 0 if words[0] == "plan" else code, run)
                    self.assertNotIn("5ecret", run.out + run.err)
        for words in (["build", "--remote", url, "--opz", "all"], ["build", f"--remote={url}", "opz=all"],
                      ["bild", "--remote", "me:5ecret@host"], ["build", "--remote", url, "--remote", url]):
            run = space.run(*words)
            self.assertEqual(run.code, 2, run)
            self.assertNotIn("5ecret", run.out + run.err)
        self.assertEqual(space.build(env={"DSBUILD_REMOTE": url}).code, 0)
        (space.root / "dsbuild.yaml").write_text("remote: ftp://me:5ecret@host\n")
        run = space.run("plan", "-v", *space.arguments())
        self.assertIn("ftp://***@host", run.out)
        self.assertNotIn("5ecret", run.out + run.err)
        self.assertEqual([file for file in space.root.rglob("*") if file.is_file() and b"5ecret" in file.read_bytes()],
                         [space.root / "dsbuild.yaml"])


if __name__ == "__main__":
    testspace.main(each_commit=4)
