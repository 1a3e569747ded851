#!/usr/bin/env python3
"""Signatures of a shared cache's entries: what counts where keys are trusted, what is believed where none are, and that nobody
signs what he has only passed on. Each test of a refusal says what turns it red."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import entries  # noqa: E402
import testspace  # noqa: E402
from bad_server import Server  # noqa: E402
from entries import Key, Output  # noqa: E402
from testspace import TestSpace  # noqa: E402

POISON = b"POISON"


class TrustTest(unittest.TestCase):
    def setUp(self):
        self.server = Server(self)
        self.keys = TestSpace("keys").root
        self.ours = Key(self.keys, "ours")

    def machine(self, name="second"):
        return TestSpace(name, steps=True, store=True)

    def build(self, space, *more, code=0):
        run = space.build("--remote", self.server.url, *map(str, more))
        self.assertEqual(run.code, code, run)
        return run

    def fill(self, key=None, *more):
        first = self.machine("first")
        self.build(first, "--remote-upload", "always", *(("--remote-sign", key.private) if key else ()), *more)
        first.toolkit.forget_starts()
        return first

    def counts(self, run):
        """(found, asked for, not trusted)"""
        found, asked = map(int, re.search(r"shared: (\d+) of (\d+) found there", run.out).groups())
        refused = re.search(r", (\d+) not trusted", run.out)
        return found, asked, int(refused.group(1)) if refused else 0

    def takes_all(self, first, *more):
        space = self.machine()
        run = self.build(space, *more)
        found, asked, refused = self.counts(run)
        self.assertEqual((found, refused, space.compiled()), (asked, 0, []), run)
        self.assertGreater(found, 0)
        self.is_same(first, space)
        return space

    def takes_none(self, first, *more):
        space = self.machine()
        run = self.build(space, *more)
        found, _, refused = self.counts(run)
        self.assertEqual(found, 0, run)
        self.assertGreater(refused, 0)
        self.assertEqual(run.err.count("warning[remote_untrusted]"), 1, run.err)
        self.is_same(first, space)
        return run

    def is_same(self, first, second):
        self.assertEqual(testspace.bundle_files(first.out), testspace.bundle_files(second.out))

    def entries(self):
        """(path, name, outputs) of each."""
        return [(path, path.rsplit("/", 1)[1], entries.read_entry(body))
                for path, body in sorted(self.server.files.items()) if "/ac/" in path]

    def put_files(self, files):
        for digest, packed in files.items():
            self.server.files[f"/cas/{digest}"] = packed

    def library_entry(self, first):
        """Of the result that is an op's library: its path and name; outputs of the same names, with other bytes."""
        bytes_there = (first.build_dir / "lib" / "alpha.so").read_bytes()
        (found,) = [(path, name, outputs) for path, name, outputs in self.entries() if not entries.is_records(outputs)
                    and entries.sha256(bytes_there) in [output.digest for output in outputs if not output.is_base()]]
        files = {}
        evil = [Output.of(output.name, bytes_there + POISON, files) if output.digest == entries.sha256(bytes_there) else output
                for output in found[2]]
        self.put_files(files)
        return found[0], found[1], evil

    def poison(self, first, key=None):
        """The library of an op gets other bytes under the right key, with consistent digests; signed by this key, if any."""
        path, name, evil = self.library_entry(first)
        evil[0].signature = key.sign(name, evil) if key else entries.read_entry(self.server.files[path])[0].signature
        self.server.files[path] = entries.write_entry(name, evil)

    def is_poisoned(self, space):
        return (space.out / "alpha.so").read_bytes().endswith(POISON)


class SignaturesTest(TrustTest):
    def test_what_a_trusted_key_signed_counts(self):
        first = self.fill(self.ours)
        self.takes_all(first, "--remote-trust", self.ours.public)
        self.takes_all(first)  # who trusts no key in particular believes all
        for _, name, outputs in self.entries():  # each part, and by what openssl makes of it
            signed = [output for output in outputs if output.signature]
            self.assertEqual(len(signed), len({output.name.split("/")[0] for output in outputs}) if entries.is_records(outputs) else 1)
            if not entries.is_records(outputs):
                self.assertEqual(outputs[0].signature, self.ours.sign(name, outputs))

    # Red where what is not signed counts.
    def test_what_nobody_signed_does_not_count(self):
        run = self.takes_none(self.fill(), "--remote-trust", self.ours.public)
        self.assertIn("it is not signed", run.err)

    # Red where any good signature counts.
    def test_what_another_key_signed_does_not_count(self):
        theirs = Key(self.keys, "theirs")
        run = self.takes_none(self.fill(theirs), "--remote-trust", self.ours.public)
        self.assertIn(f"it is signed by the key {theirs.id}, which is not trusted", run.err)

    # Red where the name is not signed: a server gives the entry of another scope, whose worker it has rewritten.
    def test_a_scope_is_signed(self):
        first = self.fill(self.ours, "--remote-scope", "pr-7")
        space = self.machine()
        self.build(space, "--remote-upload", "always")  # the names that entries have without a scope
        mine = {frozenset(output.digest for output in outputs): path for path, _, outputs in self.entries()
                if not outputs[0].signature}
        for path, _, outputs in self.entries():
            other = mine.get(frozenset(output.digest for output in outputs))
            if outputs[0].signature and other:
                self.server.files[other] = entries.write_entry(other.rsplit("/", 1)[1], outputs)
        for path, _, outputs in self.entries():
            if not outputs[0].signature:
                del self.server.files[path]
        run = self.takes_none(first, "--remote-trust", self.ours.public)
        self.assertIn("is of something else", run.err)

    def test_json(self):
        self.fill()
        run = self.build(self.machine(), "--json", "--remote-trust", self.ours.public)
        self.assertGreater(run.result()["remote"]["untrusted"], 0)
        self.assertEqual([warning["code"] for warning in run.result()["warnings"] if "remote" in warning["code"]],
                         ["remote_untrusted"])

    def test_the_private_key_is_shown_nowhere(self):
        first = self.fill(self.ours, "-v")
        secret = self.ours.private.read_text().splitlines()[1]
        for file in (file for folder in (first.build_dir, first.out, first.cache_folder()) for file in folder.rglob("*")):
            if file.is_file():
                self.assertNotIn(secret, file.read_text(errors="replace"), file)


