#include "toolkit/fetchable.h"

#include <algorithm>

#include "arch/amd.h"
#include "arch/nvidia.h"
#include "base/text.h"

namespace dsbuild {
namespace {

template <int cuda>
bool is_of_cuda(const ArchSet& needed) {
  return difference(needed, targets_of_cuda(cuda)).empty();
}

template <int clang>
bool is_of_clang(const ArchSet& needed) {
  return difference(needed, targets_of_clang(clang)).empty();
}

}  // namespace

const std::vector<FetchableToolkit>& fetchable_toolkits() {
  // 13.5 is the smaller download and takes newer compilers, 11.8 has the architectures that 13 dropped.
  // 12.4 goes with a torch of CUDA 12.
  static const std::vector<FetchableToolkit> table = {
      {&k_nvcc_family, "13.5", "CUDA 13.5", "13.5", "7.5 and newer", is_of_cuda<1305>},
      {&k_nvcc_family, "11.8", "CUDA 11.8", "11.8", "3.5 to 9.0", is_of_cuda<1108>},
      {&k_nvcc_family, "12.4", "CUDA 12.4", "12.4", "5.0 to 9.0", is_of_cuda<1204>},
      {&k_hip_family, "hip", "HIP with clang 22", "hip-22", "AMD's", is_of_clang<22>}};
  return table;
}

std::string fetchable_words() {
  std::vector<std::string> words;
  for (const FetchableToolkit& row : fetchable_toolkits())
    words.emplace_back(row.word);
  std::sort(words.begin(), words.end());
  return join(words, "|");
}

std::vector<const FetchableToolkit*> fetchable_for(const CompilerFamily& family, const ArchSet& needed,
                                                   const Version& torch_cuda) {
  std::vector<const FetchableToolkit*> found;
  for (const FetchableToolkit& row : fetchable_toolkits()) {
    const Version version = parse_version(row.word).value_or(Version{});
    const bool goes = version.empty() || goes_with_cuda(version, torch_cuda);
    if (row.family == &family && goes && row.can_target(needed)) found.push_back(&row);
  }
  return found;
}

}  // namespace dsbuild
