// Stores long texts that many records share, such as the headers of a toolkit or the names that compilers
// searched for. A text's name is its digest, so each text is stored once in a build folder and once in the
// cache.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/build_layout.h"
#include "cache/tiered_cache.h"

namespace dsbuild {

class Lists {
 public:
  // How many unused lists may lie there, in addition to one for each used list.
  static constexpr size_t k_spare = 256;

  // `cache`: nullopt if results are not cached.
  Lists(FileSystem& files, const Path& build_dir, std::optional<TieredCache> cache)
      : files_(files), folder_(build_dir / k_lists_dir), cache_(std::move(cache)) {}

  // Stores a text unless it exists already. Returns its name, 64 hex digits; "" for an empty text.
  std::string put(const std::string& text);
  // The text of this name, from the build folder or the cache; nullopt if it is lost or damaged.
  std::optional<std::string> find(const std::string& name);
  // The paths in a list of files (Record::others).
  std::vector<std::string> paths(const std::string& name);
  // Call it after all records were checked. If the build folder has many more lists than were put or found,
  // removes the others, which earlier edits left.
  void remove_unused();

 private:
  FileSystem& files_;
  Path folder_;
  std::optional<TieredCache> cache_;
  std::map<std::string, std::string> known_;  // by name
};

}  // namespace dsbuild
