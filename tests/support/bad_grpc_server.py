"""A server of gRPC that misbehaves on demand, and counts what reaches it. HTTP/2 is that of PyPI's h2: a library of gRPC would not
send what a broken server sends."""

import collections
import contextlib
import socket
import ssl
import struct
import sys
import threading

from pip_tools import installed

Received = collections.namedtuple("Received", "method headers messages connection")


def use_h2():
    sys.path.insert(0, str(installed("h2-4.4.1", "h2==4.4.1", "hpack==4.2.0", "hyperframe==6.1.0")))


def frame(message):
    return b"\0" + struct.pack(">I", len(message)) + message


def messages_of(body):
    found, at = [], 0
    while at < len(body):
        (length,) = struct.unpack_from(">I", body, at + 1)
        found.append(body[at + 5:at + 5 + length])
        at += 5 + length
    return found


class Call:
    """One call, and the ways to answer it."""

    def __init__(self, connection, stream, headers, body):
        self.connection, self.stream, self.headers = connection, stream, headers
        self.method = headers[":path"].rsplit("/", 1)[1]
        self.messages = messages_of(bytes(body))

    def reply(self, *messages, status=0, words="", more=()):
        """Messages and then the status, or, without messages, the status alone ("trailers only")."""
        last = [("grpc-status", str(status)), *([("grpc-message", words)] if words else []), *more]
        head = [(":status", "200"), ("content-type", "application/grpc")]
        if not messages:
            return self.connection.headers(self.stream, head + last, ends=True)
        self.connection.headers(self.stream, head)
        for message in messages:
            self.connection.data(self.stream, frame(message))
        return self.connection.headers(self.stream, last, ends=True)

    def reply_raw(self, headers, body=b"", trailers=()):
        """Whatever the caller wants, whole."""
        self.connection.headers(self.stream, headers)
        self.connection.data(self.stream, body, ends=not trailers)
        if trailers:
            self.connection.headers(self.stream, trailers, ends=True)

    def reply_half(self, message):
        """The head and half of a message."""
        self.connection.headers(self.stream, [(":status", "200"), ("content-type", "application/grpc")])
        self.connection.data(self.stream, frame(message)[:5 + len(message) // 2])

    def reset(self, code):
        self.connection.raw("RstStreamFrame", self.stream, error_code=code)

    def go_away(self, last_stream):
        self.connection.raw("GoAwayFrame", 0, last_stream_id=last_stream, error_code=0)


class Connection:
    def __init__(self, server, plain):
        import h2.config
        import h2.connection
        self.server, self.socket = server, plain
        self.lock = threading.Condition()
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.streams, self.is_closed = {}, False

    def serve(self):
        import h2.exceptions
        with contextlib.suppress(OSError, h2.exceptions.ProtocolError):
            if self.server.context:
                self.socket = self.server.context.wrap_socket(self.socket, server_side=True)
            with self.lock:
                self.h2.initiate_connection()
                if self.server.most_streams:
                    self.h2.update_settings({3: self.server.most_streams})
                self.flush()
            self.socket.settimeout(self.server.most_idle)
            while data := self.socket.recv(1 << 16):
                with self.lock:
                    self.server.bytes_in += len(data)
                    self.take(self.h2.receive_data(data))
                    self.flush()
                    self.lock.notify_all()
        self.close()
        self.server.connection_ended(self)

    def flush(self):
        data = self.h2.data_to_send()
        self.server.bytes_out += len(data)
        self.socket.sendall(data)

    def take(self, events):
        for event in events:
            kind = type(event).__name__
            if kind == "RequestReceived":
                self.streams[event.stream_id] = (dict(event.headers), bytearray())
                self.server.early(self, event.stream_id, dict(event.headers))
            elif kind == "DataReceived":
                self.streams[event.stream_id][1].extend(event.data)
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif kind == "StreamEnded":
                call = Call(self, event.stream_id, *self.streams.pop(event.stream_id))
                threading.Thread(target=self.server.serve_call, args=(call,), daemon=True).start()
            elif kind == "PingReceived":
                self.server.pings += 1
            elif kind == "StreamReset":
                self.streams.pop(event.stream_id, None)
                self.server.stream_reset(self, event.stream_id)

    def headers(self, stream, headers, ends=False):
        with self.lock:
            self.h2.send_headers(stream, headers, end_stream=ends)
            self.flush()

    def data(self, stream, data, ends=False):
        with self.lock:
            while data or ends:
                room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
                if self.is_closed:
                    raise ConnectionError("the client is gone")
                if room == 0:
                    self.lock.wait(5)
                    continue
                self.h2.send_data(stream, data[:room], end_stream=ends and len(data) <= room)
                ends = ends and len(data) > room
                data = data[room:]
                self.flush()

    def raw(self, kind, stream, **fields):
        import hyperframe.frame
        sent = getattr(hyperframe.frame, kind)(stream, **fields)
        with self.lock:
            self.socket.sendall(sent.serialize())

    def close(self):
        self.is_closed = True
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class GrpcServer:
    """`behaviours`: by method ("GetCapabilities"), a function of the call and of how often the method was called; one that returns
    `as_usual` answers nothing itself. `early`: the same as soon as the headers are there. A subclass answers as usual. `most_idle`: seconds after which a connection
    on which nothing came ends, as a proxy's do."""
    as_usual = object()

    def __init__(self, test, most_streams=0, port=0, most_idle=None):
        use_h2()
        self.lock = threading.Lock()
        self.behaviours, self.early_behaviours, self.calls = {}, {}, []
        self.connections, self.opened = [], 0
        self.most_streams, self.context = most_streams, None
        self.ends = threading.Event()
        self.port, self.most_idle = port, most_idle
        self.bytes_in = self.bytes_out = self.pings = 0
        self.open()
        test.addCleanup(self.close)
        self.url = f"reapi://127.0.0.1:{self.port}"

    def open(self):
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def use_tls(self, certificate, key):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.context.set_alpn_protocols(["h2"])
        self.url = f"reapis://127.0.0.1:{self.port}"

    def accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                plain = listener.accept()[0]
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection = Connection(self, plain)
                with self.lock:
                    self.connections.append(connection)
                    self.opened += 1
                threading.Thread(target=connection.serve, daemon=True).start()

    def die(self):
        """As a process that is killed: nobody listens, and all connections are gone."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.drop_all()

    def drop_all(self):
        with self.lock:
            connections, self.connections = self.connections, []
        for connection in connections:
            connection.close()

    def close(self):
        self.ends.set()
        with contextlib.suppress(OSError):
            self.die()

    def early(self, connection, stream, headers):
        behaviour = self.early_behaviours.get(headers[":path"].rsplit("/", 1)[1])
        if behaviour:
            behaviour(Call(connection, stream, headers, b""))

    def stream_reset(self, connection, stream):
        """A client gave a call up."""

    def connection_ended(self, connection):
        pass

    def remember(self, call):
        """How often its method was called."""
        with self.lock:
            self.calls.append(Received(call.method, call.headers, call.messages, call.connection))
            return sum(known.method == call.method for known in self.calls)

    def serve_call(self, call):
        number = self.remember(call)
        behaviour = self.behaviours.get(call.method)
        with contextlib.suppress(OSError):
            if behaviour is None or behaviour(call, number) is self.as_usual:
                self.answer(call)

    def answer(self, call):
        raise NotImplementedError

    def called(self, method):
        with self.lock:
            return [call for call in self.calls if call.method == method]

    # Behaviours.

    def never_answers(self, *_):
        self.ends.wait(20)

    @staticmethod
    def says(status, words="", times=1 << 30, more=()):
        def behaviour(call, number):
            return GrpcServer.as_usual if number > times else call.reply(status=status, words=words, more=more)
        return behaviour
