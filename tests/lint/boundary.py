#!/usr/bin/env python3
"""Only lib/sys (and apps) may touch the outside world: every other stage gets it handed in. Variables are read by lib/settings alone,
and by an action, whose environment the plan made."""

import re

import lint

RULES = [
    (r"#\s*include\s*<(?:fstream|iostream|unistd\.h|fcntl\.h|dirent\.h|spawn\.h|sys/[^>]+)>",
     "includes a header of the outside world"),
    (r"#\s*include\s*[<\"]spdlog/|\bspdlog::", "uses spdlog"),
    (r"\b(?:secure_)?getenv\s*\(|\b(?:set|unset|put)env\s*\(|\benviron\b", "touches the environment"),
    (r"(?<!System )(?<![\w.>&])(?:std::|::)?\bsystem\s*\(|\bpopen\s*\(|\bfork\s*\(|\bexec[lv]p?e?\s*\(",
     "starts a process"),
    (r"\bf(?:re)?open\s*\(|\bstd::[io]?fstream\b", "opens a file"),
    (r"\bstd::filesystem\b(?!::path\b)", "uses std::filesystem for more than paths"),
]


VARIABLE = re.compile(r"(?<![.\w>])variable\s*\([^()]*environment|\benvironment(?:_|\(\))?(?:\.|->)(?:find|at|count|contains)\b")
READERS = ("lib/sys/", "lib/settings/", "lib/nvcc/",
           "lib/toolkit/loaded_libraries.cpp",  # the loader's, of the environment that tools get
           "lib/wrapper/")  # nvcc's own variables are part of the command lines that it stands for
LOG = ("lib/driver/run_log.h", "lib/driver/run_log.cpp")  # it writes by spdlog, which writes by itself


def check(texts):
    problems = []
    for path, text in texts.items():
        if path.startswith("lib/sys/") or path in LOG:
            continue
        code = lint.without_comments(text)
        bare = lint.without_comments(text, strings_too=True)
        if not path.startswith(READERS):
            problems += [f"{path}:{lint.line_of(bare, match.start())}: reads a variable: {match.group()}"
                         for match in VARIABLE.finditer(bare)]
        for pattern, what in RULES:
            searched = code if "include" in pattern else bare
            for match in re.finditer(pattern, searched):
                line = lint.line_of(searched, match.start())
                problems.append(f"{path}:{line}: {what}: {match.group().strip()}")
    return problems


GOOD = {
    "lib/settings/a.cpp": 'auto x = variable(environment, "HOME");\n',
    "lib/driver/a.cpp": 'auto x = settings.variable("HOME"), y = find_program(system, "ninja");\n',
    LOG[1]: "#include <spdlog/spdlog.h>\n",
    "lib/sys/file.cpp": "#include <fstream>\n#include <unistd.h>\n",
    "lib/base/text.h": '#include <filesystem>\nusing Path = std::filesystem::path;\n'
                       '// getenv("X") is not for us\n'
                       'const char* s = "call getenv(X)";\nSystem system(files);\nuse(input.system);\n',
}
BAD = [
    ("lib/driver/a.cpp", 'auto x = variable(system.environment, "HOME");\n', "reads a variable"),
    ("lib/driver/a.cpp", 'auto x = system.environment.find("HOME");\n', "reads a variable"),
    ("lib/base/a.cpp", "#include <fstream>\n", "header of the outside world"),
    ("lib/base/a.cpp", "#include <sys/stat.h>\n", "header of the outside world"),
    ("lib/base/a.cpp", '#include "x.h"\n#include <unistd.h>\n', ":2: includes"),
    ("lib/base/a.cpp", 'auto x = std::getenv("HOME");\n', "environment"),
    ("lib/base/a.cpp", 'int x = system("ls");\n', "process"),
    ("lib/base/a.cpp", 'int x = std::system("ls");\n', "process"),
    ("lib/base/a.cpp", 'int x = ::system("ls");\n', "process"),
    ("lib/base/a.cpp", 'auto* f = fopen("x", "r");\n', "opens a file"),
    ("lib/base/a.cpp", "#include <spdlog/spdlog.h>\n", "spdlog"),
    ("lib/base/a.cpp", 'void f() { spdlog::info("x"); }\n', "spdlog"),
    ("lib/base/a.cpp", "bool b = std::filesystem::exists(p);\n", "std::filesystem"),
    ("lib/base/a.cpp", "namespace fs = std::filesystem;\n", "std::filesystem"),
]

if __name__ == "__main__":
    lint.main(check, lambda: lint.read_tree("lib", suffixes=lint.CPP), GOOD, BAD)
