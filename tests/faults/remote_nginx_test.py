#!/usr/bin/env python3
"""A remote cache that a real nginx keeps, as users set it up: by dav, over HTTP/1.1 and HTTP/2, with certificates of both sides. Works
through tests/tools/remote_tool.cpp. Each test says what turns it red."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import bad_server  # noqa: E402
import testspace  # noqa: E402
from bad_server import Server  # noqa: E402
from remote_cache import RemoteTest, cas, certificate_for, digest  # noqa: E402


class NginxTest(RemoteTest):
    """nginx with dav, a plain process with a configuration of its own."""

    def setUp(self):
        super().setUp()
        self.nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if not self.nginx:
            self.skipTest("there is no nginx (nginx-light)")
        said = subprocess.run([self.nginx, "-V"], capture_output=True, text=True, check=True).stderr
        if "http_dav_module" not in said:
            self.skipTest("this nginx has no dav")
        self.port = bad_server.free_port()

    def start(self, listen="", lines=""):
        for folder in ("www", "temp"):
            (self.root / folder).mkdir()
        user = "user root;" if os.geteuid() == 0 else ""
        temporary = " ".join(f"{kind}_temp_path {self.root}/temp/{kind};"
                             for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.root / "nginx.conf").write_text(f"""{user} daemon off; worker_processes 1; pid {self.root}/pid;
error_log {self.root}/errors; events {{}}
http {{ {temporary} client_max_body_size 1m; log_format short '$server_protocol $connection $request_method $status';
access_log {self.root}/access short;
server {{ listen 127.0.0.1:{self.port} {listen}; root {self.root}/www; {lines}
location / {{ dav_methods PUT; create_full_put_path on; }}
location /read_only/ {{ }} }} }}
""")
        server = subprocess.Popen([self.nginx, "-c", self.root / "nginx.conf", "-p", self.root, "-e", self.root / "errors"])
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        testspace.wait_until((self.root / "pid").exists)
        self.url = f"{'https' if listen else 'http'}://localhost:{self.port}"

    def served(self):
        """(protocol, connection, method, status) of each request so far."""
        return [line.split() for line in (self.root / "access").read_text().splitlines()]

    # Red where nginx does not take what is sent, or a message of it is not understood.
    def test_dav(self):
        self.start()
        body = os.urandom(300000)
        names = range(40)
        self.assertEqual({answer.state for answer in self.ask("has", names)}, {"absent"})
        self.assertEqual({answer.state for answer in self.put(names, body)}, {"done"})
        self.assertEqual({answer.state for answer in self.put(names, body)}, {"done"})  # 204: it was there
        for answer in self.ask("get", names):
            self.is_done(answer, body)
        self.assertEqual((self.root / "www/cas" / digest(0)).read_bytes(), body)
        (too_large,) = self.put([0], b"x" * (2 << 20))
        self.is_not_done(too_large, "refused", "413")
        (read_only,) = self.put([0], b"x", url=self.url + "/read_only")
        self.is_not_done(read_only, "refused", "405")

    # Red where HTTP/2 is not spoken, takes more connections than one, or mixes up its streams.
    def test_http2_and_certificates(self):
        certificate, key = certificate_for(self)
        self.start("ssl http2", f"ssl_certificate {certificate}; ssl_certificate_key {key}; "
                                f"ssl_client_certificate {certificate}; ssl_verify_client on;")
        own = (f"--ca-file={certificate}", f"--cert={certificate}", f"--key={key}")
        names = range(200)
        for name in names:
            (self.root / "www/cas").mkdir(exist_ok=True)
            (self.root / "www/cas" / digest(name)).write_bytes(str(name).encode() * 5000)
        for name, answer in zip(names, self.ask("get", names, *own), strict=True):
            self.is_done(answer, str(name).encode() * 5000)
        self.assertEqual({answer.state for answer in self.put(range(300, 340), b"body" * 5000, *own)}, {"done"})
        served = self.served()
        self.assertEqual({request[0] for request in served}, {"HTTP/2.0"})
        self.assertEqual(len({request[1] for request in served}), 2)
        self.is_not_done(self.ask_one("get", 0, own[0]), "failed", "400")
        self.is_not_done(self.ask_one("get", 0), "failed", "certificate")

    # Red where a certificate of nobody is believed, or where what came by TLS goes on without it.
    def test_no_redirect_leaves_tls(self):
        certificate, key = certificate_for(self)
        plain, secure = Server(self), Server(self)
        secure.use_tls(certificate, key)
        plain.files["/there"] = b"body"
        secure.behaviours[cas("a")] = Server.says(302, Location=plain.url + "/there")
        secure.files[cas("b")] = b"body"
        first, second = self.ask("get", ["a", "b"], f"--ca-file={certificate}", url=secure.url)
        self.is_not_done(first, "failed", "from https to http")
        self.is_done(second, b"body")
        self.assertEqual(plain.requests, [])


if __name__ == "__main__":
    testspace.main()
