"""What a group of tests did, by its exit code and what it printed: unittest's lines or compute-sanitizer's."""

import collections
import re

SKIPPED = 77  # a script's exit code where something is missing that it needs
PRINTED = r"^=+ +"  # how compute-sanitizer begins a line


def of_unittest(text):
    """{"tests", "passed", "skipped": {reason: how many}} of verbose lines; nothing where they tell of no test."""
    ran = sum(int(number) for number in re.findall(r"^Ran (\d+) tests? in ", text, re.M))
    lines = re.findall(r"^(.*)\.\.\. skipped ['\"](.*)['\"]$", text, re.M)
    if not ran and not lines:
        return {}
    classes = sum("setUpClass (" in begin for begin, _ in lines)  # unittest does not count them among those that ran
    failed = set(re.findall(r"^(?:FAIL|ERROR): (test\w+ \([\w.]+\))", text, re.M))  # once, also where several subtests failed
    tests = ran + classes
    return {"tests": tests, "passed": max(0, tests - len(lines) - len(failed)),
            "skipped": dict(collections.Counter(reason for _, reason in lines))}


def errors_of(text):
    """How many errors compute-sanitizer counts; None where it did not come to its summary."""
    errors = re.findall(PRINTED + r"ERROR SUMMARY: (\d+) error", text, re.M)
    hazards = re.findall(PRINTED + r"RACECHECK SUMMARY: (\d+) hazard", text, re.M)
    return sum(map(int, errors + hazards)) if errors or hazards else None


def kernels_of(text):
    """The kernels that compute-sanitizer found errors in, one for each error that it printed."""
    return re.findall(PRINTED + r"(?:at|Error: Race reported between .* access at) (.*?)(?:\+0x[0-9a-f]+.*)?$", text, re.M)


def of_sanitizer(code, text):
    """(result, why). An error in a kernel of another library is told, and is no failure where the exit code is 0 (initcheck, which
    has no --error-exitcode here)."""
    errors = errors_of(text)
    if errors is None:
        return "failed", f"compute-sanitizer printed no summary, exit code {code}"
    if code:
        return "failed", f"{errors} errors, exit code {code}"
    kernels = kernels_of(text)
    own = [kernel for kernel in kernels if "dsbuild::" in kernel]
    if own:
        return "failed", f"{len(own)} errors in dsbuild's kernels, the first in {own[0]}"
    if errors and not kernels:
        return "failed", f"{errors} errors, and no kernel is named"
    return "passed", f"{errors} errors" + (", all in other libraries' kernels" if errors else "")


def of_script(code, text):
    """(result, why)"""
    if code == SKIPPED:
        reasons = re.findall(r"^skipped: (.*)$", text, re.M)
        return "skipped", reasons[-1] if reasons else "exit code 77"
    if code:
        last = [line for line in text.splitlines() if line.strip()]
        return "failed", f"signal {-code}" if code < 0 else f"exit code {code}" + (f": {last[-1].strip()[:150]}" if last else "")
    return "passed", ""


def outcome(code, text, is_sanitized=False):
    """{"result", "why", ...} of a group that ended by itself."""
    result, why = of_script(code, text)
    if is_sanitized and result != "skipped":
        result, why = of_sanitizer(code, text)
    found = {"result": result, "why": why, **of_unittest(text)}
    if result == "failed" and found.get("tests"):
        found["why"] = f"exit code {code}" if code >= 0 else f"signal {-code}"
    return found
