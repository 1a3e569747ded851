#!/usr/bin/env python3
"""Wall time and memory of `dsbuild plan` over 1,000 generated op specs. Aim: under 1 s and 256 MB.

  scripts/bench_plan.py [DSBUILD] [OPS]      default: build/release/apps/dsbuild/dsbuild 1000
"""

import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = 5
SPEC = """name: {name}
backend: cuda
archs: {{min: "{minimum}"}}
include_dirs: [include]
defines: {{USE_FAST_EXP: 1, BF16: {{value: 1, when: {{every_arch: ">=8.0"}}}}}}
flags: {{cxx: [-O3], nvcc: [-O3, --use_fast_math]}}
sources:
  - {name}/forward.cu
  - {name}/backward.cu
  - {{path: {name}/inst.cu, for: {{HEAD_DIM: [32, 64]}}}}
  - {name}/binding.cpp
exports: [{name}_forward]
"""


def make_pack(folder, number):
    (folder / "src" / "include").mkdir(parents=True)
    (folder / "pack.yaml").write_text("name: generated\nsource_root: src\n")
    for index in range(number):
        name = f"op_{index:05}"
        (folder / name).mkdir()
        (folder / name / "op.yaml").write_text(SPEC.format(name=name, minimum=("7.0", "8.0", "9.0")[index % 3]))
        (folder / "src" / name).mkdir()
        for source in ("forward.cu", "backward.cu", "inst.cu", "binding.cpp"):
            (folder / "src" / name / source).write_text(f"// {name} {source}\n" * 50)


def measure(command, output):
    """Seconds and peak resident KiB of one run."""
    begin = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)])
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(command)} failed")
    return time.perf_counter() - begin, usage.ru_maxrss


def main():
    words = sys.argv[1:]
    program = str(pathlib.Path(words[0] if words else ROOT / "build/release/apps/dsbuild/dsbuild").resolve())
    number = int(words[1]) if len(words) > 1 else 1000
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        make_pack(folder / "pack", number)
        print("| ops | format | median | fastest | slowest | peak memory |\n|---|---|---|---|---|---|")
        for form in ("table", "json"):
            command = [program, "plan", "--format", form, "--ops", "all", "--arch", "8.0;9.0+PTX", "--pack",
                       str(folder / "pack"), "--build-dir", str(folder / "build"), "--out", str(folder / "out")]
            runs = [measure(command, str(folder / "plan.txt")) for _ in range(RUNS)]
            times = sorted(seconds for seconds, _ in runs)
            memory = max(kib for _, kib in runs) / 1024
            print(f"| {number} | {form} | {statistics.median(times):.3f} s | {times[0]:.3f} s | {times[-1]:.3f} s | "
                  f"{memory:.0f} MB |")


if __name__ == "__main__":
    main()
