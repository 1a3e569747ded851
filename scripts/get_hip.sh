# shellcheck shell=bash disable=SC2034,SC2154
# The HIP toolkit of get_toolkit.sh, which sources this: Debian 12's clang and ROCm's headers and device libraries as one
# private tree, laid out as ROCm is: include, lib, llvm, amdgcn/bitcode.
packages_hip=(clang-$hip_clang lld-$hip_clang clang-tools-$hip_clang libclang-cpp$hip_clang libllvm$hip_clang
  libclang-common-$hip_clang-dev libamdhip64-dev libamdhip64-5 rocm-device-libs libhsa-runtime64-1 libhsakmt1 patchelf)
# What these need beside glibc and libstdc++, where the machine has it not.
libraries_hip=("libllvm$hip_clang" libhsa-runtime64-1 libhsakmt1)

# The packages of shared libraries that the machine lacks, as apt sees it.
missing_libraries_hip() {
  private_apt apt-get -qq -s --no-install-recommends install "${libraries_hip[@]}" 2>/dev/null |
    awk '$1 == "Inst" { print $2 }' | grep -vxF "$(printf '%s\n' "${packages_hip[@]}")" || true
}

# arrange_hip ROOT HOME: the tree that clang and everybody's build files expect of ROCm.
arrange_hip() {
  local root="$1/usr" home="$2" triplet=lib/x86_64-linux-gnu tool
  mkdir -p "$home"/{include,lib,share/hip,licences,amdgcn,llvm/bin,llvm/lib/clang}
  for tool in clang-$hip_clang clang clang++ lld ld.lld clang-offload-bundler; do
    cp -a "$root/lib/llvm-$hip_clang/bin/$tool" "$home/llvm/bin/"
  done
  ln -s /bin/false "$home/llvm/bin/llvm-objcopy" # the bundler wants to find it, and does not run it for bundles
  cp -aL "$root/lib/llvm-$hip_clang/lib/clang/$hip_clang" "$home/llvm/lib/clang/"
  rm -rf "$home/llvm/lib/clang/$hip_clang/lib"
  mv "$root/include/hip" "$home/include/"
  mv "$root/$triplet/amdgcn/bitcode" "$home/amdgcn/"
  mv "$root/share/hip/version" "$home/share/hip/"
  arrange_libraries_hip "$root/$triplet" "$home"
  for tool in "$root"/share/doc/*/copyright; do
    cp "$tool" "$home/licences/$(basename "$(dirname "$tool")").txt"
  done
  cp "$(dirname "${BASH_SOURCE[0]}")/hip_wavefront.h" "$home/include/"
  printf -- '--rocm-path=<CFGDIR>/../..\n-include <CFGDIR>/../../include/hip_wavefront.h\n' >"$home/llvm/bin/clang++.cfg"
  ln -s clang++.cfg "$home/llvm/bin/clang.cfg"
}

# The libraries of the compiler look for others beside themselves; the rest is told to.
arrange_libraries_hip() {
  local from="$1" home="$2" library
  cp -L "$from/libLLVM.so.$hip_clang.1" "$from/libclang-cpp.so.$hip_clang.1" "$home/llvm/lib/"
  rm -f "$from"/libLLVM* "$from"/libclang-cpp*
  cp -a "$from"/lib*.so* "$home/lib/"
  find "$home/lib" -xtype l -delete # of libraries that are in no package here
  for library in "$home"/lib/lib*.so*; do
    [[ -L "$library" ]] || "$1/../../bin/patchelf" --set-rpath "\$ORIGIN" "$library"
  done
  for library in "$home"/lib/lib*.so*; do
    case "$(basename "$library")" in
      libamdhip64* | libhsa* | libdrm* | libnuma* | libelf*) ;;
      *) ln -s "../../lib/$(basename "$library")" "$home/llvm/lib/" ;;
    esac
  done
}

# ---- the constants of the device libraries that clang 22 and ROCm 5.2 do not give each other

# hip_constants FILE "NAME TYPE ALIGNMENT VALUE"...: one library of these, each as the others are.
hip_constants() {
  local file="$bitcode/$1.bc" constants=() constant name type alignment value
  shift
  for constant in "$@"; do
    read -r name type alignment value <<<"$constant"
    constants+=("@$name = linkonce_odr protected local_unnamed_addr addrspace(4) constant $type $value, align $alignment")
  done
  printf '%s\n' 'target triple = "amdgcn-amd-amdhsa"' "${constants[@]}" |
    "$clang" --no-default-config -x ir --target=amdgcn-amd-amdhsa -nogpulib -w -emit-llvm -c -o "$file" -
}

# isa_version GPU: the version of its ISA as ROCm counts it, 1000 * major + 100 * minor + stepping, which are the name's
# digits: the last two hexadecimal. Families have the version of a member, as ROCm's own device libraries say.
isa_version() {
  local digits="${1#gfx}"
  case "$1" in
    gfx9-generic) digits=900 ;;
    gfx9-4-generic) digits=942 ;;
    gfx10-1-generic) digits=1010 ;;
    gfx10-3-generic) digits=1030 ;;
    gfx11-generic) digits=1103 ;;
    gfx12-generic) digits=1200 ;;
  esac
  printf '%d' $((${digits:0:-2} * 1000 + 0x${digits: -2:1} * 100 + 0x${digits: -1}))
}

# daz_opt GPU: 1 where clang has the GPU take denormal floats for zero: those that compute slower with them, before gfx9.
# ROCm 5.2's mathematical functions read it as `__oclc_daz_opt`. Later ones ask the compiler, and clang 22 links no library
# of it any more. 1 for the rest would lose numbers, 0 for all would cost time.
daz_opt() {
  case "$1" in
    gfx801) printf 0 ;;
    gfx[678]??) printf 1 ;;
    *) printf 0 ;;
  esac
}

# Every GPU that this clang knows, but for a family that this file does not.
complete_device_libraries() {
  local clang="$1/llvm/bin/clang" bitcode="$1/amdgcn/bitcode" gpu version
  for version in 400 500 600; do
    hip_constants "oclc_abi_version_$version" "__oclc_ABI_version i32 4 $version"
  done
  for gpu in $("$clang" --target=amdgcn-amd-amdhsa --print-supported-cpus 2>&1 |
    grep -oE 'gfx([0-9]+[0-9a-f]{2}|9|9-4|10-1|10-3|11|12)(-generic)?$' | grep -E 'generic|gfx[0-9a-f]{3,}'); do
    hip_constants "oclc_isa_version_${gpu#gfx}" "__oclc_ISA_version i32 4 $(isa_version "$gpu")" \
      "__oclc_daz_opt i8 1 $(daz_opt "$gpu")"
  done
}

# check_hip HOME: a program of one line, for a GPU and for a family that the packages alone cannot serve.
check_hip() {
  local text gpu
  printf '%s\n' '#include <hip/hip_runtime.h>' '__global__ void fill(float* x) { x[threadIdx.x] = expf(x[0]); }' >"$staging/check.hip"
  for gpu in gfx90a gfx942 gfx12-generic; do
    text="$("$1/llvm/bin/clang++" -x hip --cuda-device-only --no-gpu-bundle-output "--offload-arch=$gpu" \
      -c "$staging/check.hip" -o "$staging/check.o" 2>&1)" ||
      die 1 "dsbuild: clang $hip_clang does not compile a program of one line for $gpu:" "$text"
  done
  say "dsbuild: clang $hip_clang compiles HIP for $(find "$1/amdgcn/bitcode" -name 'oclc_isa_version_*.bc' | wc -l) targets"
}

get_hip() {
  local codename package packages root="$staging/root" home="$staging/home"
  by_hand=("install ROCm (or AMD's TheRock) for your system, then pass --rocm-home DIR or set ROCM_HOME;"
    "  on Debian: apt-get install hipcc; more in docs/guides/toolkits.md")
  open_private_apt
  [[ "$(private_apt apt-cache policy clang-$hip_clang)" == *"Candidate: 1:$hip_clang."* ]] ||
    explain_by_hand "Debian $codename does not carry clang $hip_clang (Debian 12 does, in its security updates)"
  mapfile -t packages < <(printf '%s\n' "${packages_hip[@]}" && missing_libraries_hip)
  say "dsbuild: fetching HIP: ${#packages[@]} Debian packages, $(megabytes "$(bytes_of "${packages[@]}")") MB; on disk 260 MB in $destination" \
    "         licences: Apache-2.0 with LLVM exceptions (clang), MIT (HIP), NCSA (device libraries), then in $destination/licences"
  require_free_megabytes 1000
  download_packages "${packages[@]}"
  say "dsbuild: unpacking"
  mkdir "$root"
  for package in "$staging"/packages/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x --no-same-owner -C "$root"
    rm "$package"
  done
  arrange_hip "$root" "$home"
  complete_device_libraries "$home"
  check_hip "$home"
  publish "$home"
}
