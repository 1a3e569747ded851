#!/usr/bin/env bash
# deepspeed.sh [build|ours|jit|table]...: DeepSpeed's own tests of its ops, once with a wheel of dsbuild's and once with
# the ops that DeepSpeed compiles itself (docs/figures/gpu.md). Without words: all four, in this order.
#   build   the ops with dsbuild, a wheel of them, and a Python environment with DeepSpeed and the wheel
#   ours    the tests in it; no op may be compiled
#   jit     an environment with DeepSpeed alone: it compiles its ops, then the tests
#   table   the two side by side, test by test; exit code 1 if an outcome differs
# Each of them keeps what it made in WORK. On 16 cores none should take more than 5 minutes.
#   SOURCE=DIR    an unpacked source distribution of DeepSpeed        (needed by build and jit)
#   TESTS=DIR     the folder `tests` of DeepSpeed's repository at that version; source distributions have none
#   WORK=DIR      (default: /tmp/deepspeed-tests)
#   DSBUILD=FILE  (default: build/release of this checkout)
#   PYTHON=FILE   the Python with torch, whose packages the environments see (default: python3)
#   OPS=LIST      what is built, both ways                            (default: all,-dc,-gds)
#   ARCH=LIST, MORE="OPTION…"   for dsbuild                           (default: 9.0)
#   FILES="FILE…" test files below tests/unit (default: FILES of deepspeed_tests/run.py)
#   JOBS, FILE_LIMIT, TEST_LIMIT   processes of pytest at a time (default: one for each core), seconds for one of them and
#                 for one test (run.py; files of slow tests run in parts)
#   CXX=FILE      the compiler of both; with one that links libstdc++ statically DeepSpeed's own transformer op crashes
#   OUT=DIR       the results are also written to DIR/{ours,jit}.json and DIR/table.md
# Python packages: torch, numpy and what DeepSpeed requires (einops, hjson, msgpack, ninja, packaging, psutil, py-cpuinfo,
# pydantic, tqdm), pip, setuptools, wheel, pytest before 8.4; qtorch for the tests of fp_quantizer. nvcc and a C++
# compiler; libaio for async_io, CUTLASS (CUTLASS_PATH) for evoformer_attn: what is missing is skipped in both.
# Without a GPU: DS_ACCELERATOR=cpu OPS=cpu_adam,cpu_adagrad,deepspeed_shm_comm FILES="ops/adam/test_cpu_adam.py …".
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="$(command -v "${PYTHON:-python3}")"
dsbuild="${DSBUILD:-$here/../../build/release/apps/dsbuild/dsbuild}"
work="${WORK:-/tmp/deepspeed-tests}"
read -ra files <<<"${FILES:-}"
mkdir -p "$work"
PATH="$(dirname "$python"):$PATH" # ninja, where pip installed it
unset TORCH_CUDA_ARCH_LIST # DeepSpeed asks the GPU
export OPS="${OPS:-all,-dc,-gds}" PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 TORCH_NO_COMPILER_WRAPPER=1

say_what_is_missing() {
  "$python" - <<'PYTHON' || exit 77
import importlib.util
import sys
needed = {"cpuinfo": "py-cpuinfo", "pip": "pip", "pytest": "pytest<8.4"} | {name: name for name in (
    "einops", "hjson", "msgpack", "ninja", "numpy", "packaging", "psutil", "pydantic", "setuptools", "torch", "tqdm", "wheel")}
missing = [package for module, package in needed.items() if importlib.util.find_spec(module) is None]
sys.exit(f"these Python packages are missing: {' '.join(missing)}" if missing else 0)
PYTHON
  [[ -e ${TESTS:?the folder tests of DeepSpeed, see the top of this script}/unit/common.py ]] ||
    { echo "$TESTS has no unit/common.py" >&2; exit 77; }
}

# DeepSpeed without any op, from a copy: setup.py writes into its folder.
make_deepspeed_wheel() {
  compgen -G "$work/deepspeed-*.whl" >/dev/null && return
  cp -r "${SOURCE:?an unpacked source distribution of DeepSpeed}" "$work/source"
  DS_BUILD_OPS=0 "$python" -m pip wheel --quiet --no-index --no-deps --no-build-isolation --wheel-dir "$work" "$work/source"
  rm -rf "$work/source"
}

# make_environment NAME WHEEL...: a Python environment with these wheels, in front of the packages of PYTHON. (In one
# with --system-site-packages those of PYTHON would be missing where PYTHON is in such an environment itself.)
make_environment() {
  local folder="$work/$1" packages
  shift
  rm -rf "$folder"
  "$python" -m venv --without-pip "$folder"
  packages="$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
  "$python" -c 'import site, sys; print("import site; " + "; ".join(f"site.addsitedir({p!r})" for p in site.getsitepackages()))' \
    >"$packages/base.pth"
  cp "$here/deepspeed_tests/dsbuild_witness.py" "$packages/"
  echo "import dsbuild_witness" >"$packages/dsbuild_witness.pth"
  "$python" -m pip --python "$folder/bin/python" install --quiet --no-index --no-deps --no-compile "$@"
}

build() {
  make_deepspeed_wheel
  rm -rf "$work/wheels"
  mkdir "$work/wheels"
  # shellcheck disable=SC2086
  "$dsbuild" --pack deepspeed --source "${SOURCE:?}" --python "$python" --ops "$OPS" --arch "${ARCH:-9.0}" \
    --out "$work/bundle" --build-dir "$work/build" ${MORE:-}
  "$dsbuild" wheel "$work/bundle" --wheel-dir "$work/wheels"
  make_environment ours-env "$work"/deepspeed-*.whl "$work"/wheels/*.whl
}

# run_tests WAY: with a fresh folder for what torch compiles.
run_tests() {
  rm -rf "$work/extensions-$1"
  TORCH_EXTENSIONS_DIR="$work/extensions-$1" \
    "$work/$1-env/bin/python" "$here/deepspeed_tests/run.py" "$1" "$work/$1.json" "$TESTS" "${files[@]}" || status=1
  if [[ -n ${OUT:-} ]]; then cp "$work/$1.json" "$OUT/"; fi
}

status=0
[[ $# -gt 0 ]] || set -- build ours jit table
for part in "$@"; do
  case "$part" in
    build) say_what_is_missing; build ;;
    ours) run_tests ours ;;
    jit) say_what_is_missing; make_deepspeed_wheel; make_environment jit-env "$work"/deepspeed-*.whl; run_tests jit ;;
    table)
      "$python" "$here/deepspeed_tests/run.py" table "$work/ours.json" "$work/jit.json" | tee "$work/table.md" || status=1
      if [[ -n ${OUT:-} ]]; then cp "$work/table.md" "$OUT/"; fi
      ;;
    *) sed -n '2,7s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
done
exit "$status"
