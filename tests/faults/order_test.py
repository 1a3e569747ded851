#!/usr/bin/env python3
"""The order of ops, the spelling and order of archs, the order in which a folder lists its names, and the caller's
environment change neither the plan nor a byte of the bundle."""

import json
import os
import pathlib
import random
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from testspace import SEED, TestSpace  # noqa: E402

OPS = ["alpha", "beta", "gamma", "host"]
# Each line: words that mean the same targets.
SPELLINGS = [
    (["7.5"], ["75"], ["sm_75"], ["75-real"], ["7.5", "75"], ["7.5-real"]),
    (["8.0"], ["80"], ["sm_80"], ["80-real"], ["8.0", "8.0"]),
    (["9.0+PTX"], ["9.0", "compute_90"], ["hopper"], ["90", "90-virtual"], ["9.0-virtual", "9.0-real"]),
    (["12.0f"], ["120f"], ["sm_120f"], ["12.0f-real"]),
]

SHUFFLED_LISTING = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Each stream's names, read at once and handed out in another order. */
struct listing { DIR* stream; struct dirent* entries; size_t count, next; struct listing* after; };
static struct listing* listings;

static struct listing* listing_of(DIR* stream) {
  struct listing* list = listings;
  while (list && list->stream != stream) list = list->after;
  return list;
}

static struct dirent* real_readdir(DIR* stream) {
  return ((struct dirent * (*)(DIR*)) dlsym(RTLD_NEXT, "readdir64"))(stream);
}

static struct listing* read_all(DIR* stream) {
  struct listing* list = calloc(1, sizeof *list);
  struct dirent* entry;
  list->stream = stream;
  while ((entry = real_readdir(stream))) {
    list->entries = realloc(list->entries, (list->count + 1) * sizeof *entry);
    memcpy(&list->entries[list->count++], entry, entry->d_reclen);
  }
  srand(atoi(getenv("LISTING_SEED")));
  for (size_t i = list->count; i > 1; --i) {
    size_t j = rand() % i;
    struct dirent moved = list->entries[i - 1];
    list->entries[i - 1] = list->entries[j];
    list->entries[j] = moved;
  }
  list->after = listings;
  return listings = list;
}

struct dirent* readdir(DIR* stream) {
  struct listing* list = listing_of(stream);
  if (!list) list = read_all(stream);
  return list->next < list->count ? &list->entries[list->next++] : NULL;
}
struct dirent64* readdir64(DIR* stream) { return (struct dirent64*)readdir(stream); }

