#!/usr/bin/env python3
"""In a pipeline: annotations for GitHub Actions, --offline, and proxies."""

import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, options_only  # noqa: E402

ON_GITHUB = {"GITHUB_ACTIONS": "true"}


def annotations(run):
    return [line for line in run.err.splitlines() if line.startswith("::")]


class AnnotationTest(CliTest):
    def test_a_compile_error_is_annotated_in_the_users_own_file(self):
        space = TestSpace()
        source = space.pack.source("host/host.cpp")
        source.write_text('extern "C" int host_run() {\n  return undefined_name;\n}\n')
        group, file, end = annotations(self.run_in(space, "--ops", "host", env=ON_GITHUB))[:3]
        self.assertEqual((group, end), ("::group::host", "::endgroup::"))
        place = source.relative_to(space.root)
        self.assertTrue(file.startswith(f"::error file={place},line=2,col=10,title=dsbuild compile host%3A"), file)
        self.assertIn("'undefined_name' was not declared", file)

    def test_a_spec_error_is_annotated_at_its_line(self):
        space = TestSpace()
        spec = space.pack.folder / "host" / "op.yaml"
        spec.write_text(spec.read_text() + "arhcs: {}\n")
        [line] = annotations(self.run_in(space, env=ON_GITHUB))
        self.assertRegex(line, rf"^::error file=.*host/op\.yaml,line={len(spec.read_text().splitlines())},col=1,title=dsbuild ")

    def test_an_error_of_the_command_line_is_annotated_before_there_are_settings(self):
        [line] = annotations(TestSpace().run("--jbos", env=ON_GITHUB))
        self.assertTrue(line.startswith("::error title=dsbuild bad_option::command line: unknown option '--jbos'"), line)

    def test_a_warning_is_annotated_as_one(self):
        [line] = annotations(self.run_in(TestSpace(steps=True), "plan", env={**ON_GITHUB, "DS_BUILD_BETTA": "0"}))
        self.assertTrue(line.startswith("::warning title=dsbuild "), line)

    def test_elsewhere_nothing_is_annotated(self):
        for env in ({}, {"GITHUB_ACTIONS": "false"}):
            self.assertEqual(annotations(TestSpace().run("--jbos", env=env)), [])


class OfflineTest(CliTest):
    def test_a_toolkit_that_is_cached_needs_no_network(self):
        space = TestSpace()
        cached = space.root / "cache" / "dsbuild" / "toolkits" / "13.5" / "nvidia" / "cu13" / "bin" / "nvcc"
        cached.parent.mkdir(parents=True)
        cached.touch()
        run = space.run("toolkits", "get", "13.5", "--offline", env=no_network(space))
        self.assertEqual(run.code, 0, run)
        self.assertIn("is already in", run.err)

    def test_the_ci_preset_is_offline_too(self):
        run = TestSpace().run("toolkits", "get", "13.5", "--config", "ci")
        self.assertEqual(run.code, 3, run)
        self.assertIn("error[offline]", run.err)
        self.assertIn("dsbuild toolkits get 13.5", run.err)

    def test_run_sh_offline_installs_nothing_and_says_the_command(self):
        space = TestSpace()
        checkout = space.root / "checkout"
        shutil.copytree(REPOSITORY / "scripts", checkout / "scripts")
        for name in ("CMakeLists.txt", "CMakePresets.json", "cmake", "lib", "apps"):
            (checkout / name).symlink_to(REPOSITORY / name)
        tools = options_only(space.root / "bin", "bash", "cmake", "g++", "python3", "find", "sort", "dirname", "env")
        run = subprocess.run([checkout / "scripts" / "run.sh", "--offline", "--ops", "all"], text=True,
                             env={**space.environment, "PATH": str(tools)}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(run.returncode, 3, run)
        self.assertIn("ninja is missing", run.stderr)
        self.assertIn("scripts/get_toolkit.sh ninja", run.stderr)


def no_network(space):
    """A pip that reaches nothing, whatever the machine's settings are."""
    return {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "HOME": str(space.home)}


class Proxy(http.server.ThreadingHTTPServer):
    """Refuses every request, and remembers it."""

    def __init__(self):
        seen = self.seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def refuse(self):
                seen.append(f"{self.command} {self.path}")
                self.send_error(403)

            do_GET = do_CONNECT = do_HEAD = refuse

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class ProxyTest(CliTest):
    def setUp(self):
        if subprocess.run(["python3", "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env={"PATH": "/usr/local/bin:/usr/bin:/bin"}, check=False).returncode:
            self.skipTest("the system's python3 has no pip")
        self.proxy, self.space = Proxy(), TestSpace()
        self.addCleanup(self.proxy.server_close)
        self.addCleanup(self.proxy.shutdown)

    def get(self, index, **env):
        settings = {"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": index, "PIP_RETRIES": "0", "PIP_TIMEOUT": "5",
                    "PIP_NO_CACHE_DIR": "1", "PIP_TRUSTED_HOST": "packages.invalid", **env}
        run = self.space.run("toolkits", "get", "13.5", env=settings)
        self.assertEqual(run.code, 1, run)
        self.assertFalse(os.path.exists(self.space.root / "cache" / "dsbuild" / "toolkits" / "13.5"))
        return self.proxy.seen

    def test_http_proxy_sees_the_request(self):
        seen = self.get("http://packages.invalid/simple", http_proxy=self.proxy.url)
        self.assertEqual(set(seen), {"GET http://packages.invalid/simple/nvidia-cuda-nvcc/"})

    def test_https_proxy_is_asked_for_a_connection(self):
        self.assertEqual(set(self.get("https://packages.invalid/simple", https_proxy=self.proxy.url)),
                         {"CONNECT packages.invalid:443"})

    def test_pips_own_variable_counts_too(self):
        self.assertTrue(self.get("http://packages.invalid/simple", PIP_PROXY=self.proxy.url))

    def test_no_proxy_goes_past_it(self):
        seen = self.get("http://packages.invalid/simple", http_proxy=self.proxy.url, no_proxy="packages.invalid")
        self.assertEqual(seen, [])


if __name__ == "__main__":
    unittest.main()
