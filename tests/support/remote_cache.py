"""What the tests of remote caches by HTTP share: a server, a folder, and calls of tests/tools/remote_tool.cpp."""

import collections
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time
import unittest

import testspace
from bad_server import Server

EMPTY = hashlib.sha256(b"").hexdigest()
Answer = collections.namedtuple("Answer", "state size digest why")


def digest(text):
    return hashlib.sha256(str(text).encode()).hexdigest()


def cas(name):
    return f"/cas/{digest(name)}"


def certificate_for(test):
    """(file, key) of this machine, for a server and a client, in the test's folder."""
    if not shutil.which("openssl"):
        test.skipTest("there is no openssl")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", test.root / "key", "-out", test.root / "cert", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return test.root / "cert", test.root / "key"


class ToolTest(unittest.TestCase):
    """Works through tests/tools/remote_tool.cpp."""

    def setUp(self):
        self.tool = os.environ.get("DSBUILD_REMOTE_TOOL")
        if not self.tool:
            self.skipTest("DSBUILD_REMOTE_TOOL is not set (the build's tests/remote_tool)")
        folder = tempfile.TemporaryDirectory(prefix="dsbuild-test-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()


class RemoteTest(ToolTest):
    def setUp(self):
        super().setUp()
        proxies = {"http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file"}
        self.environment = {name: value for name, value in os.environ.items() if name.lower() not in proxies}
        self.environment["HOME"] = str(self.root)
        self.server = Server(self)
        self.url = self.server.url

    def run_tool(self, *words, code=0):
        run = subprocess.run([self.tool, *map(str, words)], env=self.environment, capture_output=True, text=True,
                             timeout=60, check=False)
        self.assertEqual(run.returncode, code, run)
        self.assertEqual(run.stderr, "")
        self.assertNotIn("5ecret", run.stdout)
        return run.stdout

    def ask(self, verb, names, *options, url=None, kind="cas"):
        out = self.run_tool(verb, url or self.url, kind, *map(digest, names), *options)
        return [Answer(*line.split(" ", 3)) for line in out.splitlines()]

    def ask_one(self, verb, name, *options, **more):
        (answer,) = self.ask(verb, [name], *options, **more)
        return answer

    def put(self, names, body=b"", *options, **more):
        file = self.root / "file"
        file.write_bytes(body)
        return self.ask("put", names, file, *options, **more)

    def is_done(self, answer, body):
        self.assertEqual(answer, ("done", str(len(body)), hashlib.sha256(body).hexdigest(), ""))

    def is_not_done(self, answer, state, *words):
        self.assertEqual(answer[:3], (state, "0", EMPTY), answer)
        for word in words:
            self.assertIn(word, answer.why)

    def timed(self, call):
        begin = time.monotonic()
        return call(), time.monotonic() - begin


class S3Test(RemoteTest):
    """Nothing of the machine's own AWS is seen, and no metadata service is asked."""

    def setUp(self):
        super().setUp()
        for name in [name for name in self.environment if name.startswith("AWS_")]:
            del self.environment[name]
        self.environment["AWS_EC2_METADATA_DISABLED"] = "true"

    def is_known_as(self, keys, token=None):
        self.environment["AWS_ACCESS_KEY_ID"], self.environment["AWS_SECRET_ACCESS_KEY"] = keys
        if token:
            self.environment["AWS_SESSION_TOKEN"] = token

    def is_nobody(self):
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
            self.environment.pop(name, None)

    def large(self, mib):
        """Bytes of which no part is like a different one."""
        return random.Random(testspace.SEED).randbytes((mib << 20) + 5)
