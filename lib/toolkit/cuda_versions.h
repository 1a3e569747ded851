// The CUDA versions that are known: which go together. A row each.
#pragma once

#include <string>

#include "base/version.h"

namespace dsbuild {

// Whether code that one version compiled may be linked with libraries that another one built. `same`: major
// and minor are equal. `compatible`: both are in one row of the table (11.0 to 11.8, 12.0 to 12.9, 13.0 to
// 13.5), in which CUDA's libraries keep their interface.
enum class CudaMatch { same, compatible, mismatch };
CudaMatch match_cuda(const Version& toolkit, const Version& library);
// Or there is no library to go with.
bool goes_with_cuda(const Version& toolkit, const Version& library);

// The toolkits that go with a library: "13.0 to 13.5"; of a version outside the table that one alone.
std::string matching_cuda_text(const Version& library);

}  // namespace dsbuild
