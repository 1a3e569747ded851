// A disk without the toolkits of this machine: tests that build with made-up tools neither read nor ask them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "sys/forwarding_file_system.h"

namespace dsbuild {

class BareMachine : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  FileKind kind(const Path& path) const override {
    return is_hidden(path) ? FileKind::absent : files_.kind(path);
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
