// The files in a cache's folder. Only for this stage and lib/remote, whose folders have the same layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

Path result_file(const Path& folder, const std::string& key);
Path blob_file(const Path& folder, const std::string& digest);

struct EntryFile {
  Path path;
  uint64_t bytes = 0;
  int64_t used_ns = 0;  // its mtime
};

struct CacheContent {
  std::vector<EntryFile> results;
  std::vector<EntryFile> blobs;        // and entries of older versions, which are no longer used
  std::vector<EntryFile> temporaries;  // of processes that are writing or were killed
};

// Lists the files whose names are those of a cache; ignores all other files, and links. Errors: those of
// reading.
Result<CacheContent> scan_cache(const Path& folder, const FileReader& files);

}  // namespace dsbuild
