#!/usr/bin/env python3
"""A remote cache in a bucket: signatures are those of botocore, and a server that checks them takes them; two machines share a build
through it. Works through tests/tools/remote_tool.cpp and the program. Each test says what turns it red. remote_aws_test.py has what
AWS alone does."""

import datetime
import hashlib
import json
import os
import pathlib
import random
import sys
import tempfile
import unittest
import unittest.mock
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import s3_tools  # noqa: E402
import testspace  # noqa: E402
from remote_cache import S3Test, digest  # noqa: E402
from testspace import TestSpace  # noqa: E402

class SignatureTest(S3Test):
    LETTERS = "abcXYZ019-._~ !\"#$%&'()*+,/:;<=>?@[\\]^`{|}äß漢😀\t"

    def text(self, dice, most, letters=LETTERS):
        return "".join(dice.choice(letters) for _ in range(dice.randint(1, most)))

    def request(self, dice):
        printable = "".join(map(chr, range(33, 127)))
        header = {f"X-Amz-Meta-{self.text(dice, 5, 'abcDEF')}": self.text(dice, 20, printable + "  ").strip() or "x"
                  for _ in range(dice.randint(0, 3))}
        return {"verb": dice.choice(["GET", "PUT", "HEAD", "POST", "DELETE"]),
                "host": dice.choice(["cache.s3.eu-central-1.amazonaws.com", "localhost:8333", "[::1]:9000"]),
                "path": "/" + self.text(dice, 40),
                "query": {self.text(dice, 10): self.text(dice, 10) if dice.random() < 0.8 else ""
                          for _ in range(dice.randint(0, 4))},
                "headers": header, "payload": hashlib.sha256(dice.randbytes(9)).hexdigest(),
                "id": self.text(dice, 20, "ABC123"), "secret": self.text(dice, 40, printable),
                "token": self.text(dice, 300, printable) if dice.random() < 0.5 else "",
                "region": dice.choice(["us-east-1", "cn-north-1", "auto"]), "service": "s3",
                "seconds": dice.randrange(4_000_000_000)}

    def of_botocore(self, request):
        s3_tools.with_site()
        import botocore.auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials
        # Its own way to a URL (botocore.awsrequest.prepare_request_dict), and the digest in place of the payload.
        url = f"https://{request['host']}" + urllib.parse.quote(request["path"], safe="/-._~")
        sent = AWSRequest(request["verb"], url, dict(request["headers"]), params=request["query"])
        auth = botocore.auth.S3SigV4Auth(Credentials(request["id"], request["secret"], request["token"] or None), "s3",
                                         request["region"])
        now = datetime.datetime.fromtimestamp(request["seconds"], datetime.timezone.utc)
        with unittest.mock.patch("botocore.auth.get_current_datetime", lambda *_, **__: now), \
                unittest.mock.patch.object(auth, "payload", lambda _: request["payload"]):
            auth.add_auth(sent)
        return {name.lower(): value for name, value in sent.headers.items()}

    # Red where any part of a signature is not as botocore makes it: the encoding, the order, the blanks, the times.
    def test_botocore_signs_so(self):
        s3_tools.fetch()
        dice = random.Random(testspace.SEED)
        requests = [self.request(dice) for _ in range(testspace.count(300, 20000))]
        (self.root / "requests").write_text(json.dumps(requests))
        self.assertTrue(requests)
        for request, ours in zip(requests, json.loads(self.run_tool("sign", self.root / "requests")), strict=True):
            with self.subTest(request):
                headers = dict(line.split(": ", 1) for line in ours["headers"])
                self.assertEqual({name.lower(): value for name, value in headers.items()}, self.of_botocore(request))
                parts = urllib.parse.urlsplit(ours["url"])
                self.assertEqual((parts.netloc, urllib.parse.unquote(parts.path)), (request["host"], request["path"]))
                self.assertEqual(dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True)), request["query"])

    # Red where the example of AWS's documentation ("GET Object") comes out otherwise.
    def test_the_example_of_aws(self):
        request = {"verb": "GET", "host": "examplebucket.s3.amazonaws.com", "path": "/test.txt", "query": {},
                   "headers": {"Range": "bytes=0-9"}, "payload": hashlib.sha256(b"").hexdigest(), "id": "AKIAIOSFODNN7EXAMPLE",
                   "secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "token": "", "region": "us-east-1", "service": "s3",
                   "seconds": 1369353600}
        (self.root / "requests").write_text(json.dumps([request]))
        self.assertIn("Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
                      self.run_tool("sign", self.root / "requests"))


