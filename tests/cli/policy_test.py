#!/usr/bin/env python3
"""verify --policy: each key refuses what it is for and nothing else, by the file and by its option; mistakes, JSON, SARIF, the
schema, and the examples in configs/policies."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402
from packs import make_versioned_pack  # noqa: E402

import sarif_test  # noqa: E402
import schemas  # noqa: E402
import signing  # noqa: E402


def make_pack(folder):
    """Of its libraries one needs the C library."""
    pack = make_versioned_pack(folder)
    pack.add_op("text", {"text.cpp": 'extern "C" int puts(const char*);\nextern "C" int text_run() { return puts("text"); }\n'},
                {"backend": "cpu"})
    return pack


def libraries(folder):
    return sorted(file for file in folder.iterdir() if file.suffix == ".so")


class PolicyTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(pack=make_pack)
        cls.space.arch = "8.0;9.0+PTX"
        cls.first = cls.space.build()
        cls.keys = {name: signing.Key(cls.space.root, name) for name in ("key", "other")}
        if not (cls.space.out / signing.STATEMENT).exists():
            signing.write_statement(cls.space.out)
        signing.sign(cls.keys["key"], cls.space.out)
        statement = json.loads((cls.space.out / signing.STATEMENT).read_text())
        cls.builder = statement["predicate"]["runDetails"]["builder"]["id"]
        cls.total = sum(file.stat().st_size for file in libraries(cls.space.out))

    def setUp(self):
        self.assertEqual(self.first.code, 0, self.first)

    def write(self, rules):
        file = self.space.root / "policy.yaml"
        file.write_text(rules if isinstance(rules, str) else "".join(f"{key}: {json.dumps(value)}\n" for key, value in rules.items()))
        return file

    def verify(self, rules, *words, code, bundle="out"):
        self.write(rules)
        run = self.space.run("verify", bundle, "--policy", "policy.yaml", *words)
        self.assertEqual(run.code, code, f"{rules}\n{run}")
        return run

    def codes(self, rules, *words, bundle="out"):
        """Of the failures; none where it is as it is asked to be."""
        self.write(rules)
        run = self.space.run("verify", bundle, "--policy", "policy.yaml", "--json", *words)
        failures = [failure["code"] for failure in json.loads(run.out)["gate"]["failures"]]
        self.assertEqual(run.code, 1 if failures else 0, run)
        return failures

    def forged(self, change):
        """A copy of the bundle whose manifest is another: nobody has signed it."""
        folder = self.space.root / "forged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.space.out, folder)
        for name in (signing.STATEMENT, signing.SIGNATURE):
            (folder / name).unlink()
        manifest = json.loads((folder / "manifest.json").read_text())
        change(folder, manifest)
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return "forged"


class KeysTest(PolicyTest):
    """(what is taken, what is refused, the code) of each key; the option says the same."""

    def rows(self):
        size = -(-self.total // 1024)
        return {"gpu": (["A100", "H100"], ["A100", "V100"], "gpu_not_covered"),
                "max_size": (f"{size}K", f"{size - 1}K", "too_large"),
                "max_op_size": ("1G", ["1G", "host=1K"], "too_large"),
                "license": (["Apache-2.0", "MIT"], ["Apache-2.0"], "license_not_allowed"),
                "max_glibc": ("99.0", "2.0", "abi_not_allowed"),
                "trust_key": (["key.pub.pem", "other.pub.pem expires 2020-01-01"], ["other.pub.pem"], "untrusted_key"),
                "min_version": ("2.0.0", "2.0.1", "older_bundle")}

    def of_signature(self):
        return {"builder": ([self.builder, "x"], ["x"], "other_builder"), "built_after": ("2020-01-01", "2099-01-01", "older_bundle"),
                "revoked_key": (["other.pub.pem"], ["key.pub.pem"], "untrusted_key")}

    def option(self, key, value):
        return ["--" + key.replace("_", "-"), value if isinstance(value, str) else ",".join(value)]

    def check(self, key, good, bad, code, others=()):
        with self.subTest(key):
            base = dict(others)
            self.assertEqual(self.codes({**base, key: good}), [])
            self.assertEqual(self.codes({**base, key: bad}), [code])
            self.assertEqual(self.codes({**base, key: bad}, *self.option(key, good)), [], "what is typed counts before the file")
            strict = ["--strict"] if key == "gpu" else []
            run = self.space.run("verify", "out", *self.option(key, bad), *strict,
                                 *(word for other, value in base.items() for word in self.option(other, value)))
            self.assertEqual(run.code, 1, run)
            self.assertIn(f"error[{code}]: out: ", run.err)

    def test_each_key(self):
        for key, row in self.rows().items():
            self.check(key, *row)
        for key, row in self.of_signature().items():
            self.check(key, *row, others={"trust_key": "key.pub.pem"})

    def test_all_at_once(self):
        good = {key: row[0] for key, row in {**self.rows(), **self.of_signature()}.items()}
        self.assertEqual(self.codes(good), [])
        run = self.verify(good, code=0)
        self.assertIn(f"signed by the key {self.keys['key'].id} (key.pub.pem), built by {self.builder}\n", run.out)
        bad = {key: row[1] for key, row in self.rows().items()}
        self.assertEqual(sorted(self.codes(bad)), sorted(row[2] for row in self.rows().values()), "each is told")

    def test_ptx(self):
        self.assertEqual(self.codes({"gpu": ["A100", "H100"], "ptx_only": "forbidden"}), [])
        self.assertEqual(self.codes({"gpu": ["A100", "B200"], "ptx_only": "allowed"}), [])
        self.assertEqual(self.codes({"gpu": ["A100", "B200"], "ptx_only": "forbidden"}), ["ptx_only"])
        build = ["build", "--ops", "alpha", "--arch", "8.0-virtual", "--out", "ptx", "--build-dir", "ptx-build"]
        run = self.run_in(self.space, *build)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(self.codes({"ptx_only": "forbidden"}, bundle="ptx"), ["ptx_only"], "whichever GPUs are asked about")
        self.assertEqual(self.codes({"ptx_only": "allowed"}, bundle="ptx"), [])

    def test_torch(self):
        torch = {"version": "2.11.0+cu130", "cuda": "13.0", "hip": "", "cxx11_abi": True, "python": "cp311",
                 "ext_suffix": ".cpython-311-x86_64-linux-gnu.so", "accelerator": "cuda"}
        forged = self.forged(lambda _, manifest: manifest.update(torch=torch))
        for rules, codes in (({"torch_abi": "2.11"}, []), ({"torch_abi": ">=2.12"}, ["abi_not_allowed"]), ({"torch_abi": "stable"}, []),
                             ({"cxx11_abi": "on"}, []), ({"cxx11_abi": "off"}, ["abi_not_allowed"])):
            self.assertEqual(self.codes(rules, bundle=forged), codes, rules)
            self.assertEqual(self.codes(rules), [], "a bundle without torch is for any")

    def test_torchs_stable_abi(self):
        """By what a library needs: a C function of torch's is in it, at::… is not."""
        gcc = shutil.which("g++")
        if not gcc:
            self.skipTest("g++ is not installed")
        folder = self.space.root / "torch_lib"
        folder.mkdir()

        def compiled(name, source, *words):
            subprocess.run([gcc, "-shared", "-fPIC", "-nostdlib", "-Wl,-soname," + name, "-o", folder / name, "-xc++", "-", *words],
                           input=source.encode(), check=True, cwd=folder)

        compiled("libtorch.so", 'namespace at { void add() {} } extern "C" void aoti_torch_add() {}\n')
        for called, codes in (("namespace at { void add(); }", ["abi_not_allowed"]), ('extern "C" void aoti_torch_add();', [])):
            call = "at::add();" if "at" in called.split() else "aoti_torch_add();"
            compiled("host.so", f'{called}\nextern "C" int host_run() {{ {call} return 1; }}\n', "-xnone", "libtorch.so")

            def change(bundle, manifest):
                op = next(op for op in manifest["ops"] if op["name"] == "host")
                data = (folder / "host.so").read_bytes()
                (bundle / "host.so").write_bytes(data)
                op.update(sha256=signing.hashlib.sha256(data).hexdigest(), bytes=len(data),
                          runtime={"libraries": ["libtorch.so"], "versions": {}})
                manifest["torch"] = {"version": "2.11.0", "cuda": "", "hip": "", "cxx11_abi": True, "python": "cp311",
                                     "ext_suffix": ".so", "accelerator": "cpu"}

            self.assertEqual(self.codes({"torch_abi": "stable"}, bundle=self.forged(change)), codes, called)

    def test_what_a_manifest_says_of_needs_does_not_matter(self):
        def change(_, manifest):
            for op in manifest["ops"]:
                op["runtime"] = {"libraries": [], "versions": {}}
        for each in (change, lambda _, manifest: [op.pop("runtime") for op in manifest["ops"]]):
            forged = self.forged(each)
            self.assertEqual(self.codes({"max_glibc": "2.0"}, bundle=forged), ["abi_not_allowed"])
            self.assertEqual(self.codes({"max_glibc": "99.0"}, bundle=forged), [])

    def test_a_bundle_that_differs_from_its_manifest(self):
        def change(bundle, _):
            (bundle / "text.so").unlink()
        run = self.verify({"max_glibc": "2.0", "trust_key": "key.pub.pem", "gpu": "A100"}, code=1, bundle=self.forged(change))
        self.assertIn("text.so is missing", run.out)


