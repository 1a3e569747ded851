#!/usr/bin/env python3
"""A stage includes its own headers and those of the stages it names in lib/CMakeLists.txt, directly
or through them; so the flow of data has one direction. Of C++'s own headers it includes those that gcc 10 has: Debian 11 and
common CUDA images compile dsbuild with it."""

import re

import lint

STAGES = "lib/CMakeLists.txt"


NEWER_THAN_GCC_10 = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(barrier|expected|format|generator|latch|mdspan|print|semaphore|"
                               r"source_location|spanstream|stacktrace|stdfloat|syncstream)>", re.M)


def read_stages(cmake):
    """{stage: stages that it names}"""
    calls = re.findall(r"^dsbuild_stage\(([^)]*)\)", cmake, re.M)
    named = {words[0]: words[1:] for words in (call.split() for call in calls)}
    return {stage: [word for word in words if word in named] for stage, words in named.items()}


def reachable(stages, start):
    """Stages that `start` sees, itself only where it lies on a circle."""
    seen, waiting = set(), list(stages[start])
    while waiting:
        stage = waiting.pop()
        if stage not in seen:
            seen.add(stage)
            waiting += stages[stage]
    return seen


def check_file(path, text, stage, allowed, texts):
    code = lint.without_comments(text)
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*"([^"]*)"', code, re.M):
        where = f"{path}:{lint.line_of(code, match.start(1))}"
        target = match.group(1).split("/")[0]
        if "lib/" + match.group(1) not in texts:
            yield f'{where}: "{match.group(1)}" is no header of lib/ (write "stage/name.h")'
        elif target != stage and target not in allowed:
            seen = ", ".join(sorted(allowed)) or "nothing"
            yield f"{where}: {stage} may not include {match.group(1)}; it sees {seen}"


def check(texts):
    stages = read_stages(texts[STAGES])
    if not stages:
        return [f"{STAGES}:1: no dsbuild_stage(...) line found"]
    problems = [f"{STAGES}:1: stage {stage} needs itself" for stage in stages
                if stage in reachable(stages, stage)]
    for path, text in texts.items():
        problems += [f"{path}:{lint.line_of(text, match.start(1))}: gcc 10 has no <{match.group(1)}>"
                     for match in NEWER_THAN_GCC_10.finditer(text)]
        if path == STAGES or not path.startswith("lib/"):
            continue
        stage = path.split("/")[1]
        if stage not in stages:
            problems.append(f"{path}:1: lib/{stage} is no stage of {STAGES}")
            continue
        problems += check_file(path, text, stage, reachable(stages, stage), texts)
    return problems


GOOD = {
    STAGES: "dsbuild_stage(base Some::Package)\ndsbuild_stage(sys base)\ndsbuild_stage(arch base)\n"
            "dsbuild_stage(plan sys arch)\n",
    "lib/base/text.h": "#include <string>\n",
    "lib/sys/file.h": '#include "base/text.h"\n',
    "lib/arch/set.h": '// #include "sys/file.h"\n#include "base/text.h"\n',
    "lib/plan/plan.cpp": '#include "base/text.h"\n#include "arch/set.h"\n#include "sys/file.h"\n',
}
BAD = [
    ("lib/base/a.cpp", '#include "sys/file.h"\n', "base may not include sys/file.h; it sees nothing"),
    ("lib/arch/a.cpp", '\n#include "sys/file.h"\n', ":2: arch may not include"),
    ("lib/sys/a.cpp", '#include "text.h"\n', "is no header of lib/"),
    ("lib/sys/a.cpp", '#  include "../base/text.h"\n', "is no header of lib/"),
    ("lib/base/a.cpp", "#include <string>\n#include <semaphore>\n", ":2: gcc 10 has no <semaphore>"),
    ("apps/dsbuild/a.cpp", "#include <format>\n", ":1: gcc 10 has no <format>"),
    ("lib/other/a.cpp", "", "is no stage"),
    (STAGES, "dsbuild_stage(base plan)\ndsbuild_stage(sys base)\ndsbuild_stage(arch base)\n"
             "dsbuild_stage(plan sys arch)\n", "needs itself"),
    (STAGES, "project(x)\n", "no dsbuild_stage"),
]

if __name__ == "__main__":
    lint.main(check, lambda: {**lint.read_tree(STAGES), **lint.read_tree("lib", suffixes=lint.CPP),
                             **lint.read_tree("apps", suffixes=lint.CPP)},
              GOOD, BAD)
