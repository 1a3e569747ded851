// Whether a Python module can be loaded. Its link lets undefined symbols pass, for Python's own are there
// only at run time; a source that was forgotten, or a library, would be noticed at its import.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/file_system.h"

namespace dsbuild {

// The link of a module tells what it is loaded with. Folders are relative to the build folder or absolute.
struct ModuleLink {
  std::vector<std::string> libraries;  // of -l: "c10", ":libcudart.so.13"
  std::vector<std::string> folders;    // of -L, and of libraries that are named by their paths
  std::string python;                  // the interpreter's file
  std::string torch;                   // which: another one in its place has other libraries
  bool warns = false;                  // of symbols that nothing has: whoever imports it has loaded them
  bool operator==(const ModuleLink&) const = default;
};

// Symbols that the module needs and nothing has that is loaded with it: neither its libraries, with those
// that they need, nor the interpreter, nor what torch gives to the whole process. Empty also where that
// cannot be told, as where one of the libraries is not found. Errors: exit 1 where the module cannot be read.
Result<std::vector<std::string>> find_missing_symbols(const ModuleLink& link, const Path& module,
                                                      const Path& build_dir, const FileReader& files);

// "vecadd_c.so needs vec_add(float const*, int), which neither its libraries nor Python has".
std::string missing_symbols_sentence(const std::string& module, const std::vector<std::string>& symbols);

}  // namespace dsbuild
