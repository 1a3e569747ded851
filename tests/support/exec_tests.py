"""What the tests of servers of remote execution share: a server, a client, and actions that are a line of shell."""

import contextlib
import pathlib
import unittest

from exec_client import Blobs, ExecClient, parse_operation
from exec_server import ExecServer
from protobuf_lite import fields

PATH = {"PATH": "/usr/bin:/bin"}


def is_there(mark):
    """A process with these bytes in its command line."""
    for place in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark in place.read_bytes():
                return True
    return False


class ServerTest(unittest.TestCase):
    def serve(self, *faults, **options):
        self.server = ExecServer(self, faults=faults, **options)
        self.client = self.connect()
        return self.server

    def connect(self):
        client = ExecClient(self.server.port)
        self.addCleanup(client.close)
        return client

    def shell(self, script, *outputs, **more):
        """The digest of an action, all of which is at the server."""
        blobs = Blobs()
        digest = blobs.action(["sh", "-c", script], outputs=outputs, environment=more.pop("environment", PATH), **more)
        reply = self.client.upload(blobs)
        self.assertEqual((reply.code, len(fields(reply.messages[0])[1])), (0, len(blobs.data) - (b"" in blobs.data.values())))
        return digest

    def execute(self, digest, **options):
        return self.client.execute(digest, **options)

    def last(self, reply):
        self.assertEqual(reply.code, 0, reply)
        return parse_operation(reply.messages[-1])

    def run_shell(self, script, *outputs, **more):
        """The result of one that is run."""
        response = self.last(self.execute(self.shell(script, *outputs, **more))).response
        self.assertEqual(response.status.code, 0, response)
        return response.result

    def read_of(self, digest):
        return self.client.read(digest)
