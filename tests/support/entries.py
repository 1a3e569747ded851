"""Entries of a shared cache, read and written without dsbuild: ActionResult messages (lib/remote/action_result.h), packed files,
records, keys and signatures."""

import ctypes
import hashlib
import re
import unittest

import signing
from protobuf_lite import fields, first, message

SHA256 = re.compile("[0-9a-f]{64}")
# What reading raises where a message is none, or where its fields are of other kinds.
NO_ENTRY = (ValueError, LookupError, TypeError, AttributeError)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# ---- zstd, by the library that is there

def _zstd():
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError as error:
        raise unittest.SkipTest(f"no libzstd: {error}") from error
    for name in ("ZSTD_compress", "ZSTD_decompress", "ZSTD_compressBound", "ZSTD_getFrameContentSize"):
        getattr(library, name).restype = ctypes.c_size_t
    return library


def pack(data):
    library = _zstd()
    buffer = ctypes.create_string_buffer(library.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    size = library.ZSTD_compress(buffer, ctypes.c_size_t(len(buffer)), data, ctypes.c_size_t(len(data)), 3)
    return buffer.raw[:size]


def unpack(data):
    library = _zstd()
    size = library.ZSTD_getFrameContentSize(data, ctypes.c_size_t(len(data)))
    buffer = ctypes.create_string_buffer(max(size, 1))
    size = library.ZSTD_decompress(buffer, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    return buffer.raw[:size]


class Output:
    """A file of an entry. `properties` are texts by name, as they stand in its message."""

    def __init__(self, name, packed_digest, packed_size, properties, contents=b""):
        self.name, self.packed_digest, self.packed_size = name, packed_digest, packed_size
        self.properties = properties
        self.contents = contents  # the packed bytes, where they are in the entry

    @property
    def digest(self):
        return self.properties["sha256"]

    @property
    def size(self):
        return int(self.properties["size"])

    @property
    def bases(self):
        """What it is packed with."""
        return self.properties.get("bases", "").split()

    @property
    def signature(self):
        return self.properties.get("ed25519", "")

    @signature.setter
    def signature(self, value):
        self.properties["ed25519"] = value

    def is_base(self):
        return self.name.startswith("base/")

    @classmethod
    def of(cls, name, data, files):
        """Of these bytes, which are put among a server's files."""
        packed = pack(data)
        files[sha256(packed)] = packed
        return cls(name, sha256(packed), len(packed), {"sha256": sha256(data), "size": str(len(data))})

    @classmethod
    def as_it_is(cls, name, data):
        """Of a file of the server that nothing has packed."""
        return cls(name, sha256(data), len(data), {"sha256": sha256(data), "size": str(len(data))})

    @classmethod
    def read(cls, data):
        found = fields(data)
        digest, size = read_digest(found[2][0])
        properties = {first(one, 1).decode(): first(one, 2).decode()
                      for properties in found.get(7, []) for one in fields(properties).get(1, [])}
        if not SHA256.fullmatch(digest) or not found[1][0]:
            raise ValueError("an output has no name or no digest")
        return cls(found[1][0].decode(), digest, size, properties, found.get(5, [b""])[0])

    def write(self):
        pairs = [(1, message((1, name), (2, value))) for name, value in sorted(self.properties.items()) if value]
        contents = [(5, self.contents)] if self.contents else []
        return message((1, self.name), (2, message((1, self.packed_digest), (2, self.packed_size))), *contents, (7, message(*pairs)))


def read_digest(data):
    found = fields(data)
    return found[1][0].decode(), found.get(2, [0])[0]


def read_entry(data):
    return [Output.read(each) for each in fields(data).get(2, [])]


def name_in(data):
    """The name that an entry says it has."""
    worker = first(fields(data)[9][0], 1).decode()
    if not worker.startswith("dsbuild "):
        raise ValueError("it does not say its name")
    return worker.removeprefix("dsbuild ")


def write_entry(name, outputs):
    return message(*((2, output.write()) for output in outputs), (9, message((1, f"dsbuild {name}"))))


def is_records(outputs):
    return bool(outputs) and outputs[0].name == outputs[0].digest


def name_of(kind, key, scope=""):
    parts = {"version": "1", "scope": scope, "kind": kind, "key": key}
    return sha256("".join(f"{name}\0{value}\0" for name, value in parts.items()).encode())


def signed_text(name, outputs):
    lines = [f"{o.digest} {o.size} {o.packed_digest} {o.packed_size} {len(o.name)} {o.name}\n" for o in outputs]
    return f"dsbuild shared cache entry 1\n{name}\n{len(outputs)}\n{''.join(lines)}".encode()


# ---- keys, by openssl

class Key(signing.Key):
    def sign(self, name, outputs):
        """The signature of a part of an entry, as its first output has it."""
        return f"{self.id} {self.sign_bytes(signed_text(name, outputs)).hex()}"
