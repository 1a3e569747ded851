#!/usr/bin/env python3
"""clang-tidy with .clang-tidy over lib/ and apps/: `tidy.py BUILD_DIR [CHECKS]`, CHECKS beside those of the file
("clang-analyzer-*"). DSBUILD_CLANG_TIDY names the program. Exit 77 (skipped) without it. BUILD_DIR is this script's own: it
configures it, with each file by itself and no precompiled header, and builds nothing.

A file that passed is not looked at again until it, its command, a header or the checks change
(BUILD_DIR/tidy-passed.json).
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import lint

PROGRAM = os.environ.get("DSBUILD_CLANG_TIDY", "clang-tidy")
PARALLEL = 2


def tidy(path, build_dir, checks=""):
    """"" or clang-tidy's text."""
    config = f"--config-file={lint.ROOT / '.clang-tidy'}"
    run = subprocess.run([PROGRAM, "--quiet", config, f"--checks={checks}", "-p", str(build_dir), str(path)], capture_output=True,
                         text=True)
    chatter = re.compile(r"\d+ warnings|Error while processing|Suppressed |Found compiler error|^$")
    lines = (run.stdout + run.stderr).splitlines()
    return "" if run.returncode == 0 else "".join(f"{line}\n" for line in lines if not chatter.search(line))


def keys(commands, checks):
    """{source: digest of all that decides clang-tidy's answer}"""
    shared = hashlib.sha256((lint.ROOT / ".clang-tidy").read_bytes() + checks.encode())
    for path, text in lint.read_tree("lib", "apps", suffixes=(".h",)).items():
        shared.update(f"{path}\n{text}\n".encode())
    answer = {}
    for path, command in commands.items():
        digest = shared.copy()
        digest.update(command.encode() + pathlib.Path(path).read_bytes())
        answer[path] = digest.hexdigest()
    return answer


def configure(build_dir):
    subprocess.run(["cmake", "-S", lint.ROOT, "-B", build_dir, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DDSBUILD_UNITY=OFF",
                    "-DDSBUILD_TESTS=OFF", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"], check=True, stdout=subprocess.DEVNULL)


def read_commands(build_dir):
    wanted = (f"{lint.ROOT}/lib/", f"{lint.ROOT}/apps/")
    entries = json.loads((build_dir / "compile_commands.json").read_text())
    return {entry["file"]: entry["command"] for entry in entries if entry["file"].startswith(wanted)}


def left_out(commands):
    """Sources that nobody would look at."""
    sources = [lint.ROOT / path for path in lint.read_tree("lib", "apps", suffixes=(".cpp",))]
    return [f"{path}: it is not in compile_commands.json" for path in map(str, sources) if path not in commands]


def check(build_dir, checks):
    configure(build_dir)
    missing = left_out(read_commands(build_dir))
    if missing:
        return missing
    memory = build_dir / "tidy-passed.json"
    passed = json.loads(memory.read_text()) if memory.exists() else {}
    now = keys(read_commands(build_dir), checks)
    waiting = [path for path, key in now.items() if passed.get(path) != key]
    print(f"{len(now)} files, {len(now) - len(waiting)} of them unchanged since they passed", flush=True)
    good = {path: key for path, key in now.items() if path not in waiting}
    texts = {}
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        for path, text in zip(waiting, pool.map(lambda path: tidy(path, build_dir, checks), waiting)):
            texts[path] = text
            if not text:
                good[path] = now[path]
            memory.write_text(json.dumps(good, indent=1, sort_keys=True))  # each time: it may be cut short
    problems = []
    for text in texts.values():
        print(text, end="")
        problems += [line for line in text.splitlines() if re.search(r": (?:error|warning):", line)]
    return sorted(set(problems)) or [f"{path}: it failed" for path, text in texts.items() if text]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        samples = {"good.cpp": "int f(int x) { return x; }\n",
                   "bad.cpp": "#include <string>\n#include <utility>\nstd::string f(std::string x) {\n"
                              "  std::string y = std::move(x);\n  return x + y;\n}\n"}
        for name, text in samples.items():
            pathlib.Path(folder, name).write_text(text)
        commands = [{"directory": folder, "file": name, "command": f"c++ -std=c++20 -c {name}"}
                    for name in samples]
        pathlib.Path(folder, "compile_commands.json").write_text(json.dumps(commands))
        failures = []
        if tidy(pathlib.Path(folder, "good.cpp"), folder):
            failures.append("a good sample is refused")
        if "bugprone-use-after-move" not in tidy(pathlib.Path(folder, "bad.cpp"), folder):
            failures.append("a bad sample is not seen")
    return failures


if __name__ == "__main__":
    if not shutil.which(PROGRAM):
        print(f"skipped: no {PROGRAM}")
        sys.exit(77)
    if sys.argv[1:] == ["--self-test"]:
        lint.finish(self_test())
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: tidy.py BUILD_DIR [CHECKS] | --self-test")
    lint.finish(check(pathlib.Path(sys.argv[1]).resolve(), "".join(sys.argv[2:])))
