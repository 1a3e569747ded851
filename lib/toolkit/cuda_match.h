// Whether code that one CUDA version compiled may be linked with libraries that another one built.
#pragma once

#include <string>

#include "base/version.h"

namespace dsbuild {

enum class CudaMatch { same, compatible, mismatch };

// `same`: major and minor are equal. `compatible`: both are in one row of the table (11.0 to 11.8, 12.0
// to 12.9, 13.0 to 13.5), in which CUDA's libraries keep their interface.
CudaMatch match_cuda(const Version& toolkit, const Version& library);

// The toolkits that go with a library: "13.0 to 13.5"; of a version outside the table that one alone.
std::string matching_cuda_text(const Version& library);

}  // namespace dsbuild
