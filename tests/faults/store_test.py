#!/usr/bin/env python3
"""The store of results under damage, kills, full disks and many processes at once: an entry is handed out as it was put
or not at all, and the next put heals. Works on it through tests/tools/store_tool.cpp, as the steps of a build do."""

import functools
import hashlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from mounts import enter_namespace, make_read_only, mount, mount_disk  # noqa: E402
from testspace import SEED, wait_until  # noqa: E402

HOUR = 3600
KEYS = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(16)]  # those that `churn` uses


def key_number(number):
    return hashlib.sha256(f"key {number}".encode()).hexdigest()


def is_stopped(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "T"


class StoreTest(unittest.TestCase):
    def setUp(self):
        self.tool = os.environ.get("DSBUILD_STORE_TOOL")
        if not self.tool:
            self.skipTest("DSBUILD_STORE_TOOL is not set (the build's tests/store_tool)")
        folder = tempfile.TemporaryDirectory(prefix="dsbuild-test-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.store = self.root / "store"
        self.generator = random.Random(SEED)

    def start(self, *words):
        return subprocess.Popen([self.tool, str(self.store), *map(str, words)], stdout=subprocess.PIPE, text=True)

    def run_tool(self, *words):
        process = self.start(*words)
        out = process.communicate(timeout=testspace.TIME_LIMIT)[0].strip()
        self.assertEqual(process.returncode, 0, out)
        return out

    def put(self, key, size=20000):
        self.run_tool("put", key, size)

    def find(self, key):
        return self.run_tool("find", key)

    def file_of(self, key):
        return self.store / "ac" / key[:2] / key[2:]

    def files_of(self, key):
        """The result, and the blobs that it names."""
        digests = [line.split(" ")[0] for line in self.file_of(key).read_text().splitlines()[3:]]
        return [self.file_of(key), *(self.store / "cas" / digest[:2] / digest[2:] for digest in digests)]

    def temporaries(self):
        return list(self.store.rglob("*.dsbuild-tmp"))

    def writes_another(self, before):
        """Whether a temporary is there that was not."""
        return len(self.temporaries()) > len(before)

    def check_gone_and_healed(self, key, damaged):
        """An entry with a damaged file: absent, removed, and as good as new when it is put again."""
        self.assertEqual(self.find(key), "miss")
        self.assertFalse(self.file_of(key).exists(), "the entry stays")
        self.assertFalse(damaged.exists(), "the damaged file stays")
        self.put(key)
        self.assertEqual(self.find(key), "hit")


class DamageTest(StoreTest):
    def test_an_entry_with_a_flipped_bit_is_never_handed_out(self):
        for number in range(testspace.count(4, 500, deep_too=12)):
            key = key_number(number)
            self.put(key)
            file = self.generator.choice(self.files_of(key))
            data = bytearray(file.read_bytes())
            bit = self.generator.randrange(len(data) * 8)
            data[bit // 8] ^= 1 << bit % 8
            file.write_bytes(data)
            with self.subTest(file=file, bit=bit):
                self.check_gone_and_healed(key, file)

    def test_a_truncated_entry_is_never_handed_out(self):
        for number in range(testspace.count(4, 500, deep_too=12)):
            key = key_number(number)
            self.put(key)
            file = self.generator.choice(self.files_of(key))
            size = self.generator.randrange(file.stat().st_size)
            os.truncate(file, size)
            with self.subTest(file=file, size=size):
                self.check_gone_and_healed(key, file)

    def test_it_is_the_digest_that_tells(self):
        """The same damage with a digest made to fit is handed out, and `find` here calls it wrong: so a store without
        digests would fail the tests above."""
        key = key_number(0)
        self.put(key)
        blob = self.files_of(key)[1]
        data = bytearray(blob.read_bytes().split(b"\n", 1)[1])
        data[len(data) // 2] ^= 1
        blob.write_bytes(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
        self.assertEqual(self.find(key), "wrong")


class KillTest(StoreTest):
    def kill_while_it_writes(self, process):
        """It is stopped, and goes on again, until a file is half written then."""
        before = self.temporaries()
        while True:
            wait_until(functools.partial(self.writes_another, before), step=0.0005)
            time.sleep(self.generator.uniform(0, 0.003))
            process.send_signal(signal.SIGSTOP)
            wait_until(functools.partial(is_stopped, process.pid), step=0.0005)
            if self.writes_another(before):
                break
            process.send_signal(signal.SIGCONT)
        process.kill()
        process.communicate()
        self.assertTrue(self.writes_another(before), "its file is gone: what is tested here?")

    def test_a_process_killed_while_it_puts_leaves_nothing_that_is_wrong(self):
        self.put(KEYS[0])  # else it may be killed while it makes the store, and there is none to prune
        for number in range(testspace.count(5, 300, deep_too=15)):
            self.kill_while_it_writes(self.start("churn", SEED % 1000 + number, 10 ** 6, 4_000_000))
        self.assertNotIn("wrong", [self.find(key) for key in KEYS])
        for temporary in self.temporaries():
            os.utime(temporary, (time.time() - 2 * HOUR,) * 2)
        self.run_tool("prune", 1 << 40)
        self.assertEqual(self.temporaries(), [])
        for key in KEYS:
            self.put(key)
            self.assertEqual(self.find(key), "hit")


class ManyTest(StoreTest):
    def test_many_processes_on_the_same_keys(self):
        """Each puts, finds and prunes; the bound is such that half of the entries have to go each time."""
        size, rounds = 20000, testspace.count(150, 10000, deep_too=400)
        processes = [self.start("churn", SEED % 1000 + number, rounds, size, 8 * size) for number in range(8)]
        said = [process.communicate(timeout=testspace.TIME_LIMIT)[0].split() for process in processes]
        self.assertEqual([process.returncode for process in processes], [0] * len(processes), said)
        # On a busy machine most are removed before somebody asks for them.
        self.assertGreater(sum(int(words[1]) for words in said), rounds // 5, "hardly anything was ever found")
        self.assertEqual(self.temporaries(), [])
        self.assertNotIn("wrong", [self.find(key) for key in KEYS])

    def test_processes_that_begin_a_store_at_once_all_keep_what_they_put(self):
        for number in range(testspace.count(2, 100, deep_too=5)):
            self.store = self.root / f"store {number}"
            keys = [key_number(number) for number in range(8)]
            processes = [self.start("put", key, 1000) for key in keys]
            for process in processes:
                process.communicate(timeout=testspace.TIME_LIMIT)
            self.assertEqual([self.find(key) for key in keys], ["hit"] * len(keys))


class DiskTest(StoreTest):
    def test_a_read_only_store_still_gives_what_it_has(self):
        self.put(key_number(1))
        make_read_only(self, self.store)
        self.assertEqual(self.find(key_number(1)), "hit")
        self.put(key_number(2))
        self.assertEqual(self.find(key_number(2)), "miss")

    def test_a_damaged_entry_of_a_read_only_store_is_not_handed_out(self):
        self.put(key_number(1))
        os.truncate(self.file_of(key_number(1)), 100)
        make_read_only(self, self.store)
        self.assertEqual([self.find(key_number(1)) for _ in range(2)], ["miss", "miss"])

    def test_a_full_disk_costs_only_what_does_not_fit(self):
        mount_disk(self, self.root / "disk", "256k")
        self.store = self.root / "disk" / "store"
        keys = [key_number(number) for number in range(20)]
        for key in keys:
            self.put(key)
        found = [self.find(key) for key in keys]
        self.assertEqual(set(found), {"hit", "miss"}, "the disk was never full")
        self.assertEqual(self.temporaries(), [])
        mount("-o", "remount,size=1g", self.root / "disk")
        for key in keys:
            self.put(key)
            self.assertEqual(self.find(key), "hit")


if __name__ == "__main__":
    enter_namespace()
    testspace.main()
