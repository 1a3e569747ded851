#!/usr/bin/env python3
"""Device compilers on other machines: bundles are those of a build on this one, whatever the service does."""

import json
import os
import pathlib
import resource
import shutil
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("support", "cli", "packaging")]
import machine  # noqa: E402
import testspace  # noqa: E402
from casd import Casd  # noqa: E402
from exec_process import ExecProcess  # noqa: E402
from exec_server import ExecServer  # noqa: E402
from reapi_server import ZSTD  # noqa: E402
from sliced import PLAIN, make_space  # noqa: E402

TOOLS = 5  # of the op `scaling` for 8.0;9.0+PTX: cudafe++, and of each arch cicc and ptxas
OPTIMISED = sorted(["cudafe++", "cicc", "cicc", "ptxas", "ptxas", "cc1plus", "cc1plus", "as", "as"])


def programs_of(log):
    return sorted(entry["arguments"][3].rsplit("/", 1)[1] for entry in log)


class ExecutionTest(unittest.TestCase):
    local = None  # the bundle as it is built here alone, and how long that took
    compilers = {}  # blobs of all servers: sending them takes a server in Python seconds

    def setUp(self):
        if ExecutionTest.local is None:
            space = make_space("local")
            begin = time.monotonic()
            self.built(space)
            ExecutionTest.local = (testspace.bundle_hash(space.out), time.monotonic() - begin)

    def serve(self, *faults, **options):
        self.server = ExecServer(self, faults=faults, **options)
        self.server.blobs.update(self.compilers)
        for held in (self.server.calls, self.server.blobs, self.server.results):
            self.addCleanup(held.clear)  # compilers: a hundred megabytes a test
        return self.server

    def built(self, space, *more, ops="scaling", code=0, **options):
        run = space.build("--ops", ops, "--json", *more, **options)
        self.assertEqual(run.code, code, run)
        return run

    def elsewhere(self, *more, url=None, space=None, **options):
        """(what ran there, the run) of a build on a new machine, whose bundle is right."""
        space = space or make_space("elsewhere")
        local = [] if "--remote-local" in more else ["--remote-local", "never"]
        run = self.built(space, "--remote-exec", url or self.server.url, *local, *more, **options)
        self.assertEqual(testspace.bundle_hash(space.out), self.local[0])
        if url is None:
            self.compilers.update({name: data for name, data in self.server.blobs.items() if len(data) > 1_000_000})
        return run.result()["execution"], run

    def codes(self, run):
        return [warning["code"] for warning in run.result()["warnings"]]


