#!/usr/bin/env python3
"""build --timings and timings.json: what each edge took is what its compiler itself noted; what it waited for; that it came
from the cache; what bounds the build. A build with nothing to do leaves them as they are."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from held_memory import make_pack, read_log, use_compiler  # noqa: E402


class TimingsTest(CliTest):
    def space_with(self, *names, seconds=0.4, **options):
        self.space = TestSpace(pack=make_pack(*names), **options)
        self.log = use_compiler(self.space, seconds)

    def timings(self):
        return json.loads((self.space.build_dir / "timings.json").read_text())

    def built(self, *more, code=0):
        run = self.space.build("--timings", *more)
        self.assertEqual(run.code, code, run)
        return run

    def test_the_times_are_those_that_the_compiler_noted(self):
        self.space_with("a_5m", "b_5m", "c_5m")
        run = self.built("-j", "2", "--json")
        event = next(line for line in map(json.loads, run.out.splitlines()) if line.get("event") == "timings")
        self.assertEqual(event["jobs"], 2)
        held = read_log(self.log)
        edges = {f"pack/{edge['source']}": edge for edge in event["edges"] if edge["kind"] == "cxx_compile"}
        self.assertEqual(edges.keys(), held.keys())
        first = min(begin for begin, _ in held.values())
        offsets = []
        for source, (begin, end) in held.items():
            edge = edges[source]
            self.assertGreaterEqual(edge["end_ms"] - edge["begin_ms"] - edge["waited_ms"], 1000 * (end - begin) - 2)
            self.assertEqual(edge["result"], "made")
            self.assertGreater(edge["peak_bytes"], 5 << 20)
            self.assertLessEqual(edge["ready_ms"], edge["begin_ms"])
            offsets.append((1000 * (begin - first) - edge["begin_ms"], 1000 * (end - first) - edge["end_ms"]))
        # By one offset all that was noted lies inside its edge.
        self.assertLessEqual(max(end for _, end in offsets), min(begin for begin, _ in offsets) + 5)
        lines = (self.space.build_dir / ".ninja_log").read_text().splitlines()[1:]
        noted = {output: int(end) - int(begin) for begin, end, _, output, _ in (line.split("\t") for line in lines)}
        by_output = {edge["output"]: edge for edge in event["edges"]}
        for output, edge in by_output.items():
            self.assertAlmostEqual(edge["end_ms"] - edge["begin_ms"], noted[output], delta=250)
        link = by_output["lib/large.so"]
        needed = [event["edges"][place] for place in link["needs"]]
        self.assertEqual({f"pack/{edge['source']}" for edge in needed}, held.keys())
        self.assertEqual(link["ready_ms"], max(edge["end_ms"] for edge in needed))
        chain = [event["edges"][place]["output"] for place in event["analysis"]["chain"]]
        self.assertEqual(chain[1:], ["lib/large.so", "check/large.ok"])
        self.assertEqual(sum(event["analysis"]["cores"].values()), event["cores"] * event["analysis"]["graph_ms"])

    def test_the_table_names_the_slowest_first_and_what_bounds_the_build(self):
        self.space_with("a_5m", "b_5m", "c_5m")
        self.space.environment["COLUMNS"] = "200"
        run = self.built("-j", "1")
        timings = self.timings()
        compiles = [edge for edge in timings["edges"] if edge["kind"] == "cxx_compile"]
        slowest = sorted(compiles, key=lambda edge: edge["end_ms"] - edge["begin_ms"] - edge["waited_ms"], reverse=True)
        lines = run.out.splitlines()
        begin = next(place for place, line in enumerate(lines) if line.startswith("op     file"))
        self.assertEqual([line.split()[1] for line in lines[begin + 1:begin + 4]], [edge["source"] for edge in slowest])
        self.assertRegex(run.out, r"(?m)^critical path  \d+\.\d s of \d+\.\d s in which edges ran$")
        self.assertRegex(run.out, r"(?m)^core time  \d+\.\d s busy, \d+\.\d s idle")
        self.assertRegex(run.out, r"(?m)^edges  5 made$")
        if timings["cores"] > 1:
            self.assertRegex(run.out, r"(?m)^bound by  --jobs 1 on \d+ cores$")
            self.assertIn("as many ran as --jobs lets", run.out)

    def test_an_edge_that_waited_for_memory_says_so(self):
        self.space_with("a_120m", "b_120m", "c_120m", seconds=0.5)
        self.built("--memory", "16G", "-j", "3")
        self.space.remove_build()
        run = self.built("--memory", "330M", "-j", "3", "--json")
        events = [json.loads(line) for line in run.out.splitlines()]
        timings, result = events[-2], events[-1]
        waited = [edge["waited_ms"] for edge in timings["edges"] if edge["waited_ms"] >= 100]
        self.assertEqual(len(waited), result["memory"]["waited_edges"])
        self.assertGreater(len(waited), 0)
        self.assertAlmostEqual(sum(waited) / 1000, result["memory"]["waited_seconds"], delta=0.01 * len(waited))
        for edge in timings["edges"]:
            self.assertEqual(edge["waited_ms"], sum(turn["admitted_ms"] - turn["asked_ms"] for turn in edge["turns"]))
        self.assertGreater(timings["analysis"]["cores"]["memory_ms"], 300)
        self.assertEqual(timings["memory_bound_bytes"], 330 << 20)

    def test_what_comes_from_the_cache_is_named_so(self):
        self.space_with("a_5m", "b_5m", seconds=0, store=True)
        self.built()
        self.space.remove_build()
        run = self.built()
        results = {edge["output"]: edge["result"] for edge in self.timings()["edges"]}
        self.assertEqual(sorted(results.values()), ["cache", "cache", "cache", "made"])
        self.assertEqual(results["lib/large.so"], "cache")
        self.assertIn("edges  1 made, 3 from the cache\n", run.out)

    def test_a_build_with_nothing_to_do_shows_the_last_one_and_leaves_it(self):
        self.space_with("a_5m", seconds=0)
        first = self.built()
        before = (self.space.build_dir / "timings.json").stat()
        again = self.built()
        after = (self.space.build_dir / "timings.json").stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        table = re.compile(r"(?ms)^timings.*?^edges [^\n]*\n")
        self.assertEqual(table.search(first.out).group(), table.search(again.out).group())
        self.assertNotIn("timings", self.space.build().out)

    def test_of_a_build_that_fails_too(self):
        self.space_with("a_5m", "b_5m", seconds=0)
        self.space.pack.source("b_5m.cpp").write_text("#error no\n")
        run = self.built("--keep-going", code=1)
        self.assertIn("1 failed", run.out)
        self.assertFalse(self.timings()["succeeded"])


if __name__ == "__main__":
    testspace.main(each_commit=4)
