"""Messages of remote execution (bazelbuild/remote-apis, remote_execution.proto; google.longrunning, google.rpc), as far as a server
for tests reads and writes them."""

import base64
import collections
import time

from protobuf_lite import fields, message
from reapi_server import read_digest

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND = 0, 1, 2, 3, 4, 5
PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED = 7, 8, 9, 10
UNIMPLEMENTED, INTERNAL, UNAVAILABLE = 12, 13, 14
UNKNOWN_STAGE, CACHE_CHECK, QUEUED, EXECUTING, COMPLETED = range(5)

Action = collections.namedtuple("Action", "command root timeout do_not_cache salt platform")
Command = collections.namedtuple("Command", "arguments environment output_files output_directories platform folder output_paths")
Directory = collections.namedtuple("Directory", "files folders links")
File = collections.namedtuple("File", "name digest is_executable")
Folder = collections.namedtuple("Folder", "name digest")
Link = collections.namedtuple("Link", "name target")


class Failure(Exception):
    """A google.rpc.Status that is not OK. `details`: messages of google.protobuf.Any."""

    def __init__(self, code, words="", *details):
        super().__init__(f"{code}: {words}")
        self.code, self.words, self.details = code, words, details

    def status(self):
        return message((1, self.code), (2, self.words), *((3, one) for one in self.details))


def any_of(kind, data):
    return message((1, f"type.googleapis.com/{kind}"), (2, data))


def render_digest(digest):
    """Zero is not written: it is the default."""
    name, size = digest
    return message((1, name), *([(2, size)] if size else []))


def missing_blobs(digests):
    """What an Execute says of inputs that are not there."""
    violations = ((1, message((1, "MISSING"), (2, f"blobs/{name}/{size}"))) for name, size in digests)
    return any_of("google.rpc.PreconditionFailure", message(*violations))


def retry_info(seconds):
    duration = message((1, int(seconds)), (2, int(seconds % 1 * 1e9)))
    return any_of("google.rpc.RetryInfo", message((1, duration)))


def timestamp(seconds=None):
    seconds = time.time() if seconds is None else seconds
    return message((1, int(seconds)), (2, int(seconds % 1 * 1e9)))


# Reading.

def text(value):
    return value.decode()


def pairs(values):
    """Messages whose fields 1 and 2 are texts."""
    return [(text(found.get(1, [b""])[0]), text(found.get(2, [b""])[0])) for found in map(fields, values)]


def parse_platform(values):
    return pairs(fields(values[0]).get(1, [])) if values else []


def parse_seconds(values):
    if not values:
        return None
    found = fields(values[0])
    return found.get(1, [0])[0] + found.get(2, [0])[0] / 1e9


def parse_action(data):
    found = fields(data)
    return Action(read_digest(found.get(1, [b""])[0]), read_digest(found.get(2, [b""])[0]), parse_seconds(found.get(6)),
                  bool(found.get(7, [0])[0]), found.get(9, [b""])[0], parse_platform(found.get(10)))


def parse_command(data):
    found = fields(data)
    arguments, files, folders, paths = (list(map(text, found.get(number, []))) for number in (1, 3, 4, 7))
    return Command(arguments, pairs(found.get(2, [])), files, folders, parse_platform(found.get(5)),
                   text(found.get(6, [b""])[0]), paths)


def parse_directory(data):
    found = fields(data)

    def nodes(number):
        return map(fields, found.get(number, []))

    def name(node):
        return text(node.get(1, [b""])[0])

    def digest(node):
        return read_digest(node.get(2, [b""])[0])
    return Directory([File(name(node), digest(node), bool(node.get(4, [0])[0])) for node in nodes(1)],
                     [Folder(name(node), digest(node)) for node in nodes(2)],
                     [Link(name(node), text(node.get(2, [b""])[0])) for node in nodes(3)])


# Writing.

class Result:
    """What became of an action. Outputs: [(path, digest, is executable)], [(path, digest of the Tree)], [(path, target)]."""

    def __init__(self, exit_code=0):
        self.files, self.folders, self.links = [], [], []
        self.exit_code, self.stdout, self.stderr = exit_code, b"", b""
        self.worker, self.begin, self.end = "", time.time(), time.time()

    def metadata(self, queued):
        times = [(2, queued), (3, self.begin), (4, self.end), (5, self.begin), (6, self.begin), (7, self.begin), (8, self.end),
                 (9, self.end), (10, self.end)]
        return message((1, self.worker), *((number, timestamp(seconds)) for number, seconds in times))

    def render(self, queued, most_raw, keep):
        """`keep(data)`: puts a blob into the store, and has its digest. Texts that are longer than `most_raw` go there."""
        parts = [(2, message((1, path), (2, render_digest(digest)), *([(4, 1)] if runs else []))) for path, digest, runs in self.files]
        parts += [(3, message((1, path), (3, render_digest(tree)))) for path, tree in self.folders]
        if self.exit_code:
            parts.append((4, self.exit_code))
        for raw, stored, said in ((5, 6, self.stdout), (7, 8, self.stderr)):
            if said:
                parts.append((raw, said) if len(said) <= most_raw else (stored, render_digest(keep(said))))
        parts.append((9, self.metadata(queued)))
        parts += [(12, message((1, path), (2, target))) for path, target in self.links]
        return message(*parts)


def render_response(result=None, is_cached=False, status=None):
    parts = ([(1, result)] if result is not None else []) + ([(2, 1)] if is_cached else []) + ([(3, status)] if status else [])
    return any_of("build.bazel.remote.execution.v2.ExecuteResponse", message(*parts))


def render_operation(name, stage, action, error=None, response=None):
    """It is done where it has an error or a response."""
    metadata = message((1, stage), (2, render_digest(action)))
    parts = [(1, name), (2, any_of("build.bazel.remote.execution.v2.ExecuteOperationMetadata", metadata))]
    if error is not None or response is not None:
        parts.append((3, 1))
    return message(*parts, *([(4, error)] if error is not None else []), *([(5, response)] if response is not None else []))


def wait_header(seconds):
    """grpc-status-details-bin that asks for a wait."""
    status = message((1, UNAVAILABLE), (3, retry_info(seconds)))
    return [("grpc-status-details-bin", base64.b64encode(status).decode().rstrip("="))]
