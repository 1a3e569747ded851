#!/usr/bin/env python3
"""No file names a folder of the machine it was written on, or a package registry; YAML has no
tabs; every header of lib/ says what it is for; sentences of the documentation have lines of at most 130 columns."""

import re

import lint

# Written as patterns, so that this file does not break its own rules.
MACHINE_PATH = re.compile(r"(?<![\w.$})\]*-])/(?:work|root)(?:/|(?![\w-]))")
REGISTRY = re.compile(
    r"\b(?:pypi\.(?:org|nvidia\.com)|test\.pypi\.|\w*\.?pythonhosted\.org|(?:deb|security|ftp)\.debian\.org|"
    r"(?:\w+\.)?archive\.ubuntu\.com|registry\.npmjs\.|crates\.io|(?:conda|repo)\.anaconda\.(?:org|com)|"
    r"index\.docker\.io|ghcr\.io|nvcr\.io|proxy\.golang\.org)")
COLUMNS = 130


def matches(path, text, pattern, what):
    for match in pattern.finditer(text):
        yield f"{path}:{lint.line_of(text, match.start())}: {what}: {match.group()}"


def check_header(path, text):
    if not text.startswith("// "):
        yield f"{path}:1: a header begins with a comment that says what it is for"
    if not re.search(r"^#pragma once$", text, re.M):
        yield f"{path}:1: no #pragma once"


def check_page(path, text):
    """Tables have a row a line, and code its own lines."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        in_code ^= line.lstrip().startswith("```")
        if len(line) > COLUMNS and not in_code and not line.startswith(("|", "    ")):
            yield f"{path}:{number}: a line of {len(line)} columns; at most {COLUMNS}"


def check(texts):
    problems = []
    for path, text in texts.items():
        problems += matches(path, text, MACHINE_PATH, "a path of one machine")
        problems += matches(path, text, REGISTRY, "the host name of a package registry")
        if path.endswith((".yaml", ".yml")):
            problems += matches(path, text, re.compile("\t"), "a tab in YAML")
        if lint.is_page(path):
            problems += check_page(path, text)
        if path.startswith("lib/") and path.endswith(".h"):
            problems += check_header(path, text)
    return problems


GOOD = {
    "lib/a/a.h": "// What it is.\n#pragma once\n",
    "scripts/run.sh": 'cd "$root/work/x" && ls "${top}/root/y" src/work/z\n\ttrue\n',
    "docs/a.md": "pip install numpy; apt-get install g++-11; see https://github.com/a/b\n",
    "configs/a.yaml": "a: 1\n",
    "docs/long.md": "| " + "x" * 200 + " |\n\n```\n" + "x" * 200 + "\n```\n\n    " + "x" * 200 + "\n",
}
BAD = [
    ("docs/b.md", "\nsee " + "/".join(["", "work", "x"]) + "\n", ":2: a path of one machine"),
    ("scripts/b.sh", "export HOME=" + "/".join(["", "root"]) + "\n", "a path of one machine"),
    ("lib/a/b.cpp", 'const char* p = "' + "/".join(["", "root", ".cache"]) + '";\n', "a path of one machine"),
    ("scripts/b.sh", "curl https://" + ".".join(["pypi", "org"]) + "/simple\n", "package registry"),
    ("docs/b.md", ".".join(["files", "pythonhosted", "org"]) + "\n", "package registry"),
    ("scripts/b.sh", "deb http://" + ".".join(["deb", "debian", "org"]) + "/debian\n", "package registry"),
    ("ops/a/op.yaml", "a:\n\tb: 1\n", ":2: a tab"),
    ("docs/b.md", "```\na\n```\n" + "x" * 131 + "\n", ":4: a line of 131 columns"),
    ("SECURITY.md", "x" * 131 + "\n", ":1: a line of 131 columns"),
    ("lib/a/b.h", "#pragma once\n", "begins with a comment"),
    ("lib/a/b.h", "// What it is.\n", "no #pragma once"),
]


def read():
    folders = ["lib", "apps", "kernels", "ops", "configs", "templates", "completions", "scripts", "tests", "docs", "cmake", ".ci"]
    files = [path.name for path in lint.ROOT.iterdir() if path.is_file() and path.name != ".git"]  # a file in a second work tree
    return lint.read_tree(*(folder for folder in folders + files if (lint.ROOT / folder).exists()))


if __name__ == "__main__":
    lint.main(check, read, GOOD, BAD)
