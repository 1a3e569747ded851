// Publishing: the bundle is staged next to its place, then put there in one step.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/manifest.h"
#include "sys/digest_memo.h"
#include "sys/file_system.h"

namespace dsbuild {

inline constexpr const char* k_manifest_name = "manifest.json";
// Who built it and of what (provenance/statement.h), and its signatures. A bundle may have neither.
inline constexpr const char *k_statement_name = "provenance.intoto.json",
                            *k_signature_name = "provenance.sigstore.json";

struct BundleFile {
  Path from;         // built library
  std::string name;  // file name in the bundle
  bool operator==(const BundleFile&) const = default;
};

struct Bundle {
  Path path;                         // --out
  bool changed = false;              // false: it already held exactly this, and may be signed
  unsigned long long bytes = 0;      // all files
  std::vector<std::string> removed;  // files of the previous bundle that are gone
  std::string signed_by{};           // the key's id; "": this build did not sign it
  std::vector<Warning> warnings;
  bool operator==(const Bundle&) const = default;
};

// Is `out` absent, empty or a bundle of ours (its manifest.json names dsbuild, or a killed run left its
// staging folder inside)? Exit 2 `foreign_out` otherwise. Called before any work.
Result<void> check_out_folder(const Path& out, const FileReader& files);

// In one step, where the folder can be renamed. Errors: those of check_out_folder.
Result<void> remove_bundle(const Path& out, FileSystem& files);

// Stages `<parent>/.<name>.dsbuild-staging` (swept if left over by a killed run), writes the libraries, the
// statement and the manifest last, syncs, then exchanges it with `out` and removes the old one. Where the
// parent cannot be written or no exchange is possible (a mount point): stages `out/.dsbuild-staging`, then
// removes out's manifest, moves the files and the manifest last; a folder without a manifest is no bundle,
// and the next run heals it. Writes nothing when out holds these bytes already (by `facts`' digests), and the
// statement alone where all else is the same. A signature is of the old statement: it goes with that. The old
// bundle is intact after any error before the exchange, or before the manifest's removal. `statement`: its
// bytes; "": none. Errors: exit 1 `io` with path and reason.
Result<Bundle> publish_bundle(const Path& out, const std::vector<BundleFile>& libraries,
                              const Manifest& manifest, FileSystem& files, DigestMemo& digests,
                              const std::string& statement = {});

// The manifest of the bundle at `bundle`. Exit 1: `no_bundle` when it holds none, `bad_manifest` when that is
// damaged.
Result<Manifest> load_manifest(const Path& bundle, const FileReader& files);

}  // namespace dsbuild