class RunsTest(ExecutionTest):
    def test_all_device_compilers_run_there(self):
        server = self.serve(slots=2)
        uses, run = self.elsewhere()
        self.assertEqual((uses["executed"], uses["failed"], uses["off"]), (TOOLS, 0, None), run)
        self.assertEqual(server.state()["counts"]["executed"], TOOLS)
        self.assertEqual(self.codes(run), [])

    def test_a_second_machine_gets_results_that_the_server_has(self):
        self.serve(slots=2)
        self.elsewhere()
        uses, _ = self.elsewhere()
        self.assertEqual((uses["executed"], uses["cached"]), (TOOLS, TOOLS))
        self.assertEqual(self.server.state()["counts"]["executed"], TOOLS)

    def test_tools_go_there_once_and_text_goes_packed(self):
        self.serve(slots=2, compressors=[ZSTD])
        self.server.blobs.clear()
        uses, _ = self.elsewhere()
        first = uses["bytes_up"]
        self.assertEqual(self.server.state()["counts"]["FindMissingBlobs"], TOOLS + 1)  # of each action, and of all tools
        space = make_space("edited")
        self.built(space, "--remote-exec", self.server.url, "--remote-local", "never", ops="inner")
        more = space.build("--ops", "listing", "--json", "--remote-local", "never", "--remote-exec", self.server.url).result()["execution"]
        self.assertGreater(first, 20 << 20)
        self.assertLess(more["bytes_up"], 2 << 20)

    def test_what_a_server_is_told_is_free_of_this_machine(self):
        server = self.serve(slots=2)
        space = make_space("told")
        self.elsewhere("--remote-platform", "OSFamily=linux,pool=a b", space=space)
        self.assertEqual(len(server.log), TOOLS)
        for entry in server.log:
            self.assertEqual(entry["command_platform"], [("OSFamily", "linux"), ("pool", "a b")])
            self.assertEqual(entry["action_platform"], entry["command_platform"])
            self.assertEqual(entry["folder"], "work")
            self.assertLessEqual(set(dict(entry["environment"])), {"TMPDIR", "NVVMIR_LIBRARY_DIR"})
            self.assertEqual(entry["output_files"], [])
            self.assertNotIn(str(space.root), json.dumps(entry))
            self.assertFalse([word for word in entry["arguments"] if word.startswith("/")], entry)

    def test_a_server_before_2_1_gets_names_of_files(self):
        server = self.serve(slots=2, version=(2, 0))
        uses, _ = self.elsewhere()
        self.assertEqual(uses["executed"], TOOLS)
        for entry in server.log:
            self.assertEqual(entry["output_files"], entry["output_paths"])

    def test_buildbox_casd_runs_them_in_a_root_that_has_the_inputs_alone(self):
        space = make_space("casd")
        server = Casd(self, space.root / "casd", jobs=2)
        uses, run = self.elsewhere(url=server.url, space=space)
        self.assertEqual((uses["executed"], uses["failed"]), (TOOLS, 0), run)

    def test_cpp_compiles_that_optimise_run_there_in_parts(self):
        self.compare_optimised(self.serve(slots=2).url)
        self.assertEqual(programs_of(self.server.log), OPTIMISED)

    @testspace.deep
    def test_a_worker_is_a_clean_debian_11(self):
        """It has neither CUDA nor gcc, and another libc. Red where tools are started by the worker's own loader: theirs is too old."""
        if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
            self.skipTest("a clean root takes root and mmdebstrap")
        root = machine.Root("bullseye")
        self.addCleanup(root.remove)
        server = ExecProcess(self, "--slots", 2, "--zstd", "--root", root.path)
        self.compare_optimised(server.url)
        self.assertEqual(programs_of(server.log()), OPTIMISED)
        self.assertEqual(server.state()["results"], len(OPTIMISED))  # each ended well: it keeps no others

    def compare_optimised(self, url):
        """An op whose host code is optimised, built here alone and with a service."""
        runs = []
        for options in ((), ("--remote-exec", url, "--remote-local", "never")):
            space = make_space("optimised")
            space.pack.add_op("fast", {"fast.cu": PLAIN.replace("scale", "fast").replace("threads()", "fast_threads()"),
                                       "more.cpp": '#include <string>\nextern "C" int more(int n) { return std::to_string(n).size(); }\n'},
                              {"flags": {"nvcc": ["-O3"], "cxx": ["-O2"]}})
            runs.append((self.built(space, *options, ops="fast"), testspace.bundle_hash(space.out)))
        self.assertEqual(runs[0][1], runs[1][1])
        uses = runs[1][0].result()["execution"]
        self.assertEqual((uses["executed"], uses["failed"], uses["off"]), (len(OPTIMISED), 0, None), runs[1][0])

    def test_compile_errors_are_this_machines(self):
        self.serve(slots=2)
        runs = []
        for options in ((), ("--remote-exec", self.server.url)):
            space = make_space("wrong")
            file = space.pack.source("plain.cu")
            file.write_text(file.read_text() + "__global__ void wrong() { return nothing_of_this_name; }\n")
            run = self.built(space, *options, code=1)
            failed = json.loads(run.out.splitlines()[-1])["failed"]
            runs.append([(one["source"], one["error"]) for one in failed])
        self.assertTrue(runs[0])
        self.assertEqual(*runs)

    def test_waits_for_a_core_are_none_for_memory(self):
        """Red where they are counted together, as in a build here, in which no edge runs that has no core."""
        self.serve(slots=4)
        space = make_space("waits")
        run = self.built(space, "--remote-exec", self.server.url, "--remote-local", "never", "-j", "1", ops="scaling,inner")
        edges = json.loads((space.build_dir / "timings.json").read_text())["edges"]
        waited, for_core = (sum(edge[name] for edge in edges) for name in ("waited_ms", "waited_core_ms"))
        self.assertGreater(for_core, 100)
        self.assertLess(waited - for_core, 0.1 * waited)
        self.assertEqual(run.result()["memory"]["waited_edges"], 0, run)

    def test_a_build_with_nothing_to_do_asks_nothing(self):
        server = self.serve(slots=2)
        space = make_space("again")
        self.elsewhere(space=space)
        before = sum(server.state()["counts"].values())
        self.built(space, "--remote-exec", server.url)
        self.assertEqual(sum(server.state()["counts"].values()), before)


