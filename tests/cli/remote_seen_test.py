#!/usr/bin/env python3
"""What a shared cache gave, as people and dashboards see it: counts over builds, a file of OpenMetrics, why results were not
found there, and what took how long."""

import json
import pathlib
import re
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import bad_server  # noqa: E402
import pip_tools  # noqa: E402
import testspace  # noqa: E402
from testspace import TestSpace, make_fake_compiler  # noqa: E402

METRICS = "prometheus_client==0.26.0"
SCOPE = 'team "a\\b"/main'


class SeenTest(unittest.TestCase):
    def setUp(self):
        self.shared = TestSpace("shared").root / "remote"
        self.url = f"file://{self.shared}"

    def machine(self, name="machine"):
        space = TestSpace(name, steps=True, store=True, payload=6000)  # too large to be in an entry
        space.environment["DSBUILD_REMOTE"] = self.url
        return space

    def build(self, space, *more, code=0, ops="alpha", **options):
        run = space.build("--ops", ops, *more, **options)
        self.assertEqual(run.code, code, run)
        return run

    def result(self, run):
        return json.loads(run.out.splitlines()[-1])

    def say(self, space, *words, code=0, **options):
        run = space.run(*words, **options)
        self.assertEqual(run.code, code, run)
        return run.out

    def stats(self, space):
        return json.loads(self.say(space, "cache", "stats", "--json"))

    def explain(self, space, *more, op="alpha", **options):
        """{edge: why the shared cache did not have it}"""
        edges = json.loads(self.say(space, *space.arguments("explain", op, "--json", *more), **options))["edges"]
        return {edge["edge"]: edge["remote_miss"] for edge in edges if edge["remote_miss"]}

    def timings(self, space):
        return json.loads((space.build_dir / "timings.json").read_text())


class CountsTest(SeenTest):
    def metrics(self, file):
        """{name: {labels: value}} of all samples, by Prometheus' own parsers of both formats."""
        sys.path.insert(0, str(pip_tools.installed(METRICS.replace("==", "-"), METRICS)))
        from prometheus_client import openmetrics, parser  # noqa: F401
        from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
        text = file.read_text(encoding="utf-8")
        families = list(read(text))
        for family in families:
            self.assertTrue(family.documentation, family)
            self.assertIn(family.type, ("counter", "gauge"))
            if re.search("seconds|bytes", family.name):
                self.assertEqual(family.unit, family.name.rsplit("_", 1)[1])
        samples = [sample for family in families for sample in family.samples]
        older = [sample for family in parser.text_string_to_metric_families(text) for sample in family.samples]
        self.assertEqual({(s.name, *sorted(s.labels.items())): s.value for s in older},
                         {(s.name, *sorted(s.labels.items())): s.value for s in samples})
        found = {}
        for sample in samples:
            found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
        return found

    def test_counts_are_summed_over_builds_and_written_for_dashboards(self):
        first = self.machine("first")
        self.build(first, "--remote-scope", SCOPE)
        sent = self.stats(first)["remote"]
        there = sum(file.stat().st_size for file in self.shared.rglob("*") if file.is_file())
        self.assertGreaterEqual(sent["sent_bytes"], there)  # a list of records may go up twice
        self.assertGreater(there, 1000)
        self.assertEqual((sent["hits"], sent["saved_milliseconds"]), (0, 0))

        second, file = self.machine("second"), self.machine("other").root / "dsbuild.prom"
        options = ("--remote-scope", SCOPE, "--metrics", str(file))
        run = self.result(self.build(second, *options, "--json"))
        stats = self.stats(second)
        remote = stats["remote"]["scopes"][SCOPE]
        self.assertEqual({name: remote[name] for name in ("hits", "misses", "requests", "saved_milliseconds")},
                         {name: run["remote"][name] for name in ("hits", "misses", "requests", "saved_milliseconds")})
        self.assertEqual((remote["received_bytes"], remote["misses"]), (run["remote"]["bytes_in"], 0))
        self.assertGreater(remote["hits"], 0)
        self.assertGreater(remote["saved_milliseconds"], 0)
        self.assertEqual(stats["all_builds"]["saved_milliseconds"], remote["saved_milliseconds"])
        found = self.metrics(file)
        for name, key in (("hits", "hits"), ("misses", "misses"), ("received_bytes", "received_bytes"), ("requests", "requests")):
            self.assertEqual(found[f"dsbuild_remote_{name}_total"], {(SCOPE,): remote[key]})
        self.assertEqual(found["dsbuild_remote_saved_cpu_seconds_total"], {(SCOPE,): remote["saved_milliseconds"] / 1000})
        self.assertEqual(found["dsbuild_builds_total"], {("published",): 1, ("failed",): 0})
        self.assertEqual(found["dsbuild_last_build_succeeded"], {(): 1})

        # A build with nothing to do is none; one that fails is one.
        self.build(second, *options)
        self.assertEqual(self.metrics(file)["dsbuild_builds_total"], {("published",): 1, ("failed",): 0})
        second.pack.source("alpha/alpha.cpp").write_text("#error no\n")
        self.build(second, *options, code=1)
        found = self.metrics(file)
        self.assertEqual(found["dsbuild_builds_total"], {("published",): 1, ("failed",): 1})
        self.assertEqual(found["dsbuild_last_build_succeeded"], {(): 0})
        self.assertEqual(found["dsbuild_remote_hits_total"], {(SCOPE,): remote["hits"]})
        said = self.say(second, "cache", "stats")
        self.assertRegex(said, rf"shared cache +{remote['hits']} of \d+ found there\n +saved +\d")

    def test_a_file_that_cannot_be_written_fails_no_build(self):
        space = self.machine()
        run = self.build(space, "--metrics", str(space.root / "no folder" / "dsbuild.prom"), ops="host")
        self.assertIn("warning[metrics_unwritten]", run.err)

    def test_builds_that_went_on_without_it(self):
        space = self.machine()
        self.build(space, "--remote", f"http://127.0.0.1:{bad_server.free_port()}", ops="host")
        said = self.say(space, "cache", "stats")
        self.assertRegex(said, r"went on without it +1 build; the last: .*127\.0\.0\.1")


