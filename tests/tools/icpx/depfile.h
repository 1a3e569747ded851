// What a compile read, as make's rules have it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace icpx {

// Behind the first colon.
std::vector<std::string> files_of_depfile(const std::string& text);

// A rule for `output`. The headers that libsycl-jit.so has in itself become those of the folder `prefix`;
// what only the compiler has, and `header`, which it made, are left out.
std::string depfile_of(const std::string& output, const std::vector<std::string>& files,
                       const std::filesystem::path& prefix, const std::string& header);

}  // namespace icpx
