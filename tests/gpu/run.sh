#!/usr/bin/env bash
# Builds the ops with dsbuild for the GPU at hand, compares their results with float64 references, then measures
# their speed against torch (docs/gpu.md). Needs nvcc, ninja, torch, numpy and tvm-ffi; exits 1 if a test fails.
#   DSBUILD=FILE      the dsbuild to use              (default: build/release of this checkout)
#   BUNDLE=DIR        test this bundle, build nothing
#   ARCH=LIST         what to build for               (default: native)
#   TVM_FFI_DIR=DIR   holds the package tvm_ffi, where it is not installed
#   PYTHON=FILE       (default: python3)
#   OUT=DIR           the speed table is also written to DIR/gpu.md
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3}
export PYTHONPATH="${TVM_FFI_DIR:+$TVM_FFI_DIR:}$root/tests/python${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1

if [[ -z ${BUNDLE:-} ]]; then
  dsbuild=${DSBUILD:-$root/build/release/apps/dsbuild/dsbuild}
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  "$dsbuild" --ops all --arch "${ARCH:-native}" --out "$work/bundle" --build-dir "$work/build"
  # No GPU of the last years runs sm_75 code: what fused_adam says then is tested too.
  "$dsbuild" --ops fused_adam --arch 7.5 --out "$work/foreign" --build-dir "$work/build"
  BUNDLE=$work/bundle
  export FOREIGN_BUNDLE=$work/foreign
fi
export DSBUILD_BUNDLE=$BUNDLE

status=0
"$python" "$root/tests/python/test_cpu_adam.py" || status=1
for name in fused_adam fp_quantizer quantizer; do
  "$python" "$here/test_$name.py" || status=1
done
"$python" "$here/speed.py" || status=1
exit $status
