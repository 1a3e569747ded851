#!/usr/bin/env python3
"""docs/internals/points.md: each point has a test, and each test that it names is there."""

import re

import lint

PAGE = "docs/internals/points.md"
ROW = re.compile(r"^\|(.*)\|(.*)\|$")
TEST = re.compile(r"`([\w./-]+)::([^`]+)`")


def check(texts):
    problems = []
    for number, line in enumerate(texts[PAGE].splitlines(), 1):
        row = ROW.match(line)
        if not row or row[1].strip() in ("point", "---"):
            continue
        tests = TEST.findall(row[2])
        if not tests:
            problems.append(f"{PAGE}:{number}: no test shows: {row[1].strip()}")
        for file, test in tests:
            declared = f'TEST_CASE("{test}")' if file.endswith(".cpp") else f"def {test}("
            if file not in texts:
                problems.append(f"{PAGE}:{number}: there is no {file}")
            elif declared not in re.sub(r'\(\s+"', '("', texts[file]):
                problems.append(f"{PAGE}:{number}: {file} has no {declared}")
    return problems


HEAD = "| point | test |\n|---|---|\n"
GOOD = {
    PAGE: HEAD + "| It is told once | `tests/a_test.py::test_once`, `tests/b_test.cpp::it is told, once` |\n",
    "tests/a_test.py": "class A:\n    def test_once(self):\n        pass\n",
    "tests/b_test.cpp": 'TEST_CASE(\n    "it is told, once") {}\n',
}
BAD = [
    (PAGE, HEAD + "| It is told once | |\n", ":3: no test shows: It is told once"),
    (PAGE, HEAD + "| It is told once | `tests/c_test.py::test_once` |\n", ":3: there is no tests/c_test.py"),
    (PAGE, HEAD + "| It is told once | `tests/a_test.py::test_twice` |\n", ":3: tests/a_test.py has no def test_twice("),
    (PAGE, HEAD + "| It is told once | `tests/b_test.cpp::it is told` |\n",
     ':3: tests/b_test.cpp has no TEST_CASE("it is told")'),
]

if __name__ == "__main__":
    lint.main(check, lambda: lint.read_tree("docs", "tests"), GOOD, BAD)
