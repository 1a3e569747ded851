"""The schemas that `dsbuild schema` prints, and whether an answer of --json keeps to its own. Without the package jsonschema
nothing is checked."""

import functools
import json
import subprocess

try:
    import jsonschema
except ImportError:
    jsonschema = None

COMMANDS = ["build", "plan", "list", "report", "explain", "inspect", "verify", "sign", "sbom", "diff", "page", "load", "record",
            "nvcc", "wrap", "wheel", "install", "toolkits", "new", "clean", "cache", "schema", "help", "completion", "complete", "action"]
# Their output is a program's own, or not JSON.
WITHOUT_ANSWER = {"nvcc", "schema", "completion", "complete", "action"}
CACHE_ANSWERS = {"prune": "prune", "clear": "prune", "push": "transfer", "pull": "transfer", "export": "transfer",
                 "import": "transfer"}


@functools.lru_cache(maxsize=None)
def schema(program, name):
    run = subprocess.run([program, "schema", name], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


@functools.lru_cache(maxsize=None)
def validator(program, name):
    return jsonschema.Draft202012Validator(schema(program, name))


def answer_of(words):
    """The name of the schema of what these words print."""
    command = next((word for word in words if word in COMMANDS), "build")
    if command != "cache":
        return command
    return "cache-" + next((CACHE_ANSWERS[word] for word in words if word in CACHE_ANSWERS), "stats")


def problems(program, name, document):
    """Where the document breaks the schema, one line each."""
    found = []
    for error in validator(program, name).iter_errors(document):
        within = list(error.context or [])
        # Of alternatives that of the same event, where there is one.
        nearest = [each for each in within if each.validator != "const"] or within
        found += [f"{'/'.join(map(str, each.absolute_path))}: {each.message[:300]}" for each in (nearest or [error])]
    return found


def check_answer(program, words, out):
    """What was printed with --json is of the form that `dsbuild schema` says."""
    words = [str(word) for word in words]
    words = words[:words.index("--")] if "--" in words else words
    name = answer_of(words)
    if name == "sbom" and "--sbom-file" not in words:  # the bill itself
        return
    if jsonschema is None or "--json" not in words or name in WITHOUT_ANSWER:
        return
    lines = out.splitlines()
    for line in lines if name == "build" else lines[-1:]:
        document = json.loads(line)
        is_error = "error" in document and "event" not in document
        wrong = problems(str(program), "error" if is_error else name, document)
        if wrong:
            raise AssertionError("\n".join([f"not as `dsbuild schema {name}` says ({' '.join(words)})", *wrong[:9], line[:1000]]))
