#!/usr/bin/env bash
# run.sh [--no-install] ARGS...: dsbuild ARGS..., after getting what is missing: the packages and tools that
# building dsbuild takes, dsbuild itself, and a CUDA toolkit that can target the request if no installed one can.
# --no-install, or dsbuild's own --offline among ARGS: nothing is fetched; what is missing is said with its command.
# What it does is said on stderr; stdout is dsbuild's alone.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ "${1:-}" == --no-install ]]; then
  may_install=no
  shift
fi
for argument in "$@"; do
  if [[ "$argument" == --offline ]]; then may_install=no; fi
done

stamp="$repository/build/release/built_from"

# ---- dsbuild itself

# Names, sizes and times of everything dsbuild is built from: any change, also back in time, shows.
source_state() {
  (cd "$repository" && find CMakeLists.txt CMakePresets.json cmake lib apps -printf '%p %s %T@\n' | LC_ALL=C sort)
}

is_built() { [[ -x "$dsbuild" && -e "$stamp" && "$1" == "$(<"$stamp")" ]]; }

build_dsbuild() {
  local state
  state="$(source_state)"
  if is_built "$state"; then
    require_runtime_tools
    return
  fi
  require_build_tools
  mkdir -p "$repository/build"
  (
    flock 9 # another run.sh may be building it
    is_built "$state" && exit
    say "dsbuild: building dsbuild in build/release"
    configure_and_build release
    printf '%s\n' "$state" >"$stamp.tmp"
    mv "$stamp.tmp" "$stamp"
  ) 9>"$repository/build/.run.lock"
}

# ---- the toolkit

# A command that starts no compiler takes no toolkit; build is the default command.
wants_build() {
  local argument
  for argument in "$@"; do
    case "$argument" in -h | --help | --help-all | --version) return 1 ;; esac
  done
  [[ $# -eq 0 || "$1" == build || "$1" == -* ]]
}

# dsbuild knows the arch grammar, what the ops keep of a request and what each toolkit targets. Where it
# cannot answer (a mistake in ARGS), running it says why.
ask_for_toolkit() {
  "$dsbuild" toolkits --json --for "$@" 2>/dev/null | sed -nE 's/.*"advice": ?"([^"]*)".*/\1/p' || true
}

build_dsbuild
if wants_build "$@"; then
  advice="$(ask_for_toolkit "$@")"
  if [[ "$advice" == "get "* ]]; then
    for version in ${advice#get }; do
      "require_toolkit_${version//./_}"
    done
  fi
fi
exec "$dsbuild" "$@"
