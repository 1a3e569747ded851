// The installed torch, as its own files describe it; torch is never imported, which would take seconds and a
// GPU driver's goodwill.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "requirements/python.h"

namespace dsbuild {

struct Torch {
  Path home;            // the package's folder
  std::string version;  // "2.8.0+cu128"
  std::string cuda;     // "12.8"; "" for a build without CUDA
  std::string hip;      // likewise
  bool operator==(const Torch&) const = default;
};

// Pure: the text of torch/version.py.
Torch parse_torch_version_file(std::string_view text);
// nullopt where the python3 on PATH has no torch, or there is no python3.
std::optional<Torch> read_torch(System& system, FactStore& facts);

}  // namespace dsbuild
