"""DeepSpeed's own tests with the ops of a wheel of dsbuild's, and with those that DeepSpeed compiles when they are loaded.

  run.py ours|jit RESULTS TESTS [FILE...]   run the files (default: FILES) in this Python's environment; `jit` first has
                                            DeepSpeed compile its ops. TESTS: the folder `tests` of DeepSpeed's repository
  run.py table OURS JIT                     two results side by side; exit code 1 if anything differs

Variables: TORCH_EXTENSIONS_DIR (fresh), OPS (as for dsbuild: what DeepSpeed compiles before the tests), JOBS (test files
at a time), FILE_LIMIT (seconds for one file).
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
INFERENCE = "attention bias_add bias_geglu bias_gelu bias_relu gelu layer_norm matmul moe_res_matmult residual_add rms_norm rope softmax"
CORE_OPS = "bias_activation blas_linear gated_activation post_ln pre_ln rms_norm"

# Those that load an op and run on one GPU, below tests/unit of DeepSpeed; the longest first. A path with a leading dot is
# our own: DeepSpeed has no test of random_ltd.
FILES = [
    "ops/adam/test_cpu_adam.py", "ops/fp_quantizer/test_fp_quant.py", "ops/fp_quantizer/test_fp8_gemm.py",
    "ops/accelerators/test_accelerator_forward.py", "ops/accelerators/test_accelerator_backward.py",
    "ops/adam/test_adamw.py", "ops/adam/test_hybrid_adam.py", "ops/lion/test_lion.py", "ops/lion/test_cpu_lion.py",
    "ops/adagrad/test_cpu_adagrad.py", "runtime/half_precision/test_dynamic_loss_scale.py",
    *(f"ops/transformer/inference/test_{name}.py" for name in INFERENCE.split()),
    "ops/quantizer/test_quantize.py", "ops/quantizer/test_fake_quantization.py", "ops/spatial/test_nhwc_bias_add.py",
    "ops/deepspeed4science/test_DS4Sci_EvoformerAttention.py", "linear/test_quant_param.py", "utils/test_byte_cast.py",
    *(f"inference/v2/kernels/core_ops/test_{name}.py" for name in CORE_OPS.split()),
    "inference/v2/ragged/test_blocked_allocator.py", "inference/v2/ragged/test_ragged_wrapper.py",
    "v1/nvme/test_aio.py", "v1/pin_memory/test_pin_memory.py", "v1/pin_memory/test_pin_memory_op.py",
    "./test_random_ltd.py",
]

# Ops that these files load, the longest to compile first. On a CPU: those of them that DeepSpeed has there.
OPS = ["quantizer", "evoformer_attn", "transformer_inference", "inference_core_ops", "transformer",
       "stochastic_transformer", "fp_quantizer", "random_ltd", "fused_adam", "fused_lamb", "fused_lion",
       "spatial_inference", "ragged_ops", "cpu_adam", "cpu_lion", "cpu_adagrad", "async_io", "pin_memory", "utils",
       "deepspeed_shm_comm"]

LOAD = """
import sys
from deepspeed.ops.op_builder.all_ops import ALL_OPS
builder = ALL_OPS.get(sys.argv[1])
if builder is None or not builder.is_compatible(): sys.exit(77)
builder.load()
"""


def cores():
    return len(os.sched_getaffinity(0))


def tail(text, lines=15):
    return "\n".join("    " + line for line in text.splitlines()[-lines:])


def compile_op(op):
    """DeepSpeed's own build of one op: seconds, or None where it says that it cannot build it here."""
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", LOAD, op], env={**os.environ, "MAX_JOBS": "4"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 77:
        return None
    if done.returncode:
        print(f"DeepSpeed could not compile {op}:\n{tail(done.stdout)}", file=sys.stderr)
    return round(time.monotonic() - begin, 1)


