#!/usr/bin/env python3
"""Many machines at one shared cache: builds and clients of the protocol at once, while the server is killed and comes back; builds
that are killed. Bundles are those of builds without a shared cache, byte for byte, and what lies on the server is whole:
each entry parses, and each file that it names is there. Each test says what turns it red."""

import concurrent.futures
import functools
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from bad_server import Server  # noqa: E402
from entries import Output, read_entry, sha256, write_entry  # noqa: E402
from remote_cache import EMPTY, Answer, digest  # noqa: E402
from remote_entries import Checker  # noqa: E402
from shared_servers import SharedCasd, SharedFolder, SharedHttp, SharedNginx  # noqa: E402
from testspace import SEED, TestSpace, count  # noqa: E402

EDGES = 36  # of a build from nothing
TOOLS = {"steps": True, "payload": 20_000}  # files that are too large to be in an entry
VERSIONS = 3
PATIENT = ("--connect-ms=60000", "--deadline-ms=60000")  # 64 clients keep a machine of two cores busy
MARK = "// version "
SEVERAL = ("beta/one.cu", "alpha/shared.h")
ALL = ("alpha/alpha.cu", "alpha/alpha.cpp", "beta/one.cu", "beta/two.cu", "beta/beta.cpp", "gamma/one.cu", "gamma/two.cu",
       "host/host.cpp")


def write_version(space, version, sources):
    """Of each source the code is its own, or all images would be the same."""
    for source in sources:
        file, name = space.pack.source(source), re.sub(r"\W", "_", source)
        file.write_text(file.read_text().split(MARK)[0] + f"{MARK}{version}\nconstexpr int k_{name} = {version};\n")


@functools.cache
def bundle_without_sharing(version, sources):
    space = TestSpace("alone", **TOOLS)
    write_version(space, version, sources)
    run = space.build()
    if run.code != 0:
        raise AssertionError(run)
    return testspace.bundle_files(space.out)


class CrowdCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dsbuild-test-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def share(self, kind):
        self.server = kind(self, self.root)
        self.checker = Checker(self.server)

    def machine(self, name="machine"):
        return TestSpace(name, store=True, **TOOLS)

    def build(self, space, version, sources):
        """From nothing but what the machine's own cache has."""
        write_version(space, version, sources)
        space.remove_build()
        run = space.build("--remote", self.server.url, "--remote-upload", "always")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(testspace.bundle_files(space.out), bundle_without_sharing(version, sources), run)
        return run

    def check_server(self):
        self.assertEqual(self.checker.problems(), [])

    def found(self, run):
        """(found, asked for)"""
        return tuple(map(int, re.search(r"shared: (\d+) of (\d+) found there", run.out).groups()))

    def check_next_machines(self, version, sources):
        """Empty machines: the first takes what is there and adds what is not, so the second takes all."""
        first = self.found(self.build(self.machine("first"), version, sources))
        found, asked = self.found(self.build(self.machine("second"), version, sources))
        self.assertEqual(found, asked)
        self.assertGreater(found, EDGES / 2)
        self.check_server()
        return first

    def check_all_again(self, kills):
        """All files again, also those that were looked at before. `kills`: of the server."""
        again = Checker(self.server)
        self.assertEqual(again.problems(), [])
        self.assertGreater(len(again.files), 0)
        if not kills:
            self.assertEqual(again.torn, set())
        return (f"{len(again.entries)} entries, {len(again.torn)} torn by the server, {len(again.files)} files of theirs of "
                f"{len(self.server.names('cas'))}, {again.inline} in entries")


class CheckerTest(CrowdCase):
    """Red where the checker overlooks what is wrong."""

    def check_sees(self, kind, name, change, words):
        whole = self.server.read(kind, name)
        self.server.write(kind, name, change and change(whole))
        checker = Checker(self.server)
        problems = checker.problems() + [f"{entry} does not parse" for entry in checker.torn]
        self.assertTrue(problems, words)
        for problem in problems:
            self.assertIn(words, problem)
        self.server.write(kind, name, whole)
        self.assertEqual((checker.problems(), checker.torn), ([], set()))

    def check_damage(self, kind):
        self.share(kind)
        self.build(self.machine(), 0, ALL)
        self.check_server()
        file = random.Random(SEED).choice(sorted(self.checker.files))
        self.check_sees("cas", file, None, "is not there")
        self.check_sees("cas", file, lambda data: data[:-1], "bytes, not")
        self.check_sees("cas", file, lambda data: b"", "has 0 bytes")
        self.check_sees("cas", file, lambda data: data[:-1] + bytes([data[-1] ^ 1]), "another digest")
        entry, other = random.Random(SEED).sample(sorted(self.checker.entries), 2)
        self.check_sees("ac", entry, lambda data: data[:-1], "does not parse")
        self.check_sees("ac", entry, lambda data: b"", "does not parse")
        self.check_sees("ac", entry, lambda data: self.server.read("ac", other), "it is the entry" if not self.server.has_actions
                        else "its action is that of")
        return entry

    def test_a_folder(self):
        self.check_damage(SharedFolder)
        entry = next(name for name in self.checker.entries if read_entry(self.server.read("ac", name))[0].contents)
        contents = read_entry(self.server.read("ac", entry))[0].contents
        self.check_sees("ac", entry, lambda data: data.replace(contents, contents[:-1] + b"!"), "its contents have another digest")

    def test_casd(self):
        entry = self.check_damage(SharedCasd)
        self.check_sees("cas", entry, None, "its action is not there")


