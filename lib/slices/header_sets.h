// Headers of toolkits, packages and the system, of which thousands of edges read the same hundreds. A depfile
// does not name them: for each folder of them it names one file of the build folder, a header set, which says
// what they were, by size and time, when they were read. dsbuild looks at each header once, before Ninja
// starts, and renews the set of one that is not as it was: to Ninja that set has changed, and what was made
// with it is made again.
#pragma once

#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

// What a depfile has to name of the files that were read: the project's, which are relative, and the sets of
// the others, which are made where they are not there yet. A header that changed since `begin_ns` (of the
// clock of file times) stays itself: what was read of it is not known. Runs in the build folder.
Result<std::vector<std::string>> name_header_sets(const std::vector<std::string>& read, int64_t begin_ns,
                                                  FileSystem& files);

// Of the build folder: to be called under its lock, before Ninja looks. A set with a lost header is removed,
// and so is a damaged one: what was made with it is made again as well.
Result<void> renew_header_sets(const Path& build_dir, FileSystem& files);

}  // namespace dsbuild
