#include "inputs/torch_headers.h"

#include "base/place.h"
#include "inputs/looked_for.h"

namespace dsbuild {
namespace {

// As `#include` spells it. c10's headers are small, but kernels that include no others of torch's are often
// large ones, of which one source took 3.2 GiB (causal-conv1d).
bool is_torchs_name(const std::string& name) {
  return name.starts_with("torch/") || name.starts_with("ATen/") || name.starts_with("c10/");
}

}  // namespace

bool is_torchs_header(std::string_view path) {
  return path.find("/torch/include/") != std::string_view::npos ||
         path.find("/ATen/") != std::string_view::npos;
}

bool TorchIncludes::reaches(const Path& source, const std::vector<Path>& folders) {
  std::vector<Path> left = {(root_ / source).lexically_normal()};
  std::set<Path> seen(left.begin(), left.end());
  while (!left.empty()) {
    const Path file = left.back();
    left.pop_back();
    for (const std::string& name : names_in(file)) {
      if (is_torchs_name(name)) return true;
      std::vector<Path> places = {file.parent_path()};
      places.insert(places.end(), folders.begin(), folders.end());
      for (const Path& place : places) {
        const Path found = (root_ / place / name).lexically_normal();
        if (path_below(root_, found) && seen.insert(found).second) left.push_back(found);
      }
    }
  }
  return false;
}

const std::set<std::string>& TorchIncludes::names_in(const Path& file) {
  const auto [known, is_new] = names_.try_emplace(file);
  if (!is_new || files_.kind(file) != FileKind::file) return known->second;
  if (const auto text = files_.read_file(file)) known->second = names_looked_for(*text).names;
  return known->second;
}

}  // namespace dsbuild
