// The version of a wheel of ops: one that PyPI takes and pip sorts, unless it is for an index of one's own.
#pragma once

#include <string>

#include "bundle/manifest.h"

namespace dsbuild {

// PyPI takes no local versions ("+cu130torch211"); an index of one's own has wheels for several torches side
// by side.
enum class WheelIndex { pypi, own };

// "" if it is a version of PEP 440 in its normal form, which file names have, and one that the index takes;
// else what is wrong with it.
std::string wheel_version_refusal(const std::string& version, WheelIndex index);

// The version of the pack's sources, "0.19.8", or "0"; for an index of one's own with what the ops are built
// for: "0.19.8+cu130torch211", "0+cu130", "0+cpu".
std::string default_wheel_version(const Manifest& manifest, WheelIndex index);

}  // namespace dsbuild