class RotationTest(TrustTest):
    def test_two_keys_then_one(self):
        new = Key(self.keys, "new")
        first = self.fill(self.ours)
        both = self.keys / "both.pem"
        both.write_text(self.ours.public.read_text() + new.public.read_text())
        self.takes_all(first, "--remote-trust", both)
        self.takes_all(first, "--remote-trust", f"{self.ours.public},{new.public}")
        self.takes_none(first, "--remote-trust", new.public)
        # Who signs by the new key alone makes what the old one signed again, and takes its place.
        again = self.machine("uploader")
        self.build(again, "--remote-upload", "always", "--remote-sign", new.private)
        self.is_same(first, again)
        self.takes_all(first, "--remote-trust", new.public)

    # Red where the local cache does not ask who signed what it has.
    def test_a_key_that_is_revoked(self):
        new = Key(self.keys, "new")
        first = self.fill(self.ours)
        space = self.takes_all(first, "--remote-trust", f"{self.ours.public},{new.public}")
        space.remove_build()
        space.remove_out()
        run = self.build(space, "--remote-trust", new.public)
        self.assertEqual(self.counts(run)[0], 0)
        self.assertNotEqual(space.compiled(), [])
        self.is_same(first, space)


class LocalCacheTest(TrustTest):
    def entries_of(self, space, *more):
        return json.loads(space.run("cache", "stats", "--json", *map(str, more)).out)["entries"]

    # Red where nobody bounds or empties the caches of keys that nobody uses any more.
    def test_each_set_of_keys_has_a_cache_of_its_own(self):
        space = self.fill(self.ours)
        signed, trusted = ("--remote-sign", self.ours.private), ("--remote-trust", self.ours.public)
        count = self.entries_of(space, *signed)
        self.assertGreater(count, 0)
        self.assertEqual((self.entries_of(space, *trusted), self.entries_of(space)), (count, 0))
        self.build(space, "--ops", "host")  # the folder around it is a cache, too
        self.assertGreater(self.entries_of(space), 0)
        self.assertEqual(space.run("cache", "prune", "--cache-size", "1K").code, 0)
        self.assertLess(self.entries_of(space, *signed), count)
        self.assertEqual(space.run("cache", "clear").code, 0)
        self.assertEqual((self.entries_of(space, *signed), self.entries_of(space)), (0, 0))


