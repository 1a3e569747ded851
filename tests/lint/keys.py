#!/usr/bin/env python3
"""One recipe for keys, one place for caches and runners: the digest of a key is made in lib/exec/key.cpp alone, and the
version is a part of a key. lib/cache and the packer of files for a shared cache name the classes that another backend of a
cache implements; lib/exec and the command that picks one name runners."""

import re

import lint

KEY_CODE = ("lib/exec/", "lib/nvcc/", "lib/hip/", "lib/wrapper/", "lib/kinds/", "lib/cache/")
RECIPE = "lib/exec/key.cpp"
RULES = [
    (lambda path: path.startswith(KEY_CODE) and path != RECIPE, re.compile(r"\bsha256\w*\s*\([^;]*\b\w*[kK]ey\b[^;]*;"),
     "makes a digest of a key by hand: use Key (lib/exec/key.h)"),
    (lambda path: path != "lib/exec/action_key.h", re.compile(r"(?<!add\(\"version\", )\bk_key_version\b"),
     "the version is a part of a key: add(\"version\", k_key_version)"),
    (lambda path: not path.startswith(("lib/cache/", "lib/remote/packed_files.")), re.compile(r"(?<!v2\.)\b(?:ActionCache|BlobStore)\b"),
     "names a part of the cache: use TieredCache (lib/cache/tiered_cache.h)"),
    (lambda path: not path.startswith(("lib/exec/", "lib/kinds/run_action.", "apps/dsbuild/command_action.")),
     re.compile(r"\b(?:Local)?Runner\b(?!::)"), "names who runs tools: use Engine::run (lib/exec/engine.h)"),
]


def check(texts):
    problems = []
    for path, text in texts.items():
        code = lint.without_comments(text)
        for is_for, pattern, what in RULES:
            if is_for(path):
                problems += [f"{path}:{lint.line_of(code, match.start())}: {what}" for match in pattern.finditer(code)]
    return problems


GOOD = {
    RECIPE: "std::string Key::digest() const { return sha256(text_of(key)); }\n",
    "lib/exec/action_key.h": 'inline constexpr const char* k_key_version = "1";\n',
    "lib/nvcc/step_unit.cpp": 'Key key;\nkey.add("version", k_key_version).add_bytes("text", text);\nauto lines = sha256(text);\n',
    "apps/dsbuild/command_action.cpp": "LocalRunner runner(processes);\n",
    "lib/cache/local_cache.h": "class LocalActionCache : public ActionCache {};\n",
    "lib/remote/a.cpp": 'auto service = "build.bazel.remote.execution.v2.ActionCache/";  // of another program\n',
    "lib/plan/header.cpp": "auto folder = sha256(key).substr(0, 8);  // of a name, not of a result; ActionCache\n",
}
BAD = [
    ("lib/nvcc/a.cpp", "auto result = sha256(digest_of(record.key) + bytes);\n", "a digest of a key by hand"),
    ("lib/wrapper/a.cpp", "auto result =\n    sha256_of_pieces({key, bytes});\n", ":2: makes a digest"),
    ("lib/driver/a.cpp", "auto identity = sha256(k_key_version + text);\n", "a part of a key"),
    ("lib/nvcc/a.h", "ActionCache& cache;\n", "a part of the cache"),
    ("lib/nvcc/a.cpp", "Runner& runner;\n", "names who runs tools"),
    ("apps/dsbuild/a.cpp", "const BlobStore& blobs;\n", "a part of the cache"),
]

if __name__ == "__main__":
    lint.main(check, lambda: lint.read_tree("lib", "apps", suffixes=lint.CPP), GOOD, BAD)
