// Describes the installed torch from its files. torch is never imported: that would take seconds, and may
// fail in the GPU driver.
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
  // torch/utils/cpp_extension.py passes the next two to every extension.
  int std = 0;                           // C++ standard for an extension that names none; 0: unknown
  std::vector<std::string> abi_flags;    // for torch before 2.9, read from its libraries; empty since
  std::vector<std::string> old_headers;  // folders in include/ of an older torch: "THC"
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

// Whether an op of the registry requires torch or has a condition on it.
bool asks_for_torch(const Registry& registry);
// The same for one op.
bool requires_torch(const OpSpec& spec);

}  // namespace dsbuild
