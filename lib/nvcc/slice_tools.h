// Runs the tools of one slice.
#pragma once

#include "exec/engine.h"
#include "nvcc/step_unit.h"

namespace dsbuild {

class SliceTools {
 public:
  SliceTools(const StepUnit& unit, Engine& engine);

  // Exit codes. The tool's text is printed, whether it fails or not. In the scratch folder the stand-in is
  // a name; in the build folder, or where the source's place is, it is a path to the scratch folder.
  Result<int> run_in_scratch(const Args& command);  // of a hermetic tool: cudafe++, cicc, ptxas
  Result<int> run_in_build_folder(const Args& command);
  // The object that a command of the build folder makes (nvcc/compile_in_parts.h).
  Result<std::optional<std::string>> compile_in_parts(const Args& command, const std::string& source_end);
  Result<int> run(Args argv, const Path& folder, std::optional<HermeticFiles> hermetic = {});

  // The tools' output since the last call, without the path of the scratch folder.
  std::string take_output() { return std::exchange(output_, {}); }
  // Output as users see it: with the names of the unit's list of archs.
  std::string shown(const std::string& output) const;

 private:
  HermeticFiles files_of(const Args& command) const;

  const StepUnit& unit_;
  Engine& engine_;
  const Path build_dir_;
  std::string output_;
};

}  // namespace dsbuild
