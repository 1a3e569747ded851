// The version of a wheel of ops. PyPI accepts it and pip can sort it, unless it is for a private index.
#pragma once

#include <string>

#include "bundle/manifest.h"

namespace dsbuild {

// PyPI accepts no local versions ("+cu130torch211"); a private index may have wheels for several torches.
enum class WheelIndex { pypi, own };

// "" if it is a version of PEP 440 in its normal form, as in file names, and the index accepts it; else the
// reason.
std::string wheel_version_refusal(const std::string& version, WheelIndex index);

// The version of the pack's sources, "0.19.8", or "0"; for a private index, CUDA and torch are added:
// "0.19.8+cu130torch211", "0+cu130", "0+cpu".
std::string default_wheel_version(const Manifest& manifest, WheelIndex index);

}  // namespace dsbuild
