#!/usr/bin/env python3
"""docs/recipes/attach.sh with a stand-in for oras, which writes down what it is asked and looks at the file."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402

ORAS = """#!/bin/sh
file="${5%%:*}"
[ -f "$file" ] || { echo "no $file" >&2; exit 1; }
printf '%s\\n' "$*" >>"$ORAS_LOG"
"""


class AttachTest(CliTest):
    def test_what_is_attached(self):
        space = TestSpace()
        if space.run("help", "sbom").code != 0:
            self.skipTest("this program makes no SBOM")
        self.assertEqual(space.build("--ops", "host").code, 0)
        (space.out / "provenance.sigstore.json").write_text("{}")
        attached = self.attach(space)
        self.assertEqual(attached.returncode, 0, attached.stderr)
        lines = [line.split() for line in (space.root / "oras.log").read_text().splitlines()]
        self.assertTrue(all(line[:2] == ["attach", "--artifact-type"] and line[3] == "registry.example.org/ops@sha256:0" for line in lines))
        self.assertEqual([(line[2], line[4].partition(":")[0]) for line in lines], [
            ("application/spdx+json", "sbom.spdx.json"), ("application/vnd.cyclonedx+json", "sbom.cdx.json"),
            ("application/vnd.in-toto+json", "provenance.intoto.json"),
            ("application/vnd.dev.sigstore.bundle.v0.3+json", "provenance.sigstore.json")])

    def test_a_damaged_bundle_is_not_attached(self):
        space = TestSpace()
        self.assertEqual(space.build("--ops", "host").code, 0)
        (space.out / "host.so").unlink()
        self.assertEqual(self.attach(space).returncode, 1)
        self.assertFalse((space.root / "oras.log").exists())

    def attach(self, space):
        tools = space.root / "tools"
        tools.mkdir()
        (tools / "oras").write_text(ORAS)
        (tools / "oras").chmod(0o755)
        (tools / "dsbuild").symlink_to(space.program)
        environment = {**space.environment, "PATH": f"{tools}:{os.environ['PATH']}", "ORAS_LOG": str(space.root / "oras.log")}
        return subprocess.run([REPOSITORY / "docs/recipes/attach.sh", "registry.example.org/ops@sha256:0", space.out], env=environment,
                              capture_output=True, text=True, check=False)


if __name__ == "__main__":
    testspace.main()
