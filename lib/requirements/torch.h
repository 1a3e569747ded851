// The installed torch, as its own files describe it; torch is never imported, which would take seconds and a
// GPU driver's goodwill.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/registry.h"
#include "requirements/python.h"

namespace dsbuild {

struct Torch {
  Path home;               // the package's folder
  std::string version;     // torch/version.py: "2.8.0+cu128"
  std::string cuda;        // torch/version.py: "12.8"; "" for a build without CUDA
  std::string hip;         // torch/version.py, likewise
  bool cxx11_abi = false;  // the names in torch/lib/libc10.so are of std::__cxx11
  // The next two are what torch/utils/cpp_extension.py passes to every extension.
  int std = 0;                           // C++ standard of one that names none; 0: not known
  std::vector<std::string> abi_flags;    // of torch before 2.9, read from its libraries; none since
  std::vector<std::string> old_headers;  // of an older torch: folders in include/, "THC"
  // COMMON_HIP_FLAGS and COMMON_HIPCC_FLAGS there: of all files of an extension for ROCm, and of device code.
  std::vector<std::string> hip_flags, hipcc_flags;
  Python python;  // the interpreter that torch is installed for
  bool operator==(const Torch&) const = default;

  Version number() const { return parse_version(version).value_or(Version{}); }
};

// Pure: the text of torch/version.py -> version, cuda, hip.
Torch parse_torch_version_file(std::string_view text);

// With one start of Python, remembered until the interpreter or torch/version.py changes. Error: exit 3, code
// `python`: no interpreter, no torch, or a torch without a version.
Result<Torch> find_torch(const Interpreter& python);

// An op of the registry requires torch or has a condition on it.
bool asks_for_torch(const Registry& registry);
// The same for one op.
bool requires_torch(const OpSpec& spec);

}  // namespace dsbuild
