"""Packages of PyPI that dsbuild is measured with: ten that build in a few minutes for one arch, and five larger ones. For each what
its build must be told, and of its own tests those that need no GPU."""

import collections
import dataclasses
import os
import pathlib
import shutil
import subprocess
import xml.etree.ElementTree

PYTEST = ("pytest==9.2.0", "iniconfig==2.3.1", "pluggy==1.7.0", "pygments==2.21.0", "packaging==26.4")


@dataclasses.dataclass(frozen=True)
class Package:
    version: str
    environment: dict = dataclasses.field(default_factory=dict)
    archs: str = ""  # "project": those in the project's own flags, of which torch's build takes no others
    tests: tuple = ()  # files of its source distribution
    needs: tuple = ()  # wheels that the tests import, beside PYTEST
    is_large: bool = False

    def wheels(self):
        return (*PYTEST, *self.needs) if self.tests else ()


ONLY_CUDA = {"FORCE_ONLY_CUDA": "1"}
PACKAGES = {
    "torchsort": Package("0.1.10"),
    "spatial-correlation-sampler": Package("0.5.0"),
    "torch-discounted-cumsum": Package("1.1.0", tests=("tests/test.py",), needs=("tqdm==4.70.1",)),
    "chamferdist": Package("1.0.3"),
    "exllamav2": Package("0.0.4"),
    "torch-linear-assignment": Package("0.1.0", {"TLA_BUILD_LEGACY_CUDA": "1"}),
    "torchlpc": Package("0.7.2", tests=("tests",), needs=("numba==0.68.1", "llvmlite==0.50.0")),
    "xformers": Package("0.0.35"),
    "torch-spline-conv": Package("1.2.2", ONLY_CUDA),
    "torch-scatter": Package("2.1.2", ONLY_CUDA),
    "torch_harmonics": Package("0.8.0", {"FORCE_CUDA_EXTENSION": "1"}, tests=("tests/test_cache.py", "tests/test_convolution.py",
                                                                            "tests/test_sht.py"),
                               needs=("parameterized==0.9.0",), is_large=True),
    "torch-points-kernels": Package("0.7.0", ONLY_CUDA, is_large=True),
    "causal-conv1d": Package("1.7.0", {"CAUSAL_CONV1D_FORCE_BUILD": "TRUE"}, archs="project", is_large=True),
    "gsplat": Package("1.5.3", is_large=True),
    "mmcv": Package("2.2.0", {"MMCV_WITH_OPS": "1"}, is_large=True),
}


def install_needs(package, python, folder, wheels=None, environment=None):
    """What its tests import; `wheels`: the folder to take it from, without an index."""
    source = ["--no-index", "--find-links", wheels] if wheels else []
    subprocess.run([python, "-m", "pip", "install", "-q", "--target", folder, "--no-deps", *source, *package.wheels()], check=True,
                   stdout=subprocess.DEVNULL, env=environment)


def run_own_tests(package, python, source, paths, work, environment):
    """{test: "passed", "skipped", "failed"} without a GPU; `paths`: where Python finds the package and what its tests import."""
    shutil.rmtree(work, ignore_errors=True)
    for file in package.tests:
        copy = shutil.copytree if (source / file).is_dir() else shutil.copy
        (work / file).parent.mkdir(parents=True, exist_ok=True)
        copy(source / file, work / file)
    environment = {**environment, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": os.pathsep.join(map(str, paths))}
    run = subprocess.run([python, "-m", "pytest", "-q", "--junit-xml", "outcomes.xml", *package.tests], cwd=work, env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if not (work / "outcomes.xml").exists():
        raise RuntimeError(run.stdout[-3000:])
    return read_outcomes(work / "outcomes.xml")


def read_outcomes(file):
    outcomes = {}
    for case in xml.etree.ElementTree.parse(pathlib.Path(file)).iter("testcase"):
        found = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        outcome = "passed" if not found else "skipped" if found == ["skipped"] else "failed"
        outcomes[f"{case.get('classname')}.{case.get('name')}"] = outcome
    return outcomes


def said_of(outcomes, own=None):
    """"12 passed, 3 skipped"; with those of the package's own build whether they are the same."""
    counts = collections.Counter(outcomes.values())
    said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped") if counts[outcome]) or "none"
    if own is None:
        return said
    others = sorted(name for name in {*own, *outcomes} if own.get(name) != outcomes.get(name))
    return f"{said}; OTHERS THAN OWN'S: {', '.join(others[:3])}" if others else said
