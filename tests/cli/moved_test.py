#!/usr/bin/env python3
"""A machine that gets a copy of the cache's folder `store`, and nothing else, knows what its compilers are without starting one."""

import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import make_pack  # noqa: E402

# Notes what dsbuild itself starts: "<program> <word>…", and before it the loader's question.
LOG_STARTS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int execve(const char* program, char* const argv[], char* const environment[]) {
  char line[65536] = "";
  for (int i = 0; environment[i]; ++i)
    if (strncmp(environment[i], "LD_TRACE_LOADED_OBJECTS=", 24) == 0) strcat(line, "loader: ");
  strcat(line, program);
  for (int i = 1; argv[i] && strlen(line) + strlen(argv[i]) < sizeof line - 3; ++i) strcat(strcat(line, " "), argv[i]);
  strcat(line, "\n");
  int log = open(getenv("LOG_OF_STARTS"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (write(log, line, strlen(line)) < 0) abort();
  close(log);
  return ((int (*)(const char*, char* const[], char* const[]))dlsym(RTLD_NEXT, "execve"))(program, argv, environment);
}
"""


def is_script(line):
    program = pathlib.Path(line.removeprefix("loader: ").split(" ")[0])
    return program.is_absolute() and program.read_bytes()[:2] == b"#!"


class MovedTest(CliTest):
    def setUp(self):
        self.space = TestSpace(store=True, steps=True, knows_tools=False)
        self.log = self.space.root / "starts.log"
        self.space.environment |= {"LD_PRELOAD": testspace.compile_shim(LOG_STARTS, self.space.root / "log_starts.so"),
                                   "LOG_OF_STARTS": str(self.log)}

    def build(self):
        """The questions that it asks of programs; Ninja and what it runs are none. Scripts of this machine are asked on each."""
        self.log.unlink(missing_ok=True)
        self.space.toolkit.forget_starts()
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        self.assertNotIn("not_sliced", run.err)
        return [line for line in self.log.read_text().splitlines()
                if not line.startswith(self.space.environment["DSBUILD_NINJA"] + " -f ") and not is_script(line)]

    def move(self):
        """To another checkout on another machine: the toolkit's files are others of the same bytes."""
        cache = self.space.root / "cache of another machine"
        shutil.copytree(self.space.cache_folder() / "store", cache / "dsbuild" / "store")
        self.space.environment["XDG_CACHE_HOME"] = str(cache)
        home = self.space.toolkit.home
        shutil.copytree(home, home.with_name("copy"), symlinks=True)
        shutil.rmtree(home)
        home.with_name("copy").rename(home)
        self.space.pack = make_pack(self.space.root / "other" / "pack")
        self.space.out, self.space.build_dir = self.space.root / "other" / "out", self.space.root / "other" / "build"

    def test_a_copy_of_the_store_is_all_that_another_machine_needs(self):
        asked = self.build()
        for question in ("--dryrun", "-###", "--version", "loader: "):
            self.assertTrue(any(question in line for line in asked), (question, asked))
        bundle = self.space.hash()
        self.move()
        self.assertEqual(self.build(), [])
        self.assertEqual(self.space.toolkit.starts(), [])  # neither for an op nor for the self-test of slices
        self.assertEqual(self.space.hash(), bundle)

    def test_another_toolkit_is_asked_and_tested_as_ever(self):
        self.build()
        self.move()
        with (self.space.toolkit.home / "bin" / "cicc").open("ab") as program:
            program.write(b"\0")
        asked = self.build()
        cicc = str(self.space.toolkit.home / "bin" / "cicc")
        self.assertTrue(any(line.startswith(f"loader: {cicc} ") for line in asked), asked)
        self.assertTrue(any(line.endswith(" probe.cu") or "probe" in line for line in asked), asked)

    def test_without_a_cache_every_machine_asks_for_itself(self):
        self.space.environment["DSBUILD_CACHE_SIZE"] = "0"
        self.build()
        (self.space.cache_folder() / "store").mkdir(exist_ok=True)
        self.move()
        self.assertNotEqual(self.build(), [])


if __name__ == "__main__":
    testspace.main()
