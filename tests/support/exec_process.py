#!/usr/bin/env python3
"""The server of remote execution as a process of its own, for tests that kill it and for measurements (exec_server.py).

    exec_process.py [--port N] [--control-port N] [--slots N] [--root DIR | --times FILE | --replay DIR] [--faults FILE] [--version 2.0] …

It writes its two ports as a line, then serves until it is killed. By HTTP at the control port: GET /state, GET /log, GET /tree/DIGEST,
POST /faults with a list of faults, POST /lose with a number, all of it JSON. /lose ends the worker of a running action."""

import argparse
import functools
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from exec_record import Record, SmallBlobs  # noqa: E402
from exec_server import ExecServer  # noqa: E402
from fast_grpc_server import FastTransport  # noqa: E402
from reapi_server import ZSTD  # noqa: E402
from reapi_worker import FolderWorker, SleepWorker  # noqa: E402


class Process:
    """What a test case is to a server."""

    def __init__(self):
        self.cleanups = []

    def addCleanup(self, function, *arguments):  # noqa: N802
        self.cleanups.append(functools.partial(function, *arguments))


class KilledServer(ExecServer):
    def kill(self):
        os.kill(os.getpid(), signal.SIGKILL)


class FastServer(FastTransport, KilledServer):
    pass


class Control(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):  # noqa: N802
        server = self.server.served
        answers = {"state": server.state, "log": lambda: server.log}
        what, _, name = self.path[1:].partition("/")
        self.say(server.input_tree(name) if what == "tree" else answers[what]())

    def do_POST(self):  # noqa: N802
        given = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.say({"/faults": self.server.served.faults.set, "/lose": self.server.served.lose_worker}[self.path](given))

    def say(self, what):
        data = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--control-port", type=int, default=0)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--root", help="a clean system to run actions in; takes root")
    parser.add_argument("--times", help="sleep instead: a JSON file of SleepWorker's times; large inputs are forgotten")
    parser.add_argument("--faults", help="a JSON file")
    parser.add_argument("--version", default="2.3")
    parser.add_argument("--no-execution", action="store_true")
    parser.add_argument("--ends-with-stream", action="store_true")
    parser.add_argument("--zstd", action="store_true", help="blobs may travel packed")
    parser.add_argument("--most-idle", type=float, help="seconds; not with --fast")
    parser.add_argument("--record", help="a folder that gets the results of what is run")
    parser.add_argument("--replay", help="sleep instead: a folder that --record has filled")
    parser.add_argument("--factor", type=float, default=1, help="of the times of --times and --replay")
    parser.add_argument("--fast", action="store_true", help="the transport for load (fast_grpc_server.py)")
    parser.add_argument("--rtt-ms", type=float, default=0, help="of a long line; implies --fast")
    return parser.parse_args()


def sleeps(given):
    return bool(given.times or given.replay)


def worker_of(given):
    if sleeps(given):
        times = json.loads(pathlib.Path(given.times).read_text()) if given.times else {}
        record = Record(given.replay) if given.replay else None
        return functools.partial(SleepWorker, times=times, record=record, factor=given.factor)
    return functools.partial(FolderWorker, root=given.root)


def serve(given):
    faults = json.loads(pathlib.Path(given.faults).read_text()) if given.faults else []
    kind = functools.partial(FastServer, rtt=given.rtt_ms / 1000) if given.fast or given.rtt_ms else KilledServer
    server = kind(Process(), worker=worker_of(given), slots=given.slots, faults=faults, exec_enabled=not given.no_execution,
                  version=tuple(map(int, given.version.split("."))), ends_with_stream=given.ends_with_stream, keeps_calls=False,
                  record=Record(given.record) if given.record else None, port=given.port, compressors=[ZSTD] if given.zstd else [], blobs=SmallBlobs() if sleeps(given) else None, most_idle=given.most_idle)
    control = http.server.ThreadingHTTPServer(("127.0.0.1", given.control_port), Control)
    control.served = server
    print(server.port, control.server_address[1], flush=True)
    try:
        control.serve_forever()
    finally:
        server.worker.close()


class ExecProcess:
    """One for a test. Words are the options."""

    def __init__(self, test, *words):
        self.words, self.port, self.control = list(map(str, words)), 0, 0
        self.folder = tempfile.TemporaryDirectory(prefix="dsbuild-exec-")
        test.addCleanup(self.folder.cleanup)
        self.start()
        test.addCleanup(self.stop)
        self.url = f"reapi://127.0.0.1:{self.port}"

    def start(self):
        """At the ports that it had."""
        self.process = subprocess.Popen([sys.executable, "-B", __file__, "--port", str(self.port), "--control-port", str(self.control),
                                         *self.words], env=os.environ | {"TMPDIR": self.folder.name}, stdout=subprocess.PIPE, text=True)
        self.port, self.control = map(int, self.process.stdout.readline().split())

    def ask(self, path, data=None):
        body = None if data is None else json.dumps(data).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.control}/{path}", body, timeout=20) as answer:
            return json.load(answer)

    def state(self):
        return self.ask("state")

    def log(self):
        return self.ask("log")

    def set_faults(self, *faults):
        self.ask("faults", list(faults))

    def lose_worker(self, number=0):
        return self.ask("lose", number)

    def freeze(self):
        """As a machine that hangs: connections are there, and nothing comes."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.thaw()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    serve(options())
