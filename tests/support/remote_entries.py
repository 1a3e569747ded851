"""What is wrong in a shared cache: each entry (entries.py) names files that must be there. Servers are those of shared_servers.py."""

from entries import NO_ENTRY, name_in, read_digest, read_entry, sha256
from protobuf_lite import first


def is_torn(data):
    """Whether its end is missing, where its name is: nobody believes it."""
    try:
        return not first(data, 9)
    except NO_ENTRY:
        return b"dsbuild " not in data


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
            outputs = read_entry(entry)
            wrong = self.wrong_with_action(name, name_in(entry))
        except NO_ENTRY as why:
            return [f"it does not parse: {why!r}"]
        packed = {output.properties.get("sha256") for output in outputs}
        for output in outputs:
            problem = self.problem_of_output(output)
            wrong += [f"{output.name}: {problem}"] if problem else []
            wrong += [f"{output.name}: its base {base} is not in the entry" for base in output.bases if base not in packed]
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
            return self.problem_of_file(output.packed_digest, output.packed_size)
        self.inline += 1
        is_it = (sha256(output.contents), len(output.contents)) == (output.packed_digest, output.packed_size)
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
