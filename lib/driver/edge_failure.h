// A failed edge as dsbuild reports it.
#pragma once

#include <set>
#include <vector>

#include "driver/own_paths.h"
#include "ninja/ninja_run.h"
#include "plan/arch_plan.h"

namespace dsbuild {

struct EdgeFailure {
  Edge edge;                // a copy, because the report may outlive the plan
  ArchSet targets;          // of the edge; after a merge, of all merged edges
  std::string first_error;  // with the user's own paths
  Place place;            // of the first error; the file absolute, or relative to the current folder if in it
  bool is_told = false;   // a diagnostic has shown it already (lib/driver/diagnostic_collector.h)
  Path log;               // absolute
  std::string reproduce;  // a command that works from any folder
  std::string nvcc;  // for a slice: the nvcc command that fails in the same way, from any folder; else ""
  std::string hint;  // what to do; "" if that is unknown
};

// The names of the ops whose edges failed.
std::set<std::string> ops_of(const std::vector<EdgeFailure>& failures);
// The first failure of each source, with the archs of all its failures.
std::vector<EdgeFailure> merged_by_source(const std::vector<EdgeFailure>& failures);

struct FailureContext {
  const Registry& registry;
  const ArchPlan& archs;
  const OwnPaths& paths;
  Path build_dir;  // absolute
  Environment environment;
  FileSystem& files;
};

// Describes a failed edge, and writes its log: how to repeat the command, and all output of its tools.
EdgeFailure describe_failure(const FinishedEdge& ended, const FailureContext& context);

}  // namespace dsbuild
