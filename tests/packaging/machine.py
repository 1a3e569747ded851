"""What the packaging tests share: the wheel of this checkout, and clean Debian roots to try it in (scripts/root.sh)."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPTS = REPOSITORY / "scripts"
HOME_IN_ROOT = "/home/fresh"  # of scripts/root.sh
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "dsbuild"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def require_roots():
    if os.geteuid() != 0:
        skip("clean Debian roots take root (chroot, mount)")
    if not shutil.which("mmdebstrap"):
        skip("mmdebstrap is not installed")
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        skip("mounts are not allowed here")


def run(*command, **options):
    """Its output, both streams; an AssertionError with the output's end when it fails."""
    result = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **options)
    if result.returncode:
        raise AssertionError(f"exit {result.returncode}: {' '.join(map(str, command))}\n{result.stdout[-6000:]}")
    return result.stdout


def wheel():
    """DSBUILD_WHEEL, or a wheel built from the checkout."""
    if os.environ.get("DSBUILD_WHEEL"):
        return pathlib.Path(os.environ["DSBUILD_WHEEL"]).resolve()
    folder = REPOSITORY / "build" / "wheels" / "host"
    shutil.rmtree(folder, ignore_errors=True)
    run(SCRIPTS / "build_wheel.sh", folder)
    return next(folder.glob("dsbuild-*.whl"))


class Root:
    """A clean Debian root, as an image with the same packages would be; gone with the object's `remove`."""

    def __init__(self, suite="bookworm"):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-root.", dir="/var/tmp"))
        self.path = self.place / "root"
        self.place.chmod(0o755)
        run(SCRIPTS / "root.sh", "make", suite, self.path)
        # Packages are fetched once for all roots.
        self.binds = {"/var/cache/apt/archives": CACHE / "roots" / f"archives-{suite}"}
        (self.binds["/var/cache/apt/archives"] / "partial").mkdir(parents=True, exist_ok=True)

    def copy(self):
        twin = Root.__new__(Root)
        twin.place = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-root.", dir="/var/tmp"))
        twin.place.chmod(0o755)
        twin.path, twin.binds = twin.place / "root", dict(self.binds)
        run("cp", "--archive", "--reflink=auto", self.path, twin.path)
        return twin

    def start(self, *command, env=None, binds=None, cwd="/"):
        """The finished process; stdout and stderr together."""
        mounts = [word for place, source in {**self.binds, **(binds or {})}.items()
                  for word in ("--bind", f"{source}:{place}")]
        variables = [f"{name}={value}" for name, value in {"DEBIAN_FRONTEND": "noninteractive", **(env or {})}.items()]
        return subprocess.run([str(SCRIPTS / "root.sh"), "run", str(self.path), *mounts, *variables, "--",
                               "env", "-C", cwd, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)

    def run(self, *command, **options):
        result = self.start(*command, **options)
        if result.returncode:
            raise AssertionError(f"exit {result.returncode}: {command}\n{result.stdout[-6000:]}")
        return result.stdout

    def remove(self):
        subprocess.run(["rm", "-rf", "--one-file-system", str(self.place)], check=False)
