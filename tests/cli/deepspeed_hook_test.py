#!/usr/bin/env python3
"""import dsbuild.deepspeed: what DeepSpeed's builders load then. DeepSpeed and torch are made up, with the rules of DeepSpeed's
OpBuilder.load; so are the tools. The real ones: deepspeed_hook_real_test.py."""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402
from fake_driver import make_fake_driver  # noqa: E402
from packs import Pack, binding, kernel  # noqa: E402

HOOK = REPOSITORY / "python" / "deepspeed_hook"
FINDER = REPOSITORY / "python" / "dsbuild" / "_deepspeed_finder.py"

# What a program sees of DeepSpeed: FACTS has what its installation recorded and which accelerator it runs on.
DEEPSPEED = {
    "deepspeed/__init__.py": "",
    "deepspeed/git_version_info.py": "import json, os\nglobals().update(json.loads(os.environ['FACTS']))\n",
    "deepspeed/accelerator.py": """
import json, os
class Accelerator:
    _name = json.loads(os.environ["FACTS"])["present_accelerator"]
def get_accelerator(): return Accelerator
""",
    "deepspeed/ops/__init__.py": "",
    "deepspeed/ops/small/__init__.py": "",
    "deepspeed/ops/small/host_op.py": "made_by = 'deepspeed, ahead of time'\n",
    "deepspeed/ops/small/broken_op.py": "raise ImportError('broken_op.so: undefined symbol: gone')\n",
    "deepspeed/ops/op_builder/__init__.py": "",
    "deepspeed/ops/op_builder/builder.py": """
import importlib, os, types
import torch

def same(what, theirs, ours):
    if theirs != ours:
        raise RuntimeError(f"{what} mismatch: built for {theirs}, this is {ours}")

class OpBuilder:
    _loaded_ops = {}
    NAME = ""
    def __init__(self):
        self.name, self.error_log = self.NAME, None
    def absolute_name(self): return f"deepspeed.ops.small.{self.NAME}_op"
    @staticmethod
    def is_rocm_pytorch(): return os.environ.get("ROCM") == "1"
    @staticmethod
    def validate_torch_version(info): same("torch", info["version"], torch.__version__)
    @staticmethod
    def validate_torch_op_version(info): same("CUDA", info["cuda_version"], torch.version.cuda)
    def load(self, verbose=False):
        if self.name in OpBuilder._loaded_ops: return OpBuilder._loaded_ops[self.name]
        from deepspeed import git_version_info as info
        from deepspeed.accelerator import get_accelerator
        if not info.installed_ops.get(self.name) or info.accelerator_name != get_accelerator()._name:
            return self.jit_load(verbose)
        self.validate_torch_version(info.torch_info)
        if torch.cuda.is_available() and isinstance(self, CUDAOpBuilder): self.validate_torch_op_version(info.torch_info)
        OpBuilder._loaded_ops[self.name] = importlib.import_module(self.absolute_name())
        return OpBuilder._loaded_ops[self.name]
    def jit_load(self, verbose=True):
        OpBuilder._loaded_ops[self.name] = types.SimpleNamespace(made_by="deepspeed, just in time")
        return OpBuilder._loaded_ops[self.name]

class CUDAOpBuilder(OpBuilder): pass
""",
    "deepspeed/ops/op_builder/all.py": """
from .builder import CUDAOpBuilder, OpBuilder
class Gamma(CUDAOpBuilder): NAME = "gamma"
class Host(OpBuilder): NAME = "host"
class Broken(OpBuilder): NAME = "broken"
class Local(OpBuilder): NAME = "local"
class Stranger(OpBuilder): NAME = "stranger"
""",
    # Another project's, on top of DeepSpeed's.
    "other/__init__.py": """
from deepspeed.ops.op_builder.all import Gamma
class TheirGamma(Gamma): pass
class OwnLoader:
    def load(self, verbose=False): return "their own"
""",
    # As the real one, is_available() starts CUDA in the process, unless it is told to ask NVML.
    "torch/__init__.py": """
import os
from . import version
__version__ = "2.11"
class cuda:
    @staticmethod
    def is_available():
        if os.environ.get("NO_GPU"): return False
        if os.environ.get("BY_NVML"): return True
        import ctypes
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
""",
    "torch/version.py": "cuda = '13.0'\n",
    "version.txt": "0.19.8\n",
}

