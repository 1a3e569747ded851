// Checks that a Python module can be loaded. Its link allows undefined symbols, because Python defines some
// at run time only. Without this check, a forgotten source or library would show only at the import.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/file_system.h"

namespace dsbuild {

// The link of a module, which tells which libraries are loaded with it. Folders are relative to the build
// folder or absolute.
struct ModuleLink {
  std::vector<std::string> libraries;  // of -l: "c10", ":libcudart.so.13"
  std::vector<std::string> folders;    // of -L, and of libraries that the link names by path
  std::string python;                  // the interpreter's file
  std::string torch;                   // torch's version: a different torch has different libraries
  bool warns = false;  // missing symbols are only warnings, because the importing program may have loaded
                       // them
  bool operator==(const ModuleLink&) const = default;
};

// Symbols that the module needs and that none of these defines: its libraries, the libraries that they need,
// the interpreter, and the libraries that torch loads for the whole process. Also empty if this is unknown,
// for example because a library is not found. Error: exit 1 if the module cannot be read.
Result<std::vector<std::string>> find_missing_symbols(const ModuleLink& link, const Path& module,
                                                      const Path& build_dir, const FileReader& files);

// "vecadd_c.so needs vec_add(float const*, int), which neither its libraries nor Python has".
std::string missing_symbols_sentence(const std::string& module, const std::vector<std::string>& symbols);

}  // namespace dsbuild
