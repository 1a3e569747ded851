// `dsbuild new`: an op to start from, a copy of a template pack under the op's own name.
#pragma once

#include "registry/registry.h"

namespace dsbuild {

inline constexpr const char* k_new_pack = "mypack";  // the folder where the user names none

struct NewOp {
  std::string name;
  std::vector<std::string> files;
  std::string pack;  // as --pack takes it
  std::string test;  // its file
  std::string next;  // the command that builds and tests it; "": the caller says it
};

// The files of templates/<backend>/my_op, in the folder that settings.pack names. Errors, exit 2, nothing
// being written: `bad_op_name`, `foreign_pack`, `file_exists`.
Result<NewOp> write_new_op(const std::string& name, const std::string& backend, const Settings& settings,
                           const System& system);

}  // namespace dsbuild