class PoisonTest(TrustTest):
    def setUp(self):
        super().setUp()
        self.first = self.fill(self.ours)

    def test_without_keys_a_poisoned_entry_is_believed(self):
        """What docs/guides/shared_cache.md says of a cache without signatures."""
        self.poison(self.first)
        space = self.machine()
        self.build(space)
        self.assertTrue(self.is_poisoned(space))

    # Red where the signature is not checked, or not over the digests of files.
    def test_with_keys_it_is_refused(self):
        whole = dict(self.server.files)
        for key in (None, Key(self.keys, "attacker")):
            self.server.files = dict(whole)
            self.poison(self.first, key)
            space = self.machine()
            run = self.build(space, "--remote-trust", self.ours.public)
            self.assertIn("warning[remote_untrusted]", run.err)
            self.assertFalse(self.is_poisoned(space))
            self.is_same(self.first, space)

    # Red where who signs reads a local cache that others have filled: he would sign the poison.
    def test_nobody_signs_what_was_fetched_without_a_check(self):
        self.poison(self.first)
        uploader = self.machine("uploader")
        self.build(uploader)
        self.assertTrue(self.is_poisoned(uploader))
        uploader.remove_build()
        uploader.remove_out()
        self.build(uploader, "--remote-upload", "always", "--remote-sign", self.ours.private)
        self.assertFalse(self.is_poisoned(uploader))
        self.takes_all(self.first, "--remote-trust", self.ours.public)

    def add_evil_records(self, key):
        """To each list, in front: a record as its first, of a result that the attacker has put there, which is poison."""
        _, _, result = self.library_entry(self.first)
        digest = entries.sha256(b"a key of the attacker's")
        name = entries.name_of("result", digest)
        result[0].signature = key.sign(name, result) if key else ""
        self.server.files[f"/ac/{name}"] = entries.write_entry(name, result)
        slipped_in = set()
        for path, name, outputs in self.entries():
            if not entries.is_records(outputs):
                continue
            packed = outputs[0].contents or self.server.files[f"/cas/{outputs[0].packed_digest}"]
            text = entries.unpack(packed).decode(errors="surrogateescape")
            if "lib/alpha.so" not in text:
                continue
            lines = re.sub(r"^result [0-9a-f]{64}$", f"result {digest}", text.split("\n", 1)[1], flags=re.M)
            evil = f"{entries.sha256(lines.encode())}\n{lines}".encode()
            files = {}
            part = [Output.of(entries.sha256(evil), evil, files)]
            part += [Output(f"{part[0].name}/{output.name.split('/')[1]}", output.packed_digest, output.packed_size,
                            {"sha256": output.digest, "size": str(output.size)}, output.contents)
                     for output in outputs if output.name.startswith(f"{outputs[0].name}/")]
            part[0].signature = key.sign(name, part) if key else outputs[0].signature
            self.put_files(files)
            self.server.files[path] = entries.write_entry(name, part + outputs)
            slipped_in.add(part[0].name)
        self.assertGreater(len(slipped_in), 0)
        return slipped_in

    # Red where a list is signed as a whole by who adds to it, or counts as a whole where one of its records is signed.
    def test_a_record_that_was_slipped_in_is_signed_by_nobody(self):
        whole = dict(self.server.files)
        for key in (None, Key(self.keys, "attacker")):
            self.server.files = dict(whole)
            slipped_in = self.add_evil_records(key)
            victim = self.machine("victim")
            self.build(victim)
            self.assertTrue(self.is_poisoned(victim))  # who trusts no keys believes it
            before = {path: outputs for path, _, outputs in self.entries()}
            # Another state of the sources: an uploader adds a record of its own to the same list.
            uploader = self.machine("uploader")
            source = uploader.pack.source("alpha/alpha.cpp")
            source.write_text(source.read_text().replace("return 1;", f"return {2 if key else 3};"))
            self.build(uploader, "--remote-upload", "always", "--remote-sign", self.ours.private, "--remote-trust", self.ours.public)
            grown = 0
            for path, name, outputs in self.entries():
                known = {output.name for output in before.get(path, [])}
                grown += not known.isdisjoint(slipped_in) and any(output.name not in known for output in outputs)
                parts = {}
                for output in outputs:
                    parts.setdefault(output.name.split("/")[0] if entries.is_records(outputs) else "", []).append(output)
                for part in parts.values():
                    if part[0].name in slipped_in:
                        self.assertNotEqual(part[0].signature, self.ours.sign(name, part), path)
            self.assertGreater(grown, 0)
            self.takes_right(self.first)

    def takes_right(self, first):
        space = self.machine()
        self.build(space, "--remote-trust", self.ours.public)
        self.assertEqual(space.compiled(), [])
        self.is_same(first, space)


class KeysTest(TrustTest):
    def refused(self, *more, code, said=""):
        run = self.build(self.machine(), *more, code=2 if code != "no_libcrypto" else 3)
        self.assertIn(f"error[{code}]", run.err)
        self.assertIn(said, run.err)
        self.assertEqual(self.server.requests, [])

    def test_what_is_no_key(self):
        text = self.keys / "text"
        text.write_text("no key\n")
        self.refused("--remote-trust", text, code="bad_remote_key", said="holds no PUBLIC KEY")
        self.refused("--remote-trust", self.ours.private, code="bad_remote_key", said="has a PRIVATE KEY")
        self.refused("--remote-sign", self.ours.public, code="bad_remote_key", said="one PRIVATE KEY")
        self.refused("--remote-trust", f"{self.ours.public},{text}", code="bad_remote_key", said=str(text))

    def test_a_file_that_is_not_there(self):
        run = self.build(self.machine(), "--remote-trust", self.keys / "absent", code=1)
        self.assertIn(str(self.keys / "absent"), run.err)

    def test_no_libcrypto(self):
        shim = testspace.compile_shim("""
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <string.h>
            void *dlopen(const char *name, int flags) {
              if (name && strstr(name, "libcrypto")) return 0;
              return ((void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"))(name, flags);
            }""", self.keys / "shim.so")
        space = self.machine()
        run = space.build("--remote", self.server.url, "--remote-trust", str(self.ours.public), env={"LD_PRELOAD": shim})
        self.assertEqual(run.code, 3, run)
        self.assertIn("error[no_libcrypto]", run.err)


if __name__ == "__main__":
    testspace.main(each_commit=2)
