#!/usr/bin/env python3
"""provenance.intoto.json of a bundle (docs/reference/provenance.md): what it says, that two builds say the same, and that `verify` refuses
one that is another bundle's."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, testspace  # noqa: E402
from packs import Pack, binding  # noqa: E402

SIGNATURE = "provenance.sigstore.json"


def digest(file):
    return hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()


class Said:
    """A bundle's statement."""

    def __init__(self, bundle):
        self.file = bundle / testspace.STATEMENT
        self.text = self.file.read_text()
        self.json = json.loads(self.text)
        self.definition = self.json["predicate"]["buildDefinition"]
        self.run = self.json["predicate"]["runDetails"]
        self.request = self.definition["externalParameters"]
        self.dependencies = self.definition["resolvedDependencies"]

    def of_kind(self, *kinds):
        return [each for each in self.dependencies if each["annotations"]["kind"] in kinds]

    def files_of(self, library, *kinds):
        """{name: sha256}"""
        return {each["name"]: each["digest"]["sha256"] for each in self.of_kind(*kinds)
                if library in each["annotations"]["used_by"]}

    def write(self):
        self.file.write_text(json.dumps(self.json, indent=2) + "\n")


def without_run(statement):
    copy = json.loads(statement.text)
    copy["predicate"].pop("runDetails")
    return copy


class StatementTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.first = cls.space.build()
        cls.said = Said(cls.space.out)

    def setUp(self):
        self.assertEqual(self.first.code, 0, self.first)

    def test_it_is_a_statement_of_in_toto_in_canonical_form(self):
        said = self.said.json
        self.assertEqual(said["_type"], "https://in-toto.io/Statement/v1")
        self.assertEqual(said["predicateType"], "https://slsa.dev/provenance/v1")
        self.assertEqual(self.said.text, json.dumps(said, indent=2, sort_keys=True) + "\n")

    def test_its_subjects_are_the_files_of_the_bundle(self):
        files = sorted(file.name for file in self.space.out.iterdir() if file.name != testspace.STATEMENT)
        self.assertEqual([each["name"] for each in self.said.json["subject"]], files)
        for each in self.said.json["subject"]:
            self.assertEqual(each["digest"], {"sha256": digest(self.space.out / each["name"])})

    def test_each_library_has_its_own_sources_and_headers(self):
        alpha = self.said.files_of("alpha.so", "source", "header")
        for name in ("alpha/alpha.cu", "alpha/alpha.cpp", "alpha/shared.h"):
            self.assertEqual(alpha["pack/" + name], digest(self.space.pack.source(name)))
        self.assertNotIn("pack/alpha/shared.h", self.said.files_of("beta.so", "source", "header"))
        self.assertEqual(set(self.said.files_of("gamma.so", "source")), {"pack/gamma/one.cu", "pack/gamma/two.cu"})
        self.assertIn("roots/cuda_lib/libcudart_static.a", self.said.files_of("alpha.so", "static library"))
        self.assertEqual(self.said.files_of("host.so", "static library").keys() & {"roots/cuda_lib/libcudart_static.a"}, set())

    def test_toolkit_and_compiler_are_those_of_the_manifest(self):
        manifest = json.loads((self.space.out / "manifest.json").read_text())
        toolkit, = self.said.of_kind("toolkit")
        self.assertEqual(toolkit["annotations"]["version"], manifest["toolkit"]["version"])
        self.assertEqual(toolkit["annotations"]["used_by"], ["alpha.so", "beta.so", "gamma.so"])
        self.assertEqual(toolkit["uri"], "pkg:generic/cuda@" + manifest["toolkit"]["version"])
        compilers = {f"{each['name']} {each['annotations']['version']}" for each in self.said.of_kind("compiler")}
        self.assertEqual(compilers, {manifest["cxx"], manifest["toolkit"]["host_compiler"]})
        self.assertEqual(self.said.files_of("alpha.so", "toolkit part")["roots/cuda/bin/nvcc"], manifest["toolkit"]["nvcc_sha256"])
        self.assertEqual(self.said.files_of("host.so", "toolkit part"), {})
        self.assertTrue(self.said.files_of("host.so", "compiler part"))

    def test_the_request_is_said_without_folders(self):
        self.assertEqual(self.said.request, {"archs": ["8.0", "9.0+PTX"], "ops": ["alpha", "beta", "gamma", "host"], "options": {},
                                             "pack": "small"})
        self.assertNotIn(str(self.space.root), self.said.text)
        self.assertNotIn("pack", [each["annotations"]["kind"] for each in self.said.dependencies])

    def test_a_build_elsewhere_says_the_same_but_for_its_run(self):
        other = TestSpace("another place")
        other.environment["USER"] = "somebody"
        self.assertEqual(other.build("-j", "1").code, 0)
        self.assertEqual(without_run(Said(other.out)), without_run(self.said))
        self.assertNotEqual(Said(other.out).run["metadata"]["invocationId"], self.said.run["metadata"]["invocationId"])

    def test_options_that_decide_bytes_and_variables_of_compilers_are_in_it(self):
        other = TestSpace("options")
        run = other.build("--debug", "--ops", "host", env={"SOURCE_DATE_EPOCH": "17", "CFLAGS": "-DA='1 2'"})
        self.assertEqual(run.code, 0, run)
        said = Said(other.out)
        self.assertEqual(said.request["options"], {"cflags": "'-DA=1 2'", "debug": "yes"})
        self.assertEqual(said.request["source_date_epoch"], "17")
        self.assertEqual(said.definition["internalParameters"]["variables"]["SOURCE_DATE_EPOCH"], hashlib.sha256(b"17").hexdigest())
        self.assertTrue(said.definition["internalParameters"]["reproducible"])

    def test_a_build_with_the_time_in_it_is_said_not_to_be_reproducible(self):
        other = TestSpace("time", pack=pack_with_time)
        self.assertEqual(other.build().code, 0)
        self.assertFalse(Said(other.out).definition["internalParameters"]["reproducible"])


