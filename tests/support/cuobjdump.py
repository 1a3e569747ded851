"""The device images of a file by NVIDIA's own reader."""

import os
import re
import subprocess
import unittest


def find_cuobjdump():
    program = os.environ.get("DSBUILD_CUOBJDUMP")
    if not program or not os.access(program, os.X_OK):
        raise unittest.SkipTest("no cuobjdump that is not ours (DSBUILD_CUOBJDUMP)")
    return program


def list_images(file):
    """[("elf" or "ptx", "sm_80")], sorted, one for each image."""
    found = []
    for kind, option in (("elf", "--list-elf"), ("ptx", "--list-ptx")):
        listed = subprocess.run([find_cuobjdump(), option, file], capture_output=True, text=True, check=False).stdout
        found += [(kind, arch) for arch in re.findall(r"\.(sm_\w+)\.(?:cubin|ptx)", listed)]
    return sorted(found)
