#!/usr/bin/env bash
# test.sh [fast|deep] [CTEST ARGS...]: gets what is missing, builds dsbuild and its tests and runs them; CTest's closing lines
# are the last lines. `fast`, after each edit: the tests of its tier that have not passed with these files, as far as they fit
# into a minute; with CTEST ARGS, just those that they choose. `deep`: what takes longer than each commit may; hours, root,
# torch; FUZZ_SECONDS is the time per fuzz target (3600). docs/internals/testing.md says which test is where.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# phase NAME FUNCTION: runs it and says how long it took.
phase() {
  local from
  from="$(now)"
  say "== $1"
  "${@:2}"
  say "== $1: $(seconds_since "$from") s"
}

install_fast_needs() {
  build_packages+=("${fast_test_packages[@]}")
  require_build_tools
}

install_default_needs() {
  build_packages+=("${test_packages[@]}")
  install_fast_needs
  on_debian_like && install_clang_format
  require_test_python
  require_mypy
  require_ruff
  require_torch
  # Where a toolkit cannot be had (3), what needs it is skipped.
  require_toolkit_hip || [[ $? -eq 3 ]] || exit 1
  require_from_cache cuobjdump "$cuobjdump"
  find_cuda_13 >/dev/null || require_toolkit_13_5
}

install_deep_needs() {
  [[ $EUID -eq 0 ]] || die 3 "dsbuild: test.sh deep needs root (its clean Debian roots use chroot and mount)"
  build_packages+=("${deep_test_packages[@]}")
  install_default_needs
  require_clang_tidy
  require_clangd
  require_gcovr
  require_jax
  require_newest_torch
  require_oldest_torch
  # Where their parts cannot be had (3), what needs them is skipped.
  require_offload_tools || [[ $? -eq 3 ]] || exit 1
  require_sycl || [[ $? -eq 3 ]] || exit 1
  require_deepspeed 0.19.8
  require_deepspeed 0.19.6
  require_toolkit_11_8
  require_toolkit_12_4 || [[ $? -eq 3 ]] || exit 1
  require_toolkit_13_5
}

# Not every Debian carries version 19; the test that needs it skips without it.
install_clang_format() {
  have clang-format-19 && return
  [[ -n "$(apt-cache -q search --names-only '^clang-format-19$')" ]] && require_packages clang-format-19
  return 0
}

# A configured folder sees by itself what has changed.
build_for_fast() {
  if [[ -e "$repository/build/dev/build.ninja" ]]; then build_preset dev; else configure_and_build dev; fi
}

# The tests build with the sanitizers, the program that they run as users have it.
build_for_default() {
  use_ccache
  configure_and_build release
  configure_and_build test
}

build_for_deep() {
  build_for_default
  build_preset test --target dsbuild
}

began="$(now)"
tier=default
if [[ "${1:-}" == fast || "${1:-}" == deep ]]; then
  tier="$1"
  shift
fi
phase "what the tests need" "install_${tier}_needs"
export PATH="$ninja_bin:$PATH"
phase "build" "build_for_$tier"
export_test_environment
export CTEST_PARALLEL_LEVEL="${CTEST_PARALLEL_LEVEL:-$(nproc)}"
export DSBUILD_TIER="$tier"
case "$tier" in
  fast) chosen=(--preset dev -L '^fast$') ;;
  default) chosen=(--preset test -LE '^deep$') ;;
  deep) chosen=(--preset test -L '^deep$') ;;
esac
say "== tests"
cd "$repository"
if [[ $tier == fast && $# -eq 0 ]]; then
  export DSBUILD_MOST_TESTS=3
  # Only git tells which files are the checkout's: without it, all tests run.
  if git rev-parse --git-dir >/dev/null 2>&1; then
    left="$(awk -v used="$(seconds_since "$began")" 'BEGIN { print 60 - used }')"
    exec python3 -B tests/support/fast_tier.py build/dev "$left"
  fi
fi
exec ctest "${chosen[@]}" --no-tests=error "$@"
