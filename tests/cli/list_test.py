#!/usr/bin/env python3
"""list: the ops of a pack, the archs that each keeps of the request, and whether they can be built here."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402


class ListTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        spec = cls.space.pack.folder / "beta" / "op.yaml"
        spec.write_text(spec.read_text() + "description: Two kernels\nrequires: [{header: none/there_is.h}]\n")

    def ops(self, *words):
        run = self.run_in(self.space, "list", "--json", *words)
        self.assertEqual((run.code, run.err), (0, ""), run)
        document = json.loads(run.out)
        return {op["name"]: op for op in document["ops"]}

    def test_the_table(self):
        self.check("list", self.space, "list", "--arch", "7.5;9.0+PTX", code=0)

    def test_archs_are_those_that_a_build_would_have(self):
        listed = self.ops("--arch", "7.5;9.0+PTX")
        plan = json.loads(self.run_in(self.space, "plan", "--json", "--arch", "7.5;9.0+PTX").out)
        planned = {op["name"]: op for op in plan["ops"]}
        self.assertEqual(set(listed), {"alpha", "beta", "gamma", "host"})
        for name in ("alpha", "gamma", "host"):
            self.assertEqual((listed[name]["archs"], listed[name]["compatible"]), (planned[name]["archs"], True))
        self.assertEqual((listed["gamma"]["limits"], listed["gamma"]["archs"]), (">= 8.0", ["9.0+PTX"]))
        self.assertEqual((listed["host"]["backends"], listed["host"]["archs"]), (["cpu"], []))

    def test_what_an_op_lacks(self):
        beta = self.ops()["beta"]
        self.assertEqual((beta["compatible"], beta["description"]), (False, "Two kernels"))
        self.assertIn("none/there_is.h", beta["reasons"][0])
        gamma = self.ops("--arch", "7.5")["gamma"]
        self.assertEqual((gamma["compatible"], gamma["archs"]), (False, []))
        self.assertEqual(gamma["reasons"], ["no arch left: supports >= 8.0, requested 7.5"])

    def test_an_op_that_is_not_selected_is_listed(self):
        ops = self.ops("--ops", "alpha")
        self.assertEqual([name for name, op in ops.items() if op["selected"]], ["alpha"])
        self.assertEqual((ops["gamma"]["compatible"], ops["gamma"]["archs"]), (True, ["8.0", "9.0+PTX"]))

    def test_without_a_toolkit(self):
        run = self.run_in(self.space, "list", "--json", "--cuda-home", self.space.home)
        ops = {op["name"]: op for op in json.loads(run.out)["ops"]}
        self.assertEqual((run.code, ops["alpha"]["compatible"], ops["host"]["compatible"]), (0, False, True), run)


if __name__ == "__main__":
    testspace.main()
