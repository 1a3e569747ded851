#include "package/notices.h"

#include <algorithm>

#include "base/text.h"
#include "provenance/components.h"
#include "provenance/licences.h"

namespace dsbuild {
namespace {

// Of others, in the wheel.
struct ForeignPart {
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

std::vector<ForeignPart> foreign_parts(const Manifest& manifest,
                                       const std::vector<PackagedLibrary>& libraries) {
  ForeignPart cuda{"NVIDIA CUDA runtime " + manifest.toolkit.version + ", linked in (libcudart_static.a)",
                   licence_of_product("CUDA"),
                   std::string("NVIDIA CUDA Toolkit End User License Agreement: ") + k_nvidia_licence_url,
                   {}};
  ForeignPart tvm_ffi{"tvm-ffi " + manifest.tvm_ffi + ", compiled in (its headers)",
                      licence_of_product("apache-tvm-ffi"),
                      "https://github.com/apache/tvm-ffi",
                      {}};
  ForeignPart torch{
      "torch " + (manifest.torch ? manifest.torch->version : "") + ", compiled in (its headers)",
      licence_of_product("torch"),
      "https://github.com/pytorch/pytorch",
      {}};
  for (const PackagedLibrary& library : libraries) {
    const std::string& file = library.op->file;
    if (links_cuda_runtime(library)) cuda.files.push_back(file);
    if (std::ranges::count(library.runtime.libraries, "libtvm_ffi.so") > 0) tvm_ffi.files.push_back(file);
    if (needs_torch(library.runtime)) torch.files.push_back(file);
  }
  std::vector<ForeignPart> all;
  for (ForeignPart& part : std::vector{cuda, tvm_ffi, torch})
    if (!part.files.empty()) all.push_back(std::move(part));
  return all;
}

std::string notice(const std::vector<ForeignPart>& parts) {
  std::string text = "This wheel also holds parts of:\n";
  for (const ForeignPart& part : parts)
    text += "\n" + part.name + "\n  in       " + join(part.files, ", ") + "\n  licence  " + part.license +
            "\n           " + part.says + "\n";
  return text;
}

}  // namespace

void add_licenses(Package& package, const Manifest& manifest, const std::vector<PackagedLibrary>& libraries) {
  const std::vector<ForeignPart> others = foreign_parts(manifest, libraries);
  for (const auto& [name, text] : manifest.license_files)
    package.info_files.push_back({k_license_folder + name, text});
  if (!others.empty())
    package.info_files.push_back({std::string(k_license_folder) + k_notices, notice(others)});
  std::vector<std::string> licenses;
  for (const ForeignPart& other : others)
    licenses.push_back(other.license);
  package.license = joined_licences(manifest.license, licenses);
}

}  // namespace dsbuild
