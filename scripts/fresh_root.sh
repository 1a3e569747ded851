#!/usr/bin/env bash
# fresh_root.sh [--cuda none|host] first|pypi13|test: a fresh Debian 12 root, a clone of the committed HEAD in
# it, the commands of README.md run there, and what came out checked by readers that are not ours. Root only. The root
# goes away at the end; the log stays in build/.
set -euo pipefail
# shellcheck source=scripts/root.sh
source "$(dirname "${BASH_SOURCE[0]}")/root.sh"

cuda=none

usage() { die 2 "usage: fresh_root.sh [--cuda none|host] first|pypi13|test"; }

# ---- the root

make_fresh_root() {
  work="$(mktemp -d "${TMPDIR:-/var/tmp}/dsbuild-root.XXXXXX")"
  chmod 755 "$work"
  root="$work/root"
  trap 'rm -rf --one-file-system "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  make_root bookworm "$root"
  git clone --quiet --no-hardlinks "$repository" "$root/dsbuild"
  if [[ $cuda == host ]]; then root_binds=("$(realpath /usr/local/cuda):/usr/local/cuda:ro"); fi
}

# inside COMMAND...: runs it in the clone in the root.
inside() {
  # shellcheck disable=SC2016
  in_root "$root" CI=true bash -c 'cd /dsbuild && exec "$@"' inside "$@"
}

# ---- checks

fail() {
  say "FAILED: $*" "  the log: $log"
  exit 1
}

# check WHAT EXPECTED FOUND
check() {
  [[ "$2" == "$3" ]] || fail "$1: expected '$2', found '$3'"
  say "ok: $1: $3"
}

# timed WHAT COMMAND...: runs it inside, its text in the log.
timed() {
  local what="$1" from
  from="$(now)"
  shift
  printf '\n== %s: %s\n' "$what" "$*" >>"$log"
  inside "$@" >>"$log" 2>&1 || fail "$what: exit $?: $*"
  say "time: $what: $(seconds_since "$from") s"
}

# images_of CUOBJDUMP OP: the kinds of device image in an op's library, by NVIDIA's reader. (Its
# --list-elf would show sm_120f as sm_120.)
images_of() {
  inside "$1" "dsbuild-out/$2.so" 2>>"$log" |
    awk '/^Fatbin (elf|ptx) code/ { kind = $2 }
         /^arch = / { name = $3; if (kind == "ptx") sub(/^sm_/, "compute_", name); print name }' |
    LC_ALL=C sort -u | paste -sd' '
}

# Seconds from the start of run.sh to its exec of dsbuild, by the shell's own trace; empty if it never came.
seconds_before_dsbuild() {
  # shellcheck disable=SC2016
  inside bash -c 'exec 9>/tmp/trace; BASH_XTRACEFD=9; PS4="+\$EPOCHREALTIME "; set -x; source ./scripts/run.sh "$@"' \
    run "$@" >>"$log" 2>&1 || fail "the second run: $*"
  awk '/^\++[0-9]+\.[0-9]+ / { sub(/^\++/, "", $1); if (!first) first = $1; if ($2 == "exec") last = $1 }
       END { if (last) printf "%.3f", last - first }' "$root/tmp/trace"
}

check_second_run() {
  local seconds
  seconds="$(seconds_before_dsbuild "$@")"
  check "second run: dsbuild starts within 0.5 s (${seconds:-never} s)" yes \
    "$(awk -v s="${seconds:-9}" 'BEGIN { print s < 0.5 ? "yes" : "no" }')"
}

# Every op of the native pack has its library.
check_libraries() {
  check "libraries" \
    "$(cd "$root/dsbuild/ops/native" && find . -name op.yaml -printf '%P\n' | sed 's,/op.yaml$,.so,' | sort | paste -sd' ')" \
    "$(cd "$root/dsbuild/dsbuild-out" && find . -name '*.so' -printf '%P\n' | sort | paste -sd' ')"
}

# ---- scenarios

scenario_first() {
  local request=(--ops all --arch "7.0;8.0+PTX") ninja_file="$root/dsbuild/.dsbuild/build.ninja"
  local cuobjdump_11_8="$root_home/.cache/dsbuild/toolkits/11.8/bin/cuobjdump"
  timed "first run of run.sh" ./scripts/run.sh "${request[@]}"
  check_libraries
  check "images of fused_adam" "compute_80 sm_70 sm_80" "$(images_of "$cuobjdump_11_8" fused_adam)"
  check "images of quantizer" "compute_80 sm_70 sm_80" "$(images_of "$cuobjdump_11_8" quantizer)"
  check "images of fp_quantizer" "compute_80 sm_80" "$(images_of "$cuobjdump_11_8" fp_quantizer)"
  check "definitions of shared in build.ninja" 1 "$(grep -cE '^shared = ' "$ninja_file")"
  check "extras in build.ninja" "# extra: sm_70" "$(grep -oE '# extra:.*' "$ninja_file" | sort -u)"
  check "edges of fp_quantizer that name sm_70" 0 "$(edges_that_name sm_70 fp_quantizer "$ninja_file")"
  check "edges of fused_adam that name sm_70" some \
    "$([[ $(edges_that_name sm_70 fused_adam "$ninja_file") -gt 0 ]] && echo some)"
  check_second_run "${request[@]}"
}

# edges_that_name PAIR OP FILE: build statements with OP in their outputs whose variables use $PAIR.
edges_that_name() {
  awk -v pair="\\$\\{?$1" -v op="$2" '
    /^build / { ours = index($0, op) > 0; next }
    /^[^ ]/ { ours = 0 }
    ours && $0 ~ pair { count++; ours = 0 }
    END { print count + 0 }' "$3"
}

scenario_pypi13() {
  local request=(--ops all --arch "7.5;8.0;9.0a+PTX;12.0f") reader="$root_home/.cache/dsbuild${cuobjdump#"$cache_dir"}"
  timed "first run of run.sh" ./scripts/run.sh "${request[@]}"
  check_libraries
  timed "cuobjdump from PyPI" ./scripts/get_toolkit.sh cuobjdump
  check "images of fused_adam" "compute_90a sm_120f sm_75 sm_80 sm_90a" "$(images_of "$reader" fused_adam)"
  check "images of quantizer" "compute_90a sm_120f sm_75 sm_80 sm_90a" "$(images_of "$reader" quantizer)"
  check "images of fp_quantizer" "compute_90a sm_120f sm_80 sm_90a" "$(images_of "$reader" fp_quantizer)"
  check_second_run "${request[@]}"
}

scenario_test() {
  timed "test.sh" ./scripts/test.sh
  tail -n 5 "$log" >&2
}

# ---- main

main() {
  if [[ "${1:-}" == --cuda ]]; then
    cuda="${2:-}"
    shift 2 || usage
  fi
  [[ "$cuda" == none || "$cuda" == host ]] || usage
  [[ $# -eq 1 && "$1" =~ ^(first|pypi13|test)$ ]] || usage
  [[ "$cuda" == none || -x /usr/local/cuda/bin/nvcc ]] || die 3 "dsbuild: --cuda host: no /usr/local/cuda here"
  require_root_tools
  require_packages git
  mkdir -p "$repository/build/fresh_root"
  log="$repository/build/fresh_root/$1-cuda-$cuda.log"
  : >"$log"
  make_fresh_root
  "scenario_$1"
  say "PASSED: $1, CUDA of the root: $cuda; the log: $log"
}

main "$@"
