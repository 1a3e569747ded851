#!/usr/bin/env python3
"""What AWS has and other servers of S3 have not: regions, clocks, tokens, policies without s3:ListBucket, and all places where keys
come from; and objects in parts, whose upload fails. By a stand-in for AWS (tests/support/aws_server.py), and through
tests/tools/remote_tool.cpp. Each test says what turns it red."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import bad_server  # noqa: E402
import testspace  # noqa: E402
from aws_server import AwsServer  # noqa: E402
from bad_server import Server  # noqa: E402
from remote_cache import S3Test, digest  # noqa: E402


class AwsTest(S3Test):
    """What AWS does and weed does not."""

    def setUp(self):
        super().setUp()
        self.aws = AwsServer(self)
        self.url = f"s3://bucket/prefix?endpoint={self.aws.url}"
        self.aws.files[self.path("a")] = b"body"

    def path(self, name):
        return f"/bucket/prefix/cas/{digest(name)}"


class RegionTest(AwsTest):
    def setUp(self):
        super().setUp()
        self.is_known_as(("AKIA", "5ecret"))

    # Red where the region is not taken from the answer, is not remembered, or a redirect is followed to a different host.
    def test_a_different_region_is_learned_once(self):
        self.aws.region = "eu-north-1"
        other = Server(self)
        self.aws.redirect_to = other.url
        for self.aws.region_answer in ((400, "body"), (400, "header"), (301, "header"), (301, "body"), (307, "header")):
            with self.subTest(self.aws.region_answer):
                self.aws.requests.clear()
                for answer in self.ask("get", ["a"], "--repeat=3"):
                    self.is_done(answer, b"body")
                self.assertEqual(len(self.aws.requests), 4)
        self.assertEqual(other.requests, [])
        self.assertEqual([answer.state for answer in self.put(["b"], b"more")], ["done"])
        self.assertEqual(self.aws.files[self.path("b")], b"more")

    # Red where HEAD, whose answer has no body, is not sent again.
    def test_has_learns_it_too(self):
        self.aws.region, self.aws.region_answer = "eu-north-1", (301, "header")
        self.assertEqual(self.ask_one("has", "a").state, "done")

    # Red where we ask again and again, or believe any name.
    def test_a_region_that_leads_nowhere(self):
        self.aws.region, self.aws.region_answer = "eu-north-1", (301, "nowhere")
        self.is_not_done(self.ask_one("get", "a"), "refused", "region", "PermanentRedirect")
        for region in ("evil.example.org/", "x" * 65, "a b"):
            self.aws.region, self.aws.region_answer = region, (400, "body")
            self.aws.requests.clear()
            self.is_not_done(self.ask_one("get", "a"), "refused", "region")
            self.assertEqual(len(self.aws.requests), 1)

    # Red where each answer is believed: this one is never content.
    def test_a_region_that_changes(self):
        self.aws.behaviours[self.path("a")] = lambda handler, number: handler.fails(
            400, "AuthorizationHeaderMalformed", f"<Region>region-{number}</Region>")
        self.is_not_done(self.ask_one("get", "a"), "refused", "region")
        self.assertEqual(len(self.aws.requests), 2)

    # Red where the region of the variables or the URL is not the one that signs.
    def test_the_region_is_given(self):
        self.aws.region = "eu-north-1"
        self.is_done(self.ask_one("get", "a", url=self.url + "&region=eu-north-1"), b"body")
        for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
            self.environment[name] = "eu-north-1"
            self.is_done(self.ask_one("get", "a"), b"body")
            self.environment["AWS_DEFAULT_REGION"] = "us-west-1"
        self.assertEqual(len(self.aws.requests), 3)

    # Red where the endpoint of the variables is not used.
    def test_the_endpoint_is_given(self):
        for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
            self.environment[name] = self.aws.url + "/"
            self.is_done(self.ask_one("get", "a", url="s3://bucket/prefix/"), b"body")
            self.environment["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1"

    def test_urls_that_are_none(self):
        for url in ("s3://", "s3://b", "s3://key:5ecret@bucket", "s3://bucket/../x", "s3://bucket?style=none", "s3://bucket?more=1",
                    "s3://bucket?endpoint=host", "s3://bucket?endpoint=https://u:5ecret@host", "s3://bucket?region=a/b"):
            with self.subTest(url):
                self.assertIn("error[bad_remote_url]", self.run_tool("get", url, "cas", digest("a"), code=1))


class ClockTest(AwsTest):
    # Red where the server's time is not taken, or taken for one request alone.
    def test_a_wrong_clock_is_mended_once(self):
        self.is_known_as(("AKIA", "5ecret"))
        for self.aws.clock_offset in (-86400, 7200):
            self.aws.requests.clear()
            for answer in self.ask("get", ["a"], "--repeat=3"):
                self.is_done(answer, b"body")
            self.assertEqual(len(self.aws.requests), 4)

    # Red where we try again with the same time.
    def test_a_server_that_is_never_content(self):
        self.is_known_as(("AKIA", "5ecret"))
        self.aws.behaviours[self.path("a")] = lambda handler, _: handler.fails(403, "RequestTimeTooSkewed")
        self.is_not_done(self.ask_one("get", "a"), "refused", "clock")
        self.assertEqual(len(self.aws.requests), 1)


class PolicyTest(AwsTest):
    # Red where a missing object ends the reading of who may not list, or a forbidden one is taken to be missing by who may.
    def test_403_of_a_missing_object(self):
        self.is_known_as(("AKIA", "5ecret"))
        self.aws.behaviours[self.path("no")] = lambda handler, _: handler.fails(403, "AccessDenied")
        self.is_not_done(self.ask_one("get", "no"), "refused", "AccessDenied")
        self.aws.may_list = False
        self.aws.requests.clear()
        found, *missing = self.ask("get", ["a", "b", "c", "no"])
        self.is_done(found, b"body")
        for answer in missing:
            self.is_not_done(answer, "absent")
        self.assertEqual(self.ask_one("has", "b").state, "absent")
        self.assertEqual(self.aws.counted("list-type"), 2)  # one for each call of the tool

    # Red where who has no keys is told nothing.
    def test_403_without_keys(self):
        self.is_not_done(self.ask_one("get", "a"), "refused", "AccessDenied", "no credentials of AWS are found")
        self.aws.is_public = True
        self.is_done(self.ask_one("get", "a"), b"body")
        self.assertEqual(self.aws.keys_seen, [])

    # Red where the reason is not the token's.
    def test_a_token_that_has_expired(self):
        self.is_known_as(("ASIA", "5ecret"), token="5ecret-old")
        self.aws.tokens = {"5ecret-new"}
        self.is_not_done(self.ask_one("get", "a"), "refused", "session token", "ExpiredToken")
        self.assertEqual(len(self.aws.requests), 1)
        self.environment["AWS_SESSION_TOKEN"] = "5ecret-new"
        self.is_done(self.ask_one("get", "a"), b"body")


class KeysTest(AwsTest):
    """Where keys come from."""

    def web_identity(self, **more):
        (self.root / "token").write_text("eyJ5ecret-identity\n")
        self.aws.identity = "eyJ5ecret-identity"
        self.environment.update(AWS_WEB_IDENTITY_TOKEN_FILE=str(self.root / "token"), AWS_ROLE_ARN=self.aws.role,
                                AWS_ENDPOINT_URL_STS=self.aws.url + "/sts", **more)

    def instance(self):
        self.environment.update(AWS_EC2_METADATA_DISABLED="false", AWS_EC2_METADATA_SERVICE_ENDPOINT=self.aws.url)

    def keys_file(self, text, place=".aws/credentials"):
        file = self.root / place
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return file

    def is_asked_by(self, *keys):
        self.aws.keys_seen.clear()
        self.is_done(self.ask_one("get", "a"), b"body")
        self.assertEqual(self.aws.keys_seen, list(keys))

    # Red where a place is not looked at, or one that counts less is preferred.
    def test_their_order(self):
        self.instance()
        self.is_asked_by("ASIA1")
        self.environment.update(AWS_CONTAINER_CREDENTIALS_FULL_URI=self.aws.url + "/container",
                                AWS_CONTAINER_AUTHORIZATION_TOKEN="container token")
        self.is_asked_by("ASIA2")
        self.assertEqual(self.aws.counted("/container"), 1)
        self.keys_file("[other]\naws_access_key_id = AKIAOTHER\naws_secret_access_key = 5ecret\n\n"
                       "[default]\naws_access_key_id=AKIAFILE\naws_secret_access_key = 5ecret=\n")
        self.is_asked_by("AKIAFILE")
        self.environment["AWS_PROFILE"] = "other"
        self.is_asked_by("AKIAOTHER")
        self.environment["AWS_SHARED_CREDENTIALS_FILE"] = str(
            self.keys_file("[other]\naws_access_key_id = AKIATHIRD\naws_secret_access_key = 5ecret\n", "elsewhere/keys"))
        self.is_asked_by("AKIATHIRD")
        self.web_identity()
        self.is_asked_by("ASIA3")
        self.assertEqual(self.aws.counted("/sts"), 1)
        self.is_known_as(("AKIAVARIABLE", "5ecret"))
        self.is_asked_by("AKIAVARIABLE")

    # Red where the token of a session is not sent.
    def test_tokens_are_sent(self):
        self.aws.tokens = set()
        self.web_identity()
        self.is_asked_by("ASIA1")
        (form,) = self.aws.forms
        self.assertEqual(form["Version"], "2011-06-15")
        self.assertEqual(form["RoleSessionName"], "dsbuild")

    # Red where keys that end in mid-build are used to their end, or the file is read once.
    def test_a_web_identity_is_renewed(self):
        self.web_identity()
        self.aws.tokens, self.aws.lifetime = set(), 299  # less than is kept in hand

        def renew(handler, number):
            if number == 1:
                (self.root / "token").write_text("eyJ5ecret-second\n")
                self.aws.identity = "eyJ5ecret-second"
                time.sleep(1.1)
            return Server.as_usual
        self.aws.behaviours[self.path("a")] = renew
        for answer in self.ask("get", ["a"], "--repeat=2"):
            self.is_done(answer, b"body")
        self.assertEqual([form["WebIdentityToken"] for form in self.aws.forms], ["eyJ5ecret-identity", "eyJ5ecret-second"])

    # Red where keys that the server calls expired are used on.
    def test_keys_that_expire_before_they_should(self):
        self.web_identity()
        self.aws.tokens = set()

        def revoke(handler, number):
            if number == 2:
                self.aws.tokens = {"another"}
            return Server.as_usual
        self.aws.behaviours[self.path("a")] = revoke
        for answer in self.ask("get", ["a"], "--repeat=3"):
            self.is_done(answer, b"body")
        self.assertEqual(len(self.aws.forms), 2)

    # Red where valid keys are given up because new ones cannot be had.
    def test_old_keys_are_used_while_they_are_valid(self):
        self.web_identity()
        self.aws.lifetime = 200

        def lose(handler, number):
            if number == 1:
                self.aws.identity = "nobody's"
                time.sleep(1.1)
            return Server.as_usual
        self.aws.behaviours[self.path("a")] = lose
        for answer in self.ask("get", ["a"], "--repeat=3"):
            self.is_done(answer, b"body")
        self.assertEqual(len(self.aws.forms), 2)

    # Red where STS's refusal is not told, or a different place is tried in silence.
    def test_who_is_configured_and_gets_none(self):
        self.instance()
        self.web_identity()
        self.aws.identity = "a different one"
        self.is_not_done(self.ask_one("get", "a"), "refused", "AssumeRoleWithWebIdentity", "InvalidIdentityToken")
        self.environment["AWS_ENDPOINT_URL_STS"] = f"http://127.0.0.1:{bad_server.free_port()}"
        self.is_not_done(self.ask_one("get", "a"), "failed", "AssumeRoleWithWebIdentity")
        (self.root / "token").unlink()
        self.is_not_done(self.ask_one("get", "a"), "refused", "AWS_WEB_IDENTITY_TOKEN_FILE", "No such file")
        del self.environment["AWS_ROLE_ARN"]
        self.environment["AWS_PROFILE"] = "ci"
        self.is_not_done(self.ask_one("get", "a"), "refused", "'ci'", ".aws/credentials")
        self.environment["AWS_ACCESS_KEY_ID"] = "AKIA"
        self.is_not_done(self.ask_one("get", "a"), "refused", "AWS_SECRET_ACCESS_KEY is not")
        self.assertEqual(self.aws.keys_seen, [])

    # Red where a line break, as of a secret that was pasted with one, begins a header of its own.
    def test_keys_with_a_line_break(self):
        for keys, token in ((("AKIA\nX-More: 1", "5ecret"), None), (("AKIA", "5ecret\n"), None), (("AKIA", "5ecret"), "a\r\nb")):
            self.is_known_as(keys, token)
            self.is_not_done(self.ask_one("get", "a"), "refused", "line break")
        self.assertEqual(self.aws.requests, [])

    # Red where the container's token goes to a different machine without TLS.
    def test_the_containers_server(self):
        self.environment.update(AWS_CONTAINER_CREDENTIALS_FULL_URI="http://cache.example.org/container",
                                AWS_CONTAINER_AUTHORIZATION_TOKEN="container token")
        self.is_not_done(self.ask_one("get", "a"), "refused", "AWS_CONTAINER_CREDENTIALS_FULL_URI")
        self.environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://127.0.0.1.example.org/container"
        self.is_not_done(self.ask_one("get", "a"), "refused", "AWS_CONTAINER_CREDENTIALS_FULL_URI")
        self.environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = self.aws.url + "/container"
        (self.root / "file").write_text("container token\n")
        self.environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "an old one"
        self.is_not_done(self.ask_one("get", "a"), "refused", "credentials of the container", "403")

    # Red where a proxy sees what goes to the machine's own services.
    def test_no_proxy_gets_what_is_the_machines(self):
        proxy = Server(self)
        self.instance()
        self.environment["http_proxy"] = proxy.url
        self.environment["no_proxy"] = ""
        proxy.behaviours[f"{self.aws.url}{self.path('a')}"] = Server.says(200, b"by the proxy")
        self.is_done(self.ask_one("get", "a"), b"by the proxy")
        self.assertEqual([path for _, path, _ in proxy.requests], [f"{self.aws.url}{self.path('a')}"])
        self.assertEqual(self.aws.counted("/latest/"), 3)

    # Red where a metadata service that does not answer costs more than a second, or is asked again.
    def test_no_metadata_service(self):
        self.instance()
        self.aws.is_public = True
        for path in ("/latest/api/token", "/latest/meta-data/iam/security-credentials/builder"):
            self.aws.behaviours = {path: self.aws.never_answers}
            self.aws.requests.clear()
            with self.subTest(path):
                answers, seconds = self.timed(lambda: self.ask("get", ["a"], "--repeat=4"))
                self.assertEqual({answer.state for answer in answers} - {"done", "failed"}, set())
                self.assertLess(seconds, 5)
                self.assertLessEqual(self.aws.counted("/latest/"), 3)


class PartsTest(AwsTest):
    def setUp(self):
        super().setUp()
        self.is_known_as(("AKIA", "5ecret"))

    def put_large(self, *options):
        (answer,) = self.put(["large"], self.large(65), "--deadline-ms=60000", *options)
        return answer

    # Red where the object is not whole.
    def test_parts(self):
        self.assertEqual(self.put_large().state, "done")
        self.assertEqual(self.aws.files[self.path("large")], self.large(65))
        self.assertEqual(self.aws.counted("partNumber"), 5)
        self.assertEqual(self.aws.uploads, {})

    # Red where parts are left that somebody pays for, or half an object is there.
    def test_what_fails_is_aborted(self):
        self.aws.bad_part = "3"
        self.is_not_done(self.put_large(), "failed", "500", "InternalError")
        self.assertEqual(self.aws.uploads, {})
        self.aws.bad_part, self.aws.fails_to_complete = "", True
        self.is_not_done(self.put_large(), "failed", "put the parts together", "InternalError")
        self.assertEqual(self.aws.uploads, {})
        self.assertNotIn(self.path("large"), self.aws.files)

    # Red where the end of a build leaves them.
    def test_what_is_cancelled_is_aborted(self):
        self.aws.behaviours[self.path("large") + "?partNumber=2&uploadId=upload%261"] = self.aws.never_answers
        answer, seconds = self.timed(lambda: self.put_large("--cancel-after-ms=4000"))
        self.is_not_done(answer, "failed", "the call was")
        self.assertLess(seconds, 15)
        self.assertEqual(self.aws.uploads, {})


if __name__ == "__main__":
    testspace.main(each_commit=16)
