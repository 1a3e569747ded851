#!/usr/bin/env python3
"""What `dsbuild wheel` and `dsbuild install` say. What they make is tested with pip in tests/packaging/ops_wheel_test.py."""

import json
import pathlib
import shutil
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from distributions import edit_manifest, make_pack  # noqa: E402

FACTS = {"python": "cp311", "ext_suffix": ".cpython-311-x86_64-linux-gnu.so"}  # whatever Python runs this


class WheelTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(pack=make_pack)
        built = cls.space.build()
        assert built.code == 0, built
        cls.plain = cls.space.root / "plain"
        shutil.copytree(cls.space.out, cls.plain)

    def setUp(self):
        shutil.rmtree(self.space.out)
        shutil.copytree(self.plain, self.space.out)
        edit_manifest(self.space.out, torch=FACTS)

    def document(self, *words, code=0):
        run = self.space.run(*map(str, words), "--json")
        self.assertEqual(run.code, code, run)
        return json.loads(run.out)

    def test_a_wheel(self):
        self.check_alone("wheel", self.space, "wheel", "out", "--wheel-dir", "wheels", code=0)

    def test_deepspeed_is_told_the_accelerator_of_the_build(self):
        for accelerator in ("cpu", "cuda"):
            edit_manifest(self.space.out, torch={**FACTS, "accelerator": accelerator})
            wheel = self.document("wheel", "out", "--wheel-dir", accelerator)["wheel"]
            with zipfile.ZipFile(self.space.root / wheel) as archive:
                claims = archive.read("dsbuild_deepspeed_ops/deepspeed/git_version_info_installed.py").decode()
            self.assertIn(f'accelerator_name = "{accelerator}"\n', claims)

    def test_an_installation_and_its_end(self):
        self.check_alone("install", self.space, "install", "out", "--target", "lib/site-packages", code=0)
        self.check_alone("install_remove", self.space, "install", "--remove", "--target", "lib/site-packages", code=0)
        self.check_alone("install_remove_twice", self.space, "install", "--remove", "--target", "lib/site-packages", code=1)

    def test_python_reads_nothing_in_a_folder_of_another_name(self):
        self.check_alone("install_elsewhere", self.space, "install", "out", "--target", "lib/python", code=0)

    def test_a_target_is_needed(self):
        self.check_alone("install_nowhere", self.space, "install", "out", code=2)

    def test_ops_that_are_no_python_modules_are_libraries_of_their_wheel(self):
        wheel = self.document("wheel", "plain", "--wheel-dir", "native")
        self.assertRegex(wheel["wheel"], r"^native/dsbuild_deepspeed_ops-0\+b[0-9a-f]{8}-py3-none-linux_(x86_64|aarch64)\.whl$")
        self.assertEqual((wheel["ops"], wheel["left_out"]), (["cpu_adam", "fused_adam", "plain", "spatial_inference"], []))
        with zipfile.ZipFile(self.space.root / wheel["wheel"]) as archive:
            names = archive.namelist()
            points = archive.read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
            for name in ("fused_adam.so", "manifest.json"):
                self.assertEqual(archive.read(f"dsbuild_deepspeed_ops/{name}"), (self.plain / name).read_bytes())
        self.assertEqual(points, "[dsbuild.bundles]\ndsbuild_deepspeed_ops = dsbuild_deepspeed_ops\n")
        self.assertFalse([name for name in names if name.endswith(".pth")])
        installed = self.document("install", "plain", "--target", "native/site-packages")
        self.assertEqual(installed["version"], wheel["version"])
        self.assertEqual(self.document("install", "--remove", "--target", "native/site-packages")["removed"],
                         [f"dsbuild_deepspeed_ops-{wheel['version']}"])

    def test_a_bundle_without_ops_has_no_wheel(self):
        manifest = json.loads((self.plain / "manifest.json").read_text())
        empty = self.space.root / "empty"
        empty.mkdir(exist_ok=True)
        (empty / "manifest.json").write_text(json.dumps({**manifest, "ops": []}))
        self.check_alone("wheel_native", self.space, "wheel", "empty", code=3)
        self.check_alone("install_native", self.space, "install", "empty", "--target", "lib/site-packages", code=3)

    def test_a_library_that_is_no_python_module_does_not_count(self):
        edit_manifest(self.space.out, torch=FACTS, fused_adam={"module": "deepspeed.other"}, cpu_adam={"module": ""},
                      spatial_inference={"module": ""})
        self.check_alone("wheel_no_init", self.space, "wheel", "out", code=3)

    def test_a_damaged_bundle_is_not_passed_on(self):
        (self.space.out / "fused_adam.so").unlink()
        self.check_alone("wheel_damaged", self.space, "wheel", "out", "--wheel-dir", "damaged", code=1)
        self.assertFalse((self.space.root / "damaged").exists())

    def test_a_module_that_leads_elsewhere_is_refused(self):
        for module in ("../../etc/x", "a..b", "/etc/x"):
            edit_manifest(self.space.out, torch=FACTS, fused_adam={"module": module})
            error = self.document("wheel", "out", code=1)["error"]
            self.assertEqual((error["code"], error["what"]), ("bad_manifest", "ops[1].module is no Python module"))

    def test_the_tag_is_that_of_the_python_that_the_suffix_belongs_to(self):
        for suffix, python, tag in ((".cpython-313t-aarch64-linux-gnu.so", "cp313", "cp313-cp313t-linux_aarch64"),
                                    (".cpython-312-x86_64-linux-gnu.so", "cp312", "cp312-cp312-linux_x86_64")):
            edit_manifest(self.space.out, torch={"python": python, "ext_suffix": suffix})
            self.assertEqual(self.document("wheel", "out", "--wheel-dir", "wheels")["tag"], tag)
        edit_manifest(self.space.out, torch={"ext_suffix": ".pypy311-pp73-x86_64-linux-gnu.so"})
        self.assertEqual(self.document("wheel", "out", code=1)["error"]["code"], "bad_manifest")

    def test_json(self):
        wheel = self.document("wheel", "out", "--wheel-dir", "wheels")
        version = wheel["version"]
        self.assertRegex(version, r"^0\.19\.8\+torch2\.11\.cu130\.b[0-9a-f]{8}$")
        self.assertEqual({key: wheel[key] for key in ("name", "tag", "ops", "left_out", "wheel", "warnings")},
                         {"name": "dsbuild_deepspeed_ops", "tag": "cp311-cp311-linux_x86_64", "left_out": ["plain"],
                          "ops": ["cpu_adam", "fused_adam", "spatial_inference"], "warnings": [],
                          "wheel": f"wheels/dsbuild_deepspeed_ops-{version}-cp311-cp311-linux_x86_64.whl"})
        installed = self.document("install", "out", "--target", "lib/other")
        self.assertEqual((installed["version"], installed["target"], installed["warnings"][0]["code"]),
                         (version, "lib/other", "no_site_packages"))
        removed = self.document("install", "--remove", "--target", "lib/other")
        self.assertEqual(removed["removed"], [f"dsbuild_deepspeed_ops-{version}"])

    def test_names_and_labels_follow_what_the_ops_are_for(self):
        for torch, label in (({"version": "2.9.1", "cuda": ""}, "torch2.9.cpu"),
                             ({"cuda": "", "hip": "6.4.43482"}, "torch2.11.rocm64"),
                             ({"version": "2.12.0a0+git1234", "cuda": "12.8"}, "torch2.12.cu128")):
            edit_manifest(self.space.out, source_version="1.2.3rc1+git", torch={**FACTS, **torch})
            self.assertRegex(self.document("wheel", "out", "--wheel-dir", "wheels")["version"],
                             rf"^1\.2\.3\+{label}\.b[0-9a-f]{{8}}$")


if __name__ == "__main__":
    testspace.main()
