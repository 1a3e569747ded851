// Finds the git commit of a pack's sources.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sys/system.h"

namespace dsbuild {

struct PackCommit {
  std::string commit;  // 40 or 64 hex digits
  // A URL without user and password; "": there is none, or it names a folder of this machine.
  std::string repository;
  std::vector<std::string> modified;  // the given sources that differ from the commit; sorted
  bool operator==(const PackCommit&) const = default;
};

// `sources`: sorted paths below the root. nullopt if none of them is in a checkout, or if git does not
// answer.
std::optional<PackCommit> find_pack_commit(const Path& source_root, const std::vector<std::string>& sources,
                                           const System& system);

// "git@host:a/b.git" -> "ssh://host/a/b.git"; drops user and password; "" for a folder. Pure.
std::string repository_url(const std::string& remote);

}  // namespace dsbuild
