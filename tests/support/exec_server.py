"""A server of remote execution (Remote Execution API v2) over gRPC: a cache in memory, a queue, slots and a worker that runs actions
or sleeps. It insists on the specification (reapi_validator.py), does wrong on demand (exec_faults.py), and counts.

In a test: ExecServer(test, slots=2); as a process: exec_process.py."""

import base64
import collections
import contextlib
import heapq
import itertools
import threading
import time
import uuid

import exec_faults
import reapi_types as reapi
from bad_grpc_server import Received, frame
from protobuf_lite import fields, first, message
from reapi_server import ReapiServer, read_digest, sha256
from reapi_types import (CANCELLED, COMPLETED, EXECUTING, INVALID_ARGUMENT, NOT_FOUND, QUEUED, UNIMPLEMENTED, Failure,
                         render_operation, render_response)
from reapi_validator import Validator
from reapi_worker import FolderWorker, Job

SERVICES = {
    "build.bazel.remote.execution.v2.Capabilities": ["GetCapabilities"],
    "build.bazel.remote.execution.v2.ContentAddressableStorage": ["FindMissingBlobs", "BatchReadBlobs", "BatchUpdateBlobs"],
    "build.bazel.remote.execution.v2.ActionCache": ["GetActionResult", "UpdateActionResult"],
    "build.bazel.remote.execution.v2.Execution": ["Execute", "WaitExecution"],
    "google.bytestream.ByteStream": ["Read", "Write"],
    "google.longrunning.Operations": ["GetOperation", "CancelOperation"],
}
PATHS = {f"/{service}/{method}" for service, methods in SERVICES.items() for method in methods}
MOST_RAW = 2048  # bytes of stdout and stderr that go with a result


class Timers:
    """Calls functions later, in one thread."""

    def __init__(self):
        self.lock, self.heap, self.numbers = threading.Condition(), [], itertools.count()
        threading.Thread(target=self.work, daemon=True).start()

    def after(self, seconds, function):
        with self.lock:
            heapq.heappush(self.heap, (time.monotonic() + seconds, next(self.numbers), function))
            self.lock.notify()

    def work(self):
        while True:
            with self.lock:
                while not self.heap or self.heap[0][0] > time.monotonic():
                    self.lock.wait(self.heap[0][0] - time.monotonic() if self.heap else None)
                _, _, function = heapq.heappop(self.heap)
            function()


class Watcher:
    """A stream that is told of an operation."""

    def __init__(self, call):
        self.call = call

    def begin(self):
        self.call.connection.headers(self.call.stream, [(":status", "200"), ("content-type", "application/grpc")])

    def tell(self, data):
        self.call.connection.data(self.call.stream, frame(data))

    def end(self):
        self.call.connection.headers(self.call.stream, [("grpc-status", "0")], ends=True)

    def drop(self, how):
        """"reset", "close" (the connection), "end" (as if all were told), "half" (of a message), "garbage"."""
        if how == "half":
            self.call.connection.data(self.call.stream, frame(b"x" * 100)[:50])
            self.call.connection.close()
        elif how == "garbage":
            self.tell(b"\xff\xff\xff\xff")
            self.end()
        elif how == "end":
            self.end()
        elif how == "close":
            self.call.connection.close()
        else:
            self.call.reset(2)


