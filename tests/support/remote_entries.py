"""What lies in a shared cache, read without dsbuild: entries are ActionResult messages (lib/remote/action_result.h), and each names
files that must be there. Servers are those of shared_servers.py."""

import collections
import hashlib
import re

from protobuf_lite import fields, first, message

# `digest`, `size`: of the packed bytes, which are `contents` or a file of the server.
Output = collections.namedtuple("Output", "path digest size contents properties")
SHA256 = re.compile("[0-9a-f]{64}")
# What reading raises where a message is none, or where its fields are of other kinds.
NO_ENTRY = (ValueError, LookupError, TypeError, AttributeError)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def read_digest(data):
    found = fields(data)
    return found[1][0].decode(), found.get(2, [0])[0]


def read_output(data):
    found = fields(data)
    digest, size = read_digest(found[2][0])
    properties = [(first(one, 1).decode(), first(one, 2).decode())
                  for properties in found.get(7, []) for one in fields(properties).get(1, [])]
    if not SHA256.fullmatch(digest) or not found[1][0]:
        raise ValueError("an output has no name or no digest")
    return Output(found[1][0].decode(), digest, size, found.get(5, [b""])[0], dict(properties))


def read_entry(data):
    """(the name that it says, outputs); NO_ENTRY where it is no ActionResult that dsbuild makes."""
    found = fields(data)
    worker = first(found[9][0], 1).decode()
    outputs = [read_output(output) for output in found[2]]
    if not worker.startswith("dsbuild "):
        raise ValueError("it does not say its name")
    return worker.removeprefix("dsbuild "), outputs


def is_torn(data):
    """Whether its end is missing, where its name is: nobody believes it."""
    try:
        return not first(data, 9)
    except NO_ENTRY:
        return b"dsbuild " not in data


def make_entry(name, files):
    """`files`: (path, bytes), each a file of the server as it is."""
    outputs = [message((1, path), (2, message((1, sha256(data)), (2, len(data)))),
                       (7, b"".join(message((1, message((1, key), (2, value))))
                                    for key, value in (("sha256", sha256(data)), ("size", str(len(data)))))))
               for path, data in files]
    return message(*((2, output) for output in outputs), (9, message((1, f"dsbuild {name}"))))


class Checker:
    """Finds what is wrong on a server. What was looked at once is not looked at again, unless it has changed."""

    def __init__(self, server):
        self.server = server
        self.torn = set()                  # entries that a server which writes late has not written whole
        self.entries, self.files = {}, {}  # (name, digest of the message); name: size
        self.inline = 0                    # outputs in their entry

    def problems(self):
        """One line each. Entries are read before the files that they name, so others may write at the same time."""
        found = []
        self.torn.clear()
        for name in self.server.names("ac"):
            entry = self.server.read("ac", name)
            if entry is None or self.entries.get(name) == sha256(entry):  # None: it is just replaced
                continue
            if self.server.writes_late and is_torn(entry):
                self.torn.add(name)
                continue
            wrong = self.wrong_in(name, entry)
            found += [f"entry {name}: {why}" for why in wrong]
            if not wrong:
                self.entries[name] = sha256(entry)
        return found

    def wrong_in(self, name, entry):
        try:
            own_name, outputs = read_entry(entry)
            wrong = self.wrong_with_action(name, own_name)
        except NO_ENTRY as why:
            return [f"it does not parse: {why!r}"]
        packed = {output.properties.get("sha256") for output in outputs}
        for output in outputs:
            problem = self.problem_of_output(output)
            wrong += [f"{output.path}: {problem}"] if problem else []
            bases = output.properties.get("bases", "").split()
            wrong += [f"{output.path}: its base {base} is not in the entry" for base in bases if base not in packed]
        return wrong

    def wrong_with_action(self, name, own_name):
        """On a server of the Remote Execution API an entry has the name of an Action, whose salt is the own name."""
        if not self.server.has_actions:
            return [] if own_name == name else [f"it is the entry {own_name}"]
        action = self.server.read("cas", name)
        if action is None:
            return ["its action is not there"]
        problem = self.problem_of_file(*read_digest(first(action, 1)))
        salt = first(action, 9).decode()
        return ([f"its command {problem}"] if problem else []) + ([] if salt == own_name else [f"its action is that of {salt}"])

    def problem_of_output(self, output):
        if not output.contents:
            return self.problem_of_file(output.digest, output.size)
        self.inline += 1
        is_it = (sha256(output.contents), len(output.contents)) == (output.digest, output.size)
        return "" if is_it else "its contents have another digest"

    def problem_of_file(self, digest, size):
        if self.files.get(digest) == size:
            return ""
        data = self.server.read("cas", digest)
        if data is None:
            return f"file {digest} is not there"
        if len(data) != size:
            return f"file {digest} has {len(data)} bytes, not {size}"
        if sha256(data) != digest:
            return f"file {digest} has another digest"
        self.files[digest] = size
        return ""
