#!/usr/bin/env python3
"""Attacks on a signed bundle: each is refused by a policy, for its own reason, and each is taken where the check that refuses it is
left out. So a row that would go on being refused for another reason fails too.

What the attacker can do: write every file of the bundle, sign with keys of his own, and take files of older bundles. What he cannot:
sign with a key that the policy trusts. Rows that sign with the trusted key show what its holder cannot be tricked into."""

import base64
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import make_versioned_pack  # noqa: E402

import signing  # noqa: E402
from elf import sections  # noqa: E402

BUILDER = "https://ci.example/builder"
TODAY, EARLIER = "2026-11-25T10:47:02Z", "2026-10-01T08:00:00Z"
PROVENANCE = (signing.STATEMENT, signing.SIGNATURE)


class World:
    """What all attacks begin with: two signed bundles and keys. `bundle` is the one that is attacked."""

    def __init__(self):
        self.space = TestSpace(pack=make_versioned_pack)
        root = self.space.root
        self.keys = {name: signing.Key(root, name) for name in ("release", "other", "retired", "stolen")}
        self.keys["p256"] = signing.Key(root, "p256", "p256")
        (root / "stolen.crlf.pem").write_bytes(self.keys["stolen"].public.read_bytes().replace(b"\n", b"\r\n"))
        self.new, self.old, self.bundle = (root / name for name in ("new", "old", "bundle"))
        self.space.pack.set_version("1.9.0")
        source = self.space.pack.source("host/host.cpp")
        text = source.read_text()
        source.write_text(text.replace("return 1", "return 7"))
        self.make(self.old, EARLIER)
        source.write_text(text)
        self.space.pack.set_version("2.0.0")
        self.make(self.new, TODAY)

    def make(self, folder, finished):
        run = self.space.build()
        assert run.code == 0, run
        shutil.copytree(self.space.out, folder)
        (folder / signing.SIGNATURE).unlink(missing_ok=True)
        signing.write_statement(folder, builder=BUILDER, finished=finished)
        signing.sign(self.keys["release"], folder)

    def restore(self):
        shutil.rmtree(self.bundle, ignore_errors=True)
        shutil.copytree(self.new, self.bundle)

    def policy(self, without=(), **more):
        """The policy with which a bundle is used."""
        rules = {"trust_key": ["release.pub.pem", "retired.pub.pem expires 2026-10-31", "stolen.pub.pem"],
                 "revoked_key": ["stolen.crlf.pem"], "builder": [BUILDER], "min_version": "2.0.0", "built_after": "2026-11-01", **more}
        if "expires" in without:
            rules["trust_key"][1] = "retired.pub.pem"
        file = self.space.root / "policy.yaml"
        file.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in rules.items() if key not in without))
        return file

    def verify(self, *words, bundle=None):
        return self.space.run("verify", str(bundle or self.bundle), *map(str, words), "--json")

    # ---- what an attacker does

    def library(self, name="host"):
        return self.bundle / f"{name}.so"

    def manifest(self, change):
        """Rewrites manifest.json; digests and sizes become those of the files that are there."""
        file = self.bundle / "manifest.json"
        manifest = json.loads(file.read_text())
        change(manifest)
        for op in manifest["ops"]:
            data = (self.bundle / op["file"]).read_bytes()
            op.update(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))
        file.write_text(json.dumps(manifest, indent=2) + "\n")

    def statement(self, change=lambda statement: None):
        """Rewrites the statement; it names the files that are there."""
        value = json.loads((self.bundle / signing.STATEMENT).read_text())
        value["subject"] = signing.subjects(self.bundle)
        change(value)
        signing.write_statement(self.bundle, value)

    def envelope(self, change):
        file = self.bundle / signing.SIGNATURE
        value = json.loads(file.read_text())
        change(value)
        file.write_text(json.dumps(value))

    def sign(self, key, **changes):
        signing.sign(self.keys[key], self.bundle, **changes)

    # ---- what he wants

    def flip(self):
        """Other code in a library, of which no file and no image is more or less."""
        data = bytearray(self.library().read_bytes())
        text = next(section for section in sections(bytes(data)) if section.name == b".text")
        at = bytes(data).index(text.data)
        data[at + len(text.data) // 2] ^= 1
        self.library().write_bytes(data)
        self.manifest(nothing)

    def append(self):
        self.library().write_bytes(self.library().read_bytes() + b"payload")
        self.manifest(nothing)

    def strip(self):
        """A note of the library is gone, as its build id."""
        subprocess.run(["objcopy", "--remove-section", ".comment", "--remove-section", ".note.gnu.build-id", self.library()], check=True)
        self.manifest(nothing)

    def take_from_older(self):
        """A library with a known fault, which the same builder made and signed."""
        shutil.copy(self.old / "host.so", self.library())
        self.manifest(nothing)

    def swap_names(self):
        """Who loads `beta` gets `gamma`, and the other way round."""
        def change(manifest):
            names = {"beta": "gamma", "gamma": "beta"}
            for op in manifest["ops"]:
                op["name"] = names.get(op["name"], op["name"])
        self.manifest(change)

    def swap_files(self):
        a, b = self.library("beta"), self.library("gamma")
        data = a.read_bytes()
        a.write_bytes(b.read_bytes())
        b.write_bytes(data)

        def change(manifest):
            ops = {op["name"]: op for op in manifest["ops"]}
            ops["beta"]["file"], ops["gamma"]["file"] = ops["gamma"]["file"], ops["beta"]["file"]
            beta, gamma = dict(ops["beta"]), dict(ops["gamma"])
            ops["beta"].update({**gamma, "file": "beta.so"}, name="beta")
            ops["gamma"].update({**beta, "file": "gamma.so"}, name="gamma")
            ops["beta"]["file"], ops["gamma"]["file"] = "beta.so", "gamma.so"
        self.manifest(change)

    def add_op(self):
        shutil.copy(self.library(), self.library("zeta"))
        self.manifest(lambda manifest: manifest["ops"].append(
            {**next(op for op in manifest["ops"] if op["name"] == "host"), "name": "zeta", "file": "zeta.so"}))

    def remove_op(self):
        self.library().unlink()
        self.manifest(lambda manifest: manifest["ops"].remove(next(op for op in manifest["ops"] if op["name"] == "host")))

    def raise_version(self):
        self.manifest(lambda manifest: manifest.update(source_version="9.9.9"))

    def change_license(self):
        self.manifest(lambda manifest: manifest.update(license="Apache-2.0"))

    def forget_need(self):
        """A machine that is too old is told that it may load the library."""
        self.manifest(lambda manifest: [op.pop("runtime") for op in manifest["ops"]])

    def blank_in_manifest(self):
        file = self.bundle / "manifest.json"
        file.write_text(file.read_text() + "\n")

    def link(self, name):
        """The same bytes today; what they are tomorrow somebody else decides."""
        outside = self.space.root / f"outside-{name}"
        shutil.copy(self.bundle / name, outside)
        (self.bundle / name).unlink()
        (self.bundle / name).symlink_to(outside)


def nothing(_):
    pass


class Attack(typing.NamedTuple):
    name: str
    do: typing.Callable  # of the world
    code: str  # of the message that refuses it
    # Without which it is taken: keys of the policy; "policy": all of it; "provenance": that, and the files of the provenance;
    # "bundle": what a bundle without either must be, so that it is taken once it is undone.
    taken_without: tuple
    more: dict = {}  # of the policy


def forged(*steps):
    """The steps, and a statement that fits."""
    def do(world):
        for step in steps:
            step(world)
        world.statement()
    return do


def signed_by(key, *steps, **changes):
    """The same, signed."""
    def do(world):
        forged(*steps)(world)
        world.sign(key, **changes)
    return do


def under_old_signature(*steps):
    """The envelope has the new statement, and the signature of the old one."""
    def do(world):
        forged(*steps)(world)
        payload = base64.b64encode((world.bundle / signing.STATEMENT).read_bytes()).decode()
        world.envelope(lambda value: value["dsseEnvelope"].update(payload=payload))
    return do


def with_hint_of_release(*steps):
    def do(world):
        signed_by("other", *steps, hint=world.keys["release"].hint())(world)
    return do


def take(*names):
    """Files of the older bundle."""
    def do(world):
        for name in names or [file.name for file in world.old.iterdir()]:
            shutil.copy(world.old / name, world.bundle / name)
    return do


def of_another_builder(statement):
    statement["predicate"]["runDetails"]["builder"]["id"] = "https://evil.example"


def edit(world, change):
    world.statement(change)


def signature_is(change):
    return lambda world: world.envelope(lambda value: value["dsseEnvelope"].update(signatures=change(value["dsseEnvelope"]["signatures"])))


def flipped(signatures):
    data = bytearray(base64.b64decode(signatures[0]["sig"]))
    data[5] ^= 1
    return [{**signatures[0], "sig": base64.b64encode(data).decode()}]


def bare_payload(world):
    """A signature over the statement, not over type and statement: what it was made for is not known."""
    world.sign("release", signature=world.keys["release"].sign_bytes((world.bundle / signing.STATEMENT).read_bytes()))


def trusted_says(change):
    """What the trusted key has signed for another purpose."""
    def do(world):
        world.statement(change)
        world.sign("release")
    return do


def later(world):
    world.statement(lambda value: value["predicate"]["runDetails"]["metadata"].update(finishedOn="2027-01-01T00:00:00Z"))


def write(name, text="x\n"):
    return lambda world: (world.bundle / name).write_text(text)


def remove(name):
    return lambda world: (world.bundle / name).unlink()


POLICY, FILES, BUNDLE = ("policy",), ("provenance",), ("bundle",)
W = World
ATTACKS = [
    # Bytes and manifest fit each other; the statement is the old one.
    Attack("a bit of a library's code", W.flip, "statement_differs", FILES),
    Attack("bytes behind a library", W.append, "statement_differs", FILES),
    Attack("a stripped note", W.strip, "statement_differs", FILES),
    Attack("a library of an older bundle", W.take_from_older, "statement_differs", FILES),
    Attack("ops with swapped names", W.swap_names, "statement_differs", FILES),
    Attack("swapped libraries", W.swap_files, "statement_differs", FILES),
    Attack("an op more", W.add_op, "statement_differs", FILES),
    Attack("an op less", W.remove_op, "statement_differs", FILES),
    Attack("a version that is higher", W.raise_version, "statement_differs", FILES),
    Attack("another licence", W.change_license, "statement_differs", FILES),
    Attack("a manifest that tells no needs", W.forget_need, "statement_differs", FILES),
    Attack("a line more in the manifest", W.blank_in_manifest, "statement_differs", FILES),
    Attack("an older manifest and its libraries", take("manifest.json", "host.so"), "statement_differs", FILES),
    # All three fit; the signature is the old one.
    Attack("a bit of a library's code, and a statement of it", forged(W.flip), "bad_signature", POLICY),
    Attack("an op more, and a statement of it", forged(W.add_op), "bad_signature", POLICY),
    Attack("a version that is higher, and a statement of it", forged(W.raise_version), "bad_signature", POLICY),
    Attack("another builder in the statement", lambda world: edit(world, of_another_builder), "bad_signature", POLICY),
    Attack("a later day in the statement", later, "bad_signature", POLICY),
    Attack("a blank in the statement", lambda world: edit(world, lambda value: value.update(note=" ")), "bad_signature", POLICY),
    Attack("the signature of an older bundle", take(signing.SIGNATURE), "bad_signature", POLICY),
    # The payload fits, too; the signature is of something else, or of somebody else.
    Attack("a payload under an old signature", under_old_signature(W.flip), "untrusted_key", POLICY),
    Attack("a raised version under an old signature", under_old_signature(W.raise_version), "untrusted_key", POLICY),
    Attack("another key", signed_by("other", W.flip), "untrusted_key", POLICY),
    Attack("another kind of key", signed_by("p256", W.flip), "untrusted_key", POLICY),
    Attack("another key with the hint of the right one", with_hint_of_release(W.flip), "untrusted_key", POLICY),
    Attack("an expired key", signed_by("retired"), "untrusted_key", ("expires",)),
    Attack("a revoked key, revoked by another file", signed_by("stolen"), "untrusted_key", ("revoked_key",)),
    Attack("a signature with a bit that differs", signature_is(flipped), "untrusted_key", POLICY),
    Attack("no signature in the envelope", signature_is(lambda signatures: []), "untrusted_key", POLICY),
    Attack("an empty signature", signature_is(lambda signatures: [{**signatures[0], "sig": ""}]), "untrusted_key", POLICY),
    Attack("a signature over the bare payload", bare_payload, "untrusted_key", POLICY),
    Attack("no signature at all", remove(signing.SIGNATURE), "not_signed", POLICY),
    # What the right key has signed for something else.
    Attack("a payload of another type", lambda world: world.sign("release", payload_type="text/plain"), "bad_signature", POLICY),
    Attack("a statement of another predicate", trusted_says(lambda value: value.update(predicateType="https://spdx.dev/Document")),
           "bad_statement", FILES),
    Attack("another type of statement", trusted_says(lambda value: value.update(_type="https://in-toto.io/Link/v1")), "bad_statement", FILES),
    Attack("a statement that leaves a library out", trusted_says(lambda value: value["subject"].pop(1)), "statement_differs", FILES),
    Attack("a statement that names another file in its place", trusted_says(lambda value: value["subject"][1].update(name="other.so")),
           "statement_differs", FILES),
    Attack("a statement that names a file more", trusted_says(lambda value: value["subject"].append({**value["subject"][1], "name": "other.so"})),
           "statement_differs", FILES),
    Attack("a library that is named twice", trusted_says(lambda value: value["subject"].append(value["subject"][1])), "statement_differs", FILES),
    Attack("another builder's bundle", trusted_says(of_another_builder), "other_builder", ("builder",)),
    # Old, and rightly signed.
    Attack("an older bundle, by its version", take(), "older_bundle", ("min_version",), {"built_after": "2026-01-01"}),
    Attack("an older bundle, by its day", take(), "older_bundle", ("built_after",), {"min_version": "1.0.0"}),
    # Files.
    Attack("a link in a library's place", lambda world: world.link("host.so"), "statement_differs", POLICY),
    Attack("a link in the manifest's place", lambda world: world.link("manifest.json"), "statement_differs", POLICY),
    Attack("a damaged envelope", write(signing.SIGNATURE, "{"), "bad_signature", POLICY),
    Attack("an envelope of another kind", lambda world: world.envelope(lambda value: value.update(messageSignature=value.pop("dsseEnvelope"))),
           "bad_signature", POLICY),
    Attack("no statement", remove(signing.STATEMENT), "no_statement", POLICY),
    Attack("a file more", write("sbom.spdx.json", "{}\n"), "", BUNDLE),
    Attack("a library more", write("evil.so"), "", BUNDLE),
    Attack("a file less", remove("host.so"), "", BUNDLE),
]


class AttacksTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.world = World()

    def setUp(self):
        self.world.restore()

    def refused(self, attack):
        """The attack is refused, and says why."""
        run = self.world.verify("--policy", self.world.policy(**attack.more))
        self.assertEqual(run.code, 1, f"taken: {attack.name}\n{run}")
        answer = json.loads(run.out)
        if "error" in answer:
            return [answer["error"]["code"]]
        return [failure["code"] for failure in answer["gate"]["failures"]] + ["" for _ in answer["differences"]]

    def taken(self, attack):
        """How verify ends without the check."""
        if attack.taken_without == BUNDLE:
            self.assertEqual(self.world.verify().code, 1)
            self.world.restore()
            return self.world.verify("--policy", self.world.policy())
        if attack.taken_without == FILES:
            for name in PROVENANCE:
                (self.world.bundle / name).unlink(missing_ok=True)
        if attack.taken_without in (FILES, POLICY):
            return self.world.verify()
        return self.world.verify("--policy", self.world.policy(attack.taken_without, **attack.more))

    def test_the_bundle_itself_is_taken(self):
        for bundle in (self.world.new, self.world.bundle):
            run = self.world.verify("--policy", self.world.policy(), bundle=bundle)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(json.loads(run.out)["gate"]["signature"],
                             {"key": self.world.keys["release"].id, "file": str(self.world.space.root / "release.pub.pem"), "builder": BUILDER})

    def test_there_are_forty(self):
        self.assertGreaterEqual(len(ATTACKS), 40)
        self.assertEqual(len({attack.name for attack in ATTACKS}), len(ATTACKS))

    def test_each_is_refused_by_its_check(self):
        for attack in ATTACKS:
            with self.subTest(attack.name):
                self.world.restore()
                attack.do(self.world)
                self.assertIn(attack.code, self.refused(attack))
                run = self.taken(attack)
                self.assertEqual(run.code, 0, f"refused for something else: {attack.name}\n{run}")


if __name__ == "__main__":
    testspace.main()
