#!/usr/bin/env bash
# package_table.sh FOLDER [OUT]: ten packages of PyPI by their own builds and by dsbuild's three ways (scripts/bench_packages.py), in
# five groups side by side, each on cores of its own, on a machine of 16 cores without a network. About 15 minutes. FOLDER is what
# `scripts/bench_packages.py --fetch FOLDER` made. The rows are also written to OUT (default: FOLDER/table) as they are measured.
#   PYTHON=FILE   the Python with torch and dsbuild's wheel (default: python3)
#   DSBUILD=FILE  (default: the wheel's)
#   ROUNDS=N      (default: 1)
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
[[ $# -ge 1 && -d $1 ]] || { sed -n '2,/^set/p' "${BASH_SOURCE[0]}" | grep '^#' | cut -c3- >&2; exit 2; }
folder="$(cd "$1" && pwd)" out="${2:-$1/table}"
python="${PYTHON:-python3}"
dsbuild="${DSBUILD:-$(command -v dsbuild)}"
mkdir -p "$out"

# Cores, and packages that take about equally long there. What has no Ninja compiles its files one after the other.
groups=(
  "0-1 torch-spline-conv"
  "2-3 torch-scatter"
  "4-7 torchsort,torch-discounted-cumsum"
  "8-11 chamferdist,spatial-correlation-sampler,torch-linear-assignment"
  "12-15 exllamav2,torchlpc,xformers"
)
for group in "${groups[@]}"; do
  read -r cores packages <<<"$group"
  taskset -c "$cores" "$python" -u "$here/../../scripts/bench_packages.py" "$folder" --only "$packages" --python "$python" \
    --dsbuild "$dsbuild" --rounds "${ROUNDS:-1}" --without-tests >"$out/$cores.md" 2>"$out/$cores.log" &
done
wait
grep -h "^| [a-z]" "$out"/*.md | grep -v "^| package "
