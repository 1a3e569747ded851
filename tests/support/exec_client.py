"""A small client of remote execution, for the tests of its servers: one call at a time, over PyPI's h2."""

import base64
import collections
import socket

from bad_grpc_server import frame, messages_of, use_h2
from protobuf_lite import fields, first, message
from reapi_server import read_digest, sha256
from reapi_types import CANCELLED, render_digest

API = "build.bazel.remote.execution.v2."
# `code`: None where the stream broke off.
Reply = collections.namedtuple("Reply", "messages code words details")
Operation = collections.namedtuple("Operation", "name stage error response")
Response = collections.namedtuple("Response", "result is_cached status")
Result = collections.namedtuple("Result", "files folders links exit_code stdout stderr metadata")
Status = collections.namedtuple("Status", "code words details")


class Blobs:
    """What an action is made of, and it. Texts for bytes are welcome."""

    def __init__(self):
        self.data = {}

    def add(self, data):
        data = data.encode() if isinstance(data, str) else data
        self.data[sha256(data)] = data
        return sha256(data), len(data)

    def folder(self, tree):
        """{name: bytes | {…} | a link's target as ("link", target) | a program as ("program", bytes)}"""
        parts = []
        for name, what in sorted(tree.items()):
            if isinstance(what, dict):
                parts.append((2, message((1, name), (2, render_digest(self.folder(what))))))
            elif what[:1] == ("link",):
                parts.append((3, message((1, name), (2, what[1]))))
            else:
                data, runs = (what[1], [(4, 1)]) if what[:1] == ("program",) else (what, [])
                parts.append((1, message((1, name), (2, render_digest(self.add(data))), *runs)))
        return self.add(message(*sorted(parts, key=lambda part: part[0])))

    def action(self, arguments, tree=(), outputs=(), environment=(), platform=(), folder="", salt=b"", timeout=0, files=()):
        pairs = [message((1, name), (2, value)) for name, value in sorted(dict(platform).items())]
        rooms = message(*((1, pair) for pair in pairs))
        settings = [message((1, name), (2, value)) for name, value in sorted(dict(environment).items())]
        command = self.add(message(*((1, word) for word in arguments), *((2, setting) for setting in settings),
                                   *((3, path) for path in sorted(files)), *([(5, rooms)] if pairs else []),
                                   *([(6, folder)] if folder else []), *((7, path) for path in sorted(outputs))))
        parts = [(1, render_digest(command)), (2, render_digest(self.folder(dict(tree))))]
        parts += [(6, message((1, timeout)))] if timeout else []
        parts += [(9, salt)] if salt else []
        return self.add(message(*parts, *([(10, rooms)] if pairs else [])))


class GrpcClient:
    def __init__(self, port):
        use_h2()
        import h2.connection
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.h2 = h2.connection.H2Connection()
        self.h2.initiate_connection()
        self.h2.update_settings({4: 1 << 30})
        self.h2.increment_flow_control_window(1 << 30)
        self.flush()

    def close(self):
        self.socket.close()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def events(self):
        """None at the connection's end."""
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionError:
            data = b""
        found = self.h2.receive_data(data) if data else [None]
        for event in found:
            if type(event).__name__ == "DataReceived":
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        self.flush() if data else None
        return found

    def send(self, stream, data):
        while data:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            if room == 0:
                self.events()
                continue
            self.h2.send_data(stream, data[:room])
            data = data[room:]
            self.flush()

    def call(self, method, *messages, stop=lambda message: False):
        """`stop`: whether the call is given up after a message."""
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, [(":method", "POST"), (":scheme", "http"), (":path", f"/{method}"), (":authority", "test"),
                                      ("te", "trailers"), ("content-type", "application/grpc")])
        self.send(stream, b"".join(map(frame, messages)))
        self.h2.end_stream(stream)
        self.flush()
        return self.reply(stream, stop)

    def reply(self, stream, stop):
        body, headers, seen = b"", {}, 0
        while True:
            for event in self.events():
                kind = type(event).__name__
                if event is None or kind == "ConnectionTerminated":
                    return Reply(whole_messages(body), None, "", [])
                if getattr(event, "stream_id", stream) != stream:
                    continue
                if kind == "DataReceived":
                    body += event.data
                elif kind in ("ResponseReceived", "TrailersReceived"):
                    headers |= {name.decode(): value.decode() for name, value in event.headers}
                elif kind == "StreamReset":
                    return Reply(whole_messages(body), None, "", [])
                elif kind == "StreamEnded":
                    return ended(body, headers)
            found = whole_messages(body)
            if any(map(stop, found[seen:])):
                self.h2.reset_stream(stream, 8)
                self.flush()
                return Reply(found, CANCELLED, "given up", [])
            seen = len(found)


