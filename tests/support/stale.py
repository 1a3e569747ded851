"""What the tests of stale builds share: a build folder that lives through changes, and after each of them a build from
scratch, in folders of its own and with no result in its cache, that it must be the same as, byte for byte."""

import itertools
import os
import pathlib
import re
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import testspace  # noqa: E402
from packs import Pack  # noqa: E402

TICK = 0.02  # seconds; longer than one tick of the clock that files get their times from


class StaleSpace(testspace.TestSpace):
    """A space with one pack, `pack`, that the test fills, and a store."""

    def __init__(self, name="space", cache=None, **options):
        super().__init__(name=name, pack=lambda folder: Pack(folder, "small"), store=True, **options)
        if cache:
            self.environment["XDG_CACHE_HOME"] = str(cache)
        self.arch, self.numbers, self.more = "8.0", itertools.count(), []
        self.scratch_knows_tools = True

    def arguments(self, *more):
        """With `self.more`, options of all builds."""
        return super().arguments(*more, *self.more)

    def add_cpu_op(self, name, files, sources=("a.cpp",), **keys):
        self.pack.add_op(name, files, {"sources": list(sources), "backend": "cpu", **keys})

    def write(self, path, text):
        file = self.pack.source(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def edit(self, path, old, new):
        file = self.pack.source(path)
        text = file.read_text()
        assert old in text, (path, old)
        file.write_text(text.replace(old, new))

    def scratch(self, *more, env=None, cache=None, same_folder=False, **options):
        """How a build from scratch ends, and the files of its bundle. It knows the machine's own tools, unless the test is
        about tools (`scratch_knows_tools`); with a `cache` folder it may know the toolkit from before, but takes no result.
        `same_folder`: for objects that name the build folder."""
        folder = self.root / f"scratch {next(self.numbers)}"
        if self.scratch_knows_tools and not cache:
            testspace.copy_facts(folder / "cache" / "dsbuild", "compilers")
        if same_folder:
            assert not self.build_dir.exists()
        instead = ["--out", str(folder / "out"), "--build-dir", str(self.build_dir if same_folder else folder / "build")]
        run = self.run(*arguments_once(self.arguments(*more), instead), **options,
                       env={"XDG_CACHE_HOME": str(cache or folder / "cache"), "DSBUILD_CACHE_SIZE": "0", **(env or {})})
        files = testspace.bundle_files(folder / "out") if run.code == 0 else []
        shutil.rmtree(folder, ignore_errors=True)
        if same_folder:
            self.remove_build()
        return run, files


def arguments_once(all_of_them, instead):
    """The arguments with those of `instead`, options with their values, in place of others of the same name."""
    words, kept = iter(all_of_them), []
    for word in words:
        if word in instead[::2]:
            next(words)
        else:
            kept.append(word)
    return [*kept, *instead]


class Wrong(AssertionError):
    """What a build has made is not what it should be; anything else is a fault of the test."""


class StaleTest(unittest.TestCase):
    """`self.space` is built, changed, and checked. What is said of a build's result fails with Wrong; a build that
    has to work for the test to mean anything, with another exception."""

    failureException = Wrong
    maxDiff = None

    def setUp(self):
        self.space = StaleSpace()

    def build(self, *more, space=None, **options):
        """A build that works, behind which the clock moves on."""
        run = (space or self.space).build(*more, **options)
        if run.code != 0:
            raise RuntimeError(f"the build before the change fails: {run}")
        time.sleep(TICK)
        return testspace.bundle_files((space or self.space).out)

    def clean(self):
        run = self.space.run("clean", "--build-dir", str(self.space.build_dir))
        if run.code != 0:
            raise RuntimeError(str(run))

    def check(self, *more, before=None, space=None, env=None, fails=False, **scratch_options):
        """The space is built again, and ends as a build from scratch does. `before`: the files of an earlier bundle,
        of which that must differ, for else the test shows nothing. It has to work, or with `fails` not to: what fails
        both times is the same however stale the space is."""
        space = space or self.space
        reference, expected = space.scratch(*more, env=env, **scratch_options)
        if (reference.code != 0) != fails:
            raise RuntimeError(f"the build from scratch {'works' if not reference.code else 'fails'}: {reference}")
        if before is not None and expected == before:
            raise RuntimeError("the change changes nothing")
        run = space.build(*more, env=env)
        if run.code != reference.code:
            self.fail(f"exit code {run.code}, from scratch {reference.code}\n{run}\nfrom scratch: {reference}")
        if run.code != 0:
            return run
        found = testspace.bundle_files(space.out)
        if found != expected:
            stale = "the bundle is the one before the change" if found == before else "not the bundle of a build from scratch"
            self.fail(f"{stale}: {', '.join(sorted({name for name, *_ in set(found) ^ set(expected)}))}\n{run}")
        return run

    def check_change(self, change, *more, **options):
        """Build, change, check."""
        before = self.build(*more, env=options.get("env"))
        change()
        return self.check(*more, before=before, **options)


class ToolsTest(StaleTest):
    """Of tests in which tools change: the build from scratch asks them all itself."""

    def setUp(self):
        super().setUp()
        self.space.scratch_knows_tools = False


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def replace(file, data, keep_time=False):
    """Another file under the name, that may have the old one's size and time."""
    before = file.stat()
    new = file.with_name(file.name + ".new")
    new.write_bytes(data)
    shutil.copymode(file, new)
    if keep_time:
        assert len(data) == before.st_size
        os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(new, file)


def change_text(file, old, new, **options):
    data = file.read_bytes()
    assert old.encode() in data, (file, old)
    replace(file, data.replace(old.encode(), new.encode()), **options)


def word_of(text):
    """Made part of a test's name."""
    return re.sub(r"\W", lambda match: f"_{ord(match.group()):02x}_", text)


def add_tests(case, name, check, values):
    """One test for each value, `test_<name>_<value>`, that calls `check(self, value)`."""
    for value in values:
        label = value if isinstance(value, str) else value[0]

        def test(self, value=value):
            check(self, value)

        setattr(case, f"test_{name}_{word_of(label)}", test)
