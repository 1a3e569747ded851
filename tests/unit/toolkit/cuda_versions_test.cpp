#include "toolkit/cuda_versions.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

CudaMatch match(const std::string& toolkit, const std::string& library) {
  return match_cuda(parse_version(toolkit).value(), parse_version(library).value());
}

}  // namespace

TEST_CASE("the patch version of CUDA does not count") {
  CHECK(match("13.0.88", "13.0") == CudaMatch::same);
  CHECK(match("11.8.89", "11.8") == CudaMatch::same);
}

TEST_CASE("minor versions of CUDA 11, 12 and 13 go together, as far as they are known") {
  CHECK(match("11.0", "11.8") == CudaMatch::compatible);
  CHECK(match("12.9", "12.1") == CudaMatch::compatible);
  CHECK(match("13.5", "13.0") == CudaMatch::compatible);
  CHECK(match("13.6", "13.0") == CudaMatch::mismatch);
  CHECK(match("13.6", "13.6") == CudaMatch::same);
  CHECK(match("10.1", "10.2") == CudaMatch::mismatch);
}

TEST_CASE("major versions of CUDA do not go together") {
  CHECK(match("12.9", "13.0") == CudaMatch::mismatch);
  CHECK(match("11.8", "12.8") == CudaMatch::mismatch);
}

TEST_CASE("the toolkits that go with a library are named as a range, of an unknown version as itself") {
  CHECK(matching_cuda_text(parse_version("13.0").value()) == "13.0 to 13.5");
  CHECK(matching_cuda_text(parse_version("12.8").value()) == "12.0 to 12.9");
  CHECK(matching_cuda_text(parse_version("13.7.1").value()) == "13.7");
}
