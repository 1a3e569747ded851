// On which Linux a distribution can be installed: the last part of its tag.
#pragma once

#include <string>
#include <vector>

#include "bundle/manifest.h"

namespace dsbuild {

struct Platform {
  std::string tag;  // "manylinux_2_34_x86_64"; "linux_x86_64" where no glibc is known that does
  std::vector<std::string> outside;  // needed libraries that manylinux does not promise (libtorch.so); sorted
  bool operator==(const Platform&) const = default;
};

// PEP 600: manylinux_2_X promises that the libraries load wherever glibc is 2.X or newer, with the libstdc++
// and libgcc of the distributions of its time. 2.17 is the least that is named. Other needed libraries (CUDA,
// torch, OpenMP) must come from elsewhere and are no part of the tag. Which libstdc++ goes with which glibc,
// and which libraries are promised, is that of auditwheel 6.8.2 (policy/manylinux-policy.json), against which
// tests/packaging/manylinux_test.py checks it. `machine`: "x86_64", "aarch64".
Platform platform_of(const std::vector<ManifestRuntime>& libraries, const std::string& machine);

}  // namespace dsbuild
