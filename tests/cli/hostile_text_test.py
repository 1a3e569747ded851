#!/usr/bin/env python3
"""Text of others reaches no terminal as it is: whatever stands in specs, manifests, names of files, variables or a tool's
output, nothing that is printed holds what a terminal obeys, and JSON holds it as escapes."""

import json
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, TestSpace, run_on_terminal, testspace  # noqa: E402
from packs import Pack, binding  # noqa: E402

# The colours of dsbuild's own messages.
OWN_COLOURS = re.compile(r"\x1b\[(?:0|1|9[12356])m")
# C0 but tab and line break, DEL, C1 (as bytes too), what turns the direction of writing.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\udc80-\udc9f]")
PIECES = ["\x1b[31mX", "\x1b]0;title\x07", "a\rb", "\x08", "\x7f", "\u009b31m", "\u0085", "\u202e", "\u2066"]
HOSTILE = "".join(PIECES)
NAME = HOSTILE.replace("/", "") + "\udc9b"  # of a file: a byte that is no UTF-8, too
COMMANDS = "::add-mask::secret", "  ::error::forged", "##[error]forged"


def escaped(text):
    """For a text of YAML in double quotes."""
    return "".join(f"\\U{ord(c):08x}" if OBEYED.match(c) else c for c in text)


def host_pack(folder):
    pack = Pack(folder)
    pack.add_op("host", {"host.cpp": binding("host_run")}, {"backend": "cpu", "exports": ["host_run"]})
    return pack


