#!/usr/bin/env python3
"""make_gpu_figures.py [--check | FILE...]: the tables of docs/figures/gpu.md, each from docs/figures/gpu/NAME.json. FILE is what a part
of `tests/gpu/run.sh` wrote: its tables take the place of those with their names, and the others stay.

The page has a place for each table. A table that no file was kept of yet is an older one, which the page's text dates:

    <!-- made from NAME.json by scripts/make_gpu_figures.py -->
    <!-- not yet made from NAME.json by scripts/make_gpu_figures.py -->
    <!-- end of NAME -->

--check writes nothing; exit code 1: a table is not what its file says, or a place is missing.
"""

import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))

from figures import TABLES  # noqa: E402

PAGE = ROOT / "docs" / "figures" / "gpu.md"
FOLDER = ROOT / "docs" / "figures" / "gpu"
PLACE = re.compile(r"^<!-- (not yet )?made from (\w+)\.json by scripts/make_gpu_figures\.py -->\n(.*?)^<!-- end of \2 -->$", re.M | re.S)
COLUMNS = 130


def tables_of(part):
    """(name, table) of a part's file that are whole."""
    if part["part"] in TABLES:  # `tests` and `sanitize`: a row for each group
        if part["chosen"] or part["stopped"]:
            print(f"{part['part']} stays as it is: not all groups were run")
        else:
            yield part["part"], {"notes": {}, "rows": part["groups"]}
    for name, table in part["tables"].items():
        if table["complete"]:
            yield name, {"notes": table["notes"], "rows": table["rows"]}
        else:
            print(f"{name} stays as it is: {table['group']} did not measure all of it")


def take(file):
    """Keeps the tables of a part's file."""
    part = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    FOLDER.mkdir(exist_ok=True)
    for name, table in tables_of(part):
        kept = {"machine": part["machine"], "date": part["date"], "commit": part["commit"], **table}
        (FOLDER / f"{name}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def where_and_when(kept):
    machine = kept["machine"]
    words = [f"driver {machine['driver']}", f"CUDA {machine['cuda']}", f"torch {machine['torch']}", f"Python {machine['python']}",
             f"{machine['cores']} cores", *(f"{name.replace('_', ' ')} {value}" for name, value in kept["notes"].items())]
    return textwrap.fill(f"One {machine['gpu']} ({', '.join(words)}), {kept['date']}, commit {kept['commit'][:12]}:", COLUMNS,
                         break_on_hyphens=False)


def place(name, old):
    """What stands from one mark to the other, both included."""
    file = FOLDER / f"{name}.json"
    if not file.exists():
        return f"<!-- not yet made from {name}.json by scripts/make_gpu_figures.py -->\n{old}<!-- end of {name} -->"
    kept = json.loads(file.read_text(encoding="utf-8"))
    lines = [where_and_when(kept), "", *TABLES[name].for_page(kept["rows"])]
    return "\n".join([f"<!-- made from {name}.json by scripts/make_gpu_figures.py -->", *lines, f"<!-- end of {name} -->"])


def problems_of(page):
    places = [match.group(2) for match in PLACE.finditer(page)]
    yield from (f"there is no table {name} (tests/python/figures.py)" for name in sorted(set(places) - set(TABLES)))
    yield from (f"it has no place for {name}" for name in sorted(set(TABLES) - set(places)))
    yield from (f"it has several places for {name}" for name in sorted({name for name in places if places.count(name) > 1}))
    yield from (f"{file.name} is of no table" for file in sorted(FOLDER.glob("*.json")) if file.stem not in TABLES)


def main(words):
    page = PAGE.read_text(encoding="utf-8")
    problems = list(problems_of(page))
    if not problems:
        is_check = words == ["--check"]
        for file in () if is_check else words:
            take(file)
        made = PLACE.sub(lambda match: place(match.group(2), match.group(3)), page)
        if not is_check:
            PAGE.write_text(made, encoding="utf-8")
        elif made != page:
            problems.append("it is not up to date: run scripts/make_gpu_figures.py")
    for problem in problems:
        print(f"{PAGE.relative_to(ROOT)}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