int closedir(DIR* stream) {
  struct listing* list = listing_of(stream);
  if (list) list->stream = NULL;
  return ((int (*)(DIR*))dlsym(RTLD_NEXT, "closedir"))(stream);
}
"""


def respelled(generator):
    """A list of archs with the meaning of SPELLINGS, in another order, other words, other separators."""
    words = [word for choices in SPELLINGS for word in generator.choice(choices)]
    words += generator.choices(words, k=generator.randrange(3))
    generator.shuffle(words)
    text = words[0]
    for word in words[1:]:
        text += generator.choice([";", ",", " ", "; ", " ; ;"]) + word
    return text


def shuffled_ops(generator):
    names = generator.sample(OPS, len(OPS))
    return ",".join(names + generator.choices(names, k=generator.randrange(2)))


class OrderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(sleep=0)
        cls.space.arch = "7.5;8.0;9.0+PTX;12.0f"
        cls.generator = random.Random(SEED)
        run = cls.space.build("--ops", ",".join(OPS))
        assert run.code == 0, run
        cls.reference = cls.files()
        cls.reference_build = (cls.space.build_dir / "build.ninja").read_text()

    @classmethod
    def files(cls):
        """Without the statement, which names the variables that compilers got, and options by them."""
        return testspace.without_statement(testspace.bundle_files(cls.space.out))

    def check_cold_build(self, *more, **options):
        self.space.remove_build()
        self.space.remove_out()
        run = self.space.build(*more, **options)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(self.files(), self.reference)

    def test_other_orders_and_spellings_give_the_same_bytes(self):
        for _ in range(testspace.count(1, 50, deep_too=3)):
            self.check_cold_build("--ops", shuffled_ops(self.generator), "--arch", respelled(self.generator))

    def test_many_orders_and_spellings_give_one_plan(self):
        number = testspace.count(150, 20000, deep_too=1000)
        plans = {}
        for _ in range(number):
            request = ["--ops", shuffled_ops(self.generator), "--arch", respelled(self.generator)]
            run = self.space.run(*self.space.arguments("plan", "--json", *request))
            self.assertEqual(run.code, 0, run)
            plans.setdefault(run.out, request)
        self.assertEqual(len(plans), 1, list(plans.values()))
        plan = json.loads(next(iter(plans)))
        self.assertEqual(plan["requested"], ["7.5", "8.0", "9.0+PTX", "12.0f"])

    def test_the_plan_does_tell_requests_apart(self):
        """The check of the test above."""
        plans = {self.space.run(*self.space.arguments("plan", "--json", "--arch", arch)).out
                 for arch in ("8.0;9.0+PTX", "8.0+PTX;9.0")}
        self.assertEqual(len(plans), 2)

    def test_a_shuffled_listing_of_every_folder_gives_the_same_bytes(self):
        shim = testspace.compile_shim(SHUFFLED_LISTING, self.space.root / "shuffled_listing.so")
        for _ in range(testspace.count(1, 20, deep_too=3)):
            seed = self.generator.randrange(1, 1 << 30)
            with self.subTest(listing_seed=seed):
                self.check_cold_build(env={"LD_PRELOAD": shim, "LISTING_SEED": str(seed)})

    def test_the_listing_really_is_shuffled(self):
        """The check of the test above, with a program that does not sort."""
        shim = testspace.compile_shim(SHUFFLED_LISTING, self.space.root / "shuffled_listing.so")
        names = {testspace.subprocess.run(["ls", "-U", "/"], env={**os.environ, "LD_PRELOAD": shim,
                                                                  "LISTING_SEED": str(seed)},
                                          capture_output=True, text=True, check=True).stdout for seed in range(5)}
        self.assertGreater(len(names), 1)

    def test_an_op_built_alone_is_taken_over_unchanged_by_all(self):
        self.space.remove_build()
        self.space.remove_out()
        self.assertEqual(self.space.build("--ops", "alpha").code, 0)
        alone = (self.space.out / "alpha.so").read_bytes()
        self.space.compiled()
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        self.assertEqual([name for name in self.space.compiled() if "alpha" in name], [])
        self.assertNotIn("compile alpha", run.err)
        self.assertNotIn("link alpha", run.err)
        self.assertEqual((self.space.out / "alpha.so").read_bytes(), alone)
        self.assertEqual(self.files(), self.reference)

    def test_the_callers_environment_does_not_matter(self):
        """One thing at a time, each in a cold build at the same paths."""
        other_home = self.space.root / "other home"
        other_home.mkdir()
        variations = {
            "TZ": {"env": {"TZ": "Pacific/Kiritimati"}},
            "LC_ALL": {"env": {"LC_ALL": "de_DE.UTF-8", "LANG": "tr_TR.UTF-8"}},
            "HOME and USER": {"env": {"HOME": str(other_home), "USER": "somebody", "LOGNAME": "somebody"}},
            "umask 000": {"umask": 0},
            "umask 077": {"umask": 0o077},
            "variables of compilers": {"env": {"CPATH": "/nowhere", "GCC_COLORS": "error=1", "CXXFLAGS": "-g3 -O0",
                                               "CPLUS_INCLUDE_PATH": "/nowhere", "TMPDIR": "/nowhere",
                                               "SOURCE_DATE_EPOCH": "1", "LDFLAGS": "-Wl,--build-id=none"}},
            "one job": {"more": ["-j", "1"]},
            "four jobs": {"more": ["-j", "4"]},
        }
        if shutil.which("unshare") and os.geteuid() == 0:
            variations["hostname"] = {"prefix": ("unshare", "--uts", "sh", "-c", 'hostname other; exec "$@"', "sh")}
        if shutil.which("setarch"):
            variations["no randomised addresses"] = {"prefix": ("setarch", "-R")}
        for name, variation in testspace.some_of(variations.items(), 4):
            with self.subTest(name):
                self.check_cold_build(*variation.pop("more", []), **variation)


class LongestFirstTest(unittest.TestCase):
    """Of the edges that are ready, the one that took longest in an earlier build starts first."""

    def first_started(self, space):
        space.remove_build()
        run = space.build("-j", "1")
        self.assertEqual(run.code, 0, run)
        first = space.toolkit.compiled()[0]
        space.toolkit.forget_starts()
        return first

    def test_what_took_longest_starts_first(self):
        space = TestSpace(sleep=0, slow={"two.o.tmp": 0.6})
        self.assertEqual(self.first_started(space), "pack/alpha/alpha.cu", "nothing is known, and it is the largest")
        bundle = space.hash()
        self.assertIn(self.first_started(space), ("pack/beta/two.cu", "pack/gamma/two.cu"))
        self.assertEqual(space.hash(), bundle, "the order is no part of the result")
        self.assertEqual(space.build().edges_run(), 0)


class IdleCoresTest(unittest.TestCase):
    """Where there are more jobs than CUDA files, nvcc compiles a file's archs side by side."""

    def threads(self, space, jobs):
        space.remove_build()
        space.toolkit.forget_starts()
        run = space.build("--ops", "alpha", "-j", str(jobs))
        self.assertEqual(run.code, 0, run)
        return {start["append"] for start in space.toolkit.starts()}

    def test_idle_cores_change_no_command_and_no_byte(self):
        space = TestSpace(sleep=0)  # alpha: one .cu, three targets
        self.assertEqual(self.threads(space, 1), {""})
        bundle = space.hash()
        self.assertEqual(self.threads(space, 2), {"--threads=2"})
        self.assertEqual(self.threads(space, 16), {"--threads=3"})
        self.assertEqual(space.hash(), bundle)
        self.assertEqual(space.build("--ops", "alpha", "-j", "1").edges_run(), 0)


if __name__ == "__main__":
    testspace.main(each_commit=5)
