"""Random changes of all that a build is made of, for random_edits_test.py: two checkouts of a small project, the toolkit and the
compiler, the environment, what was built. Each change is a function of a World that says in words what it did.

What takes real tools is in fixed tests of tests/stale alone: comments that a diagnostic pragma makes count, raw strings and
joined lines, positions (text_test.py); scripts with another toolkit or compiler behind them (toolkit_test.py); libraries in
LIBRARY_PATH (variables_test.py); what two compiles of one build saw of a file that changed between them (race_test.py)."""

import hashlib
import json
import os
import shutil
import subprocess
import time

import testspace

ODD = "inc/odd $name #1 (2).h"
HEADERS = {"inc/a.h": "A", "inc/b.h": "B", "inc/deep/c.h": "C", "inc/common/d.h": "D", "one/e.h": "E", ODD: "I"}
# Where each of these names is looked for, in this order, and what is included through what.
INCLUDED = {"A": "<a.h>", "B": '"b.h"', "C": "<deep/c.h>", "D": '"../common/d.h"', "E": '"e.h"', "F": '".local.h"',
            "G": "<current/g.h>", "H": "<own.h>", "I": f"<{ODD[4:]}>"}
# Names that come before others, or that are only asked for.
COMING = {"first/a.h": "A", "first/b.h": "B", "first/deep/c.h": "C", "one/b.h": "B", "two/b.h": "B", "two/e.h": "E",
          "inc/e.h": "E", "one/.local.h": "F", "two/.local.h": "F", "common/b.h": "B", "common/own.h": "H", "first/own.h": "H",
          "common/d.h": "D", "first/" + ODD[4:]: "I"}
# One is in both ops.
SOURCES = {"one": ["one/k.cu", "one/m.cpp", "one/n.cpp"], "two": ["two/k.cu", "one/n.cpp"]}
EXPORTS = {op: [f"{source[:3]}_{source[4]}" for source in sources] for op, sources in SOURCES.items()}
# What a compiler takes in place of a header: next to it, or where it looks before.
PRECOMPILED = [f"{path}.gch{more}" for path in ("inc/a.h", "first/a.h", "inc/b.h", "two/b.h", "inc/deep/c.h", "first/deep/c.h",
                                                "one/e.h", "inc/common/d.h", "first/own.h", "inc/current/g.h")
               for more in ("", "/O2", "/0")]
PRECOMPILED_BEGIN = "FAKE PRECOMPILED\n"  # tests/fakes/toolkit/tools/preprocessor.h; a real compiler passes over it
# In the place of these a compiler stops at what it cannot read.
UNREADABLE = [path for path in COMING if path.startswith(("first/", "one/", "two/"))]
OTHER_SOURCES = "src of another branch"  # in the pack's folder
ARCHS = ["8.0", "9.0+PTX", "8.0;9.0+PTX", "8.0;8.6;9.0", "8.0-virtual"]
ONCE = "#pragma once\n#ifdef SEEN_ONCE\n#undef TWICE\n#define TWICE 1\n#endif\n#define SEEN_ONCE\n"


def including(letter):
    name = INCLUDED[letter]
    return f"#if __has_include({name})\n#include {name}\n#endif\n#ifndef {letter}_VALUE\n#define {letter}_VALUE 0\n#endif\n"


def header_text(letter, value, more=""):
    return f"{more}#undef {letter}_VALUE\n#define {letter}_VALUE {value}\n"


def source_text(source, value):
    """What is right for a real compiler, and for the made-up one (`// export:`)."""
    name = f"{source[:3]}_{source[4]}"
    text = "".join(map(including, INCLUDED)) + '#include "x.h"\n#include "y.h"\n'
    for macro in ("TWICE", "PROFILE", "SITE"):
        text += f"#ifndef {macro}\n#define {macro} 0\n#endif\n"
    total = " + ".join(f"{letter}_VALUE" for letter in INCLUDED) + " + TWICE + PROFILE + SITE"
    if source.endswith(".cu"):
        text += f"__global__ void {name}_kernel(int* x) {{\n#if __CUDA_ARCH__ >= 900\n  *x = {total};\n#else\n" \
                "  *x = B_VALUE;\n#endif\n}\n"
    if source.endswith("m.cpp"):
        text += "const char* date_of_m = __DATE__;\n"
        text += 'asm(".data\\n.include \\"pack/data.s\\"\\n.incbin \\"pack/data.bin\\"\\n.text\\n");\n'
    text += f"// moved\n// export: {name}\n"
    return text + f'extern "C" int {name}() {{ return {total} + {value} + MORE + __LINE__; }}\n'


