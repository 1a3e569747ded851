#!/usr/bin/env python3
"""make_conda_package.py WHEEL OUTDIR: a conda package of dsbuild's wheel, by packaging/conda/recipe.yaml. Needs PyPI's
py-rattler-build; asks no channel, for nothing is compiled."""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zipfile

RECIPE = pathlib.Path(__file__).resolve().parent.parent / "packaging" / "conda" / "recipe.yaml"


def facts_of(wheel):
    """(version, glibc) as the wheel's name says them: dsbuild-0.3.0-py3-none-manylinux_2_31_x86_64.whl."""
    match = re.match(r"dsbuild-([^-]+)-py3-none-(?:manylinux_\d+_\d+_\w+\.)*manylinux_(\d+)_(\d+)_", wheel.name)
    if not match:
        sys.exit(f"dsbuild: {wheel.name} is no manylinux wheel of dsbuild's")
    return match[1], f"{match[2]}.{match[3]}"


def make_empty_channel(folder):
    for platform in ("noarch", "linux-64", "linux-aarch64"):
        (folder / platform).mkdir(parents=True)
        (folder / platform / "repodata.json").write_text(json.dumps(
            {"info": {"subdir": platform}, "packages": {}, "packages.conda": {}, "repodata_version": 1}))
    return folder.as_uri()


def make_package(wheel, out):
    """The path of the package."""
    from rattler_build import Stage0Recipe, ToolConfiguration

    version, glibc = facts_of(wheel)
    with tempfile.TemporaryDirectory(prefix="dsbuild-conda-") as place:
        work = pathlib.Path(place)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(work / "wheel")
        os.environ.update(DSBUILD_VERSION=version, DSBUILD_GLIBC=glibc, DSBUILD_UNPACKED=str(work / "wheel"))
        results = Stage0Recipe.from_file(str(RECIPE)).run_build(
            tool_config=ToolConfiguration(test_strategy="skip"), output_dir=work / "built",
            channels=[make_empty_channel(work / "channel")], no_build_id=True)
        package = pathlib.Path(results[0].packages[0])
        out.mkdir(parents=True, exist_ok=True)
        return shutil.copyfile(package, out / package.name)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: make_conda_package.py WHEEL OUTDIR")
    print(make_package(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
