#!/usr/bin/env bash
# nightly.sh: what is too long for every commit: fresh roots, every op of DeepSpeed built, the fault tests
# with their full counts, the fuzz targets. Root only. Prints a table; exits 1 if a row failed. FUZZ_SECONDS: time per
# fuzz target (3600).
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

logs="$repository/build/nightly"
fuzz_folder="$repository/build/fuzz"
fuzz_seconds="${FUZZ_SECONDS:-3600}"
rows=()
failures=0

# row NAME COMMAND...: one line of the table. Its text goes to a log of its own; a failed row stops nothing.
row() {
  local name="$1" from result=passed log
  log="$logs/${name//[^a-zA-Z0-9_.-]/_}.log"
  from="$(now)"
  say "== $name"
  "${@:2}" >"$log" 2>&1 </dev/null || result="FAILED ($log)"
  [[ "$result" == passed ]] || failures=$((failures + 1))
  rows+=("$(printf '%-36s %9s s  %s' "$name" "$(seconds_since "$from")" "$result")")
  say "${rows[-1]}"
}

fresh_root_rows() {
  row "fresh root: first" "$repository/scripts/fresh_root.sh" first
  if [[ -x /usr/local/cuda/bin/nvcc ]]; then
    row "fresh root: first, CUDA of the host" "$repository/scripts/fresh_root.sh" --cuda host first
  fi
  row "fresh root: CUDA 13.5 from wheels" "$repository/scripts/fresh_root.sh" pypi13
  row "fresh root: the quick start's ten minutes" "$repository/scripts/make_quickstart.py"
  row "fresh root: all tests" "$repository/scripts/fresh_root.sh" test
}

# For glibc 2.31: built in a Debian 11, tried in one and in Debian 12.
wheel_rows() {
  local wheels="$repository/build/wheels/bullseye" test="$repository/tests/packaging/wheel_test.py"
  rm -rf "$wheels"
  row "wheel: built in bullseye" "$repository/scripts/build_wheel.sh" --root bullseye "$wheels"
  DSBUILD_WHEEL="$(compgen -G "$wheels/*.whl")" || return 0
  export DSBUILD_WHEEL
  DSBUILD_WHEEL_SUITE=bullseye row "wheel: tried in bullseye" "$test_python" -B "$test"
  row "wheel: tried in bookworm" "$test_python" -B "$test"
  unset DSBUILD_WHEEL
}

# Torch alone is 2 GB.
deepspeed_rows() {
  row "deepspeed: the whole pack, really built" "$test_python" -B "$repository/tests/packaging/deepspeed_whole_test.py"
  row "deepspeed: docs/recipes/Dockerfile.deepspeed" "$test_python" -B "$repository/tests/packaging/deepspeed_image_test.py"
}

# Every CUDA file of both packs, with three toolkits for six lists of archs each: many hours on two cores. Goes on where it was.
slices_rows() {
  row "slices: CUDA 13.5" require_toolkit_13_5
  row "slices: what nvcc makes" "$test_python" -B "$repository/tests/differential/slices.py" "$repository/build/slices"
}

fault_rows() {
  local script
  export DSBUILD_NIGHTLY=1
  for script in "$repository"/tests/{faults,stale}/*_test.py "$repository"/tests/faults/*.sh; do
    case "$script" in
      *\**) ;; # no such file: the pattern itself
      *.py) row "$(basename "$(dirname "$script")"): $(basename "$script" _test.py)" "$test_python" -B "$script" ;;
      *.sh) row "faults: $(basename "$script" .sh)" bash "$script" ;;
    esac
  done
}

build_fuzz_targets() {
  cmake -S "$repository" -B "$fuzz_folder" -G Ninja -DCMAKE_MAKE_PROGRAM="$ninja_bin/ninja" -DDSBUILD_FUZZ=ON \
    -DDSBUILD_TESTS=OFF -DDSBUILD_SANITIZE=ON -DCMAKE_CXX_COMPILER="$1" && cmake --build "$fuzz_folder"
}

fuzz_rows() {
  local compiler target
  compiler="$(compgen -c clang++ | grep -E '^clang\+\+(-[0-9]+)?$' | sort -V | tail -n 1)" || true
  if [[ -z "$compiler" ]]; then
    row "fuzz: clang++ is not installed" false
    return
  fi
  row "fuzz: build with $compiler" build_fuzz_targets "$compiler"
  for target in "$fuzz_folder"/tests/fuzz/fuzz_*; do
    [[ -f "$target" && -x "$target" ]] || continue
    row "fuzz: $(basename "$target")" "$target" -max_total_time="$fuzz_seconds" -timeout=5 -rss_limit_mb=512 \
      -max_len=1048576 -artifact_prefix="$logs/"
  done
}

[[ $EUID -eq 0 ]] || die 3 "dsbuild: nightly.sh needs root (the fresh roots use chroot and mount)"
mkdir -p "$logs"
row "test.sh" "$repository/scripts/test.sh"
export PATH="$ninja_bin:$PATH"
export_test_environment
row "clang-analyzer" "$test_python" -B "$repository/tests/lint/tidy.py" "$repository/build/test" "clang-analyzer-*"
fresh_root_rows
wheel_rows
deepspeed_rows
slices_rows
fault_rows
fuzz_rows
printf '%s\n' "" "${rows[@]}"
[[ $failures -eq 0 ]] || die 1 "dsbuild: $failures of ${#rows[@]} failed"