class Checkout:
    """A copy of the project, with a build folder of its own."""

    def __init__(self, space):
        self.space, self.spec, self.versions = space, {"define": 1, "optimize": "-O2", "folders": ["first", "inc", "inc/deep"]}, {}
        pack = space.pack
        for folder in ("first", "variants"):
            pack.source(folder).mkdir(parents=True)
        for path, letter in HEADERS.items():
            space.write(path, header_text(letter, 1))
        for path in ("inc/x.h", "inc/y.h"):
            os.utime(space.write(path, ONCE), (1000, 1000))
        for number in (1, 2):
            space.write(f"inc/v{number}/g.h", header_text("G", number))
            space.write(f"variants/a{number}.h", header_text("A", 10 + number))
        pack.source("inc/current").symlink_to("v1")
        space.write("data.s", ".long 1\n")
        space.write("data.bin", "1")
        for op, sources in SOURCES.items():
            for source in sources:
                space.write(source, source_text(source, 1))
            (pack.folder / op).mkdir()
        self.write_specs()

    def write_specs(self):
        for op, sources in SOURCES.items():
            spec = {"name": op, "sources": sources, "include_dirs": self.spec["folders"], "exports": EXPORTS[op],
                    "defines": {"MORE": str(self.spec["define"])}, "flags": {"cxx": [self.spec["optimize"]]}}
            text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in spec.items())
            (self.space.pack.folder / op / "op.yaml").write_text(text)

    def file(self, path):
        return self.space.pack.source(path)

    def use_sources(self, name):
        """A folder of the pack's."""
        self.space.pack.sources = self.space.pack.folder / name
        self.space.more = ["--source", str(self.space.pack.sources)]

    def state(self):
        """All that a build of it reads of the project."""
        times = {self.file("inc/x.h"), self.file("inc/y.h")}  # as far as they count: two with `#pragma once` may be equal
        yield self.space.root, self.space.arch, self.space.more
        for folder, folders, names in os.walk(self.space.pack.folder):
            folders.sort()
            yield folder
            for name in sorted(names + folders):
                path = self.space.pack.folder / folder / name
                if path.is_symlink():
                    yield name, os.readlink(path)
                elif path.is_file():
                    yield name, path.read_bytes(), int(path.stat().st_mtime) if path in times else 0


class World:
    """`parts`: files of tools, each with a function that gives its content for a number. `generator`: of random numbers."""

    def __init__(self, checkouts, parts, own_headers, generator):
        self.checkouts, self.parts, self.own_headers, self.generator = checkouts, parts, own_headers, generator
        self.checkout, self.environment, self.numbers = checkouts[0], {}, 10
        self.unreadable = None  # a link to itself
        self.tools = {}  # what of them was changed last, and to what
        self.site = None  # a Site of compiler_edits.py

    def number(self):
        """Never the same one, always of as many digits."""
        self.numbers += 1
        return 1000 + self.numbers

    def digest(self):
        """Of all that a build of the current checkout is made of."""
        whole = (list(self.checkout.state()), sorted(self.environment.items()), sorted(self.tools.items()))
        return hashlib.sha256(repr(whole).encode()).hexdigest()

    def choose(self, values):
        return self.generator.choice(list(values))

    def texts(self):
        """The files of the current checkout that are there and have a number that can be edited."""
        paths = [*HEADERS, *COMING, "inc/v1/g.h", "inc/v2/g.h", "variants/a1.h", "variants/a2.h",
                 *sorted(set(sum(SOURCES.values(), [])))]
        return [path for path in paths if self.checkout.file(path).is_file()]


