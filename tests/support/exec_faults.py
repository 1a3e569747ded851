"""What a server for remote execution does wrong on demand (exec_server.py). A fault is a dictionary:

    {"kind": "worker_lost", "times": 1, "after": 2, "output": "a.cubin", …}

`times`: how often (no end by default); `after`: how many that it would meet are left alone first; `output`: it meets actions with an
output path that has this text in it. Further keys are those of the kind."""

import copy
import hashlib
import threading

from reapi_types import (ABORTED, FAILED_PRECONDITION, INTERNAL, INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED,
                         UNAVAILABLE, UNIMPLEMENTED, Failure, missing_blobs, retry_info)

COMMON = {"kind", "times", "after", "output"}


# Errors. `where`: the status of the "call", the Operation's error ("operation"), or that in its ExecuteResponse ("response").
CODES = {
    "no_worker": (FAILED_PRECONDITION, "no worker for this platform"),
    "missing_input": (FAILED_PRECONDITION, "blobs are missing"),
    "missing_input_internal": (INTERNAL, "failed to fetch the input root"),
    "permission_denied": (PERMISSION_DENIED, "not for you"),
    "unimplemented": (UNIMPLEMENTED, "no execution here"),
    "resource_exhausted": (RESOURCE_EXHAUSTED, "the queue is full"),
    "invalid": (INVALID_ARGUMENT, "a server's taste"),
    "wait_not_found": (NOT_FOUND, "no such operation"),
    "worker_lost": (UNAVAILABLE, "the worker was lost"),
    "worker_aborted": (ABORTED, "the worker was lost"),
    "error": (UNAVAILABLE, "a fault"),
}
ERROR_KEYS = {"code", "words", "where", "retry_seconds"}
WHERE = {"worker_lost": "operation", "worker_aborted": "operation", "missing_input": "response", "missing_input_internal": "response"}


def where_of(fault):
    return fault.get("where", WHERE.get(fault["kind"], "call"))


def failure_of(fault, root):
    """`root`: the input tree of the action, for the one that is missing."""
    code, words = CODES[fault["kind"]]
    details = [missing_blobs([root])] if fault["kind"] == "missing_input" else []
    if "retry_seconds" in fault:
        details.append(retry_info(fault["retry_seconds"]))
    return Failure(fault.get("code", code), fault.get("words", words), *details)


# Of a result: from what came about to what is told. Each is a function of the server, the Result and the fault.

def no_outputs(_, result, __):
    result.files, result.folders, result.links = [], [], []


def exit_code(_, result, fault):
    """As a worker whose system is broken."""
    no_outputs(_, result, fault)
    result.exit_code = fault.get("code", 127)
    result.stdout, result.stderr = b"", fault.get("stderr", "the loader: no such library\n").encode()


def wrong_bytes(server, result, _):
    """As many, but not those of the digest."""
    for name in {name for _, (name, _), _ in result.files}:
        data = server.blob(name)
        server.blobs[name] = data[:-1] + bytes([data[-1] ^ 1])


def wrong_size(_, result, __):
    result.files = [(path, (name, size + 1), runs) for path, (name, size), runs in result.files]


def wrong_hash_function(server, result, _):
    def other(digest):
        return hashlib.sha1(server.blob(digest[0])).hexdigest(), digest[1]  # noqa: S324
    result.files = [(path, other(digest), runs) for path, digest, runs in result.files]


def missing_output(server, result, _):
    for _, (name, _), _ in result.files:
        server.blobs.pop(name, None)


def huge_stderr(_, result, fault):
    """A blob; with `most_raw` as large, a part of the answer."""
    result.stderr = b"warning: " * (fault.get("bytes", 64 << 20) // 9)


def other_paths(_, result, fault):
    """Names that nobody asked for."""
    result.files = [(fault.get("path", "../../escaped"), digest, runs) for _, digest, runs in result.files]


def one_output_less(_, result, __):
    result.files = result.files[1:]


def links_for_files(_, result, fault):
    result.links += [(path, fault.get("target", "/etc/passwd")) for path, _, _ in result.files]
    result.files = []


RESULTS = {each.__name__: each for each in (no_outputs, exit_code, wrong_bytes, wrong_size, wrong_hash_function, missing_output,
                                            huge_stderr, other_paths, one_output_less, links_for_files)}


# kind: (when it is asked for, its keys). "call": as a method is called; "stream": after the first message; "queue": as an action would
# get into the queue; "run": while it is run; "result": as it ends. Errors that are not the call's are the queue's.
POINTS = {
    **{kind: ("call", ERROR_KEYS | {"method"}) for kind in CODES},
    "worker_lost": ("run", ERROR_KEYS | {"seconds"}), "worker_aborted": ("run", ERROR_KEYS | {"seconds"}),
    "never_answers": ("call", {"method"}), "drop_stream": ("stream", {"method", "how", "seconds"}),
    "stays_queued": ("queue", set()), "waits_in_queue": ("queue", {"seconds"}),
    "runs_for_ever": ("run", set()), "kill_server": ("run", {"seconds"}),
    **{kind: ("result", {"cached", "code", "stderr", "bytes", "path", "target", "most_raw"}) for kind in RESULTS},
}
METHODS = {"wait_not_found": "WaitExecution"}


def point_of(fault):
    point = POINTS[fault["kind"]][0]
    return "queue" if point == "call" and where_of(fault) != "call" else point


class Faults:
    """Those of a server, in their order."""

    def __init__(self, faults=()):
        self.lock = threading.Lock()
        self.set(faults)

    def set(self, faults):
        """Instead of those before."""
        for fault in faults:
            if fault.get("kind") not in POINTS or set(fault) - COMMON - POINTS[fault["kind"]][1]:
                raise ValueError(f"no such fault: {fault}")
        with self.lock:
            self.faults = [copy.deepcopy(fault) | {"met": 0} for fault in faults]

    def take(self, point, outputs=(), method=None):
        """The first that is due; None."""
        with self.lock:
            for fault in self.faults:
                if point_of(fault) == point and self.meets(fault, outputs, method):
                    fault["met"] += 1
                    if 0 < fault["met"] - fault.get("after", 0) <= fault.get("times", 1 << 60):
                        return fault
        return None

    @staticmethod
    def meets(fault, outputs, method):
        if method is not None and fault.get("method", METHODS.get(fault["kind"], "Execute")) != method:
            return False
        return "output" not in fault or any(fault["output"] in path for path in outputs)

    def counts(self):
        with self.lock:
            return [{"kind": fault["kind"], "met": fault["met"]} for fault in self.faults]

