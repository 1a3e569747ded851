// Which part of a sweep each commit tries: others each time, by a seed that DSBUILD_SEED repeats. The deep
// tier tries all.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

namespace dsbuild {

inline bool is_deep_tier() {
  const char* tier = std::getenv("DSBUILD_TIER");
  return tier != nullptr && std::string_view(tier) == "deep";
}

inline unsigned sample_seed() {
  static const unsigned value = [] {
    const char* given = std::getenv("DSBUILD_SEED");
    return given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device{}() % 100'000;
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
