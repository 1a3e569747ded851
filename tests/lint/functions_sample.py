"""What the lints share that read a made up functions.yaml: the scripts on the path, and a sample's op. Without PyYAML, which the
scripts need, it exits with 77, which CTest shows as skipped."""

import pathlib
import sys
import tempfile

import lint

sys.path.insert(0, str(lint.ROOT / "scripts"))

try:
    import op_functions
except ImportError:
    print("skipped: PyYAML is not installed (python3-yaml)")
    sys.exit(77)


def read(functions, op):
    """The op of these texts of functions.yaml and op.yaml, and what is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("op.yaml", op), ("functions.yaml", functions)):
            (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
        try:
            return op_functions.read_op(pathlib.Path(folder), "own_op"), ""
        except op_functions.SpecError as error:
            return None, str(error)


def not_seen(wrong, functions, op):
    """The rows (what is changed, into what, the problem) whose problem nobody sees."""
    for before, after, words in wrong:
        changed = functions.replace(before, after, 1)
        found = read(changed, op)[1]
        if changed == functions or words not in found:
            yield f"not seen: {after!r}: {words} (found: {found})"
