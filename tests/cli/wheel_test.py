#!/usr/bin/env python3
"""What `dsbuild wheel` and `dsbuild install` say. What they make is tested with pip in tests/packaging/ops_wheel_test.py."""

import hashlib
import json
import pathlib
import platform
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from distributions import edit_manifest, make_pack  # noqa: E402

FACTS = {"python": "cp311", "ext_suffix": ".cpython-311-x86_64-linux-gnu.so"}  # whatever Python runs this


def compile_library(file, source, *flags):
    subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", file, "-w", *flags], input=source.encode(), check=True)
    return file


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

    def test_the_platform_is_the_lowest_glibc_that_the_libraries_want(self):
        for symbol, glibc in (("dlsym_new", ""), ("getentropy", "2.25"), ("fcntl64", "2.28")):
            wheel = self.wheel_of(f"int {symbol}(); int run() {{ return {symbol}(); }}\n" if glibc else "")
            self.assertEqual(wheel["tag"].split("-")[2],
                             f"manylinux_{(glibc or '2.17').replace('.', '_')}_{platform.machine()}")
            self.assertEqual(wheel["outside"], [])

    def test_libraries_that_manylinux_does_not_promise_are_named(self):
        folder = self.space.root / "outside"
        folder.mkdir()
        compile_library(folder / "libtorch.so", "int torch_run() { return 1; }\n", "-Wl,-soname,libtorch.so")
        wheel = self.wheel_of("int torch_run(); int run() { return torch_run(); }\n", f"-L{folder}", "-ltorch")
        self.assertEqual(wheel["outside"], ["libtorch.so"])
        self.check_alone("wheel_outside", self.space, "wheel", "changed", "--wheel-dir", "wheels", code=0)

    def wheel_of(self, source, *flags):
        """The wheel of a bundle with a library that gcc makes of this."""
        self.changed_bundle(source, *flags)
        return self.document("wheel", "changed", "--wheel-dir", "wheels")

    def changed_bundle(self, source, *flags):
        changed = self.space.root / "changed"
        shutil.rmtree(changed, ignore_errors=True)
        shutil.copytree(self.plain, changed)
        library = compile_library(changed / "plain.so", source, *flags)
        manifest = json.loads((changed / "manifest.json").read_text())
        for op in manifest["ops"]:
            if op["name"] == "plain":
                op.update(sha256=hashlib.sha256(library.read_bytes()).hexdigest(), bytes=library.stat().st_size)
        (changed / "manifest.json").write_text(json.dumps(manifest))
        return changed

    def test_the_licence_is_that_of_the_pack(self):
        self.assertIsNone(self.document("wheel", "out", "--wheel-dir", "wheels")["license"])
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        (self.space.out / "manifest.json").write_text(json.dumps({**manifest, "license": "Apache-2.0 OR MIT"}))
        wheel = self.document("wheel", "out", "--wheel-dir", "wheels")
        self.assertEqual(wheel["license"], "Apache-2.0 OR MIT")
        with zipfile.ZipFile(self.space.root / wheel["wheel"]) as archive:
            metadata = archive.read(next(name for name in archive.namelist() if name.endswith("METADATA"))).decode()
        self.assertIn("\nLicense-Expression: Apache-2.0 OR MIT\n", metadata)
        self.assertIn("Metadata-Version: 2.4\n", metadata)

    def test_pack_yaml_names_the_licence(self):
        space = TestSpace(pack=make_pack)
        file = space.pack.folder / "pack.yaml"
        text = file.read_text()
        file.write_text(text + "license: MIT\n")
        self.assertEqual(space.build("--ops", "plain").code, 0)
        self.assertEqual(json.loads((space.out / "manifest.json").read_text())["license"], "MIT")
        for license in ("", "MIT/X", "MIT\\nName: other"):
            file.write_text(text + f'license: "{license}"\n')
            refused = space.build("--ops", "plain")
            self.assertEqual(refused.code, 2, refused)
            self.assertIn("is no SPDX expression", refused.err)

    def test_python_says_where_to_install(self):
        venv = self.space.root / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        site = next(venv.glob("lib/python*/site-packages"))
        installed = self.document("install", "out", "--python", "venv/bin/python")
        self.assertEqual((installed["target"], installed["warnings"]), (str(site), []))
        self.assertTrue((site / "dsbuild_deepspeed_ops" / "manifest.json").exists())
        found = subprocess.run([venv / "bin" / "python", "-c", "import dsbuild_deepspeed_ops as ops; print(ops.__file__)"],
                               capture_output=True, text=True, check=True).stdout
        self.assertEqual(pathlib.Path(found.strip()).parent, site / "dsbuild_deepspeed_ops")
        removed = self.document("install", "--remove", "--python", "venv/bin/python")
        self.assertEqual(removed["removed"], [f"dsbuild_deepspeed_ops-{installed['version']}"])
        self.assertFalse((site / "dsbuild_deepspeed_ops").exists())

    def test_a_python_that_does_not_run(self):
        self.check_alone("install_no_python", self.space, "install", "out", "--python", "/nonexistent/python", code=3)
        error = self.document("install", "out", "--python", "/bin/false", code=3)["error"]
        self.assertEqual((error["code"], error["where"]), ("python", "--python"))

    def test_one_place_at_a_time(self):
        error = self.document("install", "out", "--python", "python3", "--target", "lib/site-packages", code=2)["error"]
        self.assertEqual((error["code"], error["what"]), ("bad_option", "--target and --python both say where to install"))

    def test_a_target_is_needed(self):
        self.check_alone("install_nowhere", self.space, "install", "out", code=2)

    def test_ops_that_are_no_python_modules_are_libraries_of_their_wheel(self):
        wheel = self.document("wheel", "plain", "--wheel-dir", "native")
        self.assertRegex(wheel["wheel"], r"^native/dsbuild_deepspeed_ops-0\+b[0-9a-f]{8}-py3-none-manylinux_2_\d+_(x86_64|aarch64)\.whl$")
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

    def test_a_module_of_torch_library_alone_lies_where_its_package_looks_for_it(self):
        folder = self.space.root / "with_torch"
        folder.mkdir()
        compile_library(folder / "libtorch.so", "int torch_run() { return 1; }\n", "-Wl,-soname,libtorch.so")
        changed = self.changed_bundle("int torch_run(); int run() { return torch_run(); }\n", f"-L{folder}", "-ltorch")
        edit_manifest(changed, torch=FACTS, plain={"module": "torch_scatter._scatter_cuda", "module_suffix": ".so"})
        wheel = self.document("wheel", "changed", "--wheel-dir", "wheels")
        self.assertIn("plain", wheel["ops"])
        with zipfile.ZipFile(self.space.root / wheel["wheel"]) as archive:
            self.assertEqual(archive.read("torch_scatter/_scatter_cuda.so"), (changed / "plain.so").read_bytes())
            self.assertIn("dsbuild_deepspeed_ops/deepspeed/ops/adam/fused_adam_op.cpython-311-x86_64-linux-gnu.so",
                          archive.namelist())

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
        for suffix, python, tag in ((".cpython-313t-aarch64-linux-gnu.so", "cp313", "cp313-cp313t-manylinux_2_17_aarch64"),
                                    (".cpython-312-x86_64-linux-gnu.so", "cp312", "cp312-cp312-manylinux_2_17_x86_64")):
            edit_manifest(self.space.out, torch={"python": python, "ext_suffix": suffix})
            self.assertEqual(self.document("wheel", "out", "--wheel-dir", "wheels")["tag"], tag)
        edit_manifest(self.space.out, torch={"ext_suffix": ".pypy311-pp73-x86_64-linux-gnu.so"})
        self.assertEqual(self.document("wheel", "out", code=1)["error"]["code"], "bad_manifest")

    def test_json(self):
        wheel = self.document("wheel", "out", "--wheel-dir", "wheels")
        version = wheel["version"]
        self.assertRegex(version, r"^0\.19\.8\+torch2\.11\.cu130\.b[0-9a-f]{8}$")
        self.assertEqual({key: wheel[key] for key in ("name", "tag", "ops", "left_out", "wheel", "warnings")},
                         {"name": "dsbuild_deepspeed_ops", "tag": "cp311-cp311-manylinux_2_17_x86_64", "left_out": ["plain"],
                          "ops": ["cpu_adam", "fused_adam", "spatial_inference"], "warnings": [],
                          "wheel": f"wheels/dsbuild_deepspeed_ops-{version}-cp311-cp311-manylinux_2_17_x86_64.whl"})
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
