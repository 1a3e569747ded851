#!/usr/bin/env bash
# release.sh [--root host|bullseye] [--sign-key FILE] OUTDIR: what a release of this commit is made of, in OUTDIR: the wheel,
# the Debian package, the conda package, their provenance (in-toto, SLSA v1) and SHA256SUMS. `bullseye` builds the wheel in a
# clean Debian 11 (root only). OUTDIR must be absent or empty. With --sign-key the checksums, and by them all files, are signed
# (openssl, Ed25519).
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

root=host
key=
usage() { die 2 "usage: release.sh [--root host|bullseye] [--sign-key FILE] OUTDIR"; }
while [[ $# -gt 1 ]]; do
  case "$1" in
    --root) root="$2" ;;
    --sign-key) key="$2" ;;
    *) usage ;;
  esac
  shift 2
done
[[ $# -eq 1 && "$1" != -* && "$root" =~ ^(host|bullseye)$ ]] || usage
out="$(realpath -m "$1")"
[[ -z "$(ls -A "$out" 2>/dev/null)" ]] || die 2 "dsbuild: $out is not empty; give a folder that is absent or empty"
[[ -z "$key" || -r "$key" ]] || die 2 "dsbuild: the key $key cannot be read"

work="$(mktemp -d "${TMPDIR:-/var/tmp}/dsbuild-release.XXXXXX")"
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$work/dist"
SOURCE_DATE_EPOCH="$(release_time)"
RELEASE_STARTED="$(date +%s)"
export SOURCE_DATE_EPOCH RELEASE_STARTED

# A release is of a commit, so that whoever has the commit can make it again.
check_commit() {
  git -C "$repository" rev-parse --quiet --verify HEAD >/dev/null ||
    die 3 "dsbuild: a release is made of a commit, and $repository is no git checkout"
  [[ -z "$(git -C "$repository" status --porcelain)" ]] ||
    die 3 "dsbuild: a release is made of a commit, and the checkout has changes; commit or stash them:" \
      "  git -C $repository status"
}

make_wheel() {
  say "dsbuild: the wheel (--root $root)"
  "$repository/scripts/build_wheel.sh" --root "$root" "$work/dist" >&2
}

make_debian_package() {
  say "dsbuild: the Debian package"
  on_debian_like || die 3 "dsbuild: a Debian package is made on Debian: this system has no dpkg"
  require_build_tools
  require_packages dpkg-dev
  use_ccache
  configure_and_build package
  (cd "$repository/build/package" && cpack -G DEB -B "$work/deb") >"$work/log" 2>&1 ||
    die 1 "dsbuild: cpack failed (the last lines)" "$(tail -n 20 "$work/log")"
  mv "$work"/deb/*.deb "$work/dist/"
}

make_conda_package() {
  local python
  say "dsbuild: the conda package"
  require_from_cache rattler_build "$rattler_build/rattler_build/__init__.py"
  python="$(python_with_pip)"
  PYTHONPATH="$rattler_build" "$python" -B "$repository/scripts/make_conda_package.py" "$work"/dist/dsbuild-*.whl "$work/dist" \
    >"$work/log" 2>&1 || die 1 "dsbuild: the conda package could not be built (the last lines)" "$(tail -n 20 "$work/log")"
}

write_provenance() {
  "$repository/scripts/make_release_statement.py" "$work/dist" "$root" >"$work/provenance.intoto.json" ||
    die 1 "dsbuild: the provenance could not be written"
  mv "$work/provenance.intoto.json" "$work/dist/"
}

write_checksums() {
  (cd "$work/dist" && LC_ALL=C sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
  [[ -z "$key" ]] || openssl pkeyutl -sign -inkey "$key" -rawin -in "$work/dist/SHA256SUMS" -out "$work/dist/SHA256SUMS.sig" ||
    die 1 "dsbuild: the checksums could not be signed with $key"
}

check_commit
make_wheel
make_debian_package
make_conda_package
write_provenance
write_checksums
mkdir -p "$out"
mv "$work"/dist/* "$out/"
(cd "$out" && cat SHA256SUMS)
