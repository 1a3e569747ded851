// The total size of a cache's entries, without a scan of its folder. A file `size` has it: every put appends
// "+<bytes>", and pruning replaces the file by one line "=<bytes>". No process waits for a different one: if
// a line is lost, the size is a little too small until the next pruning. Private to this stage.
#pragma once

#include <optional>

#include "sys/file_system.h"

namespace dsbuild {

inline constexpr const char* k_size_file = "size";

void record_put(const Path& folder, unsigned long long bytes, FileSystem& files);
void record_size(const Path& folder, unsigned long long bytes, FileSystem& files);
// nullopt: the caller must scan the folder, because the file is absent, damaged or too long.
std::optional<unsigned long long> recorded_size(const Path& folder, const FileReader& files);

}  // namespace dsbuild
