#!/usr/bin/env bash
# build.sh FOLDER: the fuzz targets, by the newest clang++ there is, and what they begin with, in FOLDER/seeds/<subject>.
set -euo pipefail
compiler="$(compgen -c clang++ | grep -E '^clang\+\+(-[0-9]+)?$' | sort -V | tail -n 1)" || {
  echo "clang++ is not installed"
  exit 1
}
cmake -S "$(dirname "${BASH_SOURCE[0]}")/../.." -B "$1" -G Ninja -DDSBUILD_FUZZ=ON -DDSBUILD_TESTS=OFF -DDSBUILD_SANITIZE=ON \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_CXX_COMPILER="$compiler"
cmake --build "$1"
"$1/tests/fuzz/make_seeds" "$1/seeds"
python3 -B "$(dirname "${BASH_SOURCE[0]}")/real_seeds.py" "$1/seeds"
