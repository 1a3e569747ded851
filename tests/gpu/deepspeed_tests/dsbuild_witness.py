"""What happens in the processes of DeepSpeed's tests, line by line in the file $WITNESS_LOG.

A .pth file loads it in every Python of the environment under test, so that also processes that a test starts say
which ops they loaded and from which file. pytest loads it as a plugin (-p): it runs a part of the tests ($WITNESS_PART)
and says what became of each.
"""

import json
import os
import random
import sys

OP_FOLDERS = tuple(os.path.join(folder, "") for folder in (sys.prefix, os.environ.get("TORCH_EXTENSIONS_DIR", sys.prefix)))


def note(**what):
    if "WITNESS_LOG" not in os.environ:
        return
    descriptor = os.open(os.environ["WITNESS_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, (json.dumps(what) + "\n").encode())  # one write: lines of several processes do not mix
    os.close(descriptor)


def op_of(module):
    """Its name, also of deepspeed.inference.v2.kernelsinference_core_ops, whose own module name lacks a dot."""
    return module.rpartition(".")[2].removesuffix("_op").removeprefix("kernels")


def watch_imports(event, arguments):
    """Python tells audit hooks the file of each extension module that it loads, however it was found."""
    if event == "import" and arguments[1] and str(arguments[1]).startswith(OP_FOLDERS):
        note(module=op_of(arguments[0]), file=str(arguments[1]))


sys.addaudithook(watch_imports)


def started_before():
    """The tests that the log knows: where one of them ended the run, the next run goes on behind it."""
    if not os.path.exists(os.environ["WITNESS_LOG"]):
        return set()
    with open(os.environ["WITNESS_LOG"], encoding="utf-8") as log:
        return {note.get("started") for note in map(json.loads, log)}


def pytest_collection_modifyitems(items):
    """Every n-th test is this part's: neighbours take equally long."""
    part, parts = map(int, os.environ["WITNESS_PART"].split("/"))
    known = started_before()
    items[:] = [item for item in items[part::parts] if item.nodeid not in known]


def pytest_runtest_setup(item):
    """The same random numbers for both ways of building."""
    import numpy
    import torch

    note(started=item.nodeid)
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        outcome = "error" if report.when != "call" and report.outcome == "failed" else report.outcome
        note(test=report.nodeid, outcome=outcome)


def pytest_collectreport(report):
    if report.outcome != "passed":
        note(test=report.nodeid, outcome="skipped" if report.outcome == "skipped" else "error")
