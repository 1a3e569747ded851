// What a wheel of ops holds besides the pack's own code, and under which licence.
#pragma once

#include <string>
#include <vector>

#include "package/package.h"

namespace dsbuild {

// A library of the wheel, as its manifest and its bytes say.
struct PackagedLibrary {
  const ManifestOp* op = nullptr;
  ManifestRuntime runtime;
};

inline constexpr const char* k_notices = "THIRD_PARTY_NOTICES.txt";

// Sets `license`, the expression for all that is in the wheel ("" where the pack names none), and
// `info_files`: the pack's texts, and a notice for what is linked or compiled in of others.
void add_licenses(Package& package, const Manifest& manifest, const std::vector<PackagedLibrary>& libraries);

}  // namespace dsbuild
