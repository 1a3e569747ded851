"""BuildGrid, a server of the Remote Execution API, from PyPI. It needs Python 3.12, which the tests' own Python may not be."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from pip_tools import once
from reapi_process import ReapiProcess

PYTHON = "3.12"
PACKAGES = ("buildgrid==0.8.16", "buildgrid-common==0.8.0", "psycopg2-binary==2.9.13")

# A cache alone: files and entries.
CONFIGURATION = """
server:
  - !channel
    address: 127.0.0.1:{port}
    insecure-mode: true
{connections}
storages:
  - !disk-storage &cas
    path: {folder}/cas
caches:
  - !lru-action-cache &ac
    storage: *cas
    max-cached-refs: 100000
    allow-updates: true
    cache-failed-actions: false
{schedulers}
instances:
  - name: ''
    services:
      - !action-cache
        cache: *ac
      - !cas
        storage: *cas
      - !bytestream
        storage: *cas
{services}
thread-pool-size: 60
"""


def is_python(program):
    try:
        run = subprocess.run([program, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True,
                             timeout=60, check=False)
    except OSError:
        return False
    return run.stdout.strip() == PYTHON


def find_python():
    """DSBUILD_PYTHON_3_12, the tests' own, one on PATH, or one of pyenv."""
    found = [os.environ.get("DSBUILD_PYTHON_3_12"), sys.executable, shutil.which(f"python{PYTHON}"),
             *sorted(pathlib.Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser().glob(f"versions/{PYTHON}.*/bin/python3"))]
    for program in filter(None, found):
        if is_python(program):
            return program
    raise unittest.SkipTest(f"BuildGrid needs Python {PYTHON}, and there is none (DSBUILD_PYTHON_3_12 names one)")


def buildgrid_program():
    """`bgd`, in a virtual environment of its own."""
    def fill(folder):
        subprocess.run([find_python(), "-m", "venv", folder], check=True, capture_output=True)
        pip = subprocess.run([folder / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *PACKAGES],
                             capture_output=True, text=True, timeout=600, check=False)
        if pip.returncode != 0:
            raise unittest.SkipTest(f"pip cannot fetch {PACKAGES[0]}: {(pip.stderr.strip() or '?').splitlines()[-1]}")
    python = once(PACKAGES[0].replace("==", "-"), fill) / "bin" / "python"
    return [python, "-c", "import sys; sys.argv[0] = 'bgd'; from buildgrid.server.app import cli; cli()"]


class BuildGrid(ReapiProcess):
    """`connections`, `schedulers` and `services`: lines of the configuration that execution needs."""

    seconds = 60

    def __init__(self, test, folder, **more):
        self.program, self.more = buildgrid_program(), more
        super().__init__(test, folder)

    def words(self):
        text = CONFIGURATION.format(port=self.port, folder=self.folder, **{"connections": "", "schedulers": "", "services": "", **self.more})
        (self.folder / "buildgrid.yml").write_text(text)
        return [*self.program, "server", "start", self.folder / "buildgrid.yml"]
