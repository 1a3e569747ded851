// A disk without the toolkits of this machine: tests that build with made-up tools neither read nor ask them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "fakes/same_file_system.h"

namespace dsbuild {

class BareMachine : public SameFileSystem {
 public:
  using SameFileSystem::SameFileSystem;

  FileKind kind(const Path& path) const override {
    return is_hidden(path) ? FileKind::absent : real_.kind(path);
  }

 private:
  static bool is_hidden(const Path& path) {
    constexpr std::array<std::string_view, 4> k_toolkits = {"/usr/local/cuda", "/usr/lib/nvidia-cuda-toolkit",
                                                            "/opt/rocm", "/opt/intel"};
    return std::ranges::any_of(k_toolkits,
                               [&](std::string_view toolkit) { return path.native().starts_with(toolkit); });
  }
};

}  // namespace dsbuild