# The made-up tools make libraries that nobody can open: `load` gives what it would open. GAMMA: the file that is installed as
# DeepSpeed's gamma_op, opened likewise.
BEGIN = """
import importlib.util, json, os, sys, types, warnings
from dsbuild import _loader
_loader.open_op = lambda answer: types.SimpleNamespace(answer=answer, made_by="dsbuild")

class Gamma:
    def find_spec(self, name, path=None, target=None):
        file = os.environ.get("GAMMA")
        if file and name == "deepspeed.ops.small.gamma_op":
            return importlib.util.spec_from_file_location(name, file, loader=self)
    def create_module(self, spec): return types.ModuleType(spec.name)
    def exec_module(self, module): module.made_by = "deepspeed, ahead of time"
sys.meta_path.insert(0, Gamma())

def show(value): print(json.dumps(value))
def hook():
    import dsbuild.deepspeed
    dsbuild.deepspeed.PACK = os.environ["PACK"]
    _loader.PACKAGE_OF_PACK[os.environ["PACK"]] = "deepspeed"
    return dsbuild.deepspeed
def load(builder, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try: module = builder.load(**options)
        except Exception as error: show([type(error).__name__, isinstance(error, RuntimeError), str(error), len(caught)])
        else: show([module if isinstance(module, str) else module.made_by, [str(one.message) for one in caught]]); return module
"""
# Then the builders: `from deepspeed.ops.op_builder import all as ops`.
HOOKED = "hook()\nfrom deepspeed.ops.op_builder import all as ops\n"
OURS, THEIRS, JIT = "dsbuild", "deepspeed, ahead of time", "deepspeed, just in time"


def make_deepspeed_pack(folder):
    """Its sources are in the made-up DeepSpeed. `local` is for the CPU accelerator alone; `stranger` it does not have."""
    site = folder.parent / "site"
    for name, text in DEEPSPEED.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    pack = Pack(folder, "deepspeed")
    pack.sources = site
    (pack.folder / "pack.yaml").write_text("name: deepspeed\npackage: deepspeed\nversion_file: version.txt\n")
    pack.add_op("gamma", {"deepspeed/ops/csrc/gamma.cu": kernel("gamma_run")},
                {"archs": {"min": "8.0"}, "exports": ["gamma_run"]})
    for name, keys in (("host", {}), ("broken", {}), ("local", {"when": {"accelerator": "cpu"}})):
        pack.add_op(name, {f"deepspeed/ops/csrc/{name}.cpp": binding(f"{name}_run")}, {"backend": "cpu", **keys})
    return pack


def facts(installed="", accelerator="cuda", present="cuda", torch="2.11", cuda="13.0", version="0.19.8"):
    """FACTS: the ops of `installed` are, for this accelerator, torch and CUDA."""
    return {"FACTS": json.dumps({
        "version": version, "installed_ops": {name: True for name in installed.split()}, "accelerator_name": accelerator,
        "torch_info": {"version": torch, "cuda_version": cuda}, "present_accelerator": present})}


@functools.lru_cache(maxsize=None)
def make_space():
    """With gamma for 8.0 and host in its bundle; one for all tests."""
    space = TestSpace(pack=make_deepspeed_pack)
    site = space.root / "site"
    space.environment.update(
        make_fake_driver(space.root / "driver"), FAKE_GPUS="90", PACK=str(space.pack.folder), **facts(),
        CUDA_HOME=str(space.toolkit.home), DSBUILD_PROGRAM=space.program,
        PYTHONPATH=os.pathsep.join([str(REPOSITORY / "python"), str(site)]))
    built = space.run(*space.arguments("--ops", "gamma,host", "--arch", "8.0", "--source", str(site)))
    assert built.code == 0, built
    return space


class HookTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = make_space()
        cls.gamma = str(cls.space.out / "gamma.so")

    def python(self, code, env=None, words=()):
        return subprocess.run([sys.executable, "-B", *words, "-c", BEGIN + code], cwd=self.space.root, capture_output=True,
                              text=True, env={**self.space.environment, **(env or {})}, timeout=testspace.TIME_LIMIT)

    def answers(self, code, env=None):
        run = self.python(code, env)
        self.assertEqual(run.returncode, 0, run.stderr)
        return [json.loads(line) for line in run.stdout.splitlines() if line[0] in '["{']

    def loaded(self, builder, env=None, **options):
        """What `load` said of the builder with the hook."""
        answer, = self.answers(f"{HOOKED}load({builder}, **{options})", env)
        return answer


class NotInstalledTest(HookTest):
    def test_it_is_built_for_the_visible_gpus_and_deepspeed_keeps_it(self):
        first, facts_of_it = self.answers(HOOKED + """
before = dict(os.environ)
module = load(ops.Gamma())
again, calls = ops.Gamma(), []
sys.addaudithook(lambda name, arguments: calls.append(name))
kept = again.load() is module
seen = list(calls)
show([module.answer["archs"], module.answer["from"], kept, seen, ops.OpBuilder._loaded_ops["gamma"] is module,
      before == dict(os.environ)])
""")
        self.assertEqual(first, [OURS, []])
        self.assertEqual(facts_of_it, [["9.0+PTX"], "built", True, [], True, True])

    def test_also_where_deepspeed_was_imported_first(self):
        self.assertEqual(self.answers("""
from deepspeed.ops.op_builder import all as ops
hook()
load(ops.Host())
"""), [[OURS, []]])

    def test_what_deepspeed_loaded_before_stays(self):
        self.assertEqual(self.answers("""
from deepspeed.ops.op_builder import all as ops
ops.Host().load()
hook()
load(ops.Host())
"""), [[JIT, []]])

    def test_installed_for_another_accelerator_is_not_installed(self):
        self.assertEqual(self.loaded("ops.Host()", facts("host", accelerator="cpu")), [OURS, []])

    def test_the_ops_are_those_of_the_accelerator_that_deepspeed_runs_on(self):
        self.assertEqual(self.loaded("ops.Local()", facts(present="cpu")), [OURS, []])
        self.assertEqual(self.loaded("ops.Local()", facts(present="cuda")), [JIT, []])
        self.assertEqual(self.loaded("ops.Local()", {**facts(present="cpu"), "DS_ACCELERATOR": "cuda"}), [OURS, []])

    def test_an_op_that_the_pack_has_not_is_deepspeeds(self):
        self.assertEqual(self.loaded("ops.Stranger()"), [JIT, []])

    def test_an_error_of_dsbuild_is_a_runtime_error_and_the_builder_keeps_it(self):
        said, log = self.answers(HOOKED + "builder = ops.Gamma()\nload(builder)\nshow([builder.error_log])",
                                 {"DSBUILD_JIT": "0", "FAKE_GPUS": "75", "CUDA_VISIBLE_DEVICES": "75"})
        self.assertEqual((said[0], said[1], said[3]), ("DsbuildError", True, 0))
        self.assertIn("gamma of the pack", said[2])
        self.assertEqual(log, [said[2]])

    def test_verbose_says_how_long_as_deepspeed_does(self):
        run = self.python(HOOKED + "ops.Host().load(verbose=True)")
        self.assertRegex(run.stdout, r"\ATime to load host op: [0-9.e-]+ seconds\n\Z")
        self.assertEqual(self.python(HOOKED + "ops.Host().load()").stdout, "")

    def test_threads_that_want_one_op_get_one_object(self):
        self.assertEqual(self.answers(HOOKED + """
import dsbuild, threading
found = []
threads = [threading.Thread(target=lambda: found.append(ops.Gamma().load())) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
show([len(set(map(id, found))), dsbuild.stats().loaded])
"""), [[1, 1]])

    def test_a_bundle_is_taken_only_where_it_is_for_this_deepspeed(self):
        for name, wanted, accelerator, taken in (("same", "0.19.8", "cuda", True), ("label", "0.19.8+abc", "cuda", True),
                                                 ("version", "0.19.6", "cuda", False), ("accelerator", "0.19.8", "cpu", False)):
            with self.subTest(name):
                bundle = self.space.root / f"bundle_{name}"
                shutil.copytree(self.space.out, bundle)
                manifest = json.loads((bundle / "manifest.json").read_text())
                torch = {"version": "2.11.0", "cuda": "13.0", "hip": "", "cxx11_abi": True, "python": "cp311",
                         "ext_suffix": ".so", "accelerator": accelerator}
                (bundle / "manifest.json").write_text(json.dumps({**manifest, "source_version": wanted, "torch": torch}))
                run = self.python(HOOKED + "show(ops.Host().load().answer['from'])", {"DSBUILD_BUNDLE": str(bundle)})
                self.assertEqual(run.stdout, '"DSBUILD_BUNDLE"\n' if taken else '"built"\n', run.stderr)
                line = (f"dsbuild: DSBUILD_BUNDLE {bundle}: it is for DeepSpeed {wanted} with the accelerator {accelerator}, and "
                        "this is 0.19.8 with cuda; it is passed over\n")
                self.assertEqual(line in run.stderr, not taken, run.stderr)


