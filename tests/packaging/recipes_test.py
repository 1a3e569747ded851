#!/usr/bin/env python3
"""The recipes of docs/recipes do what they say: every RUN, run: and script: line is executed in a clean Debian root."""

import os
import pathlib
import re
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from machine import HOME_IN_ROOT, REPOSITORY, require_roots, skip, wheel  # noqa: E402
from recipes import CUDA, Dockerfile, Job, expanded  # noqa: E402

try:
    import yaml
except ImportError:
    SYSTEM = "/usr/bin/python3"  # the one that python3-yaml is for
    if os.path.exists(SYSTEM) and os.path.realpath(SYSTEM) != os.path.realpath(sys.executable):
        os.execv(SYSTEM, [SYSTEM, "-B", *sys.argv])
    skip("Python's yaml is not installed (python3-yaml)")

RECIPES = REPOSITORY / "docs" / "recipes"
OPS = "cpu_adam,fused_adam"  # a CPU and a CUDA op: what each op's build says is for other tests


class RecipeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="dsbuild-recipes-")
        cls.project = pathlib.Path(cls.folder.name)
        (cls.project / "dist").mkdir()
        built = wheel()
        (cls.project / "dist" / built.name).write_bytes(built.read_bytes())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.begin = time.monotonic()

    def tearDown(self):
        print(f"  {time.monotonic() - self.begin:.0f} s")

    def build_image(self, **arguments):
        """The last stage, and what the build said."""
        file = Dockerfile((RECIPES / "Dockerfile").read_text(), self.project, {"OPS": OPS, **arguments})
        self.addCleanup(file.remove)
        stage = file.run()
        self.assertIn("built 2, skipped 0", file.output)
        self.assertIn("ok  /opt/dsbuild", file.output)
        self.assertEqual({path.name for path in stage.inside("/opt/dsbuild").glob("*.so")},
                         {"cpu_adam.so", "fused_adam.so"})
        self.assertFalse(stage.inside("/usr/bin/g++").exists(), "the runtime image has a compiler")
        judged = next(words for name, words in reversed(file.instructions) if name == "RUN")
        self.assertIn("--policy", judged)
        refused = stage.root.start("sh", "-c", f"{judged} --max-size 1K", env={**stage.arguments, **stage.env})
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("error[too_large]", refused.stdout)
        return file.output

    def test_dockerfile_with_the_toolkit_from_pypi(self):
        self.assertIn("CUDA 13.5", self.build_image())

    def test_dockerfile_with_a_cuda_image(self):
        text = (RECIPES / "Dockerfile").read_text()
        image = re.search(r"BUILD_IMAGE=(nvidia/cuda:\S+)", text).group(1)
        self.assertIn(f"in {CUDA} ", self.build_image(BUILD_IMAGE=image))

    def check_twice(self, job, run_all):
        """The first run builds; one in a fresh checkout with the job's cache runs no edge."""
        self.addCleanup(job.root.remove)
        first = run_all()
        self.assertIn("built 2, skipped 0", first)
        self.assertIn("ok  dsbuild-out", first)
        job.check_out()
        self.assertFalse((job.folder / "dsbuild-out").exists())
        second = run_all()
        self.assertIn(" 0 edges run", second)
        self.assertIn("ok  dsbuild-out", second)

    def test_github_workflow(self):
        job = yaml.safe_load((RECIPES / "github.yml").read_text())["jobs"]["bundle"]
        cache = next(step["with"] for step in job["steps"] if step.get("uses", "").startswith("actions/cache@"))
        places = cache["path"].split()
        self.assertIn("~/.cache/dsbuild", places)
        variables = {**job["env"], "OPS": OPS, "GITHUB_ACTIONS": "true", "GITHUB_PATH": "/tmp/github_path"}
        here = Job(job["container"], self.project, "/__w/project/project", variables,
                   [place for place in places if not place.startswith("~")])
        here.bind_cache(f"{HOME_IN_ROOT}/.cache/dsbuild")

        def run_all():
            text, added = "", here.root.path / "tmp" / "github_path"
            added.write_text("")
            for step in job["steps"]:
                path = ":".join([*reversed(added.read_text().split()), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"])
                text += here.shell(step["run"], PATH=path) if "run" in step else ""
            return text

        self.check_twice(here, run_all)

    def test_gitlab_job(self):
        job = yaml.safe_load((RECIPES / "gitlab.yml").read_text())["bundle"]
        place = "/builds/group/project"
        variables = {name: expanded(str(value), {"CI_PROJECT_DIR": place}) for name, value in job["variables"].items()}
        here = Job(job["image"], self.project, place, {**variables, "OPS": OPS, "GITLAB_CI": "true"},
                   [name for name in job["cache"]["paths"] if name != ".cache/dsbuild"])
        self.assertIn(".cache/dsbuild", job["cache"]["paths"])
        here.bind_cache(f"{place}/.cache/dsbuild")
        self.check_twice(here, lambda: here.shell("\n".join(job["before_script"] + job["script"])))


if __name__ == "__main__":
    require_roots()
    unittest.main(verbosity=2)
