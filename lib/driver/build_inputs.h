// What the libraries of a build were made of, as its actions wrote it down: no file is read again for its
// digest.
#pragma once

#include "driver/plan.h"
#include "provenance/statement.h"

namespace dsbuild {

struct BuildInputs {
  std::vector<Dependency> files;                 // sorted by kind and name
  std::map<std::string, std::string> variables;  // that compilers got -> SHA-256 of the value
  std::map<std::string, std::string> actions;    // library -> the key of its link
  bool reproducible = true;
};

// `libraries`: of the ops that were built, by their names in the plan, their files in the bundle.
BuildInputs inputs_of_build(const Plan& plan, const std::map<std::string, std::string>& libraries,
                            FileSystem& files);

}  // namespace dsbuild
