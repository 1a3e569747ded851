"""A cache by the Remote Execution API v2 in memory, over a server that misbehaves on demand."""

import hashlib
import sys

from bad_grpc_server import GrpcServer
from pip_tools import installed
from protobuf_lite import fields, first, message

INVALID_ARGUMENT, NOT_FOUND, UNIMPLEMENTED = 3, 5, 12
SHA256 = 1
ZSTD = 1


def use_zstandard():
    sys.path.insert(0, str(installed("zstandard-0.25.0", "zstandard==0.25.0")))


def pack(data):
    import zstandard
    return zstandard.ZstdCompressor().compress(data)


def unpack(data):
    """ValueError where it is not packed."""
    import zstandard
    try:
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    except zstandard.ZstdError as wrong:
        raise ValueError(str(wrong)) from wrong


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def digest(data, size=None):
    return message((1, sha256(data)), (2, len(data) if size is None else size))


def read_digest(data):
    found = fields(data)
    return found.get(1, [b""])[0].decode(), found.get(2, [0])[0]


def compressors_of(values):
    """Numbers one by one, or packed (those below 128)."""
    return [number for value in values for number in ([value] if isinstance(value, int) else value)]


class ReapiServer(GrpcServer):
    """`most_batch`: max_batch_total_size_bytes, which it insists on. `compressors`: [ZSTD] where it takes and gives packed blobs."""

    def __init__(self, test, blobs=None, compressors=(), **options):
        if compressors:
            use_zstandard()
        self.compressors = list(compressors)
        self.blobs, self.results = {} if blobs is None else blobs, {}
        self.blobs[sha256(b"")] = b""
        self.functions, self.takes_results, self.most_batch = [SHA256], True, 0
        self.uploads = set()
        super().__init__(test, **options)

    def blob(self, name):
        """None: there is none. One may be made now (exec_record.Later)."""
        data = self.blobs.get(name)
        return data if data is None or isinstance(data, bytes) else data.make()

    def answer(self, call):
        answers = {"GetCapabilities": self.capabilities, "FindMissingBlobs": self.missing, "BatchReadBlobs": self.read_batch,
                   "BatchUpdateBlobs": self.update_batch, "GetActionResult": self.get_result,
                   "UpdateActionResult": self.update_result, "Read": self.read, "Write": self.write}
        if call.method not in answers:
            return call.reply(status=UNIMPLEMENTED)
        return answers[call.method](call)

    def cache_capabilities(self):
        functions = [(1, function) for function in self.functions]
        compressors = [(number, compressor) for number in (6, 7) for compressor in self.compressors]
        return message(*functions, (2, message((1, int(self.takes_results)))), (4, self.most_batch), *compressors)

    def capabilities(self, call):
        call.reply(message((1, self.cache_capabilities())))

    def missing(self, call):
        asked = fields(call.messages[0]).get(2, [])
        call.reply(message(*((2, one) for one in asked if read_digest(one)[0] not in self.blobs)))

    def is_too_large(self, total):
        return total > (self.most_batch or 4 << 20)

    def read_batch(self, call):
        request = fields(call.messages[0])
        asked, packs = request[2], any(number in self.compressors for number in compressors_of(request.get(3, [])))
        if self.is_too_large(sum(read_digest(one)[1] for one in asked)):
            return call.reply(status=INVALID_ARGUMENT, words="the batch is too large")
        return call.reply(message(*((1, self.read_one(one, packs)) for one in asked)))

    def read_one(self, asked, packs):
        data = self.blob(read_digest(asked)[0])
        if data is None:
            return message((1, asked), (3, message((1, NOT_FOUND), (2, "there is none"))))
        return message((1, asked), (2, pack(data)), (4, ZSTD)) if packs else message((1, asked), (2, data))

    def update_batch(self, call):
        given = [(first(one, 1), first(one, 2), fields(one).get(3, [0])[0]) for one in fields(call.messages[0])[2]]
        if self.is_too_large(sum(len(data) for _, data, _ in given)):
            return call.reply(status=INVALID_ARGUMENT, words="the batch is too large")
        return call.reply(message(*((1, self.update_one(*one)) for one in given)))

    def update_one(self, name, data, compressor):
        if compressor not in (0, *self.compressors):
            return message((1, name), (2, message((1, INVALID_ARGUMENT), (2, "another compressor"))))
        data = unpack(data) if compressor else data
        if read_digest(name) != (sha256(data), len(data)):
            return message((1, name), (2, message((1, INVALID_ARGUMENT), (2, "not its digest"))))
        self.blobs[sha256(data)] = data
        return message((1, name), (2, b""))

    def action(self, call):
        return read_digest(first(call.messages[0], 2))[0]

    def get_result(self, call):
        result = self.results.get(self.action(call))
        return call.reply(status=NOT_FOUND, words="no result") if result is None else call.reply(result)

    def update_result(self, call):
        """The Action and what it names are to be there."""
        action = self.blob(self.action(call)) or b""
        if not all(read_digest(first(action, number))[0] in self.blobs for number in (1, 2)):
            return call.reply(status=9, words="the action is not there")
        self.results[self.action(call)] = first(call.messages[0], 3)
        return call.reply(first(call.messages[0], 3))

    def read(self, call):
        name = first(call.messages[0], 1).decode()
        data = self.blob(name.split("/")[-2])
        if data is None:
            return call.reply(status=NOT_FOUND)
        data = pack(data) if self.is_packed(name) else data
        pieces = [message((10, data[at:at + (1 << 19)])) for at in range(0, len(data), 1 << 19)]
        return call.reply(*pieces)

    def write(self, call):
        """As one that knows uploads by their names: one that began is not begun again."""
        data, name = bytearray(), first(call.messages[0], 1).decode()
        for each in call.messages:
            found = fields(each)
            if found.get(2, [0])[0] != len(data):
                return call.reply(status=11, words="wrong offset")
            data += found.get(10, [b""])[0]
        *_, uuid, _, wanted, size = name.replace("compressed-blobs/zstd/", "blobs/").split("/")
        if uuid in self.uploads:
            return call.reply(status=11, words="this upload has begun")
        self.uploads.add(uuid)
        sent, data = len(data), unpack(bytes(data)) if self.is_packed(name) else bytes(data)
        if (sha256(data), len(data)) != (wanted, int(size)) or 3 not in fields(call.messages[-1]) or len(uuid) != 36:
            return call.reply(status=INVALID_ARGUMENT, words="wrong bytes")
        self.blobs[wanted] = data
        return call.reply(message((1, sent)))

    def is_packed(self, name):
        return bool(self.compressors) and "compressed-blobs/zstd/" in name
