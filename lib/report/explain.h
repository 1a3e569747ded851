// Why each arch is in an op's library or not, and why each of its edges would run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/coverage.h"
#include "plan/build_plan.h"
#include "report/report.h"

namespace dsbuild {

// One station on the way from the request to the library, and the rule that decided there.
struct ExplainedStep {
  std::string stage;  // "request", "op", "toolkit", "source", "flags", "image", "gpu"
  bool passed = false;
  std::string rule;  // "by --arch", "needs >= 8.0 (op.yaml:4:8)"
  bool operator==(const ExplainedStep&) const = default;
};

struct ExplainedTarget {
  Target target;
  std::vector<ExplainedStep> steps;  // up to the one that dropped it
  bool operator==(const ExplainedTarget&) const = default;
};

struct ExplainedEdge {
  std::string title;   // "compile fused_adam: fused_adam/fused_adam.cu"
  std::string reason;  // "" for an edge that is up to date
  // Why the shared cache did not give its result to the last build that made it; "": it was not asked, or
  // did.
  std::string remote_miss = {};
  bool operator==(const ExplainedEdge&) const = default;
};

struct Explanation {
  std::string op, description;
  std::string asked_as;  // of one of several: "fused_adam" of fused_adam.hip; else `op`
  Path spec;             // its op.yaml
  bool has_device_code = true;
  PlannedOp planned;      // what becomes of it in this build
  std::string selected;   // "by --ops", "not in --ops", "DS_BUILD_FUSED_ADAM=0"
  std::string switch_on;  // how to select it, where it is off
  std::vector<Finding> findings;
  std::vector<Error> obstacles;  // what keeps the whole build from starting
  std::vector<ExplainedTarget> targets;
  std::vector<ExplainedEdge> edges;
  std::optional<Error> edges_error;  // why Ninja cannot say it
  std::vector<Warning> warnings;
};

struct ExplainInput {
  ArchPlanInput plan;
  const ArchPlan& draft;
  const OpBuilder& builder;
  const Manifest* bundle = nullptr;  // at --out, where there is one
  std::optional<ArchSet> asked;      // the archs asked about; else every requested one
};
// Pure; edges and obstacles are left to the caller.
Explanation explain_op(const ExplainInput& input);
// In the plan's order.
std::vector<ExplainedEdge> explain_edges(const BuildPlan& plan, const std::string& op,
                                         const PendingEdges& pending, const RemoteMisses& misses);

// Of one op; of several, where it is built for several vendors' GPUs, one after the other. JSON: the document
// of one; of several, {"schema","dsbuild","op","backends":[what the document of one has]}.
std::string render_explanations(const std::vector<Explanation>& explanations, const Style& style);
std::string render_explanations_json(const std::vector<Explanation>& explanations);

}  // namespace dsbuild
