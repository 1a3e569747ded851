// Removes from a compiler's output the parts that differ at each start.
#pragma once

#include <string>

#include "sys/file_system.h"
#include "sys/process.h"

namespace dsbuild {

// Without names of temporary files, which are random; `folder`, where it was asked, is ".".
std::string stable_answer(const std::string& said, const Path& folder);

// Of all that it said, and of the code that it ended with. The files that it named count by their whole
// names, where they are there.
std::string digest_of_answer(const ProcessResult& answer, const Path& folder, const FileReader& files);

}  // namespace dsbuild
