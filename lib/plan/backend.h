// A backend turns one planned op into its edges. One file each, one table (backends()).
#pragma once

#include <functional>
#include <vector>

#include "plan/build_plan.h"

namespace dsbuild {

struct BackendOp {
  const OpBuilder& builder;
  const PlannedOp& planned;
  WhenContext context;
  Contribution gives;  // of all its met requirements
};

struct Backend {
  BackendKind kind;
  const char* name;
  // Compile edges of the op, in source order.
  std::vector<Edge> (*compile_edges)(const BuildPlanInput& input, const BackendOp& op);
  // Flags of its link edge, behind the objects.
  std::vector<std::string> (*link_flags)(const BuildPlanInput& input, const BackendOp& op);
};

const std::vector<Backend>& backends();
const Backend* find_backend(BackendKind kind);

extern const Backend k_cuda_backend;  // cuda_backend.cpp
extern const Backend k_cpu_backend;   // cpu_backend.cpp

// Shared by both: the host compile of a .cpp source.
Edge cxx_edge(const BuildPlanInput& input, const BackendOp& op, const SourceSpec& source);

}  // namespace dsbuild
