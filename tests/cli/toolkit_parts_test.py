#!/usr/bin/env python3
"""A real CUDA as packages lay it out: conda's folders, and parts of another release. The release that a part tells is
exchanged in its bytes: one nvcc is here."""

import json
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402

OP = {"op.yaml": "name: half\nsources: [a.cu, b.cpp]\n",
      "a.cu": "#include <cuda_fp16.h>\n#include <cuda/std/array>\n__global__ void k(__half* x) { x[0] = x[1]; }\n"
              'extern "C" void half_run(void* x) { k<<<1, 1>>>(static_cast<__half*>(x)); }\n',
      "b.cpp": '#include <cuda_fp16.h>\n#include <cuda/std/array>\nextern "C" int half_size() { return sizeof(__half); }\n'}


def linked(source, target):
    """The same files by links, so that a part can be exchanged."""
    for folder, _, names in os.walk(source, followlinks=True):
        into = target / os.path.relpath(folder, source)
        into.mkdir(parents=True)
        for name in names:
            (into / name).symlink_to(os.path.join(folder, name))


def copied(file):
    """In place of its link: nvcc looks for its parts beside what it really is."""
    real = file.resolve()
    file.unlink()
    shutil.copy(real, file)


class ToolkitPartsTest(CliTest):
    def setUp(self):
        self.space = TestSpace("parts")
        self.space.use_real_toolkit()
        self.real = self.space.toolkit.home.resolve()
        self.release = re.search(r"cuda-(\d+\.\d+)|$", self.real.name)[1] or "13.0"
        self.op = self.space.root / "half"
        self.op.mkdir()
        for name, text in OP.items():
            (self.op / name).write_text(text)

    def pip(self, name="site-packages"):
        home = self.space.root / name / "nvidia" / "cu13"
        for part in ("bin", "nvvm", "include", "lib"):
            linked(self.real / part, home / part)
        return self.with_nvcc(home)

    def conda(self):
        home = self.space.root / "conda"
        (home / "conda-meta").mkdir(parents=True)
        (home / "include").mkdir()
        for part in ("bin", "nvvm"):
            linked(self.real / part, home / part)
        for part in ("include", "lib"):
            linked(self.real / part, home / "targets" / f"{os.uname().machine}-linux" / part)
        return self.with_nvcc(home)

    def with_nvcc(self, home):
        for name in ("nvcc", "nvcc.profile"):
            copied(home / "bin" / name)
        return home

    def of_next_release(self, program):
        copied(program)
        older = f"release {self.release}, V{self.release}.".encode()
        newer = older.replace(self.release.encode(), self.next_release().encode())
        told = program.read_bytes()
        self.assertIn(older, told)
        program.write_bytes(told.replace(older, newer))

    def next_release(self):
        major, minor = self.release.split(".")
        return f"{major}.{int(minor) + 1}"

    def build(self, *words, code=0, **environment):
        run = self.space.run("build", "--ops", "all", "--pack", str(self.op), "--arch", "9.0", "--out", str(self.space.out),
                             "--build-dir", str(self.space.build_dir), "-j", "2", *words, env=environment)
        self.assertEqual(run.code, code, run)
        return run

    def listed(self, **environment):
        return json.loads(self.space.run("toolkits", "--json", env=environment).out)

    def test_conda_s_folders(self):
        """C++ finds CUDA's headers below targets, and CCCL's in include/cccl as nvcc does."""
        self.build("--cuda-home", str(self.conda()))
        self.assertEqual(self.space.verify(self.space.out).code, 0)

    def test_parts_of_two_releases_are_refused_with_what_to_pin(self):
        home = self.pip()
        self.of_next_release(home / "nvvm" / "bin" / "cicc")
        run = self.build("--cuda-home", str(home), code=3)
        self.assertIn(f"nvvm/bin/cicc {self.next_release()}", run.err)
        self.assertIn(f"pip install 'nvidia-nvvm=={self.release}.*'", run.err)
        self.assertFalse(self.space.build_dir.exists())

    def test_another_toolkit_is_used_where_it_serves(self):
        home = self.pip()
        self.of_next_release(home / "nvvm" / "bin" / "cicc")
        other = self.pip("other")
        run = self.build(CUDA_HOME=str(home), PATH=f"{other}/bin:/usr/bin:/bin")
        self.assertRegex(run.err, r"(?s)CUDA_HOME.*different releases.*" + re.escape(str(other)))
        found = self.listed(CUDA_HOME=str(home), PATH=f"{other}/bin:/usr/bin:/bin")
        self.assertNotIn(str(home), [each["path"] for each in found["toolkits"]])
        self.assertIn(str(home), [each["path"] for each in found["rejected"]])

    def test_nvcc_itself_goes_on_with_parts_of_two_releases(self):
        """`dsbuild nvcc` leaves the call to nvcc, which says what it says without dsbuild."""
        home = self.pip()
        self.of_next_release(home / "nvvm" / "bin" / "cicc")
        run = self.space.run("nvcc", "-c", "-arch=sm_90", str(self.op / "a.cu"), "-o", str(self.space.root / "a.o"),
                             env={"PATH": f"{home}/bin:/usr/bin:/bin", "CUDA_HOME": str(home)})
        self.assertEqual(run.code, 0, run)
        self.assertTrue((self.space.root / "a.o").exists())


if __name__ == "__main__":
    testspace.main(each_commit=1)
