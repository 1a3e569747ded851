#!/usr/bin/env bash
# build.sh FOLDER: the fuzz targets, by the newest clang++ there is.
set -euo pipefail
compiler="$(compgen -c clang++ | grep -E '^clang\+\+(-[0-9]+)?$' | sort -V | tail -n 1)" || {
  echo "clang++ is not installed"
  exit 1
}
cmake -S "$(dirname "${BASH_SOURCE[0]}")/../.." -B "$1" -G Ninja -DDSBUILD_FUZZ=ON -DDSBUILD_TESTS=OFF -DDSBUILD_SANITIZE=ON \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_CXX_COMPILER="$compiler"
exec cmake --build "$1"
