#!/usr/bin/env python3
"""The platform in a wheel's tag against what auditwheel reads from the wheel. auditwheel comes by pip into a folder of its
own; where it cannot be had the test is skipped."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from packs import Pack  # noqa: E402
from testspace import TestSpace, main, skip  # noqa: E402

AUDITWHEEL = "auditwheel==6.8.2"  # whose table lib/package/platform.cpp names
OPS = {
    "plain": ('extern "C" int plain_run() { return 1; }\n', []),
    "clocks": ('#include <unistd.h>\nextern "C" int clocks_run() { char b[8]; return getentropy(b, 8); }\n', []),
    "streams": ('#include <iostream>\n#include <sstream>\n#include <charconv>\nextern "C" int streams_run(double x) {\n'
                "  char text[64];\n  std::to_chars(text, text + 64, x);\n  std::ostringstream all;\n"
                "  all << text;\n  std::cout << all.str();\n  return 1;\n}\n", []),
    "threads": ('#include <omp.h>\nextern "C" int threads_run() {\n#pragma omp parallel\n  omp_get_num_threads();\n  return 1;\n}\n',
                ["-fopenmp"]),
}


def make_pack(folder):
    pack = Pack(folder)
    for op, (source, flags) in OPS.items():
        pack.add_op(op, {f"{op}.cpp": source}, {"backend": "cpu", "flags": {"cxx": flags, "link": flags}})
    return pack


def setUpModule():
    global TOOL, FOLDER
    FOLDER = tempfile.TemporaryDirectory(prefix="dsbuild-auditwheel-")
    TOOL = pathlib.Path(FOLDER.name) / "bin" / "auditwheel"
    for command in ([sys.executable, "-m", "venv", FOLDER.name], [TOOL.parent / "pip", "install", "--quiet", AUDITWHEEL]):
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            skip(f"auditwheel cannot be installed: {(run.stderr or run.stdout).strip().splitlines()[-1]}")


def tearDownModule():
    FOLDER.cleanup()


def glibc_of(platform):
    """(2, 34) of "manylinux_2_34_x86_64"."""
    return tuple(map(int, platform.split("_")[1:3]))


def policies():
    """The glibcs of auditwheel's table, lowest first."""
    table = next(pathlib.Path(FOLDER.name).glob("lib/python*/site-packages/auditwheel/policy/manylinux-policy.json"))
    return sorted(glibc_of(row["name"]) for row in json.loads(table.read_text()) if row["name"] != "linux")


class ManylinuxTest(unittest.TestCase):
    def test_the_tag_is_that_of_auditwheel(self):
        space = TestSpace(pack=make_pack)
        for op in OPS:
            built = space.build("--ops", op)
            self.assertEqual(built.code, 0, built)
            wheel = json.loads(space.run("wheel", str(space.out), "--wheel-dir", "wheels", "--json").out)
            # What lies outside is not to be found: this machine's would be judged with it.
            shown = subprocess.run([TOOL, "show", "--json", "--ldpaths", FOLDER.name, space.root / wheel["wheel"]],
                                   capture_output=True, text=True)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            audit = json.loads(shown.stdout)
            with self.subTest(op=op, tag=wheel["tag"], audit=audit):
                self.assertEqual(sorted(audit["external_libs"]), wheel["outside"])
                # Its table has some glibcs, of which it says the first that does; and older ones than we name.
                ours = glibc_of(wheel["tag"].split("-")[2])
                known = [glibc for glibc in policies() if glibc >= ours]
                self.assertIn(glibc_of(audit["sym_tag"]), [known[0]] if ours > (2, 17) else [(2, 5), (2, 12), (2, 17)])
        self.assertEqual(wheel["outside"], ["libgomp.so.1"])



if __name__ == "__main__":
    main()
