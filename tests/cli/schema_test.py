#!/usr/bin/env python3
"""dsbuild schema: op.yaml, pack.yaml and config files have the keys that their readers take, all files of the repository keep to
them, mistaken ones are refused; an answer of --json with a key more or less is refused. tests/support/testspace.py checks
each answer of every test."""

import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402

import schemas  # noqa: E402

try:
    import yaml
except ImportError:
    testspace.skip("Python has no yaml")
if schemas.jsonschema is None:
    testspace.skip("Python has no jsonschema")

DIRECTIVE = re.compile(r"# yaml-language-server: \$schema=(\S+)\n")
GOOD = """name: one
sources: [a.cpp]
backends: [cuda, hip]
"""
# A place in op.yaml that takes a map -> how an unknown key gets there, and the place in the schema.
PLACES = {
    "the op spec": ("mistake: 1\n", "op"),
    "'when' of an op": ("when: {cpu: x86_64}\n", "op_condition"),
    "'when'": ("libraries: [{value: a, when: {mistake: 1}}]\n", "condition"),
    "an entry of 'libraries'": ("libraries: [{value: a, mistake: 1}]\n", "entries/items/anyOf/1"),
    "an entry of 'include_dirs'": ("include_dirs: [{value: a, mistake: 1}]\n", "include_dirs/items/anyOf/1"),
    "'archs'": ("archs: {mistake: 1}\n", "arch_filter"),
    "'archs.hip'": ("archs: {hip: {mistake: 1}}\n", "arch_filter"),
    "'flags'": ("flags: {mistake: 1}\n", "flags"),
    "'std'": ("std: {mistake: 1}\n", "std"),
    "'defines.A'": ("defines: {A: {mistake: 1}}\n", "defines/additionalProperties/anyOf/2"),
    "a requirement": ("requires: [{mistake: 1}]\n", "requirement"),
    "'hint'": ("requires: [{module: a, hint: {mistake: 1}}]\n", "requirement/properties/hint/anyOf/1"),
}
# Keys that a reader takes out before the map is checked.
TAKEN_BEFORE = {"an entry of 'include_dirs'": {"for"}}
MISTAKES = ["name: Upper\nsources: [a.cpp]\n", "sources: [a.cpp]\n", "name: one\nsources: a.cpp\n",
            GOOD + "backend: rocm\n", GOOD + "archs: {min: [8.0]}\n", GOOD + "archs: {only: 9.0}\n", GOOD + "std: {cxx: 11}\n",
            GOOD + "flags: {cxx: -O3}\n", GOOD + "defines: [A]\n", GOOD + "requires: [{cuda: '>=11', torch: '>=2'}]\n",
            GOOD + "requires: [{module: a, lacks: b}]\n", GOOD + "requires: [{source: a.cpp}]\n",
            GOOD + "undefined_symbols: pass\n", GOOD + "module_suffix: .dll\nmodule: a\n", GOOD + "libraries: [{when: {cuda: '>=11'}}]\n",
            GOOD + "when: {any_arch: '>=8.0'}\n", GOOD + "libraries: [{value: a, when: {}}]\n",
            GOOD + "libraries: [{value: a, when: {cpu: riscv}}]\n", GOOD + "unsupported: {cpu: no}\n",
            "name: one\nsources: [{path: a.cpp, glob: '*.cpp'}]\n", "name: one\nsources: [{path: a.cpp, exclude: [b]}]\n",
            "name: one\nsources: [{path: a.cpp, for: {A: []}}]\n", "name: one\nsources: [{path: a.cpp, seconds: soon}]\n",
            "name: one\nsources: [{path: a.cpp, backend: metal}]\n", "name: one\nsources: []\n"]


class SchemaTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.program = cls.space.program

    def problems(self, name, text):
        """As both kinds of readers see it: scalars by their looks, and as text."""
        return [problem for loader in (yaml.SafeLoader, yaml.BaseLoader)
                for problem in schemas.problems(self.program, name, yaml.load(text, loader))]

    def keys(self, schema, place):
        for part in place.split("/"):
            schema = schema[int(part)] if part.isdigit() else schema[part]
        return set(schema["properties"])

    def said_keys(self, err, owner):
        """Those that the reader's message names."""
        said = re.search(rf"^ *fix: Keys of {re.escape(owner)}: (.*)\.$", err, re.M)
        self.assertTrue(said, err)
        return set(said.group(1).split(", "))


