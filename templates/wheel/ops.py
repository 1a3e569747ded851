"""Which ops there are, for which DeepSpeed, and what keeps one from being loaded here (dsbuild, docs/guides/wheel.md)."""

import functools
import importlib
import importlib.machinery
import importlib.util
import json
import os
import sys
import warnings

CLAIMS = "deepspeed.git_version_info_installed"  # where DeepSpeed looks up which ops are installed
AGAIN = "Build the ops again with dsbuild for what is installed here, or install what they were built for."


@functools.lru_cache(maxsize=None)
def manifest(folder):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        return json.load(file)


def file_of(folder, op, built):
    return place(folder, op["module"], op.get("module_suffix") or built["torch"]["ext_suffix"])


def place(folder, module, suffix):
    return os.path.join(folder, *module.split(".")) + suffix


def find_spec(finder, name, path, target):
    if name == CLAIMS:
        return claims_spec(finder, name, path, target)
    built = manifest(finder.folder)
    if any(op["module"].startswith(name + ".") for op in built["ops"]):
        return package_spec(finder, name, path, target)
    op = next((op for op in built["ops"] if op["module"] == name), None)
    file = op and file_of(finder.folder, op, built)
    if op is None or not os.path.exists(file) or not is_for_this_deepspeed(name, built):
        return None
    return importlib.util.spec_from_file_location(name, file, loader=OpLoader(name, file, op, built))


def package_spec(finder, name, path, target):
    """A package that DeepSpeed has only where it built the op in it itself, such as deepspeed.ops.spatial. It has no files."""
    absent = "." in name and found_by_others(finder, name, path, target) is None
    if not absent or not is_for_this_deepspeed(name, manifest(finder.folder)):
        return None
    return importlib.machinery.ModuleSpec(name, None, is_package=True)


def found_by_others(finder, name, path, target):
    """What Python would find without our finder."""
    for other in sys.meta_path[sys.meta_path.index(finder) + 1:]:
        spec = other.find_spec(name, path, target) if hasattr(other, "find_spec") else None
        if spec is not None:
            return spec
    return None


# ---- DeepSpeed's list of installed ops


def release(version):
    """Without the local part: 0.19.8 of 0.19.8+edaa7221."""
    return version.partition("+")[0].strip()


def fits(version, built):
    wanted = built.get("source_version", "")
    return not wanted or release(version) == release(wanted)


def is_for_this_deepspeed(name, built):
    if not name.startswith("deepspeed."):
        return True
    try:
        return fits(importlib.import_module(CLAIMS).version, built)
    except ImportError:
        return False


def claims_spec(finder, name, path, target):
    """DeepSpeed's own file, whose loader adds ours. Without its own there is no telling which DeepSpeed it is."""
    spec = found_by_others(finder, name, path, target)
    if spec is not None:
        spec.loader = ClaimsLoader(spec.loader, finder.folder)
    return spec


class ClaimsLoader:
    def __init__(self, own, folder):
        self.own = own
        self.folder = folder

    def __getattr__(self, name):
        return getattr(self.own, name)

    def create_module(self, spec):
        return self.own.create_module(spec)

    def exec_module(self, module):
        self.own.exec_module(module)
        built = manifest(self.folder)
        if fits(module.version, built):
            self.add_claims(module)
            return
        warnings.warn(f"{os.path.basename(self.folder)} is for DeepSpeed {built['source_version']}, and this is "
                      f"{module.version}: its ops are not used, DeepSpeed compiles its own. {AGAIN}", RuntimeWarning)

    def add_claims(self, module):
        file = place(self.folder, CLAIMS, ".py")
        ours = {}
        with open(file, encoding="utf-8") as text:
            exec(compile(text.read(), file, "exec"), ours)
        # DeepSpeed knows one accelerator and one torch for all ops: what it was built with itself stays only if they agree.
        agrees = [getattr(module, "accelerator_name", ""), torch_of(module.torch_info)] == [
            ours["accelerator_name"], torch_of(ours["torch_info"])]
        own_ops = {op: there and agrees for op, there in module.installed_ops.items()}
        module.installed_ops = {**own_ops, **ours["installed_ops"]}
        module.accelerator_name = ours["accelerator_name"]
        if not agrees:
            module.torch_info = ours["torch_info"]


def torch_of(info):
    return [info.get(key) for key in ("version", "cuda_version", "hip_version")]


# ---- loading an op


class OpLoader(importlib.machinery.ExtensionFileLoader):
    def __init__(self, name, file, op, built):
        super().__init__(name, file)
        self.op = op
        self.built = built

    def create_module(self, spec):
        reason = refusal(self.op, self.built)
        if reason:
            raise ImportError(f"{spec.name}: {self.op['name']} is built for {reason}. {AGAIN}", name=spec.name)
        return super().create_module(spec)


def refusal(op, built):
    """"torch 2.11, and this is torch 2.12", or nothing."""
    return other_python(built["torch"]) or other_torch(built["torch"]) or lesser_cpu(op.get("cpu_baseline"))


def other_python(built):
    if built["ext_suffix"] in importlib.machinery.EXTENSION_SUFFIXES:
        return ""
    return f"Python {built['python']}, and this is {sys.implementation.cache_tag}"


def minor(version):
    return ".".join(release(version).split(".")[:2]) if version else "none"


def other_torch(built):
    import torch

    rows = [("torch {}", minor(built["version"]), minor(torch.__version__)),
            ("torch with CUDA {}", minor(built["cuda"]), minor(torch.version.cuda)),
            ("torch with ROCm {}", minor(built["hip"]), minor(getattr(torch.version, "hip", ""))),
            ("torch with _GLIBCXX_USE_CXX11_ABI={}", int(built["cxx11_abi"]), int(torch.compiled_with_cxx11_abi()))]
    for what, wanted, here in rows:
        if wanted != here:
            return f"{what.format(wanted)}, and this is {what.format(here)}"
    return ""


def lesser_cpu(baseline):
    if not baseline:
        return ""
    lacking = sorted(set(baseline["features"]) - cpu_features())
    return f"{baseline['level']}, and this CPU lacks {', '.join(lacking)}" if lacking else ""


def cpu_features():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        for line in file:
            key, _, words = line.partition(":")
            if key.strip() in ("flags", "Features"):
                return set(words.split())
    return set()
