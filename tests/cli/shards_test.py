#!/usr/bin/env python3
"""Shards: several machines compile a share each into a cache that they share, and one makes the bundle. It is that of a build on
one machine byte for byte; what fails costs its own share alone."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import entries  # noqa: E402
import testspace  # noqa: E402
from bad_server import Server, free_port  # noqa: E402
from testspace import TestSpace  # noqa: E402

SHARDS = 4
EDGES = 23  # of the small pack: three C++ files, four parts of each of five .cu files


def slices_of(space):
    """Those that were compiled, without a self-test's."""
    return sorted(each for each in space.toolkit.sliced() if each[0] != "pack/probe.cu")


class ShardsTest(unittest.TestCase):
    def setUp(self):
        self.server = Server(self)

    def machine(self, name):
        return TestSpace(name, steps=True, store=True)

    def run_on(self, space, shard, *more, code=0, url=None, **options):
        run = space.build("--remote", url or self.server.url, "--shard", shard, *more, **options)
        self.assertEqual(run.code, code, run)
        return run

    def result(self, space, shard, *more, **options):
        return self.run_on(space, shard, "--json", *more, **options).result()

    def share(self, number, *more, **options):
        """(machine, result)"""
        space = self.machine(f"shard {number}")
        return space, self.result(space, f"{number}/{SHARDS}", *more, **options)

    def refused(self, space, *words, code="bad_shard", exit_code=2):
        run = space.build(*words)
        self.assertEqual((run.code, f"error[{code}]" in run.err), (exit_code, True), run)
        return run.err

    def bundle_of_one_machine(self):
        space = self.machine("alone")
        self.assertEqual(space.build().code, 0)
        return testspace.bundle_files(space.out)

    def merge(self, *more, **options):
        """(counts, machine) of a bundle that is that of one machine."""
        space = self.machine("merge")
        counts = self.result(space, "merge", *more, **options)["merge"]
        self.assertEqual(testspace.bundle_files(space.out), self.bundle_of_one_machine())
        return counts, space


class SharesTest(ShardsTest):
    def check_all(self, **options):
        slices, edges, plans = [], 0, set()
        for number in range(1, SHARDS + 1):
            space, result = self.share(number, **options)
            shard = result["shard"]
            self.assertEqual((result["compiled"], result["shared"]), (shard["edges"], 0))
            self.assertEqual(shard["of_edges"], EDGES)
            self.assertGreater(shard["edges"], 0)
            self.assertFalse(space.out.exists())
            slices += slices_of(space)
            edges += shard["edges"]
            plans.add(shard["plan"])
        self.assertEqual((edges, len(plans)), (EDGES, 1))
        self.assertEqual(len(set(slices)), len(slices))  # nothing is compiled twice
        counts, space = self.merge(**options)
        self.assertEqual(counts, {"plan": plans.pop(), "edges": EDGES, "shared": EDGES, "compiled": 0})
        self.assertEqual(space.compiled(), [])

    def test_a_server(self):
        self.check_all()

    def test_a_folder(self):
        self.check_all(url=f"file://{self.machine('share').root}/shared")

    def test_in_one_folder_at_once(self):
        """As tasks of a cluster do, with one disk and one local cache."""
        space = self.machine("cluster")
        words = [space.arguments("--remote", self.server.url, "--shard", f"{n}/3", "--shard-plan", "cut.json") for n in (1, 2, 3)]
        runs = [space.start(*each) for each in words]
        for run in runs:
            out, err = run.communicate(timeout=testspace.TIME_LIMIT)
            self.assertEqual(run.returncode, 0, (out, err))
        self.assertEqual([path.name for path in space.root.glob("build*")], [])  # their build folders are gone
        self.assertEqual(self.merge()[0]["shared"], EDGES)

    def test_real_nvcc(self):
        url = f"file://{self.machine('share').root}/shared"
        spaces = []
        for words in (["1/2"], ["2/2"], ["merge"], None):
            space = testspace.RealSpace()
            del space.environment["DSBUILD_CACHE_SIZE"]
            run = space.build(*(["--remote", url, "--shard", *words] if words else []), "--json", "--arch", "8.0;9.0")
            self.assertEqual(run.code, 0, run)
            spaces.append((space, run.result()))
        (_, first), (_, second), (merging, merge), (alone, _) = spaces
        self.assertGreater(min(first["compiled"], second["compiled"]), 0)
        self.assertEqual((merge["merge"]["compiled"], merge["merge"]["shared"]), (0, first["compiled"] + second["compiled"]))
        self.assertEqual(testspace.bundle_files(merging.out), testspace.bundle_files(alone.out))


