#!/usr/bin/env python3
"""What the manifest says that a library needs to be loaded, and which symbols it has, against readelf of binutils."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack  # noqa: E402

STREAMS = """#include <cmath>
#include <iostream>
#include <string>
#include <omp.h>
extern "C" double streams_run(double x) {
#pragma omp parallel
  std::cout << std::pow(x, x) << std::to_string(omp_get_num_threads());
  return x;
}
"""


def make_pack(folder):
    pack = Pack(folder)
    pack.add_op("plain", {"plain.c.cpp": 'extern "C" int plain_run() { return 1; }\n'}, {"backend": "cpu"})
    pack.add_op("streams", {"streams.cpp": STREAMS},
                {"backend": "cpu", "flags": {"cxx": ["-fopenmp"], "link": ["-fopenmp"]}})
    return pack


LOCAL_NAME = "_ZL10kept_locali"  # as C++ calls `static int kept_local(int)`


def make_host(folder, flags=()):
    pack = Pack(folder)
    pack.add_op("host", {"host.cpp": "static int __attribute__((noinline)) kept_local(int x) { return x * x + 1; }\n"
                                     'extern "C" int host_run(int x) { return kept_local(x) + kept_local(x + 1); }\n'},
                {"backend": "cpu", "exports": ["host_run"], "flags": {"cxx": list(flags)}})
    return pack


def readelf(option, library):
    return subprocess.run(["readelf", "-W", option, library], capture_output=True, text=True, check=True,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


def highest(versions):
    """{name: the highest version} of "GLIBC_2.34" and the like."""
    found = {}
    for name, number in (re.fullmatch(r"([A-Z]+)_([\d.]+)", version).groups() for version in versions):
        found[name] = max(found.get(name, number), number, key=lambda text: [int(part) for part in text.split(".")])
    return found


@unittest.skipUnless(shutil.which("readelf"), "readelf is not installed")
class RuntimeTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(pack=make_pack)
        run = cls.space.build()
        assert run.code == 0, run
        manifest = json.loads((cls.space.out / "manifest.json").read_text())
        cls.runtime = {op["name"]: op["runtime"] for op in manifest["ops"]}

    def test_needed_libraries_are_those_of_readelf(self):
        for op, runtime in self.runtime.items():
            needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", self.space.out / f"{op}.so"))
            self.assertEqual(runtime["libraries"], needed)
        self.assertIn("libgomp.so.1", self.runtime["streams"]["libraries"])

    def test_the_lowest_versions_that_do_are_the_highest_that_readelf_shows(self):
        for op, runtime in self.runtime.items():
            shown = readelf("-V", self.space.out / f"{op}.so").partition(".gnu.version_r")[2]
            self.assertEqual(runtime["versions"], highest(re.findall(r"Name: ([A-Z]+_[\d.]+) ", shown)))
        self.assertLessEqual({"GLIBC", "GLIBCXX", "GOMP"}, set(self.runtime["streams"]["versions"]))

    def test_a_manifest_of_an_older_version_is_read(self):
        file = self.space.out / "manifest.json"
        manifest = json.loads(file.read_text())
        for op in manifest["ops"]:
            del op["runtime"]
        older = TestSpace()
        shutil.copytree(self.space.out, older.out)
        testspace.forge_manifest(older.out, manifest)
        run = older.verify()
        self.assertEqual(run.code, 0, run)


@unittest.skipUnless(shutil.which("readelf"), "readelf is not installed")
class SymbolsTest(CliTest):
    """Which names of functions a library keeps."""

    def symbols(self, space, table=".symtab"):
        """{name: whether others see it} of the functions in that table; none where it is not there."""
        shown = readelf("-s", space.out / "host.so").partition(f"'{table}'")[2].partition("Symbol table")[0]
        return {line.split()[7]: line.split()[4] for line in shown.splitlines() if " FUNC " in line}

    def test_local_symbols_go_unless_debug_asks_for_them(self):
        space = TestSpace(pack=make_host)
        self.assertEqual(space.build().code, 0)
        self.assertEqual(self.symbols(space, ".dynsym").get("host_run"), "GLOBAL")
        self.assertEqual(self.symbols(space), {})
        self.assertEqual(space.verify().code, 0)
        again = space.build("--debug")
        self.assertEqual(again.code, 0, again)
        self.assertEqual(self.symbols(space).get(LOCAL_NAME), "LOCAL")
        self.assertIn(".debug_info", readelf("-S", space.out / "host.so"))
        self.assertEqual(space.build().code, 0)  # what was linked with --debug is not taken for the other
        self.assertEqual(self.symbols(space), {})

    def test_debug_information_that_a_spec_asks_for_stays(self):
        space = TestSpace(pack=lambda folder: make_host(folder, ["-g"]))
        self.assertEqual(space.build().code, 0)
        self.assertIn(".debug_info", readelf("-S", space.out / "host.so"))
        self.assertIn(LOCAL_NAME, self.symbols(space))



if __name__ == "__main__":
    testspace.main()
