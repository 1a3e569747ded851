#!/usr/bin/env python3
"""A function has at most 80 lines (in apps/, which parses and prints, 40), a file at most 500."""

import re

import lint

FUNCTION_LINES = 80
APP_FUNCTION_LINES = 40
FILE_LINES = 500
TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:typedef\s+)?(?:class|struct|union|enum)\b"
                  r"(?!.*\)\s*(?:const)?$)", re.S)
CONSTRUCTOR_MEMBER = re.compile(r"\)\s*(?:noexcept\s*)?:.*[\w>]$", re.S)


def kind_of(head):
    """What the brace behind `head` opens, outside of functions."""
    head = re.sub(r"^(?:(?:public|private|protected)\s*:\s*)+", "", head.strip())
    if re.match(r"(?:inline\s+)?namespace\b|extern\s*\"\"$", head):
        return "scope"
    if TYPE.match(head):
        return "scope"
    assigned = re.search(r"(?<![=!<>])=(?!=)", re.sub(r"operator\s*\S+", "", head))
    if assigned or CONSTRUCTOR_MEMBER.search(head):
        return "value"
    return "function" if "(" in head else "value"


def functions(text):
    """(first line, last line) of each function. By braces: text that clang-format has laid out."""
    code = lint.without_comments(text, strings_too=True)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group().count("\n"), code, flags=re.M)
    opened = []  # (kind, head of the statement, where the statement begins)
    begin = 0
    for match in re.finditer(r"[{};]", code):
        inside = bool(opened) and opened[-1][0] in ("function", "value")
        head = code[begin:match.start()]
        if match.group() == "{":
            start = begin + len(head) - len(head.lstrip())
            opened.append(("value" if inside else kind_of(head), start, begin))
        elif match.group() == "}" and opened:
            kind, start, statement = opened.pop()
            if kind == "function":
                yield lint.line_of(code, start), lint.line_of(code, match.start())
            begin = statement if kind == "value" else match.end()  # a statement goes on behind a braced value
            continue
        if not inside:
            begin = match.end()


def check(texts):
    problems = []
    for path, text in texts.items():
        lines = len(text.splitlines())
        if lines > FILE_LINES:
            problems.append(f"{path}:1: {lines} lines; a file has at most {FILE_LINES}")
        if not path.endswith(lint.CPP):
            continue
        most = APP_FUNCTION_LINES if path.startswith("apps/") else FUNCTION_LINES
        for first, last in functions(text):
            if last - first + 1 > most:
                problems.append(f"{path}:{first}: a function of {last - first + 1} lines; at most {most}")
    return problems


def sample(opening, lines, closing="}"):
    """`opening`, a body that makes it `lines` long in all, `closing`."""
    return "\n".join([opening] + ["  step();"] * (lines - 2) + [closing]) + "\n"


GOOD = {
    "lib/a/short.cpp": "namespace a {\nnamespace {\n" + sample("int f(int x) {", 80) +
                       sample("int f(int x) const {", 80) + "}  // namespace\n}\n",
    "lib/a/table.cpp": "const std::vector<Row> k_table = {\n" + '    {"{", 1},\n' * 200 + "};\n",
    "lib/a/class.h": "class A : public B<C> {\n public:\n" + "  int f() { return 1'000; }\n" * 200 + "};\n",
    "lib/a/text.cpp": 'const char* f() {\n  return R"(' + "{\n" * 60 + ')";\n}\n' + sample("int g() {", 80),
    "tests/a.py": "x = 1\n" * 500,
}
BAD = [
    ("lib/a/a.cpp", "namespace a {\n" + sample("int f(int x) {", 81) + "}\n",
     ":2: a function of 81 lines"),
    ("lib/a/a.cpp", sample("class A {\n  A() : a_{1}, b_(2), c_{3} {", 90, "}\n};"),
     "a function of 90 lines"),
    ("lib/a/a.cpp",
     sample("struct A {\n  int b{0};\n  std::string f(\n      int x) const override {", 90, "}\n};"),
     ":3: a function of 91 lines"),
    ("lib/a/a.cpp", sample("bool operator==(const A& a, const A& b) {\n  if (a) {\n  }", 90),
     "a function of 92"),
    ("lib/a/a.cpp", sample("const auto x = 1;\nint f() {\n  auto g = [&](int y) {\n  };", 90),
     ":2: a function of 92"),
    ("kernels/a.cu", sample("template <class T>\n__global__ void f(T* x) {", 90), ":1: a function of 91"),
    ("apps/a/a.cpp", sample("int f(int x) {", 41), ":1: a function of 41 lines; at most 40"),
    ("tests/a_test.cpp", sample('TEST_CASE("braces } in a string") {', 90), "a function of 90"),
    ("lib/a/a.cpp", "int x;\n" * 501, "501 lines"),
    ("tests/b.py", "x = 1\n" * 501, "501 lines"),
]

if __name__ == "__main__":
    suffixes = (*lint.CPP, ".py", ".sh")
    lint.main(check, lambda: lint.read_tree("lib", "apps", "examples", "kernels", "templates", "tests", suffixes=suffixes), GOOD, BAD)
