#!/usr/bin/env python3
"""dsbuild sign and build --sign-key: what they write others verify, and what others sign dsbuild takes."""

import base64
import json
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402

import pip_tools  # noqa: E402
import signing  # noqa: E402

DSSE = ["securesystemslib==1.6.0", "cryptography==50.0.2", "cffi==2.1.1", "pycparser==3.12"]


class SignTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.space.arch = "8.0;9.0+PTX"
        cls.first = cls.space.build()
        cls.keys = {kind: signing.Key(cls.space.root, kind, kind) for kind in signing.GENERATED}

    def setUp(self):
        self.assertEqual(self.first.code, 0, self.first)
        self.bundle = self.space.root / "bundle"
        shutil.rmtree(self.bundle, ignore_errors=True)
        shutil.copytree(self.space.out, self.bundle)
        if not (self.bundle / signing.STATEMENT).exists():
            signing.write_statement(self.bundle)

    def run_sign(self, key, *words, code=0):
        run = self.space.run("sign", str(self.bundle), "--key", str(key.private), *words)
        self.assertEqual(run.code, code, run)
        return run

    def verify(self, key, code=0):
        run = self.space.run("verify", str(self.bundle), "--trust-key", str(key.public), "--json")
        self.assertEqual(run.code, code, run)
        return json.loads(run.out)["gate"]

    def signature(self):
        value = json.loads((self.bundle / signing.SIGNATURE).read_text())
        envelope = value["dsseEnvelope"]
        return value, base64.b64decode(envelope["payload"]), base64.b64decode(envelope["signatures"][0]["sig"])


class OwnTest(SignTest):
    def test_what_is_written(self):
        for kind, key in self.keys.items():
            with self.subTest(kind):
                self.run_sign(key)
                value, payload, signature = self.signature()
                self.assertEqual(payload, (self.bundle / signing.STATEMENT).read_bytes())
                self.assertEqual(value, signing.bundle_of(key, payload, signature=signature))
                self.assertTrue(key.has_signed(signing.pae(signing.IN_TOTO, payload), signature), "what openssl says")
                self.assertFalse(key.has_signed(payload, signature))
                self.assertEqual(self.verify(key)["signature"]["key"], key.id)
                (self.bundle / signing.SIGNATURE).unlink()

    def test_openssl_s_signature_counts(self):
        for kind, key in self.keys.items():
            with self.subTest(kind):
                signing.sign(key, self.bundle)
                self.assertEqual(self.verify(key)["signature"]["key"], key.id)
                payload = (self.bundle / signing.STATEMENT).read_bytes()
                signing.sign(key, self.bundle, signature=key.sign_bytes(payload))
                self.assertEqual(self.verify(key, code=1)["failures"][0]["code"], "untrusted_key", "it is of the bare payload")

    def test_one_key_signs_once(self):
        for key in self.keys.values():
            self.assertTrue(json.loads(self.run_sign(key, "--json").out)["changed"])
            before = (self.bundle / signing.SIGNATURE).read_bytes()
            self.assertFalse(json.loads(self.run_sign(key, "--json").out)["changed"])
            self.assertEqual((self.bundle / signing.SIGNATURE).read_bytes(), before)

    def test_without_a_policy_a_signed_bundle_is_a_bundle(self):
        self.run_sign(self.keys["ed25519"])
        for words in (["verify"], ["inspect"]):
            self.assertEqual(self.space.run(*words, str(self.bundle)).code, 0)

    def test_what_is_not_signed(self):
        key = self.keys["ed25519"]
        library = next(self.bundle.glob("*.so"))
        library.write_bytes(library.read_bytes() + b"x")
        self.assertIn("error[damaged_bundle]", self.run_sign(key, code=1).err)
        shutil.copy(self.space.out / library.name, library)
        text = (self.bundle / signing.STATEMENT).read_text()
        signing.write_statement(self.bundle, {**signing.statement(self.bundle), "subject": signing.subjects(self.bundle)[1:]})
        self.assertIn("error[statement_differs]", self.run_sign(key, code=1).err)
        (self.bundle / signing.STATEMENT).unlink()
        self.assertIn("error[no_statement]", self.run_sign(key, code=1).err)
        (self.bundle / signing.STATEMENT).write_text(text)
        self.assertFalse((self.bundle / signing.SIGNATURE).exists())
        self.run_sign(key)

    def test_what_is_no_key(self):
        for file in (self.keys["ed25519"].public, self.bundle / "manifest.json"):
            run = self.space.run("sign", str(self.bundle), "--key", str(file))
            self.assertEqual(run.code, 2, run)
            self.assertIn("error[bad_key]", run.err)
        self.assertEqual(self.space.run("sign", str(self.bundle)).code, 2)


