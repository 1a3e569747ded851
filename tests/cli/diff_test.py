#!/usr/bin/env python3
"""dsbuild diff: exit 0 where two bundles, or builds, are the same, 1 where they differ, 2 where there is nothing to compare;
what differs is what was changed, and sizes are those of the files."""

import json
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402


class DiffTest(CliTest):
    def setUp(self):
        self.space = TestSpace(steps=True)

    def built(self, name, *more):
        """A bundle and a build folder of that name."""
        self.space.out, self.space.build_dir = self.space.root / name, self.space.root / f"build-{name}"
        run = self.space.build(*more)
        self.assertEqual(run.code, 0, run)
        return self.space.out, self.space.build_dir

    def diff(self, a, b, code):
        run = self.space.run("diff", str(a), str(b), "--json")
        self.assertEqual(run.code, code, run)
        document = json.loads(run.out)
        self.assertEqual(document["same"], code == 0)
        return {(each["op"], each["what"]): (each["a"], each["b"]) for each in document["differences"]}

    def test_the_same_request_gives_the_same_bundle_and_the_same_build(self):
        (out, build), (other, other_build) = self.built("a"), self.built("b")
        self.assertEqual(self.diff(out, other, 0), {})
        self.assertEqual(self.diff(build, other_build, 0), {})
        self.assertEqual(self.diff(out, build, 0), {})
        run = self.space.run("diff", str(build), str(other_build))
        self.assertEqual(run.code, 0)
        self.assertIn("the same  ", run.out)
        self.assertIn("time (no difference)", run.out)

    def test_an_arch_less_is_named_with_its_bytes(self):
        (out, _), (other, _) = self.built("a"), self.built("b", "--arch", "8.0")
        changes = self.diff(out, other, 1)
        self.assertEqual(changes["", "requested"], ("8.0 9.0+PTX", "8.0"))
        self.assertEqual(changes["alpha", "archs"], ("8.0 9.0+PTX", "8.0"))
        sizes = tuple(os.path.getsize(folder / "alpha.so") for folder in (out, other))
        self.assertEqual(changes.get(("alpha", "bytes"), (sizes[0], sizes[0])), sizes)  # pages may be as many
        self.assertEqual(changes["alpha", "images of sm_90"], ("1", "0"))
        self.assertEqual(changes["beta", "images of sm_90"], ("2", "0"))
        self.assertNotIn(("alpha", "bytes of sm_80"), changes)
        self.assertFalse(any(op == "host" for op, _ in changes))
        grown = changes["alpha", "bytes of sm_90"]
        self.assertGreater(grown[0], 0)
        self.assertEqual(grown[1], 0)

    def test_an_op_less_is_named(self):
        (out, _), (other, _) = self.built("a"), self.built("b", "--ops", "alpha,beta,gamma")
        self.assertEqual(self.diff(out, other, 1), {("host", "op"): ("built", "not there")})

    def test_flags_and_sources_of_two_builds(self):
        _, build = self.built("a")
        self.space.pack.source("host/host.cpp").write_text('extern "C" int host_run() { return 2; }\n')
        _, other = self.built("b", "--debug")
        changes = self.diff(build, other, 1)
        self.assertTrue(changes["host", "source host/host.cpp"][0].startswith("SHA-256 "))
        self.assertIn("-g", changes["host", "flags of host/host.cpp"][1].split())
        self.assertIn("-lineinfo", changes["alpha", "flags of alpha/alpha.cu"][1].split())
        # A bundle knows no flags.
        self.assertFalse(any(what.startswith("flags") for _, what in self.diff(self.space.root / "a", other, 1)))

    def test_an_export_and_another_toolkit(self):
        out, _ = self.built("a")
        spec = self.space.pack.folder / "gamma" / "op.yaml"
        spec.write_text(spec.read_text().replace('"gamma_run", "gamma_more"', '"gamma_run"'))
        toolkit = TestSpace(version="12.8", steps=True).toolkit
        self.space.toolkit = toolkit
        other, _ = self.built("b")
        changes = self.diff(out, other, 1)
        self.assertEqual(changes["gamma", "export"], ("gamma_more", "not there"))
        self.assertTrue(changes["", "toolkit"][0].startswith("13.0"))
        self.assertTrue(changes["", "toolkit"][1].startswith("12.8"))

    def test_the_table(self):
        self.built("a")
        self.built("b", "--ops", "alpha,host")
        self.check_alone("diff", self.space, "diff", "a", "b", code=1)
        run = self.space.run("diff", "a", "b", "--color", "always")
        self.assertEqual(run.code, 1)

    def test_what_cannot_be_compared_is_no_difference(self):
        out, build = self.built("a")
        self.check_alone("diff_nothing", self.space, "diff", code=2)
        self.check_alone("diff_one", self.space, "diff", "a", code=2)
        self.check_alone("diff_absent", self.space, "diff", "a", "b", code=2)
        self.check_alone("diff_foreign", self.space, "diff", "pack", "a", code=2)
        (build / "plan.json").write_text('{"schema": 1}\n')
        self.check_alone("diff_damaged_build", self.space, "diff", "a", "build-a", code=2)
        (out / "manifest.json").write_text("{}\n")
        self.assertEqual(self.space.run("diff", "a", "a").code, 2)
        shutil.rmtree(build)


if __name__ == "__main__":
    testspace.main(each_commit=4)
