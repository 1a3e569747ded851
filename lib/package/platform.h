// Finds the platform of a distribution, the last part of its tag: on which Linux it can be installed.
#pragma once

#include <string>
#include <vector>

#include "bundle/manifest.h"

namespace dsbuild {

struct Platform {
  std::string tag;                   // "manylinux_2_34_x86_64"; "linux_x86_64" if no known glibc suffices
  std::vector<std::string> outside;  // needed libraries that manylinux does not promise (libtorch.so); sorted
  bool operator==(const Platform&) const = default;
};

// PEP 600: manylinux_2_X promises that the libraries load wherever glibc is 2.X or newer, with the libstdc++
// and libgcc of the distributions of its time. The lowest version in a tag is 2.17. The tag does not cover
// other needed libraries (CUDA, torch, OpenMP). The table of libstdc++ versions per glibc, and of promised
// libraries, is that of auditwheel 6.8.2 (policy/manylinux-policy.json); tests/packaging/manylinux_test.py
// compares them. `machine`: "x86_64", "aarch64".
Platform platform_of(const std::vector<ManifestRuntime>& libraries, const std::string& machine);

}  // namespace dsbuild
