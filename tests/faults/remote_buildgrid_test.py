#!/usr/bin/env python3
"""A remote cache by BuildGrid, a second server of the Remote Execution API: what remote_casd_test.py asks of buildbox-casd."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import remote_casd_test  # noqa: E402
import testspace  # noqa: E402
from buildgrid import BuildGrid  # noqa: E402


class BuildGridTest(remote_casd_test.CasdTest):
    kind = BuildGrid
    starts_slowly = True


class BuildGridSharingTest(remote_casd_test.CasdSharingTest):
    kind = BuildGrid


if __name__ == "__main__":
    testspace.main()
