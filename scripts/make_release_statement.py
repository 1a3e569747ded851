#!/usr/bin/env python3
"""make_release_statement.py DIST ROOT: an in-toto statement of a release (SLSA v1 provenance) on stdout: DIST's files, the commit
that they are made of, what pinned their build, and the compiler. ROOT: host or bullseye, as release.sh has it. BUILDER_ID says who
builds, BUILD_RUN which run of it (both URIs); without them it is what GitHub Actions says, else `urn:dsbuild:local`.
RELEASE_STARTED: when it began, in seconds since 1970."""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
PINNED = ("scripts/wheel_constraints.txt", "scripts/lib.sh")  # what pip builds with; versions of what is fetched


def git(*words):
    return subprocess.run(["git", "-C", REPOSITORY, *words], capture_output=True, text=True, check=False).stdout.strip()


def repository_uri():
    """Where the commit is had, without user and password; a folder of this machine is nobody else's."""
    remote = re.sub(r"^[\w.-]+@([^:/]+):", r"ssh://\1/", git("remote", "get-url", "origin"))
    return "git+" + re.sub(r"//[^/@]*@", "//", remote) if "://" in remote and not remote.startswith("file:") else "urn:dsbuild:source"


def sha256(file):
    return {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def time_text(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def builder():
    """(who builds, which run of it)"""
    server, names = os.environ.get("GITHUB_SERVER_URL"), ("GITHUB_WORKFLOW_REF", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    workflow, repository, run = (os.environ.get(name) for name in names)
    by_ci = (f"{server}/{workflow}", f"{server}/{repository}/actions/runs/{run}") if server and workflow else (
        "urn:dsbuild:local", f"urn:uuid:{uuid.uuid4()}")
    return tuple(os.environ.get(name) or said for name, said in zip(("BUILDER_ID", "BUILD_RUN"), by_ci))


def compiler():
    text = subprocess.run(["c++", "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
    return {"name": "c++", "annotations": {"version": text.splitlines()[0]}} if text else None


def statement(dist, root):
    who, which_run = builder()
    # In a clean root the compiler is that of its Debian.
    tools = [compiler()] if root == "host" else [{"name": "debian", "annotations": {"suite": root}}]
    inputs = [{"uri": repository_uri(), "digest": {"gitCommit": git("rev-parse", "HEAD")}},
              *({"name": name, "digest": sha256(REPOSITORY / name)} for name in PINNED), *filter(None, tools)]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": file.name, "digest": sha256(file)} for file in sorted(dist.iterdir())],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {"buildType": "urn:dsbuild:release:1",
                                "externalParameters": {"script": "scripts/release.sh", "root": root},
                                "resolvedDependencies": inputs},
            "runDetails": {"builder": {"id": who},
                           "metadata": {"invocationId": which_run,
                                        "startedOn": time_text(int(os.environ["RELEASE_STARTED"])),
                                        "finishedOn": time_text(datetime.datetime.now().timestamp())}}}}


if __name__ == "__main__":
    if len(sys.argv) != 3 or "RELEASE_STARTED" not in os.environ:
        sys.exit("usage: RELEASE_STARTED=SECONDS make_release_statement.py DIST ROOT")
    print(json.dumps(statement(pathlib.Path(sys.argv[1]), sys.argv[2]), indent=1))
