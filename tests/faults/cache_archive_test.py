#!/usr/bin/env python3
"""Archives of a cache that are damaged, or made to do harm, are refused, and then nothing of them is in the local cache. Each
test says what turns it red."""

import io
import os
import pathlib
import random
import sys
import tarfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import entries  # noqa: E402
import mounts  # noqa: E402
import testspace  # noqa: E402
from entries import Output  # noqa: E402
from testspace import TestSpace  # noqa: E402

BLOCK = 512


class ArchiveTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """An archive that is good, of a real cache."""
        cls.first = TestSpace("first", store=True)
        built = cls.first.build("--ops", "alpha")
        assert built.code == 0, built
        cls.good = cls.first.root / "good.tar"
        exported = cls.first.run("cache", "export", str(cls.good))
        assert exported.code == 0, exported
        with tarfile.open(cls.good) as tar:
            cls.members = {member.name: tar.extractfile(member).read() for member in tar}

    def setUp(self):
        self.space = TestSpace("second", store=True, knows_tools=False)
        self.archive = self.space.root / "cache.tar"
        self.outside = self.space.root / "outside"
        self.outside.mkdir()

    def write(self, members=None, extra=(), form=tarfile.USTAR_FORMAT):
        """Of {name: bytes} and TarInfos with bytes; as dsbuild writes it, without what Python adds at the end."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=form) as tar:
            for info, data in [*extra, *((tarfile.TarInfo(name), data) for name, data in (members or self.members).items())]:
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
            end = tar.offset
        self.archive.write_bytes(buffer.getvalue()[:end] + bytes(2 * BLOCK))

    def run_import(self, *more, code):
        run = self.space.run("cache", "import", str(self.archive), *more, timeout=60)
        self.assertEqual(run.code, code, run)
        self.assertEqual(list(self.outside.iterdir()), [])
        return run

    def refused(self, said=""):
        run = self.run_import(code=1)
        self.assertIn("error[bad_cache_archive]", run.err)
        self.assertIn(said, run.err)
        self.assertFalse((self.space.cache_folder() / "store").exists(), "something was written")

    def entry_names(self):
        return [name for name in self.members if name.startswith("ac/")]

    def test_a_good_one(self):
        self.write()
        self.assertRegex(self.run_import(code=0).out, r"^import: [1-9]\d* entries came")

    # Red where a name is taken as it is written.
    def test_names_that_lead_out(self):
        for name in ("../../outside/file", str(self.outside / "file")[:99], "ac/../../outside/file", "cas/" + "a" * 64, "ac/aa",
                     "CACHEDIR.TAG", "ac/aa/" + "b" * 61 + "\n", "uses", "keys/", "\x1b[31m"):
            self.write(extra=[(tarfile.TarInfo(name), b"evil")])
            self.refused()

    # Red where the type of a member is not looked at.
    def test_what_is_no_plain_file(self):
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.GNUTYPE_SPARSE):
            link = tarfile.TarInfo("cas/aa/" + "a" * 62)
            link.type, link.linkname = kind, str(self.outside / "file")
            self.write(extra=[(link, b"")])
            self.refused("something else than plain files")
        long = tarfile.TarInfo("ac/" * 60)
        for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            self.write(extra=[(long, b"")], form=form)
            self.refused("something else than plain files")

    # Red where an archive is believed to be whole, or its size is taken from a header.
    def test_a_truncated_one(self):
        whole = self.good.read_bytes()
        sizes = {0, 1, BLOCK - 1, BLOCK, len(whole) - 1, len(whole) - BLOCK, len(whole) - 2 * BLOCK}
        for size in sorted(sizes | set(random.Random(testspace.SEED).sample(range(len(whole)), testspace.count(10, 100)))):
            with self.subTest(size=size):
                self.archive.write_bytes(whole[:size])
                self.refused()
        for more in (b"x", bytes(BLOCK), whole):
            self.archive.write_bytes(whole + more)
            self.refused("more than an archive")

    # Red where memory is taken for what a header says.
    def test_huge_sizes(self):
        name = self.entry_names()[0]
        for size in (len(self.members[name]) + BLOCK * 10_000, 8 << 30, (8 << 30) - 1, 1 << 62):
            info = tarfile.TarInfo("cas/aa/" + "a" * 62)
            info.size = min(size, (8 << 30) - 1)
            header = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
            if size >= 8 << 30:  # base 256, as GNU tar has it
                header[124:136] = bytes([0x80]) + size.to_bytes(11, "big")
                header[148:156] = b" " * 8
                header[148:156] = f"{sum(header):06o}\0 ".encode()
            self.archive.write_bytes(bytes(header) + self.good.read_bytes())
            self.refused("longer than the archive" if size < 8 << 30 else "something else than plain files")

    # Red where the digests of files are not checked before anything is written.
    def test_wrong_digests(self):
        for name in [name for name in self.members if name.startswith("cas/")][:3]:
            for data in (self.members[name][:-1], self.members[name] + b"x", b"",
                         bytes([self.members[name][0] ^ 1]) + self.members[name][1:]):
                self.write({**self.members, name: data})
                self.refused("is damaged")

    # Red where an entry may be any message, or of another name.
    def test_wrong_entries(self):
        names = self.entry_names()
        for data in (b"", b"\xff" * 40, self.members[names[1]], self.members[names[0]][:-1]):
            self.write({**self.members, names[0]: data})
            self.refused("is damaged")

    # Red where the files that an entry names are not looked for.
    def test_a_file_that_is_not_there(self):
        for name in [name for name in self.members if name.startswith("cas/")][:3]:
            self.write({other: data for other, data in self.members.items() if other != name})
            self.refused("names a file that is not there")

    # Red where the later of two members of one name wins, as with tar itself.
    def test_a_name_that_is_there_twice(self):
        name = self.entry_names()[0]
        self.write(extra=[(tarfile.TarInfo(name), self.members[name])])
        self.refused("is there twice")

    # Red where the list of keys is not read strictly.
    def test_lists_of_keys(self):
        keys = self.members["keys"]
        for data in (b"", b"dsbuild-archive 2\nscope \n", keys + b"result ../../outside\n", keys.replace(b"result", b"resolt", 1), keys[:-9]):
            self.write({**self.members, "keys": data})
            self.refused("list of keys")
        self.write({name: data for name, data in self.members.items() if name != "keys"})
        self.refused("no list of keys")

    def lying_entry(self, change):
        """One result whose entry is changed, with its key."""
        key = next(line.split()[1] for line in self.members["keys"].decode().splitlines() if line.startswith("result "))
        name = entries.name_of("result", key)
        member = f"ac/{name[:2]}/{name[2:]}"
        outputs = entries.read_entry(self.members[member])
        change(outputs[0])
        self.write({**self.members, member: entries.write_entry(name, outputs)})
        store = self.space.cache_folder() / "store"
        return store / "ac" / key[:2] / key[2:]

    # Red where what an entry says of the unpacked bytes is believed.
    def test_an_entry_that_lies_of_its_bytes(self):
        for change in ({"sha256": lambda _: "0" * 64}, {"size": lambda size: str(int(size) + 1)}, {"size": lambda _: str(1 << 40)}):
            place = self.lying_entry(lambda output, change=change: output.properties.update(
                {name: lie(output.properties[name]) for name, lie in change.items()}))
            self.assertIn("were refused", self.run_import(code=1).out)
            self.assertFalse(place.exists())

    # Red where one small file may become one that fills memory.
    def test_a_file_that_unpacks_to_more_than_it_says(self):
        files = {}
        bomb = Output.of(".o", bytes(300 << 20), files)
        ((digest, packed),) = files.items()
        key = "a" * 64
        name = entries.name_of("result", key)
        for size in (1, 300 << 20 | 1, 1 << 40):
            bomb.properties["size"] = str(size)
            self.write({f"cas/{digest[:2]}/{digest[2:]}": packed, f"ac/{name[:2]}/{name[2:]}": entries.write_entry(name, [bomb]),
                        "keys": f"dsbuild-archive 1\nscope \nresult {key}\n".encode()})
            self.assertIn("1 were refused", self.run_import(code=1).out)

    def test_what_is_no_file(self):
        self.archive.mkdir()
        self.assertEqual(self.run_import(code=1).out, "")
        self.archive.rmdir()
        os.mkfifo(self.archive)
        self.assertEqual(self.run_import(code=1).out, "")

    # Red where an archive appears before it is whole, or what is half written stays.
    def test_a_full_disk(self):
        folder = self.space.root / "small"
        mounts.mount_disk(self, folder, "16k")
        run = self.first.run("cache", "export", str(folder / "cache.tar"))
        self.assertEqual(run.code, 1, run)
        self.assertIn("No space left", run.out + run.err)
        self.assertEqual(list(folder.iterdir()), [])


if __name__ == "__main__":
    mounts.enter_namespace()
    testspace.main()
