#include "toolkit/cuda_versions.h"

#include <algorithm>
#include <array>

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

}  // namespace dsbuild
