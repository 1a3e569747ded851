#!/usr/bin/env python3
"""dsbuild page: one file without any other, whose numbers are those of --json; in a headless browser it says no error and
asks for nothing, at 1280 and 390 pixels, light and dark; the questions of docs/guides/page.md answered from it are what the raw
data says: Ninja's log, timings.json, and the cubins as cuobjdump unpacks them."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from browser import Browser, find_browser  # noqa: E402
from cuobjdump import find_cuobjdump  # noqa: E402
from packs import Pack, binding, kernel, make_pack  # noqa: E402

HOSTILE = "<img src=x onerror=document.title=1>"


def hostile_pack(folder):
    """Names that would end a script, and begin an image, if they were markup."""
    pack = Pack(folder, "hostile")
    pack.add_op("op", {f"{HOSTILE}</script>.cpp": binding("run"), "<!--.cpp": binding("more"), "a.cu": kernel("a")},
                {"exports": ["run"]})
    return pack


def chain_length(edges):
    """Of the longest chain by work, from nothing but the raw edges."""
    lengths = []
    for edge in edges:
        worked = edge["end_ms"] - edge["begin_ms"] - sum(turn["admitted_ms"] - turn["asked_ms"] for turn in edge["turns"])
        lengths.append(worked + max((lengths[need] for need in edge["needs"]), default=0))
    return max(lengths)


def many_edges(number):
    """The timings of a build of so many edges: files of eight archs, with all their parts."""
    edges = []
    for place in range(number):
        file, part = divmod(place, 10)
        name = ("front", *(f"compute_{arch}" for arch in (70, 75, 80, 86, 89, 90, 100, 120)), "fatbin")[part]
        begin = place * 997 % 600_000
        edges.append({"title": f"compile op{file % 40}: family/kernels_{file}.cu [{name}]", "op": f"op{file % 40}",
                      "kind": "cuda_slice", "source": f"family/kernels_{file}.cu", "part": name, "archs": [],
                      "output": f"obj/op{file % 40}/kernels_{file}.cu/kernels_{file}.{name}", "ready_ms": 0, "begin_ms": begin,
                      "end_ms": begin + 1000 + place * 7919 % 60_000, "waited_ms": 0, "turns": [], "threads": 1,
                      "peak_bytes": 300_000_000 + place * 104_729, "result": "made" if place % 3 else "cache",
                      "needs": list(range(max(place - 8, 0), place)) if name == "fatbin" else []})
    return {"schema": 1, "dsbuild": "0", "began": "2026-11-25T10:47:02Z", "total_ms": 700_000, "cores": 64, "jobs": 64,
            "graphs": [{"begin_ms": 0, "end_ms": 661_000}], "memory_bound_bytes": 1 << 38, "planned_edges": number,
            "succeeded": True, "edges": edges}


class PageTest(CliTest):
    @classmethod
    def setUpClass(cls):
        """A build in which an arch is shared, one extra, one dropped."""
        cls.space = cls.built_space("--arch", "7.0;8.0;9.0+PTX", version="12.8")

    @staticmethod
    def built_space(*more, pack=make_pack, **options):
        space = TestSpace(pack=pack, steps=True, **options)
        run = space.build(*more)
        assert run.code == 0, run
        return space

    @contextlib.contextmanager
    def timings(self, text):
        """What the build says of its times is something else meanwhile."""
        file = self.space.build_dir / "timings.json"
        own = file.read_text()
        file.write_text(text)
        try:
            yield
        finally:
            file.write_text(own)

    def page(self, space, folder=None):
        """The file and what --json prints."""
        folder = str(folder or space.build_dir)
        file = space.root / "page.html"
        run = space.run("page", folder, "-o", str(file))
        self.assertEqual(run.code, 0, run)
        run = space.run("page", folder, "--json")
        self.assertEqual((run.code, run.err), (0, ""))
        return file, run.out


class FileTest(PageTest):
    def test_it_holds_what_json_prints_and_names_nothing_outside(self):
        for folder in (self.space.build_dir, self.space.out):
            file, text = self.page(self.space, folder)
            page = file.read_text()
            self.assertEqual(page.count(text), 1)
            self.assertNotIn("<", text, "markup could begin in it")
            addresses = set(re.findall(r"\b\w+://[^\s'\"<]*", page.replace(text, "")))
            self.assertEqual(addresses, {"http://www.w3.org/2000/svg"}, "the name of SVG's elements, which is not fetched")
            self.assertNotRegex(page, r"<(?:script|link|img|iframe)[^>]* (?:src|href)=")
            self.assertRegex(page, r'Content-Security-Policy" content="default-src \'none\'')

    def test_of_a_build_it_says_why_of_a_bundle_what(self):
        build, bundle = (json.loads(self.page(self.space, folder)[1]) for folder in (self.space.build_dir, self.space.out))
        gamma = next(op for op in build["ops"] if op["name"] == "gamma")
        self.assertEqual([(drop["arch"], drop["by"]) for drop in gamma["dropped"]], [("7.0", "op")])
        self.assertIn("8.0", gamma["dropped"][0]["reason"])
        self.assertIsNone(bundle["timings"])
        self.assertEqual(build["kind"], "build")
        for op in bundle["ops"]:
            self.assertEqual(op["library"]["bytes"], os.path.getsize(self.space.out / f"{op['name']}.so"))
        alpha = next(op for op in bundle["ops"] if op["name"] == "alpha")
        self.assertEqual((alpha["archs"], alpha["extra"]), (["7.0", "8.0", "9.0", "9.0-virtual"], ["7.0"]))
        gpus = {gpu: coverage["runs"] for gpu, coverage in zip(bundle["gpus"], alpha["gpus"])}
        self.assertEqual((gpus["6.1"], gpus["7.5"], gpus["8.9"], gpus["10.0"]), ("none", "native", "native", "ptx"))

    def test_five_thousand_edges_are_less_than_a_megabyte(self):
        with self.timings(json.dumps(many_edges(5000))):
            file, text = self.page(self.space)
        self.assertEqual(len(json.loads(text)["timings"]["edges"]["rows"]), 5000)
        self.assertLess(file.stat().st_size, 1_000_000)

    def test_mistakes(self):
        self.check_alone("page_absent", self.space, "page", "nothing", code=2)
        self.check_alone("page_folder", self.space, "page", "build", "-o", "pack", code=2)
        with self.timings("{"):
            self.check_alone("page_damaged_build", self.space, "page", "build", code=1)


class InBrowserTest(PageTest):
    @classmethod
    def setUpClass(cls):
        find_browser()
        super().setUpClass()
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def open(self, file, **options):
        """Opens it; it is quiet and alone."""
        self.browser.open(file, **options)
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [f"file://{file}"])
        self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth - innerWidth"), 0)

    def values(self, selector):
        """data-value of each cell of numbers, row by row."""
        return self.browser.value(f"[...document.querySelectorAll('{selector} tbody tr')].map(row => "
                                  "[...row.querySelectorAll('[data-value]')].map(cell => Number(cell.dataset.value)))")

    def texts(self, selector):
        return self.browser.value(f"[...document.querySelectorAll('{selector}')].map(each => each.textContent)")

    def answer(self, name):
        return self.browser.value(f"Object.assign({{}}, document.getElementById('answer-{name}').dataset)")


class NumbersTest(InBrowserTest):
    def test_they_are_those_of_json(self):
        file, text = self.page(self.space)
        data = json.loads(text)
        for width in (1280, 390):
            for dark in (False, True):
                self.open(file, width=width, dark=dark)
        timings = data["timings"]
        columns = {name: place for place, name in enumerate(timings["edges"]["columns"])}
        rows = timings["edges"]["rows"]
        worked = [row[columns["end"]] - row[columns["begin"]] - sum(to - begin for begin, to in row[columns["waits"]])
                  for row in rows]
        shown = self.values("#slowest")
        self.assertEqual([row[0] for row in shown], [worked[place] for place in timings["analysis"]["slowest"]][:25])
        self.assertEqual([row[1] for row in shown],
                         [rows[place][columns["peak_bytes"]] for place in timings["analysis"]["slowest"]][:25])
        chain = self.browser.value("[...document.querySelectorAll('#chain li')].map(each => Number(each.dataset.value))")
        self.assertEqual(chain, [worked[place] for place in timings["analysis"]["chain"]])
        self.assertEqual(sum(chain), timings["analysis"]["chain_ms"])
        self.assertEqual([row[0] for row in self.values("#core-table")],
                         [timings["analysis"]["cores"][f"{name}_ms"] for name in ("busy", "memory", "jobs", "dependency", "finished")])
        sizes = []
        for op in data["ops"]:
            sizes += [op["library"]["bytes"], *(image["bytes"] for image in op["library"]["images"]), op["library"]["host_bytes"]]
        self.assertEqual([row[0] for row in self.values("#size-table")], sizes)
        self.assertEqual(int(self.answer("bytes")["value"]), data["bytes"])
        self.assertEqual(int(self.answer("total")["value"]), timings["total_ms"])
        self.assertEqual({name: int(count) for name, count in self.answer("results").items()}, timings["analysis"]["results"])
        self.assertEqual(len(self.texts("#timeline g[role=img]")), len(rows))
        self.assertEqual(self.texts("#facts td:nth-child(1)"), [name for name, _ in data["facts"]])
        self.assertEqual(self.texts("#facts td:nth-child(2)"), [value for _, value in data["facts"]])
        kinds = self.browser.value("[...document.querySelectorAll('#matrix button')].map(each => each.dataset.kind)")
        expected = []
        for op in data["ops"]:
            for arch in (arch["text"] for arch in data["archs"]):
                if any(drop["arch"] == arch for drop in op["dropped"]):
                    expected.append("dropped")
                elif arch in op["archs"]:
                    expected.append("extra" if arch in op["extra"] else "shared")
        self.assertEqual(kinds, expected)
        self.assertEqual({"dropped", "extra", "shared"}, set(kinds))
        gpus = self.browser.value("[...document.querySelectorAll('#gpus tbody tr')].map(row => "
                                  "[...row.querySelectorAll('button')].map(each => each.dataset.kind).sort())")
        self.assertEqual(gpus, [sorted(coverage["runs"] for coverage in op["gpus"] if coverage) for op in data["ops"]])

    def test_why_an_arch_was_dropped_shows_on_hover_tap_and_focus(self):
        self.open(self.page(self.space)[0], width=390)
        for event in ("pointerenter", "click", "focus"):
            self.browser.value(f"document.querySelector('#matrix .dropped').dispatchEvent(new Event('{event}')), 0")
            said = self.browser.value("document.getElementById('tip').textContent")
            self.assertRegex(said, r"^gamma has no sm_70: dropped by op: .*8\.0")
            self.browser.press("Escape")
            self.browser.value("document.querySelector('#matrix .dropped').dispatchEvent(new Event('pointerleave')), 0")
            self.assertTrue(self.browser.value("document.getElementById('tip').hidden"))

    def test_the_keyboard_goes_through_the_timeline(self):
        self.open(self.page(self.space)[0])
        self.browser.value("document.querySelector('#timeline [tabindex=\"0\"]').focus(), 0")
        first = self.browser.value("document.activeElement.getAttribute('aria-label')")
        self.browser.press("ArrowDown")
        second = self.browser.value("document.activeElement.getAttribute('aria-label')")
        self.assertNotEqual(first, second)
        self.assertEqual(self.browser.value("document.getElementById('tip').textContent"), second)
        self.assertEqual(self.browser.value("document.querySelectorAll('#timeline [tabindex=\"0\"]').length"), 1)
        unnamed = self.browser.value("[...document.querySelectorAll('svg, button, [role=img], [role=region], input')].filter(each => "
                                     "!each.getAttribute('aria-label') && !each.getAttribute('aria-labelledby') && !each.textContent"
                                     " && !(each.labels && each.labels.length)).length")
        self.assertEqual(unnamed, 0)

    def test_dark_and_light_have_other_colours_and_enough_contrast(self):
        file, _ = self.page(self.space)
        papers = []
        for dark in (False, True):
            self.open(file, dark=dark)
            paper, ink, dim = (tuple(map(int, re.findall(r"\d+", self.browser.value(
                f"getComputedStyle(document.querySelector('{selector}')).{name}"))[:3]))
                for selector, name in (("body", "backgroundColor"), ("body", "color"), (".legend", "color")))
            papers.append(paper)
            for text in (ink, dim):
                self.assertGreaterEqual(contrast(text, paper), 4.5)
        self.assertNotEqual(*papers)

    def test_names_are_text_and_never_markup(self):
        space = self.built_space(pack=hostile_pack)
        file, text = self.page(space)
        self.assertIn("onerror", text)
        self.open(file)
        self.assertNotEqual(self.browser.value("document.title"), "1")
        self.assertEqual(self.browser.value("document.images.length"), 0)
        self.assertTrue(any("</script>" in name for name in self.texts("#slowest td")))

    def test_five_thousand_edges_are_drawn(self):
        with self.timings(json.dumps(many_edges(5000))):
            file, _ = self.page(self.space)
        self.open(file, width=390)
        bars = len(self.texts("#timeline g[role=img]"))
        self.assertTrue(20 <= bars <= 100, bars)
        self.browser.value("(() => { const filter = document.getElementById('filter'); filter.value = 'kernels_77.cu';"
                           " document.getElementById('least').value = 0; filter.dispatchEvent(new Event('input')); return 0; })()")
        self.assertEqual(len(self.texts("#timeline g[role=img]")), 10)


def contrast(one, other):
    """Of WCAG 2.2, "contrast ratio"."""
    def luminance(colour):
        parts = [channel / 255 / 12.92 if channel / 255 <= 0.04045 else ((channel / 255 + 0.055) / 1.055) ** 2.4 for channel in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class QuestionsTest(InBrowserTest):
    """The table of docs/guides/page.md: each answer from the page as it is drawn, and from the raw data."""

    @classmethod
    def setUpClass(cls):
        find_browser()
        find_cuobjdump()
        cls.browser = Browser()
        cls.space = testspace.RealSpace()
        cls.space.arch = "8.0;9.0"
        run = cls.space.build("--ops", "fused_adam,quantizer")
        assert run.code == 0, run
        cls.file = cls.space.root / "page.html"
        run = cls.space.run("page", str(cls.space.build_dir), "-o", str(cls.file))
        assert run.code == 0, run
        cls.raw = json.loads((cls.space.build_dir / "timings.json").read_text())

    def setUp(self):
        self.open(self.file)

    def ninja_log(self):
        """output -> milliseconds, as Ninja itself noted it."""
        lines = (self.space.build_dir / ".ninja_log").read_text().splitlines()[1:]
        return {output: int(end) - int(begin) for begin, end, _, output, _ in (line.split("\t") for line in lines)}

    def test_the_slowest_file_and_arch(self):
        answer, noted = self.answer("slowest"), self.ninja_log()
        compiles = [edge for edge in self.raw["edges"] if edge["source"]]
        for edge in compiles:
            self.assertAlmostEqual(edge["end_ms"] - edge["begin_ms"], noted[edge["output"]], delta=250)
        times = {(edge["source"], edge["part"] or "CPU"): noted[edge["output"]] - edge["waited_ms"] for edge in compiles}
        chosen = (answer["source"], answer["part"])
        self.assertAlmostEqual(int(answer["value"]), times[chosen], delta=250)
        self.assertGreaterEqual(times[chosen], max(times.values()) - 250)

    def test_what_bounds_the_wall_time(self):
        answer = self.answer("bound")
        edges = self.raw["edges"]
        chain = chain_length(edges)
        self.assertEqual(int(answer["chain"]), chain)
        work = sum(edge["threads"] * (edge["end_ms"] - edge["begin_ms"] - edge["waited_ms"]) for edge in edges)
        at_once = min(self.raw["cores"], self.raw["jobs"])
        if sum(edge["waited_ms"] for edge in edges) == 0:
            longer = "chain" if chain * at_once >= work else "jobs" if self.raw["jobs"] < self.raw["cores"] else "cores"
            self.assertEqual(answer["by"], longer)

    def test_the_biggest_kernel(self):
        answer = self.answer("kernel")
        biggest = {}
        for library in sorted((self.space.build_dir / "lib").glob("*.so")):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([find_cuobjdump(), "-xelf", "all", library], cwd=folder, check=True, capture_output=True)
                for cubin in pathlib.Path(folder).glob("*.cubin"):
                    arch = re.search(r"\.(sm_\w+)\.cubin", cubin.name).group(1)
                    sections = subprocess.run(["readelf", "-SW", cubin], check=True, capture_output=True, text=True).stdout
                    for name, size in re.findall(r"\.text\.(\S+)\s+PROGBITS\s+\w+\s+\w+\s+(\w+)", sections):
                        key = (library.stem, arch, name)
                        biggest[key] = biggest.get(key, 0) + int(size, 16)
        most = max(biggest.values())
        op, arch, symbol = min(key for key, size in biggest.items() if size == most)
        self.assertEqual(int(answer["value"]), most)
        plain = subprocess.run(["c++filt", symbol], check=True, capture_output=True, text=True).stdout.strip()
        shown = {"op": answer["op"], "arch": answer["arch"], "name": answer["name"]}
        if len(plain) > 160:
            plain = plain[:120] + " … " + plain[-40:]
        self.assertEqual(shown, {"op": op, "arch": arch, "name": plain})


if __name__ == "__main__":
    testspace.main(each_commit=2)
