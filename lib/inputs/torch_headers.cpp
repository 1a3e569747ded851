#include "inputs/torch_headers.h"

#include <algorithm>

#include "base/place.h"
#include "inputs/include_search.h"

namespace dsbuild {
namespace {

// Of a name as `#include` spells it. c10's headers are small, but kernels that include no others of torch's
// are often large ones, of which one source took 3.2 GiB (causal-conv1d).
TorchUse use_by(const std::string& name) {
  for (const char* folder : {"torch/csrc/stable/", "torch/csrc/inductor/aoti_torch/c/", "torch/headeronly/"})
    if (name.starts_with(folder)) return TorchUse::interface;
  const bool is_torchs = name.starts_with("torch/") || name.starts_with("ATen/") || name.starts_with("c10/");
  return is_torchs ? TorchUse::all : TorchUse::none;
}

}  // namespace

bool is_torchs_header(std::string_view path) {
  return path.find("/torch/include/") != std::string_view::npos ||
         path.find("/ATen/") != std::string_view::npos;
}

TorchUse TorchIncludes::use(const Path& source, const std::vector<Path>& folders) {
  std::vector<Path> left = {(root_ / source).lexically_normal()};
  std::set<Path> seen(left.begin(), left.end());
  TorchUse most = TorchUse::none;
  while (!left.empty()) {
    const Path file = left.back();
    left.pop_back();
    for (const std::string& name : names_in(file)) {
      most = std::max(most, use_by(name));
      if (most == TorchUse::all) return most;
      std::vector<Path> places = {file.parent_path()};
      places.insert(places.end(), folders.begin(), folders.end());
      for (const Path& place : places) {
        const Path found = (root_ / place / name).lexically_normal();
        if (path_below(root_, found) && seen.insert(found).second) left.push_back(found);
      }
    }
  }
  return most;
}

const std::set<std::string>& TorchIncludes::names_in(const Path& file) {
  const auto [known, is_new] = names_.try_emplace(file);
  if (!is_new || files_.kind(file) != FileKind::file) return known->second;
  if (const auto text = files_.read_file(file)) known->second = names_looked_for(*text).names;
  return known->second;
}

}  // namespace dsbuild
