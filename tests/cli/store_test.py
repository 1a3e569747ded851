#!/usr/bin/env python3
"""Slices with the content store and a real nvcc: another checkout, a clean and a switched branch take what was
made before, and nothing that is not theirs."""

import hashlib
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import testspace  # noqa: E402
from sliced import SIZES, SlicesTest, make_space  # noqa: E402


@testspace.deep_but("test_another_checkout_takes_everything", "test_the_build_says_what_is_another_than_in_the_store")
class StoreTest(SlicesTest):
    def setUp(self):
        super().setUp()
        self.first = self.space
        self.use(self.first)

    def use(self, space):
        """All spaces of a test share the store of the first."""
        self.space = space
        space.environment["DSBUILD_CACHE_SIZE"] = "1G"
        space.environment["DSBUILD_CACHE_DIR"] = str(self.first.root / "store")

    def other_checkout(self):
        self.use(make_space("elsewhere"))

    def uses(self):
        """(found, missed) of the last build."""
        run = self.space.run("cache", "stats", "--json")
        last = json.loads(run.out)["last_build"]
        return last["hits"], last["misses"]

    def library(self, op):
        return hashlib.sha256((self.space.out / f"{op}.so").read_bytes()).hexdigest()

    def digest(self, source):
        return hashlib.sha256(self.images(source)).hexdigest()

    def check_same_as_nvcc(self, source="plain.cu"):
        sliced = self.digest(source)
        self.space.remove_build()
        self.built("--backend", "nvcc")
        self.assertEqual(sliced, self.digest(source))

    def test_another_checkout_takes_everything(self):
        self.built(ops="scaling,inner,listing")
        found, missed = self.uses()
        self.assertEqual(found, 0)
        libraries = [self.library(op) for op in ("scaling", "inner", "listing")]
        self.other_checkout()
        run = self.built(ops="scaling,inner,listing")
        self.assertIn(f" edges run, {missed} found in the cache;", run.out)
        self.assertEqual(self.uses(), (missed, 0))
        self.assertEqual(libraries, [self.library(op) for op in ("scaling", "inner", "listing")])

    def test_a_clean_build_takes_everything(self):
        self.built()
        missed = self.uses()[1]
        self.space.remove_build()
        self.built()
        self.assertEqual(self.uses(), (missed, 0))

    def test_other_archs_take_the_slices_that_they_share(self):
        self.built()
        self.space.remove_build()
        self.space.arch = "8.0;9.0+PTX;10.0"
        self.built()
        found, missed = self.uses()
        self.assertEqual((found, missed), (4, 1))
        self.check_same_as_nvcc()

    def test_a_header_that_was_edited_is_not_stale_and_its_old_state_is_found_again(self):
        self.built()
        before = self.library("scaling")
        header = self.space.pack.source("sizes.h")
        header.write_text(SIZES.replace("2", "3"))
        self.built()
        self.assertGreater(self.uses()[1], 0)
        self.assertNotEqual(before, self.library("scaling"))
        header.write_text(SIZES)
        self.built()
        self.assertEqual(self.uses()[1], 0)
        self.assertEqual(before, self.library("scaling"))
        header.write_text(SIZES.replace("2", "3"))
        self.built()
        self.check_same_as_nvcc()

    def test_a_header_that_another_checkout_has_beside_the_source_is_seen(self):
        self.built(ops="inner")
        missed = self.uses()[1]
        self.other_checkout()
        self.space.pack.source("sub/more.h").parent.mkdir()
        self.space.pack.source("sub/more.h").write_text("int more;\n")
        self.built(ops="inner")
        self.assertEqual(self.uses(), (missed, 0))  # it is preprocessed, and that gives the same
        source = self.space.pack.source("inner.cu")
        source.write_text('#if __has_include("sub/more.h")\n#define BY 2\n#else\n#define BY 1\n#endif\n' +
                          source.read_text().replace("+ counter", "+ counter * BY"))
        self.built(ops="inner")
        images = self.digest("inner.cu")
        self.space.pack.source("sub/more.h").unlink()
        self.built(ops="inner")
        self.assertNotEqual(images, self.digest("inner.cu"))

    def test_the_build_says_what_is_another_than_in_the_store(self):
        header = self.space.pack.source("sizes.h")
        self.assertNotIn("different from the cache", self.built().out)
        header.write_text(SIZES.replace("2", "3"))
        self.assertNotIn("different from the cache", self.built().out)  # what --explain says
        self.other_checkout()
        self.space.pack.source("sizes.h").write_text(SIZES.replace("2", "4"))
        run = self.built()
        edges = re.search(r"^different from the cache: sizes\.h has changed \((\d+) edges\)$", run.out, re.M)
        self.assertIsNotNone(edges, run.out)
        self.space.remove_build()
        self.space.pack.source("sizes.h").write_text(SIZES.replace("2", "5"))
        last = json.loads(self.built("--json").out.splitlines()[-1])
        self.assertEqual(last["store"]["differences"], {"sizes.h has changed": int(edges.group(1))})

    def test_host_code_edited_behind_a_store_hit_runs_no_ptxas(self):
        runs = self.count_ptxas()
        self.built()
        self.space.remove_build()
        self.built()
        before = runs()
        self.assertGreater(before, 0)
        self.assertIn("host", self.made_by(self.edit("<<<1, 32>>>", "<<<1, 64>>>")))
        self.assertEqual(runs(), before)
        self.made_by(self.edit("k_by + 7", "k_by + 8"))
        self.assertEqual(runs(), before + 1)

    def test_a_touch_runs_no_preprocessor_and_a_comment_nothing_behind_it(self):
        runs = self.count_preprocessors()
        self.built()
        before = runs()
        file, header = self.space.pack.source("plain.cu"), self.space.pack.source("sizes.h")
        for change in (file.touch, header.touch):
            self.assertEqual(self.made_by(change), set())
        self.assertEqual(runs(), before)
        for change in (self.edit("// newest", "/* the\tnewest */"), lambda: header.write_text(SIZES.replace("\n", "  // as ever\n")),
                       lambda: file.write_text("// of its first line" + file.read_text() + "\n\n// the end\n"),
                       lambda: header.write_text("\n" + SIZES)):
            self.assertEqual(self.made_by(change), set())
            before += 3
            self.assertEqual(runs(), before)
        self.assertEqual(self.built().edges_run(), 0)

    def test_another_checkout_takes_what_an_edit_of_host_code_made(self):
        self.built()
        self.edit("<<<1, 32>>>", "<<<1, 64>>>")()
        self.built()
        library = self.library("scaling")
        self.other_checkout()
        self.edit("<<<1, 32>>>", "<<<1, 64>>>")()
        self.built()
        self.assertEqual(self.uses()[1], 0)
        self.assertEqual(self.library("scaling"), library)

    def test_images_are_taken_by_their_ptx(self):
        runs, toolkit = self.count_ptxas(), self.space.toolkit.home
        self.built()
        before = runs()
        self.assertGreater(before, 0)
        self.other_checkout()
        self.space.toolkit.home = toolkit
        self.edit("<<<1, 32>>>", "<<<1, 64>>>")()
        self.built()
        self.assertEqual(runs(), before)
        self.check_same_as_nvcc()

    def test_nothing_is_kept_with_a_size_of_nothing(self):
        self.space.environment["DSBUILD_CACHE_SIZE"] = "0"
        self.built()
        self.assertFalse((self.first.root / "store").exists())


if __name__ == "__main__":
    testspace.main()
