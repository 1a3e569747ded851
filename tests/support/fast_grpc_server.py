"""The transport of bad_grpc_server.py for load: one thread, and as little of HTTP/2 (RFC 9113) as gRPC takes. Every message can wait on
its way, as on a long line. It trusts its clients."""

import asyncio
import collections
import contextlib
import functools
import socket
import threading

from bad_grpc_server import Call, use_h2

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITY = 1, 1, 4, 8, 32
MOST_WINDOW, FRAME = (1 << 31) - 1, 1 << 14
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame_of(kind, flags, stream, body=b""):
    return len(body).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + body


def hpack_text(text):
    data = text.encode()
    if len(data) < 127:
        return bytes([len(data)]) + data
    rest, head = len(data) - 127, b"\x7f"
    while rest > 127:
        head, rest = head + bytes([rest & 127 | 128]), rest >> 7
    return head + bytes([rest]) + data


@functools.lru_cache(maxsize=1000)
def encode(headers):
    """Literals (RFC 7541, section 6.2.2): the table of the other side stays as it is."""
    return b"".join(b"\0" + hpack_text(name) + hpack_text(value) for name, value in headers)


class Line:
    """What is sent comes so much later, in its order."""

    def __init__(self, loop, seconds, deliver):
        self.loop, self.seconds, self.deliver, self.waiting = loop, seconds, deliver, collections.deque()

    def send(self, data):
        if not self.seconds:
            self.deliver(data)
            return
        self.waiting.append((self.loop.time() + self.seconds, data))
        if len(self.waiting) == 1:
            self.loop.call_later(self.seconds, self.arrive)

    def arrive(self):
        while self.waiting and self.waiting[0][0] <= self.loop.time() + 1e-4:
            self.deliver(self.waiting.popleft()[1])
        if self.waiting:
            self.loop.call_at(self.waiting[0][0], self.arrive)


class Stream:
    def __init__(self, headers, window):
        self.headers, self.body, self.window = headers, bytearray(), window
        self.waiting = collections.deque()  # (kind, bytes, whether it ends the stream), for want of a window