class MistakesTest(PolicyTest):
    def test_messages(self):
        self.write("gpu: [A100]\nmax_sise: 1M\n")
        self.check_alone("policy_unknown_key", self.space, "verify", "out", "--policy", "policy.yaml", code=2)
        self.write("min_version: new\n")
        self.check_alone("policy_bad_version", self.space, "verify", "out", "--policy", "policy.yaml", code=2)
        self.write("trust_key: key.pub.pem expires soon\n")
        self.check_alone("policy_bad_date", self.space, "verify", "out", "--policy", "policy.yaml", code=2)
        self.write("trust_key: policy.yaml\n")
        self.check_alone("policy_bad_key", self.space, "verify", "out", "--policy", "policy.yaml", code=2)
        self.write("builder: https://ci.example\n")
        self.check_alone("policy_no_key", self.space, "verify", "out", "--policy", "policy.yaml", code=2)

    def test_a_policy_that_is_not_there(self):
        run = self.space.run("verify", "out", "--policy", "absent.yaml")
        self.assertEqual(run.code, 1, run)
        self.assertIn("error[io]: absent.yaml", run.err)

    def test_other_commands_have_none(self):
        for words in (["build", "--policy", "policy.yaml"], ["inspect", "out", "--trust-key", "key.pub.pem"],
                      ["plan", "--min-version", "1"]):
            run = self.space.run(*words)
            self.assertEqual(run.code, 2, run)
            self.assertIn("used by verify", run.err)


