# shellcheck shell=bash disable=SC2034
# Functions that the scripts share. Sourced; exit codes are dsbuild's (1 a step failed, 2 usage, 3 cannot be met).

repository="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cache_dir="${XDG_CACHE_HOME:-${HOME:?HOME is not set}/.cache}/dsbuild"

# Pinned: two Ninja versions in one build folder rebuild everything.
ninja_version=1.13.2
tvm_ffi_version=0.1.15.post2
cuobjdump_version=13.5.37
auditwheel_version=6.8.2
rattler_build_version=0.73.0
sycl_version=2026.2.0 # the stand-in for icpx (tests/tools/icpx) knows this one's compileSYCL
ocloc_version=22.43 # Debian 12's
dsbuild="$repository/build/release/apps/dsbuild/dsbuild"
ninja_bin="$cache_dir/ninja/$ninja_version/bin"
tvm_ffi_home="$cache_dir/tvm_ffi/$tvm_ffi_version"
auditwheel="$cache_dir/auditwheel/$auditwheel_version"
rattler_build="$cache_dir/rattler_build/$rattler_build_version"
hip_clang=22
hip_home="$cache_dir/toolkits/hip-$hip_clang"
ocloc_home="$cache_dir/ocloc/$ocloc_version"
sycl_home="$cache_dir/sycl/$sycl_version-ocloc-$ocloc_version"
cuobjdump="$cache_dir/cuobjdump/$cuobjdump_version/nvidia/cu13/bin/cuobjdump"

# libaio-dev is for the op async_io.
build_packages=(g++ cmake libspdlog-dev libyaml-cpp-dev nlohmann-json3-dev libexpected-dev libcli11-dev
  libssl-dev libminizip-dev zlib1g-dev libzstd-dev libcurl4-openssl-dev libprotozero-dev
  libaio-dev)
newest_gcc_of_11_8=11
newest_gcc_of_12_4=13
newest_gcc_of_13_5=16

say() { printf '%s\n' "$@" >&2; }

# die CODE LINE...: the lines on stderr, then exit.
die() {
  local code="$1"
  shift
  printf '%s\n' "$@" >&2
  exit "$code"
}

have() { command -v "$1" >/dev/null 2>&1; }

now() { printf '%s' "${EPOCHREALTIME/,/.}"; }

seconds_since() { awk -v from="$1" -v to="$(now)" 'BEGIN { printf "%.1f", to - from }'; }

megabytes() { awk -v bytes="$1" 'BEGIN { printf "%.0f", (bytes + 999999) / 1000000 }'; }

folder_megabytes() { du -sm "$1" | cut -f1; }

# Seconds since 1970 that stand for "now" in what is released: SOURCE_DATE_EPOCH, else when the commit was made.
release_time() {
  printf '%s' "${SOURCE_DATE_EPOCH:-$(git -C "$repository" log -1 --format=%ct 2>/dev/null || echo 315532800)}"
}

# ---- apt

on_debian_like() { have apt-get && have dpkg-query; }

# missing_packages PACKAGE...: those of them that are not installed, one a line.
missing_packages() {
  local installed
  installed="$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)"
  comm -13 <(awk '$2 == "installed" { print $1 }' <<<"$installed" | sort -u) <(printf '%s\n' "$@" | sort -u)
}

# Sets `as_root` to the words that go before a command that needs root; fails where there is no way.
find_root() {
  as_root=()
  [[ $EUID -eq 0 ]] && return
  have sudo && sudo -n true 2>/dev/null && as_root=(sudo -n)
}

# Runs apt-get as root; its text is shown only if it fails.
run_apt() {
  local log
  log="$(mktemp)"
  if "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get "$@" </dev/null >"$log" 2>&1; then
    rm "$log"
    return
  fi
  tail -n 20 "$log" >&2
  rm "$log"
  die 1 "dsbuild: apt-get $* failed (its last lines are above)"
}

