// Long texts that many records share (the headers of a toolkit, the names that were looked for), named by
// their content: each is written once in a build folder, and once in the cache.
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

  // `build_dir`: the folder of the build; `cache`: nullopt where results are not kept.
  Lists(FileSystem& files, const Path& build_dir, std::optional<TieredCache> cache)
      : files_(files), folder_(build_dir / k_lists_dir), cache_(std::move(cache)) {}

  // The name of a text, 64 hex digits; "" of an empty one. Writes it where it is not there yet.
  std::string put(const std::string& text);
  // The text that was put under the name, here or in the cache; nullopt where it is lost or damaged.
  std::optional<std::string> find(const std::string& name);
  // Of a list of files (Record::others), their paths.
  std::vector<std::string> paths(const std::string& name);
  // Call it after a look at all records. Where the build folder has many more lists than were put and found
  // here, it removes the others, which earlier edits left.
  void remove_unused();

 private:
  FileSystem& files_;
  Path folder_;
  std::optional<TieredCache> cache_;
  std::map<std::string, std::string> known_;  // by name
};

}  // namespace dsbuild