class RefusedTest(PolicyTest):
    """Messages of what is refused, with keys of published examples (RFC 8032, section 7.1), whose ids are always the same."""

    PRIVATE = "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n"
    SEEDS = {"release": "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
             "former": "MC4CAQAwBQYDK2VwBCIEIEzNCJsoqP+Wna22xkbsEU4PW4oxn1q6piTajPbtT7im"}

    def setUp(self):
        super().setUp()
        for name, seed in self.SEEDS.items():
            (self.space.root / f"{name}.pem").write_text(self.PRIVATE.format(seed))
            subprocess.run(["openssl", "pkey", "-in", f"{name}.pem", "-pubout", "-out", f"{name}.pub.pem"], cwd=self.space.root, check=True)
        self.bundle = self.space.root / "bundle"
        shutil.rmtree(self.bundle, ignore_errors=True)
        shutil.copytree(self.space.out, self.bundle)
        (self.bundle / signing.SIGNATURE).unlink()

    def sign(self, key="release"):
        self.assertEqual(self.space.run("sign", "bundle", "--key", f"{key}.pem").code, 0)

    def refused(self, name, rules):
        self.write(rules)
        self.check_alone(name, self.space, "verify", "bundle", "--policy", "policy.yaml", code=1)

    def test_what_it_is(self):
        torch = {"version": "2.11.0+cu130", "cuda": "13.0", "hip": "", "cxx11_abi": True, "python": "cp311",
                 "ext_suffix": ".so", "accelerator": "cuda"}
        self.forged(lambda _, manifest: manifest.update(torch=torch))
        self.write({"gpu": "B200", "ptx_only": "forbidden", "license": "Apache-2.0", "torch_abi": "2.10", "min_version": "2.1",
                    "trust_key": "release.pub.pem"})
        self.check_alone("policy_refused", self.space, "verify", "forged", "--policy", "policy.yaml", code=1)

    def test_who_signed_it(self):
        self.sign("former")
        self.refused("policy_untrusted_key", {"trust_key": "release.pub.pem"})
        self.refused("policy_revoked_key", {"trust_key": "release.pub.pem", "revoked_key": "former.pub.pem"})
        self.refused("policy_expired_key", {"trust_key": ["release.pub.pem", "former.pub.pem expires 2026-01-31"]})

    def test_who_built_it(self):
        signing.write_statement(self.bundle, builder="https://ci.example/builder")
        self.sign()
        self.refused("policy_other_builder", {"trust_key": "release.pub.pem", "builder": "https://ci.example/release"})

    def test_of_what(self):
        self.sign()
        statement = (self.bundle / signing.STATEMENT).read_text()
        (self.bundle / signing.STATEMENT).write_text(statement + "\n")
        self.refused("policy_bad_signature", {"trust_key": "release.pub.pem"})
        (self.bundle / signing.STATEMENT).write_text(statement)
        manifest = self.bundle / "manifest.json"
        manifest.write_text(manifest.read_text() + "\n")
        self.check_alone("sign_statement_differs", self.space, "sign", "bundle", "--key", "release.pem", code=1)
        (self.bundle / signing.STATEMENT).write_text("{}\n")
        self.check_alone("sign_bad_statement", self.space, "sign", "bundle", "--key", "release.pem", code=1)
        (self.bundle / signing.STATEMENT).unlink()
        self.check_alone("sign_no_statement", self.space, "sign", "bundle", "--key", "release.pem", code=1)

    def test_signed(self):
        self.check_alone("sign", self.space, "sign", "bundle", "--key", "release.pem", code=0)
        signing.write_statement(self.bundle, builder="https://ci.example/builder")
        self.sign()
        self.write({"gpu": ["A100", "H100"], "trust_key": "release.pub.pem"})
        self.check_alone("policy_ok", self.space, "verify", "bundle", "--policy", "policy.yaml", code=0)


