// Lists the third-party code in a wheel of ops and its licences.
#pragma once

#include <string>
#include <vector>

#include "package/package.h"

namespace dsbuild {

// A library of the wheel, described by its manifest and its bytes.
struct PackagedLibrary {
  const ManifestOp* op = nullptr;
  ManifestRuntime runtime;
};

inline constexpr const char* k_notices = "THIRD_PARTY_NOTICES.txt";

// Sets `license`, the expression for the whole wheel ("" if the pack names none), and `info_files`: the
// pack's texts, and a notice for third-party code that is linked or compiled in.
void add_licenses(Package& package, const Manifest& manifest, const std::vector<PackagedLibrary>& libraries);

}  // namespace dsbuild