class OpTest(SchemaTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = cls.space.root / "one"
        cls.folder.mkdir()
        (cls.folder / "a.cpp").write_text("int a;\n")

    def plan(self, text, file="op.yaml"):
        for name in ("op.yaml", "pack.yaml"):
            (self.folder / name).unlink(missing_ok=True)
        (self.folder / file).write_text(text)
        return self.space.run("plan", "--ops", "all", "--pack", "one", "--arch", "8.0", "--cuda-home", str(self.space.toolkit.home))

    def test_its_keys_are_those_of_the_reader(self):
        definitions = schemas.schema(self.program, "op")["$defs"]
        for owner, (mistake, place) in PLACES.items():
            with self.subTest(owner=owner):
                run = self.plan(GOOD + mistake)
                self.assertEqual(run.code, 2, run)
                expected = self.said_keys(run.err, owner) | TAKEN_BEFORE.get(owner, set())
                self.assertEqual(self.keys(definitions, place), expected)
                self.assertTrue(self.problems("op", GOOD + mistake), mistake)
        run = self.plan("name: one\nsources: [{path: a.cpp, mistake: 1}]\n")
        self.assertEqual(self.keys(definitions, "source"), self.said_keys(run.err, "a source"))

    def test_a_packs_keys_are_those_of_the_reader(self):
        schema = schemas.schema(self.program, "pack")
        for owner, text, place in (("the pack", "mistake: 1\n", schema),
                                   ("'defaults'", "defaults: {mistake: 1}\n", schema["properties"]["defaults"])):
            run = self.plan(text, "pack.yaml")
            self.assertEqual(set(place["properties"]), self.said_keys(run.err, owner))
            self.assertTrue(self.problems("pack", text))
        self.assertTrue(self.problems("pack", "ops: {one: {name: two, sources: [a.cpp]}}"))
        self.assertTrue(self.problems("pack", "package: a\nsource_root: b\n"))

    def test_a_good_one_is_taken_by_both(self):
        run = self.plan(GOOD)
        self.assertEqual((run.code, self.problems("op", GOOD)), (0, []), run)

    def test_mistakes_are_refused_by_both(self):
        for text in MISTAKES:
            with self.subTest(text=text):
                run = self.plan(text)
                self.assertEqual(run.code, 2, run)
                self.assertTrue(self.problems("op", text))

    def test_every_file_of_the_repository_and_of_its_pages(self):
        files = sorted([*REPOSITORY.glob("ops/*/*/op.yaml"), *REPOSITORY.glob("templates/*/my_op/op.yaml")])
        packs = sorted(REPOSITORY.glob("ops/*/pack.yaml"))
        self.assertGreater(len(files), 40)
        self.assertTrue(packs)
        for name, paths in (("op", files), ("pack", packs)):
            for path in paths:
                text = path.read_text(encoding="utf-8")
                self.assertEqual(self.problems(name, text), [], path)
                named = DIRECTIVE.match(text)
                self.assertTrue(named, f"{path} does not begin with the line that names its schema")
                self.assertEqual((path.parent / named.group(1)).resolve(), REPOSITORY / "schemas" / f"{name}.schema.json")
        blocks = re.findall(r"^```yaml\n(.*?)^```$", (REPOSITORY / "docs" / "reference" / "op_yaml.md").read_text(encoding="utf-8"), re.M | re.S)
        self.assertEqual(self.problems("op", blocks[0]), [])
        self.assertEqual(self.problems("pack", blocks[1]), [])


class NewTest(SchemaTest):
    def test_a_new_op_names_the_schema_that_lies_in_its_pack(self):
        for name, backend in (("scale", "cuda"), ("norm", "cpu")):
            run = self.space.run("new", name, "--backend", backend)
            self.assertEqual(run.code, 0, run)
            file = self.space.root / "mypack" / name / "op.yaml"
            text = file.read_text()
            named = file.parent / DIRECTIVE.match(text).group(1)
            self.assertEqual(json.loads(named.read_text()), schemas.schema(self.program, "op"))
            self.assertEqual(self.problems("op", text), [])
        self.assertEqual(sorted(os.listdir(self.space.root / "mypack")), ["norm", "op.schema.json", "scale"])
        run = self.space.run("list", "--pack", "./mypack", "--json")
        self.assertEqual([op["name"] for op in json.loads(run.out)["ops"]], ["norm", "scale"])


class ConfigTest(SchemaTest):
    def test_its_keys_are_those_of_the_reader(self):
        (self.space.root / "wrong.yaml").write_text("mistake: 1\n")
        run = self.space.run("plan", "--config", "wrong.yaml")
        self.assertEqual(self.said_keys(run.err, "a config file"), set(schemas.schema(self.program, "config")["properties"]))

    def test_every_preset(self):
        presets = sorted(REPOSITORY.glob("configs/*.yaml"))
        self.assertTrue(presets)
        for preset in presets:
            self.assertEqual(self.problems("config", preset.read_text()), [], preset)

    def test_mistakes_are_refused_by_both(self):
        for text in ("jbos: 3\n", "jobs: [3]\n", "color: alway\n", "strict: maybe\n", "arch: {a: 1}\n"):
            (self.space.root / "wrong.yaml").write_text(text)
            run = self.space.run("plan", "--config", "wrong.yaml", "--ops", "all")
            self.assertEqual(run.code, 2, run)
            self.assertTrue(self.problems("config", text), text)


class AnswerTest(SchemaTest):
    def test_each_schema_is_one(self):
        names = self.space.run("schema").out.split()
        self.assertLess({"op", "pack", "config", "plan", "build", "error"}, set(names))
        self.assertNotIn("common", names)
        for name in names:
            schema = schemas.schema(self.program, name)
            schemas.jsonschema.Draft202012Validator.check_schema(schema)
            for reference in re.findall(r'"\$ref": "([^"]*)"', json.dumps(schema)):
                self.assertIn(reference.removeprefix("#/$defs/"), schema["$defs"], name)

    def test_every_command_that_takes_json_has_one(self):
        names = set(self.space.run("schema").out.split())
        block = re.search(r"^Commands:\n(.*?)\n\n", self.space.run("--help").out, re.M | re.S).group(1)
        for command in re.findall(r"^  (\w+) ", block, re.M):
            if command not in schemas.WITHOUT_ANSWER:
                self.assertIn(schemas.answer_of([command]), names)

    def test_an_answer_with_a_key_more_or_less_is_refused(self):
        for words in (["plan"], ["list"], ["explain", "alpha"]):
            run = self.run_in(self.space, *words, "--json")  # the space has checked it
            document = json.loads(run.out)
            key = sorted(set(document) - {"schema"})[0]
            for wrong in ({**document, "mistake": 1}, {name: value for name, value in document.items() if name != key}):
                with self.assertRaises(AssertionError):
                    schemas.check_answer(self.program, [*words, "--json"], json.dumps(wrong))

    def test_an_unknown_name(self):
        self.check_alone("schema_unknown", self.space, "schema", "plna", code=2)


if __name__ == "__main__":
    testspace.main()