class LostShardTest(ShardsTest):
    def test_costs_its_own_share(self):
        lost = self.share(2, url="file://" + str(self.machine("other").root / "elsewhere"))
        for number in (1, 3, 4):
            self.share(number)
        counts, space = self.merge()
        edges = lost[1]["shard"]["edges"]
        self.assertEqual((counts["compiled"], counts["shared"]), (edges, EDGES - edges))
        self.assertEqual(slices_of(space), slices_of(lost[0]))

    def test_none_ran(self):
        counts, _ = self.merge()
        self.assertEqual((counts["compiled"], counts["shared"]), (EDGES, 0))

    def test_people_are_told(self):
        out = self.run_on(self.machine("shard"), "1/2")
        self.assertRegex(out.err, r"shard 1/2 of plan [0-9a-f]{12}: 1\d of 23 compile edges, by their sizes ")
        self.assertRegex(out.out, r"shard 1/2 of plan [0-9a-f]{12}: .* 0 from the shared cache, 1\d compiled here; all are there now")
        space = self.machine("merge")
        merged = self.run_on(space, "merge")
        self.assertRegex(merged.out, r"merge of plan [0-9a-f]{12}: of 23 compile edges 1\d came from the shared cache, 1\d were compiled here")
        self.assertIn("a shard did not end, or its log names a different plan", merged.out)

    def test_a_killed_shard_resumes_elsewhere(self):
        space = self.machine("killed")
        space.toolkit.set(steps=True, seconds=0.3)
        process = space.start_build("-j", "1", "--remote", self.server.url, "--shard", "1/2")
        self.assertTrue(testspace.wait_until(lambda: len(slices_of(space)) >= 3, 60))
        testspace.kill_all(process.pid)
        process.communicate()
        again = self.result(self.machine("again"), "1/2")
        self.assertGreaterEqual(again["shared"], 1)
        self.assertEqual(again["compiled"] + again["shared"], again["shard"]["edges"])
        self.assertGreaterEqual(again["compiled"], 1)

    def test_what_a_killed_shard_has_left_here_goes_there(self):
        """Results that lie in the local cache alone, as after a kill before the upload."""
        space = self.machine("first")
        self.run_on(space, "1/2", url=f"file://{space.root}/elsewhere")
        again = self.result(space, "1/2")
        self.assertEqual((again["compiled"], again["shared"]), (0, 0))
        self.assertEqual(self.merge()[0]["shared"], again["shard"]["edges"])

    def test_once_more(self):
        space, first = self.share(1)
        puts = self.server.puts()
        again = self.result(space, f"1/{SHARDS}")
        self.assertEqual((again["compiled"], again["shared"], self.server.puts()), (0, 0, puts))  # all is here, and there
        other = self.result(self.machine("other"), f"1/{SHARDS}")
        self.assertEqual((other["compiled"], other["shared"], other["remote"]["uploaded"]), (0, first["compiled"], 0))

    def test_facts_that_it_asked_for_are_a_hint(self):
        """The merge then fetches them together (lib/exec/cached_facts.h)."""
        self.share(1)
        with self.server.lock:
            files = dict(self.server.files)
        packed = [body for path, body in files.items() if "/cas/" in path]
        for outputs in (entries.read_entry(body) for path, body in files.items() if "/ac/" in path):
            packed += [output.contents for output in outputs if output.contents]
        hints = [text for text in map(entries.unpack, packed) if text.startswith(b"dsbuild-facts 1\n")]
        self.assertEqual(len(hints), 1)


class UploadTest(ShardsTest):
    def test_no_server(self):
        space = self.machine("shard")
        run = self.run_on(space, "1/2", code=1, url=f"http://127.0.0.1:{free_port()}")
        self.assertIn("error[shard_not_uploaded]: --remote: the shared cache cannot be used, so nothing was compiled", run.err)
        self.assertEqual(space.compiled(), [])

    def test_a_server_that_takes_nothing(self):
        roomy = Server(self)
        self.run_on(self.machine("before"), "1/2", url=roomy.url)
        space = self.machine("shard")
        self.server.room = roomy.puts() - 12  # facts fit, and first results
        run = self.run_on(space, "1/2", code=1)
        self.assertRegex(run.err, r"error\[shard_not_uploaded\]: --remote: \d+ results of this shard did not get into the shared cache")
        self.assertNotEqual(space.compiled(), [])
        self.server.room = 1 << 30
        again = self.result(space, "1/2")
        self.assertEqual(again["compiled"], 0)
        self.assertEqual(self.merge()[0]["shared"], again["shard"]["edges"])

    def test_a_failed_compile(self):
        """What could be compiled is there."""
        spaces, failed = [self.machine(f"shard {number}") for number in (1, 2)], 0
        for number, space in enumerate(spaces, 1):
            space.pack.source("gamma/two.cu").write_text("#error broken\n")
            run = space.build("-k", "--remote", self.server.url, "--shard", f"{number}/2")
            failed += run.code
            self.assertEqual((run.code, "error[edge_failed]" in run.err), (min(run.code, 1), run.code == 1), run)
            logs = f"build-shard-{number}-of-2/log" in run.err  # they stay
            self.assertEqual(logs, run.code == 1, run)
        self.assertGreater(failed, 0)
        self.assertGreater(self.merge()[0]["shared"], EDGES - 8)