class Client:
    """Puts files and entries that name them, and gets them again; by tests/tools/remote_tool.cpp. Some names are those of all."""

    def __init__(self, test, number, shared):
        self.test, self.url = test, test.server.url
        self.generator = random.Random(f"{SEED} {number}")
        self.folder = test.root / f"client {number}"
        self.folder.mkdir()
        self.shared, self.rounds = shared, 0

    def file(self, name, data):
        file = self.folder / name
        file.write_bytes(data)
        return file

    def tool(self, *words):
        run = subprocess.run([os.environ["DSBUILD_REMOTE_TOOL"], words[0], self.url, *map(str, words[1:]), *PATIENT],
                             capture_output=True, text=True, timeout=180, check=False)
        self.test.assertEqual((run.returncode, run.stderr), (0, ""), run)
        return [Answer(*line.split(" ", 3)) for line in run.stdout.splitlines()]

    def has_put(self, answers, is_sure):
        states = {answer.state for answer in answers}
        self.test.assertLessEqual(states, {"done"} if is_sure else {"done", "failed"}, answers)
        return states == {"done"}

    def check_got(self, answer, bodies, is_sure, may_be_absent=False):
        """It is one of these, where the server answers at all: what was put is there, also after a kill."""
        states = ["done", *([] if is_sure else ["failed"]), *(["absent"] if may_be_absent else [])]
        self.test.assertIn(answer.state, states, answer)
        self.test.assertIn(answer.digest, list(map(sha256, bodies)) if answer.state == "done" else [EMPTY], answer)

    def work(self, is_sure):
        """`is_sure`: whether the server is there all the time."""
        self.rounds += 1
        own = self.generator.randbytes(self.generator.choice((10, 5000, 300_000)))
        bodies = [own, *self.generator.sample(self.shared, 3)]
        files = [self.file(f"file {i}", body) for i, body in enumerate(bodies)]
        if not self.has_put(self.tool("put-files", "cas", *files, "--repeat=2"), is_sure):
            return
        names = [f"{sha256(body)}/{len(body)}" for body in bodies]
        for answer, body in zip(self.tool("get", "cas", *names), bodies, strict=True):
            self.check_got(answer, [body], is_sure)
        name = digest(f"entry of {self.folder.name} {self.rounds}")
        entry = write_entry(name, [Output.as_it_is("file", body) for body in bodies])
        if self.has_put(self.tool("put", "ac", name, self.file("entry", entry)), is_sure):
            self.check_got(self.tool("get", "ac", name)[0], [entry], is_sure)
        self.put_everybodys(bodies, is_sure)

    def put_everybodys(self, bodies, is_sure):
        """Of one entry there are several versions, one for each file of all."""
        name = digest("entry of all")
        versions = [write_entry(name, [Output.as_it_is("file", body)]) for body in self.shared]
        mine = versions[self.shared.index(bodies[1])]
        if self.has_put(self.tool("put", "ac", name, self.file("entry", mine)), is_sure):
            self.check_got(self.tool("get", "ac", name)[0], versions, is_sure, self.test.server.writes_late)

    def work_until(self, over):
        while not over.is_set():
            self.work(False)
        self.work(True)


class CrowdTest(CrowdCase):
    """Red where a bundle has bytes of other sources, a build or a client waits for ever, or an entry lacks files."""

    def setUp(self):
        super().setUp()
        if not os.environ.get("DSBUILD_REMOTE_TOOL"):
            self.skipTest("DSBUILD_REMOTE_TOOL is not set (the build's tests/remote_tool)")

    def build_all(self, number, runs):
        """Half of the machines begin with other sources; in the end all have built all."""
        space = self.machine(f"machine {number}")
        for step in range(VERSIONS):
            runs.append(self.build(space, (number % 2 + step) % VERSIONS, SEVERAL))

    def disturb(self, generator, works):
        """Kills the server and starts it again until all have ended; how often."""
        kills = 0
        while concurrent.futures.wait(works, timeout=generator.uniform(0.3, 2)).not_done:
            if self.server.is_process:
                kills += 1
                self.server.kill()
                time.sleep(generator.uniform(0, 0.3))
                self.server.start()
        return kills

    def crowd(self, kind):
        self.share(kind)
        for version in range(VERSIONS):
            bundle_without_sharing(version, SEVERAL)
        generator, over, runs, begin = random.Random(SEED), threading.Event(), [], time.monotonic()
        shared = [generator.randbytes(generator.choice((100, 20_000, 200_000))) for _ in range(8)]
        builds, number = count(2, 4, deep_too=4), count(8, 64, deep_too=64)
        clients = [Client(self, i, shared) for i in range(number)]
        with concurrent.futures.ThreadPoolExecutor(builds + number) as pool:
            works = [pool.submit(self.build_all, i, runs) for i in range(builds)]
            talks = [pool.submit(client.work_until, over) for client in clients]
            try:
                kills = self.disturb(generator, works)
            finally:
                over.set()
            for each in [*works, *talks]:
                each.result()
        self.check_server()
        self.assertGreater(kills, 0 if self.server.is_process else -1)
        next_machines = [self.check_next_machines(version, SEVERAL) for version in testspace.some_of(range(VERSIONS), 1)]
        there = self.check_all_again(kills)
        off = sum("remote_off" in run.err for run in runs)
        rounds = sum(client.rounds for client in clients)
        print(f"{kind.__name__}: {len(runs)} builds, {off} of them left the server; {rounds} rounds of {number} clients; {kills} kills of "
              f"the server; {there}; next machines found {next_machines}; {time.monotonic() - begin:.0f} s", flush=True)

    def test_a_folder(self):
        self.crowd(SharedFolder)

    def test_http(self):
        self.crowd(SharedHttp)

    def test_nginx(self):
        self.crowd(SharedNginx)

    @testspace.deep  # some 250 s: casd takes a second to start again
    def test_casd(self):
        self.crowd(SharedCasd)