def whole_messages(body):
    found, at = [], 0
    while len(body) >= at + 5 and len(body) >= at + 5 + int.from_bytes(body[at + 1:at + 5], "big"):
        end = at + 5 + int.from_bytes(body[at + 1:at + 5], "big")
        found.append(body[at + 5:end])
        at = end
    return found


def ended(body, headers):
    details = headers.get("grpc-status-details-bin", "")
    status = base64.b64decode(details + "=" * (-len(details) % 4))
    return Reply(messages_of(body), int(headers.get("grpc-status", 2)), headers.get("grpc-message", ""), parse_status(status).details)


def value_of(found, number, default=b""):
    return found.get(number, [default])[0]


def parse_status(data):
    found = fields(data)
    details = [(first(one, 1).decode().rpartition("/")[2], first(one, 2)) for one in found.get(3, [])]
    return Status(value_of(found, 1, 0), value_of(found, 2).decode(), details)


def parse_result(data):
    found = fields(data)
    nodes = {number: list(map(fields, found.get(number, []))) for number in (2, 3, 12)}
    files = {value_of(node, 1).decode(): (*read_digest(value_of(node, 2)), bool(value_of(node, 4, 0))) for node in nodes[2]}
    folders = {value_of(node, 1).decode(): read_digest(value_of(node, 3)) for node in nodes[3]}
    links = {value_of(node, 1).decode(): value_of(node, 2).decode() for node in nodes[12]}
    texts = [value_of(found, raw) or (read_digest(value_of(found, stored)) if stored in found else b"") for raw, stored in ((5, 6), (7, 8))]
    return Result(files, folders, links, value_of(found, 4, 0), *texts, fields(value_of(found, 9)))


def parse_operation(data):
    found = fields(data)
    metadata, response = fields(first(value_of(found, 2), 2)), None
    if 5 in found:
        said = fields(first(found[5][0], 2))
        response = Response(parse_result(said[1][0]) if 1 in said else None, bool(value_of(said, 2, 0)), parse_status(value_of(said, 3)))
    return Operation(value_of(found, 1).decode(), value_of(metadata, 1, 0), parse_status(found[4][0]) if 4 in found else None, response)


class ExecClient(GrpcClient):
    """With the calls that execution takes."""

    def cas(self, method, *messages):
        return self.call(f"{API}ContentAddressableStorage/{method}", *messages)

    def upload(self, blobs):
        ones = [(2, message((1, render_digest((name, len(data)))), (2, data))) for name, data in blobs.data.items() if data]
        return self.cas("BatchUpdateBlobs", message(*ones))

    def read(self, digest):
        """The bytes; the code where it says one."""
        (answer,) = fields(self.cas("BatchReadBlobs", message((2, render_digest(digest[:2])))).messages[0])[1]
        return first(answer, 3, 1) or first(answer, 2)

    def execute(self, digest, skip=False, **options):
        request = message(*([(3, 1)] if skip else []), (6, render_digest(digest)))
        return self.call(f"{API}Execution/Execute", request, **options)

    def wait(self, name, **options):
        return self.call(f"{API}Execution/WaitExecution", message((1, name)), **options)

    def cancel(self, name):
        return self.call("google.longrunning.Operations/CancelOperation", message((1, name)))

    def cached(self, digest):
        return self.call(f"{API}ActionCache/GetActionResult", message((2, render_digest(digest))))
