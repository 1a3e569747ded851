#!/usr/bin/env python3
"""make_messages.py [--check]: docs/reference/messages.md from the table of codes (lib/base/message_code.h), the places that raise
them, and the golden files of tests that provoke them (tests/golden/). `dsbuild help CODE` shows what the page says.

--check writes nothing; it says what is wrong: the page is not up to date, a code that nothing raises, a code that no
golden file shows.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "messages.md"
TABLE = "lib/base/message_code.h"
HEAD = """# Messages

Every error and warning of dsbuild begins with its code: `error[unknown_arch]: …`; with `--json` it is the field `code`.
Each says where, what and how to fix it. `dsbuild help unknown_arch` shows its section of this page, which is made by
`scripts/make_messages.py`; the examples are what a test really saw (`<TMP>` is that test's folder). Exit codes:
[cli.md](cli.md).
"""


# Codes that no golden file shows yet, so that `dsbuild help` has no example of them.
WITHOUT_EXAMPLE = {"bad_expected", "bad_name", "cancelled", "cannot_exchange", "cannot_open", "internal", "no_program",
                   "not_as_nvcc", "not_cached", "old_bundle_left", "out_of_time", "program_failed", "published_in_place",
                   "remote_untrusted"}


def read(*patterns):
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
            for pattern in patterns for path in sorted(ROOT.glob(pattern)) if path.is_file()}


def meanings(table):
    """{code: meaning}; a meaning may stand in several adjacent literals."""
    rows = re.findall(r'\{\s*"([a-z_]+)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\}', table)
    return {code: "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)) for code, text in rows}


def raised_in(code, sources):
    return [path for path, text in sources.items() if path != TABLE and f'"{code}"' in text]


def message_in(text, code):
    """The message with this code in what a terminal showed: its first line and the lines that belong to it."""
    match = re.search(rf"^(?:error|warning)\[{code}\]: .*\n(?:  +\S.*\n)*", text, re.M)
    return match.group() if match else None


def examples(code, golden):
    """[(command, message, exit code)], each wording once."""
    found = {}
    for text in golden.values():
        message = message_in(text, code)
        if message:
            ended = re.search(r"^exit code (\d+)$", text, re.M)
            found.setdefault(message, (text.splitlines()[0], message, ended.group(1) if ended else ""))
    return sorted(found.values(), key=lambda example: example[1])


def provoked_in(code, tests):
    """Tests that look for the code itself."""
    return [path for path, text in tests.items() if re.search(rf'["\[{{ ]{code}["\]: ]', text)]


def section(code, meaning, golden, tests):
    lines = [f"## {code}", "", meaning, ""]
    for command, message, exit_code in examples(code, golden):
        lines += ["```", command, message.rstrip("\n"), f"exit code {exit_code}", "```", ""]
    if not examples(code, golden):
        lines += ["Provoked in " + ", ".join(f"`{path}`" for path in provoked_in(code, tests)) + ".", ""]
    return "\n".join(lines)


def problems_of(codes, sources, golden, tests):
    for code in codes:
        if not raised_in(code, sources):
            yield f"{TABLE}: {code}: nothing raises it"
        if code not in WITHOUT_EXAMPLE and not examples(code, golden):
            yield f"{TABLE}: {code}: no golden file shows it"
        if code in WITHOUT_EXAMPLE and not provoked_in(code, tests):
            yield f"{TABLE}: {code}: no test provokes it"
    if list(codes) != sorted(codes):
        yield f"{TABLE}: the codes are not in alphabetical order"


def make(table, sources, golden, tests):
    """The page, and what is wrong with the table."""
    codes = meanings(table)
    page = HEAD + "\n" + "\n".join(section(code, meaning, golden, tests) for code, meaning in codes.items())
    return page, list(problems_of(codes, sources, golden, tests))


def read_all():
    sources = read("lib/**/*.cpp", "lib/**/*.h", "apps/**/*.cpp")
    tests = read("tests/unit/**/*.cpp", "tests/cli/*.py", "tests/faults/*.py", "tests/packaging/*")
    return sources[TABLE], sources, read("tests/golden/**/*.txt"), tests


def main():
    page, problems = make(*read_all())
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page:
            problems.append("docs/reference/messages.md is not up to date: run scripts/make_messages.py")
    else:
        PAGE.write_text(page, encoding="utf-8")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
