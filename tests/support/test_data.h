// Files that tests compare with or read.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

// A file below tests/: "unit/nvcc/data/steps-13.0.txt".
inline std::string test_data(const std::string& name) {
  std::ifstream file(std::string(DSBUILD_TESTS_DIR) + "/" + name);
  INFO(name);
  REQUIRE(file.is_open());
  return {std::istreambuf_iterator<char>(file), {}};
}
