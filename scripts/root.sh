#!/usr/bin/env bash
# root.sh make SUITE FOLDER: FOLDER becomes a clean, minimal Debian root. root.sh run FOLDER [--bind PLACE:IN_ROOT[:ro]]...
# [NAME=VALUE]... -- COMMAND...: runs COMMAND in it. Root only. Other scripts source this file for its functions.
# A root takes the machine's own apt, pip and certificate settings. Its tarball is made once a week.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

roots_dir="$cache_dir/roots"
root_home=/home/fresh # HOME inside a root
root_binds=()         # PLACE:IN_ROOT[:ro], folders of the machine that in_root mounts
root_variables=()     # NAME=VALUE, for the command of in_root

require_root_tools() {
  [[ $EUID -eq 0 ]] || die 3 "dsbuild: a clean Debian root takes root (chroot, mount)"
  find_root
  on_debian_like || explain_other_system "mmdebstrap"
  require_packages mmdebstrap
  unshare --mount true 2>/dev/null || die 3 "dsbuild: a clean Debian root takes mounts, and here they are not allowed"
}

# What mmdebstrap reads: the machine's own sources, or their mirror with another suite.
root_sources() {
  local suite="$1" codename
  # shellcheck source=/dev/null
  codename="$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")"
  if [[ "$suite" == "$codename" ]]; then
    find /etc/apt/sources.list /etc/apt/sources.list.d \( -name '*.sources' -o -name '*.list' \) -size +0 2>/dev/null | sort
  else
    printf 'deb %s %s main\n' "$(debian_mirror "$codename")" "$suite"
  fi
}

# debian_mirror CODENAME: the address that the machine has its packages of that release from.
debian_mirror() {
  # shellcheck disable=SC2016 # apt's own variables
  apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
    awk -v release="$1" '$2 == release { print $1; exit }'
}

make_root_tarball() {
  local suite="$1" tarball="$2" log="$roots_dir/$1.log" options sources
  options="$(mktemp)"
  apt-config dump | grep '^Acquire::' >"$options" || true
  mapfile -t sources < <(root_sources "$suite")
  say "dsbuild: making a clean $suite root"
  mmdebstrap --quiet --mode=root --variant=minbase --include=ca-certificates --aptopt="$options" --format=tar \
    --dpkgopt=force-unsafe-io "$suite" "$tarball.new" "${sources[@]}" >"$log" 2>&1 ||
    die 1 "dsbuild: mmdebstrap failed (its last lines; all of it is in $log)" "$(tail -n 5 "$log")"
  rm "$options"
  mv "$tarball.new" "$tarball"
}

# make_root SUITE FOLDER
make_root() {
  local suite="$1" folder="$2" tarball="$roots_dir/$1.tar" file
  mkdir -p "$roots_dir" "$folder"
  (
    flock 9 # another check may be making it
    [[ -n "$(find "$tarball" -mtime -7 2>/dev/null)" ]] || make_root_tarball "$suite" "$tarball"
  ) 9>"$roots_dir/.$suite.lock"
  tar -xf "$tarball" -C "$folder"
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [[ -e "$file" ]] && install -D -m 644 "$(realpath "$file")" "$folder$file"
  done
  mkdir -p "$folder$root_home"
  for file in .config/pip/pip.conf .pip/pip.conf; do
    [[ -e "$HOME/$file" ]] && install -D -m 644 "$HOME/$file" "$folder$root_home/$file"
  done
  return 0
}

# Settings of package tools that stand in variables.
passed_environment() {
  env -0 | grep -zE '^(PIP_[A-Z_]*|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|[a-zA-Z]+_(proxy|PROXY))=' || true
}

# in_root FOLDER COMMAND...: with mounts and processes of its own, so there is nothing to unmount afterwards.
in_root() {
  local folder="$1" variables=()
  shift
  mapfile -d '' -t variables < <(passed_environment)
  # shellcheck disable=SC2016
  ROOT="$folder" BINDS="$(printf '%s\n' "${root_binds[@]}")" \
    unshare --mount --pid --fork --kill-child --propagation private bash -c '
    set -euo pipefail
    mount -t proc proc "$ROOT/proc"
    mount --rbind /dev "$ROOT/dev"
    mount --bind -o ro /sys "$ROOT/sys"
    while IFS=: read -r source place options; do
      [[ -n "$source" ]] || continue
      mkdir -p "$ROOT$place"
      mount --bind "$source" "$ROOT$place"
      [[ -z "$options" ]] || mount -o "remount,bind,$options" "$ROOT$place"
    done <<<"$BINDS"
    exec chroot "$ROOT" env --ignore-environment "$@"
  ' in_root HOME="$root_home" LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    "${variables[@]}" "${root_variables[@]}" "$@" </dev/null
}

root_main() {
  local usage=("usage: root.sh make SUITE FOLDER" "       root.sh run FOLDER [--bind PLACE:IN_ROOT[:ro]]... [NAME=VALUE]... -- COMMAND...")
  local command="${1:-}" folder
  [[ $# -ge 3 ]] || die 2 "${usage[@]}"
  if [[ "$command" == make && $# -eq 3 ]]; then
    require_root_tools
    make_root "$2" "$3"
    return
  fi
  [[ "$command" == run ]] || die 2 "${usage[@]}"
  folder="$2"
  shift 2
  while [[ $# -gt 0 && "$1" != -- ]]; do
    if [[ "$1" == --bind ]]; then
      root_binds+=("$2")
      shift
    else
      root_variables+=("$1")
    fi
    shift
  done
  [[ $# -ge 2 ]] || die 2 "${usage[@]}"
  shift
  in_root "$folder" "$@"
}

if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then root_main "$@"; fi
