#!/usr/bin/env bash
# build_wheel.sh [--root host|bullseye] OUTDIR: the wheel of this checkout, in OUTDIR. `bullseye` builds it in a clean
# Debian 11 (root only), so that it runs with glibc 2.31 and newer; `host` (the default) with what this machine has.
# The same commit gives the same bytes in every folder: times are those of the commit (or SOURCE_DATE_EPOCH), and what pip
# builds with is pinned.
set -euo pipefail
# shellcheck source=scripts/root.sh
source "$(dirname "${BASH_SOURCE[0]}")/root.sh"

root=host
if [[ "${1:-}" == --root ]]; then
  root="${2:-}"
  shift 2 || true
fi
[[ $# -eq 1 && "$root" =~ ^(host|bullseye)$ ]] || die 2 "usage: build_wheel.sh [--root host|bullseye] OUTDIR"
out="$(realpath -m "$1")"
constraints="$repository/scripts/wheel_constraints.txt"

SOURCE_DATE_EPOCH="$(release_time)"
export SOURCE_DATE_EPOCH
work="$(mktemp -d "${TMPDIR:-/var/tmp}/dsbuild-wheel.XXXXXX")"
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

build_on_host() {
  local python
  require_build_tools
  python="$(python_with_pip)"
  use_ccache
  # The variable is a list: blanks in a path would end a word.
  PIP_CONSTRAINT="file://${constraints// /%20}" CMAKE_BUILD_PARALLEL_LEVEL="$(nproc)" "$python" -m pip wheel --quiet \
    --disable-pip-version-check --no-deps --wheel-dir "$work/built" "$repository" >&2 || die 1 "dsbuild: the wheel could not be built (see above)"
}

# Debian 11 has every library but CLI11, whose headers of Debian 12 do. Its pip is too old for pyproject.toml.
build_in_bullseye() {
  require_root_tools
  make_root bullseye "$work/root"
  mkdir "$work/built"
  printf 'deb %s bookworm main\n' "$(debian_mirror "$(. /etc/os-release && echo "$VERSION_CODENAME")")" \
    >"$work/root/etc/apt/sources.list.d/newer.list"
  printf 'APT::Default-Release "bullseye";\n' >"$work/root/etc/apt/apt.conf.d/10default-release"
  root_binds=("$repository:/src:ro" "$work/built:/built")
  root_variables=(DSBUILD_COMMIT="$(git -C "$repository" rev-parse --quiet HEAD || true)"
    CMAKE_BUILD_PARALLEL_LEVEL="$(nproc)" DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1
    SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" PIP_CONSTRAINT=/src/scripts/wheel_constraints.txt)
  # shellcheck disable=SC2016
  in_root "$work/root" bash -euo pipefail -c '
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends "$@" libcli11-dev/bookworm python3-venv
    python3 -m venv /venv
    /venv/bin/pip install --quiet --upgrade pip
    /venv/bin/pip wheel --quiet --no-deps --wheel-dir /built -C build-dir=/tmp/build /src' \
    build "${build_packages[@]/libcli11-dev/}" >"$work/log" 2>&1 ||
    die 1 "dsbuild: the wheel could not be built (the last lines)" "$(tail -n 20 "$work/log")"
}

# The wheel's tag says the oldest glibc that its program runs with. A library that auditwheel would have to add means that
# the program is not linked as it should be.
tag_wheel() {
  local python built
  python="$(python_with_pip)"
  require_from_cache auditwheel "$auditwheel/auditwheel/main.py"
  built="$(echo "$work"/built/dsbuild-*.whl)"
  PYTHONPATH="$auditwheel" PATH="$auditwheel/bin:$PATH" "$python" -m auditwheel repair --plat auto --only-plat \
    --wheel-dir "$work/tagged" "$built" >"$work/log" 2>&1 ||
    die 1 "dsbuild: auditwheel refused the wheel:" "$(tail -n 5 "$work/log")"
  if "$python" -m zipfile -l "$(echo "$work"/tagged/*.whl)" | grep -q '\.libs/'; then
    die 1 "dsbuild: the program needs shared libraries beside glibc; is DSBUILD_PORTABLE on?"
  fi
  mkdir -p "$out"
  mv "$work"/tagged/*.whl "$out/"
}

"build_$([[ $root == host ]] && echo on_host || echo in_bullseye)"
tag_wheel
find "$out" -name 'dsbuild-*.whl' -newer "$work/built"
