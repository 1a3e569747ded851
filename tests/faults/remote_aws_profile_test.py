#!/usr/bin/env python3
"""Profiles of AWS: keys are those that botocore finds, in ~/.aws/config and ~/.aws/credentials. Roles are asked for at a stand-in for
STS that checks signatures (tests/support/aws_server.py). Each test says what turns it red."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import s3_tools  # noqa: E402
import testspace  # noqa: E402
from aws_server import AwsServer  # noqa: E402
from remote_cache import S3Test, digest  # noqa: E402

KEYS = "aws_access_key_id = {0}\naws_secret_access_key = 5ecret/{0}=\n"
# What botocore gives for these variables: the id of the keys, "" for none, or that it refuses.
ASK_BOTOCORE = """
import botocore.session, botocore.exceptions
try:
    session = botocore.session.Session()
    found = session.get_credentials()
    print(found.get_frozen_credentials().access_key if found else "", session.get_config_variable("region") or "us-east-1")
except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError, ValueError) as error:
    print("refused", type(error).__name__)
"""


class ProfileTest(S3Test):
    def setUp(self):
        super().setUp()
        self.aws = AwsServer(self)
        self.url = f"s3://bucket/prefix?endpoint={self.aws.url}"
        self.aws.files[f"/bucket/prefix/cas/{digest('a')}"] = b"body"
        self.aws.secrets = {f"AKIA{name}": f"5ecret/AKIA{name}=" for name in ("ONE", "TWO")}
        self.environment["AWS_ENDPOINT_URL_STS"] = self.aws.url + "/sts/"
        (self.root / ".aws").mkdir()
        (self.root / "token").write_text("eyJ5ecret")
        self.aws.identity = "eyJ5ecret"

    def files(self, config, credentials=""):
        (self.root / ".aws" / "config").write_text(config)
        (self.root / ".aws" / "credentials").write_text(credentials)

    def of_botocore(self):
        environment = {**self.environment, "PYTHONPATH": str(s3_tools.fetch())}
        run = subprocess.run([sys.executable, "-c", ASK_BOTOCORE], env=environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.strip()

    def of_dsbuild(self):
        self.aws.keys_seen.clear()
        answer = self.ask_one("get", "a")
        if self.aws.keys_seen:
            self.is_done(answer, b"body")
            return self.aws.keys_seen[-1] + " " + self.aws.region
        self.assertEqual(answer.state, "refused", answer)
        return answer.why

    def check(self, config, credentials="", region="us-east-1", **variables):
        """What both find."""
        self.files(config.replace("ROOT", str(self.root)), credentials)
        self.aws.region = region
        self.environment.update(variables)
        answers, forms = [], []
        for ask in (self.of_botocore, self.of_dsbuild):
            self.aws.given = 0
            self.aws.forms.clear()
            answers.append(ask())
            # The name of a session is each client's own where none is given.
            forms.append([{name: value for name, value in form.items() if value not in ("dsbuild",) and "botocore-session" not in value}
                          for form in self.aws.forms])
        for name in variables:
            del self.environment[name]
        self.assertEqual(*forms)
        botocore, dsbuild = answers
        if botocore.startswith("refused"):
            self.assertIn("AWS profile", dsbuild)
        elif botocore.startswith("ASIA") or botocore.startswith("AKIA"):
            self.assertEqual(dsbuild, botocore)
        else:
            self.assertIn("no credentials of AWS are found", dsbuild)
        return dsbuild

    # Red where one of the files is not read, or the other counts more; where a section or a line is read in a different way.
    def test_keys_of_both_files(self):
        one, two = KEYS.format("AKIAONE"), KEYS.format("AKIATWO")
        self.assertEqual(self.check(f"[default]\n{one}region = eu-north-1\n", region="eu-north-1"), "AKIAONE eu-north-1")
        self.assertEqual(self.check(f"[default]\n{one}", f"[default]\n{two}"), "AKIATWO us-east-1")
        self.assertEqual(self.check(f"[default]\n{one}[profile ci]\n{two}", AWS_PROFILE="ci"), "AKIATWO us-east-1")
        self.assertEqual(self.check(f"[profile 'my ci']\n{two}", AWS_PROFILE="my ci"), "AKIATWO us-east-1")
        self.check(f"[ci]\n{two}", AWS_PROFILE="ci")  # a profile only in the other file
        self.check("[default]\nregion = us-east-1\ns3 =\n  aws_access_key_id = NO\n  aws_secret_access_key = NO\n")
        self.assertEqual(self.check("# aws\n[default]\n; aws_access_key_id = NO\nAWS_SECRET_ACCESS_KEY: x\naws_access_key_id: AKIAONE\n"),
                         "AKIAONE us-east-1")
        self.check("[default]\naws_access_key_id = AKIAONE\n")
        self.check("[default]\n", AWS_PROFILE="none")
        self.check("", f"[other]\n{one}")

    # Red where a role is not asked for, by other keys than its source's, or for a source that leads nowhere.
    def test_roles(self):
        self.environment["AWS_DEFAULT_REGION"] = "us-east-1"  # botocore's client of STS takes no other default
        role = f"role_arn = {self.aws.role}\n"
        sources = KEYS.format("AKIAONE")
        self.assertEqual(self.check(f"[default]\n{role}source_profile = base\n[profile base]\n{sources}"), "ASIA1 us-east-1")
        self.check(f"[default]\n{role}source_profile = base\nexternal_id = x y\nrole_session_name = ci\nduration_seconds = 900\n",
                   f"[base]\n{sources}")
        self.check(f"[default]\n{role}source_profile = default\n{sources}")
        self.check(f"[default]\n{role}source_profile = b\n[profile b]\n{role}source_profile = default\n")
        self.check(f"[default]\n{role}source_profile = none\n")
        self.check(f"[default]\n{role}")
        self.check(f"[default]\n{role}source_profile = base\n[profile base]\nregion = us-east-1\n")
        self.check(f"[default]\n{role}source_profile = base\ncredential_source = Environment\n[profile base]\n{sources}")
        self.environment.update(AWS_CONTAINER_CREDENTIALS_FULL_URI=self.aws.url + "/container",
                                AWS_CONTAINER_AUTHORIZATION_TOKEN="container token")
        self.aws.secrets["ASIA1"] = "5ecret1"
        self.assertEqual(self.check(f"[default]\n{role}credential_source = EcsContainer\n"), "ASIA2 us-east-1")

    # Red where the role of a role is asked for by the first keys.
    def test_a_role_of_a_role(self):
        self.environment["AWS_DEFAULT_REGION"] = "us-east-1"  # botocore's client of STS takes no other default
        role = f"role_arn = {self.aws.role}\n"
        self.aws.secrets["ASIA1"] = "5ecret1"
        self.assertEqual(self.check(f"[default]\n{role}source_profile = b\n[profile b]\n{role}source_profile = c\n[profile c]\n"
                                    + KEYS.format("AKIATWO")), "ASIA2 us-east-1")

    # Red where the profile's token file is not read.
    def test_web_identity(self):
        self.assertEqual(self.check(f"[default]\nrole_arn = {self.aws.role}\nweb_identity_token_file = ROOT/token\n"
                                    f"role_session_name = job-7\n"), "ASIA1 us-east-1")
        self.check("[default]\nweb_identity_token_file = ROOT/token\n")

    # Red where a program is not run, or an answer of another form is believed.
    def test_a_program(self):
        script = self.root / "give keys"
        keys = {"Version": 1, "AccessKeyId": "AKIATWO", "SecretAccessKey": "5ecret", "SessionToken": "token", "Expiration": "2999-01-01T00:00:00Z"}
        for answer, code in ((keys, 0), ({**keys, "Version": 2}, 0), ({"Version": 1}, 0), (keys, 3), (None, 0)):
            script.write_text(f"#!/bin/sh\ncat <<'E'\n{json.dumps(answer) if answer else 'no JSON'}\nE\nexit {code}\n")
            os.chmod(script, 0o755)
            with self.subTest(answer=answer, code=code):
                said = self.check("[default]\ncredential_process = 'ROOT/give keys' for me\n")
                self.assertEqual(said == "AKIATWO us-east-1", answer == keys and code == 0, said)

    # Red where what we cannot do is passed over in silence.
    def test_what_takes_a_person(self):
        self.files(f"[default]\nrole_arn = {self.aws.role}\nsource_profile = default\nmfa_serial = x\n{KEYS.format('AKIAONE')}")
        self.is_not_done(self.ask_one("get", "a"), "refused", "'default'", "mfa_serial")
        self.files("[default]\nsso_session = me\n[sso-session me]\nsso_start_url = https://x\n")
        self.is_not_done(self.ask_one("get", "a"), "refused", "'default'", "SSO")


if __name__ == "__main__":
    testspace.main()
