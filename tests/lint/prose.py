#!/usr/bin/env python3
"""Words over which readers stumble get fewer, file by file: those of docs, of help and messages (what stands in quotes in lib/ and
apps/), and of the comments of headers.

prose_counts.txt has how many a file may have, "COUNT PATH" in order of paths; a file that is not in it may have none. More are
an error, fewer too, so that the next commit cannot bring them back: `prose.py --update` lowers the counts. It never raises one; a
new file may have what other files lost (a move)."""

import re
import sys

import lint

COUNTS = "tests/lint/prose_counts.txt"
SHOWN = 40  # letters of a finding
BREAK = "\x00"  # stands for what is no prose: a sentence does not go on after it

_SPACE = r"[ \n]+"
_START = rf"(?<=[.!?;:|{BREAK}])[ \n]*|\A|(?<=\n)[ ]*\n[ ]*|(?:\A|(?<=\n))[ ]*[-*]{_SPACE}"  # of a sentence
_CLAUSE = rf"[^.!?;:|{BREAK}]*?{_SPACE}(?:is|are|was|were|has|have|had)\b"
# (what is counted, what to write in its place)
RULES = [
    (re.compile(r"\bbehind\b", re.I), "after, past, or whose it is"),
    (re.compile(r"\bbeside\b", re.I), "next to, with, at the same time as, or as well as"),
    (re.compile(r"\banew\b", re.I), "again"),
    (re.compile(rf"\b(?:is|are|was|were|be|being){_SPACE}another\b", re.I), "is different, has changed, or is a second one"),
    (re.compile(rf"(?:{_START})\**(?P<word>What\b{_CLAUSE}|(?<={BREAK} )what\b{_CLAUSE})(?![^.!?;:|{BREAK}]*\?)"),
     "a noun as the subject: \"Ninja runs an edge again after …\", not \"What is due …\""),
]


def keep_lines(text):
    return re.sub(r"[^\n]", " ", text)


def cut(text):
    """As long as the text, with no words: no sentence goes on over it."""
    head, last, tail = text.rpartition(text.rstrip("\n")[-1:]) if text.strip("\n") else (text, "", "")
    return keep_lines(head) + (BREAK if last else "") + tail


