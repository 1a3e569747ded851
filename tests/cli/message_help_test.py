#!/usr/bin/env python3
"""`dsbuild help CODE` says what each message means, with what a test saw of it; and the messages that no other test compares
with a golden file."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack, kernel  # noqa: E402

TABLE = REPOSITORY / "lib" / "base" / "message_code.h"
PAGE = REPOSITORY / "docs" / "reference" / "messages.md"
CODES = re.findall(r'^    \{"([a-z_]+)",', TABLE.read_text(encoding="utf-8"), re.M)


# As on a machine without the library that LACKS names.
NO_LIBRARY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
void *dlopen(const char *name, int flags) {
  const char *lacks = getenv("LACKS");
  static char absent[200] = "/absent/";
  if (name && lacks && strstr(name, lacks)) name = strncpy(absent + 8, name, 100) - 8;
  return ((void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"))(name, flags);
}
"""


class HelpTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()

    def test_every_code_is_explained_as_the_page_explains_it(self):
        self.assertGreater(len(CODES), 100)
        sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]
        self.assertEqual([section.split("\n", 1)[0] for section in sections], CODES)
        for code, section in zip(CODES, sections):
            with self.subTest(code=code):
                run = self.space.run("help", code)
                meaning, *blocks = re.split(r"^```\n", section.split("\n\n", 1)[1], flags=re.M)
                self.assertEqual((run.code, run.err), (0, ""), run)
                shown = run.out.removeprefix(f"{code}: {meaning.split(chr(10), 1)[0]}\n")
                self.assertNotEqual(shown, run.out)
                plain = re.sub(r"^  ", "", shown, flags=re.M).strip("\n").split("\n\n")
                self.assertEqual([each for each in plain if each], [block.strip("\n") for block in blocks[::2]])

    def test_json(self):
        document = json.loads(self.space.run("help", "--json", "bad_switch").out)
        self.assertEqual(document["code"], "bad_switch")
        self.assertIn("  fix: ", document["examples"][0]["message"])
        self.assertEqual(document["examples"][0]["exit_code"], "2")

    def test_a_code_as_a_message_shows_it(self):
        for word in ("error[no_gpu]:", "warning[no_gpu]", "[no_gpu]"):
            self.assertTrue(self.space.run("help", word).out.startswith("no_gpu: "), word)

    def test_a_command(self):
        self.assertEqual(self.space.run("help", "plan").out, self.space.run("plan", "--help").out)

    def test_an_unknown_code_names_the_nearest(self):
        self.check_alone("help_unknown", self.space, "help", "no_gpus", code=2)

    def test_a_program_apart_from_the_page_knows_what_a_code_means(self):
        alone = TestSpace(knows_tools=False)
        alone.copy_programs()
        run = alone.run("help", "no_gpu")
        self.assertEqual((run.code, run.out.count("\n")), (0, 1), run)


class ExampleTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.stored = TestSpace(steps=True, store=True)

    def expect_message(self, code, space, run, exit_code, words, env=None):
        """The message alone: what else a run says is the matter of other tests."""
        message = re.search(rf"^(?:error|warning)\[{code}\]: .*\n(?:  +\S.*\n)*", run.err, re.M)
        self.assertTrue(message, run)
        text = re.sub(r"\bafter \d+ ms\b", "after <N> ms", message.group())
        text = re.sub(r"\b\d{6} bytes\b", "<N> bytes", text)
        text = re.sub(r"\b\d+ edges left\b", "<N> edges left", text)
        text = re.sub(r"\bby \d+ .*$", "by <PID> dsbuild --ops all", text, flags=re.M)
        self.expect(f"example_{code}", space, testspace.Run(run.code, "", text, run.seconds), exit_code, words, env)

    def example(self, code, *words, exit_code=2, space=None, env=None, **options):
        run = self.run_in(space or self.space, *words, env=env, **options)
        self.expect_message(code, space or self.space, run, exit_code, words, env)

    def alone(self, code, *words, exit_code=2, space=None, **options):
        run = (space or self.space).run(*map(str, words), **options)
        self.expect_message(code, space or self.space, run, exit_code, words)

    def write(self, name, text):
        for space in (self.space, self.stored):
            (space.root / name).write_text(text)

    def test_lists_of_archs(self):
        self.write("long.yaml", "arch: \"" + "8.0;" * 20000 + "\"\n")
        self.alone("arch_list_too_long", "plan", "--config", "long.yaml")
        self.alone("arch_of_other_backend", "plan", "--ops", "all", "--backend", "hip", "--arch", "9.0")
        self.alone("conflicting_archs", "plan", "--ops", "all", "--arch", "gfx90a,gfx90a:xnack+")

    def test_values(self):
        self.alone("empty_ops_list", "plan", "--ops", "")
        self.alone("empty_value", "plan", "--out", "")
        self.alone("bad_shard", "--shard", "9/8")
        self.write("cut.json", "[]")
        self.example("bad_shard_plan", "--remote", "file:///tmp", "--shard-plan", "cut.json", "--shard", "1/2", space=self.stored)
        self.write("key.pem", "no key\n")
        self.example("bad_remote_key", "--remote", "file:///tmp", "--remote-trust", "key.pem")

    def test_a_range_of_versions(self):
        pack = Pack(self.space.root / "ranges", "ranges")
        pack.add_op("one", {"one.cu": kernel("one")}, {"requires": [{"cuda": ">=twelve"}]})
        self.alone("bad_version_range", "plan", "--pack", pack.folder, "--ops", "all")

    def test_ops_that_need_others(self):
        pack = Pack(self.space.root / "needs", "needs")
        pack.add_op("base", {"base.cu": kernel("base")})
        pack.add_op("user", {"user.cu": kernel("user")}, {"needs": ["base"]})
        self.example("needed_op", "plan", "--pack", pack.folder, "--ops", "all,-base", exit_code=0)
        self.example("nothing_to_build", "plan", "--pack", pack.folder, env={"DS_ACCELERATOR": "cpu"}, exit_code=3)

    def test_a_command_that_is_too_long(self):
        pack = Pack(self.space.root / "long", "long")
        pack.add_op("one", {"one.cpp": "int one;\n"}, {"backend": "cpu", "defines": {f"D{i}": "x" * 200 for i in range(800)}})
        self.example("command_too_long", "--pack", pack.folder, exit_code=2)

    def test_files_that_are_damaged(self):
        self.write("archive", "no archive\n")
        self.alone("bad_cache_archive", "cache", "import", "archive", space=self.stored, exit_code=1)
        folder = self.space.root / "bundle"
        folder.mkdir()
        (folder / "manifest.json").write_text("{}\n")
        self.alone("bad_manifest", "verify", "bundle", exit_code=1)

    def test_nothing_was_built_yet(self):
        space = TestSpace()
        self.assertEqual(space.build().code, 0)
        space.remove_build()
        self.example("not_built", "verify", "--against-nvcc", space=space, exit_code=1)

    def test_a_build_that_another_holds_up(self):
        space = TestSpace(sleep=600)
        with space.start_build() as build:
            deadline = time.monotonic() + testspace.TIME_LIMIT
            while not (space.build_dir / "build.ninja").exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            run = self.run_in(space, "--lock-timeout", "0")
            build.send_signal(signal.SIGINT)
            err = build.communicate()[1]
        self.expect_message("locked", space, run, 75, ["--lock-timeout", "0"])
        self.expect_message("interrupted", space, testspace.Run(build.returncode, "", err, 0), 130, [])

    def test_a_limit_of_the_system(self):
        limited = ["bash", "-c", 'ulimit -n 16; exec "$@"', "limited"]
        self.alone("limit_too_low", "plan", prefix=limited, exit_code=3)

    def test_a_file_for_dashboards(self):
        space = TestSpace()
        self.assertEqual(space.build().code, 0)
        self.example("metrics_unwritten", "--metrics", "/proc/dsbuild.prom", space=space, exit_code=0)

    def test_a_service_that_does_not_answer(self):
        space = TestSpace(steps=True, store=True)
        self.example("execution_off", "--remote-exec", "reapi://127.0.0.1:1/main", space=space, exit_code=0)

    def test_a_cache_that_does_not_answer(self):
        space = TestSpace(steps=True, store=True)
        self.example("remote_off", "--remote", "http://127.0.0.1:1", "--ops", "host", space=space, exit_code=0)
        self.example("shard_not_uploaded", "--remote", "http://127.0.0.1:1", "--shard", "1/2", space=space, exit_code=1)

    def test_a_library_that_is_not_there(self):
        shim = testspace.compile_shim(NO_LIBRARY, self.space.root / "shim.so")
        key = self.stored.root / "key.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, capture_output=True)
        for code, library, words in (("no_libcurl", "libcurl", ["--remote", "http://127.0.0.1:1"]),
                                     ("no_libcrypto", "libcrypto", ["--remote", "file:///tmp", "--remote-sign", "key.pem"])):
            run = self.run_in(self.stored, *words, env={"LD_PRELOAD": shim, "LACKS": library})
            self.expect_message(code, self.stored, run, 3, words)

    def test_a_bundle_that_others_can_write_to(self):
        space = TestSpace()
        self.assertEqual(space.build("--ops", "host").code, 0)
        space.out.chmod(0o777)
        self.alone("unsafe_folder", "load", "host", "--pack", space.pack.folder, "--path", "out", space=space, exit_code=1)

    def test_an_archive_of_another_scope(self):
        space = self.stored
        self.assertEqual(space.build().code, 0)
        self.assertEqual(space.run("cache", "export", "archive", "--remote-scope", "pr-7").code, 0)
        self.alone("other_scope", "cache", "import", "archive", space=space)

    def test_shards_of_other_plans(self):
        space = TestSpace(steps=True, store=True)
        words = ["--remote", f"file://{space.root}/shared", "--shard-plan", "cut.json", "--shard"]
        (space.root / "shared").mkdir()
        self.assertEqual(space.build(*words, "1/2").code, 0)
        self.example("shard_plan_differs", *words, "2/2", "--arch", "8.0", space=space)


if __name__ == "__main__":
    testspace.main(each_commit=11)
