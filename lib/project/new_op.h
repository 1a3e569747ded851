// Makes a new op for `dsbuild new`: a copy of a template pack with the op's name.
#pragma once

#include "registry/registry.h"

namespace dsbuild {

inline constexpr const char* k_new_pack = "mypack";  // the folder if the user names none

struct NewOp {
  std::string name;
  std::vector<std::string> files;
  std::string pack;  // a value for --pack
  std::string test;  // its file
  std::string next;  // the command that builds and tests it; "": the caller adds it
};

// Copies templates/<backend>/my_op into the folder that settings.pack names. Errors, exit 2, before anything
// is written: `bad_op_name`, `foreign_pack`, `file_exists`.
Result<NewOp> write_new_op(const std::string& name, const std::string& backend, const Settings& settings,
                           const System& system);

}  // namespace dsbuild
