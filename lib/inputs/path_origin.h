// Tells from a path in a command whether the file belongs to the pack, to a tool or package, or to the build.
#pragma once

#include <string_view>

#include "base/build_layout.h"

namespace dsbuild {

// The file is below the source root.
inline bool is_in_pack(std::string_view path) {
  return path == k_pack_folder || path.starts_with("pack/");
}

// The file of a tool or package is in a root (exec/roots.h). Others of these have absolute paths.
inline bool is_in_roots(std::string_view path) {
  return path == k_roots_folder || path.starts_with("roots/");
}

// Files of the project and of the build folder have relative paths.
inline bool is_of_project(std::string_view path) {
  return !path.starts_with('/') && !is_in_roots(path);
}

// The plan or an action made the file, before an action read it.
inline bool is_of_build(std::string_view path) {
  return is_of_project(path) && !is_in_pack(path) && !path.starts_with("..");
}

// hipify made the file. Such files belong to the build, but have the layout of the project's files, so
// compilers search for names there, too.
inline bool is_hipified(std::string_view path) {
  return path == k_hipify_folder || path.starts_with("hipify/");
}

}  // namespace dsbuild
