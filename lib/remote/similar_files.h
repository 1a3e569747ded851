// Finds files that have much in common: the PTX of one source for two archs, a library and its images. It
// compares features of the contents, which do not depend on positions in the file: the hashes of those
// 64-byte windows whose hash has certain bits (Manber, Finding similar files in a large file system, 1994;
// the rolling hash: Xia et al., FastCDC, 2016).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dsbuild {

// Sorted, each once; about one per 256 bytes.
using Features = std::vector<uint64_t>;
Features features_of(std::string_view bytes);

class SimilarFiles {
 public:
  void add(const std::string& name, const Features& features);
  // Names of at most `most` files that share at least 1/32 of these features. The first has the most
  // features; each next one has the most of those that no earlier one has.
  std::vector<std::string> find(const Features& features, size_t most) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> files_;  // that have a feature
};

}  // namespace dsbuild