class CredentialsTest(ExecutionTest):
    SECRET = "Bearer 5ecret-of-the-helper"

    def helper(self, space, lines):
        program = space.root / "helper"
        program.write_text(f"#!/bin/sh\ncat >>{space.root}/asked\n{lines}\n")
        program.chmod(0o755)
        return ("--remote-credential-helper", str(program))

    def test_a_helpers_headers_go_with_each_call(self):
        """Red where the helper is asked for the shared cache alone: calls have no such header. Red where both connections ask."""
        self.serve(slots=2)
        space = make_space("helped")
        uses, run = self.elsewhere(*self.helper(space, f"""echo '{{"headers": {{"Authorization": ["{self.SECRET}"]}}}}'"""), space=space)
        self.assertEqual((uses["executed"], uses["off"]), (TOOLS, None), run)
        self.assertEqual({call.headers.get("authorization") for call in self.server.calls}, {self.SECRET})
        self.assertEqual((space.root / "asked").read_text().splitlines(), [json.dumps({"uri": self.server.url.replace("reapi", "http")},
                                                                                      separators=(",", ":"))])
        self.assertNotIn("5ecret", run.out + run.err)

    def test_a_helper_that_fails(self):
        """Red where a server is asked for anything without what the helper should have given."""
        self.serve(slots=2)
        space = make_space("unhelped")
        uses, run = self.elsewhere(*self.helper(space, "echo 5ecret; exit 3"), space=space)
        self.assertEqual((uses["executed"], self.codes(run)), (0, ["execution_off"]), run)
        self.assertIn("ends with exit code 3", uses["off"])
        self.assertEqual(self.server.calls, [])
        self.assertNotIn("5ecret", run.out + run.err)


class LimitsTest(ExecutionTest):
    LOW = 32

    @staticmethod
    def lower(soft, hard=None):
        """Of files that are open at once."""
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard or resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    def test_a_low_soft_limit_of_open_files_is_raised(self):
        """Red where it is not: connections to the server and to the steps do not open, and tools run here."""
        self.serve(slots=16)
        space = make_space("low")
        run = self.built(space, "--remote-exec", self.server.url, "--remote-local", "never", ops="scaling,inner,listing",
                         preexec_fn=self.lower(self.LOW))
        uses = run.result()["execution"]
        self.assertEqual((uses["failed"], uses["off"]), (0, None), run)
        self.assertGreaterEqual(uses["executed"], 15)

    def test_a_hard_limit_that_is_too_low_is_an_error(self):
        space = make_space("hard")
        run = self.built(space, "--remote-exec", "reapi://127.0.0.1:1", "--remote-jobs", "200", code=3, preexec_fn=self.lower(300, 300))
        self.assertIn("it is 300, which is too low for --remote-jobs 200", run.out)
        self.assertIn("or give a lower --remote-jobs", run.out)


