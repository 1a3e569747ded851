#!/usr/bin/env python3
"""Code that pages of the documentation cite in backticks is there:

    `lib/plan/plan.h`                  files and folders of the checkout
    `plan_build` in `lib/plan/plan.h`  a name that the file has
    `ActionCache::lookup`              a type of lib/ or apps/, and a member next to it
    `ActionCache`, `plan_build`        on pages of docs/internals, a word of some source
"""

import re

import lint

FOLDERS = ("apps", "cmake", "completions", "configs", "docs", "examples", "kernels", "lib", "ops", "packaging", "python", "schemas",
           "scripts", "templates", "tests")
PATH = rf"(?:{'|'.join(FOLDERS)})/[\w./-]+"
FILE = re.compile(rf"`({PATH})`")
NAMED = re.compile(rf"`(\w+)`\s+in\s+`({PATH})`")
MEMBER = re.compile(r"`([A-Z]\w+)::(\w+)(?:\(\))?`")
NAME = re.compile(r"`((?:[A-Z][a-z0-9]+){2,}|[a-z]+(?:_[a-z0-9]+)+)(?:\(\))?`")


def is_cpp(path):
    return path.startswith(("apps/", "lib/")) and path.endswith((".h", ".cpp"))


class Code:
    def __init__(self, texts):
        self.texts = texts
        self.files = {path: set(re.findall(r"\w+", text)) for path, text in texts.items() if not path.endswith(".md")}
        self.words = set().union(*(self.files.values()))

    def has_file(self, path):
        name = path.rstrip("/.")
        return any(file == name or file.startswith(name + "/") for file in self.texts)

    def has_name(self, name, path):
        return path not in self.files or name in self.files[path]

    def has_member(self, type_name, member):
        declared = re.compile(rf"\b(?:class|struct|enum|namespace|using) {type_name}\b")
        return any(type_name in words and member in words and declared.search(self.texts[path])
                   for path, words in self.files.items() if is_cpp(path))


def problems_of(page, text, code):
    """(position, what is wrong)"""
    for match in FILE.finditer(text):
        if not code.has_file(match.group(1)):
            yield match.start(), f"there is no {match.group(1)}"
    for match in NAMED.finditer(text):
        if not code.has_name(*match.groups()):
            yield match.start(), f"{match.group(2)} has no {match.group(1)}"
    for match in MEMBER.finditer(text):
        if not code.has_member(*match.groups()):
            yield match.start(), f"there is no {match.group(1)}::{match.group(2)}"
    for match in NAME.finditer(text) if page.startswith("docs/internals/") else ():
        if match.group(1) not in code.words:
            yield match.start(), f"there is no {match.group(1)}"


def check(texts):
    code = Code(texts)
    pages = filter(lint.is_page, texts)
    return [f"{page}:{lint.line_of(texts[page], position)}: {problem}"
            for page in pages for position, problem in sorted(problems_of(page, texts[page], code))]


GOOD = {
    "docs/internals/tour.md": "It is made: `make` in\n   `lib/a/a.cpp`. `lib/a`, `lib/a/`, `lib/a/*.h` and `docs/internals/tour.md`. `ActionCache::find()`,\n"
                              "`Action::lost` and `std::none`; an `ActionCache` for `Ninja`.\n",
    "docs/guides/a.md": "A `JavaScript`; `lib/a/a.cpp`\n",
    "lib/a/a.h": "class ActionCache {\n  int find();\n};\nenum Action { lost };\n",
    "lib/a/a.cpp": "int make() { return 1; }\n",
    lint.MADE_PAGE: "`lib/none`\n",
}
BAD = [
    ("docs/b.md", "It is made: `make` in `lib/a/b.cpp`.\n", ":1: there is no lib/a/b.cpp"),
    ("docs/b.md", "\nIt is taken: `take` in `lib/a/a.cpp`.\n", ":2: lib/a/a.cpp has no take"),
    ("README.md", "`apps/b.h`\n", ":1: there is no apps/b.h"),
    ("docs/b.md", "`ActionCache::none`\n", ":1: there is no ActionCache::none"),
    ("docs/b.md", "`Store::find`\n", ":1: there is no Store::find"),
    ("docs/internals/b.md", "A `ContentStore`\n", ":1: there is no ContentStore"),
    ("docs/internals/b.md", "By `settled_run()`\n", ":1: there is no settled_run"),
]

if __name__ == "__main__":
    lint.main(check, lambda: lint.read_tree(*FOLDERS, *lint.TOP_PAGES), GOOD, BAD)
