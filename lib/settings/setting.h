// A setting: a value and its origin.
#pragma once

#include <string>

namespace dsbuild {

// `origin` is an option, a variable, a place in a config file, or "default": "--jobs", "MAX_JOBS",
// "configs/ci.yaml:3:1".
template <class T>
struct Setting {
  T value{};
  std::string origin = "default";
  bool is_default() const { return origin == "default"; }
  bool operator==(const Setting&) const = default;
};

}  // namespace dsbuild
