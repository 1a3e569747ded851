"""DeepSpeed's own tests with the ops of a wheel of dsbuild's, and with those that DeepSpeed compiles when they are loaded.

  run.py ours|jit RESULTS TESTS [FILE...]   run the files (default: FILES) in this Python's environment; `jit` first has
                                            DeepSpeed compile its ops. TESTS: the folder `tests` of DeepSpeed's repository
  run.py table OURS JIT                     two results side by side; exit code 1 if anything differs

Variables: TORCH_EXTENSIONS_DIR (fresh), OPS (as for dsbuild: what DeepSpeed compiles before the tests), JOBS (processes of
pytest at a time), FILE_LIMIT (seconds for one file, or one part of a file), TEST_LIMIT (seconds for one test).
"""

import collections
import concurrent.futures
import contextlib
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

# Of these files nearly every test starts processes of its own, 20 s each on a slow machine: so many parts run side by side.
PARTS = {"ops/accelerators/test_accelerator_forward.py": 8, "ops/accelerators/test_accelerator_backward.py": 8,
         "utils/test_byte_cast.py": 6, "v1/nvme/test_aio.py": 10}

# Those that load an op and run on one GPU, below tests/unit of DeepSpeed; the longest first. A path with a leading dot is
# our own: DeepSpeed has no test of random_ltd. Those of fp_quantizer, whose source has a fault so far, are to be named.
FILES = [
    *PARTS, "ops/adam/test_cpu_adam.py", "ops/adam/test_adamw.py", "ops/adam/test_hybrid_adam.py",
    "ops/lion/test_lion.py", "ops/lion/test_cpu_lion.py",
    "ops/adagrad/test_cpu_adagrad.py", "runtime/half_precision/test_dynamic_loss_scale.py",
    *(f"ops/transformer/inference/test_{name}.py" for name in INFERENCE.split()),
    "ops/quantizer/test_quantize.py", "ops/quantizer/test_fake_quantization.py", "ops/spatial/test_nhwc_bias_add.py",
    "ops/deepspeed4science/test_DS4Sci_EvoformerAttention.py",
    *(f"inference/v2/kernels/core_ops/test_{name}.py" for name in CORE_OPS.split()),
    "inference/v2/ragged/test_blocked_allocator.py", "inference/v2/ragged/test_ragged_wrapper.py",
    "v1/pin_memory/test_pin_memory.py", "v1/pin_memory/test_pin_memory_op.py",
    "./test_random_ltd.py",
]

TEST_LIMIT = os.environ.get("TEST_LIMIT", "100")

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
    """{test: what became of it}, {op: its file}. A test that never ended has hung, or took pytest with it."""
    tests, modules = {}, {}
    for line in path.read_text().splitlines() if path.exists() else []:
        note = json.loads(line)
        if "started" in note:
            tests[note["started"]] = "hung"
        elif "test" in note:
            if tests.get(note["test"]) not in ("failed", "error"):
                tests[note["test"]] = note["outcome"]
        else:
            modules[note["module"]] = note["file"]
    return tests, modules


