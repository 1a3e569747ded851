"""Results of actions in a folder: a server that runs them writes it, and one that sleeps takes outputs and times from it."""

import pathlib

from exec_client import parse_result
from protobuf_lite import fields
from reapi_types import Result


class Later:
    """A blob whose bytes are made when they are wanted, or are not known any more."""

    def __init__(self, size, make=lambda: None):
        self.size, self.make = size, make

    def __len__(self):
        return self.size


class SmallBlobs(dict):
    """Blobs of which large ones are known by their size alone, as thousands of actions need more than a machine has."""
    most = 1 << 16

    def __setitem__(self, name, data):
        super().__setitem__(name, Later(len(data)) if isinstance(data, bytes) and len(data) > self.most else data)


def seconds_of(metadata):
    begin, end = (fields(metadata[number][0]) for number in (3, 4))
    return end[1][0] - begin[1][0] + (end.get(2, [0])[0] - begin.get(2, [0])[0]) / 1e9


class Record:
    def __init__(self, folder):
        self.results, self.blobs = pathlib.Path(folder) / "results", pathlib.Path(folder) / "blobs"
        for place in (self.results, self.blobs):
            place.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def texts_of(result):
        return [said for said in (result.stdout, result.stderr) if isinstance(said, tuple)]

    def save(self, action, rendered, blob):
        """`blob(name)`: the bytes of an output."""
        result = parse_result(rendered)
        for name, *_ in [*result.files.values(), *result.folders.values(), *self.texts_of(result)]:
            (self.blobs / name).write_bytes(blob(name))
        (self.results / action).write_bytes(rendered)

    def blob(self, digest):
        return Later(digest[1], (self.blobs / digest[0]).read_bytes)

    def load(self, action):
        """(Result, seconds, {name: blob}); None."""
        try:
            found = parse_result((self.results / action).read_bytes())
        except FileNotFoundError:
            return None
        result = Result(found.exit_code)
        result.files = [(path, (name, size), runs) for path, (name, size, runs) in found.files.items()]
        result.folders, result.links = list(found.folders.items()), list(found.links.items())
        result.stdout, result.stderr = ((self.blobs / said[0]).read_bytes() if isinstance(said, tuple) else said
                                        for said in (found.stdout, found.stderr))
        digests = [digest for _, digest, *_ in result.files + result.folders]
        return result, seconds_of(found.metadata), {digest[0]: self.blob(digest) for digest in digests}
