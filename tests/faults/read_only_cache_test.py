#!/usr/bin/env python3
"""A cache folder that cannot be written, as in an image or for another user: said before the first compile, and the build
is what it would be, slices too, whose self-test is then kept in the build folder."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import mounts  # noqa: E402
import testspace  # noqa: E402
from testspace import TestSpace  # noqa: E402

import unittest  # noqa: E402


class ReadOnlyCacheTest(unittest.TestCase):
    def setUp(self):
        self.space = TestSpace(steps=True, store=True, knows_tools=False)
        self.space.arch = "8.0;9.0"

    def build(self, *words, **options):
        run = self.space.build("--ops", "alpha", "--backend", "slices", *words, **options)
        self.assertEqual(run.code, 0, run)
        return run

    def is_told(self, run, folder, before="compile alpha"):
        told = run.err.index(f"warning[cache_not_writable]: {folder}: dsbuild cannot write there (")
        self.assertEqual(run.err.count("warning[cache_not_writable]"), 1, run)
        if before:
            self.assertLess(told, run.err.index(before), run)

    def has_tested(self):
        """Whether nvcc was started for it since the last call."""
        sources = {start["source"] for start in self.space.toolkit.starts()}
        self.space.toolkit.forget_starts()
        self.assertIn("pack/alpha/alpha.cu", sources)
        return "pack/probe.cu" in sources

    def test_slices_are_made_and_tested_once(self):
        expected = TestSpace(steps=True, store=True)
        expected.arch = self.space.arch
        self.assertEqual(expected.build("--ops", "alpha").code, 0)
        cache = pathlib.Path(self.space.environment["XDG_CACHE_HOME"])
        cache.mkdir()
        mounts.make_read_only(self, cache)
        self.is_told(self.build(), cache / "dsbuild")
        self.assertTrue(self.has_tested())
        self.assertEqual(list(cache.iterdir()), [])
        self.assertEqual((self.space.out / "alpha.so").read_bytes(), (expected.out / "alpha.so").read_bytes())
        self.space.pack.source("alpha/shared.h").write_text("// changed\n")
        run = self.build()
        self.is_told(run, cache / "dsbuild")
        self.assertFalse(self.has_tested())
        self.assertGreater(run.edges_run(), 0)

    def test_a_file_in_its_place(self):
        (self.space.root / "cache").write_text("")
        self.is_told(self.build(), self.space.cache_folder())

    def test_without_a_home(self):
        for name in ("XDG_CACHE_HOME", "HOME"):
            del self.space.environment[name]
        self.is_told(self.build(), "/dev/null/dsbuild")

    def test_a_store_elsewhere(self):
        store = self.space.root / "store"
        store.mkdir()
        mounts.make_read_only(self, store)
        self.is_told(self.build("--cache-dir", str(store)), store)

    def test_one_that_can_be_written_is_not_worth_a_word_and_nothing_is_left_in_it(self):
        self.assertNotIn("cache_not_writable", self.build().err)
        self.assertEqual([file.name for file in self.space.cache_folder().rglob(".writable*")], [])

    def test_json_has_it(self):
        (self.space.root / "cache").write_text("")
        codes = [warning["code"] for warning in self.build("--json").result()["warnings"]]
        self.assertEqual(codes, ["cache_not_writable"])


if __name__ == "__main__":
    mounts.enter_namespace()
    testspace.main(each_commit=4)