class InstalledTest(HookTest):
    """DeepSpeed's record says that the op is installed for the accelerator that it runs on."""

    OFF = {"DSBUILD_JIT": "0"}

    def test_what_fits_is_deepspeeds_and_dsbuild_is_not_asked(self):
        self.assertEqual(self.loaded("ops.Host()", {**facts("host"), "DSBUILD_PROGRAM": "/nowhere"}), [THEIRS, []])

    def test_another_torch_is_said_in_deepspeeds_words_and_dsbuild_builds(self):
        words = "torch mismatch: built for 2.10, this is 2.11"
        self.assertEqual(self.loaded("ops.Host()", facts("host", torch="2.10")), [OURS, [words]])
        for off in ("0", "off", " False "):
            self.assertEqual(self.loaded("ops.Host()", {**facts("host", torch="2.10"), "DSBUILD_JIT": off}),
                             ["RuntimeError", True, words, 0])

    def test_another_cuda_counts_for_cuda_ops_on_a_machine_with_a_gpu(self):
        words, other = "CUDA mismatch: built for 12.8, this is 13.0", facts("gamma host", cuda="12.8")
        self.assertEqual(self.loaded("ops.Gamma()", {**other, "GAMMA": self.gamma}), [OURS, [words]])
        self.assertEqual(self.loaded("ops.Gamma()", {**other, **self.OFF, "GAMMA": self.gamma}), ["RuntimeError", True, words, 0])
        self.assertEqual(self.loaded("ops.Host()", other), [THEIRS, []])
        self.assertEqual(self.loaded("ops.Gamma()", {**other, "GAMMA": self.gamma, "NO_GPU": "1"}), [THEIRS, []])

    def test_an_image_that_is_missing_is_named_and_dsbuild_builds(self):
        what = "the installed gamma has no image for 9.0 (it has 8.0)"
        installed = {**facts("gamma"), "GAMMA": self.gamma}
        self.assertEqual(self.loaded("ops.Gamma()", installed), [OURS, [f"{self.gamma}: {what}; dsbuild loads another"]])
        said = self.loaded("ops.Gamma()", {**installed, **self.OFF})
        self.assertEqual((said[0], said[1], said[3]), ("DsbuildError", True, 0))
        self.assertEqual(said[2].splitlines()[0], f"{what} ({self.gamma})")
        mixed = self.loaded("ops.Gamma()", {**installed, "FAKE_GPUS": "80 120 90", "CUDA_VISIBLE_DEVICES": "0,1,2"})
        self.assertEqual(mixed[1], [f"{self.gamma}: the installed gamma has no image for 9.0, 12.0 (it has 8.0); "
                                    "dsbuild loads another"])

    def test_where_every_gpu_has_an_image_it_is_deepspeeds(self):
        installed = {**facts("gamma"), "GAMMA": self.gamma, **self.OFF}
        for gpus in ("80", "86 80"):
            self.assertEqual(self.loaded("ops.Gamma()", {**installed, "FAKE_GPUS": gpus}), [THEIRS, []])

    def test_images_are_looked_at_where_torch_started_no_cuda_too(self):
        installed = {**facts("gamma"), "GAMMA": self.gamma, "BY_NVML": "1"}
        self.assertEqual(self.loaded("ops.Gamma()", {**installed, "FAKE_GPUS": "86"}), [THEIRS, []])
        self.assertEqual(self.loaded("ops.Gamma()", installed)[0], OURS)

    def test_an_op_that_cannot_be_judged_is_deepspeeds(self):
        """No images where there is no GPU, for the CPU accelerator, without the program, or of what is not a library."""
        here = {**facts("gamma"), "GAMMA": self.gamma}
        text = str(self.space.root / "site" / "deepspeed" / "ops" / "small" / "host_op.py")
        for change in ({"NO_GPU": "1"}, facts("gamma", accelerator="cpu", present="cpu"), {"DSBUILD_PROGRAM": "/nowhere"},
                       {"GAMMA": text}):
            with self.subTest(change):
                self.assertEqual(self.loaded("ops.Gamma()", {**here, **change}), [THEIRS, []])

    def test_an_op_that_cannot_be_imported_is_built(self):
        words = "broken_op.so: undefined symbol: gone"
        self.assertEqual(self.loaded("ops.Broken()", facts("broken")), [OURS, [words]])
        self.assertEqual(self.loaded("ops.Broken()", {**facts("broken"), **self.OFF}), ["ImportError", False, words, 0])


