#!/usr/bin/env python3
"""The JSON documents: their keys, pure JSON on stdout, errors as documents; the manifest says nothing of the machine."""

import json
import os
import pathlib
import re
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402

DOCUMENT = {"schema", "dsbuild", "warnings"}
PLAN = DOCUMENT | {"toolkit", "toolkits", "requested", "shared", "source_root", "ops", "removes", "edges", "forecast"}
PLAN_OP = {"name", "module", "link_flags", "status", "reason", "archs", "extra", "dropped", "requirements", "sources", "left_out",
           "features_off", "output"}
REPORT = {"toolkit", "chosen", "toolkits", "rejected", "compilers", "gpus", "ninja", "python", "torch", "shared_memory_bytes", "cgroup",
          "bundle", "wheels", "deepspeed", "ops", "problems", "environment"}
MANIFEST_OP = {"name", "module", "backend", "file", "sha256", "bytes", "archs", "images", "exports", "needs", "sources",
               "runtime"}
SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "unit" / "binary" / "data"
MESSAGE = {"code", "where", "what", "fix"}
ARCH = re.compile(r"\d+\.\d[af]?(\+PTX|-virtual)?")


def strings_of(value):
    """Every string in a JSON value, keys too."""
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in [key, *strings_of(item)]]
    if isinstance(value, list):
        return [text for item in value for text in strings_of(item)]
    return [value] if isinstance(value, str) else []


# For 7.5 and 8.0+PTX: of each CUDA file a front, a slice for each virtual arch, a host and a fatbin edge (alpha and beta: 3 × 5,
# gamma: 2 × 4), 3 C++ files, 4 links, 4 verifies.
EDGES = 34


class JsonTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(steps=True)
        cls.built = cls.space.build("--json", "--arch", "7.5;8.0+PTX")

    def document(self, *words, code=0, **options):
        """What a command prints: one line, one document, nothing for people."""
        run = self.run_in(self.space, *words, "--json", **options)
        self.assertEqual(run.code, code, run)
        self.assertEqual(run.err, "")
        self.assertEqual(run.out.count("\n"), 1)
        document = json.loads(run.out)
        self.assertEqual(document["schema"], 1)
        self.assertRegex(document["dsbuild"], r"^\d+\.\d+\.\d+$")
        return document


class OtherCommandsTest(JsonTest):
    def test_new(self):
        made = self.document("new", "scale", "--pack", "./other")
        self.assertEqual(made["op"], "scale")
        self.assertTrue(all((self.space.root / file).exists() for file in made["files"]), made)
        self.assertEqual(made["next"], "dsbuild --pack ./other --ops scale && python3 ./other/scale/test_scale.py")

    def test_clean(self):
        space = TestSpace()
        self.assertEqual(space.build("--ops", "host").code, 0)
        for expected in ([str(space.build_dir), str(space.out)], []):
            run = self.run_in(space, "clean", "--bundle", "--json")
            self.assertEqual((run.code, run.err), (0, ""), run)
            self.assertEqual(json.loads(run.out)["removed"], expected)


