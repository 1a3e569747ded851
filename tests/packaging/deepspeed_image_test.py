#!/usr/bin/env python3
"""docs/recipes/Dockerfile.deepspeed does what it says: every line of it is executed in clean Debian roots, for three ops.

Fetches torch, 2 GB: too long for every commit, so `scripts/test.sh deep` runs it.
"""

import pathlib
import re
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from machine import REPOSITORY, require_roots, wheel  # noqa: E402
from recipes import Dockerfile  # noqa: E402

OPS = ["cpu_adam", "fused_adam", "utils"]
# As DeepSpeed does at run time: it would compile an op that it does not find.
LOAD = """
from deepspeed.ops.op_builder import CPUAdamBuilder, FusedAdamBuilder, UtilsBuilder
for builder in (CPUAdamBuilder, FusedAdamBuilder, UtilsBuilder):
    print("loaded", builder().load().__file__)
"""


class DeepSpeedImage(unittest.TestCase):
    def build_image(self):
        folder = tempfile.TemporaryDirectory(prefix="dsbuild-image-")
        self.addCleanup(folder.cleanup)
        dist = pathlib.Path(folder.name) / "dist"
        dist.mkdir()
        built = wheel()
        (dist / built.name).write_bytes(built.read_bytes())
        text = (REPOSITORY / "docs" / "recipes" / "Dockerfile.deepspeed").read_text()
        file = Dockerfile(text, folder.name, {"OPS": ",".join(OPS)})
        self.addCleanup(file.remove)
        begin = time.monotonic()
        stage = file.run()
        print(f"  the image: {time.monotonic() - begin:.0f} s")
        return stage, file.output

    def test_the_image_has_the_ops_and_neither_compiler_nor_toolkit(self):
        stage, said = self.build_image()
        self.assertIn("built 3, skipped 0", said)
        report = re.sub(r"\x1b\[\d+m", "", said[said.rindex("DeepSpeed C++/CUDA extension op report"):])
        self.assertEqual(sorted(re.findall(r"^(\w+) \.+ \[YES\]", report, re.M)), OPS, report)
        loaded = stage.root.run("python", "-c", LOAD, env={**stage.env, "DS_ACCELERATOR": "cuda"})
        self.assertEqual(len(re.findall(r"^loaded /opt/venv/\S+/dsbuild_deepspeed_ops/deepspeed/ops/", loaded, re.M)), 3, loaded)
        for absent in ("/usr/bin/g++", "/usr/local/cuda", "/cache/dsbuild/toolkits", "/opt/venv/bin/dsbuild"):
            self.assertFalse(stage.inside(absent).exists(), absent)


if __name__ == "__main__":
    require_roots()
    unittest.main(verbosity=2)