def strings_of(value, path=()):
    """The paths of all strings, and of all keys, in a document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from strings_of(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from strings_of(inner, (*path, number))
    elif isinstance(value, str):
        yield path


def with_text(document, path, text):
    document = json.loads(json.dumps(document))
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = text
    return document


class HostileTextTest(CliTest):
    def setUp(self):
        self.space = TestSpace(pack=host_pack)
        self.space.arch = "8.0"

    def run_words(self, *words, env=None):
        """Byte for byte: no line end is turned into another."""
        begin = testspace.time.monotonic()
        ended = testspace.subprocess.run(
            [os.fsencode(str(word)) for word in (self.space.program, *words)], cwd=self.space.root, capture_output=True,
            env={**self.space.environment, **(env or {})}, stdin=testspace.subprocess.DEVNULL, check=False)
        return testspace.Run(ended.returncode, os.fsdecode(ended.stdout), os.fsdecode(ended.stderr),
                             testspace.time.monotonic() - begin)

    def run_clean(self, *words, colours=False, **options):
        run = self.run_words(*words, **options)
        self.assertNotIn(run.code, (70, -6, -11), run)
        text = run.out + run.err
        found = OBEYED.search(OWN_COLOURS.sub("", text) if colours else text)
        self.assertIsNone(found, f"{words}: {found and ascii(text[max(0, found.start() - 200):found.end() + 50])}")
        return run

    def try_all(self, *words, **options):
        """As text, with colours, and as JSON, which is JSON."""
        run = self.run_clean(*words, **options)
        self.run_clean(*words, "--color", "always", colours=True, **options)
        for line in self.run_clean(*words, "--json", **options).out.splitlines():
            json.loads(line)
        return run

    def build(self, *words, **options):
        return self.try_all(*self.space.arguments(*words), **options)

    def test_specs(self):
        spec = self.space.pack.folder / "host" / "op.yaml"
        good = spec.read_text()
        for text in (HOSTILE, "\u202eX"):
            value = '"' + escaped(text) + '"'
            for key in ("name", "backend", "sources", "include_dirs", "exports", "archs", "requires", "flags", "defines", text):
                name = value if key == text else key
                for written in (f"{name}: {value}", f"{name}: [{value}]", f"{name}: {{{value}: {value}}}"):
                    spec.write_text("".join(line for line in good.splitlines(True) if not line.startswith(key + ":")) +
                                    written + "\n")
                    self.run_clean(*self.space.arguments("plan"))
            spec.write_text(good)
        spec.write_bytes(good.encode() + b"# " + NAME.encode(errors="surrogateescape"))
        self.try_all(*self.space.arguments("plan"))
        spec.write_text(good)
        for key in ("name", "source_root", "description", "license", "package", "odd"):
            (self.space.pack.folder / "pack.yaml").write_text(f'name: a\nsource_root: src\n{key}: "{escaped(HOSTILE)}"\n')
            for command in ("plan", "explain"):
                self.run_clean(*self.space.arguments(command, *(["host"] if command == "explain" else [])))

    def test_config_files(self):
        file = self.space.root / "config.yaml"
        for text in (f'"{escaped(HOSTILE)}": 1', f'ops: "{escaped(HOSTILE)}"', f'arch: ["{escaped(HOSTILE)}"]',
                     f'jobs: "{escaped(HOSTILE)}"', f'cuda_home: "{escaped(HOSTILE)}"', f'out: "{escaped(HOSTILE)}"',
                     f'color: "{escaped(HOSTILE)}"', f'python: "{escaped(HOSTILE)}"'):
            file.write_text(text + "\n")
            self.try_all("plan", "--pack", self.space.pack.folder, "--config", file)

    def test_variables(self):
        for name in ("TORCH_CUDA_ARCH_LIST", "DS_BUILD_OPS", "DS_BUILD_" + NAME, "DS_BUILD_HOST", "CXX", "CC", "CUDA_HOME",
                     "DSBUILD_NINJA", "MAX_JOBS", "DSBUILD_CACHE_SIZE", "DSBUILD_CACHE_DIR", "XDG_CACHE_HOME", "DS_ACCELERATOR",
                     "NVCC_PREPEND_FLAGS", "TMPDIR", "PYTHON", "CUTLASS_PATH", "ROCM_HOME", "DSBUILD_PYTHON", "PATH"):
            with self.subTest(name=ascii(name)):
                env = {name: NAME}
                self.run_clean("plan", "-v", "--pack", self.space.pack.folder, "--build-dir", self.space.build_dir, env=env)
                if name in ("CXX", "CUDA_HOME", "ROCM_HOME"):
                    self.run_clean("report", "-v", "--pack", self.space.pack.folder, env=env)

    def test_words_of_every_command(self):
        """`dsbuild nvcc` is not among them: the real nvcc takes its place and says so itself."""
        for command in ("build", "plan", "report", "explain", "inspect", "verify", "diff", "page", "load", "record", "wrap",
                        "wheel", "install", "toolkits", "new", "clean", "cache", "completion", "complete", "action"):
            for words in ([NAME], ["--" + NAME], ["--pack", NAME], ["--", NAME]):
                self.run_clean(command, *words)
        self.run_clean(NAME)

    def test_manifests(self):
        self.assertEqual(self.space.build().code, 0)
        out = self.space.out
        manifest = json.loads((out / "manifest.json").read_text())
        shutil.copytree(out, self.space.root / "good")
        (self.space.root / "site").mkdir()
        for path in strings_of(manifest):
            (out / "manifest.json").write_text(json.dumps(with_text(manifest, path, HOSTILE)))
            for words in (["verify", out], ["diff", self.space.root / "good", out], ["inspect", out], ["wheel", out],
                          ["install", out, "--target", self.space.root / "site"], ["page", out],
                          ["load", "host", "--path", out, "--pack", self.space.pack.folder]):
                self.run_clean(*words)
        hostile = json.loads(json.dumps(manifest))
        hostile["ops"][0]["name"] = HOSTILE
        (out / "manifest.json").write_text(json.dumps(hostile))
        self.try_all("verify", out)

    def test_names_of_files(self):
        folder = self.space.root / NAME
        self.space.out = folder
        run = self.build()
        self.assertEqual(run.code, 0, run)
        self.try_all("verify", folder)
        self.try_all("inspect", folder)
        shutil.copy(folder / "host.so", folder / (NAME + ".so"))
        self.try_all("verify", folder)
        self.try_all("inspect", folder / (NAME + ".so"))
        (folder / (NAME + ".a")).write_text("no archive")
        self.try_all("inspect", folder / (NAME + ".a"))
        self.try_all("diff", folder, folder / NAME)
        self.try_all("page", folder)
        self.try_all("wheel", folder)
        self.try_all(*self.space.arguments("explain", "host"))
        self.try_all("report", "--pack", self.space.pack.folder, "--out", folder)
        self.try_all(*self.space.arguments("clean"))
        self.try_all("cache", "--cache-dir", folder)

    def compiler(self, name, text, code=1, only="*host.cpp"):
        """g++ that says this where it is given such a word."""
        told = self.space.root / (name + ".text")
        told.write_bytes(text.encode(errors="surrogateescape"))
        program = self.space.root / name
        program.write_text(f'#!/bin/bash\nfor word; do [[ "$word" = {only} ]] && {{ cat {told} >&2; cat {told}; '
                           f'[ {code} = 0 ] || exit {code}; }}; done\nexec g++ "$@"\n')
        program.chmod(0o755)
        return {"CXX": str(program)}

    def test_a_compiler_that_fails_or_warns(self):
        text = f"pack/host.cpp:1:2: error: {NAME}\n    1 | {NAME}\n{NAME}\n"
        run = self.build(env=self.compiler("fails", text))
        self.assertEqual(run.code, 1, run)
        self.run_clean(*self.space.arguments("-v"), env=self.compiler("fails", text))
        run = self.build(env=self.compiler("warns", text.replace("error", "warning"), 0))
        self.assertEqual(run.code, 0, run)
        for option in ("--version", "-v", "-dumpversion", "-E"):
            self.build(env=self.compiler("odd" + option, text, 0, option))

    def test_a_terminal_gets_its_own_line_alone(self):
        """The live line: colours and one line that is drawn again; of others, nothing."""
        text = f"pack/host.cpp:1:2: warning: {HOSTILE}\n"
        code, shown = run_on_terminal(self.space, *self.space.arguments(), env=self.compiler("warns", text, 0))
        self.assertEqual(code, 0, shown)
        self.assertIn("warning", shown)
        rest = re.sub(r"\r[^\r\n\x1b]*\x1b\[K|\r\n", "", OWN_COLOURS.sub("", shown))
        self.assertIsNone(OBEYED.search(rest), ascii(rest))

    def test_github_obeys_nobody_else(self):
        text = "pack/host.cpp:1:2: error: x\n" + "".join(line + "\n" for line in COMMANDS)
        env = {"GITHUB_ACTIONS": "true"}
        file = self.space.root / "a\n::add-mask::b"
        runs = [self.space.build(env={**env, **self.compiler("fails", text)}),
                self.space.build("-v", env={**env, **self.compiler("warns", text.replace("error", "warning"), 0)}),
                self.space.run("inspect", str(file), env=env), self.space.run("plan", "--pack", str(file), env=env),
                self.space.run("plan", "--config", str(file), "--json", env=env), self.space.run("inspect", COMMANDS[0])]
        self.assertIn("::error file=", runs[0].err)
        for run in runs:
            self.assertNotIn("##[", run.out + run.err)
            for line in (run.out + run.err).splitlines():
                if line.lstrip().startswith("::"):
                    self.assertRegex(line, r"^::(error|warning|notice|group|endgroup)")
                    self.assertNotIn("mask", line.split("%0A")[0])

    def test_a_holder_of_the_lock(self):
        self.assertEqual(self.space.build().code, 0)
        lock = next(path for path in self.space.build_dir.rglob("*lock*") if path.is_file())
        script = "import fcntl,sys,time; f=open(sys.argv[1],'r+b'); fcntl.flock(f,2); f.truncate(0); " \
                 "f.write(b'1 dsbuild \\x1b[31m\\xc2\\x9b\\xe2\\x80\\xae\\r\\n'); f.flush(); print(flush=True); time.sleep(60)"
        with testspace.subprocess.Popen([sys.executable, "-c", script, str(lock)], stdout=testspace.subprocess.PIPE) as holder:
            holder.stdout.readline()
            run = self.run_clean(*self.space.arguments("--lock-timeout", "1"))
            holder.kill()
        self.assertEqual(run.code, 75, run)


if __name__ == "__main__":
    testspace.main()