class PlanTest(JsonTest):
    def test_plan(self):
        plan = self.document("plan", "--arch", "7.5;8.0+PTX")
        self.assertEqual(set(plan), PLAN)
        self.assertGreaterEqual(set(plan["toolkit"]), {"path", "version", "archs"})
        self.assertEqual(plan["toolkit"]["version"], "13.0.88")
        self.assertEqual(plan["requested"], ["7.5", "8.0+PTX"])
        self.assertEqual(plan["shared"]["archs"], ["8.0+PTX"])
        self.assertEqual(plan["shared"]["gencode"], ["-gencode=arch=compute_80,code=sm_80",
                                                     "-gencode=arch=compute_80,code=compute_80"])
        self.assertEqual(plan["edges"], EDGES)
        self.assertEqual(set(plan["forecast"]), {"seconds", "least_seconds", "most_seconds", "memory_bytes", "written_bytes", "edges", "measured", "from_nothing"})

    def test_the_ops_of_a_plan(self):
        ops = {op["name"]: op for op in self.document("plan", "--arch", "7.5;8.0+PTX")["ops"]}
        self.assertEqual(list(ops), ["alpha", "beta", "gamma", "host"])
        for op in ops.values():
            self.assertEqual(set(op), PLAN_OP)
        self.assertEqual(ops["beta"]["extra"], {"archs": ["7.5"], "gencode": ["-gencode=arch=compute_75,code=sm_75"]})
        self.assertEqual(ops["gamma"]["dropped"], [{"arch": "7.5", "by": "op", "reason": "needs >= 8.0"}])
        self.assertEqual([{key: source[key] for key in ("path", "archs")} for source in ops["alpha"]["sources"]], [{"path": "alpha/alpha.cpp", "archs": []},
                                                   {"path": "alpha/alpha.cu", "archs": ["7.5", "8.0+PTX"]}])
        self.assertEqual((ops["host"]["status"], ops["host"]["archs"], ops["host"]["output"]), ("build", [], "host.so"))

    def test_the_flags_of_whole_commands(self):
        ops = {op["name"]: op for op in self.document("plan", "--arch", "7.5;8.0+PTX", "--backend", "nvcc")["ops"]}
        cpp, cu = ops["alpha"]["sources"]
        self.assertEqual((cpp["file"], cu["file"]), ("alpha/alpha.cpp", "alpha/alpha.cu"))
        self.assertIn("-fPIC", cpp["flags"])
        self.assertEqual([flag for flag in cu["flags"] if "gencode" in flag],
                         ["-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_80,code=sm_80",
                          "-gencode=arch=compute_80,code=compute_80"])
        self.assertEqual([flag for flag in cpp["flags"] + cu["flags"] if re.match(r"(-I)?pack/", flag)], [])
        self.assertIn("-shared", ops["alpha"]["link_flags"])
        sliced = {op["name"]: op for op in self.document("plan", "--arch", "8.0")["ops"]}
        whole = {op["name"]: op for op in self.document("plan", "--arch", "8.0", "--backend", "nvcc")["ops"]}
        for key in ("compiler", "flags"):
            self.assertEqual([source[key] for source in sliced["alpha"]["sources"]],
                             [source[key] for source in whole["alpha"]["sources"]])
        self.assertEqual([pathlib.Path(source["compiler"][0]).name for source in sliced["alpha"]["sources"]], ["g++", "nvcc"])

    def test_skipped_and_unselected_ops(self):
        ops = {op["name"]: op for op in self.document("plan", "--arch", "7.5", "--ops", "all,-host")["ops"]}
        self.assertEqual({name: op["status"] for name, op in ops.items()},
                         {"alpha": "build", "beta": "build", "gamma": "skip", "host": "off"})
        self.assertIn("supports >= 8.0", ops["gamma"]["reason"])
        self.assertIsNone(ops["gamma"]["output"])

    def test_ptx_alone_is_virtual(self):
        self.assertEqual(self.document("plan", "--arch", "compute_80")["requested"], ["8.0-virtual"])

    def test_a_cpu_selection_has_no_toolkit(self):
        self.assertIsNone(self.document("plan", "--ops", "host")["toolkit"])

    def test_the_requirements_of_the_native_ops(self):
        plan = json.loads(self.space.run("plan", "--ops", "cpu_adam", "--json").out)
        if "error" in plan:
            self.assertEqual(plan["error"]["code"], "op_not_compatible")
            return
        requirement = plan["ops"][0]["requirements"][0]
        self.assertGreaterEqual(set(requirement), {"kind", "ok", "why", "fix"})
        self.assertEqual(requirement["kind"], "tvm_ffi")

    def test_warnings_are_in_the_document(self):
        plan = self.document("plan", env={"DS_BUILD_FOO": "0"})
        self.assertEqual([set(warning) for warning in plan["warnings"]], [MESSAGE])
        self.assertEqual(plan["warnings"][0]["where"], "DS_BUILD_FOO")

    def test_plan_format_json_is_the_same_document(self):
        run = self.run_in(self.space, "plan", "--format", "json")
        self.assertEqual(json.loads(run.out), self.document("plan"))


