// Names and texts within an archive of a cache (remote/cache_archive.h). Private to this stage. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/upstream.h"
#include "remote/remote_store.h"

namespace dsbuild {

inline constexpr const char* k_archive_keys = "keys";

// "cas/12/34…"
std::string member_name(const RemoteName& name);
// nullopt: this is not the name of a cache's file.
std::optional<RemoteName> parse_member_name(std::string_view name);

struct ArchiveKeys {
  std::string scope;
  std::vector<UpstreamItem> items;
  bool operator==(const ArchiveKeys&) const = default;
};
std::string render_archive_keys(const ArchiveKeys& keys);
// nullopt: a different version, or a malformed line.
std::optional<ArchiveKeys> parse_archive_keys(std::string_view text);

}  // namespace dsbuild
