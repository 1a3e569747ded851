// How large the entries of a store are together, without a look at them: a file to which every put appends
// "+<bytes>", and which pruning replaces by one line "=<bytes>". Nobody waits for anybody: a line that gets
// lost makes the record a little too small until the next pruning. Private to this stage.
#pragma once

#include <optional>

#include "sys/file_system.h"

namespace dsbuild {

inline constexpr const char* k_size_file = "size";

void record_put(const Path& folder, unsigned long long bytes, FileSystem& files);
void record_size(const Path& folder, unsigned long long bytes, FileSystem& files);
// nullopt: the entries have to be looked at, since there is no record, it is damaged, or it has become long.
std::optional<unsigned long long> recorded_size(const Path& folder, const FileReader& files);

}  // namespace dsbuild