class AnswersTest(PolicyTest):
    def test_what_a_failed_gate_says(self):
        def change(bundle, manifest):
            manifest.update(license="GPL-3.0-only")
        self.forged(change)
        self.write({"license": ["MIT"], "max_glibc": "2.0", "min_version": "3", "trust_key": "key.pub.pem"})
        run = self.space.run("verify", "forged", "--policy", "policy.yaml")
        self.assertEqual(run.code, 1, run)
        for code in ("license_not_allowed", "abi_not_allowed", "older_bundle", "not_signed"):
            self.assertIn(f"error[{code}]: forged: ", run.err)
        self.assertRegex(run.err, r"needs glibc [\d.]+, and policy.yaml:2:1 allows glibc 2.0")

    def test_json(self):
        self.write({"gpu": ["H100"], "trust_key": "key.pub.pem"})
        gate = json.loads(self.space.run("verify", "out", "--policy", "policy.yaml", "--json").out)["gate"]
        self.assertEqual(gate["signature"], {"key": self.keys["key"].id, "file": "key.pub.pem", "builder": self.builder})
        self.assertEqual((gate["passed"], gate["gpus"][0]["runs"]), (True, "native"))

    def test_what_fails_is_not_loaded(self):
        """Nobody runs what he does not trust."""
        for key, loads in (("key.pub.pem", True), ("other.pub.pem", False)):
            self.write({"trust_key": key})
            run = self.space.run("verify", "out", "--policy", "policy.yaml", "--load", "--json")
            self.assertEqual("loads" in json.loads(run.out), loads, run)

    def sarif(self, *words, code):
        run = self.space.run("verify", *words, "--sarif", "out.sarif")
        self.assertEqual(run.code, code, run)
        log = json.loads((self.space.root / "out.sarif").read_text())
        sarif_test.SarifTest.check_format(self, log, code)
        return [(result["ruleId"], result["level"], result["locations"][0]["physicalLocation"]) for result in log["runs"][0]["results"]]

    def test_sarif(self):
        self.write({"license": ["Apache-2.0"], "gpu": ["B200"]})
        self.assertEqual([(rule, level) for rule, level, _ in self.sarif("out", "--policy", "policy.yaml", code=1)],
                         [("gpu_by_driver", "warning"), ("license_not_allowed", "error")])
        place = self.sarif("out", "--policy", "policy.yaml", code=1)[1][2]
        self.assertTrue(place["artifactLocation"]["uri"].endswith("out/manifest.json"), place)
        self.write("max_sise: 1M\n")
        (rule, level, place), = self.sarif("out", "--policy", "policy.yaml", code=2)
        self.assertEqual((rule, level, place["region"]), ("bad_policy", "error", {"startLine": 1, "startColumn": 1}))
        self.assertEqual(self.sarif("out", code=0), [])

    def test_sarif_of_a_damaged_bundle(self):
        def change(bundle, _):
            (bundle / "host.so").unlink()
        self.forged(change)
        (rule, level, place), = self.sarif("forged", code=1)
        self.assertEqual((rule, level), ("damaged_bundle", "error"))
        self.assertTrue(place["artifactLocation"]["uri"].endswith("forged/host.so"), place)


