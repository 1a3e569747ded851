// Explains why each arch is in an op's library or not, and why each of its edges would run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/coverage.h"
#include "plan/build_plan.h"
#include "report/report.h"

namespace dsbuild {

// One decision between the request and the library, and the rule that made it.
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
  // Why the last build that ran this edge had no result from the shared cache; "": it had one, or did not
  // ask.
  std::string remote_miss = {};
  bool operator==(const ExplainedEdge&) const = default;
};

struct Explanation {
  std::string op, description;
  std::string asked_as;  // `op` without its backend: "fused_adam" for fused_adam.hip
  Path spec;             // its op.yaml
  bool has_device_code = true;
  PlannedOp planned;      // the op in this build's plan
  std::string selected;   // "by --ops", "not in --ops", "DS_BUILD_FUSED_ADAM=0"
  std::string switch_on;  // how to select it, if it is not selected
  std::vector<Finding> findings;
  std::vector<Error> obstacles;  // errors that stop the whole build
  std::vector<ExplainedTarget> targets;
  std::vector<ExplainedEdge> edges;
  std::optional<Error> edges_error;  // why `edges` could not be found out
  std::vector<Warning> warnings;
};

struct ExplainInput {
  ArchPlanInput plan;
  const ArchPlan& draft;
  const OpBuilder& builder;
  const Manifest* bundle = nullptr;  // the bundle at --out; nullptr: there is none
  std::optional<ArchSet> asked;      // the archs to explain; nullopt: every requested one
};
// Pure. The caller fills in `edges` and `obstacles`.
Explanation explain_op(const ExplainInput& input);
// The op's edges in the plan's order.
std::vector<ExplainedEdge> explain_edges(const BuildPlan& plan, const std::string& op,
                                         const PendingEdges& pending, const RemoteMisses& misses);

// One explanation, or several, if the op is built for several vendors' GPUs. JSON: one document for one; for
// several, {"schema","dsbuild","op","backends":[…]} with the contents of each document.
std::string render_explanations(const std::vector<Explanation>& explanations, const Style& style);
std::string render_explanations_json(const std::vector<Explanation>& explanations);

}  // namespace dsbuild
