// One setting.
#pragma once

#include <string>

namespace dsbuild {

// A value and where it came from: "--jobs", "MAX_JOBS", "configs/ci.yaml:3:1", "default".
template <class T>
struct Setting {
  T value{};
  std::string origin = "default";
  bool is_default() const { return origin == "default"; }
  bool operator==(const Setting&) const = default;
};

}  // namespace dsbuild
