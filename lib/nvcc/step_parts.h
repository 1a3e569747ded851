// The kinds of part of a translation unit (lib/nvcc/step_file.h).
#pragma once

#include "nvcc/step_results.h"
#include "nvcc/step_tools.h"

namespace dsbuild {

struct StepPart {
  const StepUnit& unit;
  ActionRun& action;
  StepTools tools;
  StepResults results;
  FileSystem& files;
};

// Exit codes of the first tool that fails, or 0. Each ends with its record.
Result<int> run_front(StepPart& part);   // the source → the host's C++
Result<int> run_device(StepPart& part);  // the source → PTX, the images of one virtual arch, the stub
Result<int> run_host(StepPart& part);    // the host's C++ and a stub → the host's object
Result<int> run_fatbin(StepPart& part);  // all images → the object that the host's refers to

}  // namespace dsbuild