def prose_of_page(text):
    """Without code; a heading is no sentence, but its words count."""
    text = re.sub(r"^```.*?^```", lambda code: cut(code.group()), text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", lambda code: cut(code.group()), text, flags=re.M)
    text = re.sub(r"`[^`\n]*`", lambda code: "x" * len(code.group()), text)
    return re.sub(r"^#+ ", lambda mark: "x" * len(mark.group()), text, flags=re.M)


def is_literal(token, line_before):
    return token.startswith(('"', 'R"')) and not line_before.lstrip().startswith("#include")


def inside(literal):
    """What stands in quotes; a line that it breaks is a sentence's end."""
    quote = literal.index('"') + 1
    text = re.sub(r"\\n", f"{BREAK} ", literal[quote:-1])
    return " " * quote + text + " "


def prose_of_source(text, comments):
    """What stands in quotes, those that follow each other as one text; with the comments where wanted."""
    parts, end = [], 0
    for token in lint._TOKEN.finditer(text):  # pylint: disable=protected-access
        between = text[end:token.start()]
        parts.append(cut(between) if between.strip() else between)
        line_before = text[text.rfind("\n", 0, token.start()) + 1:token.start()]
        if is_literal(token.group(), line_before):
            parts.append(inside(token.group()))
        elif token.group().startswith("//") and comments:
            parts.append("  " + token.group()[2:])
        else:
            parts.append(cut(token.group()))
        end = token.end()
    return "".join(parts) + cut(text[end:])


def prose_of(path, text):
    if path.endswith(".md"):
        return prose_of_page(text)
    return prose_of_source(text, comments=path.startswith("lib/") and path.endswith(".h"))


def shortened(words):
    words = " ".join(words.split())
    return words if len(words) <= SHOWN else words[:SHOWN // 2] + " … " + words[-SHOWN // 2:]


def findings(path, text):
    """(line, what is there, what to write in its place), in order."""
    prose = prose_of(path, text)
    found = []
    for pattern, instead in RULES:
        for match in pattern.finditer(prose):
            word = "word" if "word" in match.groupdict() else 0
            found.append((lint.line_of(prose, match.start(word)), shortened(match.group(word)), instead))
    return sorted(found)


def parse_counts(text):
    pairs = (line.split(" ", 1) for line in text.splitlines())
    return {path: int(count) for count, path in pairs}


def render_counts(counts):
    return "".join(f"{counts[path]} {path}\n" for path in sorted(counts) if counts[path])


def is_read(path):
    return path.endswith((".h", ".cpp")) or lint.is_page(path)


def check(texts):
    counts = parse_counts(texts[COUNTS])
    problems = []
    if texts[COUNTS] != render_counts(counts):
        problems.append(f"{COUNTS}:1: not in order of paths, or with a 0: run tests/lint/prose.py --update")
    found = {path: findings(path, text) for path, text in texts.items() if is_read(path)}
    for path in sorted({*found, *counts}):
        here, allowed = found.get(path, []), counts.get(path, 0)
        if len(here) > allowed:
            problems.append(f"{path}:1: {len(here)} stumbling words, of which {COUNTS} allows {allowed}:")
            problems += [f"{path}:{line}: \"{word}\": write {instead}" for line, word, instead in here]
        elif len(here) < allowed:
            problems.append(f"{path}:1: {len(here)} stumbling words and {allowed} in {COUNTS}: run tests/lint/prose.py --update")
    return problems


def lowered(counts, found):
    """New counts and what is wrong: no file may have more than before, and new files together no more than others lost."""
    problems = [f"{path}: {found[path]} stumbling words, {counts[path]} before: it is not raised"
                for path in sorted(found) if path in counts and found[path] > counts[path]]
    new = [path for path in sorted(found) if path not in counts and found[path]]
    lost = sum(max(0, counts[path] - found.get(path, 0)) for path in counts)
    if sum(found[path] for path in new) > lost:
        problems += [f"{path}: {found[path]} stumbling words in a file that had none" for path in new]
        new = []
    kept = {path: min(counts[path], found.get(path, 0)) for path in counts}
    return {**kept, **{path: found[path] for path in new}}, problems


def update():
    texts = read()
    found = {path: len(findings(path, text)) for path, text in texts.items() if is_read(path)}
    counts, problems = lowered(parse_counts(texts[COUNTS]), found)
    (lint.ROOT / COUNTS).write_text(render_counts(counts), encoding="utf-8")
    lint.finish(problems)


GOOD = {
    COUNTS: "1 docs/a.md\n1 lib/a/a.cpp\n2 lib/a/a.h\n",
    "docs/a.md": "One beside the other. Whatever is there is read.\n\n```\nbehind\n```\n\n    anew\n\n`a beside b`; what is there is read.\n"
                 "Which files? What is due?\n\n## What is read\n",
    "docs/recipes/a.sh": "behind\n",
    lint.MADE_PAGE: "behind\n",
    "README.md": "Read what is there. He asks what\nis due. It has another one besides.\n",
    "lib/a/a.cpp": '// beside\n#include "behind.h"\nint behind = 0; const char* a = "it lies behind";\n',
    "lib/a/a.h": "// One beside\n// the other. What is due\n// has no record.\nint beside;\n",
    "apps/a.h": "// beside\n",
}
BAD = [
    ("docs/b.md", "\nIt lies\nbehind it.\n", ":3: \"behind\": write after"),
    ("SECURITY.md", "It lies behind it.\n", ":1: \"behind\": write after"),
    ("README.md", "Built anew.\n", "1: \"anew\": write again"),
    ("docs/a.md", "beside\n\nbeside\n", ":3: \"beside\": write next to"),
    ("docs/a.md", "beside\n\nbeside\n", ":1: 2 stumbling words, of which tests/lint/prose_counts.txt allows 1:"),
    ("docs/a.md", "none\n", "run tests/lint/prose.py --update"),
    ("docs/b.md", "The file is\nanother one.\n", ":1: \"is another\": write is different"),
    ("docs/b.md", "It ends. What is due loses\nits record.\n", ":1: \"What is\": write a noun"),
    ("docs/b.md", "- What the linker\n  read is written.\n", ":1: \"What the linker read is\""),
    ("docs/b.md", "| a | What a build has made has a digest |\n", "\"What a build has\""),
    ("docs/b.md", "**What is there** is read.\n", "\"What is\""),
    ("docs/b.md", "a\n\nWhat was read is read again.\n", ":3: \"What was\""),
    ("lib/a/b.cpp", 'auto a = fail("not there " + name, "what is in the folder has "\n "no name");\n', ":1: \"what is\""),
    ("lib/a/b.cpp", 'auto a = "the file is "\n  "another";\n', "\"is another\""),
    ("apps/b.cpp", 'auto a = R"(one\nbeside)";\n', ":2: \"beside\""),
    ("lib/a/b.h", "// Shown\n// anew.\n", ":2: \"anew\""),
    (COUNTS, "2 lib/a/a.h\n1 docs/a.md\n1 lib/a/a.cpp\n", "not in order"),
]
# (counts, what is found, counts after, words of what is wrong)
UPDATES = [
    ({"a": 2, "b": 1}, {"a": 1, "b": 0}, "1 a\n", ""),
    ({"a": 2}, {"a": 3}, "2 a\n", "a: 3 stumbling words, 2 before"),
    ({"a": 2}, {"b": 2}, "2 b\n", ""),
    ({"a": 2}, {"a": 1, "b": 1}, "1 a\n1 b\n", ""),
    ({"a": 2}, {"a": 1, "b": 2}, "1 a\n", "b: 2 stumbling words in a file that had none"),
]


def self_test():
    failures = lint.self_test(check, GOOD, BAD)
    gone = check({**GOOD, COUNTS: GOOD[COUNTS] + "3 lib/gone.h\n"})
    if not any(problem.startswith("lib/gone.h:1: 0 stumbling words and 3") for problem in gone):
        failures.append(f"a file that is gone is not seen: {gone}")
    for counts, found, after, words in UPDATES:
        new, problems = lowered(counts, found)
        if render_counts(new) != after or bool(problems) != bool(words) or not any(words in problem for problem in problems or [words]):
            failures.append(f"--update of {counts} where {found} are found gives {new}, {problems}")
    return failures


def read():
    return lint.read_tree("lib", "apps", "docs", *lint.TOP_PAGES, COUNTS, suffixes=(".h", ".cpp", ".md", ".txt"))


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    lint.finish(self_test() if sys.argv[1:] == ["--self-test"] else check(read()))
