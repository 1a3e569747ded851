#!/usr/bin/env python3
"""Builds that fail: the message, the log, the command that reproduces it, and what becomes of the bundle."""

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, Folder, TestSpace, testspace  # noqa: E402
from packs import Pack, binding, kernel  # noqa: E402

BROKEN = 'extern "C" int host_run() { return undefined_name; }\n'
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'


def log_of(run):
    return pathlib.Path(re.search(r"^  log, .*?: (.*)$", run.err, re.M).group(1))


def reproduce_command(run):
    """The log begins with it."""
    return log_of(run).read_text().split("\n\n", 1)[0]


def run_anywhere(command):
    """In a shell of another folder that knows nothing of the build's environment."""
    return subprocess.run(["/bin/sh", "-c", command], cwd="/", env={}, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def guarded_pack(folder, guarded=False):
    """host.cpp calls into hopper.cu, which is for 9.0a only."""
    pack = Pack(folder, "guarded")
    call = binding("split_run", "split_hopper")
    if guarded:
        call = "#ifdef HAVE_HOPPER\n" + call + '#else\nextern "C" int split_run() { return 0; }\n#endif\n'
    pack.add_op("split", {"any.cu": kernel("split_any"), "hopper.cu": kernel("split_hopper"), "host.cpp": call})
    when = 'defines: {HAVE_HOPPER: {value: 1, when: {any_arch: "9.0a"}}}\n' if guarded else ""
    (pack.folder / "split" / "op.yaml").write_text(
        f'name: split\nsources: [any.cu, host.cpp, {{path: hopper.cu, archs: {{only: ["9.0a"]}}}}]\n{when}')
    return pack


def real_kernel_pack(folder):
    pack = Pack(folder)
    pack.add_op("real", {"a b.cu": "__global__ void add(float* x) { *x += 1; }\n"})
    return pack


class CompileErrorTest(CliTest):
    def broken(self):
        space = TestSpace()
        self.source = space.pack.source("host/host.cpp")
        self.good = self.source.read_text()
        self.source.write_text(BROKEN)
        return space

    def test_the_message_shows_op_source_error_log_and_command(self):
        run = self.check("compile_error", self.broken(), "--ops", "host", code=1)
        self.assertIn("'undefined_name' was not declared", log_of(run).read_text())

    def test_a_cuda_source_is_shown_with_its_archs(self):
        space = TestSpace(fail=["alpha.cu"], steps=True)
        self.check("nvcc_error", space, "--ops", "alpha", "--arch", "8.0+PTX", code=1)

    def test_the_command_reproduces_the_error_and_then_the_object_from_any_folder(self):
        space = self.broken()
        command = reproduce_command(self.run_in(space, "--ops", "host"))
        again = run_anywhere(command)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("'undefined_name' was not declared", again.stdout)
        self.source.write_text(self.good)
        again = run_anywhere(command)
        self.assertEqual((again.returncode, again.stdout), (0, ""))

    def test_the_command_of_a_cuda_source_reproduces_too(self):
        for steps in (True, False):
            space = TestSpace(fail=["alpha.cu"], steps=steps)
            command = reproduce_command(self.run_in(space, "--ops", "alpha", "--arch", "8.0"))
            self.assertIn('identifier "undefined_name" is undefined', run_anywhere(command).stdout)

    def test_a_slice_that_fails_shows_the_command_with_which_nvcc_fails_too(self):
        run = self.run_in(TestSpace(fail=["alpha.cu"], steps=True), "--ops", "alpha", "--arch", "8.0+PTX", "-v")
        self.assertIn("  reproduce: " + reproduce_command(run), run.err)
        command = re.search(r"^  nvcc alone: (.*)$", run.err, re.M).group(1)
        self.assertEqual(command, log_of(run).read_text().splitlines()[-1])
        self.assertNotIn("action slice", command)
        self.assertIn("-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_80,code=compute_80 -c pack/alpha/alpha.cu", command)
        self.assertIn('identifier "undefined_name" is undefined', run_anywhere(command).stdout)

    def test_the_next_build_goes_on_where_it_failed(self):
        space = self.broken()
        self.assertEqual(self.run_in(space).code, 1)
        self.source.write_text(self.good)
        run = self.run_in(space)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(self.run_in(space).edges_run(), 0)


class LinkErrorTest(CliTest):
    def test_an_unguarded_call_into_a_source_that_was_left_out(self):
        space = TestSpace(pack=guarded_pack, steps=True)
        self.check("unguarded_call", space, "--arch", "8.0", code=1)
        self.assertFalse(space.out.exists())

    def test_the_same_call_links_where_the_source_is_built(self):
        run = self.run_in(TestSpace(pack=guarded_pack), "--arch", "8.0;9.0a")
        self.assertEqual(run.code, 0, run)

    def test_the_define_that_the_message_advises_helps(self):
        for arch in ("8.0", "8.0;9.0a"):
            space = TestSpace(pack=lambda folder: guarded_pack(folder, guarded=True))
            run = self.run_in(space, "--arch", arch)
            self.assertEqual(run.code, 0, run)


class PartialTest(CliTest):
    """gamma cannot be compiled, or has no arch."""

    def built(self, **settings):
        space = TestSpace(**settings)
        self.assertEqual(self.run_in(space).code, 0)
        return space

    def test_without_keep_going_the_old_bundle_stays_as_it_was(self):
        space = self.built()
        before = Folder(space.out)
        space.toolkit.set(fail=["two.cu"])
        space.remove_build()
        run = self.run_in(space)
        self.assertEqual(run.code, 1, run)
        self.assertIn(f"{space.out} is as it was", run.err)
        self.assertTrue(before.is_untouched())
        self.assertEqual(space.verify().code, 0)

    def test_with_keep_going_the_other_ops_are_published(self):
        space = TestSpace(fail=["two.cu"], steps=True)
        run = self.check("keep_going", space, "--keep-going", "--ops", "alpha,gamma,host", "--arch", "8.0", code=1)
        self.assertIn("next: dsbuild verify", run.out)
        manifest = json.loads((space.out / "manifest.json").read_text())
        self.assertEqual([op["name"] for op in manifest["ops"]], ["alpha", "host"])
        self.assertEqual([failed["op"] for failed in manifest["failed"]], ["gamma"])
        self.assertIn("undefined_name", manifest["failed"][0]["what"])
        self.assertEqual(space.verify().code, 0)

    def test_a_failed_op_leaves_the_bundle_with_keep_going(self):
        space = self.built(fail=[])
        space.toolkit.set(fail=["two.cu"])
        space.remove_build()
        self.assertEqual(self.run_in(space, "--keep-going").code, 1)
        self.assertEqual(sorted(os.listdir(space.out)), ["alpha.so", "host.so", "manifest.json", "provenance.intoto.json"])

    def test_all_is_built_without_the_op_that_has_no_arch(self):
        space = TestSpace(steps=True)
        self.check("all_without_one", space, "--arch", "7.5", code=0)
        self.assertEqual(sorted(os.listdir(space.out)), ["alpha.so", "beta.so", "host.so", "manifest.json", "provenance.intoto.json"])

    def test_strict_builds_and_says_that_an_op_is_missing(self):
        space = TestSpace(steps=True)
        self.check("strict", space, "--arch", "7.5", "--strict", code=3)


class ReadOnlyTest(CliTest):
    """The bundle's folder on a read-only file system; only root can make one."""

    def test_a_read_only_bundle_folder(self):
        space = TestSpace(steps=True)
        mount = space.root / "mount"
        mount.mkdir()
        prefix = ["unshare", "--mount", "sh", "-c", READ_ONLY, str(mount)]
        try:
            possible = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
        except OSError:
            possible = False
        if not possible:
            self.skipTest("unshare and mount are not permitted")
        out = mount / "out"
        self.check("read_only_absent", space, "--out", out, code=1, prefix=prefix)
        self.assertEqual(self.run_in(space, "--out", out).code, 0)
        before = Folder(out)
        self.check("read_only_bundle", space, "--out", out, "--ops", "host", code=1, prefix=prefix)
        self.assertTrue(before.is_untouched())


class NamesTest(CliTest):
    def test_folders_with_blanks_dollars_quotes_and_other_letters_work(self):
        space = TestSpace("a b $HOME 'q' \"d\" $(id) #1 Straße 世界")
        run = self.run_in(space)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(space.verify().code, 0)
        self.assertEqual(self.run_in(space).edges_run(), 0)
        shared = space.pack.source("alpha/shared.h")
        shared.write_text(shared.read_text() + "// changed\n")
        self.assertEqual(self.run_in(space).edges_run(), 3, "a changed header: compile, link and verify alpha")

    def test_such_folders_work_with_the_real_nvcc(self):
        space = TestSpace("a b $HOME 'q' \"d\" Straße", pack=real_kernel_pack)
        space.use_real_toolkit()
        run = self.run_in(space, "--arch", "9.0")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(space.verify().code, 0)
        self.assertEqual(self.run_in(space, "--arch", "9.0").edges_run(), 0)

    def test_a_failure_in_such_a_folder_can_be_reproduced(self):
        space = TestSpace("a b $HOME 'q' \"d\" Straße", fail=["alpha.cu"])
        command = reproduce_command(self.run_in(space, "--ops", "alpha"))
        self.assertIn('identifier "undefined_name" is undefined', run_anywhere(command).stdout)

    def test_sources_with_blanks_and_other_letters_work(self):
        names = {"a b.cu": kernel("one"), "ß 世界.cpp": binding("two")}

        def pack(folder):
            made = Pack(folder)
            made.add_op("names", names)
            return made

        space = TestSpace(pack=pack)
        run = self.run_in(space)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(space.verify().code, 0)
        self.assertEqual(self.run_in(space).edges_run(), 0)


if __name__ == "__main__":
    testspace.main(each_commit=12)
