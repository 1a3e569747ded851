// The seed of all that is random in a test, and which part of a sweep each commit tries: others each time.
// The deep tier tries all.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string_view>
#include <vector>

namespace dsbuild {

inline bool is_deep_tier() {
  const char* tier = std::getenv("DSBUILD_TIER");
  return tier != nullptr && std::string_view(tier) == "deep";
}

// One for each run, which DSBUILD_SEED repeats. Printed at once: a sanitizer may end the test at any line.
inline unsigned sample_seed() {
  static const unsigned value = [] {
    const char* given = std::getenv("DSBUILD_SEED");
    const unsigned seed =
        given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
    std::cerr << "DSBUILD_SEED=" << seed << "\n";
    return seed;
  }();
  return value;
}

template <class T>
std::vector<T> some_of(std::vector<T> values, size_t number) {
  if (is_deep_tier() || values.size() <= number) return values;
  std::shuffle(values.begin(), values.end(), std::mt19937(sample_seed()));
  values.resize(number);
  return values;
}

}  // namespace dsbuild