def pack_with_time(folder):
    pack = Pack(folder)
    pack.add_op("host", {"host.cpp": binding("host_run") + "const char* when = __TIME__;\n"}, {"backend": "cpu"})
    return pack


def pack_with_headers(folder):
    pack = Pack(folder)
    pack.add_op("host", {"host.cpp": '#include <vector>\n#include <cmath>\n#include "own/deep.h"\n' + binding("host_run"),
                         "more.cpp": "#include <string>\nstd::string more() { return {}; }\n"},
                {"backend": "cpu", "include_dirs": ["include"]})
    (pack.sources / "include" / "own").mkdir(parents=True)
    pack.source("include/own/deep.h").write_text('#include "next.h"\n')
    pack.source("include/own/next.h").write_text("#include <algorithm>\n")
    return pack


class PublishTest(CliTest):
    def setUp(self):
        self.space = TestSpace(pack=pack_with_headers)
        self.assertEqual(self.space.build().code, 0)
        self.signature = self.space.out / SIGNATURE

    def build(self, *more, **options):
        run = self.space.build(*more, **options)
        self.assertEqual(run.code, 0, run)
        return run

    def inodes(self):
        return {file.name: file.stat().st_ino for file in self.space.out.iterdir()}

    def test_a_build_with_nothing_to_do_leaves_it_and_its_signature(self):
        self.signature.write_text("{}\n")
        before = self.inodes()
        run = self.build()
        self.assertIn("unchanged", run.out)
        self.assertEqual(self.inodes(), before)

    def test_a_header_whose_edit_changes_no_library_changes_the_statement_alone(self):
        self.signature.write_text("{}\n")
        before = self.inodes()
        header = self.space.pack.source("include/own/deep.h")
        header.write_text(header.read_text() + "// a comment\n")
        self.build()
        after = self.inodes()
        self.assertEqual({name for name in before if before[name] != after.get(name)}, {testspace.STATEMENT, SIGNATURE})
        self.assertEqual(Said(self.space.out).files_of("host.so", "header")["pack/include/own/deep.h"], digest(header))
        self.assertIn("unchanged", self.build().out)

    def test_a_bundle_of_an_older_dsbuild_is_as_good_and_gets_one(self):
        (self.space.out / testspace.STATEMENT).unlink()
        self.assertEqual(self.space.verify().code, 0)
        self.build()
        Said(self.space.out)

    def test_the_builder_is_the_one_that_is_named_or_ci_s(self):
        self.assertEqual(Said(self.space.out).run["builder"]["id"], "urn:dsbuild:local")
        self.build("--builder-id", "https://example.com/gpu")
        self.assertEqual(Said(self.space.out).run["builder"]["id"], "https://example.com/gpu")
        self.build(env={"GITHUB_SERVER_URL": "https://github.com", "GITHUB_WORKFLOW_REF": "a/b/ops.yml@main", "GITHUB_REPOSITORY": "a/b",
                        "GITHUB_RUN_ID": "7"})
        run = Said(self.space.out).run
        self.assertEqual(run["builder"]["id"], "https://github.com/a/b/ops.yml@main")
        self.assertEqual(run["metadata"]["invocationId"], "https://github.com/a/b/actions/runs/7")

    def test_a_builder_that_is_no_uri_is_refused(self):
        self.check_alone("bad_uri", self.space, "build", "--builder-id", "me", code=2)

    def test_what_verify_says(self):
        said = Said(self.space.out)
        said.json["subject"][0]["digest"]["sha256"] = "0" * 64
        said.write()
        self.check_alone("statement_differs", self.space, "verify", "out", code=1)
        said.file.write_text(said.text[:len(said.text) // 2])
        self.check_alone("bad_statement", self.space, "verify", "out", code=1)


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class CommitTest(CliTest):
    def git(self, *words):
        return subprocess.run(["git", "-C", self.space.pack.folder, "-c", "user.name=x", "-c", "user.email=x@y", *words], check=True,
                              capture_output=True, text=True).stdout.strip()

    def said(self):
        run = self.space.build("--ops", "alpha")
        self.assertEqual(run.code, 0, run)
        return Said(self.space.out).of_kind("pack")

    def setUp(self):
        self.space = TestSpace()
        self.git("init", "-q")

    def test_the_sources_commit_and_what_was_edited_since(self):
        self.assertEqual(self.said(), [])
        self.git("remote", "add", "origin", "https://me:secret@example.com/ops.git")
        self.git("add", "src/alpha", "src/beta")
        self.git("commit", "-q", "-m", "first")
        self.space.pack.source("alpha/alpha.cpp").touch()
        self.space.remove_out()
        pack, = self.said()
        commit = self.git("rev-parse", "HEAD")
        self.assertEqual(pack, {"annotations": {"kind": "pack", "used_by": ["alpha.so"]}, "digest": {"gitCommit": commit},
                                "name": "small", "uri": f"git+https://example.com/ops.git@{commit}"})
        self.space.pack.source("alpha/shared.h").write_text("// edited\n")
        self.space.pack.source("beta/one.cu").write_text("// not read\n")
        pack, = self.said()
        self.assertEqual(pack["annotations"]["modified"], ["alpha/shared.h"])

    def test_sources_that_git_ignores_are_of_no_commit(self):
        self.git("add", "pack.yaml")
        self.git("commit", "-q", "-m", "without sources")
        self.assertEqual(self.said(), [])


class WheelTest(CliTest):
    def wheel(self, space):
        self.assertEqual(space.build("--ops", "host").code, 0)
        run = space.run("wheel", str(space.out), "--wheel-dir", "wheels", "--json")
        self.assertEqual(run.code, 0, run)
        return space.root / json.loads(run.out)["wheel"]

    def test_it_has_its_bills_and_a_statement_of_its_own(self):
        space = TestSpace()
        wheel = self.wheel(space)
        with zipfile.ZipFile(wheel) as archive:
            bills = {name.rpartition("/")[2]: json.loads(archive.read(name)) for name in archive.namelist() if ".dist-info/sboms/" in name}
            record = archive.read(next(name for name in archive.namelist() if name.endswith("/RECORD"))).decode()
        self.assertEqual(set(bills), {"dsbuild_small_ops.cdx.json", "dsbuild_small_ops.spdx.json"})
        self.assertEqual(record.count(".dist-info/sboms/"), 2)
        self.assertIn("host.so", [each["name"] for each in bills["dsbuild_small_ops.cdx.json"]["components"]])
        self.assertIn("pack/host/host.cpp", [each["name"] for each in bills["dsbuild_small_ops.spdx.json"]["packages"]])
        statement = json.loads(pathlib.Path(f"{wheel}.intoto.json").read_text())
        self.assertEqual(statement["subject"], [{"digest": {"sha256": digest(wheel)}, "name": wheel.name}])
        self.assertEqual(statement["predicate"], Said(space.out).json["predicate"])

    def test_two_builds_make_the_same_wheel(self):
        first, second = self.wheel(TestSpace()), self.wheel(TestSpace("another place"))
        self.assertEqual((first.name, digest(first)), (second.name, digest(second)))

    def test_a_bundle_without_a_statement_makes_one_without_bills(self):
        space = TestSpace()
        self.wheel(space)
        (space.out / testspace.STATEMENT).unlink()
        run = space.run("wheel", str(space.out), "--wheel-dir", "others", "--json")
        wheel = space.root / json.loads(run.out)["wheel"]
        with zipfile.ZipFile(wheel) as archive:
            self.assertFalse([name for name in archive.namelist() if "sboms" in name])
        self.assertFalse(pathlib.Path(f"{wheel}.intoto.json").exists())


class Attack:
    """What somebody does to a bundle."""

    def __init__(self, bundle):
        self.bundle, self.said = bundle, Said(bundle)

    def subject(self, name):
        return next(each for each in self.said.json["subject"] if each["name"] == name)

    def edit_a_digest(self):
        self.subject("alpha.so")["digest"]["sha256"] = "0" * 64
        self.said.write()

    def remove_a_subject(self):
        self.said.json["subject"].remove(self.subject("alpha.so"))
        self.said.write()

    def remove_the_manifest_of_it(self):
        self.said.json["subject"].remove(self.subject("manifest.json"))
        self.said.write()

    def add_a_subject(self):
        self.said.json["subject"].append({"name": "more.so", "digest": {"sha256": "0" * 64}})
        self.said.write()

    def name_a_subject_twice(self):
        self.said.json["subject"].append(self.subject("host.so"))
        self.said.write()

    def swap_two_digests(self):
        one, two = self.subject("alpha.so"), self.subject("host.so")
        one["digest"], two["digest"] = two["digest"], one["digest"]
        self.said.write()

    def swap_a_library_and_make_the_manifest_right(self):
        library = self.bundle / "host.so"
        library.write_bytes(library.read_bytes() + b"\0")
        self.in_manifest(lambda op: op.update(sha256=digest(library), bytes=library.stat().st_size), "host")

    def swap_a_library_and_make_all_right(self):
        self.swap_a_library_and_make_the_manifest_right()
        for name in ("host.so", "manifest.json"):
            self.subject(name)["digest"]["sha256"] = digest(self.bundle / name)
        self.said.write()

    def edit_the_manifest(self):
        self.in_manifest(lambda op: op.update(module="a.b"), "host")

    def edit_the_digest_of_a_source(self):
        next(each for each in self.said.of_kind("source"))["digest"]["sha256"] = "0" * 64
        self.said.write()

    def remove_a_source(self):
        self.said.dependencies.remove(self.said.of_kind("source")[0])
        self.said.write()

    def say_that_another_file_was_made_of_it(self):
        self.said.dependencies[0]["annotations"]["used_by"] = ["more.so"]
        self.said.write()

    def in_manifest(self, change, name):
        file = self.bundle / "manifest.json"
        manifest = json.loads(file.read_text())
        change(next(op for op in manifest["ops"] if op["name"] == name))
        file.write_text(json.dumps(manifest, indent=2) + "\n")

    def take_that_of_another_type(self):
        self.said.json["predicateType"] = "https://slsa.dev/provenance/v0.2"
        self.said.write()

    def take_that_of_another_builder_s_type(self):
        self.said.definition["buildType"] = "https://example.com/build"
        self.said.write()

    def cut_it(self):
        self.said.file.write_text(self.said.text[:-100])

    def put_a_folder_there(self):
        self.said.file.unlink()
        self.said.file.mkdir()

    def lead_it_nowhere(self):
        self.said.file.unlink()
        self.said.file.symlink_to("nowhere")


ATTACKS = [name for name in vars(Attack) if not name.startswith("_") and name not in ("subject", "in_manifest", "swap_a_library_and_make_all_right")]
DAMAGES = {"take_that_of_another_type", "take_that_of_another_builder_s_type", "cut_it"}


class AttackTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.first = cls.space.build("--ops", "alpha,host")

    def verify(self, bundle):
        run = self.space.run("verify", str(bundle), "--json")
        return run.code, json.loads(run.out).get("error", {}).get("code")

    def test_each_is_refused_by_the_statement_alone(self):
        self.assertEqual(self.first.code, 0, self.first)
        for name in ATTACKS:
            with self.subTest(attack=name):
                bundle = self.space.root / name
                shutil.copytree(self.space.out, bundle)
                self.assertEqual(self.verify(bundle), (0, None))
                getattr(Attack(bundle), name)()
                code = "bad_statement" if name in DAMAGES else "statement_differs"
                expected = {code, "no_statement"} if name in ("put_a_folder_there", "lead_it_nowhere") else {code}
                self.assertIn(self.verify(bundle), [(1, each) for each in expected])
                wheel = self.space.run("wheel", str(bundle))
                self.assertIn(wheel.code, (1, 3), wheel)
                statement = bundle / testspace.STATEMENT
                if statement.is_dir() and not statement.is_symlink():
                    statement.rmdir()
                else:
                    statement.unlink()
                self.assertEqual(self.verify(bundle), (0, None), "the statement was not what refused it")

    def test_a_file_that_is_neither_the_bundle_s_nor_its_provenance_is_still_a_stranger(self):
        bundle = self.space.root / "strange"
        shutil.copytree(self.space.out, bundle)
        (bundle / SIGNATURE).write_text("{}\n")
        self.assertEqual(self.verify(bundle), (0, None))
        (bundle / "provenance.json").write_text("{}\n")
        self.assertEqual(self.verify(bundle), (1, None))


OPENED = re.compile(r'^openat\(AT_FDCWD, "([^"]+)", O_RDONLY\b.*\) += \d+$')
STARTED = re.compile(r'^execve\("([^"]+)".*\) += 0$')
INPUT = re.compile(r"/|pack/|roots/")  # the rest is of the build itself
NO_INPUT = re.compile(r"^/(proc|sys|dev|tmp)/|\.so(\.|$)|ld\.so\.|^/usr/(lib|share)/locale|gconv|\.gch$|\.mo$|charset")


def read_by_compilers(logs):
    """The files that C++ compilers opened for reading, by strace's logs, one of each process."""
    read = set()
    for log in logs:
        program = ""
        for line in log.read_text(errors="replace").splitlines():
            if started := STARTED.match(line):
                program = pathlib.Path(started[1]).name
            opened = OPENED.match(line)
            if opened and program == "cc1plus" and INPUT.match(opened[1]) and not NO_INPUT.search(opened[1]):
                read.add(opened[1])
    return read


def pack_for_nvcc(folder):
    pack = Pack(folder)
    pack.add_op("host", {"host.cu": '#include <cuda_fp16.h>\n#include "own/deep.h"\n__global__ void kernel(__half* x) { *x = *x; }\n'
                                    'extern "C" void host_run() { kernel<<<1, 1>>>(nullptr); }\n'},
                {"include_dirs": ["include"]})
    (pack.sources / "include" / "own").mkdir(parents=True)
    pack.source("include/own/deep.h").write_text("#include <vector>\n")
    return pack


class StraceTest(CliTest):
    def test_the_headers_are_those_that_the_compilers_opened(self):
        self.compare(TestSpace(pack=pack_with_headers))

    @testspace.deep
    def test_so_they_are_of_cuda_files(self):
        space = TestSpace(pack=pack_for_nvcc)
        space.use_real_toolkit()
        self.assertEqual(space.build().code, 0)  # the self-test of the toolkit compiles a file of its own
        space.remove_build()
        space.remove_out()
        self.compare(space)

    def compare(self, space):
        strace = shutil.which("strace")
        if not strace:
            self.skipTest("strace is not installed")
        logs = space.root / "strace"
        logs.mkdir()
        run = space.build(prefix=[strace, "-ff", "-qq", "-s", "4096", "-e", "trace=openat,execve", "-o", str(logs / "log")])
        if "ptrace" in run.err:
            self.skipTest("this machine lets nobody trace: " + run.err.splitlines()[0])
        self.assertEqual(run.code, 0, run)
        opened = {os.path.realpath(space.build_dir / name) for name in read_by_compilers(logs.iterdir())}
        said = Said(space.out).files_of("host.so", "source", "header")
        self.assertGreater(len(said), 50)
        self.assertEqual({os.path.realpath(space.build_dir / name) for name in said}, opened)
        for name, sha256 in said.items():
            self.assertEqual(digest(space.build_dir / name), sha256, name)


if __name__ == "__main__":
    testspace.main(each_commit=12)