class Operation:
    """An action on its way. Those that watch it are told of each stage."""

    def __init__(self, server, digest, action, command):
        self.server, self.digest, self.action, self.command = server, digest, action, command
        self.name = f"operations/{uuid.uuid4()}"
        self.lock = threading.RLock()
        self.stage, self.queued, self.watchers = QUEUED, time.time(), []
        self.error = self.response = None
        self.job, self.has_slot = None, False
        self.outputs = server.outputs_of(command)

    def is_done(self):
        return self.stage == COMPLETED

    def render(self):
        return render_operation(self.name, self.stage, self.digest, self.error, self.response)

    def watch(self, call):
        with self.lock:
            watcher = Watcher(call)
            with gone_clients():
                watcher.begin()
                watcher.tell(self.render())
                if self.is_done():
                    watcher.end()
                else:
                    self.watchers.append(watcher)
            return watcher

    def goes_on(self, stage):
        with self.lock:
            if not self.is_done():
                self.tell(stage)

    def ends(self, error=None, response=None, before=lambda: None):
        """Whether it was not done. `before` the watchers are told."""
        with self.lock:
            if self.is_done():
                return False
            self.error, self.response = error, response
            before()
            self.tell(COMPLETED)
            return True

    def tell(self, stage):
        self.stage = stage
        for watcher in self.watchers:
            with gone_clients():
                watcher.tell(self.render())
                if self.is_done():
                    watcher.end()

    def drop(self, watcher, how):
        """The stream ends before its time, and the action goes on."""
        with self.lock:
            if watcher in self.watchers:
                self.watchers.remove(watcher)
                with gone_clients():
                    watcher.drop(how)

    def forget(self, is_gone):
        """Whether it had a watcher that is gone, and now has none."""
        with self.lock:
            left = [watcher for watcher in self.watchers if not is_gone(watcher.call)]
            had, self.watchers = len(self.watchers), left
            return had > 0 and not left


def is_set(found, number):
    return bool(found.get(number, [0])[0])


def reply_failure(call, failure):
    details = base64.b64encode(failure.status()).decode().rstrip("=")
    call.reply(status=failure.code, words=failure.words, more=[("grpc-status-details-bin", details)] if failure.details else ())


@contextlib.contextmanager
def gone_clients():
    """A stream that has ended, and a connection that is gone, are no mistakes of the server."""
    import h2.exceptions
    with contextlib.suppress(OSError, h2.exceptions.ProtocolError):
        yield