def keep_version(world, path):
    """What is there, to be put back some time, with its time."""
    file = world.checkout.file(path)
    if file.is_file():
        world.checkout.versions.setdefault(path, []).append((file.read_bytes(), file.stat().st_mtime_ns))


def edited(world, path):
    """The text of the file with another number in it."""
    file = world.checkout.file(path)
    lines = file.read_text().split("\n")
    number = world.number()
    for index, line in enumerate(lines):
        if line.startswith("#define") and "_VALUE" in line and not path.endswith((".cu", ".cpp")):
            lines[index] = f"{' '.join(line.split()[:2])} {number}"
        elif line.startswith('extern "C"'):
            head, _ = line.split(" + MORE")
            lines[index] = f"{head.rsplit(' + ', 1)[0]} + {number} + MORE + __LINE__; }}"
    return "\n".join(lines)


def set_time(file, ns):
    os.utime(file, ns=(ns, ns))


def edit(world):
    path = world.choose(world.texts())
    keep_version(world, path)
    world.checkout.file(path).write_text(edited(world, path))
    return f"edit {path}"


def edit_under_old_time(world):
    path = world.choose(world.texts())
    file = world.checkout.file(path)
    keep_version(world, path)
    before = file.stat().st_mtime_ns
    file.write_text(edited(world, path))
    set_time(file, before)
    return f"edit {path}, and set its time back"


def edit_with_much_older_time(world, paths=()):
    path = world.choose(paths or world.texts())
    file = world.checkout.file(path)
    keep_version(world, path)
    file.write_text(edited(world, path))
    set_time(file, world.generator.randrange(10 ** 18))
    return f"edit {path}, and set its time to years ago"


def put_back(world):
    paths = [path for path, kept in world.checkout.versions.items() if kept and world.checkout.file(path).parent.is_dir()]
    if not paths:
        return edit(world)
    path = world.choose(paths)
    data, time = world.choose(world.checkout.versions[path])
    new = world.checkout.space.root / "put back"
    new.write_bytes(data)
    set_time(new, time)
    os.replace(new, world.checkout.file(path))
    return f"put {path} back, with its time"


def touch(world):
    path = world.choose([*world.texts(), "inc/x.h", "inc/y.h"])
    world.checkout.file(path).touch()
    return f"touch {path}"


def comment(world):
    path = world.choose(world.texts())
    file = world.checkout.file(path)
    text = file.read_text()
    mark = "// moved\n"
    text = text.replace(mark, f"// {world.number()}\n" + mark) if mark in text and world.generator.random() < 0.5 else \
        text + f"// {world.number()}\n"
    file.write_text(text)
    return f"a comment in {path}"


def come(world):
    path = world.choose(COMING)
    keep_version(world, path)
    world.checkout.file(path).parent.mkdir(parents=True, exist_ok=True)
    world.checkout.file(path).unlink(missing_ok=True)
    world.checkout.file(path).write_text(header_text(COMING[path], world.number()))
    return f"{path} comes"


def go(world):
    there = [path for path in [*COMING, *COMING, *HEADERS] if os.path.lexists(world.checkout.file(path))]
    path = world.choose(there)
    keep_version(world, path)
    world.checkout.file(path).unlink()
    return f"{path} goes"


def precompile(world):
    """One comes, changes, is none that the compiler takes, or goes; as a file or in a folder of them."""
    path = world.choose(PRECOMPILED)
    file = world.checkout.file(path)
    top = file if file.suffix == ".gch" else file.parent
    if os.path.lexists(top) and world.generator.random() < 0.4:
        shutil.rmtree(top) if top.is_dir() else top.unlink()
        return f"{top.name} goes"
    letter = {**HEADERS, **COMING, "inc/current/g.h": "G"}[path.split(".gch")[0]]
    if top != file and top.is_file():
        top.unlink()
    if top == file and top.is_dir():
        shutil.rmtree(top)
    file.parent.mkdir(parents=True, exist_ok=True)
    begin = PRECOMPILED_BEGIN if world.generator.random() < 0.8 else ""
    file.write_text(begin + header_text(letter, world.number()))
    return f"{path} comes or changes" + ("" if begin else ", and cannot be taken")


