#include "remote/similar_files.h"

#include <algorithm>
#include <array>

namespace dsbuild {
namespace {

constexpr uint64_t k_sampled = 0xffULL << 48;  // these bits are zero in a feature: one of 256
// A feature that more files have tells little, and costs time.
constexpr size_t k_most_files_of_feature = 32;
// A file helps where it has one of this many features: a library has a few dozen images.
constexpr size_t k_least_part = 32;

// Of SplitMix64 (Steele, Lea and Flood, 2014).
constexpr uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

constexpr std::array<uint64_t, 256> make_gear() {
  std::array<uint64_t, 256> gear{};
  uint64_t state = 1;
  for (uint64_t& one : gear)
    one = next_random(state);
  return gear;
}
constexpr auto k_gear = make_gear();

}  // namespace

Features features_of(std::string_view bytes) {
  Features features;
  uint64_t hash = 0;  // of the last 64 bytes: those before are shifted out
  for (const char byte : bytes) {
    hash = (hash << 1U) + k_gear[static_cast<unsigned char>(byte)];
    if ((hash & k_sampled) == 0) features.push_back(hash);
  }
  std::ranges::sort(features);
  // Not std::ranges::unique, whose result clang 14 cannot take from gcc 12's library.
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

void SimilarFiles::add(const std::string& name, const Features& features) {
  const auto file = static_cast<uint32_t>(names_.size());
  names_.push_back(name);
  for (const uint64_t feature : features) {
    std::vector<uint32_t>& files = files_[feature];
    if (files.size() < k_most_files_of_feature) files.push_back(file);
  }
}

std::vector<std::string> SimilarFiles::find(const Features& features, size_t most) const {
  std::vector<std::string> found;
  std::vector<const std::vector<uint32_t>*> open;  // of features that no found file has
  for (const uint64_t feature : features)
    if (const auto files = files_.find(feature); files != files_.end()) open.push_back(&files->second);
  while (found.size() < most) {
    std::map<uint32_t, size_t> counts;
    for (const auto* files : open)
      for (const uint32_t file : *files)
        ++counts[file];
    const auto best = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
    if (best == counts.end() || best->second * k_least_part < std::max<size_t>(features.size(), 1)) break;
    found.push_back(names_[best->first]);
    std::erase_if(open, [&](const auto* files) { return std::ranges::count(*files, best->first) > 0; });
  }
  return found;
}

}  // namespace dsbuild
