"""The sections of a file of 64-bit ELF, little endian (System V ABI, chapter 4)."""

import struct
import typing


class Section(typing.NamedTuple):
    name: bytes
    kind: int  # SHT_…
    address: int
    data: bytes  # of the file, so none of what only memory has


def sections(data):
    headers, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    rows = [struct.unpack_from("<IIQQQQ", data, headers + size * index) for index in range(count)]

    def name(start):
        begin = rows[names][4] + start
        return data[begin:data.index(b"\0", begin)]

    return [Section(name(start), kind, address, data[offset:offset + length] if kind != 8 else b"")  # SHT_NOBITS
            for start, kind, _, address, offset, length in rows]
