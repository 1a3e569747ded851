#!/usr/bin/env python3
"""CUDA sources of ops for HIP: a hipify that is made up makes HIP of them below the build folder, and a real clang compiles
that. What an edit makes anew, what another checkout takes from the cache, and that nothing is written into the sources.
DSBUILD_HIP names the toolchain (scripts/get_toolkit.sh hip)."""

import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from devices import HIP_RUNTIME, find_hip_toolchain  # noqa: E402
from packs import Pack  # noqa: E402

sys.path.insert(0, str(testspace.TESTS / "fakes" / "torch"))
import fake_torch  # noqa: E402

SOURCE = """// of CUDA
#include <cuda_runtime.h>
#include "{header}"
__global__ void {name}(float* data) {{ data[threadIdx.x] *= by(); }}
extern "C" cudaError_t {name}_run(float* data) {{ {name}<<<1, 32>>>(data); return cudaError_t(0); }}
"""
HEADER = "#pragma once\n#include <cuda_runtime.h>\n__device__ inline float by() {{ return {by}; }}  // {comment}\n"
PLAIN = 'extern "C" int plain() { return 1; }\n'


def make_pack(folder):
    pack = Pack(folder, "ported")
    (pack.folder / "pack.yaml").write_text("name: ported\nsource_root: src\nhipify: true\n")
    pack.add_op("scaling", {"a/one.cu": SOURCE.format(name="one", header="one.h"),
                            "a/two.cu": SOURCE.format(name="two", header="shared.h"), "a/plain.cpp": PLAIN,
                            "runtime.cpp": HIP_RUNTIME}, {"backends": ["cuda", "hip"], "include_dirs": ["include"]})
    pack.source("include").mkdir()
    pack.source("a/one.h").write_text(HEADER.format(by=2, comment="first"))
    pack.source("include/shared.h").write_text(HEADER.format(by=3, comment="first"))
    return pack


class HipifyTest(CliTest):
    def setUp(self):
        self.home = find_hip_toolchain()
        self.space = TestSpace(pack=make_pack, store=True)
        testspace.copy_facts(self.space.cache_folder(), "hip")
        self.torch = fake_torch.make_fake_torch(self.space.root / "python")
        self.hipify = self.torch.home / "utils" / "hipify"
        self.hipify.mkdir()
        self.log = self.space.root / "hipify.log"
        script = (pathlib.Path(fake_torch.__file__).parent / "hipify_python.py").read_text()
        (self.hipify / "hipify_python.py").write_text(script + f"\n\nwith open({str(self.log)!r}, 'a') as log:\n    log.write('x')\n")
        (self.hipify / "__init__.py").write_text("from .version import __version__\n")
        (self.hipify / "version.py").write_text("__version__ = '9.8.7'\n")

    def run_for_hip(self, command, *more, archs="gfx90a"):
        return self.space.run(command, "--pack", str(self.space.pack.folder), "--ops", "all", "--arch", archs, "--rocm-home",
                              self.home, "--python", str(self.torch.python), "--out", str(self.space.out), "--build-dir",
                              str(self.space.build_dir), "-j", "2", *more)

    def built(self, *more, **options):
        run = self.run_for_hip("build", *more, **options)
        self.assertEqual(run.code, 0, run)
        return run

    def starts(self):
        """How often hipify was started."""
        return len(self.log.read_text())

    def tree(self):
        return self.space.build_dir / "hipify" / "scaling"

    def state_of_sources(self):
        return testspace.bundle_files(self.space.pack.folder)

    def images(self):
        return {file.name: file.read_bytes() for file in self.space.build_dir.rglob("*.co")}


