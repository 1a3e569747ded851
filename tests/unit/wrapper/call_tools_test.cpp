#include "wrapper/call_tools.h"

#include <catch2/catch.hpp>

namespace dsbuild {

TEST_CASE("nvcc's flags of the environment stand around those of the command") {
  CHECK(with_flags_of_environment({"-c", "a.cu"}, {}) == Args{"-c", "a.cu"});
  CHECK(with_flags_of_environment({"-c", "a.cu"},
                                  {{"NVCC_PREPEND_FLAGS", "-O1 -DX"}, {"NVCC_APPEND_FLAGS", "-O3"}}) ==
        Args{"-O1", "-DX", "-c", "a.cu", "-O3"});
}

}  // namespace dsbuild
