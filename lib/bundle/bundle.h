// Publishes a bundle: stages it next to `--out`, then exchanges the two folders in one step. Also reads and
// removes bundles.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/manifest.h"
#include "sys/digest_memo.h"
#include "sys/file_system.h"

namespace dsbuild {

inline constexpr const char* k_manifest_name = "manifest.json";
// The statement of who built the bundle from what (provenance/statement.h), and its signature. A bundle may
// have neither.
inline constexpr const char *k_statement_name = "provenance.intoto.json",
                            *k_signature_name = "provenance.sigstore.json";

struct BundleFile {
  Path from;         // built library
  std::string name;  // file name in the bundle
  bool operator==(const BundleFile&) const = default;
};

struct Bundle {
  Path path;                         // --out
  bool changed = false;              // false: it already had exactly these bytes, and may be signed
  unsigned long long bytes = 0;      // all files
  std::vector<std::string> removed;  // files that only the previous bundle had
  std::string signed_by{};           // the key's id; "": this build did not sign it
  std::vector<Warning> warnings;
  bool operator==(const Bundle&) const = default;
};

// Checks that `out` is absent, empty, or dsbuild's own: its manifest.json names dsbuild, or a killed run left
// its staging folder inside. Error: exit 2 `foreign_out`. To be called before any work.
Result<void> check_out_folder(const Path& out, const FileReader& files);

// Removes the bundle, in one step if its folder can be renamed. Errors: those of check_out_folder, and of
// removing.
Result<void> remove_bundle(const Path& out, FileSystem& files);

// Stages `<parent>/.<name>.dsbuild-staging`, after removing one that a killed run left: writes the libraries,
// the statement and last the manifest, and syncs. Then exchanges it with `out` and removes the old bundle. If
// the parent cannot be written or no exchange is possible (a mount point), stages `out/.dsbuild-staging`,
// removes out's manifest, and moves the files, the manifest last. A folder without a manifest is no bundle,
// and the next run repairs it. Writes nothing if `out` has these bytes already (by the digests of `digests`),
// and only the statement if all else is equal. A new statement removes the signature, which was of the old
// one. After an error before the exchange or the manifest's removal, the old bundle is intact. `statement`:
// its bytes; "": none. Errors: exit 1 `io` with path and reason.
Result<Bundle> publish_bundle(const Path& out, const std::vector<BundleFile>& libraries,
                              const Manifest& manifest, FileSystem& files, DigestMemo& digests,
                              const std::string& statement = {});

// The manifest of the bundle at `bundle`. Errors, exit 1: `no_bundle` if there is none, `bad_manifest` if it
// is damaged.
Result<Manifest> load_manifest(const Path& bundle, const FileReader& files);

}  // namespace dsbuild
