#!/usr/bin/env python3
"""Files of the build folder and of the cache that are damaged: what is linked again is what was compiled, and after a loss of
power the next build heals without help."""

import os
import pathlib
import random
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import testspace  # noqa: E402
from packs import binding, kernel  # noqa: E402
from stale import StaleSpace, StaleTest, add_tests  # noqa: E402
from testspace import SEED  # noqa: E402

WORD = 0x1F2E3D4C
A = f'extern "C" int a() {{ return {WORD}; }}\n'
B = 'extern "C" int b() { return 1; }\n'
# Without them a folder is not taken for dsbuild's; they are the first that is written, and never again.
MARKERS = ["dsbuild-build-folder", "CACHEDIR.TAG"]


def flip(data, generator):
    """A bit of the word in the code, where it is there."""
    changed = bytearray(data)
    place = data.find(WORD.to_bytes(4, "little"))
    place = place if place >= 0 else generator.randrange(max(len(data), 1))
    if changed:
        changed[place] ^= 1 << generator.randrange(8)
    return bytes(changed)


def zeros(data, _):
    return bytes(len(data))


def zeros_at_the_end(data, generator):
    kept = generator.randrange(len(data) + 1)
    return data[:kept] + bytes(len(data) - kept)


def cut(data, generator):
    return data[:generator.randrange(max(len(data), 1))]


def empty(_, __):
    return b""


DAMAGES = {"flip": flip, "zeros": zeros, "cut": cut, "empty": empty}


def damage_file(path, damage, generator, keep_time=True):
    before = path.stat()
    path.chmod(before.st_mode | 0o200)
    path.write_bytes(damage(path.read_bytes(), generator))
    if keep_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


class ObjectTest(StaleTest):
    """An object that was damaged and is linked again, because another one is new."""

    def setUp(self):
        super().setUp()
        self.generator = random.Random(SEED)
        self.space.add_cpu_op("hosty", {"a.cpp": A, "b.cpp": B}, ["a.cpp", "b.cpp"])
        self.space.add_cpu_op("other", {"c.cpp": B.replace("b()", "c()")}, ["c.cpp"])

    def check_damaged(self, name, damage, edited, **options):
        before = self.build()
        file = next(self.space.build_dir.glob(name))
        damage_file(file, damage, self.generator, **options)
        self.space.edit(edited, "return 1", "return 2")
        self.check(before=before)

    def check_object(self, name):
        self.check_damaged("obj/hosty/a.cpp/a.o", DAMAGES[name], "b.cpp")

    def check_object_of_new_time(self, name):
        self.check_damaged("obj/hosty/a.cpp/a.o", DAMAGES[name], "b.cpp", keep_time=False)

    def check_library(self, name):
        """It is published again with what is new of another op."""
        self.check_damaged("lib/hosty.so", DAMAGES[name], "c.cpp")

    def test_an_object_of_another_build_is_put_in_its_place(self):
        before = self.build()
        file = next(self.space.build_dir.glob("obj/hosty/a.cpp/a.o"))
        kept = file.read_bytes()
        self.space.edit("a.cpp", str(WORD), "7")
        self.build()
        times = file.stat()
        file.write_bytes(kept)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.space.edit("b.cpp", "return 1", "return 2")
        self.check(before=before)


add_tests(ObjectTest, "object", ObjectTest.check_object, list(DAMAGES))
add_tests(ObjectTest, "object_of_new_time", ObjectTest.check_object_of_new_time, list(DAMAGES))
add_tests(ObjectTest, "library", ObjectTest.check_library, list(DAMAGES))


class PowerTest(StaleTest):
    """Any set of the files of the build folder and of the cache is gone, empty, cut or zeroed, all of them written before
    the power went; the sources may have been edited since."""

    LOSSES = [empty, zeros, cut, zeros_at_the_end]

    def setUp(self):
        self.space = StaleSpace(steps=True)
        self.space.arch = "8.0;9.0+PTX"
        self.generator = random.Random(SEED)
        pack = self.space.pack
        code = '#include "v.h"\nint value = V;\n'
        pack.add_op("cuda", {"k.cu": kernel("k_one", text=code), "k.cpp": binding("k_run", "k_one")})
        pack.add_op("host", {"h.cpp": '#include "v.h"\nextern "C" int host_run() { return V; }\n'}, {"backend": "cpu"})
        self.states, self.expected = [{"v.h": "#define V 1\n"}, {"v.h": "#define V 2\n"}], {}
        self.set_state(0)
        self.build()
        self.kept = self.space.root / "kept"
        for name, folder in self.folders().items():
            shutil.copytree(folder, self.kept / name, symlinks=True)

    def folders(self):
        return {"build": self.space.build_dir, "cache": self.space.root / "cache", "out": self.space.out}

    def restore(self):
        for name, folder in self.folders().items():
            shutil.rmtree(folder)
            shutil.copytree(self.kept / name, folder, symlinks=True)

    def set_state(self, number):
        for path, text in self.states[number].items():
            self.space.write(path, text)
        self.state = number

    def scratch_of_state(self):
        if self.state not in self.expected:
            run, self.expected[self.state] = self.space.scratch()
            if run.code != 0:
                raise RuntimeError(str(run))
        return self.expected[self.state]

    def files(self):
        folders = [self.space.build_dir, self.space.root / "cache"]
        return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink())

    def lose(self):
        """What was done, for the message."""
        files, done = self.files(), []
        share = self.generator.choice([0.02, 0.1, 0.3, 0.7, 1])
        gone = self.generator.choice([0, 0.3, 0.7])
        for path in files:
            if self.generator.random() > share or path.name in MARKERS:
                continue
            if self.generator.random() < gone:
                path.unlink()
                done.append(f"{path.relative_to(self.space.root)}: gone")
                continue
            loss = self.generator.choice(self.LOSSES)
            damage_file(path, loss, self.generator, keep_time=self.generator.random() < 0.7)
            done.append(f"{path.relative_to(self.space.root)}: {loss.__name__}")
        return done

    def lose_an_object(self):
        """One that no edit makes anew, but that is linked again."""
        file = next(self.space.build_dir.glob("obj/cuda/k.cpp/k.o"))
        damage_file(file, zeros, self.generator)
        return [file.name]

    def test_the_next_build_heals(self):
        wrong = []
        rounds = testspace.count(4, 500, deep_too=20)
        for number in range(rounds):
            self.restore()
            self.set_state(0)
            done = self.lose() if number else self.lose_an_object()
            self.set_state(self.generator.randrange(2) if number else 1)
            run = self.space.build()
            right = run.code == 0 and testspace.bundle_files(self.space.out) == self.scratch_of_state()
            if not right:
                what = f"exit code {run.code}: {run.err.strip().splitlines()[-2:]}" if run.code else "another bundle"
                wrong.append(f"round {number}, state {self.state}, {len(done)} files, {what}; " + ", ".join(done[:6]))
        if wrong:
            self.fail(f"{len(wrong)} of {rounds} rounds do not heal\n" + "\n".join(wrong))


if __name__ == "__main__":
    testspace.main(each_commit=6)
