"""A real nginx that keeps files by dav, as users set it up: a plain process with a configuration of its own."""

import os
import shutil
import signal
import subprocess
import unittest

import bad_server
import testspace


def nginx_program():
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not program:
        raise unittest.SkipTest("there is no nginx (nginx-light)")
    said = subprocess.run([program, "-V"], capture_output=True, text=True, check=True).stderr
    if "http_dav_module" not in said:
        raise unittest.SkipTest("this nginx has no dav")
    return program


class Nginx:
    """Files lie in `folder`/www. `listen`: words after the address; `lines`: more of the server."""

    def __init__(self, test, folder, listen="", lines="", most_bytes="1m"):
        self.program, self.folder, self.port = nginx_program(), folder, bad_server.free_port()
        self.url = f"{'https' if listen else 'http'}://localhost:{self.port}"
        for name in ("www", "temp"):
            (folder / name).mkdir(parents=True)
        user = "user root;" if os.geteuid() == 0 else ""
        temporary = " ".join(f"{kind}_temp_path {folder}/temp/{kind};"
                             for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(f"""{user} daemon off; worker_processes 1; pid {folder}/pid;
error_log {folder}/errors; events {{ worker_connections 4096; }}
http {{ {temporary} client_max_body_size {most_bytes}; log_format short '$server_protocol $connection $request_method $status';
access_log {folder}/access short;
server {{ listen 127.0.0.1:{self.port} {listen}; root {folder}/www; {lines}
location / {{ dav_methods PUT; create_full_put_path on; }}
location /read_only/ {{ }} }} }}
""")
        self.process = None
        self.start()
        test.addCleanup(self.kill)

    def start(self):
        self.process = subprocess.Popen([self.program, "-c", self.folder / "nginx.conf", "-p", self.folder,
                                         "-e", self.folder / "errors"], start_new_session=True)
        if not testspace.wait_until(self.listens):
            raise AssertionError((self.folder / "errors").read_text())

    def listens(self):
        return not bad_server.is_free(self.port)

    def kill(self):
        """Its worker, too."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def served(self):
        """(protocol, connection, method, status) of each request so far."""
        return [line.split() for line in (self.folder / "access").read_text().splitlines()]
