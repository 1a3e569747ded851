// The words of the lines of a file in tests/unit/arch/data, without comments.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text.h"

inline std::vector<std::vector<std::string>> data_lines(const std::string& name) {
  std::ifstream file(std::string(DSBUILD_TESTS_DIR) + "/unit/arch/data/" + name);
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') lines.push_back(dsbuild::split(line, " "));
  if (lines.empty()) throw std::runtime_error(name + " holds nothing");
  return lines;
}
