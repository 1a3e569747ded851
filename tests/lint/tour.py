#!/usr/bin/env python3
"""docs/internals/tour.md names functions with their files: both are there. Files that it or architecture.md names are there."""

import re

import lint

TOUR, ARCHITECTURE = "docs/internals/tour.md", "docs/internals/architecture.md"
CODE = r"(?:lib|apps|tests|scripts|examples|cmake)/[\w./-]+"
NAMED = re.compile(rf"`(\w+)`\s+in\s+`({CODE})`")
FILE = re.compile(rf"`({CODE})`")


def check(texts):
    problems = []
    for page in (TOUR, ARCHITECTURE):
        text = texts[page]
        for match in FILE.finditer(text):
            name = match.group(1).rstrip("/")
            if not any(path == name or path.startswith(name + "/") for path in texts):
                problems.append(f"{page}:{lint.line_of(text, match.start())}: there is no {name}")
    for match in NAMED.finditer(texts[TOUR]):
        function, file = match.groups()
        if file in texts and not re.search(rf"\b{function}\b", texts[file]):
            problems.append(f"{TOUR}:{lint.line_of(texts[TOUR], match.start())}: {file} has no {function}")
    return problems


GOOD = {
    TOUR: "It is made: `make` in\n   `lib/a/a.cpp`.\n",
    ARCHITECTURE: "What lies in `lib/a` and `lib/a/a.cpp`.\n",
    "lib/a/a.cpp": "int make() { return 1; }\n",
}
BAD = [
    (TOUR, "It is made: `make` in `lib/a/b.cpp`.\n", ":1: there is no lib/a/b.cpp"),
    (TOUR, "\nIt is taken: `take` in `lib/a/a.cpp`.\n", ":2: lib/a/a.cpp has no take"),
    (ARCHITECTURE, "`apps/b.h`\n", ":1: there is no apps/b.h"),
]

if __name__ == "__main__":
    lint.main(check, lambda: lint.read_tree("docs", "lib", "apps", "tests", "scripts", "examples", "cmake"), GOOD, BAD)