class OnWeed(S3Test):
    """A server that rejects wrong signatures."""

    @classmethod
    def setUpClass(cls):
        if not os.environ.get("DSBUILD_REMOTE_TOOL"):
            raise unittest.SkipTest("DSBUILD_REMOTE_TOOL is not set (the build's tests/remote_tool)")
        s3_tools.fetch()
        folder = tempfile.TemporaryDirectory(prefix="dsbuild-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.weed = s3_tools.Weed(pathlib.Path(folder.name) / "weed", cls.addClassCleanup)

    def setUp(self):
        super().setUp()
        self.is_known_as(self.weed.WRITER)
        self.url = self.at("team/" + self.id().rpartition(".")[2])

    def at(self, place):
        return f"s3://{place}?endpoint={self.weed.endpoint}"


class WeedTest(OnWeed):
    def key(self, kind, name):
        return f"{self.id().rpartition('.')[2]}/{kind}/{digest(name)}"

    # Red where a verb, a key, the order of answers or a signature is wrong.
    def test_what_is_put_is_there(self):
        for body in (b"", b"\0one\n" * 100000):
            for kind in ("ac", "cas"):
                names = [f"{kind} {len(body)} {number}" for number in range(30)]
                self.assertEqual({answer.state for answer in self.ask("has", names, kind=kind)}, {"absent"})
                self.assertEqual({answer.state for answer in self.put(names[1:], body, kind=kind)}, {"done"})
                first, *others = self.ask("get", names, kind=kind)
                self.is_not_done(first, "absent")
                for answer in others:
                    self.is_done(answer, body)
                self.assertEqual([answer.state for answer in self.ask("has", names[:2], kind=kind)], ["absent", "done"])
        stored = self.weed.client().get_object(Bucket="team", Key=self.key("cas", names[1]))["Body"].read()
        self.assertEqual(stored, body)

    # Red where a part of the key is encoded twice, or not at all.
    def test_a_prefix_of_odd_letters(self):
        prefix = "odd/pre fix+(1)=ä~&%41'/*!"
        url = self.at("team/" + urllib.parse.quote(prefix, safe="/"))
        self.assertEqual([answer.state for answer in self.put(["a"], b"body", url=url)], ["done"])
        self.is_done(self.ask_one("get", "a", url=url), b"body")
        stored = self.weed.client().get_object(Bucket="team", Key=f"{prefix}/cas/{digest('a')}")["Body"].read()
        self.assertEqual(stored, b"body")

    # Red where the bucket is not in the host's name, or that name is not signed.
    def test_the_virtual_style(self):
        self.put(["a"], b"body")
        url = self.url.replace(self.weed.endpoint, self.weed.virtual_endpoint) + "&style=virtual"
        self.is_done(self.ask_one("get", "a", url=url), b"body")

    # Red where the server takes a wrong signature, or we do not say what is wrong.
    def test_keys_that_are_wrong(self):
        self.put(["a"], b"body")
        for keys, code in (((self.weed.WRITER[0], "5ecret"), "SignatureDoesNotMatch"), (("AKIANOBODY", "5ecret"), "InvalidAccessKeyId")):
            self.is_known_as(keys)
            with self.subTest(code):
                self.is_not_done(self.ask_one("get", "a"), "refused", code, self.weed.endpoint)
                (answer,) = self.put(["a"], b"body")
                self.is_not_done(answer, "refused", code)

    # Red where a reader's PUT is no refusal, or a missing object one.
    def test_who_may_only_read(self):
        self.put(["a"], b"body")
        for keys in (self.weed.READER, self.weed.GETTER):
            self.is_known_as(keys)
            found, missing = self.ask("get", ["a", "b"])
            self.is_done(found, b"body")
            self.is_not_done(missing, "absent")
            (answer,) = self.put(["a"], b"other")
            self.is_not_done(answer, "refused", "AccessDenied", "policy")

    # Red where who has no keys signs, or is not told that there are none.
    def test_nobody(self):
        self.put(["a"], b"body")
        self.put(["a"], b"body", url=self.at("open"))
        self.is_nobody()
        found, missing = self.ask("get", ["a", "b"], url=self.at("open"))
        self.is_done(found, b"body")
        self.is_not_done(missing, "absent")
        (answer,) = self.put(["a"], b"other", url=self.at("open"))
        self.is_not_done(answer, "refused", "AccessDenied")
        self.is_not_done(self.ask_one("get", "a"), "refused", "AccessDenied", "no credentials of AWS are found")

    # Red where that is taken for a missing object.
    def test_a_bucket_that_is_not_there(self):
        self.is_not_done(self.ask_one("get", "a", url=self.at("nowhere")), "refused", "NoSuchBucket")

    # Red where a part is lost, or the parts are put together in a different order.
    def test_a_large_object_goes_up_in_parts(self):
        body = self.large(70)
        self.assertEqual([answer.state for answer in self.put(["large"], body, "--deadline-ms=60000")], ["done"])
        head = self.weed.client().head_object(Bucket="team", Key=self.key("cas", "large"))
        self.assertEqual((head["ContentLength"], head["ETag"][-3:]), (len(body), '-5"'))
        self.is_done(self.ask_one("get", "large", "--deadline-ms=60000"), body)


class SharingTest(OnWeed):
    """Two machines, through the program."""

    def machine(self, name, keys=None):
        space = TestSpace(name, steps=True, store=True)
        space.environment["AWS_EC2_METADATA_DISABLED"] = "true"
        if keys:
            space.environment["AWS_ACCESS_KEY_ID"], space.environment["AWS_SECRET_ACCESS_KEY"] = keys
        return space

    def build(self, space, url=None, *more):
        run = space.build("--remote", url or self.url, *more)
        self.assertEqual(run.code, 0, run)
        self.assertNotIn("5ecret", run.out + run.err)
        return run

    # Red where keys alone do not make a machine upload, or without them one tries.
    def test_two_machines(self):
        first = self.machine("first", self.weed.WRITER)
        self.assertIn("brought there", self.build(first).out)
        second = self.machine("second", self.weed.READER)
        run = self.build(second)
        self.assertRegex(run.out, r"shared: ([1-9]\d*) of \1 found there")
        self.assertEqual(second.compiled(), [])
        self.assertEqual(testspace.bundle_files(first.out), testspace.bundle_files(second.out))

    def test_nobody_takes_and_brings_nothing(self):
        url = self.at("open/" + self.id().rpartition(".")[2])
        run = self.build(self.machine("nobody"), url)
        self.assertNotIn("brought there", run.out)
        self.assertNotIn("it takes none", run.out)
        self.assertNotIn("remote_off", run.err)
        self.assertIn("it takes none", self.build(self.machine("always"), url, "--remote-upload", "always").out)
        self.build(self.machine("first", self.weed.WRITER), url)
        self.assertRegex(self.build(self.machine("nobody again"), url).out, r"shared: ([1-9]\d*) of \1 found there")

    def test_wrong_keys_fail_no_build(self):
        run = self.build(self.machine("wrong", (self.weed.WRITER[0], "5ecret")))
        self.assertIn("warning[remote_off]", run.err)
        self.assertIn("SignatureDoesNotMatch", run.err)


if __name__ == "__main__":
    testspace.main(each_commit=3)