def run_pytest(path, root, log, environment, limit):
    """pytest's exit code, None at the time limit."""
    command = [sys.executable, "-m", "pytest", "-p", "dsbuild_witness", "-p", "no:cacheprovider", "-o", "addopts=", "-q",
               "-o", f"faulthandler_timeout={TEST_LIMIT}", "--rootdir", str(root), "--basetemp", str(log.with_suffix(".tmp")), str(path)]
    with open(log.with_suffix(".txt"), "a", encoding="utf-8") as text:
        process = subprocess.Popen(command, cwd=root, env={**os.environ, **environment, "WITNESS_LOG": str(log)},
                                   stdout=text, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with the processes that the tests started
            process.wait()


def cut_short(log):
    return [test for test, outcome in read_log(log)[0].items() if outcome in ("hung", "crashed")]


def note_crash(log):
    """The test that was running when a signal ended pytest, the last that was begun, did not hang."""
    tests = read_log(log)[0]
    if tests and tests[last := list(tests)[-1]] == "hung":
        with open(log, "a", encoding="utf-8") as notes:
            notes.write(json.dumps({"test": last, "outcome": "crashed"}) + "\n")


def run_part(name, part, tests_root, work):
    """A test that hangs or crashes ends the run; what comes behind it is run then."""
    log = work / f"{name.strip('./').replace('/', '-')}-{part}.jsonl"
    for old in (log, log.with_suffix(".txt")):
        old.unlink(missing_ok=True)
    root, path = (HERE, HERE / name) if name.startswith("./") else (tests_root, tests_root / "unit" / name)
    environment = {"WITNESS_PART": f"{part}/{PARTS.get(name, 1)}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                   "DS_UNITTEST_TIMEOUT": TEST_LIMIT}
    begin = time.monotonic()
    deadline = begin + int(os.environ.get("FILE_LIMIT", 240))
    known, codes = -1, []
    while len(cut_short(log)) > known and None not in codes:
        known = len(cut_short(log))
        codes.append(run_pytest(path, root, log, environment, deadline - time.monotonic()))
        if codes[-1] is not None and codes[-1] < 0:
            note_crash(log)
    tests, modules = read_log(log)
    return {"seconds": round(time.monotonic() - begin, 1), "exit": None if None in codes else codes[0], "tests": tests,
            "modules": modules}


def merge(name, parts):
    """One result of a file's parts."""
    codes = [part["exit"] for part in parts]
    result = {"seconds": max(part["seconds"] for part in parts), "exit": None if None in codes else max(codes),
              "tests": dict(collections.ChainMap(*(part["tests"] for part in parts))),
              "modules": dict(collections.ChainMap(*(part["modules"] for part in parts)))}
    print(f"{result['seconds']:6.1f} s  {name}: {counts(result['tests'])}" + (", time limit" if None in codes else ""),
          file=sys.stderr)
    return result


def run_files(files, tests_root, work):
    jobs = int(os.environ.get("JOBS", cores()))
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores() // jobs)))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        parts = {name: [pool.submit(run_part, name, part, tests_root, work) for part in range(PARTS.get(name, 1))]
                 for name in files}
        return {name: merge(name, [part.result() for part in futures]) for name, futures in parts.items()}


def counts(tests):
    """Passed, failed, skipped; in brackets how many of the failed crashed."""
    number = collections.Counter(tests.values())
    failed = sum(number[outcome] for outcome in ("failed", "error", "hung", "crashed"))
    crashed = f" ({number['crashed']} crashed)" if number["crashed"] else ""
    return f"{number['passed']} {failed} {number['skipped']}{crashed}"


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
    done = run_files(files, tests_root, work)
    result = {"way": way, "compiled": compiled, "compile_seconds": round(between - begin, 1),
              "test_seconds": round(time.monotonic() - between, 1), "files": done, "faults": faults_of(way, done)}
    pathlib.Path(results).write_text(json.dumps(result, indent=1), encoding="utf-8")
    print(f"{way}: {counts(collections.ChainMap(*(each['tests'] for each in done.values())))} (passed, failed, skipped), "
          f"ops compiled in {result['compile_seconds']} s, tests run in {result['test_seconds']} s", file=sys.stderr)
    return "\n".join(result["faults"])


NOTHING = {"tests": {}, "modules": {}, "exit": None}


def unfinished(name, way, result):
    if result["exit"] is None:
        return [f"{name}: not finished in time with {way}"]
    return [] if result["tests"] else [f"{name}: no test of it was run with {way}, pytest's exit code is {result['exit']}"]


def ops_of(result):
    return sorted({*result["modules"]} & {*OPS})


def differences(file, ours, jit):
    """Tests whose outcome is not the same (in a file that was not finished, of those that both ran), and ops."""
    found = []
    compared = ours["tests"].keys() | jit["tests"].keys()
    if None in (ours["exit"], jit["exit"]):
        compared = ours["tests"].keys() & jit["tests"].keys()
    for name in sorted(compared):
        left, right = (result["tests"].get(name, "not run") for result in (ours, jit))
        if left != right:
            found.append(f"{name}: {left} with dsbuild, {right} with JIT")
    if ops_of(ours) != ops_of(jit):
        found.append(f"{file}: JIT loaded {', '.join(ops_of(jit)) or 'none'}")
    return found


def shown(files):
    """"ops/adam/test_{adamw, cpu_adam}.py"."""
    folder = files[0].rpartition("test_")[0]
    names = [file.removeprefix(folder + "test_").removesuffix(".py") for file in files]
    return files[0] if len(files) == 1 else f"{folder}test_{{{', '.join(names)}}}.py"


def print_rows(files, verdicts):
    """Files of one folder that loaded the same ops and have the same verdict are one row."""
    rows = {}
    for name, (left, right) in files.items():
        rows.setdefault((pathlib.PurePath(name).parent, *ops_of(left), verdicts[name]), []).append(name)
    print("| tests | ops they loaded | dsbuild: passed, failed, skipped | JIT | the same |\n|---|---|---|---|---|")
    for (_, *loaded, verdict), names in rows.items():
        sides = (counts(collections.ChainMap(*(files[name][side]["tests"] for name in names))) for side in (0, 1))
        print(f"| {shown(names)} | {', '.join(loaded) or 'none'} | {' | '.join(sides)} | {verdict} |")


def table(ours, jit):
    files = {name: (ours["files"].get(name, NOTHING), jit["files"].get(name, NOTHING))
             for name in ours["files"] | jit["files"]}
    found, verdicts, both = list(ours["faults"]) + list(jit["faults"]), {}, 0
    for name, (left, right) in files.items():
        different = differences(name, left, right)
        open_ends = unfinished(name, "dsbuild", left) + unfinished(name, "JIT", right)
        verdicts[name] = "no" if different else "not finished" if open_ends else "yes"
        found += open_ends + different
        both += len(left["tests"].keys() & right["tests"].keys())
    print_rows(files, verdicts)
    number = collections.Counter(verdicts.values())
    print(f"\n{len(files)} files: {number['yes']} the same, {number['not finished']} not finished, {number['no']} with "
          f"differences. {both} tests were run by both.")
    compiled = ", ".join(f"{op} {seconds}" for op, seconds in jit["compiled"].items())
    print(f"DeepSpeed compiled its ops in {jit['compile_seconds']} s, side by side; seconds of each: {compiled}.")
    return "\n".join(found)


def main(words):
    if len(words) >= 4 and words[1] in ("ours", "jit"):
        return run(words[1], words[2], words[3], words[4:] or FILES)
    if len(words) == 4 and words[1] == "table":
        return table(*(json.loads(pathlib.Path(word).read_text(encoding="utf-8")) for word in words[2:]))
    return __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv) or 0)
