"""What the lint scripts share: finding files, reading C++ as text, and the way each is run.

A check is a function from {relative path: text} to a list of problems, "path:line: what is wrong".
`script.py` runs it on the checkout; `script.py --self-test` shows that it can fail.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CPP = (".h", ".cpp", ".cu", ".cuh")
MADE_PAGE = "docs/reference/messages.md"  # by scripts/make_messages.py, of what programs say
TOP_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
_TOKEN = re.compile(
    r'R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)"'  # raw string
    r"|//[^\n]*|/\*.*?\*/"  # comments
    r'|"(?:\\.|[^"\\\n])*"'  # string
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'",  # character; not the ' of 1'000
    re.S,
)


def read_tree(*folders, suffixes=None):
    """{path: text} of the files below these folders of the checkout; a file may be named too."""
    texts = {}
    for folder in folders:
        top = ROOT / folder
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            hidden = "__pycache__" in path.parts or path.is_symlink()
            if hidden or not path.is_file() or (suffixes and path.suffix not in suffixes):
                continue
            texts[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8", errors="replace")
    return texts


def is_page(path):
    """Of the documentation, as somebody wrote it."""
    return path in TOP_PAGES or path.startswith("docs/") and path.endswith(".md") and path != MADE_PAGE


def without_comments(text, strings_too=False):
    """The text with comments (and what stands in quotes) blanked; lines stay where they are."""

    def blank(match):
        token = match.group()
        if token.startswith("/"):
            return " " + "\n" * token.count("\n")
        return '""' + "\n" * token.count("\n") if strings_too else token

    return _TOKEN.sub(blank, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def self_test(check, good, bad):
    """`good`: a tree without a problem. `bad`: (path, text, words of the problem) to add to it."""
    failures = [f"a good sample is refused: {problem}" for problem in check(good)]
    for path, text, words in bad:
        problems = check({**good, path: text})
        if not any(problem.startswith(path) and words in problem for problem in problems):
            failures.append(f"a bad sample is not seen: {path}: {words} (found: {problems})")
    return failures


def main(check, read, good, bad):
    problems = self_test(check, good, bad) if sys.argv[1:] == ["--self-test"] else check(read())
    finish(problems)


def finish(problems):
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} problem{'s' if len(problems) > 1 else ''}")
    sys.exit(1 if problems else 0)
