"""Keys by openssl, and what they sign: DSSE envelopes in sigstore bundles, over statements of in-toto, all made without
dsbuild."""

import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

STATEMENT, SIGNATURE = "provenance.intoto.json", "provenance.sigstore.json"
IN_TOTO = "application/vnd.in-toto+json"
GENERATED = {"ed25519": ["-algorithm", "ed25519"], "p256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]}
KEY_BYTES = {"ed25519": 32, "p256": 65}  # at the end of the public key's DER


class Key:
    """A new one, whose files lie in the folder."""

    def __init__(self, folder, name, kind="ed25519"):
        self.program = shutil.which("openssl")
        if not self.program:
            raise unittest.SkipTest("openssl is not installed")
        self.kind = kind
        self.private, self.public = pathlib.Path(folder) / f"{name}.pem", pathlib.Path(folder) / f"{name}.pub.pem"
        self.openssl("genpkey", *GENERATED[kind], "-out", self.private)
        self.openssl("pkey", "-in", self.private, "-pubout", "-out", self.public)
        self.der = self.openssl("pkey", "-in", self.private, "-pubout", "-outform", "DER")
        self.id = hashlib.sha256(self.der[-KEY_BYTES[kind]:]).hexdigest()[:16]
        os.chmod(self.private, 0o600)

    def openssl(self, *words):
        return subprocess.run([self.program, *words], check=True, capture_output=True).stdout

    def hint(self):
        return base64.b64encode(hashlib.sha256(self.der).digest()).decode()

    def _words(self):
        return ["-rawin", *(["-digest", "sha256"] if self.kind == "p256" else [])]

    def sign_bytes(self, data):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "text"
            text.write_bytes(data)
            return self.openssl("pkeyutl", "-sign", *self._words(), "-inkey", self.private, "-in", text)

    def has_signed(self, data, signature):
        """What openssl says."""
        with tempfile.TemporaryDirectory() as folder:
            text, file = pathlib.Path(folder) / "text", pathlib.Path(folder) / "signature"
            text.write_bytes(data)
            file.write_bytes(signature)
            run = subprocess.run([self.program, "pkeyutl", "-verify", *self._words(), "-pubin", "-inkey", self.public, "-in", text,
                                  "-sigfile", file], capture_output=True, check=False)
        return run.returncode == 0


def pae(payload_type, payload):
    """DSSE's specification v1, protocol.md."""
    return b"DSSEv1 %d %b %d %b" % (len(payload_type), payload_type.encode(), len(payload), payload)


def bundle_of(key, payload, payload_type=IN_TOTO, hint=None, signature=None):
    """A sigstore bundle, as a value. What is given is written in the place of what is right."""
    signature = key.sign_bytes(pae(payload_type, payload)) if signature is None else signature
    hint = key.hint() if hint is None else hint
    return {"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {"publicKey": {"hint": hint}, "tlogEntries": []},
            "dsseEnvelope": {"payload": base64.b64encode(payload).decode(), "payloadType": payload_type,
                             "signatures": [{"keyid": hint, "sig": base64.b64encode(signature).decode()}]}}


def sign(key, bundle, **changes):
    """As dsbuild sign does, by openssl."""
    value = bundle_of(key, (bundle / STATEMENT).read_bytes(), **changes)
    (bundle / SIGNATURE).write_text(json.dumps(value))


def subjects(bundle):
    """Of all files but those of the provenance."""
    names = sorted(file.name for file in bundle.iterdir() if file.name not in (STATEMENT, SIGNATURE))
    return [{"name": name, "digest": {"sha256": hashlib.sha256((bundle / name).read_bytes()).hexdigest()}} for name in names]


def statement(bundle, builder="https://ci.example/builder", finished="2026-11-25T10:47:02Z"):
    """One of in-toto, with SLSA's provenance v1 as its predicate, of the bundle as it is: the build's, where it wrote one."""
    file = bundle / STATEMENT
    value = json.loads(file.read_text()) if file.exists() else small_statement()
    value["subject"] = subjects(bundle)
    run = value["predicate"]["runDetails"]
    run["builder"]["id"] = builder
    run["metadata"].update(startedOn=finished, finishedOn=finished)
    return value


def small_statement():
    return {"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://slsa.dev/provenance/v1",
            "subject": [],
            "predicate": {"buildDefinition": {"buildType": "urn:dsbuild:build:v1", "externalParameters": {},
                                              "internalParameters": {}, "resolvedDependencies": []},
                          "runDetails": {"builder": {}, "metadata": {}}}}


def write_statement(bundle, value=None, **words):
    """`value`: in the place of one of the bundle as it is."""
    text = json.dumps(value or statement(bundle, **words), indent=2, sort_keys=True) + "\n"
    (bundle / STATEMENT).write_text(text)