def compile_ops():
    asked = os.environ.get("OPS", "all").split(",")
    ops = [op for op in OPS if ("all" in asked or op in asked) and f"-{op}" not in asked]
    with concurrent.futures.ThreadPoolExecutor(max(1, cores() // 2)) as pool:
        return {op: seconds for op, seconds in zip(ops, pool.map(compile_op, ops)) if seconds is not None}


def read_log(path):
    tests, modules = {}, {}
    for line in path.read_text().splitlines() if path.exists() else []:
        note = json.loads(line)
        if "test" in note:
            if tests.get(note["test"]) not in ("failed", "error"):
                tests[note["test"]] = note["outcome"]
        else:
            modules[note["module"]] = note["file"]
    return tests, modules


def run_file(name, tests_root, work):
    log = work / (name.strip("./").replace("/", "-") + ".jsonl")
    log.unlink(missing_ok=True)
    root, path = (HERE, HERE / name) if name.startswith("./") else (tests_root, tests_root / "unit" / name)
    command = [sys.executable, "-m", "pytest", "-p", "dsbuild_witness", "-p", "no:cacheprovider", "-o", "addopts=", "-q",
               "--rootdir", str(root), "--basetemp", str(log.with_suffix(".tmp")), str(path)]
    limit = int(os.environ.get("FILE_LIMIT", 240))
    environment = {**os.environ, "WITNESS_LOG": str(log), "DS_UNITTEST_TIMEOUT": str(limit),
                   "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    begin = time.monotonic()
    with open(log.with_suffix(".txt"), "w", encoding="utf-8") as text:
        process = subprocess.Popen(command, cwd=root, env=environment, stdout=text, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)  # with the processes that the tests started
            process.wait()
    tests, modules = read_log(log)
    seconds = round(time.monotonic() - begin, 1)
    print(f"{seconds:6.1f} s  {name}: {counts(tests)}" + ("" if code is not None else ", time limit"), file=sys.stderr)
    return {"seconds": seconds, "exit": code, "tests": tests, "modules": modules}


def counts(tests):
    """Passed, failed, skipped."""
    number = collections.Counter(tests.values())
    return f"{number['passed']} {number['failed'] + number['error']} {number['skipped']}"


def faults_of(way, files):
    """Ops that did not come from where this way has them."""
    extensions = pathlib.Path(os.environ["TORCH_EXTENSIONS_DIR"])
    faults = []
    for name, result in files.items():
        for module, file in result["modules"].items():
            compiled = pathlib.Path(file).is_relative_to(extensions)
            if module in OPS and compiled != (way == "jit"):
                faults.append(f"{name} loaded {module} from {file}")
    if way == "ours":
        faults += [f"{module} was compiled: {extensions / module}" for module in OPS if (extensions / module).exists()]
    return faults


def run(way, results, tests_root, files):
    tests_root = pathlib.Path(tests_root).resolve()
    missing = [name for name in files if not name.startswith("./") and not (tests_root / "unit" / name).exists()]
    if missing:
        sys.exit(f"not in {tests_root / 'unit'}: {', '.join(missing)}")
    work = pathlib.Path(results).with_suffix(".work").resolve()
    work.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    compiled = compile_ops() if way == "jit" else {}
    between = time.monotonic()
    jobs = int(os.environ.get("JOBS", max(1, cores() // 2)))
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores() // jobs)))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        done = dict(zip(files, pool.map(lambda name: run_file(name, tests_root, work), files)))
    result = {"way": way, "compiled": compiled, "compile_seconds": round(between - begin, 1),
              "test_seconds": round(time.monotonic() - between, 1), "files": done, "faults": faults_of(way, done)}
    pathlib.Path(results).write_text(json.dumps(result, indent=1), encoding="utf-8")
    print(f"{way}: {counts(collections.ChainMap(*(each['tests'] for each in done.values())))} (passed, failed, skipped), "
          f"ops compiled in {result['compile_seconds']} s, tests run in {result['test_seconds']} s", file=sys.stderr)
    return "\n".join(result["faults"])


def unfinished(name, way, result):
    if result["exit"] is None:
        return [f"{name}: not finished in time with {way}"]
    return [] if result["tests"] else [f"{name}: no test of it was run with {way}, pytest's exit code is {result['exit']}"]


def differences(file, ours, jit):
    """Tests whose outcome is not the same, and what one way did not finish."""
    found = unfinished(file, "dsbuild", ours) + unfinished(file, "JIT", jit)
    for name in sorted(ours["tests"].keys() | jit["tests"].keys()):
        left, right = (result["tests"].get(name, "not run") for result in (ours, jit))
        if left != right:
            found.append(f"{name}: {left} with dsbuild, {right} with JIT")
    return found


def table(ours, jit):
    print("| test file | ops it loaded | dsbuild: passed, failed, skipped | JIT | the same |\n|---|---|---|---|---|")
    nothing = {"tests": {}, "modules": {}, "exit": None}
    found = list(ours["faults"]) + list(jit["faults"])
    for name in ours["files"] | jit["files"]:
        left, right = ours["files"].get(name, nothing), jit["files"].get(name, nothing)
        different = differences(name, left, right)
        loaded = ", ".join(sorted(module for module in left["modules"] if module in OPS)) or "none"
        if {*left["modules"]} & {*OPS} != {*right["modules"]} & {*OPS}:
            different.append(f"{name}: JIT loaded {', '.join(sorted({*right['modules']} & {*OPS})) or 'none'}")
        print(f"| {name} | {loaded} | {counts(left['tests'])} | {counts(right['tests'])} | {'no' if different else 'yes'} |")
        found += different
    compiled = ", ".join(f"{op} {seconds}" for op, seconds in jit["compiled"].items())
    print(f"\nDeepSpeed compiled its ops in {jit['compile_seconds']} s, side by side; seconds of each: {compiled}.")
    return "\n".join(found)


def main(words):
    if len(words) >= 4 and words[1] in ("ours", "jit"):
        return run(words[1], words[2], words[3], words[4:] or FILES)
    if len(words) == 4 and words[1] == "table":
        return table(*(json.loads(pathlib.Path(word).read_text(encoding="utf-8")) for word in words[2:]))
    return __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv) or 0)
