// What a path says about whose file it is, as commands that run in a build folder name it.
#pragma once

#include <string_view>

#include "base/build_layout.h"

namespace dsbuild {

// Below the source root: a relative path that begins with that.
inline bool is_in_pack(std::string_view path) {
  return path == k_pack_folder || path.starts_with("pack/");
}

// Tools and packages have absolute paths, or lie in a root of the build folder (action/roots.h).
inline bool is_in_roots(std::string_view path) {
  return path == k_roots_folder || path.starts_with("roots/");
}

// The project's files, and what lies in the build folder, have relative paths.
inline bool is_of_project(std::string_view path) {
  return !path.starts_with('/') && !is_in_roots(path);
}

// Made by the plan or by another action, which was done before what reads it began.
inline bool is_of_build(std::string_view path) {
  return is_of_project(path) && !is_in_pack(path) && !path.starts_with("..");
}

// What hipify made of the project's files: of the build, but laid out as they are, so that names are looked
// for there too.
inline bool is_hipified(std::string_view path) {
  return path == k_hipify_folder || path.starts_with("hipify/");
}

}  // namespace dsbuild
