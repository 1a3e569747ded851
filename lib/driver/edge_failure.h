// An edge that failed, as it is told.
#pragma once

#include <set>
#include <vector>

#include "driver/own_paths.h"
#include "ninja/ninja_run.h"
#include "plan/arch_plan.h"

namespace dsbuild {

struct EdgeFailure {
  Edge edge;                // its own: it is told when the plan may be gone
  ArchSet targets;          // of the edge; of several, of all
  std::string first_error;  // with the user's own paths
  Place place;            // of the first error; the file absolute, or relative to the current folder if in it
  bool is_told = false;   // as a diagnostic (lib/driver/diagnostic_collector.h): tools said what is wrong
  Path log;               // absolute
  std::string reproduce;  // a command that works from any folder
  std::string nvcc;       // of a slice: the nvcc command that does the same; from any folder
  std::string hint;       // what to do, where that is known
};

// The names of the ops whose edges failed.
std::set<std::string> ops_of(const std::vector<EdgeFailure>& failures);
// One for each source, with all its archs: the first.
std::vector<EdgeFailure> merged_by_source(const std::vector<EdgeFailure>& failures);

struct FailureContext {
  const Registry& registry;
  const ArchPlan& archs;
  const OwnPaths& paths;
  Path build_dir;  // absolute
  Environment environment;
  FileSystem& files;
};

// Writes the log that it names: how to repeat the command, and all that its tools said.
EdgeFailure describe_failure(const FinishedEdge& ended, const FailureContext& context);

}  // namespace dsbuild
