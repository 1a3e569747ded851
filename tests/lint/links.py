#!/usr/bin/env python3
"""Links between pages lead to files and headings that are there; docs/README.md lists every page of docs/ once, but those
that moved: they say where to."""

import posixpath
import re

import lint

INDEX = "docs/README.md"
MOVED = "Moved to ["
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)


def anchors(text):
    """As GitHub makes them of headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        while name in found:
            name += "-1"
        found.add(name)
    return found


def links(page, text):
    """(line, path of the target in the checkout, anchor)"""
    blanked = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code.group()), text)
    for match in LINK.finditer(blanked):
        target, anchor = match.groups()
        if "://" not in target:
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) if target else page
            yield lint.line_of(text, match.start()), path, anchor


def check(texts):
    problems = []
    for page, text in texts.items():
        for line, path, anchor in links(page, text) if page.endswith(".md") else ():
            if path not in texts and not any(file.startswith(path + "/") for file in texts):
                problems.append(f"{page}:{line}: there is no {path}")
            elif anchor and path.endswith(".md") and anchor not in anchors(texts[path]):
                problems.append(f"{page}:{line}: {path} has no heading #{anchor}")
    listed = [path for _, path, anchor in links(INDEX, texts[INDEX]) if path.startswith("docs/")]
    pages = [path for path in texts if re.fullmatch(r"docs/.*\.md", path) and path != INDEX and not texts[path].startswith(MOVED)]
    problems += [f"{INDEX}:1: {page} is listed {listed.count(page)} times" for page in pages if listed.count(page) != 1]
    return problems


GOOD = {
    INDEX: "- [a](guides/a.md): a\n\nSee [all](../LICENSE).\n",
    "docs/old.md": "Moved to [guides/a.md](guides/a.md).\n",
    "docs/guides/a.md": "# A page: of `a_b`\n\n## One\n\n## One\n\n[1](#one-1) [2](#a-page-of-a_b) [3](../../lib/a.h) [4](../../lib)\n"
                        "`[5](x)` [6](https://a.example/b#c)\n```\n# none\n[7](y)\n```\n",
    "lib/a.h": "",
    "LICENSE": "",
}
BAD = [
    ("docs/guides/a.md", "\n[1](b.md)\n", ":2: there is no docs/guides/b.md"),
    ("docs/guides/a.md", "[1](../README.md#none)\n", ":1: docs/README.md has no heading #none"),
    ("docs/guides/a.md", "# A\n\n[1](#b)\n", ":3: docs/guides/a.md has no heading #b"),
    ("docs/guides/a.md", "```\n# none\n```\n[1](#none)\n", ":4: docs/guides/a.md has no heading #none"),
    (INDEX, "[a](guides/a.md) [a](guides/a.md#one)\n", "docs/guides/a.md is listed 2 times"),
    (INDEX, "none\n", "docs/guides/a.md is listed 0 times"),
]


def read():
    files = [path.name for path in lint.ROOT.iterdir() if path.is_file() and path.name != ".git"]
    folders = ("docs", "lib", "apps", "tests", "scripts", "examples", "configs", "ops", "python", "schemas", ".github")
    texts = {path: text if path.endswith(".md") else "" for path, text in lint.read_tree(*files, *folders).items()}
    return texts


if __name__ == "__main__":
    lint.main(check, read, GOOD, BAD)
