"""Entries of a shared cache as an attacker changes them: ActionResult messages (docs/shared_cache.md), packed files, records,
keys and signatures, read and written without dsbuild."""

import ctypes
import hashlib
import os
import shutil
import subprocess
import unittest


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


# ---- protobuf's wire format: {number of field: [values]}

def _read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def read_message(data):
    fields, at = {}, 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        value, at = _read_varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def _varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def write_message(fields):
    out = b""
    for number, values in fields.items():
        for value in values:
            if isinstance(value, int):
                out += _varint(number << 3) + _varint(value)
            else:
                out += _varint(number << 3 | 2) + _varint(len(value)) + value
    return out


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
        fields = read_message(data)
        digest = read_message(fields[2][0])
        properties = {}
        for each in read_message(fields[7][0])[1]:
            pair = read_message(each)
            properties[pair[1][0].decode()] = pair[2][0].decode()
        return cls(fields[1][0].decode(), properties["sha256"], int(properties["size"]), digest[1][0].decode(),
                   digest[2][0], properties.get("ed25519", ""), fields.get(5, [b""])[0], properties.get("bases", ""))

    def write(self):
        properties = {"bases": self.bases, "ed25519": self.signature, "sha256": self.digest, "size": str(self.size)}
        pairs = [write_message({1: [name.encode()], 2: [value.encode()]}) for name, value in properties.items() if value]
        return write_message({1: [self.name.encode()],
                              2: [write_message({1: [self.packed_digest.encode()], 2: [self.packed_size]})],
                              **({5: [self.contents]} if self.contents else {}),
                              7: [write_message({1: pairs})]})


def read_entry(data):
    return [Output.read(each) for each in read_message(data).get(2, [])]


def write_entry(name, outputs):
    return write_message({2: [output.write() for output in outputs],
                          9: [write_message({1: [f"dsbuild {name}".encode()]})]})


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
