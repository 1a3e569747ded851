#!/usr/bin/env python3
"""What `dsbuild wheel` and `dsbuild install` say. What they make is tested with pip in tests/packaging/ops_wheel_test.py."""

import email
import hashlib
import json
import pathlib
import platform
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402
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
        testspace.forge_manifest(changed, manifest)
        return changed

    def test_the_licence_is_that_of_the_pack(self):
        self.assertIsNone(self.document("wheel", "out", "--wheel-dir", "wheels")["license"])
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        testspace.forge_manifest(self.space.out, {**manifest, "license": "Apache-2.0 OR MIT"})
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
            self.assertIn("is not an SPDX expression", refused.err)

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
        self.assertRegex(wheel["wheel"], r"^native/dsbuild_deepspeed_ops-0-py3-none-manylinux_2_\d+_(x86_64|aarch64)\.whl$")
        self.assertEqual((wheel["ops"], wheel["left_out"]), (["cpu_adam", "fused_adam", "plain", "spatial_inference"], []))
        with zipfile.ZipFile(self.space.root / wheel["wheel"]) as archive:
            names = archive.namelist()
            points = archive.read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
            for name in ("fused_adam.so", "manifest.json"):
                self.assertEqual(archive.read(f"dsbuild_deepspeed_ops/{name}"), (self.plain / name).read_bytes())
        self.assertEqual(points, "[dsbuild.bundles]\ndsbuild_deepspeed_ops = dsbuild_deepspeed_ops\n")
        self.assertFalse([name for name in names if name.endswith(".pth")])
        installed = self.document("install", "plain", "--target", "native/site-packages")
        self.assertEqual(installed["version"], "0+cpu")
        self.assertEqual(self.document("install", "--remove", "--target", "native/site-packages")["removed"],
                         ["dsbuild_deepspeed_ops-0+cpu"])

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
            self.assertEqual((error["code"], error["what"]), ("bad_manifest", "ops[1].module is not a Python module"))

    def test_the_tag_is_that_of_the_python_that_the_suffix_belongs_to(self):
        for suffix, python, tag in ((".cpython-313t-aarch64-linux-gnu.so", "cp313", "cp313-cp313t-manylinux_2_17_aarch64"),
                                    (".cpython-312-x86_64-linux-gnu.so", "cp312", "cp312-cp312-manylinux_2_17_x86_64")):
            edit_manifest(self.space.out, torch={"python": python, "ext_suffix": suffix})
            self.assertEqual(self.document("wheel", "out", "--wheel-dir", "wheels")["tag"], tag)
        edit_manifest(self.space.out, torch={"ext_suffix": ".pypy311-pp73-x86_64-linux-gnu.so"})
        self.assertEqual(self.document("wheel", "out", code=1)["error"]["code"], "bad_manifest")

    def test_json(self):
        wheel = self.document("wheel", "out", "--wheel-dir", "wheels")
        file = self.space.root / wheel["wheel"]
        self.assertEqual({key: wheel[key] for key in wheel if key not in ("schema", "dsbuild", "warnings")},
                         {"name": "dsbuild_deepspeed_ops", "version": "0.19.8", "tag": "cp311-cp311-manylinux_2_17_x86_64",
                          "ops": ["cpu_adam", "fused_adam", "spatial_inference"], "left_out": ["plain"], "outside": [],
                          "license": None, "requires": ["torch==2.11.*"], "requires_python": "==3.11.*",
                          "wheel": "wheels/dsbuild_deepspeed_ops-0.19.8-cp311-cp311-manylinux_2_17_x86_64.whl",
                          "bytes": file.stat().st_size})
        self.assertEqual([one["code"] for one in wheel["warnings"]], ["no_license"])
        version = "0.19.8+cu130torch211"
        installed = self.document("install", "out", "--target", "lib/other")
        self.assertEqual((installed["version"], installed["target"], installed["warnings"][0]["code"]),
                         (version, "lib/other", "no_site_packages"))
        removed = self.document("install", "--remove", "--target", "lib/other")
        self.assertEqual(removed["removed"], [f"dsbuild_deepspeed_ops-{version}"])

    def test_an_index_of_ones_own_has_wheels_for_several_torches(self):
        for torch, label in (({"version": "2.9.1", "cuda": ""}, "cputorch29"),
                             ({"cuda": "", "hip": "6.4.43482"}, "rocm64torch211"),
                             ({"version": "2.12.0a0+git1234", "cuda": "12.8"}, "cu128torch212")):
            edit_manifest(self.space.out, source_version="1.2.3rc1+git", torch={**FACTS, **torch})
            versions = [self.document("wheel", "out", "--wheel-dir", "wheels", "--index", index)["version"]
                        for index in ("own", "pypi")]
            self.assertEqual(versions, [f"1.2.3+{label}", "1.2.3"])

    def test_a_version_of_the_users_own(self):
        for version in ("1.4.0", "1!2.0", "1.4.0rc2", "1.4.0.post1", "2026.11.30.dev3"):
            self.assertEqual(self.document("wheel", "out", "--wheel-dir", "wheels", "--version", version)["version"], version)
        self.assertEqual(self.document("wheel", "out", "--wheel-dir", "wheels", "--version", "1.4+cu130", "--index", "own")["version"],
                         "1.4+cu130")
        for version in ("", "1.4-1", "v1", "1.04", "1.4.post", "1.0/../../x", "1.4+CU130", "1.4+cu130"):
            error = self.document("wheel", "out", "--wheel-dir", "wheels", "--version", version, code=2)["error"]
            self.assertEqual((error["code"], error["where"]), ("bad_version", "--version"), version)
        self.check_alone("wheel_bad_version", self.space, "wheel", "out", "--version", "1.4.0+cu130", code=2)

    def test_the_version_of_the_native_ops_is_dsbuilds(self):
        said = self.space.run("--version").out.split()[1]
        self.assertIn(f"\nversion: {said}\n", (REPOSITORY / "ops/native/pack.yaml").read_text())

    def metadata(self, *words):
        """What an index shows, by Python's own reader of METADATA, and the archive."""
        archive = zipfile.ZipFile(self.space.root / self.document("wheel", *words, "--wheel-dir", "wheels")["wheel"])
        self.addCleanup(archive.close)
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name)), archive

    def test_what_an_index_shows(self):
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        manifest.update(license="MIT", urls={"Homepage": "https://example.org", "Source": "https://example.org/git"},
                        license_files={"LICENSE": "Do as you like.\n", "NOTICE.txt": "We made it.\n"})
        (self.space.out / "manifest.json").write_text(json.dumps(manifest))
        said, archive = self.metadata("out")
        self.assertEqual((said["Name"], said["Version"], said["Requires-Python"], said.get_all("Requires-Dist")),
                         ("dsbuild-deepspeed-ops", "0.19.8", "==3.11.*", ["torch==2.11.*"]))
        self.assertEqual(said.get_all("Project-URL"), ["Homepage, https://example.org", "Source, https://example.org/git"])
        self.assertEqual(said.get_all("License-File"), ["LICENSE", "NOTICE.txt"])
        folder = "dsbuild_deepspeed_ops-0.19.8.dist-info/licenses/"
        self.assertEqual({name: archive.read(folder + name).decode() for name in said.get_all("License-File")}, manifest["license_files"])
        self.assertIn(f"{folder}LICENSE,sha256=", archive.read("dsbuild_deepspeed_ops-0.19.8.dist-info/RECORD").decode())
        self.assertEqual(said["Description-Content-Type"], "text/markdown")
        self.assertIn("| fused_adam | CPU |\n", said.get_payload())
        self.assertNotIn("| plain |", said.get_payload(), "an op that is not in it")

    def test_what_libraries_require(self):
        manifest = {**json.loads((self.plain / "manifest.json").read_text()), "tvm_ffi": "0.1.15"}
        for asked, said in (({"requires_dist": ["apache-tvm-ffi>=0.1.9,<0.2"]}, "apache-tvm-ffi>=0.1.9,<0.2"), ({}, "apache-tvm-ffi>=0.1.15")):
            testspace.forge_manifest(self.space.out, {**manifest, **asked})
            metadata, _ = self.metadata("out")
            self.assertEqual((metadata.get_all("Requires-Dist"), metadata["Requires-Python"]), ([said], ">=3.9"))

    def test_a_page_of_the_users_own(self):
        for name, kind in (("page.md", "text/markdown"), ("PAGE.MD", "text/markdown"), ("page.rst", "text/x-rst"), ("page", "text/plain")):
            (self.space.root / name).write_text(f"This is {name}.\n")
            said, _ = self.metadata("out", "--readme", name)
            self.assertEqual((said["Description-Content-Type"], said.get_payload()), (kind, f"This is {name}.\n"))
        self.assertEqual(self.document("wheel", "out", "--readme", "absent.md", code=1)["error"]["code"], "io")

    def test_no_word_of_a_manifest_begins_a_line_of_metadata(self):
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        manifest.update(license="MIT\nName: other", pack="deepspeed", urls={"Home\nName: other": "https://e\nName: other"})
        (self.space.out / "manifest.json").write_text(json.dumps(manifest))
        self.assertEqual(self.metadata("out")[0].get_all("Name"), ["dsbuild-deepspeed-ops"])

    def test_names_of_licences_lead_nowhere(self):
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        for name in ("../LICENSE", "", "a/b", ".."):
            (self.space.out / "manifest.json").write_text(json.dumps({**manifest, "license_files": {name: "x"}}))
            self.assertEqual(self.document("wheel", "out", code=1)["error"]["code"], "bad_manifest")

    def test_the_texts_of_licences_come_with_the_sources(self):
        for place, names in (("pack/src/LICENSE.txt", ["LICENSE.txt"]), ("pack/LICENSE", ["LICENSE"]), ("LICENSE", [])):
            space = TestSpace(pack=make_pack)
            (space.root / place).write_text("As you like.\n")
            self.assertEqual(space.build("--ops", "plain").code, 0)
            manifest = json.loads((space.out / "manifest.json").read_text())
            self.assertEqual(sorted(manifest.get("license_files", {})), names, place)
            if not names:  # the folder above is a project's now
                (space.root / "pyproject.toml").write_text("")
                self.assertEqual(space.build("--ops", "plain").code, 0)
                manifest = json.loads((space.out / "manifest.json").read_text())
                self.assertEqual(manifest["license_files"], {"LICENSE": "As you like.\n"})
                (space.root / place).write_text("Not at all.\n")
                self.assertEqual(space.build("--ops", "plain").code, 0)
                self.assertIn("Not at all.", (space.out / "manifest.json").read_text())

    def test_urls_are_those_of_the_pack(self):
        space = TestSpace(pack=make_pack)
        file = space.pack.folder / "pack.yaml"
        text = file.read_text()
        file.write_text(text + "urls: {Homepage: https://example.org}\n")
        self.assertEqual(space.build("--ops", "plain").code, 0)
        self.assertEqual(json.loads((space.out / "manifest.json").read_text())["urls"], {"Homepage": "https://example.org"})
        for urls in ("{Homepage: example.org}", "{'Home,page': https://example.org}", "[https://example.org]",
                     "{Homepage: 'https://example.org a'}"):
            file.write_text(text + f"urls: {urls}\n")
            self.assertEqual(space.build("--ops", "plain").code, 2, urls)

    def test_folders_of_this_machine_and_executable_stacks_are_warned_of(self):
        self.changed_bundle("int run() { return 1; }\n", "-Wl,-rpath,/home/me/lib:$ORIGIN/../lib:${ORIGIN}/more", "-Wl,-z,execstack")
        self.check_alone("wheel_run_path", self.space, "wheel", "changed", "--wheel-dir", "wheels", code=0)
        codes = [one["code"] for one in self.document("wheel", "changed", "--wheel-dir", "wheels")["warnings"]]
        self.assertEqual(codes, ["unpackaged_run_path", "executable_stack", "no_license"])

    def test_modules_are_looked_at_as_libraries_are(self):
        changed = self.changed_bundle("void *PyInit_plain() { return 0; }\n", "-Wl,-rpath,/home/me/lib")
        edit_manifest(changed, torch=FACTS, plain={"module": "my.plain"})
        warned = self.document("wheel", "changed", "--wheel-dir", "wheels")["warnings"]
        self.assertEqual([(one["code"], one["where"]) for one in warned][:1], [("unpackaged_run_path", "plain.so")])

    def test_pypi_takes_manylinux_alone(self):
        folder = self.space.root / "musl"
        folder.mkdir()
        compile_library(folder / "libmusl.so", "int musl_run() { return 1; }\n", "-Wl,-soname,libc.musl-x86_64.so.1")
        self.changed_bundle("int musl_run(); int run() { return musl_run(); }\n", f"-L{folder}", "-lmusl")
        self.check_alone("wheel_not_for_pypi", self.space, "wheel", "changed", "--wheel-dir", "wheels", code=0)
        own = self.document("wheel", "changed", "--wheel-dir", "wheels", "--index", "own")
        self.assertNotIn("pypi_refuses", [one["code"] for one in own["warnings"]])


if __name__ == "__main__":
    testspace.main()
