// What lies where in a store's folder. Only for this stage and lib/remote, whose folders are laid out alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

// Where a result and a blob lie.
Path result_file(const Path& folder, const std::string& key);
Path blob_file(const Path& folder, const std::string& digest);

struct EntryFile {
  Path path;
  uint64_t bytes = 0;
  int64_t used_ns = 0;  // its mtime
};

struct CacheContent {
  std::vector<EntryFile> results;
  std::vector<EntryFile> blobs;        // and entries of older versions, which nobody finds any more
  std::vector<EntryFile> temporaries;  // of processes that write, or were killed
};

// The files that look like ours; nothing else and no link is looked at. Errors: those of reading.
Result<CacheContent> scan_cache(const Path& folder, const FileReader& files);

}  // namespace dsbuild
