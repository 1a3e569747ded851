#!/usr/bin/env python3
"""fast_tier.py BUILD SECONDS: runs the tests of the tier fast that are due, and that fit into these seconds.

A test that passed is due again when a file that it may read has changed (fast_inputs.py), or after a day. First come
tests that failed, lints, and tests named like an edited file; then those that ran longest ago, short ones first.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

from fast_inputs import Inputs, property_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
DAY = 86_400
SHARE = 0.75  # of the time that is planned with: tests take other samples each time, and longer on a busy machine


class Record:
    """How each test ended, in a file of the build folder: {name: {key, ended, seconds, passed}}."""

    def __init__(self, file):
        self.file = pathlib.Path(file)
        try:
            self.tests = json.loads(self.file.read_text())
        except (OSError, ValueError):
            self.tests = {}

    def of(self, name):
        return self.tests.get(name, {})

    def has_passed(self, name, key):
        last = self.of(name)
        return key is not None and last.get("passed") and last["key"] == key and time.time() - last["ended"] < DAY

    def put(self, name, **how):
        self.tests[name] = how

    def save(self):
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.tests, indent=1))
        new.rename(self.file)


def edited_words(root):
    """Words of the names of edited files, else of those of the last commit: lib/exec/fact_store.cpp -> exec, fact, store."""
    def git(*words):
        return subprocess.run(["git", "-C", str(root), *words], stdout=subprocess.PIPE, text=True, check=True).stdout
    paths = git("diff", "--name-only", "HEAD") + git("ls-files", "--others", "--exclude-standard")
    return set(re.findall(r"[a-z0-9]+", paths or git("show", "--name-only", "--format=")))


def order(test, record, words):
    """The first of the sorted tests is the first to run."""
    name, last = test["name"], record.of(test["name"])
    kind, _, subject = name.partition("_")
    is_near = kind == "lint" or bool(words & set(subject.split("_")))
    return last.get("passed") is not False, not is_near, last.get("ended", 0), last.get("seconds", 0)


def choose(due, record, words, core_seconds):
    """Those of the due tests that fit. What failed always runs, and so does all that has never run."""
    chosen, used = [], 0
    for test in sorted(due, key=lambda test: order(test, record, words)):
        last = record.of(test["name"])
        seconds = last.get("seconds", 0)
        if used + seconds <= core_seconds or not last.get("passed"):
            chosen.append(test)
            used += seconds
    return chosen


def ended_tests(file):
    """{name: (seconds, whether it passed)} from CTest's JUnit file. A skipped test is "notrun", and has not passed."""
    if not file.exists():
        return {}
    cases = xml.etree.ElementTree.parse(file).getroot().iter("testcase")
    return {case.get("name"): (float(case.get("time")), case.get("status") == "run") for case in cases}


def run(build, tests):
    """CTest's exit code, and how the tests ended."""
    results = build / "fast_tests.xml"
    results.unlink(missing_ok=True)
    names = "|".join(re.escape(test["name"]) for test in tests)
    code = subprocess.run(["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error", "-R", f"^({names})$",
                           "--output-junit", str(results)]).returncode
    return code, ended_tests(results)


def keep(record, tests, before, after, ended):
    """A test during which a file changed has passed for neither content."""
    now = time.time()
    for test in tests:
        name = test["name"]
        if name in ended:
            seconds, passed = ended[name]
            key = before[name] if before[name] == after.key(test) else None
            usual = (seconds + record.of(name).get("seconds", seconds)) / 2  # one busy moment changes it by half
            record.put(name, key=key, ended=now, seconds=usual, passed=passed)
    record.save()


def tests_of(build):
    shown = subprocess.run(["ctest", "--test-dir", str(build), "-L", "^fast$", "--show-only=json-v1"],
                           stdout=subprocess.PIPE, text=True, check=True).stdout
    # CTest adds the tests that make fixtures ready, to these and to each choice of them.
    return [test for test in json.loads(shown)["tests"] if "fast" in property_of(test, "LABELS")]


def summary(tests, due, chosen):
    left_out = sorted(test["name"] for test in due if test not in chosen)
    lines = [f"fast: ran {len(chosen)} of {len(tests)} tests; {len(tests) - len(due)} had passed with the same files"]
    if left_out:
        lines += [f"fast: {len(left_out)} left out for time: {' '.join(left_out)}",
                  "fast: the next `scripts/test.sh fast` begins with them; `scripts/test.sh` runs all tests"]
    return "\n".join(lines)


def main(root, build, seconds):
    began = time.monotonic()
    cores = int(os.environ.get("CTEST_PARALLEL_LEVEL") or 1)
    record, tests, inputs = Record(build / "fast_tests.json"), tests_of(build), Inputs(root, build)
    keys = {test["name"]: inputs.key(test) for test in tests}
    due = [test for test in tests if not record.has_passed(test["name"], keys[test["name"]])]
    spent = time.monotonic() - began
    chosen = choose(due, record, edited_words(root), SHARE * cores * max(0, seconds - 2 * spent))
    code = 0
    if chosen:
        code, ended = run(build, chosen)
        keep(record, chosen, keys, Inputs(root, build), ended)
    print(summary(tests, due, chosen), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(ROOT, pathlib.Path(sys.argv[1]).resolve(), float(sys.argv[2])))
