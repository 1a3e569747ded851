#!/usr/bin/env python3
"""build --trace FILE: Chrome's trace events, whose edges are those of Ninja's log."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402

TOLERANCE = 400_000  # microseconds; what a loaded machine puts between Ninja's clock and ours


class TraceTest(CliTest):
    def trace(self, space, *words):
        run = space.build("build", "--trace", "trace.json", *words)
        self.assertEqual(run.code, 0, run)
        return json.loads((space.root / "trace.json").read_text())

    def check_format(self, trace):
        """The spans by group and row."""
        self.assertEqual(trace["displayTimeUnit"], "ms")
        rows, names = {}, set()
        for event in trace["traceEvents"]:
            self.assertIn(event["ph"], ("X", "M"))
            for key in ("pid", "tid"):
                self.assertIsInstance(event[key], int)
            if event["ph"] == "M":
                self.assertIn(event["name"], ("process_name", "thread_name"))
                self.assertTrue(event["args"]["name"])
                names.add((event["name"], event["pid"], event["tid"]))
                continue
            self.assertTrue(event["name"] and event["cat"])
            for key in ("ts", "dur"):
                self.assertIsInstance(event[key], int)
                self.assertGreaterEqual(event[key], 0)
            rows.setdefault((event["pid"], event["tid"]), []).append(event)
        for pid, tid in rows:
            self.assertIn(("process_name", pid, 0), names)
            self.assertIn(("thread_name", pid, tid), names)
        return rows

    def edges(self, trace):
        return {event["args"]["output"]: event for event in trace["traceEvents"] if "output" in event.get("args", {})}

    def ninja_log(self, space):
        """{output: (begin, end)} in microseconds."""
        rows = [line.split("\t") for line in (space.build_dir / ".ninja_log").read_text().splitlines()[1:]]
        return {row[3]: (int(row[0]) * 1000, int(row[1]) * 1000) for row in rows}

    def test_edges_are_those_of_ninjas_log(self):
        space = TestSpace(steps=True)
        trace = self.trace(space)
        edges, log = self.edges(trace), self.ninja_log(space)
        self.assertGreater(len(edges), 20)
        self.assertLessEqual(set(edges), set(log))
        # Ninja counts from its own start.
        shift = sorted(edge["ts"] - log[output][0] for output, edge in edges.items())[len(edges) // 2]
        for output, edge in edges.items():
            begin, end = log[output]
            self.assertLess(abs(edge["ts"] - shift - begin), TOLERANCE, output)
            self.assertLess(abs(edge["dur"] - (end - begin)), TOLERANCE, output)

    def test_its_format_and_its_rows(self):
        space = TestSpace(steps=True)
        rows = self.check_format(self.trace(space, "-j", "2"))
        self.assertEqual([row for row in rows if row[0] == 1], [(1, 0), (1, 1)])  # as many slots as edges at once
        for row in rows.values():
            spans = sorted((event["ts"], event["ts"] + event["dur"]) for event in row if event["cat"] != "admission")
            for (_, end), (begin, _) in zip(spans, spans[1:]):
                self.assertLessEqual(end, begin)

    def test_waits_for_memory_stand_within_their_edge(self):
        space = TestSpace(sleep=0.5)
        trace = self.trace(space, "--memory", "900M", "-j", "4")
        waits = [event for event in trace["traceEvents"] if event.get("cat") == "admission"]
        self.assertTrue(waits)
        for wait in waits:
            self.assertTrue(any(edge["tid"] == wait["tid"] and edge["ts"] <= wait["ts"] and
                                wait["ts"] + wait["dur"] <= edge["ts"] + edge["dur"] for edge in self.edges(trace).values()), wait)

    def test_what_came_from_the_cache_and_transfers(self):
        first = TestSpace("first", steps=True, store=True)
        shared = first.root / "shared"
        shared.mkdir()
        self.assertEqual(first.build("--remote", f"file://{shared}").code, 0)
        second = TestSpace("second", steps=True, store=True)
        trace = self.trace(second, "--remote", f"file://{shared}")
        rows = self.check_format(trace)
        self.assertEqual({pid for pid, _ in rows}, {1, 2})
        self.assertIn("shared", {edge["args"]["result"] for edge in self.edges(trace).values()})
        self.assertTrue(any(event["cat"] == "shared cache" for event in rows[(2, 0)]))

    def test_of_a_build_that_failed_and_of_one_with_nothing_to_do(self):
        space = TestSpace()
        source = space.pack.source("host/host.cpp")
        text = source.read_text()
        source.write_text("int host_run( {\n")
        self.assertEqual(space.build("build", "--trace", "trace.json", "--ops", "host").code, 1)
        failed = json.loads((space.root / "trace.json").read_text())
        self.assertIn("failed", {edge["args"]["result"] for edge in self.edges(failed).values()})
        source.write_text(text)
        self.assertEqual(self.edges(self.trace(space, "--ops", "host")).keys(), self.edges(self.trace(space, "--ops", "host")).keys())

if __name__ == "__main__":
    testspace.main()
