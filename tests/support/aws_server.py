"""What weed does not do of AWS, in memory, on one port: regions, a clock that is wrong, session tokens, policies without
s3:ListBucket, STS, the metadata service of EC2, and the credentials of a container. Signatures are weed's to check."""

import datetime
import hashlib
import hmac
import json
import re
import time
import urllib.parse

from bad_server import Handler, Server

SKEW = 900  # seconds that AWS lets clocks differ
AUTHORIZATION = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d{8}/([^/]+)/s3/aws4_request, SignedHeaders=[^,]+, Signature=[0-9a-f]{64}$")


def stamp(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class AwsHandler(Handler):
    def date_time_string(self, timestamp=None):
        return super().date_time_string((timestamp or time.time()) + self.server.clock_offset)

    def fails(self, status, code, more="", **headers):
        self.answer(status, f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>said</Message>{more}</Error>'.encode(), **headers)

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.behave():
            return
        path, _, query = self.path.partition("?")
        if path == "/sts/":
            self.assume_role(dict(urllib.parse.parse_qsl(body.decode())), body)
        elif path.startswith("/latest/"):
            self.describe_instance(path)
        elif path == "/container":
            self.describe_container()
        elif self.is_right(body):
            self.keep_objects(path, dict(urllib.parse.parse_qsl(query, keep_blank_values=True)), body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_request

    # S3.

    def is_right(self, body):
        """Whether region, clock, token and the body's digest are; else it has answered."""
        server = self.server
        found = AUTHORIZATION.match(self.headers.get("Authorization") or "")
        if not found:
            if not server.is_public:
                self.fails(403, "AccessDenied")
            return server.is_public
        key, region = found.groups()
        server.keys_seen.append(key)
        when = datetime.datetime.strptime(self.headers["x-amz-date"] + "+0000", "%Y%m%dT%H%M%SZ%z").timestamp()
        if region != server.region:
            self.refuse_region()
        elif abs(when - time.time() - server.clock_offset) > SKEW:
            self.fails(403, "RequestTimeTooSkewed")
        elif server.tokens is not None and self.headers.get("x-amz-security-token") not in server.tokens:
            self.fails(400, "ExpiredToken")
        elif self.headers.get("x-amz-content-sha256") != hashlib.sha256(body).hexdigest():
            self.fails(400, "XAmzContentSHA256Mismatch")
        else:
            return True
        return False

    def refuse_region(self):
        status, told = self.server.region_answer
        code = {301: "PermanentRedirect", 307: "TemporaryRedirect", 400: "AuthorizationHeaderMalformed"}[status]
        headers = {"x_amz_bucket_region": self.server.region} if told == "header" else {}
        if status != 400:
            headers["Location"] = self.server.redirect_to + self.path
        self.fails(status, code, f"<Region>{self.server.region}</Region>" if told == "body" else "", **headers)

    def keep_objects(self, path, query, body):
        files = self.server.files
        if "list-type" in query:
            return self.answer(200, b"<ListBucketResult/>") if self.server.may_list else self.fails(403, "AccessDenied")
        if self.command == "POST" and "uploads" in query:
            self.server.uploads["upload&1"] = {}
            return self.answer(200, b"<InitiateMultipartUploadResult><UploadId>upload&amp;1</UploadId></InitiateMultipartUploadResult>")
        if "uploadId" in query:
            return self.keep_part(path, query, body)
        if self.command == "PUT":
            files[path] = body
            return self.answer(200, ETag='"1"')
        if path in files:
            return self.answer(200, files[path])
        return self.fails(404, "NoSuchKey") if self.server.may_list else self.fails(403, "AccessDenied")

    def keep_part(self, path, query, body):
        parts = self.server.uploads.get(query["uploadId"])
        if parts is None:
            return self.fails(404, "NoSuchUpload")
        if self.command == "DELETE":
            del self.server.uploads[query["uploadId"]]
            return self.answer(204)
        if self.command == "PUT":
            if query["partNumber"] == self.server.bad_part:
                return self.fails(500, "InternalError")
            parts[int(query["partNumber"])] = body
            return self.answer(200, ETag=f'"part {query["partNumber"]}"')
        if self.server.fails_to_complete:
            return self.answer(200, b'<?xml version="1.0"?>\n<Error><Code>InternalError</Code></Error>')
        numbers = [int(number) for number in re.findall(rb"<PartNumber>(\d+)</PartNumber><ETag>&quot;part \1&quot;</ETag>", body)]
        if numbers != sorted(parts):
            return self.fails(400, "InvalidPart")
        self.server.files[path] = b"".join(parts[number] for number in numbers)
        del self.server.uploads[query["uploadId"]]
        return self.answer(200, b'<CompleteMultipartUploadResult><ETag>"all"</ETag></CompleteMultipartUploadResult>')

    # Who gives keys.

    def new_keys(self):
        self.server.given += 1
        number = self.server.given
        if self.server.tokens is not None:
            self.server.tokens = {f"token {number}/+="}
        return f"ASIA{number}", f"5ecret{number}", f"token {number}/+=", stamp(time.time() + self.server.lifetime)

    def signature_of(self, body, secret):
        """Of AWS's signature, version 4, from its description."""
        scope, names, _ = re.match(r"AWS4-HMAC-SHA256 Credential=[^/]+/([^,]+), SignedHeaders=([^,]+), Signature=(.*)",
                                   self.headers["Authorization"]).groups()
        lines = [f"{name}:{' '.join(self.headers[name].split())}\n" for name in names.split(";")]
        request = "\n".join([self.command, self.path, "", "".join(lines), names, hashlib.sha256(body).hexdigest()])
        key = f"AWS4{secret}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        text = "\n".join(["AWS4-HMAC-SHA256", self.headers["x-amz-date"], scope, hashlib.sha256(request.encode()).hexdigest()])
        return scope.split("/")[1:], hmac.digest(key, text.encode(), "sha256").hex()

    def is_signed_for_sts(self, body):
        found = re.search(r"Credential=([^/]+)/.*Signature=([0-9a-f]{64})$", self.headers.get("Authorization") or "")
        if not found or found[1] not in self.server.secrets:
            return False
        scope, signature = self.signature_of(body, self.server.secrets[found[1]])
        return scope == [self.server.region, "sts", "aws4_request"] and signature == found[2]

    def assume_role(self, form, body):
        server = self.server
        server.forms.append(form)
        if form.get("RoleArn") != server.role:
            return self.fails(403, "AccessDenied")
        if form.get("Action") == "AssumeRole":
            if not self.is_signed_for_sts(body):
                return self.fails(403, "SignatureDoesNotMatch")
        elif form.get("WebIdentityToken") != server.identity or form.get("Action") != "AssumeRoleWithWebIdentity":
            return self.fails(400, "InvalidIdentityToken")
        key, secret, token, expires = self.new_keys()
        action = form["Action"]
        text = (f"<{action}Response><{action}Result><Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>"
                f"<SessionToken>{token}</SessionToken><Expiration>{expires}</Expiration></Credentials></{action}Result>"
                f"<ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></{action}Response>")
        return self.answer(200, text.encode())

    def json_keys(self):
        names = ("AccessKeyId", "SecretAccessKey", "Token", "Expiration")
        self.answer(200, json.dumps({"Code": "Success", **dict(zip(names, self.new_keys()))}).encode())

    def describe_instance(self, path):
        if path == "/latest/api/token":
            is_asked = self.command == "PUT" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
            return self.answer(200, b"instance token") if is_asked else self.answer(400)
        if self.headers.get("X-aws-ec2-metadata-token") != "instance token":
            return self.answer(401)
        folder = "/latest/meta-data/iam/security-credentials/"
        if path == folder:
            return self.answer(200, b"builder")
        return self.json_keys() if path == folder + "builder" else self.answer(404)

    def describe_container(self):
        if self.headers.get("Authorization") != "container token":
            return self.answer(403)
        return self.json_keys()


class AwsServer(Server):
    def __init__(self, test):
        super().__init__(test)
        self.RequestHandlerClass = AwsHandler
        self.region, self.region_answer, self.redirect_to = "us-east-1", (400, "body"), "http://redirected.invalid"
        self.clock_offset = 0          # seconds
        self.tokens = None             # session tokens that are taken; None: all
        self.may_list, self.is_public = True, False
        self.uploads, self.bad_part, self.fails_to_complete = {}, "", False
        self.role, self.identity, self.lifetime = "arn:aws:iam::1:role/cache", "", 3600
        self.given, self.forms, self.keys_seen = 0, [], []
        self.secrets = {}              # of the keys that may ask for a role

    def counted(self, part):
        with self.lock:
            return sum(part in path for _, path, _ in self.requests)
