#!/usr/bin/env python3
"""scripts/release.sh: what is in a release, and that each part of it installs. A clone of the committed HEAD is released, and its
wheel built a second time in a folder of another name without a compiler cache: the same bytes.

DSBUILD_RELEASE: a release that is there already, made of HEAD."""

import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from machine import CACHE, REPOSITORY, Root, require_roots, run, skip  # noqa: E402
from recipes import Dockerfile  # noqa: E402

PROGRAMS = ("dpkg-deb", "dpkg-shlibdeps", "cpack", "openssl", "git", "script")


def clone(folder):
    run("git", "clone", "--quiet", "--no-hardlinks", REPOSITORY, folder)
    return folder


def setUpModule():
    global PLACE, CLONE, OUT, KEY
    for name in PROGRAMS:
        if not shutil.which(name):
            skip(f"{name} is not installed")
    PLACE = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-release-", dir="/var/tmp"))
    CLONE, KEY = clone(PLACE / "one"), PLACE / "key.pem"
    run("openssl", "genpkey", "-algorithm", "ed25519", "-out", KEY)
    OUT = pathlib.Path(os.environ.get("DSBUILD_RELEASE") or PLACE / "dist")
    if not OUT.exists():
        run(CLONE / "scripts" / "release.sh", "--sign-key", KEY, OUT)


def tearDownModule():
    subprocess.run(["rm", "-rf", "--one-file-system", PLACE], check=False)


def only(pattern):
    found, = OUT.glob(pattern)
    return found


def packages():
    return [path for path in OUT.iterdir() if not path.name.startswith(("SHA256SUMS", "provenance"))]


class FilesTest(unittest.TestCase):
    def test_it_has_a_wheel_a_debian_package_and_a_conda_package(self):
        names = [path.name for path in packages()]
        self.assertEqual(sorted(pathlib.Path(name).suffix for name in names), [".conda", ".deb", ".whl"])
        versions = {re.match(r"dsbuild[-_]([0-9.]+)[-_]", name)[1] for name in names}
        self.assertEqual(len(versions), 1, names)

    def test_the_checksums_are_those_of_all_files(self):
        run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=OUT)
        named = {line.split()[1] for line in (OUT / "SHA256SUMS").read_text().splitlines()}
        self.assertEqual(named, {path.name for path in OUT.iterdir() if not path.name.startswith("SHA256SUMS")})

    def test_the_provenance_names_each_package_and_the_commit(self):
        said = json.loads((OUT / "provenance.intoto.json").read_text())
        self.assertEqual((said["_type"], said["predicateType"]), ("https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"))
        self.assertEqual({each["name"]: each["digest"]["sha256"] for each in said["subject"]},
                         {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in packages()})
        commit = run("git", "-C", REPOSITORY, "rev-parse", "HEAD").strip()
        inputs = said["predicate"]["buildDefinition"]["resolvedDependencies"]
        self.assertEqual(inputs[0]["digest"], {"gitCommit": commit})
        times = said["predicate"]["runDetails"]["metadata"]
        self.assertLess(times["startedOn"], times["finishedOn"])
        self.assertNotIn(str(PLACE), json.dumps(said), "a path of this machine")

    def test_the_signature_is_of_the_checksums(self):
        if not (OUT / "SHA256SUMS.sig").exists():
            self.skipTest("this release was made without a key")
        public = PLACE / "public.pem"
        run("openssl", "pkey", "-in", KEY, "-pubout", "-out", public)
        words = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin", "-sigfile", OUT / "SHA256SUMS.sig", "-in"]
        run(*words, OUT / "SHA256SUMS")
        other = PLACE / "other"
        other.write_bytes((OUT / "SHA256SUMS").read_bytes() + b"\n")
        self.assertNotEqual(subprocess.run([*words, other], capture_output=True, check=False).returncode, 0)


class RefusedTest(unittest.TestCase):
    def refuse(self, code, text, *words, folder=None):
        result = subprocess.run([(folder or CLONE) / "scripts" / "release.sh", *words], stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, check=False)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(text, result.stderr)

    def test_a_folder_that_is_not_empty(self):
        (PLACE / "full").mkdir(exist_ok=True)
        (PLACE / "full" / "file").write_text("")
        self.refuse(2, "is not empty", PLACE / "full")

    def test_a_checkout_with_changes(self):
        changed = clone(PLACE / "changed")
        (changed / "README.md").write_text("other")
        self.refuse(3, "the checkout has changes", PLACE / "dist-changed", folder=changed)

    def test_words_and_a_key_that_are_not_there(self):
        self.refuse(2, "usage: release.sh", "--sign-key")
        self.refuse(2, "usage: release.sh", "--root", "sarge", PLACE / "x")
        self.refuse(2, "cannot be read", "--sign-key", PLACE / "absent", PLACE / "x")