class BuildTest(HipifyTest):
    def test_hip_is_made_below_the_build_folder_and_compiled_there(self):
        before = self.state_of_sources()
        self.built()
        self.assertEqual(self.state_of_sources(), before)
        one = (self.tree() / "a/one.cu").read_text()
        self.assertIn('#include "one_hip.h"', one)
        self.assertIn("hipError_t one_run", one)
        self.assertIn('#include "shared_hip.h"', (self.tree() / "a/two.cu").read_text())
        # What needs no change, and what a changed header was made of, are there too.
        self.assertEqual((self.tree() / "a/plain.cpp").read_text(), PLAIN)
        self.assertTrue((self.tree() / "include/shared.h").exists())
        self.assertEqual(set(self.images()), {"one.gfx90a.co", "two.gfx90a.co"})
        self.assertFalse((self.space.build_dir / "hipify" / "scaling.list.run").exists())
        ninja = (self.space.build_dir / "build.ninja").read_text()
        self.assertIn("build hipify/scaling.list | hipify/scaling.list.record", ninja)
        self.assertIn("-Ihipify/scaling/include", ninja)
        self.assertNotIn("-x hip -O3 -std=c++17 -Ipack", ninja)

    def test_one_source_may_be_hipified_alone(self):
        (self.space.pack.folder / "pack.yaml").write_text("name: ported\nsource_root: src\n")
        spec = self.space.pack.folder / "scaling" / "op.yaml"
        spec.write_text('name: scaling\nbackends: [cuda, hip]\nsources: [{path: a/one.cu, hipify: true}, runtime.cpp]\n')
        self.built()
        self.assertEqual(sorted(path.name for path in (self.tree() / "a").iterdir()), ["one.cu", "one.h", "one_hip.h"])
        self.assertIn("pack/runtime.cpp", (self.space.build_dir / "build.ninja").read_text())

    def test_what_hipify_refuses_is_the_builds_error(self):
        with self.space.pack.source("a/one.cu").open("a") as source:
            source.write("void f() { no_hip(); }\n")
        run = self.run_for_hip("build")
        self.assertEqual(run.code, 1, run)
        self.assertIn("nothing in HIP is like no_hip", run.out + run.err)
        self.assertIn("hipify scaling FAILED", run.out + run.err)

    def test_without_torchs_hipify_the_op_is_skipped_with_the_reason(self):
        shutil.rmtree(self.hipify)
        run = self.run_for_hip("plan")
        self.assertIn("scaling: torch 2.11.0+cu130 has no utils/hipify/hipify_python.py", run.out + run.err)


@testspace.deep_but("test_an_edited_header_makes_anew_what_includes_it_alone", "test_another_build_folder_takes_all_from_the_cache")
class EditsTest(HipifyTest):
    """Each edit, and which edges then run tools or make other bytes."""

    def setUp(self):
        super().setUp()
        self.built()
        self.first = self.images()

    def changed(self):
        return sorted(name for name, image in self.images().items() if self.first.get(name) != image)

    def times(self):
        return {file: file.stat().st_mtime_ns for file in self.space.build_dir.rglob("*") if file.suffix in (".co", ".o", ".so")}

    def test_nothing_runs_where_nothing_changed(self):
        self.assertEqual(self.built().edges_run(), 0)
        os.utime(self.space.pack.source("a/one.h"))
        self.assertEqual(self.built().edges_run(), 0)
        self.assertEqual(self.starts(), 1)

    def test_a_header_of_which_hipify_makes_the_same_makes_nothing_else_run(self):
        before = self.times()
        self.space.pack.source("include/shared.h").write_text(HEADER.format(by=3, comment="second"))
        self.built()
        self.assertEqual(self.starts(), 2)
        # Its list is another, for the header itself lies in the tree; each compile looks at its record and ends.
        self.assertEqual(self.times(), before)

    def test_an_edited_header_makes_anew_what_includes_it_alone(self):
        self.space.pack.source("include/shared.h").write_text(HEADER.format(by=5, comment="first"))
        before = self.times()
        self.built()
        self.assertEqual(self.changed(), ["two.gfx90a.co"])
        self.assertEqual([file.name for file, time in self.times().items() if "one" in file.name and before[file] != time], [])

    def test_a_header_that_comes_before_another_is_found(self):
        self.space.pack.source("a/shared.h").write_text(HEADER.format(by=7, comment="nearer"))
        self.built()
        self.assertEqual(self.changed(), ["two.gfx90a.co"])
        self.space.pack.source("a/shared.h").unlink()
        self.built()
        self.assertEqual(self.changed(), [])
        self.assertFalse((self.tree() / "a/shared_hip.h").exists())

    def test_damage_to_what_was_made_is_mended(self):
        header = self.tree() / "include/shared_hip.h"
        whole = header.read_text()
        header.write_text(whole + "#error\n")
        self.built()
        self.assertEqual(header.read_text(), whole)
        self.assertEqual(self.changed(), [])

    def test_another_hipify_is_asked_again(self):
        with (self.hipify / "hipify_python.py").open("a") as script:
            script.write("# edited\n")
        before = self.times()
        self.built()
        self.assertEqual(self.starts(), 2)
        self.assertEqual(self.times(), before)

    def test_another_build_folder_takes_all_from_the_cache(self):
        self.space.build_dir = self.space.root / "other"
        self.built()
        self.assertEqual(self.images(), self.first)
        self.assertEqual(self.starts(), 1)


if __name__ == "__main__":
    testspace.main(each_commit=2)