class OtherDocumentsTest(JsonTest):
    def test_report(self):
        report = self.document("report")
        self.assertEqual(set(report), DOCUMENT | REPORT)
        gamma = next(op for op in report["ops"] if op["name"] == "gamma")
        self.assertEqual((gamma["installed"], gamma["compatible"], gamma["archs"]), (True, True, ["8.0+PTX"]))

    def test_explain(self):
        explained = self.document("explain", "gamma")
        self.assertEqual(set(explained), DOCUMENT | {"op", "spec", "status", "reason", "selected", "archs", "left_out",
                                                     "features_off", "requirements", "obstacles", "targets", "edges", "edges_error"})
        for target in explained["targets"]:
            self.assertEqual(set(target), {"arch", "target", "steps"})
            for step in target["steps"]:
                self.assertEqual(set(step), {"stage", "passed", "rule"})
        for edge in explained["edges"]:
            self.assertEqual(set(edge), {"edge", "runs", "reason", "remote_miss"})

    def test_inspect(self):
        run = self.space.run("inspect", str(self.space.out), "--json")
        inspected = json.loads(run.out)
        self.assertEqual(set(inspected), DOCUMENT | {"files"})
        files = {os.path.basename(file["file"]): file for file in inspected["files"]}
        self.assertEqual(list(files), ["alpha.so", "beta.so", "gamma.so", "host.so"])
        gamma = files["gamma.so"]
        self.assertEqual(gamma["archs"], ["8.0+PTX"])
        self.assertEqual(sorted((image["kind"], image["arch"]) for image in gamma["images"]),
                         [("elf", "sm_80")] * 2 + [("ptx", "compute_80")] * 2)
        for image in gamma["images"]:
            self.assertEqual(set(image), {"kind", "arch", "bytes", "compressed", "module"})
        self.assertEqual(gamma["modules"], 2)
        self.assertEqual([(size["arch"], size["modules"], size["images"]) for size in gamma["sizes"]],
                         [("sm_80", 2, 2), ("compute_80", 2, 2)])
        self.assertEqual(files["host.so"]["modules"], 0)
        self.assertEqual(files["host.so"]["images"], [])
        self.assertEqual(files["host.so"]["tile_images"], [])

    def test_inspect_names_tile_images(self):
        run = self.space.run("inspect", str(SAMPLES / "tile.fatbin"), "--json")
        file = json.loads(run.out)["files"][0]
        self.assertEqual(set(file), {"file", "archs", "modules", "sizes", "images", "relocatable_images", "tile_images", "coverage"})
        self.assertEqual(file["archs"], ["8.0", "9.0a", "10.0f", "12.0"])  # of the machine code alone
        self.assertEqual([image["kind"] for image in file["images"]], ["elf"] * 4)
        self.assertEqual([image["arch"] for image in file["tile_images"]], ["sm_80", "sm_100f"])
        for image in file["tile_images"]:
            self.assertEqual(set(image), {"arch", "bytes", "compressed"})

    def test_toolkits(self):
        toolkits = self.document("toolkits")
        self.assertEqual(set(toolkits), DOCUMENT | {"toolkits", "rejected"})
        ours = toolkits["toolkits"][0]
        self.assertEqual((ours["path"], ours["origin"]), (str(self.space.toolkit.home), "--cuda-home"))
        for arch in ours["archs"]:
            self.assertRegex(arch, ARCH)

    def test_toolkits_for_a_request(self):
        advice = {arch: self.document("toolkits", "--for", "--arch", arch, "--ops", ops)["advice"]
                  for arch, ops in {"8.0": "all", "7.0": "all", "9.0": "host"}.items()}
        self.assertEqual(advice, {"8.0": "have", "7.0": "impossible", "9.0": "none needed"})

    def test_verify(self):
        verified = self.document("verify", self.space.out)
        self.assertEqual(set(verified), DOCUMENT | {"bundle", "ok", "differences"})
        self.assertEqual((verified["ok"], verified["differences"]), (True, []))

    def test_verify_that_loads(self):
        verified = self.document("verify", self.space.out, "--load")
        self.assertEqual(set(verified), DOCUMENT | {"bundle", "ok", "differences", "loads"})
        for trial in verified["loads"]:
            self.assertEqual(trial, {"op": trial["op"], "loaded": True, "by": "dlopen", "why": None, "fix": None})

    def test_verify_of_a_bundle_with_another_file(self):
        extra = self.space.out / "extra.txt"
        extra.write_text("x\n")
        try:
            verified = self.document("verify", self.space.out, code=1)
        finally:
            extra.unlink()
        self.assertFalse(verified["ok"])
        self.assertEqual([set(difference) for difference in verified["differences"]], [{"op", "file", "what"}])

    def test_an_error_is_a_document(self):
        for words, code in ((["--ops", "nothing"], 2), (["plan", "--arch", "7.0"], 3), (["--no-such-option"], 2),
                            (["verify", str(self.space.home)], 1)):
            with self.subTest(words=words):
                document = self.document(*words, code=code)
                of_build = set() if words[0] in ("plan", "verify") else {"event", "exit", "failed", "built", "edges_left"}
                self.assertEqual(set(document), {"schema", "dsbuild", "error"} | of_build)
                self.assertEqual(document.get("event", "result"), "result")
                self.assertEqual(set(document["error"]), MESSAGE)
                for part in ("code", "where", "what", "fix"):
                    self.assertTrue(document["error"][part], part)