class ExecServer(ReapiServer):
    """`worker`: a function of the server, FolderWorker by default. `slots`: how many actions run at once. `version`: of the API;
    one before 2.1 does not know output_paths. `ends_with_stream`: an action whose last watcher is gone is stopped. `keeps_calls`:
    each call with its bytes is in `calls`. `record`: the results of what is run go there. `blobs`: where to have them."""

    def __init__(self, test, worker=FolderWorker, slots=4, faults=(), exec_enabled=True, version=(2, 3), ends_with_stream=False,
                 keeps_calls=True, record=None, blobs=None, **options):
        self.slots, self.exec_enabled, self.version = slots, exec_enabled, version
        self.ends_with_stream, self.keeps_calls, self.record = ends_with_stream, keeps_calls, record
        self.state_lock, self.timers = threading.RLock(), self.make_timers()
        self.faults = exec_faults.Faults(faults)
        self.counts, self.most_waiting, self.most_running = collections.Counter(), 0, 0
        self.operations, self.active, self.waiting, self.running = {}, {}, collections.deque(), 0
        self.log = []
        self.worker = worker(self)
        test.addCleanup(self.worker.close)
        self.validator = Validator(self.blob, self.size_of)
        super().__init__(test, blobs, **options)

    def make_timers(self):
        return Timers()

    # Blobs.

    def size_of(self, name):
        data = self.blobs.get(name)
        return None if data is None else len(data)

    @staticmethod
    def digest_of(data):
        return sha256(data), len(data)

    def keep(self, data):
        self.blobs[sha256(data)] = data
        return self.digest_of(data)

    # Calls.

    def remember(self, call):
        with self.lock:
            if self.keeps_calls:
                self.calls.append(Received(call.method, call.headers, call.messages, call.connection))
            self.counts[call.method] += 1
            return self.counts[call.method]

    def answer(self, call):
        own = {"Execute": self.execute, "WaitExecution": self.wait_execution, "CancelOperation": self.cancel_operation,
               "GetOperation": self.get_operation}
        try:
            if call.headers[":path"] not in PATHS:
                raise Failure(UNIMPLEMENTED, call.headers[":path"])
            fault = None if call.method == "Execute" else self.faults.take("call", method=call.method)
            if not self.is_met(fault):
                own.get(call.method, super().answer)(call)
        except Failure as failure:
            reply_failure(call, failure)
        except (ValueError, IndexError, KeyError) as wrong:
            reply_failure(call, Failure(INVALID_ARGUMENT, f"no message of {call.method}: {wrong!r}"))

    @staticmethod
    def is_met(fault, root=None):
        """Whether the call gets no answer."""
        if fault and fault["kind"] != "never_answers":
            raise exec_faults.failure_of(fault, root)
        return fault is not None

    def capabilities(self, call):
        execution = message((1, self.functions[0]), (2, int(self.exec_enabled)), *((5, function) for function in self.functions))
        version = message(*((place, number) for place, number in enumerate(self.version, 1)))
        call.reply(message((1, self.cache_capabilities()), (2, execution), (4, message((1, 2))), (5, version)))

    def execute(self, call):
        request = fields(call.messages[0])
        digest = read_digest(request.get(6, [b""])[0])
        if not self.exec_enabled:
            raise Failure(UNIMPLEMENTED, "this is a cache")
        if request.get(9, [0])[0] not in (0, *self.functions):
            raise Failure(INVALID_ARGUMENT, "another digest function")
        action, command = self.validator.check(digest)
        outputs = self.outputs_of(command)
        self.note(request, digest, action, command)
        if not self.is_met(self.faults.take("call", outputs, "Execute"), action.root):
            operation, is_new = self.admit(Operation(self, digest, action, command), is_set(request, 3))
            self.watch(operation, call)
            if is_new:
                self.enqueue(operation)

    def wait_execution(self, call):
        self.watch(self.operation_of(call), call)

    def get_operation(self, call):
        call.reply(self.operation_of(call).render())

    def cancel_operation(self, call):
        self.cancel(self.operation_of(call))
        call.reply(b"")

    def operation_of(self, call):
        operation = self.operations.get(first(call.messages[0], 1).decode())
        if operation is None:
            raise Failure(NOT_FOUND, "no such operation")
        return operation

    def outputs_of(self, command):
        """Those before 2.1 know nothing of output_paths, and those after it of nothing else where they are there."""
        if command.output_paths and self.version >= (2, 1):
            return command.output_paths
        return command.output_files + command.output_directories

    def note(self, request, digest, action, command):
        platforms = {"action_platform": action.platform, "command_platform": command.platform}
        about = {"action": digest[0], "root": action.root[0], "salt": action.salt.hex(), "timeout": action.timeout,
                 "do_not_cache": action.do_not_cache, "skip_cache_lookup": is_set(request, 3), "instance": request.get(1, [b""])[0].decode()}
        with self.state_lock:
            self.log.append(about | platforms | {name: value for name, value in command._asdict().items() if name != "platform"})

    def input_tree(self, root, before=""):
        """{path: (digest, is executable)} of a Directory by its digest."""
        found = reapi.parse_directory(self.blob(root))
        files = {before + file.name: (file.digest[0], file.is_executable) for file in found.files}
        for folder in found.folders:
            files |= self.input_tree(folder.digest[0], f"{before}{folder.name}/")
        return files

    # Streams.

    def watch(self, operation, call):
        watcher = operation.watch(call)
        fault = self.faults.take("stream", operation.outputs, call.method)
        if fault:
            self.timers.after(fault.get("seconds", 0), lambda: operation.drop(watcher, fault.get("how", "reset")))

    # These two come from a thread that holds the connection's lock.

    def stream_reset(self, connection, stream):
        self.timers.after(0, lambda: self.give_up(lambda call: call.connection is connection and call.stream == stream))

    def connection_ended(self, connection):
        self.timers.after(0, lambda: self.give_up(lambda call: call.connection is connection))

    def give_up(self, is_gone):
        with self.state_lock:
            operations = list(self.active.values())
        for operation in operations:
            if operation.forget(is_gone):
                self.counts["streams_given_up"] += 1
                if self.ends_with_stream:
                    self.cancel(operation)

    # Actions.

    def admit(self, operation, skip):
        """The operation that does it, and whether that is new: an equal one may run already, or its result be there."""
        name = operation.digest[0]
        with self.state_lock:
            cached = None if skip else self.results.get(name)
            running = None if operation.action.do_not_cache else self.active.get(name)
            if cached is None and running:
                self.counts["joined"] += 1
                return running, False
            self.operations[operation.name] = operation
            if cached is None:
                self.active[name] = operation
                return operation, True
            self.counts["cached"] += 1
        operation.ends(response=render_response(cached, is_cached=True))
        return operation, False

    def enqueue(self, operation):
        fault = self.faults.take("queue", operation.outputs)
        if fault is None:
            self.queue(operation)
        elif fault["kind"] == "waits_in_queue":
            self.timers.after(fault.get("seconds", 1), lambda: self.queue(operation))
        elif fault["kind"] != "stays_queued":
            self.fail(operation, exec_faults.failure_of(fault, operation.action.root), exec_faults.where_of(fault))

    def queue(self, operation):
        with self.state_lock:
            self.waiting.append(operation)
            self.most_waiting = max(self.most_waiting, len(self.waiting))
        self.fill_slots()

    def fill_slots(self):
        while operation := self.next_to_run():
            self.begin(operation)

    def next_to_run(self):
        with self.state_lock:
            while self.waiting and self.running < self.slots:
                operation = self.waiting.popleft()
                if not operation.is_done():
                    operation.has_slot = True
                    self.running += 1
                    self.most_running = max(self.most_running, self.running)
                    self.counts["executed"] += 1
                    return operation
        return None

    def begin(self, operation):
        operation.goes_on(EXECUTING)
        fault = self.faults.take("run", operation.outputs)
        if fault is None:
            operation.job = Job(operation.digest, operation.action, operation.command, operation.outputs,
                                lambda outcome: self.take_outcome(operation, outcome))
            if operation.is_done():  # cancelled meanwhile
                operation.job.cancel()
            self.worker.start(operation.job)
        elif fault["kind"] == "kill_server":
            self.timers.after(fault.get("seconds", 0.05), self.kill)
        elif fault["kind"] != "runs_for_ever":
            failure = exec_faults.failure_of(fault, operation.action.root)
            self.timers.after(fault.get("seconds", 0.05), lambda: self.fail(operation, failure, exec_faults.where_of(fault)))

    def kill(self):
        self.die()

    def take_outcome(self, operation, outcome):
        if isinstance(outcome, Failure):
            return self.fail(operation, outcome, "response")
        fault = self.faults.take("result", operation.outputs)
        outcome.worker = f"worker of {self.slots} slots"
        if fault:
            exec_faults.RESULTS[fault["kind"]](self, outcome, fault)
        result = outcome.render(operation.queued, fault.get("most_raw", MOST_RAW) if fault else MOST_RAW, self.keep)
        if self.record and not fault:
            self.record.save(operation.digest[0], result, self.blob)
        is_kept = fault.get("cached", False) if fault else outcome.exit_code == 0
        if is_kept and not operation.action.do_not_cache:
            self.results[operation.digest[0]] = result
        return self.finish(operation, response=render_response(result))

    def fail(self, operation, failure, where):
        if where == "operation":
            self.finish(operation, error=failure.status())
        else:
            self.finish(operation, response=render_response(status=failure.status()))

    def lose_worker(self, number=0):
        """That of one of the actions that run now. Whether there was one."""
        with self.state_lock:
            running = [operation for operation in self.active.values() if operation.job]
        if running:
            operation = running[number % len(running)]
            operation.job.cancel()
            self.fail(operation, exec_faults.failure_of({"kind": "worker_lost"}, None), "operation")
        return bool(running)

    def cancel(self, operation):
        if operation.job:
            operation.job.cancel()
        self.finish(operation, "operations_cancelled", error=Failure(CANCELLED, "cancelled").status())

    def finish(self, operation, count="finished", **how):
        """Those who are told find it counted."""
        def leave():
            with self.state_lock:
                self.counts[count] += 1
                if self.active.get(operation.digest[0]) is operation:
                    del self.active[operation.digest[0]]
                self.running -= operation.has_slot
        if operation.ends(before=leave, **how):
            self.fill_slots()

    def state(self):
        """What can be written as JSON."""
        with self.state_lock:
            return {"counts": dict(self.counts), "bytes_in": self.bytes_in, "bytes_out": self.bytes_out, "connections": self.opened, "pings": self.pings,
                    "waiting": len(self.waiting), "running": self.running, "most_waiting": self.most_waiting,
                    "most_running": self.most_running, "blobs": len(self.blobs), "results": len(self.results),
                    "faults": self.faults.counts()}
