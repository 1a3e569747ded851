"""File systems that fill up, cannot be written or never answer, in a mount namespace of the test's own."""

import ctypes
import os
import shutil
import subprocess
import sys

import testspace

INSIDE = "DSBUILD_TEST_IN_NAMESPACE"


def enter_namespace():
    """Starts this script again where it may mount; skips where that cannot be."""
    if INSIDE in os.environ:
        return
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    unshare = ["unshare", "--mount", "--propagation", "private", *user]
    if not shutil.which("unshare") or subprocess.run([*unshare, "mount", "-t", "tmpfs", "none", "/mnt"],
                                                     capture_output=True, check=False).returncode != 0:
        testspace.skip("no mount namespace can be had here (unshare --mount)")
    os.environ[INSIDE] = "1"
    os.execvp("unshare", [*unshare, sys.executable, "-B", *sys.argv])


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def unmount_at_end(test, folder):
    test.addCleanup(subprocess.run, ["umount", "--lazy", str(folder)], check=False)


def mount_disk(test, folder, size="1g"):
    """A disk of its own at this new folder, until the test ends."""
    folder.mkdir()
    mount("-t", "tmpfs", "-o", f"size={size}", "none", folder)
    unmount_at_end(test, folder)


def make_read_only(test, folder):
    """Until the test ends."""
    mount("--bind", folder, folder)
    mount("-o", "remount,bind,ro", folder)
    unmount_at_end(test, folder)


def mount_dead(test, folder):
    """At this new folder a disk that never answers, until the test ends, as a hard NFS mount whose server is gone: nobody reads
    the kernel's requests of FUSE. Skips where there is no FUSE."""
    folder.mkdir()
    try:
        requests = os.open("/dev/fuse", os.O_RDWR)
    except OSError as error:
        testspace.skip(f"no file system can be made here that never answers: {error}")
    test.addCleanup(os.close, requests)
    options = f"fd={requests},rootmode=40000,user_id={os.geteuid()},group_id={os.getegid()}"
    if ctypes.CDLL(None).mount(b"dead", os.fsencode(folder), b"fuse", 0, options.encode()) != 0:
        testspace.skip("no FUSE file system can be mounted here")
    unmount_at_end(test, folder)
