#!/bin/sh
# attach.sh IMAGE BUNDLE: attaches the SBOM and the provenance of a bundle to the image that holds it, as referrers (OCI 1.1):
# `oras discover IMAGE` lists them, and scanners and admission controllers find them by the image's digest. IMAGE is in a
# registry, best by its digest (registry.example.org/ops@sha256:…); oras is logged in there.
set -eu
image="$1" bundle="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

attach() { # TYPE FILE
  (cd "$(dirname "$2")" && oras attach --artifact-type "$1" "$image" "$(basename "$2"):$1")
}

dsbuild verify "$bundle"
dsbuild sbom "$bundle" --format spdx --sbom-file "$work/sbom.spdx.json"
dsbuild sbom "$bundle" --format cyclonedx --sbom-file "$work/sbom.cdx.json"
attach application/spdx+json "$work/sbom.spdx.json"
attach application/vnd.cyclonedx+json "$work/sbom.cdx.json"
attach application/vnd.in-toto+json "$bundle/provenance.intoto.json"
if [ -e "$bundle/provenance.sigstore.json" ]; then
  attach application/vnd.dev.sigstore.bundle.v0.3+json "$bundle/provenance.sigstore.json"
fi
