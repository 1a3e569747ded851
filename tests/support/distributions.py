"""What the tests of `dsbuild wheel` and `dsbuild install` share: a bundle of small Python modules, stand-ins for
deepspeed and torch, and a virtual environment in which pip installs and removes them."""

import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import zipfile

from packs import Pack
from testspace import forge_manifest

PYTHON = f"cp{sys.version_info[0]}{sys.version_info[1]}"
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
TORCH = {"version": "2.11.0+cu130", "cuda": "13.0", "hip": "", "cxx11_abi": True, "python": PYTHON, "ext_suffix": SUFFIX,
         "accelerator": "cuda"}
# The last one in a folder that the stand-in, like DeepSpeed, does not have.
OPS = {"cpu_adam": "deepspeed.ops.adam.cpu_adam_op", "fused_adam": "deepspeed.ops.adam.fused_adam_op",
       "spatial_inference": "deepspeed.ops.spatial.spatial_inference_op"}
NAME = "dsbuild_deepspeed_ops"

# A Python module without Python's headers: the machine may have none.
EXTENSION = """
extern "C" {{
void* PyModule_Create2(void*, int) __attribute__((weak));
static struct {{ long references; void* base[4]; const char* name; const char* text; long size; void* rest[5]; }} definition =
  {{1, {{}}, "{name}", "", -1, {{}}}};
void* PyInit_{name}() {{ return PyModule_Create2(&definition, 1013); }}
}}
"""


def make_pack(folder):
    """Two ops that are Python modules of DeepSpeed, and one that is none."""
    pack = Pack(folder, "deepspeed")
    for op, module in OPS.items():
        pack.add_op(op, {f"{op}.cpp": EXTENSION.format(name=module.split(".")[-1])}, {"backend": "cpu", "module": module})
    pack.add_op("plain", {"plain.cpp": 'extern "C" int plain_run() { return 1; }\n'}, {"backend": "cpu"})
    return pack


def edit_manifest(bundle, source_version="0.19.8", torch=None, **ops):
    """As a build against torch leaves it; `ops`: keys to add to the entries of ops."""
    file = bundle / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest.update(source_version=source_version, torch={**TORCH, **(torch or {})})
    for op in manifest["ops"]:
        op.update(ops.get(op["name"], {}))
    forge_manifest(bundle, manifest)


# ---- stand-ins

INSTALLED = """version='{version}'
git_hash='edaa7221'
git_branch='master'
installed_ops={ops}
accelerator_name='{accelerator}'
torch_info={{'version': '2.11', 'bf16_support': False, 'cuda_version': '13.0', 'nccl_version': '2.2', 'hip_version': '0.0'}}
"""
VERSION_INFO = """try:
    from .git_version_info_installed import *
except ModuleNotFoundError:
    version, git_hash, git_branch, accelerator_name = '0.0.0', '[none]', '[none]', ''
    installed_ops, torch_info = {'cpu_adam': False, 'fused_adam': False}, {'version': '0.0', 'cuda_version': '0.0'}
"""


def write_wheel(folder, name, version, files, tag="py3-none-any"):
    """A wheel as build tools make it."""
    info = f"{name}-{version}.dist-info"
    files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n"}
    record = "".join(f"{path},sha256={digest(data)},{len(as_bytes(data))}\n" for path, data in files.items())
    wheel = pathlib.Path(folder) / f"{name}-{version}-{tag}.whl"
    wheel.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, data in {**files, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            archive.writestr(path, data)
    return wheel


def deepspeed_files(version, built_ops=(), accelerator="cuda", extra=None):
    """As `pip install deepspeed` leaves them, with the ops that it built itself."""
    ops = {op: op in built_ops for op in OPS}
    return {"deepspeed/__init__.py": "from .git_version_info import version as __version__\n",
            "deepspeed/git_version_info.py": VERSION_INFO,
            "deepspeed/git_version_info_installed.py": INSTALLED.format(version=version, ops=ops, accelerator=accelerator),
            "deepspeed/ops/__init__.py": "", "deepspeed/ops/adam/__init__.py": "", **(extra or {})}


def torch_files(version="2.11.0+cu130", cuda="13.0", abi=True):
    return {"torch/__init__.py": f"from . import version\n__version__ = '{version}'\n"
                                 f"def compiled_with_cxx11_abi():\n    return {abi}\n",
            "torch/version.py": f"cuda = {cuda!r}\nhip = None\n"}


def as_bytes(data):
    return data.encode() if isinstance(data, str) else data


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(as_bytes(data)).digest()).rstrip(b"=").decode()


