#!/usr/bin/env python3
"""On a terminal no line is wider than that, whichever command prints it; nothing is lost by it. COLUMNS says another width, and
without a terminal alone whether there is one. NO_COLOR and its like are obeyed."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, run_on_terminal, testspace  # noqa: E402
from packs import Pack, binding, kernel  # noqa: E402

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LONG = "grouped_attention_with_many_words_in_its_name"


def pack_of_long_names(folder):
    pack = Pack(folder, "wide")
    pack.add_op(LONG, {f"{LONG}/{LONG}_forward.cu": kernel("a"), f"{LONG}/{LONG}.cpp": binding("run")}, {"exports": ["run"]})
    pack.add_op("host", {"host.cpp": binding("host")}, {"backend": "cpu", "exports": ["host"]})
    return pack


def lines_of(text):
    return COLOUR.sub("", text.replace("\r\n", "\n")).splitlines()


def without_free_memory(text):
    """What changes between two runs on one machine."""
    return re.sub(r"[\d.]+ GiB free", "", text)


def is_whole_by_intention(line):
    """What is to be typed, or a single word, which the terminal breaks."""
    return bool(re.match(r" *(fix|next): ", line)) or " " not in line.strip()


class WidthTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(pack=pack_of_long_names)
        cls.built = cls.space.build("--arch", "8.0;9.0+PTX", "--timings")
        assert cls.built.code == 0, cls.built
        cls.other = TestSpace(pack=pack_of_long_names)
        assert cls.other.build("--arch", "9.0").code == 0
        damaged = cls.space.root / "damaged"
        damaged.mkdir()
        for file in cls.space.out.iterdir():
            (damaged / file.name).write_bytes(file.read_bytes() + (b"x" if file.suffix == ".so" else b""))
        cls.commands = {
            "report": cls.space.arguments("report"),
            "inspect": ["inspect", str(cls.space.out), "--gpu", "7.5,8.0,9.0,10.0"],
            "inspect one": ["inspect", f"{cls.space.out}/{LONG}.so"],
            "verify": ["verify", str(cls.space.out)],
            "verify damage": ["verify", "damaged"],
            "diff": ["diff", str(cls.space.out), str(cls.other.out)],
            "cache stats": ["cache", "stats"],
            "toolkits": ["toolkits", "--cuda-home", str(cls.space.toolkit.home)],
            "plan": cls.space.arguments("plan", "-v"),
            "explain": cls.space.arguments("explain", LONG),
            "timings": ["build", *cls.space.arguments("--timings", "--arch", "8.0;9.0+PTX")],
        }

    def shown(self, name, columns, **options):
        _, text = run_on_terminal(self.space, *self.commands[name], columns=columns, output="stdout", **options)
        return text

    def test_no_line_is_wider_than_the_terminal(self):
        for name in self.commands:
            for columns in (40, 80, 200):
                with self.subTest(command=name, columns=columns):
                    lines = lines_of(self.shown(name, columns))
                    self.assertTrue(lines)
                    wide = [line for line in lines if len(line) > columns and not is_whole_by_intention(line)]
                    self.assertEqual(wide, [])

    def test_tables_break_names_and_lose_nothing_of_them(self):
        for name in self.commands:
            for columns in (60, 80):
                with self.subTest(command=name, columns=columns):
                    piped = self.space.run(*self.commands[name]).out
                    shown = "\n".join(lines_of(self.shown(name, columns)))
                    names = set(re.findall(r"[a-z]\w*[\d_]\w*", piped))
                    self.assertTrue(names or name in ("toolkits", "cache stats", "verify"), piped)
                    for part in {part for each in names for part in each.split("_")}:
                        self.assertIn(part, shown)

    def test_each_cell_has_a_line_where_columns_have_no_room(self):
        lines = lines_of(self.shown("inspect", 40))
        self.assertIn("  device bytes: ", "\n".join(lines))
        table = lines_of(self.shown("inspect", 80))
        self.assertTrue(table[1].startswith("file ") and table[1].endswith("device bytes"), table)

    def test_without_a_terminal_any_width_will_do(self):
        wide = self.space.run(*self.commands["inspect"]).out
        self.assertGreater(max(map(len, wide.splitlines())), 80)
        narrow = self.space.run(*self.commands["inspect"], env={"COLUMNS": "70"}).out
        self.assertLessEqual(max(map(len, narrow.splitlines())), 70)
        self.assertEqual(self.space.run(*self.commands["inspect"], env={"COLUMNS": "many"}).out, wide)
        self.assertEqual(lines_of(self.shown("inspect", 200, env={"COLUMNS": "70"})), narrow.splitlines())

    def test_what_programs_read_is_not_wrapped(self):
        for words in (self.space.arguments("report", "--json"), self.space.arguments("plan", "--format", "flags")):
            _, text = run_on_terminal(self.space, *words, columns=40, output="stdout")
            self.assertEqual(without_free_memory(text.replace("\r\n", "\n")),
                             without_free_memory(self.space.run(*words).out))

    def test_colours_are_as_the_environment_says(self):
        words = self.commands["verify"]
        for variables, in_colour in (({}, False), ({"FORCE_COLOR": "1"}, True), ({"CLICOLOR_FORCE": "1"}, True),
                                     ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False), ({"CLICOLOR_FORCE": "0"}, False)):
            with self.subTest(piped=variables):
                self.assertEqual("\x1b[" in self.space.run(*words, env=variables).out, in_colour)
        for variables, in_colour in (({}, True), ({"NO_COLOR": "1"}, False), ({"CLICOLOR": "0"}, False), ({"FORCE_COLOR": "0"}, False)):
            with self.subTest(terminal=variables):
                self.assertEqual("\x1b[" in self.shown("verify", 80, env=variables), in_colour)
        self.assertIn("\x1b[", self.space.run(*words, "--color", "always", env={"NO_COLOR": "1"}).out)
        self.assertIn("\x1b[", self.space.run("verify", "nothing", env={"FORCE_COLOR": "1"}).err)
        self.assertNotIn("\x1b[", self.space.run("verify", "nothing", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).err)


if __name__ == "__main__":
    testspace.main()
