#!/usr/bin/env python3
"""comments.py BARE_SOURCES [SEED]: sources that are the same without their comments, as dsbuild sees them, are the same to
the preprocessor of every compiler that is here. Random sources, and edits of them, of what is hard to tell: quotes that
are not paired, raw strings, lines that go on, code under #if 0. A careless filter must be caught by the same sources."""

import itertools
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

CASES, VARIANTS = 250, 12
LINES = ["int a = 1;", "const char* s = \"a // b\";", "char c = '\"';", "char q = '\\'';", "int n = 1'000;", "x = y / *p;",
         "const char* r = R\"(a \" // b", "/* b )\" */)\";", "#define TWO(x) #x \\", "  more(x)", "TWO(a, b)", "#if 0", "#endif",
         "don't", "5' tall", "#ifdef A", "#else", "auto s = u8R\"x()\" //)x\";", "#pragma unroll", "#define E", "E(1,", "2)",
         "// note", "/* note", "*/", "  /* one */ int b;", "call(a, // first", "int f(); // last", "// goes on \\", "", "",
         "auto k = L'x';", "\"unpaired", "a = b /* in */ + c; /* end */", "auto w = fooR\"(x)\";", "#error it's so // why",
         "#define R_ R\"(y)\" // z", "__LINE__", "a %: b", "'a' 'b' // c", "\"a\\", "b\"", "#undef E", "%:define F // f",
         "#line 7 /* a", "#warning see /* b", "b */", "0xE+'a' // b'", "é\\", "#line 9 \\", "\f/* f */",
         "_Pragma(\"a\") // o", "asm(\"// a\"); // b", "#import <d//e.h>", "#if __has_include( <f//g.h>) // h"]
SNIPPETS = ["//", "/*", "*/", "'", '"', "\\", "\\\n", "\n", " ", "x", "// note", "/* note */", 'R"(', ')"', "1'0", "#", "??/", "\t",
            "/", "*", " \\ // so", "\r", "/* a\n b */"]
COMMENT = re.compile(r"//|/\*")


def source(rng):
    return "\n".join(rng.choice(LINES) for _ in range(rng.randint(2, 12))) + rng.choice(["", "\n", "\n\n"])


def edited(rng, text):
    kind = rng.random()
    marks = [found.end() for found in COMMENT.finditer(text)]
    if kind < 0.45 and marks:
        at = rng.choice(marks)
        return text[:at] + rng.choice(["x", " y ", "'", '"', "it's"]) + text[at:]
    if kind < 0.85:
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        lines[at] += rng.choice([" // c", "// it's", " /* d */", "/* \" */ // e", "  "])
        return "\n".join(lines)
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(SNIPPETS) + text[at + rng.choice([0, 0, 1, 3]):]


def careless(text):
    return re.sub(r"[ \t]*(//[^\n]*|/\*.*?\*/)", "", text)


def output_of(compiler, folder, names):
    forget = "".join(f"#undef {name}\n" for name in ("TWO", "E", "R_", "F"))
    (folder / "main.cpp").write_text("".join(f'{forget}#include "{name}"\n' for name in names))
    no_limit = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
    return subprocess.run([compiler, "-E", "-w", "-std=c++17", no_limit, "main.cpp"], cwd=folder, capture_output=True, text=True,
                          errors="surrogateescape", env=dict(os.environ, LC_ALL="C")).stdout


def texts_of(output):
    """What came out of each file, where its lines stand, but for blank lines at its end."""
    texts, at = {}, ""
    for line in output.split("\n"):
        marker = re.match(r'# (\d+) "(?:\./)?([^"]*)"', line)
        at = marker.group(2) if marker else at
        if at.startswith("case"):
            texts[at] = texts.get(at, "") + line + "\n"
    return {name: re.sub(r'(\n(# [^\n]*)?)*$', "", text) for name, text in texts.items()}


def preprocessed(compiler, folder, names):
    """texts_of all of them. g++ reads on behind the end of a file for a raw string that does not end: it stops, or passes
    over the files that come next. Such a file is preprocessed by itself, and what comes behind it anew."""
    texts, todo = {}, names
    while todo:
        found = texts_of(output_of(compiler, folder, todo))
        met = list(itertools.takewhile(found.__contains__, todo))
        assert met, f"nothing came out of {todo[0]}: does {compiler} run?"
        texts.update((name, found[name]) for name in met)
        if len(met) < len(todo):
            texts.update(texts_of(output_of(compiler, folder, met[-1:])))
        todo = todo[len(met):]
    return texts


def written(folder, rng):
    """Names of files, a source and its edits together."""
    cases = []
    for case in range(CASES):
        texts = [source(rng)]
        while len(texts) < VARIANTS:
            texts.append(edited(rng, rng.choice(texts)))
        names = [f"case_{case}_{i}.h" for i in range(VARIANTS)]
        for name, text in zip(names, texts):
            (folder / name).write_text(text, newline="")
        cases.append(names)
    return cases


def differences(folder, cases, bare, texts):
    """Pairs of files that are the same by `bare`: how many, and those that the compiler tells apart."""
    same, wrong = 0, []
    for names in cases:
        first = {}
        for name in names:
            key = bare(folder / name)
            other = first.setdefault(key, name)
            if other == name or (folder / other).read_bytes() == (folder / name).read_bytes():
                continue
            same += 1
            if texts[other].replace(other, name) != texts[name]:
                wrong.append((other, name))
    return same, wrong


def main():
    tool, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    compilers = [name for name in ("g++", "clang++-19", "clang++") if shutil.which(name)][:2]
    if not compilers:
        print("no C++ compiler")
        return 77
    print(f"seed {seed}")
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        cases = written(folder, random.Random(seed))
        names = [name for case in cases for name in case]
        subprocess.run([str(pathlib.Path(tool).resolve()), *names], cwd=folder, check=True)
        for compiler in compilers:
            texts = preprocessed(compiler, folder, names)
            same, wrong = differences(folder, cases, lambda file: pathlib.Path(f"{file}.bare").read_bytes(), texts)
            _, caught = differences(folder, cases, lambda file: careless(file.read_bytes().decode()), texts)
            print(f"{compiler}: {same} pairs are the same, {len(wrong)} of them wrongly; a careless filter: {len(caught)} wrongly")
            for one, other in wrong[:3]:
                print(f"--- {one}\n{(folder / one).read_bytes()!r}\n--- {other}\n{(folder / other).read_bytes()!r}\n--- comes out as\n"
                      f"{texts[one]}\n--- and\n{texts[other]}")
            if wrong or same < 50 or not caught:
                status = 1
    return status


sys.exit(main())
