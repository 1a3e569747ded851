// tests/unit/arch/data/real_targets.txt as a table: CUDA version (1300) -> the targets its nvcc knows.
#pragma once

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "arch/target.h"
#include "base/text.h"

namespace dsbuild {

inline std::map<int, ArchSet> load_real_targets() {
  std::ifstream file(std::string(DSBUILD_TESTS_DIR) + "/unit/arch/data/real_targets.txt");
  std::map<int, ArchSet> table;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> words = split(line, " .:");
    ArchSet& targets = table[std::stoi(words.at(0)) * 100 + std::stoi(words.at(1))];
    for (size_t i = 2; i < words.size(); ++i) {
      targets.insert(parse_target_name("sm_" + words[i]).value());
      targets.insert(parse_target_name("compute_" + words[i]).value());
    }
  }
  if (table.empty()) throw std::runtime_error("real_targets.txt holds no targets");
  return table;
}

}  // namespace dsbuild
