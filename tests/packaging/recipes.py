"""Runs a Dockerfile, and the lines of CI jobs, in clean Debian roots: no Docker engine, no runner.

Of a Dockerfile: ARG, FROM … AS (an image, or an earlier stage), ENV, LABEL, WORKDIR, COPY, COPY --from, RUN,
RUN --mount=type=cache. Anything else is an error."""

import glob
import os
import pathlib
import re
import shlex
import shutil
import unittest

from machine import CACHE, Root

CUDA = "/usr/local/cuda"
# What stands for the cache folders that a Dockerfile mounts.
CACHES = {"/cache/dsbuild": CACHE, "/cache/pip": CACHE / "roots" / "pip"}


def root_of(image):
    """(suite, binds) of an image. One with CUDA is a clean root with this machine's CUDA in it."""
    if image == "debian:12":
        return "bookworm", {}
    if re.match(r"nvidia/cuda:.*-devel-", image):
        if not os.access(f"{CUDA}/bin/nvcc", os.X_OK):
            raise unittest.SkipTest(f"{image}: this machine has no {CUDA} to put in its place")
        return "bookworm", {CUDA: f"{os.path.realpath(CUDA)}"}
    raise AssertionError(f"no root stands for the image {image}")


def expanded(text, variables):
    """$NAME and ${NAME}; a name that is not known stays empty, as with Docker."""
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda match: variables.get(match[1] or match[2], ""), text)


def instructions(text):
    """[(word, rest)] of a Dockerfile; continued lines are one."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    whole = re.sub(r"\\\n", "", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in whole.splitlines() if line.strip()]


def copy(sources, target, into_folder):
    """As COPY does: of a folder, what is in it."""
    for source in sources:
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            place = target / source.name if into_folder else target
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place, follow_symlinks=False)


class Stage:
    def __init__(self, image):
        suite, binds = root_of(image)
        self.root = Root(suite)
        self.root.binds.update(binds)
        self.env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        self.arguments, self.labels, self.folder = {}, {}, "/"

    def copy(self):
        """A stage that begins as this one ended; arguments are a stage's own."""
        twin = Stage.__new__(Stage)
        twin.root, twin.env, twin.arguments, twin.folder = self.root.copy(), dict(self.env), {}, self.folder
        twin.labels = dict(self.labels)
        return twin

    def inside(self, path):
        return self.root.path / os.path.join(self.folder, path).lstrip("/")


class Dockerfile:
    """`context` is the build context; `arguments` are those of --build-arg."""

    def __init__(self, text, context, arguments):
        self.context, self.given = pathlib.Path(context), arguments
        self.stages, self.names, self.before, self.output = [], {}, {}, ""
        self.instructions = instructions(text)

    def run(self):
        """The last stage."""
        for word, rest in self.instructions:
            getattr(self, f"do_{word.lower()}")(rest)
        return self.stages[-1]

    def remove(self):
        for stage in self.stages:
            stage.root.remove()

    def values(self):
        return {**self.stages[-1].arguments, **self.stages[-1].env} if self.stages else self.before

    def do_arg(self, rest):
        name, _, default = rest.partition("=")
        values = self.stages[-1].arguments if self.stages else self.before
        values[name] = self.given.get(name, default or self.before.get(name, ""))

    def do_from(self, rest):
        image, *name = re.split(r"\s+AS\s+", expanded(rest.strip(), self.before), flags=re.I)
        self.stages.append(self.names[image].copy() if image in self.names else Stage(image))
        for each in name:
            self.names[each] = self.stages[-1]

    def do_env(self, rest):
        for word in shlex.split(rest):
            name, _, value = word.partition("=")
            self.stages[-1].env[name] = expanded(value, self.values())

    def do_label(self, rest):
        for word in shlex.split(rest):
            name, _, value = word.partition("=")
            self.stages[-1].labels[name] = expanded(value, self.values())

    def do_workdir(self, rest):
        stage = self.stages[-1]
        stage.folder = os.path.join(stage.folder, expanded(rest, self.values()))
        stage.inside("").mkdir(parents=True, exist_ok=True)

    def do_copy(self, rest):
        words = expanded(rest, self.values()).split()
        base = self.context
        if words[0].startswith("--from="):
            base = self.names[words.pop(0).partition("=")[2]].root.path
        *sources, target = words
        found = [pathlib.Path(path) for source in sources for path in sorted(glob.glob(str(base / source.lstrip("/"))))]
        if not found:
            raise AssertionError(f"COPY {rest}: nothing there")
        copy(found, self.stages[-1].inside(target), target.endswith("/") or len(found) > 1)

    def do_run(self, rest):
        stage, binds = self.stages[-1], {}
        while match := re.match(r"--mount=type=cache,target=(\S+)\s+", rest):
            if match[1] not in CACHES:
                raise AssertionError(f"no folder stands for {match[0]}")
            binds[match[1]] = CACHES[match[1]]
            binds[match[1]].mkdir(parents=True, exist_ok=True)
            rest = rest[match.end():]
        self.output += stage.root.run("sh", "-c", rest, env={**stage.arguments, **stage.env}, binds=binds, cwd=stage.folder)


class Job:
    """A CI job's lines, run in one root and one project folder. Between two runs only what the job caches stays."""

    def __init__(self, image, project, place, variables, cached):
        suite, binds = root_of(image)
        self.root, self.place, self.cached = Root(suite), place, cached
        self.root.binds.update(binds)
        self.project, self.folder = pathlib.Path(project), self.root.path / place.lstrip("/")
        self.variables = variables
        self.check_out()

    def check_out(self):
        """A fresh copy of the project, and what was cached in it."""
        kept = self.root.place / "cache"
        kept.mkdir(exist_ok=True)
        for name in self.cached:
            if (self.folder / name).exists():
                (self.folder / name).rename(kept / name)
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.project, self.folder)
        for name in self.cached:
            if (kept / name).exists():
                (kept / name).rename(self.folder / name)

    def bind_cache(self, place):
        self.root.binds[place] = CACHE

    def shell(self, script, **more):
        return self.root.run("bash", "-e", "-c", script, env={**self.variables, **more}, cwd=self.place)
