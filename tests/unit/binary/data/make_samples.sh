#!/usr/bin/env bash
# make_samples.sh CUDA_13_5 CUOBJDUMP TILEIRAS: makes the fatbins of this folder, and beside each what cuobjdump says of it.
#
# CUDA_13_5 is the toolkit's folder, CUOBJDUMP the program of that version, TILEIRAS the folder with that program (the wheel
# nvidia-cuda-tileiras 13.5.37, which the toolkit's wheels do without). All device code is made of the text below.
set -euo pipefail
data="$(cd "$(dirname "$0")" && pwd)"
cuda="$(cd "$1" && pwd)" cuobjdump="$(realpath "$2")" tileiras="$(cd "$3" && pwd)"
work=/tmp/dsbuild-samples # always the same: Tile IR names the folder of its source
mkdir "$work"
trap 'rm -rf "$work"' EXIT
cd "$work"

ptx() { # ARCH: PTX for it
  printf '.version 9.0\n.target sm_%s\n.address_size 64\n' "$1"
  printf '.visible .entry twice(.param .u64 p) {\n  .reg .b64 %%rd<3>;\n  .reg .f32 %%f<3>;\n'
  printf '  ld.param.u64 %%rd1, [p];\n  cvta.to.global.u64 %%rd2, %%rd1;\n  ld.global.f32 %%f1, [%%rd2];\n'
  printf '  add.f32 %%f2, %%f1, %%f1;\n  st.global.f32 [%%rd2], %%f2;\n  ret;\n}\n'
}

images=()
cubins() { # ARCH...: adds the machine code for each to `images`
  local arch
  for arch in "$@"; do
    ptx "$arch" >"$arch.ptx"
    "$cuda/bin/ptxas" "-arch=sm_$arch" "$arch.ptx" -o "$arch.cubin"
    images+=("--image3=kind=elf,sm=$arch,file=$arch.cubin")
  done
}
texts() { # ARCH...: adds the PTX for each
  local arch
  for arch in "$@"; do
    ptx "$arch" >"$arch.ptx"
    images+=("--image3=kind=ptx,sm=$arch,file=$arch.ptx")
  done
}
fatbin() { # NAME OPTION...: of `images`, which it empties
  "$cuda/bin/fatbinary" -64 "--create=$data/$1.fatbin" "${@:2}" "${images[@]}"
  images=()
}

cubins 80 86 90a 100f 120a && texts 80 && fatbin plain
cubins 80 86 90a 100f 120a && texts 80 && fatbin concat --concat
cubins 75 && fatbin concat_of_one --concat
# Five records, and three with tables; two of PTX, which have options; LZ4; all have a name.
cubins 75 80 86 89 90a 100a 103f 121 && texts 80 100f
fatbin concat_speed --concat --compress-mode=speed --cmdline="-O3 -lineinfo" --ident=twelve_bytes

printf '__tile_global__ void nothing(float* x) {}\n' >tile.cu
PATH="$tileiras:$PATH" "$cuda/bin/nvcc" -enable-tile -tilefatbin --concat -o "$data/tile.fatbin" tile.cu \
  "-gencode=arch=compute_80,code=[compute_80,sm_80]" -gencode=arch=compute_90a,code=sm_90a \
  "-gencode=arch=compute_100f,code=[compute_100f,sm_100f]" -gencode=arch=compute_120,code=sm_120

for sample in "$data"/*.fatbin; do
  "$cuobjdump" "$sample" | grep -E '^\s*(Fatbin|arch|compressed)' >"${sample%.fatbin}.cuobjdump.txt"
  "$cuobjdump" --dump-resource-usage "$sample" | grep -E '^\s*(arch|Function|REG)' >"${sample%.fatbin}.resources.txt"
done
