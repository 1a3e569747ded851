#!/usr/bin/env python3
"""--memory: what the edges of a build hold together stays below it; what was measured decides order and memory only;
`plan` says what a build will take. The compiler is the real one behind a script that holds as much memory as a file's name
says."""

import hashlib
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from held_memory import make_pack, read_log, use_compiler  # noqa: E402
from memory import Sampler  # noqa: E402
from packs import Pack, binding, kernel  # noqa: E402

sys.path.insert(0, str(testspace.TESTS / "fakes" / "torch"))
from fake_torch import make_fake_torch  # noqa: E402

MIB = 1 << 20


class MemoryTest(CliTest):
    def space_with(self, *names, seconds=0.4):
        self.space = TestSpace(pack=make_pack(*names))
        self.log = use_compiler(self.space, seconds)

    def start(self, *more, cold=True):
        if cold:
            self.space.remove_build()
        self.log.unlink(missing_ok=True)
        return self.space.start_build("-j", "8", "--json", *more)

    def built(self, *more, **options):
        """The last event, and the largest sum of what all processes held."""
        process = self.start(*more, **options)
        sampler = Sampler(process.pid, 0.02)
        out, err = process.communicate(timeout=testspace.TIME_LIMIT)
        peak = sampler.stop()
        self.assertEqual(process.returncode, 0, out + err)
        return json.loads(out.splitlines()[-1]), peak

    def held(self):
        return read_log(self.log)


class BoundTest(MemoryTest):
    def skip_with_sanitizers(self):
        """Each step would hold as much as what it runs."""
        if testspace.is_sanitized():
            self.skipTest("dsbuild is built with AddressSanitizer, whose own memory is larger than this test's")

    def free_peak(self):
        """Without a bound. A busy machine may not run all at once at the first try."""
        peak = 0
        for _ in range(4):
            peak = max(peak, self.built("--memory", "16G")[1])
            if peak > 600 * MIB:
                break
        return peak

    def test_the_second_build_stays_below_the_bound_which_is_too_small_for_all_at_once(self):
        self.skip_with_sanitizers()
        self.space_with(*(f"{name}_80m" for name in "abcdefgh"))
        self.assertGreater(self.free_peak(), 600 * MIB, "the bound of this test would hold by itself")
        result, peak = self.built("--memory", "600M")
        self.assertLessEqual(peak, 600 * MIB)
        self.assertGreater(peak, 250 * MIB, "more than one at a time")
        self.assertEqual(result["memory"]["alone"], [])
        self.assertGreater(result["memory"]["waited_edges"], 0)
        self.assertGreater(result["memory"]["waited_seconds"], 0.3)

    def test_what_needs_more_than_all_runs_alone_and_is_named(self):
        self.skip_with_sanitizers()
        self.space_with("a_60m", "b_60m", "c_60m", "huge_400m")
        self.built("--memory", "16G")
        result, _ = self.built("--memory", "450M")
        self.assertEqual([edge["source"] for edge in result["memory"]["alone"]], ["huge_400m.cpp"])
        held = self.held()
        begin, end = held.pop("pack/huge_400m.cpp")
        for other in held.values():
            self.assertTrue(other[1] <= begin or other[0] >= end, "it was not alone")
        self.space.remove_build()
        run = self.space.build("-j", "8", "--memory", "450M")
        self.assertRegex(run.out, r"ran alone, for it needs 4\d\d\.\d MiB: compile large: huge_400m\.cpp\n")

    def test_an_edge_that_never_ran_is_let_in_by_a_guess(self):
        self.space_with("a_5m", "b_5m", seconds=0.3)
        self.built("--memory", "300M")
        spans = sorted(self.held().values())
        self.assertLessEqual(spans[0][1], spans[1][0], "two guesses of 250 MiB do not fit")

    def test_a_killed_step_blocks_nobody(self):
        self.space_with("a_100m", "b_100m", "c_100m", seconds=1.5)
        self.built("--memory", "16G")
        process = self.start("--memory", "330M", "--keep-going")

        def steps():
            return [pid for pid in testspace.children(process.pid)
                    if testspace.command_of(pid)[1:3] == ["action", "run"] and "--" in testspace.command_of(pid)]
        self.assertTrue(testspace.wait_until(lambda: any(
            "_100m.cpp" in " ".join(testspace.command_of(child)) for step in steps() for child in testspace.children(step))))
        holder = next(step for step in steps() if testspace.children(step))
        testspace.send(holder, 9)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1, out + err)
        self.assertEqual(json.loads(out.splitlines()[-1])["error"]["code"], "edge_failed", out)
        self.assertEqual(len(self.held()), 2, "the others were compiled")

    def test_a_null_build_waits_for_nothing(self):
        self.space_with("a_5m", seconds=0)
        self.built("--memory", "100M")
        result, _ = self.built("--memory", "1M", cold=False)
        self.assertEqual((result["edges_run"], result["memory"]["waited_edges"]), (0, 0))


def make_torch_pack(folder):
    """Six sources that say nothing of torch: the header that they include does."""
    pack = Pack(folder, "torch")
    names = [f"part{number}" for number in range(6)]
    pack.add_op("ext", {**{f"{name}.cu": kernel(f"{name}_kernel", text='#include "common.h"\n') for name in names},
                        "ext.cpp": binding("ext_run", *(f"{name}_kernel" for name in names))},
                {"module": "pkg.ext_op", "requires": [{"torch": ">=2.0"}]})
    pack.source("common.h").write_text("#include <torch/extension.h>\n")
    return pack