class WheelTest(unittest.TestCase):
    def test_a_second_build_elsewhere_that_was_interrupted_gives_the_same_bytes(self):
        """It goes on where it was, and says on a terminal how far it is."""
        second, out, log = clone(PLACE / "another folder name"), PLACE / "second", PLACE / "terminal"
        build = shlex.join([str(second / "scripts" / "build_wheel.sh"), str(out)])
        command = ["script", "--quiet", "--flush", "--return", "--command", build, log]
        environment = {**os.environ, "CCACHE_DISABLE": "1"}
        first = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while len(objects(second)) < 10 and first.poll() is None:
            time.sleep(0.2)
        first.kill()  # and with it the terminal
        first.wait()
        time.sleep(5)
        made = objects(second)
        self.assertGreaterEqual(len(made), 10)
        self.assertFalse(list(out.glob("*.whl")))
        run(*command, env=environment)
        after = objects(second)
        self.assertEqual({file for file, when in made.items() if after[file] != when}, set(), "compiled again")
        self.assertRegex(log.read_text(errors="replace"), r"dsbuild: \d+ of \d+ files compiled")
        built, = out.glob("*.whl")
        self.assertEqual(built.name, only("*.whl").name)
        self.assertEqual(differing_members(built, only("*.whl")), [])
        self.assertEqual(built.read_bytes(), only("*.whl").read_bytes())

    def test_it_is_installed_in_seconds(self):
        venv = PLACE / "venv"
        run("python3", "-m", "venv", venv)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", only("*.whl"))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 10)
        self.assertRegex(run(venv / "bin" / "dsbuild", "--version"), r"^dsbuild [0-9.]+\n$")


def objects(checkout):
    """{object: when it was written} of a wheel's build."""
    return {str(file): file.stat().st_mtime_ns for file in (checkout / "build" / "wheel-Release").rglob("*.o")}


def differing_members(one, other):
    with zipfile.ZipFile(one) as first, zipfile.ZipFile(other) as second:
        names = sorted({*first.namelist(), *second.namelist()})
        return [name for name in names if name not in first.namelist() or name not in second.namelist() or
                first.read(name) != second.read(name)]


class DebianTest(unittest.TestCase):
    def test_lintian_finds_no_error(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        said = subprocess.run(["lintian", "--fail-on", "error", "--allow-root", only("*.deb")], capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)

    def test_in_clean_roots_it_is_installed_works_and_goes(self):
        for suite in ("bookworm", "trixie"):
            with self.subTest(suite=suite):
                self.check_in_root(suite)

    def check_in_root(self, suite):
        root = Root(suite)
        self.addCleanup(root.remove)
        packages = {"/packages": OUT}
        root.run("apt-get", "-qq", "update")
        root.run("apt-get", "-qq", "install", "-y", "--no-install-recommends", f"/packages/{only('*.deb').name}", binds=packages)
        self.assertRegex(root.run("dsbuild", "--version"), r"^dsbuild [0-9.]+\n$")
        report = root.run("dsbuild", "report")
        self.assertIn("native in /usr/share/dsbuild/", report)
        self.assertIn("/usr/bin/ninja", report)
        self.assertIn("libdsbuild.so.0", root.run("ldconfig", "-p"))
        root.run("apt-get", "-qq", "install", "-y", "--no-install-recommends", "g++")
        make_cpu_pack(root.path / "pack")
        self.assertIn("built 1, skipped 0", root.run("dsbuild", "--pack", "/pack", "--ops", "all", "--out", "/tmp/bundle",
                                                     "--build-dir", "/tmp/build"))
        root.run("dsbuild", "verify", "--load", "/tmp/bundle")
        root.run("apt-get", "-qq", "purge", "-y", "dsbuild")
        self.assertFalse((root.path / "usr/share/dsbuild").exists())
        self.assertFalse((root.path / "usr/bin/dsbuild").exists())


def make_cpu_pack(folder):
    (folder / "one").mkdir(parents=True)
    (folder / "one.cpp").write_text('extern "C" int one_run() { return 1; }\n')
    (folder / "one" / "op.yaml").write_text("name: one\nbackend: cpu\nsources: [one.cpp]\nexports: [one_run]\n")


class ImageTest(unittest.TestCase):
    def test_the_base_image_has_the_program_and_says_what_it_is(self):
        context = PLACE / "image"
        shutil.copytree(OUT, context / "dist")
        text = (REPOSITORY / "docs" / "recipes" / "Dockerfile.base").read_text()
        given = {"VERSION": "0.3.0", "REVISION": "0123abc", "SOURCE": "https://git.example.org/dsbuild", "CREATED": "2026-11-30T00:00:00Z"}
        file = Dockerfile(text, context, given)
        self.addCleanup(file.remove)
        stage = file.run()
        self.assertRegex(file.output, r"dsbuild [0-9.]+\n$")
        labels = {name.rpartition(".")[2]: value for name, value in stage.labels.items()}
        self.assertEqual({name.upper(): labels[name] for name in ("version", "revision", "source", "created")}, given)
        self.assertTrue(all(name.startswith("org.opencontainers.image.") for name in stage.labels))
        self.assertFalse(stage.inside("/tmp/dist").exists())


class CondaTest(unittest.TestCase):
    def test_it_asks_for_python_ninja_and_the_glibc_of_the_wheel(self):
        sys.path.insert(0, str(sorted((CACHE / "rattler_build").glob("*/rattler_build"))[-1].parent))
        self.addCleanup(sys.path.pop, 0)
        from rattler_build import Package
        package = Package.from_file(str(only("*.conda")))
        glibc = re.search(r"manylinux_(\d+)_(\d+)_", only("*.whl").name)
        self.assertEqual(sorted(package.depends), sorted(["python >=3.9", "ninja >=1.11", f"__glibc >={glibc[1]}.{glibc[2]}"]))
        with zipfile.ZipFile(only("*.whl")) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
        data = {re.sub(r"^dsbuild-[^/]*\.data/data/", "", name) for name in names if ".data/data/" in name}
        python = {f"site-packages/{name}" for name in names if name.startswith("dsbuild/")}
        files = set(package.files)
        self.assertEqual(data - files, set())
        self.assertEqual(python - files, set())
        self.assertIn("python-scripts/dsbuild", files)


if __name__ == "__main__":
    require_roots()
    unittest.main(verbosity=2)
