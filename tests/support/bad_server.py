"""An HTTP cache in memory that misbehaves on demand, and counts what reaches it."""

import http.server
import socket
import ssl
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def setup(self):
        super().setup()
        with self.server.lock:
            self.server.connections += 1
            self.server.open_now += 1
            self.server.most_open = max(self.server.most_open, self.server.open_now)

    def finish(self):
        try:
            super().finish()
        except OSError:
            pass
        with self.server.lock:
            self.server.open_now -= 1

    def log_message(self, *_):
        pass

    def note(self):
        with self.server.lock:
            self.server.requests.append((self.command, self.path, dict(self.headers.items())))
            return sum(path == self.path and command == self.command for command, path, _ in self.server.requests)

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def drop(self):
        """Closes the connection without another byte."""
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def read_body(self):
        return self.rfile.read(int(self.headers["Content-Length"]))

    def behave(self):
        """Whether the path's own behaviour has answered. It gets the number of the request, from 1."""
        number = self.note()
        behaviour = self.server.behaviours.get(self.path)
        if behaviour is None:
            return False
        return behaviour(self, number) is not self.server.as_usual

    def do_GET(self):
        if self.behave():
            return
        with self.server.lock:
            body = self.server.files.get(self.path)
        self.answer(404 if body is None else 200, body or b"")

    do_HEAD = do_GET

    def do_PUT(self):
        if self.behave():
            return
        body = self.read_body()
        if len(body) < int(self.headers["Content-Length"]):  # its client is gone
            self.close_connection = True
            return
        time.sleep(self.server.seconds_of_put)
        with self.server.lock:
            has_room = self.server.room > 0
            if has_room:
                self.server.room -= 1
                self.server.files[self.path] = body
        self.answer(201 if has_room else 507)


class Server(http.server.ThreadingHTTPServer):
    """`behaviours`: by path, a function of the handler and of how often the path was asked for; one that returns
    `as_usual` answers nothing itself."""
    daemon_threads = True
    request_queue_size = 128
    as_usual = object()
    seconds_of_put = 0  # before a file is there
    room = 1 << 30  # for so many more files

    def __init__(self, test):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.files, self.behaviours, self.requests = {}, {}, []
        self.connections = self.open_now = self.most_open = 0
        self.ends = threading.Event()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        test.addCleanup(self.close)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def close(self):
        self.ends.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass

    def use_tls(self, certificate, key):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = self.url.replace("http://", "https://")

    def puts(self):
        """How often a file was sent here."""
        with self.lock:
            return sum(command == "PUT" for command, _, _ in self.requests)

    def asked(self, path):
        with self.lock:
            return [headers for _, asked, headers in self.requests if asked == path]

    # Behaviours.

    def never_answers(self, *_):
        self.ends.wait(20)

    @staticmethod
    def says(status, body=b"", **headers):
        def behaviour(handler, _):
            if handler.command == "PUT":
                handler.read_body()
            handler.answer(status, body, **headers)
        return behaviour

    @staticmethod
    def drops_in_the_body(times, body):
        """Closes the connection after half of the body."""
        def behaviour(handler, number):
            if number > times:
                return Server.as_usual
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body[:len(body) // 2])
            return handler.drop()
        return behaviour

    @staticmethod
    def drops_what_it_is_sent(times):
        """Closes the connection after half of a PUT's body."""
        def behaviour(handler, number):
            if number > times:
                return Server.as_usual
            handler.rfile.read(int(handler.headers["Content-Length"]) // 2)
            return handler.drop()
        return behaviour

    @staticmethod
    def is_busy(times, **headers):
        def behaviour(handler, number):
            return Server.as_usual if number > times else handler.answer(503, **headers)
        return behaviour


def http_date(seconds_from_now):
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + seconds_from_now))


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def is_free(port):
    """Whether nobody listens there."""
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) != 0
