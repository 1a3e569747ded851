#!/usr/bin/env python3
"""How the page looks, in windows of 1280 and 390 pixels, light and dark: nothing is wider than the window, no word is broken, no
label lies on another one, on a line or beyond an edge. DSBUILD_TEST_PICTURES names a folder for the pictures."""

import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import testspace  # noqa: E402
from packs import Pack, binding, kernel  # noqa: E402
from page_looks import BAD_LABELS, BROKEN_WORDS, LABELS_ON_COLOURS, TREEMAP_COLOURS, first_pixel  # noqa: E402
from page_test import InBrowserTest, contrast, many_edges  # noqa: E402


def small_pack(folder):
    pack = Pack(folder, "small")
    for name in ("evoformer_attn", "quantizer"):
        pack.add_op(name, {f"{name}/{name}_forward.cu": kernel(f"{name}_forward"), f"{name}/{name}_binding.cpp": binding("run")},
                    {"exports": ["run"]})
    return pack


def numbers(colour):
    """Red, green, blue of rgb(…)."""
    return tuple(map(int, re.findall(r"\d+", colour)))[:3]


class LooksTest(InBrowserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.small = cls.built_space("--arch", "8.0;9.0", pack=small_pack, version="12.8")
        cls.pictures = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.pictures.cleanup()
        super().tearDownClass()

    def look(self, name, file):
        folder = pathlib.Path(os.environ.get("DSBUILD_TEST_PICTURES") or self.pictures.name)
        for width in (1280, 390):
            for dark in (False, True):
                with self.subTest(page=name, width=width, dark=dark):
                    self.open(file, width=width, dark=dark)  # nothing is wider than the window
                    self.assertEqual(self.browser.value(BROKEN_WORDS), [])
                    self.assertEqual(self.browser.value(BAD_LABELS), [])
                    for label, ink, below in self.browser.value(LABELS_ON_COLOURS):
                        self.assertGreaterEqual(contrast(numbers(ink), numbers(below)), 4.5, label)
                    picture = folder / f"{name}-{width}-{'dark' if dark else 'light'}.png"
                    self.browser.screenshot(picture)
                    paper = self.browser.value("getComputedStyle(document.body).backgroundColor")
                    self.assertEqual(first_pixel(picture), (numbers(paper), width))

    def test_a_build(self):
        self.look("build", self.page(self.space)[0])

    def test_a_small_bundle(self):
        self.look("small", self.page(self.small, self.small.out)[0])

    def test_many_edges(self):
        with self.timings(json.dumps(many_edges(5000))):
            file, _ = self.page(self.space)
        self.look("many", file)

    def test_each_colour_of_the_treemap_is_in_its_legend(self):
        for space in (self.space, self.small):
            self.open(self.page(space, space.out)[0], width=390)
            drawn, explained = self.browser.value(TREEMAP_COLOURS)
            self.assertTrue(drawn)
            self.assertEqual(drawn, explained)

    def test_the_gpus_that_something_runs_on_stand_first_with_their_names(self):
        file, text = self.page(self.small, self.small.out)
        self.open(file)
        heads = self.browser.value("[...document.querySelectorAll('#gpus thead th')].slice(1).map(each => [...each.childNodes].map(node => node.textContent))")
        self.assertIn(["9.0", "H100"], heads)
        row = self.browser.value("[...document.querySelectorAll('#gpus tbody tr')].map(row => [...row.querySelectorAll('button')].map(each => each.dataset.kind))")[0]
        self.assertEqual(row, sorted(row, key=["native", "ptx", "none"].index))
        self.assertEqual((row[0], row[-1]), ("native", "none"))
        self.assertEqual(sorted(head[0] for head in heads), sorted(json.loads(text)["gpus"]))
        said = self.browser.value("document.querySelector('#gpus button').getAttribute('aria-label')")
        self.assertRegex(said, r"^evoformer_attn on a GPU of 8\.0, as A100, A800, A30: runs natively \(sm_80\)$")


if __name__ == "__main__":
    testspace.main()
