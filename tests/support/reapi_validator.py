"""What the specification says of an Action, its Command and its input tree (remote_execution.proto), insisted upon. Real servers let
much of it pass, and then miss their caches."""

import re

from protobuf_lite import fields, first, read_varint
from reapi_types import FAILED_PRECONDITION, INVALID_ARGUMENT, Failure, missing_blobs, parse_action, parse_command, parse_directory

HASH = re.compile("[0-9a-f]{64}")
# The fields of each message that a client of today may write.
ACTION, COMMAND, DIRECTORY, NODE, DIGEST = {1, 2, 6, 7, 9, 10}, {1, 2, 3, 4, 5, 6, 7}, {1, 2, 3}, {1, 2, 4}, {1, 2}


def refuse(words):
    raise Failure(INVALID_ARGUMENT, words)


def insist(holds, words):
    if not holds:
        refuse(words)


def check_canonical(what, data, known):
    """Fields in the order of their numbers, none unknown, no default written: one message has one digest."""
    at, last = 0, 0
    while at < len(data):
        tag, at = read_varint(data, at)
        value, at = read_varint(data, at)
        number = tag >> 3
        insist(number in known, f"{what}: unknown field {number}")
        insist(number >= last, f"{what}: field {number} comes after field {last}")
        insist(value or tag & 7 == 2, f"{what}: field {number} has its default")
        at, last = at + (value if tag & 7 == 2 else 0), number


def check_nodes(what, folder):
    for number, nodes in fields(folder).items():
        for node in nodes:
            check_canonical(f"{what}: a node", node, NODE)
            if number < 3:
                check_canonical(f"{what}: the digest of a node", first(node, 2), DIGEST)


def check_sorted(what, values):
    """By code points, as Python sorts, and each once."""
    for before, after in zip(values, values[1:]):
        insist(before != after, f"{what}: {after!r} is there twice")
        insist(before < after, f"{what}: {after!r} comes after {before!r}")


def check_relative(what, path):
    insist(path, f"{what}: a path is empty")
    insist(not path.startswith("/"), f"{what}: {path!r} is absolute")
    insist(not {"", ".", ".."} & set(path.split("/")), f"{what}: {path!r} is not canonical")


def check_name(what, name):
    insist(name not in ("", ".", "..") and "/" not in name, f"{what}: the name {name!r}")


class Validator:
    """`blob(hash)`: the bytes, None where there are none. `has(hash)`: the size or None. What was looked at is known."""

    def __init__(self, blob, size_of):
        self.blob, self.size_of = blob, size_of
        self.good_folders = set()

    def check_digest(self, what, digest, missing):
        """Whether its bytes are there."""
        name, size = digest
        insist(HASH.fullmatch(name), f"{what}: {name!r} is not a SHA-256 digest")
        there = self.size_of(name)
        if there is None:
            missing.append(digest)
            return False
        insist(there == size, f"{what}: {name} has {there} bytes and not {size}")
        return True

    def check(self, digest):
        """(Action, Command); Failure where it is not right."""
        missing = []
        insist(self.check_digest("Action", digest, missing) or missing, "Action")
        self.raise_missing(missing)
        action = self.read_action(digest)
        if self.check_digest("Command", action.command, missing):
            command = self.read_command(action)
        self.check_tree("input root", action.root, missing)
        self.raise_missing(missing)
        if command.folder:
            self.check_folder_exists(action.root, command.folder)
        return action, command

    @staticmethod
    def raise_missing(missing):
        if missing:
            raise Failure(FAILED_PRECONDITION, "blobs are missing", missing_blobs(missing))

    def parse(self, what, parse, known, digest):
        data = self.blob(digest[0])
        try:
            check_canonical(what, data, known)
            return parse(data)
        except (ValueError, IndexError) as wrong:
            raise Failure(INVALID_ARGUMENT, f"{what}: {wrong}") from wrong

    def read_action(self, digest):
        action = self.parse("Action", parse_action, ACTION, digest)
        check_sorted("Action.platform", action.platform)
        insist(action.timeout is None or action.timeout > 0, "Action: the timeout is not positive")
        return action

    def read_command(self, action):
        command = self.parse("Command", parse_command, COMMAND, action.command)
        insist(command.arguments and command.arguments[0], "Command: there are no arguments")
        names = [name for name, _ in command.environment]
        check_sorted("Command.environment_variables", names)
        insist(all(name and "=" not in name for name in names), "Command.environment_variables: a name is empty or has '='")
        check_sorted("Command.platform", command.platform)
        insist(command.platform == action.platform, "Command.platform and Action.platform differ")
        for what in ("output_files", "output_directories", "output_paths"):
            paths = getattr(command, what)
            check_sorted(f"Command.{what}", paths)
            for path in paths:
                check_relative(f"Command.{what}", path)
        if command.folder:
            check_relative("Command.working_directory", command.folder)
        return command

    def check_tree(self, what, digest, missing):
        if digest[0] in self.good_folders:
            return
        if not self.check_digest(what, digest, missing):
            return
        before = len(missing)
        found = self.parse(what, parse_directory, DIRECTORY, digest)
        check_nodes(what, self.blob(digest[0]))
        for kind, nodes in zip(("files", "directories", "symlinks"), found, strict=True):
            check_sorted(f"{what}: {kind}", [node.name for node in nodes])
            for node in nodes:
                check_name(what, node.name)
        check_sorted(f"{what}: all names", sorted(node.name for nodes in found for node in nodes))
        for link in found.links:
            insist(link.target and not link.target.startswith("/"), f"{what}: the link {link.name!r} to {link.target!r}")
        for file in found.files:
            self.check_digest(f"{what}/{file.name}", file.digest, missing)
        for folder in found.folders:
            self.check_tree(f"{what}/{folder.name}", folder.digest, missing)
        if len(missing) == before:
            self.good_folders.add(digest[0])

    def check_folder_exists(self, root, path):
        digest = root
        for name in path.split("/"):
            folders = {folder.name: folder.digest for folder in parse_directory(self.blob(digest[0])).folders}
            insist(name in folders, f"Command.working_directory: {path!r} is not in the input tree")
            digest = folders[name]
