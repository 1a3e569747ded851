"""The groups of each part of a GPU run (run.py)."""

import os
import pathlib
import shlex
import sys

from runner import Group

HERE = pathlib.Path(__file__).resolve().parent
PYTHON_TESTS = HERE.parent / "python"
# How many groups of a lane run at once. Those of "gpu" take much of the GPU's memory; those of "small" wait for the host mostly.
LANES = {"tests": {"small": 2}, "speed": {}, "sanitize": {"gpu": 6}}
TOOLS = {"memcheck": ["--error-exitcode", "1"], "racecheck": ["--error-exitcode", "1"], "initcheck": ["--print-limit", "10000"]}
# initcheck takes what cuBLASLt's kernels have stored for not initialised where fp8_linear copies it to another pitch.
MORE_OPTIONS = {("initcheck", "operators"): ["--check-api-memory-access", "no"]}
SANITIZED = {"rms_norm": ["sanitize_norm.py", "rms_norm"], "layer_norm": ["sanitize_norm.py", "layer_norm"],
             "evoformer_attn": ["sanitize_evoformer.py"], "quantizers": ["sanitize_quantizers.py"],
             "optimizers": ["sanitize_optimizers.py"], "operators": ["sanitize_operators.py"]}


class Parts:
    """`work`: the folder that keeps what was built."""

    def __init__(self, work):
        self.work = work
        self.dsbuild = os.environ["DSBUILD_PROGRAM"]
        self.arch = os.environ.get("ARCH", "native")
        self.given = os.environ.get("BUNDLE")
        self.bundle = self.given or str(work / "bundle")
        self.families = os.environ.get("FAMILIES")

    def python(self, name, script, *words, lane="gpu", limit=120, needs=("bundle",), **environment):
        environment = {"DSBUILD_BUNDLE": self.bundle, **environment}
        needs = () if self.given else needs
        return Group(name, [sys.executable, str(script), *words], lane, limit, environment, needs)

    def test(self, name, folder=HERE, **options):
        """A file of unittest; verbose lines tell why a test is skipped."""
        return self.python(name, folder / f"test_{name}.py", "-v", **options)

    # ---- builds: each has a build folder of its own, so that the next part finds nothing to do

    def build(self, name, *words, before=""):
        command = [self.dsbuild, *words, "--out", str(self.work / name), "--build-dir", str(self.work / "build" / name),
                   *shlex.split(os.environ.get("MORE", ""))]
        return Group(name, ["bash", "-c", before + shlex.join(command)], "build", 300)

    def builds(self):
        return [] if self.given else [self.build("bundle", "--ops", "all", "--arch", self.arch)]

    def builds_of_tests(self):
        if self.given:
            return []
        pack = str(self.work / "pack")
        new = f"[[ -e {shlex.quote(pack)}/first ]] || {shlex.join([self.dsbuild, 'new', 'first', '--pack', pack])} || exit; "
        return [*self.builds(),
                # No GPU of the last years runs sm_75 code: what an op says then is tested too.
                self.build("foreign", "--ops", "fused_adam,fused_lion,fused_lamb", "--arch", "7.5"),
                # As PTX of an architecture without clusters and copies to shared memory.
                self.build("old", "--ops", "rms_norm,layer_norm", "--arch", "7.5-virtual"),
                self.build("first", "--pack", pack, "--ops", "all", "--arch", self.arch, before=new)]

    # ---- parts

    def tests(self):
        foreign = {"needs": ("bundle", "foreign"), "FOREIGN_BUNDLE": str(self.work / "foreign")} if not self.given else {}
        groups = [*self.builds_of_tests(),
                  self.test("norm", limit=180), self.test("fused_adam", **foreign), self.test("fused_lion", **foreign),
                  self.test("fused_lamb", **foreign), self.test("fp_quantizer"), self.test("quantizer"), self.test("fp8_linear"),
                  self.test("evoformer_attn"),
                  self.test("compiled_training", lane="small", limit=240),
                  self.test("torch_operators", PYTHON_TESTS, lane="small", limit=240, DSBUILD_TORCH_DEVICE="cuda"),
                  self.test("optim", lane="small"), self.test("fp8_layer", lane="small"), self.test("frameworks", lane="small"),
                  *(self.test(name, PYTHON_TESTS, lane="cpu") for name in ("cpu_adam", "cpu_adagrad", "cpu_lion"))]
        if self.families:
            groups.append(self.python("evoformer_attn families", HERE / "test_evoformer_attn.py", "-v", needs=(),
                                      DSBUILD_BUNDLE=self.families))
        if not self.given:
            groups += [self.python("norm of sm_75", HERE / "test_norm.py", "-v", limit=180, needs=("old",),
                                   DSBUILD_BUNDLE=str(self.work / "old")),
                       self.python("new op", self.work / "pack" / "first" / "test_first.py", "-v", lane="small", needs=("first",),
                                   DSBUILD_BUNDLE=str(self.work / "first")),
                       self.test("device_link", lane="small", needs=()),
                       self.python("load rules", HERE / "load.py", "fit", "devices", "values", lane="small", limit=180)]
        return groups

    def speed(self):
        """No two at once. The later ones are the first that the part's limit leaves out."""
        return [*self.builds(),
                self.python("norms", HERE / "speed_norms.py", limit=240),
                *(self.python(name, HERE / "speed.py", name, limit=180) for name in ("optimizers", "quantizers")),
                self.python("fp8_linear", HERE / "speed_fp8_linear.py"),
                self.python("evoformer_attn", HERE / "speed_evoformer.py", limit=90, DSBUILD_BUNDLE=self.families or self.bundle),
                self.python("dequantize", HERE / "speed_dequantize.py"),
                self.python("overhead", HERE / "overhead.py", limit=60),
                self.python("load first", HERE / "load.py", "first", limit=180),
                self.python("load warm", HERE / "load.py", "warm"),
                self.python("cpu_optimizers", PYTHON_TESTS / "speed_cpu_optimizers.py", limit=180)]

    def sanitize(self):
        """Under compute-sanitizer each tensor has memory of its own, so that its end is seen."""
        scripts = sorted({str(HERE / script) for script, *_ in SANITIZED.values()})
        groups = [*self.builds(), self.python("all kernels", HERE / "sanitized_kernels.py", *scripts)]
        for name, (script, *words) in SANITIZED.items():
            for tool, options in TOOLS.items():
                command = ["compute-sanitizer", "--tool", tool, *options, *MORE_OPTIONS.get((tool, name), ()), sys.executable, str(HERE / script), *words]
                bundle = self.families if name == "evoformer_attn" and self.families else self.bundle
                groups.append(Group(f"{tool} {name}", command, limit=300, is_sanitized=True,
                                    environment={"DSBUILD_BUNDLE": bundle, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
                                    needs=() if self.given else ("bundle",)))
        return groups


PARTS = {"tests": Parts.tests, "speed": Parts.speed, "sanitize": Parts.sanitize}
