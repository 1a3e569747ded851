#!/usr/bin/env bash
# Builds the ops with dsbuild for the GPU at hand, compares their results with float64 references, then measures
# their speed against torch (docs/figures/gpu.md). Needs nvcc, ninja, torch, numpy and tvm-ffi; exits 1 if
# a test fails.
#   DSBUILD=FILE      the dsbuild to use              (default: build/release of this checkout)
#   BUNDLE=DIR        test this bundle, build nothing
#   ARCH=LIST         what to build for               (default: native)
#   MORE="OPTION…"    for these builds                (for example: --backend slices)
#   TVM_FFI_DIR=DIR   holds the package tvm_ffi, where it is not installed
#   PYTHON=FILE       (default: python3)
#   FAMILIES=DIR      a bundle with all kernel families of evoformer_attn, to test them all on one GPU:
#                     dsbuild --ops evoformer_attn --arch "7.0-virtual;7.5-virtual;8.0-virtual" (CUDA 11.8)
#   OUT=DIR           the tables are also written to DIR/gpu.md, DIR/fp8_linear.md and DIR/evoformer.md
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3}
export PYTHONPATH="${TVM_FFI_DIR:+$TVM_FFI_DIR:}$root/tests/python:$root/python${PYTHONPATH:+:$PYTHONPATH}"
export DSBUILD_PROGRAM=${DSBUILD_PROGRAM:-${DSBUILD:-$root/build/release/apps/dsbuild/dsbuild}}  # what dsbuild.load asks
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1

if [[ -z ${BUNDLE:-} ]]; then
  dsbuild=${DSBUILD:-$root/build/release/apps/dsbuild/dsbuild}
  work=$(mktemp -d)
  read -ra more <<<"${MORE:-}"
  trap 'rm -rf "$work"' EXIT
  "$dsbuild" --ops all --arch "${ARCH:-native}" --out "$work/bundle" --build-dir "$work/build" "${more[@]}"
  # No GPU of the last years runs sm_75 code: what fused_adam says then is tested too.
  "$dsbuild" --ops fused_adam --arch 7.5 --out "$work/foreign" --build-dir "$work/build" "${more[@]}"
  # The op that `dsbuild new` writes.
  "$dsbuild" new first --pack "$work/pack"
  "$dsbuild" --pack "$work/pack" --ops all --arch "${ARCH:-native}" --out "$work/first" --build-dir "$work/build" "${more[@]}"
  NEW_OP=$work/pack/first/test_first.py
  BUNDLE=$work/bundle
  export FOREIGN_BUNDLE=$work/foreign
fi
export DSBUILD_BUNDLE=$BUNDLE

status=0
for name in cpu_adam cpu_adagrad cpu_lion; do
  "$python" "$root/tests/python/test_$name.py" || status=1
done
for name in fused_adam fused_lion fused_lamb optim fp_quantizer quantizer norm fp8_linear fp8_layer compiled_training frameworks; do
  "$python" "$here/test_$name.py" || status=1
done
DSBUILD_TORCH_DEVICE=cuda "$python" "$root/tests/python/test_torch_operators.py" || status=1
for bundle in "$BUNDLE" ${FAMILIES:+"$FAMILIES"}; do
  DSBUILD_BUNDLE=$bundle "$python" "$here/test_evoformer_attn.py" || status=1
done
if [[ -n ${NEW_OP:-} ]]; then
  DSBUILD_BUNDLE=$work/first "$python" "$NEW_OP" || status=1
  "$python" "$here/test_device_link.py" || status=1  # it builds, too
fi
"$python" "$here/speed.py" || status=1
"$python" "$root/tests/python/speed_cpu_optimizers.py" || status=1
"$python" "$here/speed_fp8_linear.py" || status=1
"$python" "$here/speed_dequantize.py" || status=1
"$python" "$here/overhead.py" || status=1
export DSBUILD_BUNDLE=${FAMILIES:-$BUNDLE}
"$python" "$here/speed_evoformer.py" || status=1
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    compute-sanitizer --tool "$tool" --error-exitcode 1 "$python" "$here/sanitize_evoformer.py" || status=1
    for name in norm operators; do
      DSBUILD_BUNDLE=$BUNDLE compute-sanitizer --tool "$tool" --error-exitcode 1 "$python" "$here/sanitize_$name.py" || status=1
    done
  done
fi
exit $status