class WhyTest(SeenTest):
    def setUp(self):
        super().setUp()
        self.first = self.machine("first")
        self.build(self.first, "--remote-scope", "main")

    def misses(self, *more, change=lambda space: None, ops="alpha", **options):
        """Of another machine's build, where something is other than it was on the first."""
        space = self.machine("another")
        change(space)
        run = self.build(space, "--remote-scope", "main", *more, "--json", ops=ops, **options)
        reasons = "".join(event.get("reason", "") + "\n" for event in map(json.loads, run.out.splitlines()))
        misses = self.explain(space, "--remote-scope", "main", *more, op=ops, **options)
        for why in misses.values():
            self.assertIn("; shared cache: " + why.split(";")[0], reasons)
        return misses

    def test_what_nobody_has_built(self):
        misses = self.explain(self.first, "--remote-scope", "main")
        self.assertTrue(misses)
        self.assertEqual({why.split(";")[0] for why in misses.values()}, {"nobody has built it (scope main)"})
        self.assertEqual(set(self.misses(ops="host").values()), {"nobody has built it (scope main)"})

    def test_what_is_there_is_no_miss(self):
        self.assertEqual(self.misses(), {})

    def test_another_header(self):
        misses = self.misses(change=lambda space: space.pack.source("alpha/shared.h").write_text("// other\n"))
        self.assertEqual({why.replace("pack/", "") for why in misses.values()},
                         {"the nearest one there differs: alpha/shared.h has changed"})

    def test_another_flag_and_another_arch(self):
        misses = self.misses("--debug")
        self.assertTrue(any(why.endswith("it differs so: option -g is new") for why in misses.values()), misses)
        misses = self.misses("--arch", "8.6")
        self.assertIn("nobody has built it (scope main); others have built alpha, without this file or arch", misses.values())

    def test_another_compiler(self):
        program = make_fake_compiler(self.shared.parent / "compiler").program

        def use(space):
            space.environment["CXX"] = str(program)
        use(self.first)
        self.build(self.first, "--remote-scope", "main")
        with open(program, "ab") as file:
            file.write(b"\n")
        misses = self.misses(change=use)
        self.assertTrue(any("it differs so: tool " in why for why in misses.values()), misses)

    def test_lost_and_damaged_files(self):
        whole = self.shared.with_name("whole")
        shutil.copytree(self.shared, whole)
        for file in (self.shared / "cas").glob("*/*"):
            file.unlink()
        self.assertEqual(set(self.misses().values()), {"found, but its files are gone"})
        shutil.rmtree(self.shared)
        shutil.copytree(whole, self.shared)
        for file in (self.shared / "cas").glob("*/*"):
            file.write_bytes(file.read_bytes()[:-1] + b"\0")
        self.assertEqual(set(self.misses().values()), {"refused: it is damaged"})

    def test_where_the_time_went(self):
        self.assertEqual({span["what"] for span in self.timings(self.first)["remote"]} - {"fetch"}, {"prefetch", "upload"})
        space = self.machine("another")
        run = self.build(space, "--remote-scope", "main", "--timings")
        timings = self.timings(space)
        shared = [edge["output"] for edge in timings["edges"] if edge["result"] == "shared"]
        self.assertTrue(shared)
        self.assertIn(f"{len(shared)} from the shared cache", run.out)
        self.assertRegex(run.out, r"shared cache  prefetch \d")
        span = next(span for span in timings["remote"] if span["what"] == "prefetch")
        self.assertLessEqual(span["begin_ms"], span["end_ms"])
        self.assertLessEqual(span["end_ms"], min(edge["begin_ms"] for edge in timings["edges"]))
        page = json.loads(self.say(space, "page", str(space.build_dir), "--json"))["timings"]
        self.assertEqual(page["remote"], timings["remote"])
        self.assertEqual(page["analysis"]["results"]["shared"], len(shared))


if __name__ == "__main__":
    testspace.main(each_commit=6)