refresh_package_lists() {
  [[ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*InRelease' -mmin -1440 -print -quit)" ]] && return
  say "dsbuild: reading the package lists (apt-get update)"
  run_apt -q update
}

# Megabytes on disk of the packages that installing these adds.
installed_megabytes() {
  local added
  mapfile -t added < <(LC_ALL=C apt-get -s -qq install --no-install-recommends "$@" |
    sed -nE 's/^Inst ([^ ]+) (\[[^]]*\] )?\(([^ ]+) .*/\1=\3/p')
  apt-cache show "${added[@]}" | awk '$1 == "Installed-Size:" { sum += $2 } END { printf "%d", sum / 1000 }'
}

# install_packages PACKAGE...: says what it adds, then adds it. Needs find_root to have succeeded.
install_packages() {
  local fetch
  refresh_package_lists
  fetch="$(apt-get -qq install --print-uris --no-install-recommends "$@" | awk '{ sum += $3 } END { print sum + 0 }')"
  say "dsbuild: installing with apt-get: $*" \
    "         $(megabytes "$fetch") MB to fetch, $(installed_megabytes "$@") MB on disk with what they depend on, in /usr" \
    "         licences: each package's own, in /usr/share/doc/PACKAGE/copyright"
  run_apt -q -y install --no-install-recommends "$@"
}

# ---- PyPI

# The first that has pip of python3 on PATH, that of the venv where a wheel put these scripts, and the system's.
python_with_pip() {
  local python
  for python in python3 "$repository/../../bin/python3" /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      printf '%s' "$python"
      return 0
    fi
  done
  return 1
}

# pip_install_into FOLDER REQUIREMENT...: exactly these, without what they depend on.
# A target folder is no part of the system's Python, so its "externally managed" mark does not apply.
pip_install_into() {
  local folder="$1" python
  shift
  python="$(python_with_pip)" || die 3 "dsbuild: Python 3 with pip is needed to fetch: $*" \
    "  on Debian and Ubuntu: apt-get install python3-pip"
  PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
    "$python" -m pip install --no-deps --no-compile --target "$folder" "$@" >&2 ||
    die 1 "dsbuild: pip could not fetch: $*" "  see pip's message above"
}

# pip_download_into FOLDER REQUIREMENT...: exactly these wheels. --target forgets a wheel's own lib/, so those that have
# one are fetched and unpacked.
pip_download_into() {
  local folder="$1" python
  shift
  python="$(python_with_pip)" || die 3 "dsbuild: Python 3 with pip is needed to fetch: $*" \
    "  on Debian and Ubuntu: apt-get install python3-pip"
  PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
    "$python" -m pip download --quiet --no-deps --no-cache-dir --only-binary :all: --dest "$folder" "$@" >&2 ||
    die 1 "dsbuild: pip could not fetch: $*" "  see pip's message above"
}

# ---- compilers

# The host compiler that a toolkit up to this gcc version accepts: prints a program name, or fails.
find_gxx_up_to() {
  local newest="$1" name version
  for name in g++ "g++-$newest" g++-{19,18,17,16,15,14,13,12,11,10,9}; do
    version="$("$name" -dumpversion 2>/dev/null | cut -d. -f1)" || continue
    if [[ -n "$version" && "$version" -le "$newest" ]]; then
      printf '%s' "$name"
      return 0
    fi
  done
  return 1
}

# ---- what is missing: each function installs it, or says the exact line to run and exits with 3

may_install=yes

# refuse REASON LINE: nothing is installed; LINE is what to run.
refuse() { die 3 "dsbuild: $1; run this, then try again:" "  $2"; }

# require_packages PACKAGE...: installs what is missing of them, or says the line to run.
require_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  [[ $may_install == yes ]] || refuse "these packages are missing: ${missing[*]}" \
    "sudo apt-get install --no-install-recommends ${missing[*]}"
  find_root || refuse "these packages are missing, and installing them takes root: ${missing[*]}" \
    "sudo apt-get install --no-install-recommends ${missing[*]}"
  install_packages "${missing[@]}"
}

require_from_cache() {
  local wanted="$1" proof="$2"
  [[ -e "$proof" ]] && return
  [[ $may_install == yes ]] || refuse "$wanted is missing" "$repository/scripts/get_toolkit.sh $wanted"
  "$repository/scripts/get_toolkit.sh" "$wanted"
}

explain_other_system() {
  die 3 "dsbuild: this system has no apt, so nothing can be installed from here ($1). Building dsbuild takes:" \
    "  a C++20 compiler (gcc 11 or newer), CMake 3.22, Python 3 with pip (it fetches Ninja and tvm-ffi)," \
    "  and the development files of spdlog, yaml-cpp, nlohmann-json, tl-expected, CLI11, OpenSSL, minizip, zstd," \
    "  libcurl (its headers alone), protozero and, for the op async_io, libaio" \
    "  install them with your system's package manager, then run this again; see docs/guides/toolkits.md for CUDA"
}

# What building dsbuild takes.
require_build_tools() {
  local packages=("${build_packages[@]}")
  if on_debian_like; then
    python_with_pip >/dev/null || packages+=(python3-pip)
    require_packages "${packages[@]}"
  elif ! have cmake || ! { have g++ || have clang++; }; then
    explain_other_system "no CMake or no C++ compiler was found"
  fi
  require_runtime_tools
}

# What dsbuild uses at run time: its Ninja and, for the ops of ops/native, tvm-ffi's headers.
require_runtime_tools() {
  require_from_cache ninja "$ninja_bin/ninja"
  require_from_cache tvm_ffi "$tvm_ffi_home/tvm_ffi/include"
}

require_toolkit_11_8() {
  if on_debian_like && ! find_gxx_up_to "$newest_gcc_of_11_8" >/dev/null; then
    require_packages "g++-$newest_gcc_of_11_8"
  fi
  require_from_cache 11.8 "$cache_dir/toolkits/11.8/bin/nvcc"
}

require_toolkit_12_4() { require_from_cache 12.4 "$cache_dir/toolkits/12.4/bin/nvcc"; }

require_toolkit_13_5() {
  local proof="$cache_dir/toolkits/13.5/nvidia/cu13/bin/nvcc"
  [[ -e "$proof" ]] && return
  if on_debian_like && ! python_with_pip >/dev/null; then
    require_packages python3-pip
  fi
  require_from_cache 13.5 "$proof"
}

require_toolkit_hip() { require_from_cache hip "$hip_home/llvm/bin/clang++"; }

# What compiles SYCL for the tests where there is no icpx: DPC++'s device compiler, ocloc, and Intel's OpenCL for CPUs.
require_sycl() {
  if on_debian_like && ! python_with_pip >/dev/null; then
    require_packages python3-pip
  fi
  require_from_cache sycl "$sycl_home/bin/ocloc"
}

# The wheel is built from the same sources as the tests, and a checkout cloned anew need not compile all again.
use_ccache() {
  have ccache || return 0
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$repository" CCACHE_NOHASHDIR=1 \
    CCACHE_SLOPPINESS=pch_defines,time_macros
}

# configure_and_build PRESET
configure_and_build() {
  local as_it_is=()
  cd "$repository" || exit 1
  # With another launcher than before all would be compiled anew.
  [[ -e "build/$1/CMakeCache.txt" ]] && as_it_is=(env -u CMAKE_CXX_COMPILER_LAUNCHER)
  if ! "${as_it_is[@]}" cmake --preset "$1" -DCMAKE_MAKE_PROGRAM="$ninja_bin/ninja" >&2; then
    on_debian_like || explain_other_system "CMake's message is above"
    die 1 "dsbuild: CMake could not configure dsbuild (its message is above)"
  fi
  build_preset "$1"
}

# build_preset PRESET [WORDS]: of a folder that is configured.
build_preset() {
  cd "$repository" || exit 1
  cmake --build --preset "$@" >&2 || die 1 "dsbuild: dsbuild could not be built (the compiler's message is above)"
}

# ---- what the tests use

fast_test_packages=(catch2 ccache python3-jsonschema python3-yaml)
test_packages=(bubblewrap fish mandoc python3-venv strace zsh)
deep_test_packages=(chromium clang dpkg-dev fonts-dejavu-core g++-11 lintian mmdebstrap slurm-wlm)
test_python="$cache_dir/test_python/numpy_setuptools_tvm_ffi_$tvm_ffi_version/bin/python"
clang_tidy_version=22.1.8
clang_tidy="$cache_dir/clang_tidy/$clang_tidy_version/bin/clang-tidy"
clangd_version=22.1.1
clangd="$cache_dir/clangd/$clangd_version/bin/clangd"
mypy_version=2.4.1
mypy="$cache_dir/mypy/$mypy_version/bin/mypy"
ruff_version=0.17.6
ruff="$cache_dir/ruff/$ruff_version/bin/ruff"
gcovr_version=8.3
gcovr="$cache_dir/gcovr/$gcovr_version/bin/gcovr"
torch_version=2.11.0
torch_home="$cache_dir/torch/venv"
torch_python="$torch_home/bin/python"
newest_torch_home="$cache_dir/torch/newest"
oldest_torch_home="$cache_dir/torch/oldest"
jax_home="$cache_dir/jax"

# require_venv FOLDER MARK WHAT SIZES LICENCES PACKAGE...: a Python of the tests' own with these packages. The mark is
# written last: without it, it is half made.
require_venv() {
  local folder="$1" mark="$2" what="$3" sizes="$4" licences="$5"
  [[ -e "$folder/$mark" ]] && return
  [[ $may_install == yes ]] || refuse "$what is missing" "$repository/scripts/test.sh"
  say "dsbuild: fetching $what for the tests, $sizes in $folder" "         licences: $licences"
  rm -rf "$folder"
  python3 -m venv "$folder" || die 1 "dsbuild: no virtual environment could be made in $folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile "${@:6}" >&2 ||
    die 1 "dsbuild: pip could not fetch $what (its message is above)"
  touch "$folder/$mark"
}

require_test_python() {
  require_venv "${test_python%/bin/python}" complete "a Python with NumPy, setuptools and tvm-ffi" \
    "27 MB; on disk 100 MB" "BSD-3-Clause, MIT, Apache-2.0" numpy "setuptools>=70.1" "apache-tvm-ffi==$tvm_ffi_version"
}

# With NumPy, whose arrays the programs that it reads have.
require_mypy() {
  require_venv "${mypy%/bin/mypy}" complete "mypy $mypy_version with NumPy" "35 MB; on disk 150 MB" "MIT, BSD-3-Clause" \
    "mypy==$mypy_version" numpy
}

require_ruff() {
  require_venv "${ruff%/bin/ruff}" complete "ruff $ruff_version" "11 MB; on disk 60 MB" "MIT" "ruff==$ruff_version"
}

require_clang_tidy() {
  require_venv "${clang_tidy%/bin/clang-tidy}" complete "clang-tidy $clang_tidy_version" "50 MB; on disk 150 MB" \
    "Apache-2.0 WITH LLVM-exception" "clang-tidy==$clang_tidy_version"
}

require_clangd() {
  require_venv "${clangd%/bin/clangd}" complete "clangd $clangd_version" "40 MB; on disk 130 MB" \
    "Apache-2.0 WITH LLVM-exception" "clangd==$clangd_version"
}

require_gcovr() {
  require_venv "${gcovr%/bin/gcovr}" complete "gcovr $gcovr_version" "10 MB; on disk 40 MB" "BSD-3-Clause" "gcovr==$gcovr_version"
}

# A Python with torch and what DeepSpeed imports, but without DeepSpeed.
require_torch() {
  require_venv "$torch_home" "complete-$torch_version" "torch $torch_version with its CUDA libraries" "2 GB; on disk 5 GB" \
    "BSD-3-Clause, NVIDIA's own; each package's in its *.dist-info" "torch==$torch_version" \
    numpy setuptools wheel einops hjson msgpack ninja packaging psutil py-cpuinfo pydantic tqdm
}

# A Python with the newest torch that there is: dsbuild's torch operators are for each.
require_newest_torch() {
  require_venv "$newest_torch_home" complete-with-setuptools "the newest torch with its CUDA libraries" "2 GB; on disk 5 GB" \
    "BSD-3-Clause, NVIDIA's own; each package's in its *.dist-info" torch numpy setuptools
}

# The oldest torch whose build_ext dsbuild's hook takes, of CUDA 11.7. Python 3.12 and newer have none.
require_oldest_torch() {
  require_venv "$oldest_torch_home" complete "torch 2.0.1 with its CUDA libraries" "2 GB; on disk 4.3 GB" \
    "BSD-3-Clause, NVIDIA's own; each package's in its *.dist-info" torch==2.0.1 "numpy<2" "setuptools<71"
}

require_jax() {
  require_venv "$jax_home" complete "jax with jax-tvm-ffi" "130 MB; on disk 500 MB" "Apache-2.0, BSD-3-Clause, MIT" \
    jax jax-tvm-ffi "apache-tvm-ffi==$tvm_ffi_version" numpy
}

deepspeed_home() { printf '%s' "$cache_dir/deepspeed/$1"; }

# Clang with LLVM's tools in three versions, unpacked and not installed, and Intel's ocloc: who makes and reads the device
# code of others than NVIDIA, for the tests of the readers.
offload_tools="$cache_dir/offload_tools"
require_offload_tools() {
  local version
  for version in 16 19 22; do
    unpack_packages "$offload_tools/clang-$version" "clang $version" "clang-$version" "clang-tools-$version" "llvm-$version" \
      "lld-$version" "libllvm$version" "libclang-cpp$version" "libclang-common-$version-dev"
  done
  require_from_cache ocloc "$ocloc_home/bin/ocloc"
}

# unpack_packages FOLDER WHAT PACKAGE...: Debian's packages, in a folder that is whole or absent.
unpack_packages() {
  local folder="$1" what="$2" work package
  [[ -e "$folder" ]] && return
  [[ $may_install == yes ]] || refuse "$what is missing" "$repository/scripts/test.sh deep"
  on_debian_like || die 3 "dsbuild: $what comes from Debian's packages, and there is no apt here"
  say "dsbuild: fetching $what for the tests into $folder" "         licences: each package's own, in usr/share/doc there"
  mkdir -p "$(dirname "$folder")"
  work="$(mktemp -d "$folder.XXXX")"
  (cd "$work" && apt-get -q download "${@:3}" >&2) || die 1 "dsbuild: the packages of $what could not be fetched (see above)"
  mkdir "$work/root"
  for package in "$work"/*.deb; do dpkg-deb -x "$package" "$work/root"; done
  mv "$work/root" "$folder"
  rm -rf "$work"
}

# require_deepspeed VERSION: its source distribution, unpacked into $(deepspeed_home VERSION).
# pip asks the package's setup.py for its metadata, which needs setuptools and wheel, and no torch.
require_deepspeed() {
  local version="$1" folder work
  folder="$(deepspeed_home "$version")"
  [[ -e "$folder/version.txt" ]] && return
  [[ $may_install == yes ]] || refuse "the sources of DeepSpeed $version are missing" "$repository/scripts/test.sh"
  say "dsbuild: fetching the sources of DeepSpeed $version for the tests, 2 MB; on disk 13 MB in $folder; licence: Apache-2.0"
  work="$(mktemp -d)"
  python3 -m venv "$work/venv" && "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    setuptools wheel >&2 || die 1 "dsbuild: no virtual environment with setuptools could be made in $work"
  DS_ACCELERATOR=cpu DS_BUILD_OPS=0 "$work/venv/bin/python" -m pip download --quiet --disable-pip-version-check \
    --no-deps --no-build-isolation --no-binary :all: --dest "$work" "deepspeed==$version" >&2 ||
    die 1 "dsbuild: pip could not fetch the sources of DeepSpeed $version (its message is above)"
  tar -xzf "$work/deepspeed-$version.tar.gz" -C "$work" || die 1 "dsbuild: $work/deepspeed-$version.tar.gz is damaged"
  rm -rf "$folder"
  mkdir -p "$(dirname "$folder")"
  mv "$work/deepspeed-$version" "$folder"
  rm -rf "$work"
}

# The folder of an installed CUDA toolkit of version 13 or newer.
find_cuda_13() {
  local home release
  for home in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-*; do
    release="$("$home/bin/nvcc" --version 2>/dev/null | sed -nE 's/.*release ([0-9]+)\..*/\1/p')" || continue
    if [[ -n "$release" && "$release" -ge 13 ]]; then
      printf '%s' "$home"
      return 0
    fi
  done
  return 1
}

# The names under which the tests find things.
export_test_environment() {
  export DSBUILD="$dsbuild"
  export DSBUILD_NINJA="$ninja_bin/ninja"
  export DSBUILD_TEST_PYTHON="$test_python"
  export DSBUILD_CUOBJDUMP="$cuobjdump"
  export DSBUILD_SYCL_HOME="$sycl_home"
  export DSBUILD_CLANG_TIDY="$clang_tidy"
  export DSBUILD_CLANGD="$clangd"
  export DSBUILD_GCOVR="$gcovr"
  export DSBUILD_MYPY="$mypy"
  export DSBUILD_RUFF="$ruff"
  export DSBUILD_CUDA_11_8="$cache_dir/toolkits/11.8"
  export DSBUILD_CUDA_12_4="$cache_dir/toolkits/12.4"
  export DSBUILD_CUDA_13_5="$cache_dir/toolkits/13.5/nvidia/cu13"
  export DSBUILD_HIP="$hip_home"
  export DSBUILD_TORCH_PYTHON="$torch_python"
  export DSBUILD_NEWEST_TORCH_PYTHON="$newest_torch_home/bin/python"
  export DSBUILD_OLDEST_TORCH_PYTHON="$oldest_torch_home/bin/python"
  export DSBUILD_JAX_PYTHON="$jax_home/bin/python"
  export DSBUILD_DEEPSPEED_SOURCES="$cache_dir/deepspeed"
  DSBUILD_CUDA_13="$(find_cuda_13 || printf '%s' "$cache_dir/toolkits/13.5/nvidia/cu13")"
  export DSBUILD_CUDA_13
}
