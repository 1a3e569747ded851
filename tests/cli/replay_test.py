#!/usr/bin/env python3
"""A build with nothing to do says again what its tools said when its edges were made, in whichever build that was."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack  # noqa: E402


def source(op, text="old code"):
    return f'#warning "{text} of {op}"\nextern "C" int {op}_run() {{ return 1; }}\n'


def pack_of_two(folder):
    pack = Pack(folder)
    for op in ("one", "two"):
        pack.add_op(op, {f"{op}.cpp": source(op)}, {"backend": "cpu"})
    return pack


class ReplayTest(CliTest):
    def setUp(self):
        self.space = TestSpace(pack=pack_of_two)

    def warnings(self, run):
        self.assertEqual(run.code, 0, run)
        return sorted(re.findall(r"^pack/src/(\w+)\.cpp:1:2: warning: #warning \"(\w+)", run.err, re.M))

    def is_remembered(self):
        return (self.space.build_dir / "unchanged").exists()

    def test_what_several_builds_were_told(self):
        self.assertEqual(self.warnings(self.space.build("--ops", "one")), [("one", "old")])
        self.assertEqual(self.warnings(self.space.build()), [("two", "old")])
        for _ in range(2):
            run = self.space.build()
            self.assertEqual((self.warnings(run), run.edges_run()), ([("one", "old"), ("two", "old")], 0))
        self.space.pack.source("one.cpp").write_text(source("one", "new code"))
        self.assertEqual(self.warnings(self.space.build()), [("one", "new")])
        self.assertEqual(self.warnings(self.space.build()), [("one", "new"), ("two", "old")])
        self.space.pack.source("one.cpp").write_text(source("one").split("\n", 1)[1])
        self.assertEqual(self.warnings(self.space.build()), [])
        self.assertEqual(self.warnings(self.space.build()), [("two", "old")])
        self.assertEqual(self.warnings(self.space.build("--ops", "one")), [], "what is not built any more is not told")

    def test_also_where_everything_is_planned_again(self):
        self.space.build()
        self.assertTrue(self.is_remembered())
        (self.space.build_dir / "unchanged").unlink()
        self.assertEqual(self.warnings(self.space.build()), [("one", "old"), ("two", "old")])
        self.assertEqual(self.warnings(self.space.build("--paranoid")), [("one", "old"), ("two", "old")])

    def test_json_and_quiet(self):
        self.space.build("--json")
        events = [json.loads(line) for line in self.space.build("--json").out.splitlines()]
        told = [event for event in events if event["event"] == "diagnostic"]
        self.assertEqual([(event["op"], event["severity"], event["line"]) for event in told], [("one", "warning", 1), ("two", "warning", 1)])
        self.assertEqual(events[-1]["edges_run"], 0)
        self.space.build("-q")
        for _ in range(2):
            run = self.space.build("-q")
            self.assertEqual((run.code, run.out, run.err), (0, "", ""))


if __name__ == "__main__":
    testspace.main()
