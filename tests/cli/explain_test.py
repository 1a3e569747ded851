#!/usr/bin/env python3
"""explain: each station of an arch with the rule that decided there, also where nothing can be built; and the edges that
Ninja would run."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, Folder, TestSpace, testspace  # noqa: E402
from packs import Pack, kernel  # noqa: E402


class ExplainTest(CliTest):
    def explain(self, space, *words, code=0, **options):
        run = self.run_in(space, "explain", *words, "--json", **options)
        self.assertEqual(run.code, code, run)
        return json.loads(run.out)

    def steps(self, explained, arch):
        """{stage: (passed, rule)} of one arch."""
        target = next(target for target in explained["targets"] if target["arch"] == arch)
        return {step["stage"]: (step["passed"], step["rule"]) for step in target["steps"]}


class ArchTest(ExplainTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(steps=True)

    def test_every_station_of_every_arch(self):
        self.check("explain", self.space, "explain", "beta", "--arch", "7.5;8.0+PTX", code=0)

    def test_what_is_in_the_way_of_the_whole_build(self):
        self.check("explain_obstacle", self.space, "explain", "beta", "--arch", "6.0;8.0", code=0)

    def test_what_the_op_drops_has_the_place_in_its_spec(self):
        run = self.run_in(self.space, "explain", "gamma", "7.5", "--arch", "7.5;8.0")
        self.assertIn(f"op       dropped: needs >= 8.0 ({self.space.pack.folder}/gamma/op.yaml:3:8)", run.out)

    def test_what_the_toolkit_cannot_target_is_explained_although_nothing_can_be_built(self):
        explained = self.explain(self.space, "alpha", "--arch", "7.0;8.0")
        self.assertEqual(self.steps(explained, "7.0")["toolkit"],
                         (False, "dropped: CUDA 13.0 cannot target it (CUDA 9.0 to 12.9 can)"))
        self.assertEqual([obstacle["code"] for obstacle in explained["obstacles"]], ["toolkit_lacks_archs"])
        self.assertTrue(self.steps(explained, "8.0")["image"][0])

    def test_ops_that_share_no_arch_are_explained(self):
        pack = Pack(self.space.root / "apart", "apart")
        pack.add_op("high", {"high.cu": kernel("high_run")}, {"archs": {"min": "9.0"}})
        pack.add_op("low", {"low.cu": kernel("low_run")}, {"archs": {"max": "8.0"}})
        explained = self.explain(self.space, "low", "--pack", pack.folder)
        self.assertEqual([obstacle["code"] for obstacle in explained["obstacles"]], ["disjoint_archs"])
        self.assertEqual(self.steps(explained, "8.0")["flags"], (True, "extra: not in high"))

    def test_an_arch_that_was_not_requested_says_what_runs_there(self):
        explained = self.explain(self.space, "gamma", "8.6", "--arch", "8.0")
        self.assertEqual([target["target"] for target in explained["targets"]], ["sm_86"])
        steps = self.steps(explained, "8.6")
        self.assertEqual(steps["request"], (False, "not requested; by --arch: 8.0"))
        self.assertEqual(steps["op"], (True, "would take it"))
        self.assertEqual(steps["gpu"], (True, "on a GPU of 8.6: native (sm_80)"))
        steps = self.steps(self.explain(self.space, "gamma", "7.5", "--arch", "8.0"), "7.5")
        self.assertFalse(steps["op"][0])
        self.assertEqual(steps["gpu"], (False, "on a GPU of 7.5: will not run"))

    def test_one_arch_alone(self):
        explained = self.explain(self.space, "alpha", "9.0", "--arch", "8.0;9.0+PTX")
        self.assertEqual([target["target"] for target in explained["targets"]], ["sm_90", "compute_90"])

    def test_specialised_archs(self):
        pack = Pack(self.space.root / "special", "special")
        pack.add_op("fast", {"fast.cu": kernel("fast_run")}, {"archs": {"specialise": ["9.0a"]}})
        explained = self.explain(self.space, "fast", "--pack", pack.folder, "--arch", "9.0")
        self.assertEqual(self.steps(explained, "9.0")["op"], (True, "built as 9.0a (specialise)"))
        self.assertIn("sm_90a in fast.so", self.steps(explained, "9.0")["image"][1])

    def test_a_source_for_fewer_archs(self):
        pack = Pack(self.space.root / "narrow", "narrow")
        pack.add_op("narrow", {"any.cu": kernel("any_run"), "new.cu": kernel("new_run")})
        (pack.folder / "narrow" / "op.yaml").write_text(
            'name: narrow\nsources: [{path: any.cu, archs: {max: "8.0"}}, {path: new.cu, archs: {min: "9.0"}}]\n')
        explained = self.explain(self.space, "narrow", "--pack", pack.folder, "--arch", "8.0;8.6;9.0")
        self.assertEqual(self.steps(explained, "8.0")["source"], (True, "any.cu"))
        self.assertEqual(self.steps(explained, "8.6")["source"], (False, "dropped: no source of the op is for it"))
        self.assertEqual(self.steps(explained, "9.0")["source"], (True, "new.cu"))

    def test_the_default_list_is_named(self):
        explained = self.explain(self.space, "alpha", without=("--arch",))
        self.assertEqual(self.steps(explained, "8.0")["request"], (True, "by the default list of CUDA 13.0"))

    def test_a_cpu_op_has_no_archs(self):
        explained = self.explain(self.space, "host")
        self.assertEqual((explained["status"], explained["targets"]), ("build", []))


class NotBuiltTest(ExplainTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.pack = Pack(cls.space.root / "wants", "wants")
        cls.pack.add_op("wants", {"wants.cu": kernel("wants_run")},
                        {"requires": [{"command": "no-such-tool", "hint": "install no-such-tool"}]})
        cls.pack.add_op("plain", {"plain.cu": kernel("plain_run")})

    def test_a_skipped_op_has_its_findings_and_their_fix(self):
        self.check("explain_skipped", self.space, "explain", "wants", "--pack", self.pack.folder, code=0)

    def test_an_op_that_was_asked_for_by_name_too(self):
        explained = self.explain(self.space, "wants", "--pack", self.pack.folder, "--ops", "wants")
        self.assertEqual(explained["status"], "skip")
        self.assertEqual(explained["requirements"][0]["fix"], "install no-such-tool")

    def test_the_variable_that_switched_it_off(self):
        run = self.run_in(self.space, "explain", "beta", env={"DS_BUILD_BETA": "0"})
        self.assertIn("status  off: DS_BUILD_BETA=0\n", run.out)
        self.assertIn("select  --ops beta, or DS_BUILD_BETA=1 without --ops\n", run.out)
        self.assertEqual(self.explain(self.space, "beta", "--ops", "alpha")["selected"], "not in --ops")

    def test_without_a_selection_every_op_is_looked_at(self):
        explained = self.explain(self.space, "beta", without=("--ops",))
        self.assertEqual((explained["status"], explained["selected"]), ("build", "--pack"))

    def test_without_any_tool(self):
        empty = self.space.root / "empty"
        empty.mkdir()
        run = self.space.run("explain", "fused_adam", "--arch", "8.0", "--cuda-home", str(empty), "--json",
                             env={"PATH": str(empty), "DSBUILD_NINJA": ""})
        self.assertEqual(run.code, 0, run)
        explained = json.loads(run.out)
        self.assertEqual(explained["obstacles"][0]["code"], "no_toolkit")
        self.assertEqual(self.steps(explained, "8.0")["toolkit"], (False, "there is none"))

    def test_messages(self):
        self.check("explain_nothing", self.space, "explain", code=2)
        self.check("explain_unknown_op", self.space, "explain", "betta", code=2)
        self.check("explain_unknown_arch", self.space, "explain", "beta", "8.O", code=2)


class EdgesTest(ExplainTest):
    def setUp(self):
        self.space = TestSpace()

    def runs(self, *words, op="beta"):
        """{edge: reason} of the edges that would run; or the code of what keeps Ninja from saying it."""
        explained = self.explain(self.space, op, *words)
        if explained["edges_error"]:
            return explained["edges_error"]["code"]
        return {edge["edge"]: edge["reason"] for edge in explained["edges"] if edge["runs"]}

    def build(self):
        built = self.space.build()
        self.assertEqual(built.code, 0, built)

    def test_before_the_first_build(self):
        self.assertEqual(self.runs(), "not_built")
        self.assertFalse(self.space.build_dir.exists())

    def test_after_a_build_nothing_would_run_and_explain_writes_nothing(self):
        self.build()
        before = Folder(self.space.build_dir)
        self.assertEqual(self.runs(), {})
        changed = {file for file, state in before._state().items()
                   if state != before.before.get(file) and not file.endswith(("/tmp", "/lock"))}
        self.assertEqual(changed, set())
        self.assertIn("it is in", self.steps(self.explain(self.space, "beta"), "8.0")["image"][1])

    def test_a_changed_source_and_what_is_made_of_it(self):
        self.build()
        source = self.space.pack.source("beta/one.cu")
        source.write_text(source.read_text() + "// more\n")
        runs = self.runs()
        self.assertEqual(list(runs), ["compile beta: beta/one.cu", "link beta", "verify beta"])
        self.assertRegex(runs["compile beta: beta/one.cu"], "beta/one.cu")
        self.assertRegex(runs["link beta"], "one.o is rebuilt")
        self.assertEqual(self.runs(op="alpha"), {})

    def test_a_build_says_why_each_edge_runs_in_its_log_and_to_who_asks(self):
        self.build()
        source = self.space.pack.source("beta/one.cu")
        text = source.read_text()
        reasons = {"compile beta: beta/one.cu": "beta/one.cu has changed", "link beta": "one.o is rebuilt",
                   "verify beta": "lib/beta.so is rebuilt"}

        source.write_text(text + "int more;\n")
        plain = self.space.build()
        self.assertNotIn("has changed", plain.err)
        log = (self.space.build_dir / "log/dsbuild.log").read_text()

        source.write_text(text + "int more, other;\n")
        verbose = self.space.build("-v").err

        source.write_text(text + "int more, others;\n")
        events = [json.loads(line) for line in self.space.build("--json").out.splitlines()]
        said = {event["kind"]: event["reason"] for event in events if event.get("event") == "edge_finished"}
        for edge, reason in reasons.items():
            for where, printed in (("log", log), ("-v", verbose)):
                with self.subTest(where, edge=edge):
                    line = next(line for line in printed.splitlines() if edge in line)
                    self.assertRegex(line, f" s: .*{reason}$")
        self.assertEqual(said["cuda_compile"], "beta/one.cu has changed")

    def test_a_lost_library(self):
        self.build()
        (self.space.build_dir / "lib" / "beta.so").unlink()
        runs = self.runs()
        self.assertEqual(list(runs), ["link beta", "verify beta"])
        self.assertEqual(runs["link beta"], "output lib/beta.so is gone")

    def test_another_request(self):
        self.build()
        runs = self.runs("--arch", "8.6")
        self.assertIn("option -gencode=arch=compute_80,code=sm_80 is now ", runs["compile beta: beta/one.cu"])
        self.assertNotIn("compile beta: beta/beta.cpp", runs)

    def test_an_op_that_was_not_built_before(self):
        self.assertEqual(self.space.build("--ops", "alpha").code, 0)
        runs = self.runs()
        self.assertEqual(len(runs), 5)
        self.assertRegex(runs["compile beta: beta/one.cu"], "it was not made yet")

    def test_what_is_explained_is_what_the_build_runs(self):
        self.build()
        self.space.pack.source("alpha/shared.h").write_text("// another\n")
        expected = sum(len(self.runs(op=op)) for op in ("alpha", "beta", "gamma", "host"))
        self.assertEqual(self.space.build().edges_run(), expected)
        self.assertEqual(expected, 3)


if __name__ == "__main__":
    testspace.main()