class WorkerToolsTest(ExecutionTest):
    def home(self):
        return pathlib.Path("/usr/local/cuda")

    def test_tools_of_the_worker_are_used_where_they_are_ours(self):
        if not (self.home() / "bin/ptxas").exists():
            self.skipTest("there is no toolkit in /usr/local/cuda")
        self.serve(slots=2)
        uses, run = self.elsewhere("--remote-tools", f"worker:{self.home()}")
        self.assertEqual((uses["executed"], uses["off"]), (TOOLS, None), run)
        self.assertLess(uses["bytes_up"], 20 << 20)

    def test_other_tools_are_not_used(self):
        self.serve(slots=2)
        folder = make_space("home").root / "cuda"
        for name in ("bin/ptxas", "bin/cudafe++", "bin/fatbinary", "nvvm/bin/cicc"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("#!/bin/sh\n")
        uses, run = self.elsewhere("--remote-tools", f"worker:{folder}")
        self.assertEqual(uses["executed"], 0)
        self.assertIn("is not there, or is not this machine's", uses["off"])
        self.assertEqual(self.codes(run), ["execution_off"])


class FaultsTest(ExecutionTest):
    """The server does wrong; the bundle is right, and little time is lost."""

    MOST_LATE = 30

    def late(self, *faults, more=(), **options):
        self.serve(*faults, slots=2, **options)
        begin = time.monotonic()
        uses, run = self.elsewhere(*more)
        self.assertLess(time.monotonic() - begin, self.local[1] + self.MOST_LATE)
        return uses, run

    def gone_on(self, *faults, **options):
        """It does without the server."""
        uses, run = self.late(*faults, **options)
        self.assertEqual(self.codes(run), ["execution_off"], run)
        return uses, run

    def mended(self, *faults, executed=TOOLS, **options):
        """All tools run there in the end."""
        uses, run = self.late(*faults, **options)
        self.assertEqual((uses["executed"], uses["off"]), (executed, None), run)
        self.assertTrue(all(fault["met"] for fault in self.server.state()["faults"]), self.server.state())
        return uses, run

    def test_nobody_listens(self):
        space = make_space("nobody")
        begin = time.monotonic()
        run = self.built(space, "--remote-exec", "reapi://127.0.0.1:1")
        self.assertLess(time.monotonic() - begin, self.local[1] + 10)
        self.assertEqual(self.codes(run), ["execution_off"])

    def test_it_executes_nothing(self):
        uses, _ = self.gone_on(exec_enabled=False)
        self.assertIn("executes nothing", uses["off"])
        self.assertEqual(self.server.state()["counts"].get("Execute", 0), 0)

    def test_it_knows_no_execution(self):
        self.gone_on({"kind": "unimplemented"})
        self.assertLessEqual(self.server.state()["counts"]["Execute"], 3)

    def test_it_permits_nothing(self):
        self.gone_on({"kind": "permission_denied"})

    def test_it_never_answers(self):
        self.gone_on({"kind": "never_answers", "method": "Execute"})

    def test_no_worker_is_there(self):
        self.gone_on({"kind": "no_worker"})

    def test_the_queue_moves_for_nobody(self):
        uses, _ = self.late({"kind": "stays_queued"}, more=("--remote-local", "auto"))
        self.assertEqual(uses["executed"], 0)
        self.assertGreaterEqual(uses["taken_back"] + uses["won_here"], 1)

    def test_a_worker_is_lost(self):
        self.mended({"kind": "worker_lost", "times": 2})

    def test_a_worker_gives_up(self):
        self.mended({"kind": "worker_aborted", "times": 2})

    def test_a_queue_is_full_for_a_moment(self):
        self.mended({"kind": "resource_exhausted", "retry_seconds": 1, "times": 2})

    def test_an_input_is_missing(self):
        self.mended({"kind": "missing_input", "times": 1})

    def test_an_input_is_missing_by_other_words(self):
        self.mended({"kind": "missing_input_internal", "times": 1})

    def test_a_stream_ends(self):
        for how in ("reset", "close", "end", "half", "garbage"):
            with self.subTest(how):
                self.mended({"kind": "drop_stream", "how": how, "times": 2})
                counts = self.server.state()["counts"]  # of a stream that is reset, the first message may be lost
                self.assertGreater(counts.get("WaitExecution", 0) + counts["Execute"], TOOLS)

    def test_an_operation_is_forgotten(self):
        self.mended({"kind": "drop_stream", "how": "end", "times": 1}, {"kind": "wait_not_found", "times": 1})

    def test_a_tool_ends_well_without_outputs(self):
        uses, _ = self.late({"kind": "no_outputs", "times": 1})
        self.assertEqual((uses["executed"], uses["failed"]), (TOOLS - 1, 1))

    def test_a_result_lacks_one_output(self):
        uses, _ = self.late({"kind": "one_output_less", "times": 1, "output": ".cubin"})
        self.assertEqual((uses["executed"], uses["failed"]), (TOOLS - 1, 1))

    def test_a_cached_result_lacks_its_outputs(self):
        self.serve(slots=2)
        self.elsewhere()
        for name in {name for name, data in self.server.blobs.items() if len(data) < 1_000_000 and data[:4] == b"\x7fELF"}:
            del self.server.blobs[name]
        uses, run = self.elsewhere()
        self.assertEqual((uses["executed"], uses["off"]), (TOOLS, None), run)

    def test_a_worker_is_broken(self):
        uses, _ = self.gone_on({"kind": "exit_code", "code": 127})
        self.assertIn("failed there, and not here", uses["off"])

    def test_a_failure_was_cached(self):
        self.serve({"kind": "exit_code", "code": 127, "cached": True, "times": TOOLS}, slots=2)
        self.built(make_space("first"), "--remote-exec", self.server.url, "--remote-local", "never")
        self.server.faults.set([])
        uses, run = self.elsewhere()
        self.assertEqual((uses["executed"], uses["off"]), (TOOLS, None), run)

    def test_outputs_are_not_what_their_digests_say(self):
        for kind in ("wrong_bytes", "wrong_size", "wrong_hash_function"):
            with self.subTest(kind):
                uses, _ = self.late({"kind": kind, "times": 1})
                self.assertEqual(uses["failed"], 1)

    def test_an_output_is_gone(self):
        uses, _ = self.late({"kind": "missing_output", "times": 1})
        self.assertEqual(uses["failed"], 1)

    def test_a_server_gives_files_that_nobody_asked_for(self):
        space = make_space("escaped")
        self.serve({"kind": "other_paths", "path": "../../escaped"}, slots=2)
        self.elsewhere(space=space)
        self.assertEqual(list(space.root.rglob("escaped")), [])

    def test_a_server_gives_links(self):
        self.gone_on({"kind": "links_for_files"})

    def test_a_tool_says_very_much(self):
        self.mended({"kind": "huge_stderr", "bytes": 8 << 20, "times": 1})

    def test_a_server_is_killed_in_the_middle(self):
        uses, _ = self.late({"kind": "kill_server", "after": 1, "times": 1})
        self.assertIsNotNone(uses["off"])

    def test_a_worker_runs_for_ever(self):
        uses, _ = self.late({"kind": "runs_for_ever", "times": 1}, more=("--remote-local", "auto"))
        self.assertEqual(uses["executed"] + uses["failed"] + uses["won_here"], TOOLS)


if __name__ == "__main__":
    testspace.main(each_commit=5)