def unreadable(world):
    """A link to itself, until the next step."""
    path = world.choose(UNREADABLE)
    file = world.checkout.file(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(file):
        keep_version(world, path)
        file.unlink()
    file.symlink_to(file.name)
    world.unreadable = file
    return f"{path} is a link to itself"


def mend(world):
    """What cannot be read goes, also where it was copied to."""
    for checkout in world.checkouts if world.unreadable else []:
        for sources in checkout.space.pack.folder.iterdir():
            for file in (sources / path for path in UNREADABLE):
                if file.is_symlink() and os.readlink(file) == file.name:
                    file.unlink()
    world.unreadable = None


def rename(world):
    """Within its folder and back, with its time."""
    path = world.choose(HEADERS)
    file, other = world.checkout.file(path), world.checkout.file(path + ".off")
    if not os.path.lexists(file) and not os.path.lexists(other):
        world.checkout.space.write(path, header_text(HEADERS[path], world.number()))
        return f"{path} is there again"
    if os.path.lexists(file):
        os.replace(file, other)
        return f"rename {path} to {other.name}"
    os.replace(other, file)
    return f"rename {other.name} to {path}"


def link_header(world):
    file = world.checkout.file("inc/a.h")
    target = world.choose(["../variants/a1.h", "../variants/a2.h"])
    if os.path.lexists(file):
        file.unlink()
    file.symlink_to(target)
    return f"inc/a.h is a link to {target}"


def link_folder(world):
    file = world.checkout.file("inc/current")
    target = world.choose(["v1", "v2"])
    if os.path.lexists(file):
        file.unlink()
    file.symlink_to(target)
    return f"inc/current is a link to {target}"


def once(world):
    """The two headers with #pragma once become equal, or stop being so."""
    x, y = world.checkout.file("inc/x.h"), world.checkout.file("inc/y.h")
    what = world.generator.randrange(3)
    y.write_text(ONCE + ("// c\n" if what == 1 else ""))
    os.utime(x, (1000, 1000))
    os.utime(y, (2000, 2000) if what == 2 else (1000, 1000))
    return f"x.h and y.h are {['equal', 'different in a comment', 'different in time'][what]}"


def assembly(world):
    name = world.choose(["data.s", "data.bin"])
    world.checkout.space.write(name, f".long {world.number()}\n")
    return f"edit {name}, which the assembler reads"


def other_sources(world):
    """--source names another folder, or the first one again, as it was but for one header of old."""
    checkout = world.checkout
    now, other = checkout.space.pack.sources, "src" if checkout.space.pack.sources.name == OTHER_SOURCES else OTHER_SOURCES
    if world.generator.random() < 0.5:  # of the same commit
        shutil.rmtree(now.with_name(other), ignore_errors=True)
    if not now.with_name(other).exists():
        subprocess.run(["cp", "-a", now, now.with_name(other)], check=True)
    checkout.use_sources(other)
    return f"another --source; {edit_with_much_older_time(world, [path for path in HEADERS if checkout.file(path).is_file()])}"


def define(world):
    world.checkout.spec["define"] = world.choose([1, 2, 3])
    world.checkout.write_specs()
    return "another define in op.yaml"


def optimize(world):
    world.checkout.spec["optimize"] = world.choose(["-O1", "-O2", "-O3"])
    world.checkout.write_specs()
    return "other flags in op.yaml"


def reorder_folders(world):
    world.checkout.spec["folders"].reverse()
    world.checkout.write_specs()
    return "include_dirs the other way round"


def archs(world):
    world.checkout.space.arch = world.choose(ARCHS)
    return f"--arch {world.checkout.space.arch}"


def set_environment(world):
    name, values = world.choose({"NVCC_APPEND_FLAGS": ["-DUNUSED=1", "-DA_VALUE=7", ""], "CPATH": ["first", ""],
                                 "CPLUS_INCLUDE_PATH": ["inc", ""]}.items())
    value = world.choose(values)
    if value and name != "NVCC_APPEND_FLAGS":
        value = str(world.checkout.file(value))
    world.environment.pop(name, None)
    if value:
        world.environment[name] = value
    return f"{name}={value}"


def tool(world):
    """A part of the toolkit or of the compiler becomes another one of the same size, with or without another time."""
    path = world.choose(world.parts)
    number = world.number()
    data = world.parts[path](number)
    keep = world.generator.random() < 0.5 and path.exists()
    time = path.stat().st_mtime_ns if keep else None
    new = path.with_name(path.name + ".new")
    new.write_bytes(data)
    if path.exists():
        shutil.copymode(path, new)
    if keep:
        set_time(new, time)
    os.replace(new, path)
    world.tools[path] = number
    return f"another {path.name}" + (" of the same time" if keep else "")


def own_header(world):
    """In a folder where the compiler looks by itself, which comes and goes with it."""
    file = world.choose(world.own_headers)
    if file.exists() and world.generator.random() < 0.4:
        shutil.rmtree(file.parent)
        world.tools[file] = 0
        return "the compiler's own folder of headers goes"
    world.tools[file] = world.number()
    file.parent.mkdir(exist_ok=True)
    file.write_text(header_text("H", world.tools[file]))
    return f"edit {file.name} in the compiler's own folder"


def damage(world):
    """A file that was built, or that dsbuild keeps."""
    space, kept = world.checkout.space, ("lock", "dsbuild-build-folder", "CACHEDIR.TAG")  # these two say that it is dsbuild's
    files = [path for folder in (space.build_dir, space.cache_folder()) for path in sorted(folder.rglob("*"))
             if path.is_file() and not path.is_symlink() and path.name not in kept]
    if not files:
        return edit(world)
    path = world.choose(files)
    before, data = path.stat(), bytearray(path.read_bytes())
    what = world.choose(["cut off", "another byte in", "remove"])
    if what == "cut off":
        del data[len(data) // 2:]
    elif data:
        data[world.generator.randrange(len(data))] ^= 1
    path.write_bytes(data)
    if world.generator.random() < 0.5:
        set_time(path, before.st_mtime_ns)
    if what == "remove":
        path.unlink()
    return f"damage: {what} {path.parent.name}/{path.name}"


def start_build(world):
    """A build of an edit, and a moment later."""
    said = edit(world)
    process = world.checkout.space.start_build(env=world.environment)
    time.sleep(world.generator.uniform(0, 0.3))
    return said, process


def edit_during_build(world):
    """What it ends with does not count: its files were changed under it."""
    said, process = start_build(world)
    more = edit(world)
    process.communicate(timeout=testspace.TIME_LIMIT)
    return f"{said}; while that is built, {more}"


def kill(world):
    said, process = start_build(world)
    testspace.kill_all(process.pid)
    process.communicate(timeout=testspace.TIME_LIMIT)
    return f"{said}; kill the build of it"


def clean(world):
    shutil.rmtree(world.checkout.space.build_dir, ignore_errors=True)
    return "the build folder goes"


def change_checkout(world):
    world.checkout = world.choose(world.checkouts)
    return f"go to {world.checkout.space.root.name}"


def copy_checkout(world):
    """The other one gets this one's sources, with their times, as `git worktree` or rsync give them."""
    other = next(each for each in world.checkouts if each is not world.checkout)
    shutil.rmtree(other.space.pack.folder)
    subprocess.run(["cp", "-a", world.checkout.space.pack.folder, other.space.pack.folder], check=True)
    other.spec, other.space.arch = json.loads(json.dumps(world.checkout.spec)), world.checkout.space.arch
    other.use_sources(world.checkout.space.pack.sources.name)
    world.checkout = other
    return f"copy the sources, and go to {other.space.root.name}"


CHANGES = [edit, edit, edit, edit_under_old_time, edit_with_much_older_time, put_back, put_back, touch, comment, come, come,
           go, precompile, precompile, unreadable, rename, link_header, link_folder, once, assembly, other_sources, define,
           optimize, reorder_folders, archs, set_environment, tool, tool, own_header, clean, damage, damage,
           edit_during_build, kill, kill, change_checkout, copy_checkout]