class NobodyElseTest(HookTest):
    def test_builders_of_other_projects_are_left_alone(self):
        self.assertEqual(self.answers(HOOKED + """
import other
load(other.OwnLoader())
load(other.TheirGamma())
"""), [["their own", []], [JIT, []]])

    def test_other_accelerators_and_rocm_are_left_alone(self):
        self.assertEqual(self.loaded("ops.Host()", facts(present="npu")), [JIT, []])
        self.assertEqual(self.loaded("ops.Host()", {"ROCM": "1"}), [JIT, []])

    def test_load_alone_is_changed(self):
        changed, = self.answers("""
from deepspeed.ops.op_builder import all as ops, builder
owners = [ops, builder, *(value for value in vars(ops).values() if isinstance(value, type))]
state = lambda: {f"{owner.__name__}.{name}": id(value) for owner in owners for name, value in vars(owner).items()}
before = state()
hook()
after = state()
show([sorted(name for name in after if before.get(name) != after[name]), len(before) - len(after)])
""")
        self.assertEqual(changed, [["OpBuilder.load"], 0])

    def test_once_the_builders_are_imported_no_finder_is_left(self):
        self.assertEqual(self.answers("""
plain = list(sys.meta_path)
hook()
show([len(sys.meta_path) - len(plain)])
import deepspeed
show([len(sys.meta_path) - len(plain)])
from deepspeed.ops.op_builder import builder
show([sys.meta_path == plain, type(builder.__loader__).__name__, type(builder.__spec__.loader).__name__,
      builder.OpBuilder.load.__name__])
"""), [[1], [1], [True, "SourceFileLoader", "SourceFileLoader", "load"]])

    def test_an_import_that_failed_may_be_tried_again(self):
        self.assertEqual(self.answers("""
hook()
sys.modules["torch"] = None
try: import deepspeed.ops.op_builder.builder
except ImportError: show(["failed"])
del sys.modules["torch"]
from deepspeed.ops.op_builder import all as ops
load(ops.Host())
"""), [["failed"], [OURS, []]])

    def test_unhooked_deepspeed_is_as_it_was(self):
        self.assertEqual(self.answers("""
import deepspeed.ops.op_builder.builder as builder
from deepspeed.ops.op_builder import all as ops
own = builder.OpBuilder.load
hook().hook()
builder.OpBuilder._loaded_ops.clear()
show([builder.OpBuilder.load is own])
hook().unhook()
show([builder.OpBuilder.load is own])
load(ops.Host())
builder.OpBuilder._loaded_ops.clear()
hook().hook()
load(ops.Host())
"""), [[False], [True], [JIT, []], [OURS, []]])

    def test_unhooked_before_deepspeed_is_imported(self):
        self.assertEqual(self.answers("""
hook().unhook()
from deepspeed.ops.op_builder import all as ops
load(ops.Host())
"""), [[JIT, []]])

    def test_who_wraps_our_load_gets_deepspeeds_after_unhooking(self):
        self.assertEqual(self.answers(HOOKED + """
ours, calls = ops.OpBuilder.load, []
def theirs(self, verbose=False):
    calls.append(1)
    return ours(self, verbose)
ops.OpBuilder.load = theirs
hook().unhook()
load(ops.Host())
show([ops.OpBuilder.load is theirs, calls])
"""), [[JIT, []], [True, [1]]])


