#!/usr/bin/env bash
# bench_deepspeed.sh SOURCE [WAY...]: cold builds of the same DeepSpeed ops, from process start to exit, one after the
# other on this machine: `dsbuild`, `ninja` (DeepSpeed's setup.py with DS_ENABLE_NINJA=1) and `default` (setup.py as it
# is). SOURCE: an unpacked source distribution. Needs torch with CUDA, nvcc, Ninja and Python's headers, no GPU.
#   DSBUILD=FILE   the dsbuild to use      (default: build/release of this checkout)
#   PYTHON=FILE    the Python with torch   (default: python3)
#   OPS=LIST       ops, by dsbuild's names (default: six that take DeepSpeed minutes)
#   ARCH=LIST      (default: 7.5;8.0;9.0+PTX)
#   MORE="OPTION…" further options of dsbuild
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
source="$(realpath "${1:?usage: bench_deepspeed.sh SOURCE [dsbuild|ninja|default]...}")"
shift
ways=("${@:-dsbuild}")
dsbuild="$(realpath "${DSBUILD:-$root/build/release/apps/dsbuild/dsbuild}")"
python="${PYTHON:-python3}"
ops="${OPS:-fused_adam,fused_lamb,fused_lion,random_ltd,spatial_inference,cpu_adam}"
archs="${ARCH:-7.5;8.0;9.0+PTX}"
work="$(mktemp -d "${TMPDIR:-/tmp}/bench-deepspeed.XXXXXX")"
trap 'rm -rf "$work"' EXIT
export TORCH_NO_COMPILER_WRAPPER=1 TORCH_CUDA_ARCH_LIST="$archs" DS_ACCELERATOR=cuda

# timed WHAT COMMAND...: a row of the table; its text goes to a log that is shown when it fails.
timed() {
  local what="$1" from to
  shift
  from="$EPOCHREALTIME"
  "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; printf '| %s | failed | |\n' "$what"; return; }
  to="$EPOCHREALTIME"
  printf '| %s | %s s | %s |\n' "$what" "$(awk -v a="$from" -v b="$to" 'BEGIN { printf "%.1f", b - a }')" "$(libraries)"
}

# How many libraries the last way made, and their size.
libraries() {
  find "$work/out" -name '*.so' -printf '%s\n' 2>/dev/null | awk '{ n++; s += $1 } END { printf "%d, %.1f MB", n, s / 1e6 }'
}

run_dsbuild() {
  # shellcheck disable=SC2086
  "$dsbuild" --pack deepspeed --source "$source" --python "$python" --ops "$ops" --arch "$archs" \
    --out "$work/out" --build-dir "$work/build" ${MORE:-}
}

# As `DS_BUILD_<OP>=1 pip install` compiles it, without what pip does around it.
run_setup() {
  local name words=()
  for name in ${ops//,/ }; do words+=("DS_BUILD_${name^^}=1"); done
  (cd "$work/source" && env "${words[@]}" "$@" "$python" setup.py -q build_ext --build-lib "$work/out" --build-temp "$work/build")
}

printf 'cores: %s; ops: %s; archs: %s; DeepSpeed %s\n\n| build | wall | libraries |\n|---|---|---|\n' \
  "$(nproc)" "$ops" "$archs" "$(cat "$source/version.txt")"
for way in "${ways[@]}"; do
  rm -rf "$work/out" "$work/build" "$work/source"
  cp -r "$source" "$work/source"
  case "$way" in
    dsbuild)
      timed "dsbuild, cold" run_dsbuild
      grep -E '^(built|slowest)|precompil|extension.h' "$work/log" | sed 's/^/  /' >&2 || true
      timed "dsbuild, nothing to do" run_dsbuild
      ;;
    ninja) timed "DeepSpeed, DS_ENABLE_NINJA=1 MAX_JOBS=$(nproc)" run_setup DS_ENABLE_NINJA=1 MAX_JOBS="$(nproc)" ;;
    default) timed "DeepSpeed as it is" run_setup ;;
    *) echo "unknown way: $way" >&2; exit 2 ;;
  esac
done
