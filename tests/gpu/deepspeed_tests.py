#!/usr/bin/env python3
"""DeepSpeed's own tests of its ops, unmodified, on a GPU: with its own JIT, with dsbuild's hook, and with the hook once more.

deepspeed_tests.py run own|hook|again RESULT   runs them, and writes what became of each test to the file RESULT (JSON)
deepspeed_tests.py table OWN HOOK AGAIN        the table; exit code 1 where a test that passes with `own` does not with the hook,
                                               or the second start compiled something
Of `run`:
  DEEPSPEED=DIR  holds the package deepspeed, without any built op      TESTS=DIR  its tests (holds unit/ops)
  WORK=DIR       caches, kept from `hook` to `again`                      WHICH=PATHS   below unit/ops (default: adam quantizer
                 transformer/inference)
The package dsbuild with its program, torch, pytest and what DeepSpeed needs are to be importable (PYTHONPATH).

Compilers are counted by a script in the place of $CXX, which DeepSpeed's JIT and dsbuild both start for each library.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WHICH = "adam quantizer transformer/inference"

COUNTING = """#!/bin/sh
case " $* " in
  *" /dev/null "*) ;;  # a question
  *" -c "*|*" -shared "*) echo "$*" >>{log};;
esac
exec {compiler} "$@"
"""


def write_counting_compiler(work):
    log, compiler = work / "compiles", work / "bin" / "g++"
    compiler.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    compiler.write_text(COUNTING.format(log=log, compiler=os.environ.get("CXX", "/usr/bin/g++")))
    compiler.chmod(0o755)
    return log, compiler


def environment_of(which, work):
    packages = [os.environ["DEEPSPEED"], str(REPOSITORY / "python"), os.environ.get("PYTHONPATH", "")]
    if which != "own":  # as the .pth of the wheel dsbuild-deepspeed does
        site = work / "site"
        site.mkdir(parents=True, exist_ok=True)
        hook = REPOSITORY / "python" / "deepspeed_hook" / "dsbuild_deepspeed.pth"
        finder = REPOSITORY / "python" / "dsbuild" / "_deepspeed_finder.py"
        (site / "sitecustomize.py").write_text(hook.read_text())
        (site / "dsbuild_deepspeed_finder.py").write_text(finder.read_text())
        packages.insert(0, str(site))
    return {**os.environ, "PYTHONPATH": ":".join(packages), "XDG_CACHE_HOME": str(work / f"cache-{which.replace('again', 'hook')}"),
            "TORCH_EXTENSIONS_DIR": str(work / "torch_extensions") if which == "own" else "", "DS_ACCELERATOR": "cuda"}


def outcome_of(case):
    for name in ("failure", "error", "skipped"):
        if case.find(name) is not None:
            return name
    return "passed"


def run(which, result):
    work = pathlib.Path(os.environ["WORK"]).resolve()
    work.mkdir(parents=True, exist_ok=True)
    log, compiler = write_counting_compiler(work)
    tests = pathlib.Path(os.environ["TESTS"]).resolve()
    env = {**environment_of(which, work), "CXX": str(compiler)}
    if not env["TORCH_EXTENSIONS_DIR"]:
        del env["TORCH_EXTENSIONS_DIR"]
    report = work / f"{which}.xml"
    begin = time.monotonic()
    code = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", f"--junitxml={report}", "--tb=line",
                           *(f"unit/ops/{name}" for name in os.environ.get("WHICH", WHICH).split())],
                          cwd=tests, env=env, check=False).returncode
    seconds = time.monotonic() - begin
    cases = {}
    if report.exists():
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            cases[f"{case.get('classname')}::{case.get('name')}"] = outcome_of(case)
    said = {"code": code, "seconds": seconds, "compiles": len(log.read_text().splitlines()), "cases": cases}
    pathlib.Path(result).write_text(json.dumps(said))
    print(which, json.dumps({**said, "cases": collections.Counter(cases.values())}), flush=True)
    return 0 if cases else 1


def table(own, hook, again):
    runs = {name: json.loads(pathlib.Path(file).read_text()) for name, file in (("own", own), ("hook", hook), ("again", again))}
    files = sorted({case.partition("::")[0] for one in runs.values() for case in one["cases"]})
    print("| DeepSpeed's tests | its own JIT | dsbuild's hook | the hook, second start |")
    print("|---|---|---|---|")
    for file in files:
        rows = [collections.Counter(outcome for case, outcome in one["cases"].items() if case.startswith(file + "::"))
                for one in runs.values()]
        print(f"| {file.removeprefix('unit.ops.')} | " + " | ".join(
            ", ".join(f"{number} {outcome}" for outcome, number in sorted(row.items())) or "–" for row in rows) + " |")
    print("| runs of the C++ compiler | " + " | ".join(str(one["compiles"]) for one in runs.values()) + " |")
    print("| seconds, all of it | " + " | ".join(f"{one['seconds']:.0f}" for one in runs.values()) + " |")
    worse = [case for case, outcome in runs["own"]["cases"].items() if outcome == "passed" and
             {runs["hook"]["cases"].get(case), runs["again"]["cases"].get(case)} != {"passed"}]
    if worse:
        print("worse than with its own JIT: " + ", ".join(worse[:20]))
    return 1 if worse or runs["again"]["compiles"] or not runs["own"]["cases"] else 0


def main():
    words = sys.argv[1:]
    if len(words) == 3 and words[0] == "run" and words[1] in ("own", "hook", "again"):
        return run(*words[1:])
    if len(words) == 4 and words[0] == "table":
        return table(*words[1:])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