class Victim:
    """A build that SIGKILL ends, with all that it has started: a moment after it has said a number of its edges."""

    def __init__(self, space, url, edges, seconds):
        self.space, self.edges, self.seconds, self.said = space, edges, seconds, ""
        space.remove_build()
        space.remove_out()
        self.process = space.start_build("--remote", url, "--remote-upload", "always")
        self.thread = threading.Thread(target=self.wait_and_kill)
        self.thread.start()

    def wait_and_kill(self):
        while self.edges and (line := self.process.stderr.readline()):
            self.said += line
            if f"[{self.edges}/" in line:
                break
        time.sleep(self.seconds)
        below = testspace.children(self.process.pid)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        for each in below:
            testspace.send(each, signal.SIGKILL)

    def was_killed(self):
        """Or has ended well before."""
        self.thread.join()
        self.said += "".join(self.process.communicate(timeout=testspace.TIME_LIMIT))
        if self.process.returncode not in (0, -signal.SIGKILL):
            raise AssertionError(f"{self.process.returncode} {self.said}")
        # A tool that is about to end still writes into the build folder, which is removed next.
        if not testspace.wait_until(lambda: not testspace.processes_in(self.space.root)):
            raise AssertionError("processes of a killed build go on")
        return self.process.returncode == -signal.SIGKILL


class KillTest(CrowdCase):
    """Red where an entry goes up before its files, or where a file is written in its place."""

    def moments(self, generator, number):
        """So many edges are made when a build is killed: from all parts of a build, in any order."""
        moments = [(i * EDGES + generator.randrange(EDGES)) // number + 1 for i in range(number)]
        return generator.sample(moments, number)

    def kill_two(self, spaces, versions, moments, generator):
        """How many were killed, not ended."""
        for space, version in zip(spaces, versions, strict=True):
            write_version(space, version, ALL)
        victims = [Victim(space, self.server.url, edges, generator.uniform(0, 0.05))
                   for space, edges in zip(spaces, moments, strict=True)]
        return sum([victim.was_killed() for victim in victims])

    def kills(self, kind):
        self.share(kind)
        generator, number, begin = random.Random(SEED), count(6, 200, deep_too=50), time.monotonic()
        spaces = [self.machine(f"machine {i}") for i in range(2)]
        self.build(spaces[0], 0, ALL)
        self.check_server()
        killed, version, left = 0, 0, {}  # left: new entries, by version
        while killed < number:
            for first, second in zip(*[iter(self.moments(generator, number))] * 2, strict=True):
                version, before = version + 1, len(self.checker.entries)
                versions = (version, version if generator.random() < 0.5 else -version)  # some with the same sources
                with self.subTest(versions=versions, moments=(first, second)):
                    killed += self.kill_two(spaces, versions, (first, second), generator)
                    self.check_server()
                left[version] = len(self.checker.entries) - before
        self.assertGreater(sum(left.values()), number)  # they were killed while results went up
        chosen = [max(left, key=left.get), *generator.sample(list(left), count(0, 10, deep_too=5))]
        next_machines = {each: self.check_next_machines(each, ALL) for each in chosen}
        there = self.check_all_again(0)
        print(f"{kind.__name__}: {killed} kills; of each two {sorted(left.values())} entries were left; {there}; next machines found "
              f"{next_machines}; {time.monotonic() - begin:.0f} s", flush=True)

    def test_a_folder(self):
        self.kills(SharedFolder)

    def test_http(self):
        """So slow that many builds are killed between files and their entry."""
        Server.seconds_of_put = 0.04
        self.addCleanup(setattr, Server, "seconds_of_put", 0)
        self.kills(SharedHttp)
        if testspace.TIER == "deep":
            self.assertGreater(len(self.server.names("cas")), len(self.checker.files))

    def test_nginx(self):
        self.kills(SharedNginx)

    @testspace.deep
    def test_casd(self):
        self.kills(SharedCasd)


if __name__ == "__main__":
    testspace.main(each_commit=1)
