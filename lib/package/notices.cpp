#include "package/notices.h"

#include <algorithm>

#include "base/text.h"

namespace dsbuild {
namespace {

struct Component {
  std::string name;     // "NVIDIA CUDA runtime 13.0.88 (libcudart_static.a)"
  std::string license;  // SPDX
  std::string says;     // where its text is
  std::vector<std::string> files;
};

bool links_cuda_runtime(const PackagedLibrary& library) {
  return library.op->backend == "cuda" && !library.op->archs.empty() &&
         std::ranges::none_of(library.runtime.libraries,
                              [](const std::string& name) { return name.starts_with("libcudart."); });
}

std::vector<Component> components(const Manifest& manifest, const std::vector<PackagedLibrary>& libraries) {
  Component cuda{"NVIDIA CUDA runtime " + manifest.toolkit.version + ", linked in (libcudart_static.a)",
                 k_nvidia_license,
                 "NVIDIA CUDA Toolkit End User License Agreement: https://docs.nvidia.com/cuda/eula/",
                 {}};
  Component tvm_ffi{"tvm-ffi " + manifest.tvm_ffi + ", compiled in (its headers)",
                    "Apache-2.0",
                    "https://github.com/apache/tvm-ffi",
                    {}};
  Component torch{"torch " + (manifest.torch ? manifest.torch->version : "") + ", compiled in (its headers)",
                  "BSD-3-Clause",
                  "https://github.com/pytorch/pytorch",
                  {}};
  for (const PackagedLibrary& library : libraries) {
    const std::string& file = library.op->file;
    if (links_cuda_runtime(library)) cuda.files.push_back(file);
    if (std::ranges::count(library.runtime.libraries, "libtvm_ffi.so") > 0) tvm_ffi.files.push_back(file);
    if (needs_torch(library.runtime)) torch.files.push_back(file);
  }
  std::vector<Component> all;
  for (Component& component : std::vector{cuda, tvm_ffi, torch})
    if (!component.files.empty()) all.push_back(std::move(component));
  return all;
}

std::string notice(const std::vector<Component>& components) {
  std::string text = "This wheel also holds parts of:\n";
  for (const Component& component : components)
    text += "\n" + component.name + "\n  in       " + join(component.files, ", ") + "\n  licence  " +
            component.license + "\n           " + component.says + "\n";
  return text;
}

// Whether its parts are joined by OR, which binds less than AND.
bool is_choice(const std::string& expression) {
  int depth = 0;
  for (size_t at = 0; at < expression.size(); ++at) {
    depth += (expression[at] == '(') - (expression[at] == ')');
    if (depth == 0 && expression.compare(at, 4, " OR ") == 0) return true;
  }
  return false;
}

std::string with_license(const std::string& expression, const std::string& license) {
  if (is_choice(expression)) return "(" + expression + ") AND " + license;
  const bool is_plain = expression.find('(') == std::string::npos;
  const std::vector<std::string> words = split(expression, " ");
  if (is_plain && std::ranges::find(words, license) != words.end()) return expression;
  return expression + " AND " + license;
}

}  // namespace

void add_licenses(Package& package, const Manifest& manifest, const std::vector<PackagedLibrary>& libraries) {
  const std::vector<Component> others = components(manifest, libraries);
  package.license = manifest.license;
  for (const auto& [name, text] : manifest.license_files)
    package.info_files.push_back({k_license_folder + name, text});
  if (others.empty()) return;
  package.info_files.push_back({std::string(k_license_folder) + k_notices, notice(others)});
  if (package.license.empty()) return;
  for (const Component& other : others)
    package.license = with_license(package.license, other.license);
}

}  // namespace dsbuild
