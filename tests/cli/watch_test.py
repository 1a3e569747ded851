#!/usr/bin/env python3
"""dsbuild watch: each edit of what a build reads builds again, in the ways that editors write; a line for each build."""

import os
import pathlib
import queue
import re
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import kernel  # noqa: E402

LINE = re.compile(r"^\d\d:\d\d:\d\d  (.*)$")
NOTHING = 1.5  # seconds in which nothing comes
PATIENCE = 60  # for a line


class Watcher:
    """`dsbuild watch`, and what it says."""

    def __init__(self, case, space, *words):
        before, after = words, ()
        if "--" in words:
            before, after = words[:words.index("--")], words[words.index("--"):]
        self.case = case
        self.process = space.start(*space.arguments("watch", *before), *after)
        self.lines, self.errors = queue.Queue(), []
        self.readers = [threading.Thread(target=self.follow, args=each) for each in
                        ((self.process.stdout, self.lines.put), (self.process.stderr, self.errors.append))]
        for reader in self.readers:
            reader.start()
        case.addCleanup(self.kill)

    def follow(self, stream, take):
        with stream:
            for line in stream:
                take(line.rstrip("\n"))

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for reader in self.readers:
            reader.join()

    def raw(self):
        try:
            return self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            self.case.fail(f"no line; {self.errors}")

    def next(self):
        line = self.raw()
        found = LINE.match(line)
        self.case.assertTrue(found, line)
        return found.group(1)

    def built(self, edges=None):
        line = self.next()
        self.case.assertRegex(line, r"^built \S+: \d+ edges? in \d", self.errors)
        if edges is not None:
            self.case.assertIn(f": {edges} edge", line)

    def complained(self, text):
        """On stderr, which another thread reads."""
        deadline = time.monotonic() + PATIENCE
        while not any(text in line for line in self.errors):
            self.case.assertLess(time.monotonic(), deadline, self.errors)
            time.sleep(0.05)

    def says_nothing(self):
        with self.case.assertRaises(queue.Empty):
            print(self.lines.get(timeout=NOTHING))

    def end(self, number=signal.SIGINT):
        os.killpg(self.process.pid, number)
        self.case.assertEqual(self.process.wait(PATIENCE), 128 + number)


class WatchTest(CliTest):
    def setUp(self):
        self.space = TestSpace()
        self.source = self.space.pack.source("alpha/alpha.cu")

    def watch(self, *words):
        watcher = Watcher(self, self.space, *words)
        watcher.built()
        return watcher

    def edit(self, text="// an edit\n", path=None):
        with open(path or self.source, "a", encoding="utf-8") as file:
            file.write(text)

    def test_edits_of_sources_headers_and_specs(self):
        watcher = self.watch()
        self.edit()
        watcher.built()
        self.edit(path=self.space.pack.source("alpha/shared.h"))
        watcher.built()
        (self.space.pack.source("beta") / "three.cu").write_text(kernel("beta_three"))
        spec = self.space.pack.folder / "beta" / "op.yaml"
        spec.write_text(spec.read_text().replace('"beta/one.cu"', '"beta/one.cu", "beta/three.cu"'))
        watcher.built()
        self.assertIn(b"beta_three", (self.space.out / "beta.so").read_bytes())
        watcher.end()

    def test_an_editor_that_renames_a_new_file_over_the_old_one(self):
        watcher = self.watch("--ops", "alpha")
        for i in range(3):
            new = self.source.with_name(f".alpha.cu.{i}")
            new.write_text(self.source.read_text() + f"// edit {i}\n")
            self.source.rename(self.source.with_name("alpha.cu~"))
            new.rename(self.source)
            watcher.built()
        watcher.end()

    def test_what_no_build_reads_builds_nothing(self):
        watcher = self.watch("--ops", "host")
        self.edit()
        self.space.pack.source("alpha/notes.txt").write_text("nothing\n")
        (self.space.root / "unrelated").write_text("nothing\n")
        watcher.says_nothing()
        self.edit(path=self.space.pack.source("host/host.cpp"))
        watcher.built()
        watcher.end()

    def test_mistakes_are_shown_and_the_next_edit_mends_them(self):
        watcher = self.watch("--ops", "host")
        source = self.space.pack.source("host/host.cpp")
        text = source.read_text()
        source.write_text("int host_run( { }\n")
        self.assertRegex(watcher.next(), r"^failed after \d.*: host$")
        watcher.complained("error: ")
        source.write_text(text)
        self.edit(path=source)
        watcher.built()
        spec = self.space.pack.folder / "host" / "op.yaml"
        good = spec.read_text()
        spec.write_text("name: host\nsuorces: []\n")
        self.assertRegex(watcher.next(), r"^failed after \d")
        watcher.complained("error[bad_spec]")
        spec.write_text(good + "description: The same again\n")
        self.edit(path=source)
        watcher.built()
        watcher.end()

    def test_an_edit_during_a_build(self):
        self.space = TestSpace(sleep=2)
        self.source = self.space.pack.source("alpha/alpha.cu")
        watcher = self.watch("--ops", "alpha")
        self.edit()
        log = self.space.build_dir / "log" / "dsbuild.log"
        begun = log.stat().st_mtime_ns
        deadline = time.monotonic() + PATIENCE
        while log.stat().st_mtime_ns == begun and time.monotonic() < deadline:
            time.sleep(0.05)
        # Of a source, the build that runs would notice it; of a spec, it does not.
        self.source.with_name("more.cu").write_text(kernel("alpha_more"))
        spec = self.space.pack.folder / "alpha" / "op.yaml"
        spec.write_text(spec.read_text().replace('"alpha/alpha.cu"', '"alpha/alpha.cu", "alpha/more.cu"'))
        watcher.built()
        watcher.built()
        self.assertIn(b"alpha_more", (self.space.out / "alpha.so").read_bytes())
        watcher.end()

    def test_a_command_after_each_build(self):
        watcher = self.watch("--ops", "alpha", "--", "sh", "-c", "echo tested; exit 3")
        self.assertEqual(watcher.raw(), "tested")
        self.assertEqual(watcher.next(), "exit code 3: sh -c 'echo tested; exit 3'")
        self.edit()
        watcher.built()
        self.assertEqual(watcher.raw(), "tested")
        watcher.end()

    def test_ctrl_c_during_a_build_and_sigterm(self):
        self.space = TestSpace(sleep=600)
        watcher = Watcher(self, self.space)
        deadline = time.monotonic() + PATIENCE
        while not (self.space.build_dir / "build.ninja").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        watcher.end()
        self.space = TestSpace()
        self.watch("--ops", "host").end(signal.SIGTERM)

    def test_a_mistake_of_the_command_line_ends_it(self):
        run = self.space.run(*self.space.arguments("watch", "--color", "alway"))
        self.assertEqual((run.code, "error[bad_choice]" in run.err), (2, True), run)


if __name__ == "__main__":
    testspace.main(each_commit=5)
