#!/usr/bin/env bash
# test.sh [CTEST ARGS...]: builds dsbuild and its tests (under the sanitizers) and runs them all, after
# getting what is missing. CTest's closing lines are the last lines.
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

install_test_needs() {
  build_packages+=("${test_packages[@]}")
  require_build_tools
  on_debian_like && install_clang_format
  require_test_python
  require_clang_tidy
  require_torch
  require_deepspeed 0.19.8
  require_deepspeed 0.19.6
  require_from_cache cuobjdump "$cuobjdump"
  require_toolkit_11_8
  find_cuda_13 >/dev/null || require_toolkit_13_5
}

# Not every Debian carries version 19; the test that needs it skips without it.
install_clang_format() {
  have clang-format-19 && return
  [[ -n "$(apt-cache -q search --names-only '^clang-format-19$')" ]] && require_packages clang-format-19
  return 0
}

build_all() {
  configure_and_build release
  configure_and_build test
}

phase "what the tests need" install_test_needs
export PATH="$ninja_bin:$PATH"
use_ccache
phase "build" build_all
export_test_environment
export CTEST_PARALLEL_LEVEL="${CTEST_PARALLEL_LEVEL:-$(nproc)}"
say "== tests"
cd "$repository"
exec ctest --preset test --no-tests=error "$@"
