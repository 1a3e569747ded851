"""An unmodified DeepSpeed whose ops come from dsbuild where DeepSpeed has none that fits:

    import dsbuild.deepspeed            # before or after DeepSpeed is imported
    FusedAdamBuilder().load()           # of deepspeed.ops.op_builder, as ever

Importing this hooks OpBuilder.load of DeepSpeed, now or when DeepSpeed's builders are imported; nothing else is changed, and
nobody else's builders are. docs/guides/deepspeed.md, "Just in time", has the rules.
"""

import functools
import importlib
import importlib.util
import json
import os
import sys
import time
import warnings

from . import _gpus, _loader
from ._deepspeed_finder import BUILDER, install
from ._errors import DsbuildError
from ._program import ask

PACK = "deepspeed"
BUILDERS = "deepspeed.ops.op_builder"  # the package of DeepSpeed's own builders
ACCELERATORS = ("cuda", "cpu")         # those that the pack has ops for
NOT_OFFERED = ("unknown_op", "op_not_offered")  # codes: the pack has no such op for this DeepSpeed, torch or accelerator

_hooked = {}  # DeepSpeed's base class of builders: the `load` that it was given


def hook() -> None:
    """Hooks DeepSpeed, at once where its builders are imported already. A second call changes nothing."""
    if BUILDER in sys.modules:
        _wrap(importlib.import_module(BUILDER))
    else:
        install()


def unhook() -> None:
    """DeepSpeed loads its ops itself again. What was loaded stays loaded."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, "waits_for", None) != BUILDER]
    while _hooked:
        base, ours = _hooked.popitem()
        if base.load is ours:  # else somebody wraps it, and it only passes on
            base.load = ours.__wrapped__


def _wrap(builder):
    base = builder.OpBuilder
    if base in _hooked:
        return
    original = base.load

    @functools.wraps(original)
    def load(self, verbose=False):
        if self.name in base._loaded_ops:
            return base._loaded_ops[self.name]
        if _hooked.get(base) is not load or not _is_ours(self):
            return original(self, verbose)
        with _loader.lock_of((BUILDER, self.name)):
            if self.name not in base._loaded_ops:
                base._loaded_ops[self.name] = _load(self, builder, original, verbose)
        return base._loaded_ops[self.name]

    _hooked[base] = load
    base.load = load


def _accelerator():
    from deepspeed.accelerator import get_accelerator

    return get_accelerator()._name


def _is_ours(op):
    """Builders that other projects derive from DeepSpeed's build what only they know."""
    module = type(op).__module__
    is_deepspeeds = module == BUILDERS or module.startswith(BUILDERS + ".")
    return is_deepspeeds and _accelerator() in ACCELERATORS and not op.is_rocm_pytorch()


def _load(op, builder, original, verbose):
    from deepspeed.git_version_info import accelerator_name, installed_ops, torch_info

    accelerator = _accelerator()
    if installed_ops.get(op.name, False) and accelerator_name == accelerator:
        try:
            _check_versions(op, builder, torch_info)
            _check_images(op, builder, accelerator)
            return original(op, verbose)
        except (RuntimeError, ImportError) as error:
            if _jit_is_off():
                raise
            warnings.warn(_text_of(error), RuntimeWarning, stacklevel=3)
    return _load_by_dsbuild(op, accelerator, original, verbose)


def _load_by_dsbuild(op, accelerator, original, verbose):
    begin = time.time()
    try:
        module = _loader.take(functools.partial(_find, op.name, accelerator))
    except DsbuildError as error:
        if error.code in NOT_OFFERED:
            return original(op, verbose)
        op.error_log = str(error)
        raise
    if verbose:
        print(f"Time to load {op.name} op: {time.time() - begin} seconds")
    return module


def _jit_is_off():
    """As the program reads DSBUILD_JIT."""
    word = os.environ.get("DSBUILD_JIT", "").strip().lower()
    return word in ("false", "off", "no") or (word.lstrip("+-").isdigit() and int(word) == 0)


# ---- whether an installed op fits


def _check_versions(op, builder, torch_info):
    """As DeepSpeed's own `load`, before it imports the op."""
    op.validate_torch_version(torch_info)
    if _has_device_code(op, builder):
        op.validate_torch_op_version(torch_info)


def _has_device_code(op, builder):
    import torch

    return isinstance(op, builder.CUDAOpBuilder) and torch.cuda.is_available()


def _check_images(op, builder, accelerator):
    """DeepSpeed does not look for them: the op would fail at its first kernel."""
    spec = importlib.util.find_spec(op.absolute_name())
    if accelerator != "cuda" or not _has_device_code(op, builder) or spec is None or not spec.has_location:
        return
    unserved, archs = _unserved_gpus(spec.origin)
    if unserved:
        raise DsbuildError("no_fit", spec.origin,
                           f"the installed {op.name} has no image for {', '.join(unserved)} (it has {', '.join(archs)})",
                           "Unset DSBUILD_JIT: then dsbuild builds it for this machine. Or install ops for it.")


def _text_of(error):
    return f"{error.where}: {error.what}; dsbuild loads another" if isinstance(error, DsbuildError) else str(error)


def _unserved_gpus(file):
    """(GPUs without an image, archs that there are), as words."""
    # torch.cuda.is_available() starts CUDA, unless it was told to ask NVML, or this process was forked.
    gpus = _gpus.of_this_process() or _gpus.of_a_child()
    if not gpus:
        return [], []
    try:
        inspected, = ask(["inspect", file, "--gpu", ",".join(gpus)], packages_of=None)["files"]
    except DsbuildError as error:  # no reason against an op that DeepSpeed takes
        _loader.log.info("not looked at: %s", error)
        return [], []
    return [row["gpu"] for row in inspected["coverage"] if row["runs"] == "none"], inspected["archs"]


# ---- asking dsbuild


def _find(name, accelerator):
    """What `dsbuild load` answers for the DeepSpeed that is imported and its accelerator."""
    environment = {**os.environ, "DS_ACCELERATOR": accelerator}
    bundle = environment.get("DSBUILD_BUNDLE", "")
    reason = _made_for_another(bundle, accelerator) if bundle else ""
    if reason:
        print(f"dsbuild: DSBUILD_BUNDLE {bundle}: {reason}; it is passed over", file=sys.stderr)
        del environment["DSBUILD_BUNDLE"]
    installed = [folder for folder in _loader.installed_bundles() if not _made_for_another(folder, accelerator)]
    return ask(_loader.words_of(name, PACK, installed), environment=environment)


def _made_for_another(bundle, accelerator):
    """Why ops of DeepSpeed in this bundle are not for this one, as DeepSpeed judges that; "" where they are, or where they are
    none: the program says what else is wrong."""
    try:
        with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        wanted = manifest["source_version"], manifest["torch"]["accelerator"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    from deepspeed.git_version_info import version

    here = version, accelerator
    if manifest.get("pack") != "deepspeed" or [_release(wanted[0]), wanted[1]] == [_release(here[0]), here[1]]:
        return ""
    return "it is for DeepSpeed {} with the accelerator {}, and this is {} with {}".format(*wanted, *here)


def _release(version):
    return version.partition("+")[0]


hook()
