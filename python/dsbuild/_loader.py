"""load: an op as the module that this process uses."""

import contextlib
import dataclasses
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import logging
import os
import re
import threading
import time

from . import _gpus
from ._errors import DsbuildError
from ._program import ask

log = logging.getLogger("dsbuild")

WHEELS = "dsbuild.bundles"  # the entry points of wheels with ops: each names the package whose folder is a bundle

# Packs whose sources are those of a Python package: of the one that this process imports, wherever it is.
PACKAGE_OF_PACK = {"deepspeed": "deepspeed"}

_loaded = {}
_locks = {}
_guard = threading.Lock()


@dataclasses.dataclass(frozen=True)
class Stats:
    """What `load` did in this process."""

    loaded: int = 0    # ops that were asked for and are there
    prebuilt: int = 0  # of them, from a bundle or a wheel
    built: int = 0     # of them, for which a build had something to do
    compiles: int = 0  # compilers' runs; a result that a cache has is none
    seconds: float = 0.0  # that `load` took, importing included


_stats = Stats()


def stats():
    """The counts so far. A server that is warmed up may assert that `compiles` stays as it is."""
    return _stats


def load(name, pack="native", path=None):
    """The op `name` of `pack`, as a module: of torch where it is compiled against torch, else of tvm-ffi.

    name   "fused_adam", or with its pack "deepspeed/fused_adam"
    pack   a pack's name, or its folder
    path   a bundle, or a library of one, to take if it fits

    It is taken from `path`, the bundle that DSBUILD_BUNDLE names, an installed wheel of ops, or built for the GPUs that are
    visible (TORCH_CUDA_ARCH_LIST: for these) if what there is does not fit: before it is opened, so that no kernel fails
    for want of an image. DSBUILD_JIT=0 forbids building. A second call returns the same object and looks at nothing.

    Raises DsbuildError, with the codes of `dsbuild load` and: no_package (tvm-ffi is not installed), not_a_module (it is
    there, and Python or tvm-ffi cannot open it).
    """
    if path is not None:
        path = os.fspath(path)
    name, pack = names_of(name, pack)
    key = (name, pack, path)
    try:
        return _loaded[key]
    except KeyError:
        pass
    with lock_of(key):
        if key not in _loaded:
            _loaded[key] = take(lambda: find(name, pack, path))
    return _loaded[key]


def names_of(name, pack):
    """(op, pack): "deepspeed/fused_adam" names both."""
    if "/" not in name:
        return name, pack
    pack, _, name = name.rpartition("/")
    return name, pack


def lock_of(key):
    with _guard:
        return _locks.setdefault(key, threading.Lock())


def _unlock_after_fork():
    """A thread that loaded when this process was forked is not there any more."""
    global _guard
    _guard = threading.Lock()
    _locks.clear()


os.register_at_fork(after_in_child=_unlock_after_fork)


def take(find_it):
    """Opens what `find_it` answers, as `find` does, and counts it."""
    begin = time.monotonic()
    answer = find_it()
    module = open_op(answer)
    _count(answer, time.monotonic() - begin)
    return module


def find(name, pack="native", path=None):
    """What `dsbuild load --json` answers (docs/reference/cli.md): the path of a library that fits, and what it is."""
    words = words_of(name, pack, installed_bundles())
    return ask(words if path is None else [*words, "--path", path], meanwhile=lambda: import_what_opens(pack))


def import_what_opens(pack):
    """Takes seconds (tvm-ffi imports torch, where that is installed), which the program has for its work. What keeps it from
    being imported is said when an op is opened."""
    package = "torch" if pack in PACKAGE_OF_PACK else "tvm_ffi" if pack == "native" else None
    if package:
        with contextlib.suppress(Exception):
            importlib.import_module(package)


def words_of(name, pack, installed):
    """Of the command: an op for this process, with the bundles that are installed."""
    words = ["load", f"{pack}/{name}", *source_words(pack)]
    if installed:
        words += ["--installed", ":".join(installed)]
    gpus = _gpus.of_this_process()
    if gpus:
        words += ["--gpu", ",".join(gpus)]
    return words


def source_words(pack):
    """The program looks in folders of packages; this Python may import the package from elsewhere (PYTHONPATH, editable)."""
    package = PACKAGE_OF_PACK.get(pack)
    spec = importlib.util.find_spec(package) if package else None
    return ["--source", os.path.dirname(os.path.dirname(spec.origin))] if spec and spec.origin else []


def installed_bundles():
    """The folders of the wheels that say by an entry point that they hold ops, by name."""
    found = importlib.metadata.entry_points()
    points = found.select(group=WHEELS) if hasattr(found, "select") else found.get(WHEELS, ())
    folders = []
    for point in sorted(points):
        spec = importlib.util.find_spec(point.value)
        if spec and spec.submodule_search_locations:
            folders += list(spec.submodule_search_locations)[:1]
    return list(dict.fromkeys(folders))


def open_op(answer):
    """Opens the library of an answer of `find`."""
    try:
        return open_torch_module(answer) if answer["module"] else open_tvm_ffi_module(answer)
    except DsbuildError:
        raise
    except Exception as error:  # whatever the op does while it is opened
        raise DsbuildError("not_a_module", answer["path"], f"{type(error).__name__}: {error}",
                           fix_of(str(error), answer)) from error


def fix_of(said, answer):
    missing = re.search(r"(\S+): cannot open shared object file", said)
    if missing:
        return answer["remedies"].get(missing[1]) or f"Install the package that has {missing[1]}."
    return "Build it again with the Python that loads it (--python)."


def open_torch_module(answer):
    import torch  # its libraries must be there before those of the op

    name = answer["module"].rpartition(".")[2]
    loader = importlib.machinery.ExtensionFileLoader(name, answer["path"])
    spec = importlib.util.spec_from_file_location(name, answer["path"], loader=loader)
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        if not answer["needs_torch"] or "does not define module export function" not in str(error):
            raise
        return torch.ops  # of TORCH_LIBRARY alone: it has told torch of its operators
    return module


def open_tvm_ffi_module(answer):
    try:
        import tvm_ffi
    except ImportError as error:
        raise DsbuildError("no_package", answer["op"], f"its library is loaded by tvm-ffi: {error}",
                           "pip install apache-tvm-ffi") from error
    return tvm_ffi.load_module(answer["path"])


def _count(answer, seconds):
    global _stats
    was_built = answer["from"] == "built"
    with _guard:
        _stats = Stats(_stats.loaded + 1, _stats.prebuilt + (not was_built), _stats.built + (answer["edges_run"] > 0),
                       _stats.compiles + answer["compiles"], _stats.seconds + seconds)
    if answer["compiles"]:
        log.info("compiled %s/%s for %s at run time: %d compiles, %.1f s", answer["pack"], answer["op"],
                 " ".join(answer["archs"]) or "the CPU", answer["compiles"], seconds)
