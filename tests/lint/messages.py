#!/usr/bin/env python3
"""docs/reference/messages.md is what scripts/make_messages.py makes, and a golden file shows every message."""

import sys

import lint

sys.path.insert(0, str(lint.ROOT / "scripts"))

import make_messages  # noqa: E402

TABLE = '{"no_gpu", "There is no "\n "GPU."},\n'
SOURCES = {"lib/a.cpp": 'fail(Exit::unmet, "no_gpu", "x");'}
GOLDEN = {"golden/a.txt": "$ dsbuild\nerror[no_gpu]: --arch: none\n  fix: buy one\nexit code 3\n"}
TESTS = {"tests/a.cpp": 'CHECK(error.code == "no_gpu");'}


def self_test():
    page, problems = make_messages.make(TABLE, SOURCES, GOLDEN, {})
    if problems or "There is no GPU.\n\n```\n$ dsbuild\nerror[no_gpu]: --arch: none\n  fix: buy one\nexit" not in page:
        return [f"a good table: {problems}\n{page}"]
    wrong = [("nothing raises it", TABLE, {}, GOLDEN, TESTS), ("no golden file shows it", TABLE, SOURCES, {}, TESTS),
             ("no test provokes it", '{"internal", "A fault."},', SOURCES, {}, {}),
             ("alphabetical", TABLE + '{"no_cpu", "No."}', SOURCES, GOLDEN, TESTS)]
    return [f"not seen: {words}" for words, *tree in wrong
            if not any(words in problem for problem in make_messages.make(*tree)[1])]


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        lint.finish(self_test())
    sys.argv[1:] = ["--check"]
    make_messages.main()
