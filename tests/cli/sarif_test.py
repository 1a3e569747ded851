#!/usr/bin/env python3
"""build --sarif FILE: SARIF 2.1.0 of what compilers and dsbuild said."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack  # noqa: E402


class SarifTest(CliTest):
    """The members that SARIF 2.1.0 requires of each object, and what it says of their values."""

    def sarif(self, space, *words, code):
        run = space.build("build", "--sarif", "out.sarif", *words)
        self.assertEqual(run.code, code, run)
        log = json.loads((space.root / "out.sarif").read_text())
        self.check_format(log, code)
        return log["runs"][0]["results"], log["runs"][0]["tool"]["driver"]["rules"]

    def check_format(self, log, code):
        self.assertEqual((log["version"], len(log["runs"])), ("2.1.0", 1))
        self.assertTrue(log["$schema"].endswith("sarif-2.1.0.json"))
        run = log["runs"][0]
        self.assertEqual(run["tool"]["driver"]["name"], "dsbuild")
        self.assertEqual(run["invocations"], [{"executionSuccessful": code == 0, "exitCode": code}])
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        self.assertEqual(len(set(rules)), len(rules))
        self.assertRegex(run["originalUriBaseIds"]["SRCROOT"]["uri"], "^file:///.*/$")
        for result in run["results"]:
            self.assertIn(result["level"], ("none", "note", "warning", "error"))
            self.assertTrue(result["message"]["text"])
            if "ruleIndex" in result:
                self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
            for location in result.get("locations", []):
                place = location["physicalLocation"]
                artifact = place["artifactLocation"]
                self.assertNotRegex(artifact["uri"], r"[ \\<>\"]")
                self.assertEqual("uriBaseId" in artifact, not artifact["uri"].startswith("file:///"))
                for number in place.get("region", {}).values():
                    self.assertGreaterEqual(number, 1)

    def warning_pack(self, folder):
        pack = Pack(folder, "loud")
        pack.add_op("loud", {"with blank/loud.cpp": "static int unused() { return 1; }\nextern \"C\" int loud_run() { return 2; }\n"},
                    {"backend": "cpu", "flags": {"cxx": ["-Wall"]}})
        return pack

    def test_a_compilers_warning(self):
        space = TestSpace(pack=self.warning_pack)
        results, _ = self.sarif(space, code=0)
        result, = [each for each in results if each["ruleId"] == "-Wunused-function"]
        self.assertEqual(result["level"], "warning")
        place = result["locations"][0]["physicalLocation"]
        self.assertTrue(place["artifactLocation"]["uri"].endswith("/src/with%20blank/loud.cpp"), place)
        self.assertEqual(place["region"]["startLine"], 1)

    def test_a_compilers_error_and_paths_of_the_repository(self):
        space = TestSpace()
        (space.root / ".git").mkdir()
        space.pack.source("host/host.cpp").write_text("int host_run( {\n")
        results, _ = self.sarif(space, "--ops", "host", code=1)
        errors = [each for each in results if each["level"] == "error"]
        self.assertTrue(errors)
        artifact = errors[0]["locations"][0]["physicalLocation"]["artifactLocation"]
        self.assertEqual(artifact, {"uri": "pack/src/host/host.cpp", "uriBaseId": "SRCROOT"})

    def test_dsbuilds_own_messages_have_rules_with_the_text_of_help(self):
        space = TestSpace()
        spec = space.pack.folder / "host" / "op.yaml"
        spec.write_text("name: host\nsuorces: []\n")
        results, rules = self.sarif(space, code=2)
        self.assertEqual([(each["ruleId"], each["level"]) for each in results], [("bad_spec", "error")])
        self.assertIn("fix: ", results[0]["message"]["text"])
        self.assertEqual(results[0]["locations"][0]["physicalLocation"]["region"], {"startLine": 2, "startColumn": 1})
        self.assertEqual([rule["id"] for rule in rules], ["bad_spec"])
        self.assertEqual(rules[0]["help"]["text"], space.run("help", "bad_spec").out)

    def test_a_warning_of_dsbuild_is_there_each_time(self):
        space = TestSpace()
        for _ in range(2):
            results, rules = self.sarif(space, code=0)
            self.assertEqual([(each["ruleId"], each["level"]) for each in results], [("not_sliced", "warning")])
            self.assertEqual(rules[0]["id"], "not_sliced")

    def test_mistakes_of_the_command_line(self):
        space = TestSpace()
        results, _ = self.sarif(space, "--color", "alway", code=2)
        self.assertEqual([each["ruleId"] for each in results], ["bad_choice"])

if __name__ == "__main__":
    testspace.main()
