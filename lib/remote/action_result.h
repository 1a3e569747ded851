// The format of an entry of a shared cache: ActionResult of the Remote Execution API v2
// (build.bazel.remote.execution.v2), which bazel-remote checks. Files there are compressed by zstd
// ("packed"), and the digest of an OutputFile is of the packed bytes, as servers expect. Its node_properties
// "sha256" and "size" are of the unpacked bytes; "ed25519" is a signature, "milliseconds" is
// CachedFile::milliseconds if it is known, and "uploaded" is the time of the upload. A file may be compressed
// with other files, its bases, as dictionary (base/compress.h). "bases" names them by their sha256, and they
// are outputs of the same entry. Small files are in the entry itself ("contents").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/action_cache.h"

namespace dsbuild {

struct RemoteOutput {
  CachedFile file;                      // as in the local cache
  std::string digest;                   // SHA-256 of the packed bytes
  uint64_t bytes = 0;                   // of the packed file
  std::vector<std::string> bases = {};  // digests of its unpacked bases, in order
  std::string contents = {};            // the packed bytes; "": they are a separate file there
  int64_t uploaded = 0;                 // time of the upload, in seconds since the epoch; 0: unknown
  std::string signature = {};  // of the part of the entry that begins here (remote/entry_signature.h)
  bool operator==(const RemoteOutput&) const = default;
};
using RemoteEntry = std::vector<RemoteOutput>;

// An output that is in the entry only as a base of other outputs.
std::string base_name(const std::string& digest);
bool is_base(const RemoteOutput& output);

// For an output in the entry of an action's records: the digest of the record that it belongs to. A record's
// name is its digest, and the texts that it names are "<digest>/1", "<digest>/2" and so on.
std::string record_name(const RemoteOutput& output);

// `name`: the entry's name there. The message contains it, as the worker of its metadata. So a reader refuses
// an entry that a server or a proxy returns for a different name.
std::string render_entry(const std::string& name, const RemoteEntry& entry);
// nullopt: it is no such message, or the name differs, or a file has no digest or a name that no result of
// dsbuild has ("..", a line break).
std::optional<RemoteEntry> parse_entry(const std::string& name, std::string_view message);

}  // namespace dsbuild
