// The inputs of a build's libraries, with their digests. They come from the records of its actions, so
// dsbuild reads no file again.
#pragma once

#include "driver/plan.h"
#include "provenance/statement.h"

namespace dsbuild {

struct BuildInputs {
  std::vector<Dependency> files;                 // sorted by kind and name
  std::map<std::string, std::string> variables;  // variable that compilers got -> SHA-256 of its value
  std::map<std::string, std::string> actions;    // library -> the key of its link
  bool reproducible = true;
};

// `libraries`: for each op that was built, its name in the plan -> its file in the bundle.
BuildInputs inputs_of_build(const Plan& plan, const std::map<std::string, std::string>& libraries,
                            FileSystem& files);

}  // namespace dsbuild
