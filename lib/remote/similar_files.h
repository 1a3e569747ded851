// Finds files that have much in common: the PTX of one source for two archs, a library and its images. A file
// is known by features of its content, which do not depend on where in the file they lie: hashes of those
// windows of 64 bytes whose hash has certain bits (Manber, Finding similar files in a large file system,
// 1994; the rolling hash: Xia et al., FastCDC, 2016).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dsbuild {

// Sorted, each once; about one for 256 bytes.
using Features = std::vector<uint64_t>;
Features features_of(std::string_view bytes);

class SimilarFiles {
 public:
  void add(const std::string& name, const Features& features);
  // Names of files that have a good part of these features, `most` at most: the one with the most features
  // first, then the one with the most that the first has not, and so on.
  std::vector<std::string> find(const Features& features, size_t most) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> files_;  // with a feature
};

}  // namespace dsbuild
