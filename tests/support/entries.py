"""Entries of a shared cache as an attacker changes them: ActionResult messages (docs/shared_cache.md), packed files, records,
keys and signatures, read and written without dsbuild."""

import ctypes
import hashlib
import os
import shutil
import subprocess
import unittest

from protobuf_lite import fields, message


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
    """A file of an entry."""

    def __init__(self, name, digest, size, packed_digest, packed_size, signature="", contents=b"", bases=""):
        self.name, self.digest, self.size = name, digest, size
        self.packed_digest, self.packed_size, self.signature = packed_digest, packed_size, signature
        self.contents, self.bases = contents, bases  # the packed bytes, where they are in the entry; what it is packed with

    def is_base(self):
        return self.name.startswith("base/")

    @classmethod
    def of(cls, name, data, files):
        """Of these bytes, which are put among a server's files."""
        packed = pack(data)
        files[sha256(packed)] = packed
        return cls(name, sha256(data), len(data), sha256(packed), len(packed))

    @classmethod
    def read(cls, data):
        found = fields(data)
        digest = fields(found[2][0])
        properties = {}
        for each in fields(found[7][0])[1]:
            pair = fields(each)
            properties[pair[1][0].decode()] = pair[2][0].decode()
        return cls(found[1][0].decode(), properties["sha256"], int(properties["size"]), digest[1][0].decode(),
                   digest[2][0], properties.get("ed25519", ""), found.get(5, [b""])[0], properties.get("bases", ""))

    def write(self):
        properties = {"bases": self.bases, "ed25519": self.signature, "sha256": self.digest, "size": str(self.size)}
        pairs = [(1, message((1, name), (2, value))) for name, value in properties.items() if value]
        contents = [(5, self.contents)] if self.contents else []
        return message((1, self.name), (2, message((1, self.packed_digest), (2, self.packed_size))), *contents, (7, message(*pairs)))


def read_entry(data):
    return [Output.read(each) for each in fields(data).get(2, [])]


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

class Key:
    def __init__(self, folder, name):
        self.program = shutil.which("openssl")
        if not self.program:
            raise unittest.SkipTest("openssl is not installed")
        self.private, self.public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
        subprocess.run([self.program, "genpkey", "-algorithm", "ed25519", "-out", self.private], check=True, capture_output=True)
        subprocess.run([self.program, "pkey", "-in", self.private, "-pubout", "-out", self.public], check=True, capture_output=True)
        der = subprocess.run([self.program, "pkey", "-in", self.private, "-pubout", "-outform", "DER"], check=True,
                             capture_output=True).stdout
        self.id = sha256(der[-32:])[:16]
        os.chmod(self.private, 0o600)

    def sign(self, name, outputs, folder):
        """The signature of a part of an entry, as its first output has it."""
        text = folder / "to be signed"
        text.write_bytes(signed_text(name, outputs))
        signature = subprocess.run([self.program, "pkeyutl", "-sign", "-rawin", "-inkey", self.private, "-in", text],
                                   check=True, capture_output=True).stdout
        return f"{self.id} {signature.hex()}"