class BuildTest(JsonTest):
    def events(self, run):
        return [json.loads(line) for line in run.out.splitlines()]

    def test_the_first_event_is_the_plan_and_the_last_the_result(self):
        self.assertEqual(self.built.code, 0, self.built)
        self.assertEqual(self.built.err, "")
        events = self.events(self.built)
        self.assertEqual(set(events[0]), PLAN - {"forecast"} | {"event"})
        self.assertEqual([events[0]["event"], events[-1]["event"]], ["plan", "result"])
        result = events[-1]
        self.assertEqual(set(result), DOCUMENT | {"event", "bundle", "ops", "failed", "skipped", "edges_run", "seconds", "store", "memory"})
        self.assertEqual([op["name"] for op in result["ops"]], ["alpha", "beta", "gamma", "host"])
        self.assertEqual((result["edges_run"], result["skipped"], result["failed"]), (EDGES, 0, []))
        self.assertEqual(result["bundle"]["path"], str(self.space.out))

    def test_each_edge_starts_and_ends_once(self):
        events = self.events(self.built)[1:-1]
        started, ended = ([(e["op"], e["kind"], e["source"], e.get("part")) for e in events if e["event"] == f"edge_{how}"]
                          for how in ("started", "finished"))
        self.assertEqual(sorted(started), sorted(ended))
        self.assertEqual(len(set(started)), EDGES)
        self.assertEqual(len(events), 2 * EDGES)
        for event in events:
            self.assertLessEqual({"event", "op", "kind", "source", "finished", "total"}, set(event))

    def test_a_failed_edge(self):
        space = TestSpace(fail=["two.cu"])
        run = self.run_in(space, "--json", "--keep-going", "--ops", "gamma,host")
        self.assertEqual(run.code, 1)
        events = self.events(run)
        failed = [event for event in events if event["event"] == "edge_failed"]
        self.assertEqual([event["source"] for event in failed], ["gamma/two.cu"])
        self.assertIn("undefined_name", failed[0]["output"])
        result = events[-1]
        self.assertEqual(set(result["failed"][0]), {"op", "source", "archs", "error", "log", "reproduce"})
        self.assertEqual(result["failed"][0]["archs"], ["8.0", "9.0+PTX"])

    def test_a_failed_build_ends_with_the_error(self):
        space = TestSpace(fail=["two.cu"])
        run = self.run_in(space, "--json", "--ops", "gamma")
        self.assertEqual(run.code, 1)
        last = self.events(run)[-1]
        self.assertEqual((last["error"]["code"], last["error"]["where"]), ("edge_failed", "gamma"))


class ManifestTest(JsonTest):
    def setUp(self):
        self.text = (self.space.out / "manifest.json").read_text()
        self.manifest = json.loads(self.text)

    def test_keys(self):
        self.assertLessEqual({"schema", "dsbuild", "toolkit", "requested", "shared", "ops", "failed", "tvm_ffi"},
                             set(self.manifest))
        for op in self.manifest["ops"]:
            self.assertEqual(set(op), MANIFEST_OP)
            for source in op["sources"]:
                self.assertEqual(set(source), {"path", "sha256", "archs"})
            for image in op["images"]:
                self.assertEqual(set(image), {"kind", "arch", "count"})

    def test_values(self):
        gamma = self.manifest["ops"][2]
        self.assertEqual((gamma["name"], gamma["file"], gamma["archs"]), ("gamma", "gamma.so", ["8.0+PTX"]))
        self.assertEqual(gamma["images"], [{"kind": "elf", "arch": "sm_80", "count": 2},
                                           {"kind": "ptx", "arch": "compute_80", "count": 2}])
        self.assertEqual(sorted(gamma["exports"]), ["gamma_more", "gamma_run"])
        files = {name: digest for name, _, digest in testspace.bundle_files(self.space.out)}
        for op in self.manifest["ops"]:
            self.assertEqual(op["sha256"], files[op["file"]])
            self.assertEqual(op["bytes"], (self.space.out / op["file"]).stat().st_size)

    def test_sorted(self):
        names = [op["name"] for op in self.manifest["ops"]]
        self.assertEqual(names, sorted(names))
        for op in self.manifest["ops"]:
            self.assertEqual(op["exports"], sorted(op["exports"]))

    def test_nothing_of_the_machine_or_the_moment(self):
        for text in strings_of(self.manifest):
            self.assertFalse(text.startswith("/"), f"an absolute path: {text}")
            self.assertNotIn(str(self.space.root), text)
            self.assertNotRegex(text, r"\d\d:\d\d|20\d\d-\d\d", "a time")
            self.assertNotEqual(text, socket.gethostname())
        self.assertNotIn("time", strings_of(self.manifest))


if __name__ == "__main__":
    testspace.main()