class ExamplesTest(PolicyTest):
    def yaml(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("Python has no yaml")
        if schemas.jsonschema is None:
            self.skipTest("Python has no jsonschema")
        return yaml

    def examples(self):
        found = sorted((REPOSITORY / "configs" / "policies").glob("*.yaml"))
        self.assertGreaterEqual(len(found), 2)
        return found

    def test_its_schema(self):
        """The file for editors is what the program says, and its keys are those of the reader."""
        schema = schemas.schema(self.space.program, "policy")
        self.assertEqual(json.loads((REPOSITORY / "schemas" / "policy.schema.json").read_text()), schema,
                         "dsbuild schema policy > schemas/policy.schema.json")
        run = self.verify("mistake: 1\n", code=2)
        said = re.search(r"^ *fix: Keys of a policy: (.*)\.$", run.err, re.M).group(1)
        self.assertEqual(said.split(", "), list(schema["properties"]))

    def test_examples_keep_to_the_schema(self):
        yaml = self.yaml()
        for file in self.examples():
            text = file.read_text()
            self.assertTrue(text.startswith("# yaml-language-server: $schema=../../schemas/policy.schema.json\n"), file)
            for loader in (yaml.SafeLoader, yaml.BaseLoader):
                self.assertEqual(schemas.problems(self.space.program, "policy", yaml.load(text, loader)), [], file)
        for text in ("max_sise: 1M\n", "max_size: [1M]\n", "ptx_only: never\n", "cxx11_abi: maybe\n", "license: {MIT: 1}\n"):
            self.verify(text, code=2)
            self.assertTrue(schemas.problems(self.space.program, "policy", yaml.safe_load(text)), text)

    def test_examples_as_they_stand(self):
        """Each is typed; what it says of a bundle is about the bundle."""
        for file in self.examples():
            copy = self.space.root / file.name
            shutil.copy(file, copy)
            shutil.copy(self.keys["key"].public, self.space.root / "release.pub.pem")
            run = self.space.run("verify", "out", "--policy", str(copy), "--json")
            self.assertIn(run.code, (0, 1), run)
            self.assertIn("gate", json.loads(run.out), file)
            self.assertLessEqual({failure["code"] for failure in json.loads(run.out)["gate"]["failures"]},
                                 {"abi_not_allowed", "gpu_not_covered", "ptx_only"}, run)


if __name__ == "__main__":
    testspace.main()
