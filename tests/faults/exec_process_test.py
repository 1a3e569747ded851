#!/usr/bin/env python3
"""Servers of remote execution that are processes of their own: killed, in a clean system, and under load (support/exec_process.py)."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("support", "packaging")]
import machine  # noqa: E402
import reapi_types as reapi  # noqa: E402
import testspace  # noqa: E402
from casd import Casd  # noqa: E402
from exec_client import Blobs, parse_operation  # noqa: E402
from exec_process import ExecProcess  # noqa: E402
from exec_tests import ServerTest, is_there  # noqa: E402
from reapi_worker import SleepWorker  # noqa: E402


class ProcessTest(ServerTest):
    def serve_apart(self, *words):
        self.server = ExecProcess(self, *words)
        self.client = self.connect()
        return self.server

    def test_a_server_that_is_killed(self):
        self.serve_apart("--slots", 1)
        digest = self.shell("echo hi > out", "out")
        self.last(self.execute(digest))
        self.server.set_faults({"kind": "kill_server"})
        self.assertIsNone(self.execute(self.shell("sleep 5")).code)
        self.server.kill()
        self.server.start()
        self.client = self.connect()
        self.assertEqual(self.execute(digest).code, reapi.FAILED_PRECONDITION)
        self.assertEqual(self.server.state()["counts"], {"Execute": 1})

    def test_a_server_that_hangs(self):
        self.serve_apart()
        digest = self.shell("echo hi")
        self.server.freeze()
        self.client.socket.settimeout(0.3)
        with self.assertRaises(TimeoutError):
            self.execute(digest)
        self.server.thaw()
        self.assertEqual(self.last(self.connect().execute(digest)).response.result.stdout, b"hi\n")

    def test_its_log(self):
        self.serve_apart()
        self.run_shell("true", "b", "a", platform={"OSFamily": "linux"}, tree={"in": {"x": b"x"}})
        (entry,) = self.server.log()
        self.assertEqual((entry["arguments"], entry["output_paths"], entry["environment"]),
                         (["sh", "-c", "true"], ["a", "b"], [["PATH", "/usr/bin:/bin"]]))
        self.assertEqual([entry["action_platform"], entry["command_platform"]], [[["OSFamily", "linux"]]] * 2)
        self.assertEqual(self.server.ask("tree/" + entry["root"]), {"in/x": [hashlib.sha256(b"x").hexdigest(), False]})


def tree_of_programs(*programs):
    """With their loader and libraries at the places where they look for them."""
    tree = {}
    for program in programs:
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for file in [program, *(word for word in said.split() if word.startswith("/"))]:
            place = tree
            *folders, name = file[1:].split("/")
            for folder in folders:
                place = place.setdefault(folder, {})
            place[name] = ("program", pathlib.Path(file).read_bytes())
    return tree


@unittest.skipIf(testspace.TIER == "fast", "each commit runs it")
class CleanRootsTest(ServerTest):
    """Where an action sees nothing of this machine."""

    def test_a_clean_debian(self):
        if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
            self.skipTest("a clean root takes root and mmdebstrap")
        root = machine.Root("bullseye")
        self.addCleanup(root.remove)
        self.serve_in(root.path)

    def serve_in(self, root):
        self.server = ExecProcess(self, "--root", root)
        self.client = self.connect()
        this = str(pathlib.Path(__file__).resolve())
        result = self.run_shell("cat /etc/debian_version in/x > out; ls -d /proc/self THIS; tr '\\0' '\\n' </proc/self/environ; ./tool".replace("THIS", this),
                                "out", folder="folder", tree={"folder": {"in": {"x": b"x\n"}, "tool": ("program", b"#!/bin/sh\necho $PWD\n")}})
        self.assertRegex(self.read_of(result.files["out"]).decode(), r"^11\.\d+\nx\n$")
        self.assertRegex(result.stdout.decode(), r"^/proc/self\nPATH=/usr/bin:/bin\n(PWD=.*\n)?/tmp/worker-[^/]+/job1/root/folder\n$")
        self.assertIn(this, result.stderr.decode())
        begin = time.monotonic()
        self.execute(self.shell("sleep 30.7"), stop=lambda data: parse_operation(data).stage == reapi.EXECUTING)
        self.server.kill()
        self.assertLess(time.monotonic() - begin, 5)
        self.assertTrue(testspace.wait_until(lambda: not is_there(b"sleep\0" + b"30.7")))
        self.assertEqual(os.listdir(root / "proc"), [])

    def test_casd(self):
        folder = tempfile.TemporaryDirectory(prefix="dsbuild-casd-")
        self.addCleanup(folder.cleanup)
        self.server = Casd(self, pathlib.Path(folder.name), jobs=2)
        self.client = self.connect()
        tree = tree_of_programs("/bin/sh", "/bin/cat") | {"work": {"x": b"text\n"}, "tmp": {".keep": b""}}
        result = self.run_shell("cat x > out; echo *; echo err >&2; echo /*", "out", folder="work", tree=tree,
                                environment={"PATH": "/bin:/usr/bin"})
        self.assertEqual(self.read_of(result.files["out"]), b"text\n")
        said = self.read_of(result.stdout).decode()  # casd keeps texts of any length as blobs
        self.assertEqual(said.splitlines()[0], "out x")
        self.assertNotIn("home", said)
        self.assertEqual(self.read_of(result.stderr), b"err\n")


class SleepTest(ServerTest):
    def test_recorded_times(self):
        self.serve(worker=lambda server: SleepWorker(server, {"a": 0.2, "b": {"seconds": 0.1, "bytes": 5000}, "default": 0}))
        for outputs, more, seconds, size in ((["x/a"], {}, 0.2, 1000), (["b"], {}, 0.1, 5000), (["c"], {}, 0, 1000),
                                             (["a"], {"environment": {"SLEEP_SECONDS": "0.05"}}, 0.05, 1000)):
            begin = time.monotonic()
            files = self.run_shell("exit 1", *outputs, **more).files
            self.assertAlmostEqual(time.monotonic() - begin, seconds, delta=0.08)
            ((_, found, _),) = files.values()
            self.assertEqual(found, size)


    def test_a_long_line(self):
        self.serve_apart({"default": 0}, "--rtt-ms", 200)
        digest = self.shell("", "a")
        begin = time.monotonic()
        self.last(self.execute(digest))
        seconds = time.monotonic() - begin
        self.assertGreater(seconds, 0.2)
        self.assertLess(seconds, 0.35)

    def serve_apart(self, times, *words):
        folder = tempfile.TemporaryDirectory(prefix="dsbuild-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "times").write_text(json.dumps(times))
        self.server = ExecProcess(self, "--times", self.folder / "times", *words)
        self.client = self.connect()

    def test_much_at_once(self):
        self.serve_apart({"default": 0.1}, "--fast", "--slots", 64)
        blobs = Blobs()
        digests = [blobs.action(["true", str(number)], {"x": b"x"}, ["out"]) for number in range(100)]
        self.client.upload(blobs)
        begin = time.monotonic()
        threads = [threading.Thread(target=lambda part=part: self.work(digests[part::20])) for part in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        self.assertLess(time.monotonic() - begin, 3)
        counts = self.server.state()["counts"]
        self.assertEqual((counts["executed"], counts["finished"]), (100, 100))

    def work(self, digests):
        client = self.connect()
        for digest in digests:
            ((name, _, _),) = self.last(client.execute(digest)).response.result.files.values()
            self.assertEqual(hashlib.sha256(client.read((name, 1000))).hexdigest(), name)

    def test_what_was_recorded(self):
        with tempfile.TemporaryDirectory(prefix="dsbuild-test-") as folder:
            answers = []
            for words in (["--record", folder], ["--replay", folder, "--fast"]):
                self.server = ExecProcess(self, *words)
                self.client = self.connect()
                begin = time.monotonic()
                result = self.run_shell("sleep 0.2; seq 50000 > out; seq 3000", "out", tree={"large": b"x" * 70000})
                self.assertGreater(time.monotonic() - begin, 0.2)
                answers.append((result.files, self.read_of(result.files["out"]), self.read_of(result.stdout)))
            self.assertEqual(answers[0], answers[1])
            self.assertEqual(len(answers[0][1]), 288894)


if __name__ == "__main__":
    testspace.main()
