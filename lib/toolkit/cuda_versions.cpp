#include "toolkit/cuda_versions.h"

#include <algorithm>
#include <array>

#include "arch/nvidia.h"
#include "base/text.h"

namespace dsbuild {
namespace {

// CUDA's minor version compatibility, as far as versions are known.
struct Row {
  int major;
  int last_minor;
};
constexpr std::array<Row, 3> k_rows{{{11, 8}, {12, 9}, {13, 5}}};

const Row* row_of(const Version& version) {
  const auto found = std::find_if(k_rows.begin(), k_rows.end(), [&](const Row& row) {
    return row.major == version.major() && version.minor() <= row.last_minor;
  });
  return found == k_rows.end() ? nullptr : &*found;
}

// 13.5 is the smaller download and takes newer compilers, 11.8 has the architectures that 13 dropped.
const std::vector<FetchableCuda> k_fetchable = {{"13.5", 1305, "7.5 and newer"},
                                                {"11.8", 1108, "3.5 to 9.0"}};

}  // namespace

CudaMatch match_cuda(const Version& toolkit, const Version& library) {
  if (toolkit.major() == library.major() && toolkit.minor() == library.minor()) return CudaMatch::same;
  const Row* row = row_of(toolkit);
  return row != nullptr && row == row_of(library) ? CudaMatch::compatible : CudaMatch::mismatch;
}

std::string matching_cuda_text(const Version& library) {
  const Row* row = row_of(library);
  if (row == nullptr) return library.short_text();
  const std::string major = std::to_string(row->major);
  return major + ".0 to " + major + "." + std::to_string(row->last_minor);
}

bool goes_with_cuda(const Version& toolkit, const Version& library) {
  return library.empty() || match_cuda(toolkit, library) != CudaMatch::mismatch;
}

const std::vector<FetchableCuda>& fetchable_cuda() {
  return k_fetchable;
}

std::string fetchable_cuda_text() {
  std::vector<FetchableCuda> rows = k_fetchable;
  std::sort(rows.begin(), rows.end(),
            [](const FetchableCuda& a, const FetchableCuda& b) { return a.code < b.code; });
  std::vector<std::string> versions;
  for (const FetchableCuda& row : rows)
    versions.emplace_back(row.version);
  return join(versions, "|");
}

std::vector<std::string> fetchable_versions(const ArchSet& needed, const Version& torch_cuda) {
  std::vector<std::string> versions;
  for (const FetchableCuda& row : k_fetchable)
    if (goes_with_cuda(parse_version(row.version).value(), torch_cuda) &&
        difference(needed, targets_of_cuda(row.code)).empty())
      versions.emplace_back(row.version);
  return versions;
}

}  // namespace dsbuild