class FirstBuildTest(CliTest):
    """Tools that are made up take next to nothing: what counts is how many dsbuild lets in before it knows."""

    def test_slices_with_torch_s_headers_are_let_in_by_their_bound_until_one_of_them_is_measured(self):
        space = TestSpace(pack=make_torch_pack, steps=True, sleep=0.6)
        torch = make_fake_torch(space.root / "python")
        (space.toolkit.home / "lib64" / "libcudart.so.13").write_text("/* a library without symbols */\n")

        def build():
            run = space.build("-j", "16", "--memory", "20G", "--python", str(torch.python), "--arch", "8.0;8.6;9.0")
            self.assertEqual(run.code, 0, run)
            edges = json.loads((space.build_dir / "timings.json").read_text())["edges"]
            return [edge["turns"][-1] for edge in edges if edge["part"].startswith("compute_")]
        turns = build()
        self.assertEqual(len(turns), 18)
        guessed = [turn for turn in turns if turn["bytes"] > 5.5 * 1024 * MIB]
        measured = [turn for turn in turns if turn["bytes"] < 1024 * MIB]
        self.assertTrue(guessed)
        self.assertLess(sum(turn["bytes"] for turn in guessed), 20 * 1024 * MIB)
        # Those that waited went on with what the first had taken.
        self.assertEqual(len(guessed) + len(measured), len(turns))
        self.assertGreater(min(turn["admitted_ms"] for turn in measured), min(turn["admitted_ms"] for turn in guessed) + 300)
        space.remove_build()
        self.assertLess(max(turn["bytes"] for turn in build()), 1024 * MIB, "all were measured")


class HistoryTest(MemoryTest):
    def test_history_changes_the_order_of_build_ninja_and_nothing_else(self):
        self.space_with("a_5m", "b_120m", "c_5m", seconds=0)

        def cold():
            self.built("--memory", "1G")
            text = (self.space.build_dir / "build.ninja").read_text()
            return text, self.space.hash()
        first, first_bundle = cold()
        facts = next(self.space.root.glob("cache/**/facts.json"))
        known = json.loads(facts.read_text())
        del known["digest"]
        for key, fact in known["facts"].items():
            if key.startswith("edge ") and "c_5m" in key:
                fact["value"] = "99000 900000000 5 5"
        rest = '",' + json.dumps(known)[1:]  # the digest is of the text after it (lib/sys/fact_store.h)
        facts.write_text('{"digest":"' + hashlib.sha256(rest.encode()).hexdigest() + rest)
        second, second_bundle = cold()
        self.assertNotEqual(first, second, "the histories are too much alike for this test")
        edge = re.compile(r"^build .*\n(?:  .*\n)*", re.M)
        self.assertEqual(sorted(edge.findall(first)), sorted(edge.findall(second)))
        self.assertEqual(edge.sub("", first), edge.sub("", second))
        self.assertEqual(first_bundle, second_bundle)


class ForecastTest(MemoryTest):
    def forecast(self, *more):
        run = self.space.run(*self.space.arguments("plan", "--json", *more))
        self.assertEqual(run.code, 0, run)
        return json.loads(run.out)["forecast"]

    def line(self, *more):
        run = self.space.run(*self.space.arguments("plan", *more))
        return re.search(r"^forecast  .*$", run.out, re.M).group(0)

    def test_forecast(self):
        self.space_with("a_80m", "b_80m", seconds=0.5)
        first = self.forecast()
        self.assertEqual((first["edges"], first["measured"], first["from_nothing"]), (4, 0, True))
        self.assertIsNone(first["written_bytes"])
        self.assertLess(first["least_seconds"], first["seconds"])
        self.assertGreater(first["most_seconds"], first["seconds"])
        self.assertIn("guessed for 4 edges, which never ran on this machine", self.line())
        self.assertRegex(self.line(), r"^forecast  about \d.* s to \d.* s, a guess, at most ")
        self.built()
        self.assertEqual(self.forecast()["edges"], 0)
        self.assertEqual(self.line(), "forecast  nothing to do")
        self.space.pack.source("a_80m.cpp").write_text(binding("run_a_80m") + "// more\n")
        after = self.forecast()
        self.assertEqual((after["edges"], after["measured"], after["from_nothing"]), (3, 3, False))
        self.space.remove_build()
        two = self.forecast("-j", "2")
        self.assertEqual((two["edges"], two["measured"]), (4, 4))
        self.assertEqual((two["least_seconds"], two["most_seconds"]), (two["seconds"], two["seconds"]))
        self.assertNotIn("guess", self.line())
        self.assertGreater(two["written_bytes"], 1000)
        self.assertGreater(self.forecast("-j", "1")["seconds"], two["seconds"] + 0.4)
        self.assertGreater(two["memory_bytes"], 160 * MIB)
        self.assertLess(two["memory_bytes"], 300 * MIB)
        self.assertLess(self.forecast("-j", "2", "--memory", "100M")["memory_bytes"], 120 * MIB)


if __name__ == "__main__":
    testspace.main(each_commit=3)
