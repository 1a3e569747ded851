"""Gives Python the ops in this folder under the names that programs import them by; a .pth file imports this when Python
starts. Nothing else is read until a package is imported that an op belongs to. Made by dsbuild (its docs/guides/wheel.md)."""

import os
import sys


class Finder:
    """Looks below a folder as Python looks below site-packages, and before it."""

    def __init__(self, folder):
        self.folder = folder
        self.packages = {name.partition(".")[0] for name in os.listdir(folder)}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.packages:
            return None
        from . import ops

        return ops.find_spec(self, name, path, target)


sys.meta_path.insert(0, Finder(os.path.dirname(os.path.abspath(__file__))))
