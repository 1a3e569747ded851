"""Messages of protocol buffers without their types (protobuf.dev/programming-guides/encoding): enough for a server that
misbehaves."""


def varint(number):
    out = bytearray()
    number &= (1 << 64) - 1
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def message(*fields):
    """Of (number, int | str | bytes)."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def read_varint(data, at):
    number = shift = 0
    while True:
        if at == len(data):
            raise ValueError("it ends in a number")
        number |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return number, at


def fields(data):
    """{number: [int | bytes, ...]}; ValueError where it is no message."""
    found, at = {}, 0
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            value, at = read_varint(data, at)
        elif tag & 7 == 2:
            length, at = read_varint(data, at)
            if at + length > len(data):
                raise ValueError(f"it ends in the field {tag >> 3}")
            value, at = data[at:at + length], at + length
        else:
            raise ValueError(f"wire type {tag & 7}")
        found.setdefault(tag >> 3, []).append(value)
    return found


def first(data, *numbers):
    """The field of the field of …; b"" where there is none."""
    for number in numbers:
        data = fields(data).get(number, [b""])[0]
    return data
