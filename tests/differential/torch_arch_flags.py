#!/usr/bin/env python3
"""Compares dsbuild's reading of arch lists with torch's own, on lists that torch accepts.

usage: torch_arch_flags.py PROGRAM [--seed N]

PROGRAM reads lists from stdin and prints their -gencode flags (tests/tools/arch_flags.cpp). torch's side is
the function _get_cuda_arch_flags of torch/utils/cpp_extension.py. That one file is read out of the published
wheel by ranges, through pip and its settings (about 2 MB instead of the whole wheel), and kept in the
user's cache. Exit 77 (skipped), with the reason, where it cannot be had.
"""

import argparse
import ast
import os
import pathlib
import random
import re
import subprocess
import sys
import types
import zipfile

TORCH = "2.15.0"
MEMBER = "torch/utils/cpp_extension.py"
FUNCTION = "_get_cuda_arch_flags"
SKIPPED = 77
RANDOM_LISTS = 3000


def cached_file():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(cache) / "dsbuild" / "test" / f"torch-{TORCH}-cpp_extension.py"


def read_from_wheel():
    from pip._internal.commands import create_command
    from pip._internal.network.lazy_wheel import LazyZipOverHTTP
    from pip._vendor.packaging.specifiers import SpecifierSet

    command = create_command("download")
    options, _ = command.parse_args(["--no-deps", "--only-binary=:all:", f"torch=={TORCH}"])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session)
        best = finder.find_best_candidate("torch", SpecifierSet(f"=={TORCH}")).best_candidate
        if best is None:
            raise RuntimeError("the package index does not answer, or has no wheel for this Python")
        if best.link.is_file:
            return zipfile.ZipFile(best.link.file_path).read(MEMBER)
        with LazyZipOverHTTP(best.link.url_without_fragment, session) as wheel:
            return zipfile.ZipFile(wheel).read(MEMBER)


def torch_source():
    file = cached_file()
    if not file.exists():
        source = read_from_wheel()
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_bytes(source)
        part.replace(file)
    return file.read_text()


def torch_function(source):
    """The function alone, without torch: it reads only the environment when a list is set."""
    tree = ast.parse(source)
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == FUNCTION]
    if len(found) != 1:
        raise RuntimeError(f"{MEMBER} of torch {TORCH} has no {FUNCTION}")
    found[0].returns = None
    for argument in found[0].args.args:
        argument.annotation = None
    import collections
    import typing

    logger = types.SimpleNamespace(warning=print, info=print, debug=print)
    scope = {"os": os, "re": re, "collections": collections, "logger": logger, **vars(typing)}
    exec(compile(ast.Module(body=found, type_ignores=[]), MEMBER, "exec"), scope)
    return scope[FUNCTION], found[0]


def torch_flags(function, text):
    """None where torch refuses the list."""
    os.environ["TORCH_CUDA_ARCH_LIST"] = text
    try:
        return set(function([]))
    except ValueError:
        return None


def words_of(node):
    """Every arch and name that the function mentions, each also with PTX."""
    texts = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    is_word = re.compile(r"\d+\.\d[a-z]?|[A-Z][a-z]+(\+[A-Z][a-z]+)?").fullmatch
    words = sorted(text for text in texts if is_word(text))
    return words + [word + "+PTX" for word in words]


def lists_to_compare(words, seed):
    singles = list(words)
    pairs = [f"{a};{b}" for a in words for b in words]
    draw = random.Random(seed)
    longer = [
        draw.choice([";", " "]).join(draw.choices(words, k=draw.randint(3, 12))) for _ in range(RANDOM_LISTS)
    ]
    return singles + pairs + longer


def dsbuild_flags(program, lists):
    answer = subprocess.run([program], input="\n".join(lists) + "\n", capture_output=True, text=True, check=True)
    return [set(line.split(" ")) for line in answer.stdout.splitlines()]


def compare(program, function, lists):
    accepted = [(text, flags) for text in lists if (flags := torch_flags(function, text)) is not None]
    ours = dsbuild_flags(program, [text for text, _ in accepted])
    assert len(ours) == len(accepted), "one line of flags per list"
    faults = [(text, torch, own) for (text, torch), own in zip(accepted, ours) if torch != own]
    for text, torch, own in faults[:10]:
        print(f"'{text}': torch {sorted(torch)}, dsbuild {sorted(own)}")
    return len(accepted), len(faults)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    arguments = parser.parse_args()
    try:
        source = torch_source()
    except Exception as reason:  # no pip, another pip, no network, no ranges: all of them mean "not here"
        print(f"skipped: {MEMBER} of torch {TORCH} cannot be had: {type(reason).__name__}: {reason}")
        return SKIPPED
    function, node = torch_function(source)
    words = [word for word in words_of(node) if torch_flags(function, word)]
    print(f"torch {TORCH}: {len(words)} words; --seed {arguments.seed}")
    compared, faults = compare(arguments.program, function, lists_to_compare(words, arguments.seed))
    print(f"{compared} lists compared, {faults} differ")
    return 0 if faults == 0 and len(words) > 40 and compared > len(words) ** 2 / 2 else 1


if __name__ == "__main__":
    sys.exit(main())