# ---- a virtual environment

# pip is loaded once; each command runs in a process of its own that starts as a copy.
PIP_SERVER = """
import json, os, sys
from pip._internal.cli.main import main
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1), os.dup2(log, 2)
        os._exit(main(json.loads(line)))
    print(os.waitpid(child, 0)[1] >> 8, flush=True)
"""

PROBE = """
import importlib, json, sys, warnings
said = {"warnings": [], "modules": {}, "errors": {}}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        import deepspeed
        from deepspeed import git_version_info as info
        said.update(version=deepspeed.__version__, installed={op for op, there in info.installed_ops.items() if there},
                    accelerator=info.accelerator_name, torch=info.torch_info, git_hash=info.git_hash)
    except ModuleNotFoundError as error:
        said["absent"] = error.name
    except ImportError as error:
        said["broken"] = str(error)
    for name in sys.argv[1:]:
        try:
            said["modules"][name] = importlib.import_module(name).__file__
        except ImportError as error:
            said["errors"][name] = f"{type(error).__name__}: {error}"
said["warnings"] = [str(one.message) for one in caught]
print(json.dumps(said, default=sorted))
"""


class Venv:
    """Its site-packages, seen without pip's own files and torch."""

    OWN = ("pip", "setuptools", "_distutils_hack", "distutils-precedence.pth", "pkg_resources", "wheel", "__pycache__", "torch")

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        subprocess.run([sys.executable, "-m", "venv", self.folder], check=True, stdout=subprocess.DEVNULL)
        self.python = self.folder / "bin" / "python"
        self.site = next(self.folder.glob("lib/python*/site-packages"))
        self.log = self.folder / "pip.log"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1",
                            "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
        self.server = subprocess.Popen([self.python, "-c", PIP_SERVER, self.log], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True, env=self.environment)

    def close(self):
        self.server.stdin.close()
        self.server.stdout.close()
        self.server.wait()

    def pip(self, *words):
        """The exit code; what it said is in `log`."""
        self.server.stdin.write(json.dumps([str(word) for word in words]) + "\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())

    def said(self):
        return self.log.read_text()

    def install(self, *wheels, compiled=False):
        return self.pip("install", "--no-deps", *([] if compiled else ["--no-compile"]), *wheels)

    def remove(self, *names):
        return self.pip("uninstall", "--yes", *names)

    def probe(self, *modules, python=None, **environment):
        """What a program sees that imports deepspeed and these modules."""
        run = subprocess.run([python or self.python, "-c", PROBE, *modules], env={**self.environment, **environment},
                             cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        assert run.returncode == 0 and not run.stderr, run.stderr
        return json.loads(run.stdout)

    # ---- the state: files below site-packages

    def entries(self):
        return sorted(path for path in self.site.iterdir() if not path.name.startswith(self.OWN))

    def state(self):
        """{path: digest} of every file, {path: ""} of a folder without files."""
        files = {}
        for entry in self.entries():
            for path in [entry, *entry.rglob("*")]:
                if path.is_file():
                    files[str(path.relative_to(self.site))] = digest(path.read_bytes())
                elif not any(path.iterdir()):
                    files[str(path.relative_to(self.site))] = ""
        return files

    def save(self, place):
        place.mkdir()
        for entry in self.entries():
            copy_entry(entry, place / entry.name)

    def restore(self, place):
        self.clear()
        for entry in place.iterdir():
            copy_entry(entry, self.site / entry.name)

    def clear(self):
        for entry in self.entries():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def damaged_files(self):
        """Files that an installed distribution says it has, and that are not there or not so."""
        damaged = []
        for record in self.site.glob("*.dist-info/RECORD"):
            if record.parent.name.startswith(self.OWN):
                continue
            for line in record.read_text().splitlines():
                path, said, _ = line.rsplit(",", 2)
                file = self.site / path
                if not file.exists() or (said and said != "sha256=" + digest(file.read_bytes())):
                    damaged.append(f"{record.parent.name}: {path}")
        return damaged


def copy_entry(entry, to):
    shutil.copytree(entry, to) if entry.is_dir() else shutil.copy2(entry, to)