class FastConnection(asyncio.Protocol):
    """As bad_grpc_server.Connection to calls. All but the four methods that calls use are called by the loop alone."""

    def __init__(self, server):
        use_h2()
        import hpack
        self.server, self.loop = server, server.loop
        self.decoder = hpack.Decoder()
        self.streams, self.got = {}, bytearray()
        self.window, self.first_window, self.taken = 65535, 65535, 0
        self.block, self.has_preface = None, False
        self.out, self.is_sending = [], False

    def connection_made(self, transport):
        self.transport = transport
        transport.set_write_buffer_limits(1 << 30)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.incoming = Line(self.loop, self.server.rtt / 2, self.take)
        self.outgoing = Line(self.loop, self.server.rtt / 2, transport.write)
        self.server.is_connected(self)
        settings = b"\0\3\0\1\0\0" + b"\0\4" + MOST_WINDOW.to_bytes(4, "big")  # 65,536 streams
        self.send(frame_of(SETTINGS, 0, 0, settings) + frame_of(WINDOW_UPDATE, 0, 0, (MOST_WINDOW - 65535).to_bytes(4, "big")))

    def connection_lost(self, _):
        self.server.connection_ended(self)

    def data_received(self, data):
        self.server.bytes_in += len(data)
        self.incoming.send(data)

    # Frames that come.

    def take(self, data):
        self.got += data
        at = 0
        if not self.has_preface and len(self.got) >= len(PREFACE):
            self.has_preface, at = True, len(PREFACE)
        while self.has_preface and len(self.got) >= at + 9:
            end = at + 9 + int.from_bytes(self.got[at:at + 3], "big")
            if len(self.got) < end:
                break
            self.take_frame(self.got[at + 3], self.got[at + 4], int.from_bytes(self.got[at + 5:at + 9], "big") & MOST_WINDOW,
                            bytes(self.got[at + 9:end]))
            at = end
        del self.got[:at]

    def take_frame(self, kind, flags, stream, body):
        if kind in (DATA, HEADERS) and flags & PADDED:
            body = body[1:len(body) - body[0]]
        if kind == DATA:
            self.take_data(stream, body, flags)
        elif kind == HEADERS:
            self.block = [stream, body[5:] if flags & PRIORITY else body, flags]
            self.take_headers(flags)
        elif kind == CONTINUATION:
            self.block[1] += body
            self.take_headers(flags)
        elif kind == WINDOW_UPDATE:
            self.widen(stream, int.from_bytes(body, "big"))
        elif kind == SETTINGS and not flags & ACK:
            self.take_settings(body)
        elif kind == PING and not flags & ACK:
            self.server.pings += 1
            self.send(frame_of(PING, ACK, 0, body))
        elif kind == RST_STREAM:
            self.streams.pop(stream, None)
            self.server.stream_reset(self, stream)

    def take_headers(self, flags):
        if flags & END_HEADERS:
            (stream, block, first_flags), self.block = self.block, None
            self.streams[stream] = Stream(dict(self.decoder.decode(block)), self.first_window)
            if first_flags & END_STREAM:
                self.begin_call(stream)

    def take_data(self, number, body, flags):
        self.taken += len(body)
        if self.taken > MOST_WINDOW // 2:
            self.send(frame_of(WINDOW_UPDATE, 0, 0, self.taken.to_bytes(4, "big")))
            self.taken = 0
        stream = self.streams.get(number)
        if stream:
            stream.body += body
            if flags & END_STREAM:
                self.begin_call(number)

    def begin_call(self, number):
        stream = self.streams[number]
        body, stream.body = stream.body, b""
        self.server.serve_call(Call(self, number, stream.headers, body))

    def take_settings(self, body):
        for at in range(0, len(body), 6):
            if body[at:at + 2] == b"\0\4":
                window = int.from_bytes(body[at + 2:at + 6], "big")
                for stream in self.streams.values():
                    stream.window += window - self.first_window
                self.first_window = window
        self.send(frame_of(SETTINGS, ACK, 0))
        self.send_waiting()

    def widen(self, number, room):
        if number == 0:
            self.window += room
        elif number in self.streams:
            self.streams[number].window += room
        self.send_waiting()

    # Frames that go.

    def send(self, data):
        """All of one turn of the loop together."""
        self.out.append(data)
        if not self.is_sending:
            self.is_sending = True
            self.loop.call_soon(self.flush)

    def flush(self):
        data, self.out, self.is_sending = b"".join(self.out), [], False
        self.server.bytes_out += len(data)
        self.outgoing.send(data)

    def send_waiting(self):
        for number in [number for number, stream in self.streams.items() if stream.waiting]:
            self.send_of(number)

    def send_of(self, number):
        stream = self.streams.get(number)
        while stream and stream.waiting:
            kind, data, ends = stream.waiting[0]
            if kind == DATA:
                room = min(self.window, stream.window, FRAME, len(data))
                if data and room <= 0:
                    return
                self.window, stream.window = self.window - room, stream.window - room
                ends = ends and room == len(data)
                self.send(frame_of(DATA, END_STREAM if ends else 0, number, data[:room]))
                stream.waiting[0] = (kind, data[room:], stream.waiting[0][2])
                if len(data) > room:
                    continue
            else:
                self.send(frame_of(HEADERS, END_HEADERS | (END_STREAM if ends else 0), number, data))
            stream.waiting.popleft()
            if ends:
                self.streams.pop(number, None)

    def put(self, number, kind, data, ends):
        stream = self.streams.get(number)
        if stream:
            stream.waiting.append((kind, data, ends))
            if len(stream.waiting) == 1:
                self.send_of(number)

    # What calls use, in any thread.

    def headers(self, stream, headers, ends=False):
        self.server.in_loop(self.put, stream, HEADERS, encode(tuple(headers)), ends)

    def data(self, stream, data, ends=False):
        self.server.in_loop(self.put, stream, DATA, data, ends)

    def raw(self, kind, stream, **fields):
        import hyperframe.frame
        self.server.in_loop(self.send, getattr(hyperframe.frame, kind)(stream, **fields).serialize())

    def close(self):
        self.server.in_loop(self.transport.abort)


class LoopTimers:
    def __init__(self, server):
        self.server = server

    def after(self, seconds, function):
        self.server.in_loop(self.server.loop.call_later, seconds, function)


class FastTransport:
    """Before a GrpcServer in a class: calls are answered in the loop's thread, so none may wait. `rtt`: seconds from a message to its
    answer's arrival."""

    def __init__(self, test, rtt=0, **options):
        self.rtt, self.loop = rtt, asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        super().__init__(test, **options)

    def make_timers(self):
        return LoopTimers(self)

    def in_loop(self, function, *arguments):
        if threading.current_thread() is self.thread:
            function(*arguments)
        else:
            self.loop.call_soon_threadsafe(function, *arguments)

    def open(self):
        listener = socket.create_server(("127.0.0.1", self.port), backlog=1024)
        self.port = listener.getsockname()[1]
        self.listener = asyncio.run_coroutine_threadsafe(self.loop.create_server(lambda: FastConnection(self), sock=listener),
                                                         self.loop).result()

    def is_connected(self, connection):
        with self.lock:
            self.connections.append(connection)
            self.opened += 1

    def die(self):
        self.in_loop(self.listener.close)
        self.drop_all()

    def close(self):
        self.ends.set()
        with contextlib.suppress(OSError, RuntimeError):
            self.die()
            self.loop.call_soon_threadsafe(self.loop.stop)