class PlanTest(ShardsTest):
    def test_a_plan_that_differs(self):
        cut = self.machine("share").root / "cut.json"
        self.share(1, "--shard-plan", str(cut))
        plan = json.loads(cut.read_text())
        self.assertEqual((len(plan["shards"]), sum(len(shard["outputs"]) for shard in plan["shards"])), (SHARDS, EDGES))
        shard = ["--remote", self.server.url, "--shard-plan", str(cut), "--shard"]
        for words, said in ((["2/4", "--arch", "8.0"], "requested: 8.0 9.0+PTX there, 8.0 here"),
                            (["2/4", "--ops", "alpha"], "beta: op: built there, not there here"),
                            (["2/3"], "it has 4 shards, and this is one of 3"),
                            (["2/4", "--backend", "nvcc"], "compile edges: 23 there, 8 here"),
                            (["merge", "--arch", "8.0"], "requested: 8.0 9.0+PTX there, 8.0 here")):
            space = self.machine("other")
            self.assertIn(said, self.refused(space, *shard, *words, code="shard_plan_differs"))
            self.assertEqual(space.compiled(), [])
        space = self.machine("source")
        space.pack.source("alpha/alpha.cu").write_text("// export: alpha_kernel\n")
        self.assertIn("alpha: source alpha/alpha.cu: SHA-256 ", self.refused(space, *shard, "2/4", code="shard_plan_differs"))
        space = self.machine("toolkit")
        nvcc = space.toolkit.home / "bin" / "ptxas"
        nvcc.write_bytes(nvcc.read_bytes() + b"\0")
        self.assertIn("tool nvcc", self.refused(space, *shard, "2/4", code="shard_plan_differs"))
        space = self.machine("flags")
        space.environment["NVCC_APPEND_FLAGS"] = "-DMORE=1"
        self.assertIn("NVCC_APPEND_FLAGS: none there, -DMORE=1 here", self.refused(space, *shard, "2/4", code="shard_plan_differs"))
        self.share(2, "--shard-plan", str(cut))

    def test_the_file_decides_who_does_what(self):
        cut = self.machine("share").root / "cut.json"
        self.share(1, "--shard-plan", str(cut))
        plan = json.loads(cut.read_text())
        plan["shards"].reverse()
        cut.write_text(json.dumps(plan))
        _, last = self.share(SHARDS, "--shard-plan", str(cut))
        self.assertEqual((last["compiled"], last["shared"]), (0, last["shard"]["edges"]))

    def test_a_file_that_cannot_be_read(self):
        space = self.machine("shard")
        (space.root / "cut.json").write_text("[]")
        words = ["--remote", self.server.url, "--shard-plan", "cut.json", "--shard"]
        self.refused(space, *words, "1/2", code="bad_shard_plan")
        (space.root / "cut.json").unlink()
        self.assertIn("there is no such file", self.refused(space, *words, "merge", code="bad_shard_plan"))


class WordsTest(ShardsTest):
    def test_bad_shards(self):
        space = self.machine("shard")
        for word, said in (("0/8", "the first is 1/8"), ("9/8", "the last is 8/8"), ("x", "as in 3/8, nor merge"), ("3", "as in 3/8, nor merge"),
                           ("3/", "as in 3/8"), ("1/0", "of 0 shards"), ("-1/8", "the first is 1/8"), ("1/99999", "1 to 10000")):
            self.assertIn(said, self.refused(space, "--remote", self.server.url, "--shard", word))
        self.assertIn("none is named", self.refused(space, "--shard", "1/2"))
        self.assertIn("none is named", self.refused(space, "--shard", "merge"))
        words = ["--remote", self.server.url, "--shard", "1/2"]
        self.assertIn("--remote-upload forbids that", self.refused(space, *words, "--remote-upload", "never"))
        self.assertIn("it has no room", self.refused(space, *words, "--cache-size", "0"))

    def test_by_variables_and_config(self):
        space = self.machine("shard")
        run = space.build(env={"DSBUILD_SHARD": "0/2", "DSBUILD_REMOTE": self.server.url})
        self.assertEqual((run.code, "DSBUILD_SHARD: '0/2'" in run.err), (2, True), run)
        (space.root / "dsbuild.yaml").write_text(f"shard: 2/2\nshard_plan: cut.json\nremote: {self.server.url}\n")
        run = space.build()
        self.assertEqual((run.code, "shard 2/2 of plan" in run.out, (space.root / "cut.json").exists()), (0, True, True), run)

    def test_events(self):
        lines = [json.loads(line) for line in self.run_on(self.machine("shard"), "1/2", "--json").out.splitlines()]
        self.assertEqual([line["event"] for line in lines][:2] + [lines[-1]["event"]], ["plan", "shard", "result"])
        self.assertEqual(lines[1]["shard"], lines[-1]["shard"])


if __name__ == "__main__":
    testspace.main(each_commit=5)
