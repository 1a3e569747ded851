# shellcheck shell=bash disable=SC2034,SC2154
# What compiles SYCL for the tests, for get_toolkit.sh, which sources this: DPC++'s device compiler and runtime of PyPI, ocloc
# of Debian, which is also fetched alone.
# All of release 2026.2: the compiler in libsycl-jit.so with what it loads, the runtime, and OpenCL for CPUs with TBB.
wheels_sycl=("intel-sycl-rt==$sycl_version" "intel-cmplr-lib-rt==$sycl_version" "intel-cmplr-lib-ur==$sycl_version"
  umf==1.2.0 tcmlib==1.6.0 "intel-opencl-rt==$sycl_version" tbb==2023.2.0)
packages_ocloc=(intel-opencl-icd libigc1 libigdfcl1 libigdgmm12 libopencl-clang14 libllvmspirvlib14 libllvm14)

# A wheel has a library whole under each of its names; one of them stays, the others become links.
link_equal_libraries() {
  local file sum kept=""
  declare -A first=()
  for file in "$1"/*.so*; do
    [[ -f "$file" ]] || continue
    sum="$(sha256sum "$file" | cut -c1-64)"
    kept="${first[$sum]:-}"
    if [[ -n "$kept" ]]; then ln -sf "$kept" "$file"; else first[$sum]="$(basename "$file")"; fi
  done
}

# One include and lib for all wheels, without what only debuggers and tracers use.
arrange_sycl() {
  local home="$1" wheel
  mkdir -p "$home/lib" "$home/licenses"
  for wheel in "$staging"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" "$staging/unpacked" || die 1 "dsbuild: $wheel is damaged"
    rm "$wheel"
  done
  rm -f "$staging"/unpacked/*.data/data/lib/{libsycl-preview,icx-lto,libtcm_debug,libur_sanitizer_layer,libsycl_ur_trace,libze_trace}*
  cp -a --link "$staging"/unpacked/intel_sycl_rt-*.data/data/include "$home/"
  cp -a --link "$staging"/unpacked/*.data/data/lib/. "$home/lib/"
  for wheel in "$staging"/unpacked/*.dist-info; do
    cp -a --link "$wheel" "$home/licenses/"
  done
  link_equal_libraries "$home/lib"
}

# Its libraries are found by a path, for they are of another LLVM than DPC++'s.
arrange_ocloc() {
  local home="$1" root="$staging/root" package
  mkdir -p "$root" "$home/bin" "$home/ocloc" "$home/licenses"
  for package in "$staging"/packages/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x --no-same-owner -C "$root" --wildcards './usr/*'
  done
  mv "$root"/usr/lib/x86_64-linux-gnu/*.so* "$home/ocloc/"
  mv "$root/usr/bin/ocloc" "$home/ocloc/"
  mv "$root/usr/share/doc" "$home/licenses/debian"
  cat >"$home/bin/ocloc" <<'OCLOC'
#!/bin/sh
here="$(dirname "$(readlink -f "$0")")/../ocloc"
LD_LIBRARY_PATH="$here" exec "$here/ocloc" "$@"
OCLOC
  chmod +x "$home/bin/ocloc"
}

# check_ocloc HOME: it makes code of four lines of OpenCL C.
check_ocloc() {
  local home="$1" text
  printf '%s\n' 'kernel void fill(global float* x) {' '  x[get_global_id(0)] = 1;' '}' >"$staging/check.cl"
  text="$("$home/bin/ocloc" compile -q -file "$staging/check.cl" -device pvc -out_dir "$staging/check" 2>&1)" &&
    [[ -n "$(find "$staging/check" -name '*.bin' -size +0)" ]] ||
    die 1 "dsbuild: the ocloc fetched does not compile three lines for pvc:" "$text"
}

get_ocloc() {
  local codename home="$staging/home"
  by_hand=("what needs it is skipped")
  open_private_apt
  [[ "$(private_apt apt-cache policy intel-opencl-icd)" == *"Candidate: $ocloc_version."* ]] ||
    explain_by_hand "Debian $codename does not carry ocloc $ocloc_version (Debian 12 does)"
  say "dsbuild: fetching ocloc $ocloc_version for tests: ${#packages_ocloc[@]} Debian packages, 36 MB; on disk 180 MB in $destination" \
    "         licences: MIT and Apache-2.0 WITH LLVM-exception, then in $destination/licenses"
  require_free_megabytes 500
  download_packages "${packages_ocloc[@]}"
  arrange_ocloc "$home"
  check_ocloc "$home"
  publish "$home"
}

get_sycl() {
  local home="$staging/home"
  require_from_cache ocloc "$ocloc_home/bin/ocloc"
  say "dsbuild: fetching SYCL's compiler and runtime $sycl_version for tests: ${#wheels_sycl[@]} Python wheels, 480 MB;" \
    "         on disk 860 MB in $destination" \
    "         licences: Intel End User License Agreement for Developer Tools (using them is agreeing to it), for umf, tcmlib" \
    "         and tbb their own; then in $destination/licenses"
  require_free_megabytes 3000
  mkdir "$staging/wheels" "$staging/unpacked"
  pip_download_into "$staging/wheels" "${wheels_sycl[@]}"
  arrange_sycl "$home"
  cp -a "$ocloc_home/." "$home/"
  check_ocloc "$home"
  publish "$home"
}
