// Which commit of git's the sources of a pack are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sys/system.h"

namespace dsbuild {

struct PackCommit {
  std::string commit;                 // 40 or 64 hex digits
  std::string repository;             // a URL without user and password; "": none that names no folder here
  std::vector<std::string> modified;  // of the files asked about, those that are not the commit's; sorted
  bool operator==(const PackCommit&) const = default;
};

// `sources`: sorted paths below the root. nullopt where none of them is in a checkout, or git does not say.
std::optional<PackCommit> find_pack_commit(const Path& source_root, const std::vector<std::string>& sources,
                                           const System& system);

// Pure: "git@host:a/b.git" -> "ssh://host/a/b.git"; without what identifies the user; "" for a folder.
std::string repository_url(const std::string& remote);

}  // namespace dsbuild
