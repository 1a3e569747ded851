"""What happens in the processes of DeepSpeed's tests, line by line in the file $WITNESS_LOG.

A .pth file loads it in every Python of the environment under test, so that also processes that a test starts say
which ops they loaded and from which file. pytest loads it as a plugin (-p) and says what became of each test.
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


def watch_imports(event, arguments):
    """Python tells audit hooks the file of each extension module that it loads, however it was found."""
    if event == "import" and arguments[1] and str(arguments[1]).startswith(OP_FOLDERS):
        note(module=arguments[0].rpartition(".")[2].removesuffix("_op"), file=str(arguments[1]))


sys.addaudithook(watch_imports)


def pytest_runtest_setup(item):
    """The same random numbers for both ways of building."""
    import numpy
    import torch

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