class PthTest(HookTest):
    """The files of the wheel dsbuild-deepspeed, in a folder whose .pth files are read."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = cls.space.root / "hooked"
        cls.folder.mkdir()
        shutil.copy(HOOK / "dsbuild_deepspeed.pth", cls.folder)
        shutil.copy(FINDER, cls.folder / "dsbuild_deepspeed_finder.py")
        cls.other = cls.space.root / "other_pth"  # reading any .pth file may import codecs
        cls.other.mkdir()
        (cls.other / "nothing.pth").write_text("import sys\n")

    def started(self, code, **env):
        """-S: without the machine's own .pth files."""
        begin = (f"import site, sys\nsite.addsitedir({str(self.other)!r})\nbefore = set(sys.modules)\n"
                 f"site.addsitedir({str(self.folder)!r})\nafter = set(sys.modules)\n")
        run = subprocess.run([sys.executable, "-B", "-S", "-c", begin + code], cwd=self.space.root, capture_output=True,
                             text=True, env={**self.space.environment, **env}, timeout=testspace.TIME_LIMIT)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def test_at_the_start_it_imports_nothing(self):
        run = self.started("print(after - before, sys.meta_path[0].waits_for)")
        self.assertEqual(run.stdout, "set() deepspeed.ops.op_builder.builder\n")

    def test_deepspeed_is_hooked_when_its_builders_are_imported(self):
        run = self.started("import deepspeed\nprint('dsbuild' in sys.modules)\n" + BEGIN + """
from deepspeed.ops.op_builder import all as ops
print("dsbuild.deepspeed" in sys.modules)
hook()  # changes nothing but the name of the pack
load(ops.Host())
print([finder for finder in sys.meta_path if hasattr(finder, "waits_for")])
""")
        self.assertEqual(run.stdout, f'False\nTrue\n["{OURS}", []]\n[]\n')

    def test_one_finder_is_enough(self):
        run = self.started("import dsbuild.deepspeed\nprint(sum(hasattr(finder, 'waits_for') for finder in sys.meta_path))\n"
                           "dsbuild.deepspeed.unhook()\nprint(sum(hasattr(finder, 'waits_for') for finder in sys.meta_path))")
        self.assertEqual(run.stdout, "1\n0\n")

    def test_without_dsbuild_deepspeed_goes_its_own_way(self):
        run = self.started("from deepspeed.ops.op_builder import all as ops\nprint(ops.Host().load().made_by)",
                           PYTHONPATH=str(self.space.root / "site"))
        self.assertEqual(run.stdout, f"{JIT}\n")
        self.assertIn("RuntimeWarning: dsbuild-deepspeed is installed without dsbuild (No module named 'dsbuild'): DeepSpeed "
                      "compiles its ops itself.\n", run.stderr)


if __name__ == "__main__":
    testspace.main()
