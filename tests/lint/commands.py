#!/usr/bin/env python3
"""Each block of commands on a page of the documentation says on the line before it who types it, or why nobody does:

    <!-- typed by tests/cli/first_op_test.py -->
    <!-- not typed: needs a GPU -->
    <!-- prints -->             what the commands before it print

The script named is there and names the page, or is READS_ALL_PAGES; it finds blocks that begin their line. docs/reference/messages.md is made of what tests typed."""

import re

import lint

READS_ALL_PAGES = "tests/cli/doc_commands_test.py"
FENCE = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *``` *$", re.M | re.S)
INDENTED = re.compile(r"(?:^    [^\n]*\n)+", re.M)
SHELL = ("sh", "bash", "console")
NO_SHELL = ("c", "cpp", "cuda", "json", "python", "toml", "yaml")
PROGRAMS = r"dsbuild|pip|python3?|cmake|ninja|docker|podman|git|apt-get|curl|openssl|oras|export|cp|c\+\+|auditwheel|unzip"
COMMAND = re.compile(rf"^ *(?:\$ |(?:\w+=\S+ +)*(?:(?:{PROGRAMS})(?= )|(?:\./|\.venv/bin/|scripts/|tests/)[\w./-]+(?= |$)(?![^\n]*:)))", re.M)
MARK = re.compile(r"^ *<!-- (?:typed by (\S+)|not typed: \S.*|prints) -->$")


def mark_before(text, position):
    """The match of the line before, or None."""
    return MARK.match(text[:position].rstrip("\n").rpartition("\n")[2])


def check_mark(mark, is_indented, page, texts):
    if not mark:
        return "who types these commands? <!-- typed by TEST --> or <!-- not typed: WHY --> on the line before"
    script = mark.group(1)
    if script and script not in texts:
        return f"there is no {script}"
    if script and script != READS_ALL_PAGES and page not in texts[script]:
        return f"{script} does not name {page}"
    if script and is_indented:
        return f"{script} finds only blocks that begin their line"
    return ""


def check_page(page, text, texts):
    for fence in FENCE.finditer(text):
        language, content = fence.groups()
        if language in SHELL or language not in NO_SHELL and COMMAND.search(content):
            yield fence.start(), check_mark(mark_before(text, fence.start()), fence.group().startswith(" "), page, texts)
    blanked = FENCE.sub(lambda fence: re.sub(r"[^\n]", "", fence.group()), text)
    for block in INDENTED.finditer(blanked):
        if COMMAND.search(block.group()) and blanked[:block.start()].endswith("\n\n"):
            yield text.find(block.group()), "commands stand in a block of ```sh, with a mark before it"


def check(texts):
    problems = []
    for page in filter(lint.is_page, texts):
        found = check_page(page, texts[page], texts)
        problems += [f"{page}:{lint.line_of(texts[page], position)}: {problem}" for position, problem in found if problem]
    return problems


GOOD = {
    "README.md": "<!-- typed by tests/cli/a_test.py -->\n```sh\ndsbuild plan\n```\n",
    "docs/a.md": "<!-- not typed: needs a GPU -->\n```\ndsbuild\n```\n\n```yaml\npip : 1\n```\n\n```\nlib/a   that\n```\n\n    a = 1\n"
                 f"- a list\n\n  <!-- not typed: needs root -->\n  ```console\n  $ dsbuild\n  ```\n\n<!-- typed by {READS_ALL_PAGES} -->\n```\n$ dsbuild\n```\n",
    lint.MADE_PAGE: "```\n$ dsbuild\n```\n",
    "tests/cli/a_test.py": 'PAGE = "README.md"\n',
    READS_ALL_PAGES: "",
}
BAD = [
    ("docs/b.md", "```sh\nmake\n```\n", ":1: who types"),
    ("docs/b.md", "\n```\nA=1 dsbuild --ops all\n```\n", ":2: who types"),
    ("docs/b.md", "a\n\n```text\nresult\nscripts/run.sh\n```\n", ":3: who types"),
    ("docs/b.md", "<!-- not typed: a -->\n\ntext\n```\n$ ls\n```\n", ":4: who types"),
    ("docs/b.md", "<!-- not typed: -->\n```\npip install a\n```\n", ":2: who types"),
    ("docs/b.md", "<!-- typed by tests/b.py -->\n```\npip install a\n```\n", ":2: there is no tests/b.py"),
    ("docs/b.md", "<!-- typed by tests/cli/a_test.py -->\n```\npip install a\n```\n", ":2: tests/cli/a_test.py does not name docs/b.md"),
    ("docs/b.md", f"- a\n\n  <!-- typed by {READS_ALL_PAGES} -->\n  ```sh\n  dsbuild plan\n  ```\n", ":4: tests/cli/doc_commands_test.py finds only"),
    ("docs/b.md", "So:\n\n    dsbuild plan\n", ":3: commands stand in a block"),
    ("CONTRIBUTING.md", "```\n./scripts/test.sh\n```\n", ":1: who types"),
]

if __name__ == "__main__":
    lint.main(check, lambda: lint.read_tree("docs", "tests", "scripts", *lint.TOP_PAGES, suffixes=(".md", ".py", ".sh")), GOOD, BAD)
