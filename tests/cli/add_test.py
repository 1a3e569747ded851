#!/usr/bin/env python3
"""--add: what is in the bundle stays in it."""

import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace  # noqa: E402
import testspace  # noqa: E402
from packs import make_pack  # noqa: E402


class AddTest(CliTest):
    def setUp(self):
        self.space = TestSpace()
        self.assertEqual(self.build("--ops", "alpha", "--arch", "8.0").code, 0)

    def build(self, *words, **options):
        return self.run_in(self.space, *words, without=("--arch", "--ops"), **options)

    def in_bundle(self):
        return sorted(file.stem for file in self.space.out.glob("*.so"))

    def manifest(self):
        return json.loads((self.space.out / "manifest.json").read_text())

    def test_without_it_the_other_op_goes_and_with_it_it_stays(self):
        before = (self.space.out / "alpha.so").read_bytes()
        self.space.toolkit.forget_starts()
        run = self.build("--ops", "host", "--add")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(self.in_bundle(), ["alpha", "host"])
        self.assertEqual(self.manifest()["requested"], ["8.0"])  # the bundle's, where none are asked for
        self.assertEqual((self.space.out / "alpha.so").read_bytes(), before)
        self.assertEqual(self.space.compiled(), [])  # alpha is up to date
        self.assertNotIn("removes", run.err)
        self.assertEqual(self.space.verify().code, 0)
        self.assertEqual(self.build("--ops", "host").code, 0)
        self.assertEqual(self.in_bundle(), ["host"])

    def test_a_second_time_nothing_is_done(self):
        self.build("--ops", "host", "--add")
        again = self.build("--ops", "host", "--add")
        self.assertEqual((again.code, again.edges_run()), (0, 0), again)

    def test_archs_that_are_asked_for_are_those_of_all(self):
        run = self.build("--ops", "host", "--add", "--arch", "8.0,9.0")
        self.assertEqual(run.code, 0, run)
        archs = {op["name"]: op["archs"] for op in self.manifest()["ops"]}
        self.assertEqual(archs, {"alpha": ["8.0", "9.0"], "host": []})

    def test_alone_it_builds_what_is_there(self):
        self.space.pack.source("alpha/shared.h").write_text("// changed\n")
        run = self.build("--add")
        self.assertEqual((run.code, self.in_bundle()), (0, ["alpha"]), run)
        self.assertGreater(run.edges_run(), 0)

    def test_plan_says_why_an_op_is_there(self):
        run = self.build("plan", "--ops", "host", "--add", "--json")
        plan = json.loads(run.out)
        self.assertEqual([op["name"] for op in plan["ops"] if op["status"] == "build"], ["alpha", "host"])
        self.assertEqual(plan["removes"], [])

    def test_what_is_left_out_by_name_or_variable_is(self):
        for words, env in ((("--ops", "host,-alpha"), {}), (("--ops", "host"), {"DS_BUILD_ALPHA": "0"})):
            plan = json.loads(self.build("plan", *words, "--add", "--json", env=env).out)
            self.assertEqual([op["name"] for op in plan["ops"] if op["status"] == "build"], ["host"])

    def test_where_there_is_no_bundle_there_is_nothing_to_keep(self):
        shutil.rmtree(self.space.out)
        run = self.build("--ops", "host", "--add", "--arch", "8.0")
        self.assertEqual((run.code, self.in_bundle()), (0, ["host"]), run)

    def test_a_bundle_of_another_pack(self):
        other = make_pack(self.space.root / "other")
        (other.folder / "pack.yaml").write_text("name: other\nsource_root: src\n")
        run = self.check("add_other_pack", self.space, "--ops", "host", "--add", "--pack", other.folder, code=2,
                         without=("--arch",))
        self.assertEqual(self.in_bundle(), ["alpha"], run)

    def test_an_op_that_the_pack_has_no_more(self):
        shutil.rmtree(self.space.pack.folder / "alpha")
        run = self.check("add_lost_op", self.space, "--ops", "host", "--add", code=2, without=("--arch",))
        self.assertEqual(self.in_bundle(), ["alpha"], run)
        self.assertEqual(self.build("--ops", "host").code, 0)  # as its fix says

    def test_a_damaged_manifest(self):
        (self.space.out / "manifest.json").write_text("{")
        self.assertIn("error[bad_manifest]", self.build("--ops", "host", "--add").err)


if __name__ == "__main__":
    testspace.main()
