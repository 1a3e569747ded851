#!/usr/bin/env python3
"""dsbuild cache: what it shows of the store, what prune and clear remove, and what they never touch."""

import hashlib
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, Folder, TestSpace, testspace  # noqa: E402

MARKER = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by dsbuild: results of builds, to be used again.\n"
DOCUMENT = {"schema", "dsbuild", "folder", "warnings"}


def make_store(folder, entries, size=1000):
    """A store with so many entries, the first one used longest ago; their files, in that order."""
    folder.mkdir(parents=True)
    (folder / "CACHEDIR.TAG").write_text(MARKER)
    files = []
    for number in range(entries):
        key = hashlib.sha256(str(number).encode()).hexdigest()
        file = folder / "ac" / key[:2] / key[2:]
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_bytes(bytes(size))
        used = time.time() - 1000 * (entries - number)
        os.utime(file, (used, used))
        files.append(file)
    return files


def write_counts(store):
    text = "dsbuild-counts 1\nhits 40\nmisses 48\nsaved_milliseconds 61500\nlast_hits 40\nlast_misses 4\n"
    (store / "counts").write_text(hashlib.sha256(text.encode()).hexdigest() + "\n" + text)


class CacheTest(CliTest):
    def setUp(self):
        self.space = TestSpace(store=True)
        self.store = self.space.root / "cache" / "dsbuild" / "store"

    def cache(self, *words, code=0, **options):
        run = self.space.run("cache", *words, **options)
        self.assertEqual(run.code, code, run)
        return run

    def document(self, *words, **options):
        run = self.cache(*words, "--json", **options)
        self.assertEqual(run.err, "")
        return json.loads(run.out)


class StatsTest(CacheTest):
    def test_a_store_that_is_not_there_is_empty_and_stays_absent(self):
        stats = self.document("stats")
        self.assertEqual(set(stats), DOCUMENT | {"entries", "bytes", "bound_bytes", "last_build", "all_builds", "remote"})
        self.assertEqual((stats["entries"], stats["bytes"], stats["bound_bytes"]), (0, 0, 10 << 30))
        self.assertFalse(self.store.exists())

    def test_what_is_there_is_counted_without_what_is_not_ours(self):
        make_store(self.store, 3)
        (self.store / "ac" / "ab").mkdir(exist_ok=True)
        (self.store / "ac" / "ab" / "notes").write_text("mine")
        (self.store / "thesis").mkdir()
        (self.store / "thesis" / ("0" * 62)).write_text("mine")
        stats = self.document("stats")
        self.assertEqual((stats["folder"], stats["entries"], stats["bytes"]), (str(self.store), 3, 3000))

    def test_hits_and_misses_are_summed_over_builds(self):
        make_store(self.store, 1)
        write_counts(self.store)
        stats = self.document("stats")
        self.assertEqual(stats["last_build"], {"hits": 40, "misses": 4, "saved_milliseconds": 0})
        self.assertEqual(stats["all_builds"], {"hits": 40, "misses": 48, "saved_milliseconds": 61500, "builds": 0, "failed_builds": 0,
                                               "build_milliseconds": 0})

    def test_the_text_for_people(self):
        make_store(self.store, 2, 2048)
        write_counts(self.store)
        self.check_alone("cache_stats", self.space, "cache", "stats", code=0)

    def test_stats_is_what_cache_alone_shows(self):
        self.assertEqual(self.cache().out, self.cache("stats").out)

    def test_the_option_beats_the_variable(self):
        make_store(self.space.root / "one", 1)
        make_store(self.space.root / "two", 2)
        variable = {"DSBUILD_CACHE_DIR": str(self.space.root / "one")}
        self.assertEqual(self.document("stats", env=variable)["entries"], 1)
        self.assertEqual(self.document("stats", "--cache-dir", str(self.space.root / "two"), env=variable)["entries"], 2)

    def test_a_size_of_nothing_says_that_nothing_is_kept(self):
        self.assertIn("nothing is kept", self.cache("stats", "--cache-size", "0").out)


class RemoveTest(CacheTest):
    def test_prune_removes_what_was_not_used_for_longest(self):
        files = make_store(self.store, 20)
        removed = self.document("prune", env={"DSBUILD_CACHE_SIZE": "10K"})
        self.assertEqual(set(removed), DOCUMENT | {"removed"})
        left = [file for file in files if file.exists()]
        self.assertEqual(left, files[-9:], "not the newest that fit into nine tenths of 10 KiB")
        self.assertEqual(removed["removed"], {"entries": 11, "bytes": 11000})

    def test_prune_leaves_a_store_within_its_bound_alone(self):
        files = make_store(self.store, 5)
        times = [file.stat().st_mtime_ns for file in files]
        self.assertIn("removed 0 entries", self.cache("prune").out)
        self.assertEqual([file.stat().st_mtime_ns for file in files], times)

    def test_clear_removes_all_entries_and_nothing_else(self):
        files = make_store(self.store, 5)
        notes = files[0].parent / "notes"
        notes.write_text("mine")
        self.check_alone("cache_clear", self.space, "cache", "clear", code=0)
        self.assertEqual(self.document("stats")["entries"], 0)
        self.assertEqual([file for file in files if file.exists()], [])
        self.assertTrue(notes.exists())

    def test_a_link_is_no_entry(self):
        thesis = self.space.root / "thesis"
        thesis.mkdir()
        (thesis / ("0" * 62)).write_text("years")
        make_store(self.store, 1)
        for place in (self.store / "ac", self.store):
            os.symlink(thesis, place / "00")
        self.cache("clear")
        self.assertTrue((thesis / ("0" * 62)).exists())

    def test_clean_leaves_the_store_alone(self):
        make_store(self.store, 2)
        self.assertEqual(self.run_in(self.space, "--ops", "host").code, 0)
        before = Folder(self.store)
        self.assertEqual(self.run_in(self.space, "clean", "--bundle").code, 0)
        self.assertTrue(before.is_untouched())


class RefusalTest(CacheTest):
    def foreign(self):
        """As a git repository with SHA-256 lies on the disk."""
        folder = self.space.root / "objects"
        (folder / "ab").mkdir(parents=True)
        (folder / "ab" / ("0" * 62)).write_text("a blob")
        return folder

    def test_a_folder_with_other_files_is_no_store(self):
        folder = self.foreign()
        before = Folder(folder)
        self.check_alone("foreign_cache_dir", self.space, "cache", "clear", "--cache-dir", folder, code=2)
        for word in ("stats", "prune"):
            self.assertIn("foreign_cache_dir", self.cache(word, "--cache-dir", str(folder), code=2).err)
        self.assertTrue(before.is_untouched())

    def test_a_build_does_not_begin_with_such_a_store(self):
        folder = self.foreign()
        before = Folder(folder)
        run = self.run_in(self.space, "--cache-dir", folder)
        self.assertEqual(run.code, 2, run)
        self.assertIn("foreign_cache_dir", run.err)
        self.assertEqual((before.is_untouched(), self.space.out.exists()), (True, False))

    def test_a_store_that_is_not_used_may_be_anything(self):
        run = self.run_in(self.space, "--cache-dir", self.foreign(), "--cache-size", "0", "--ops", "host")
        self.assertEqual(run.code, 0, run)

    def test_an_unknown_word_names_the_nearest(self):
        self.check_alone("cache_word", self.space, "cache", "clean", code=2)

    def test_a_size_that_is_none(self):
        self.check_alone("cache_size", self.space, "cache", "prune", "--cache-size", "lots", code=2)


if __name__ == "__main__":
    testspace.main()
