#!/usr/bin/env python3
"""A remote cache that a real nginx keeps, as users set it up: by dav, over HTTP/1.1 and HTTP/2, with certificates of both sides. Works
through tests/tools/remote_tool.cpp. Each test says what turns it red."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from bad_server import Server  # noqa: E402
from nginx import Nginx  # noqa: E402
from remote_cache import RemoteTest, cas, certificate_for, digest  # noqa: E402


class NginxTest(RemoteTest):
    def start(self, listen="", lines=""):
        self.nginx = Nginx(self, self.root / "nginx", listen, lines)
        self.www, self.url = self.nginx.folder / "www", self.nginx.url

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
        self.assertEqual((self.www / "cas" / digest(0)).read_bytes(), body)
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
            (self.www / "cas").mkdir(exist_ok=True)
            (self.www / "cas" / digest(name)).write_bytes(str(name).encode() * 5000)
        for name, answer in zip(names, self.ask("get", names, *own), strict=True):
            self.is_done(answer, str(name).encode() * 5000)
        self.assertEqual({answer.state for answer in self.put(range(300, 340), b"body" * 5000, *own)}, {"done"})
        served = self.nginx.served()
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
