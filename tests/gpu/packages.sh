#!/usr/bin/env bash
# packages.sh SDIST TESTS [word of pytest…]: a torch extension as it is, by `dsbuild build --inplace` for the GPU at hand, and the
# package's own tests with the modules that this made (docs/figures/gpu.md). TESTS: the folder of its repository, of the same version; most
# source distributions have none.
#   PYTHON=FILE   the Python with torch and pytest (default: python3)
#   DSBUILD=FILE  (default: build/release of this checkout)
#   ARCH=LIST     (default: native)
#   LIMIT=SECONDS for the tests (default: 600)
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="${PYTHON:-python3}"
dsbuild="${DSBUILD:-$here/../../build/release/apps/dsbuild/dsbuild}"
[[ $# -ge 2 ]] || { sed -n '2,/^set/p' "${BASH_SOURCE[0]}" | grep '^#' | cut -c3- >&2; exit 2; }
sdist="$1" tests="$(cd "$2" && pwd)"
shift 2
"$python" -c 'import pytest, torch; assert torch.cuda.is_available()' || exit 77

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
tar -xf "$sdist" -C "$work"
package="$(echo "$work"/*/)"
FORCE_CUDA=1 "$dsbuild" build "$package" --inplace --quiet --python "$python" --arch "${ARCH:-native}"
# The project's own pytest settings may want plugins.
cd "$work"
PYTHONPATH="$package${PYTHONPATH:+:$PYTHONPATH}" timeout "${LIMIT:-600}" "$python" -B -m pytest -q -c /dev/null --rootdir "$tests" "$@" "$tests"
