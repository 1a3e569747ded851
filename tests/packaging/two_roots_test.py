#!/usr/bin/env python3
"""Two clean roots that differ in user, folders, day, cores and order of work make the same bundle, wheel of ops, bills of materials
and provenance, byte for byte: of a bill all but its time, of the provenance all but the run (times, who built).

DSBUILD_WHEEL: a wheel of dsbuild that is there already."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from machine import Root, require_roots, wheel  # noqa: E402
from wheel_test import cuda_home  # noqa: E402

MADE = """
set -e
{venv}/bin/dsbuild --ops {ops} --arch '8.0;9.0+PTX' --cuda-home /usr/local/cuda --out bundle --build-dir build -j {jobs}
{venv}/bin/dsbuild wheel bundle --wheel-dir wheels
for format in spdx cyclonedx; do {venv}/bin/dsbuild sbom bundle --format $format --sbom-file $format.json; done
{venv}/bin/dsbuild verify bundle
"""
TIMES = {"spdx.json": ("creationInfo", "created"), "cyclonedx.json": ("metadata", "timestamp"),
         ".intoto.json": ("predicate", "runDetails")}  # of the bundle, and of the wheel


class Place:
    """A root with dsbuild, and where a user of it builds."""

    def __init__(self, root, user, home, venv):
        self.root, self.user, self.home, self.venv = root, user, home, venv
        if user != "root":
            root.run("useradd", "--create-home", "--home-dir", home, user)
        root.run("mkdir", "-p", home, venv)
        root.run("sh", "-c", f"python3 -m venv {venv} && {venv}/bin/pip install -q /wheels/{WHEEL.name}[native]",
                 binds={"/wheels": WHEEL.parent})
        root.run("chown", "-R", user, home, venv)

    def make(self, *prefix, ops, jobs):
        text = MADE.format(venv=self.venv, ops=ops, jobs=jobs)
        return self.root.run("setpriv", f"--reuid={self.user}", "--clear-groups", *prefix, "sh", "-c", text, cwd=self.home,
                             env={"HOME": self.home}, binds={"/usr/local/cuda": f"{pathlib.Path(cuda_home()).resolve()}"})

    def files(self):
        """{name: bytes} of all that was made, but for TIMES."""
        home = self.root.path / self.home.lstrip("/")
        paths = [path for folder in ("bundle", "wheels") for path in (home / folder).rglob("*") if path.is_file()]
        made = {str(path.relative_to(home)): path.read_bytes() for path in [*paths, home / "spdx.json", home / "cyclonedx.json"]}
        return {name: without_times(name, data) for name, data in made.items()}


def without_times(name, data):
    for end, (outer, inner) in TIMES.items():
        if name.endswith(end):
            whole = json.loads(data)
            del whole[outer][inner]
            return json.dumps(whole, indent=1).encode()
    return data


class TwoRootsTest(unittest.TestCase):
    def test_they_make_the_same_bytes(self):
        first = Root("bookworm")
        self.addCleanup(first.remove)
        first.run("sh", "-c", "apt-get -qq update && apt-get -qq install -y --no-install-recommends g++ faketime python3-venv")
        second = first.copy()
        self.addCleanup(second.remove)
        one = Place(first, "root", "/one", "/opt/venv")
        other = Place(second, "builder", "/home/builder/a folder/of its own", "/srv/tools/dsbuild")
        one.make(ops="cpu_adam,fused_adam", jobs=2)
        other.make("taskset", "--cpu-list", "0", "faketime", "-f", "+40d", ops="fused_adam,cpu_adam", jobs=1)
        made, again = one.files(), other.files()
        self.assertEqual(sorted(made), sorted(again))
        self.assertIn("bundle/provenance.intoto.json", made)
        self.assertTrue(any(name.endswith(".whl") for name in made), sorted(made))
        self.assertEqual([name for name in made if made[name] != again[name]], [])
        self.check_that_a_difference_is_seen(other, made)

    def check_that_a_difference_is_seen(self, other, made):
        file = other.root.path / other.home.lstrip("/") / "bundle" / "fused_adam.so"
        file.write_bytes(file.read_bytes() + b"\0")
        self.assertEqual([name for name, data in other.files().items() if made[name] != data], ["bundle/fused_adam.so"])


if __name__ == "__main__":
    require_roots()
    WHEEL = wheel()
    unittest.main(verbosity=2)
