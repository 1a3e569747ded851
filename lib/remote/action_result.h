// An entry of a shared cache: ActionResult of the Remote Execution API v2 (build.bazel.remote.execution.v2),
// which bazel-remote checks. Files lie there packed by zstd, and the digest of an OutputFile is of the packed
// bytes, as each server expects. Its node_properties "sha256" and "size" are of the unpacked bytes;
// "ed25519" is a signature, "milliseconds" is CachedFile::milliseconds, where it is known, and "uploaded" is
// when the file was put there. A file may be packed with others in front of it (base/compress.h); "bases"
// names them by their sha256, and they are outputs of the same entry. Small files are in the entry itself
// ("contents").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/action_cache.h"

namespace dsbuild {

struct RemoteOutput {
  CachedFile file;                      // as it is here
  std::string digest;                   // SHA-256 of the packed bytes
  uint64_t bytes = 0;                   // of them
  std::vector<std::string> bases = {};  // digests of the unpacked files that it is packed with, in order
  std::string contents = {};            // the packed bytes; "": they are a file of their own there
  int64_t uploaded = 0;                 // when it was put there, in seconds since the epoch; 0: not known
  std::string signature = {};  // of the part of the entry that begins here (remote/entry_signature.h)
  bool operator==(const RemoteOutput&) const = default;
};
using RemoteEntry = std::vector<RemoteOutput>;

// An output that is there for others alone, which are packed with it.
std::string base_name(const std::string& digest);
bool is_base(const RemoteOutput& output);

// In the entry of an action's records: the record whose output this is. A record's own name is its digest,
// and the texts that it names have names below ("<digest>/1").
std::string record_name(const RemoteOutput& output);

// `name`: that it has there. It is in the message (as the worker of its metadata), so that an entry that a
// server or a proxy gives for another is no entry.
std::string render_entry(const std::string& name, const RemoteEntry& entry);
// nullopt: it is no such message, or of another name, or has a file without a digest, or with a name that no
// result of dsbuild has ("..", an end of line).
std::optional<RemoteEntry> parse_entry(const std::string& name, std::string_view message);

}  // namespace dsbuild