class BuildTest(CliTest):
    """A build that signs; each later one finds the signature that is there."""

    def test_builds_that_sign(self):
        space = TestSpace()
        key, other = (signing.Key(space.root, name) for name in ("key", "other"))
        run = space.build("--sign-key", "absent.pem")
        self.assertEqual((run.code, space.out.exists()), (1, False), run)
        run = space.build("--sign-key", str(key.public))
        self.assertEqual((run.code, space.build_dir.exists()), (2, False), run)
        self.assertEqual(space.build().code, 0)
        if not (space.out / signing.STATEMENT).exists():
            self.skipTest("builds write no statement yet")
        signature = space.out / signing.SIGNATURE
        self.assertFalse(signature.exists())
        self.assertIn(f"signed by the key {key.id}\n", space.build("--sign-key", str(key.private)).out)
        before = signature.stat().st_mtime_ns
        again = space.build("--sign-key", str(key.private), "--json")
        self.assertEqual((again.result()["bundle"]["signed_by"], again.result()["bundle"]["changed"]), (key.id, False))
        self.assertEqual(space.build().code, 0)
        self.assertEqual(signature.stat().st_mtime_ns, before, "what does not change the bundle leaves its signature")
        signature.unlink()
        self.assertEqual(space.build("--sign-key", str(key.private)).code, 0)
        self.assertTrue(signature.exists())
        run = space.build(env={"DSBUILD_SIGN_KEY": str(other.private)})
        self.assertIn(f"signed by the key {other.id}\n", run.out)
        self.assertEqual(space.run("verify", "out", "--trust-key", str(other.public)).code, 0)
        space.pack.source("host/host.cpp").write_text('extern "C" int host_run() { return 2; }\n')
        self.assertEqual(space.build().code, 0)
        self.assertFalse(signature.exists(), "a new bundle has no signature of the old one")


class OthersTest(SignTest):
    """The reference implementation of DSSE."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sys.path.insert(0, str(pip_tools.installed(re.sub(r"\W+", "-", DSSE[0]), *DSSE)))
        try:
            from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
            from securesystemslib import dsse, signer
        except ImportError as error:
            raise testspace.unittest.SkipTest(f"securesystemslib does not load: {error}") from error
        cls.dsse, cls.signer, cls.private, cls.public = dsse, signer, staticmethod(load_pem_private_key), staticmethod(load_pem_public_key)

    def test_it_verifies_ours(self):
        for key in self.keys.values():
            self.run_sign(key)
            envelope = self.dsse.Envelope.from_dict(self.signature()[0]["dsseEnvelope"])
            self.assertEqual(envelope.payload, (self.bundle / signing.STATEMENT).read_bytes())
            public = self.signer.SSlibKey.from_crypto(self.public(key.public.read_bytes()), keyid=key.hint())
            self.assertEqual(list(envelope.verify([public], 1)), [key.hint()])
            envelope.payload += b" "
            with self.assertRaises(Exception):
                envelope.verify([public], 1)
            (self.bundle / signing.SIGNATURE).unlink()

    def test_its_own_counts(self):
        payload = (self.bundle / signing.STATEMENT).read_bytes()
        for key in self.keys.values():
            signer = self.signer.CryptoSigner(self.private(key.private.read_bytes(), None))
            envelope = self.dsse.Envelope(payload, signing.IN_TOTO, {})
            envelope.sign(signer)
            value = {"mediaType": "application/vnd.dev.sigstore.bundle+json;version=0.3",
                     "verificationMaterial": {"publicKey": {"hint": "theirs"}}, "dsseEnvelope": envelope.to_dict()}
            (self.bundle / signing.SIGNATURE).write_text(json.dumps(value))
            self.assertEqual(self.verify(key)["signature"]["key"], key.id)


if __name__ == "__main__":
    testspace.main()
