// Decides the targets of each op: the shared set of all CUDA ops, and extras for ops that need more
// (docs/internals/architecture.md, "The algorithm"). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/registry.h"
#include "requirements/requirements.h"
#include "toolkit/toolkit.h"

namespace dsbuild {

enum class OpStatus { build, skip, off };
enum class DroppedBy { toolkit, op, source };
const char* word(DroppedBy by);
const char* word(OpStatus status);

struct PlanDrop {
  Target target;
  DroppedBy by = DroppedBy::op;
  std::string reason;
  bool operator==(const PlanDrop&) const = default;
};

struct PlannedSource {
  SourceSpec source;
  ArchSet archs;  // empty for host-only TUs
  bool operator==(const PlannedSource&) const = default;
};

struct PlannedOp {
  std::string name;
  OpStatus status = OpStatus::off;
  Wanted wanted = Wanted::off;
  std::string reason;  // why skipped, off, or built without a request ("needed by async_io"); else ""
  ArchSet archs;       // final set: the union of its sources'
  ArchSet extra;       // archs minus shared
  std::vector<PlanDrop> dropped;          // canonical order
  std::map<Target, Target> specialised;   // target that is built -> requested target
  bool lost_only_ptx = false;             // request had PTX, the op's set has none
  bool uses_cpu_level = false;            // a source is compiled for the level of --cpu-baseline
  std::vector<PlannedSource> sources;     // sources that are built
  std::vector<std::string> left_out;      // ids of sources without a remaining target
  std::vector<std::string> features_off;  // OpBuilder::features_off
  bool operator==(const PlannedOp&) const = default;
};

struct ArchPlan {
  ArchSet requested;
  ArchSet shared;
  std::vector<PlannedOp> ops;  // every op of the registry, sorted by name
  std::vector<Warning> warnings;
  const PlannedOp* find(const std::string& name) const;
  std::vector<std::string> skipped() const;  // names of the selected ops that cannot be built
  bool operator==(const ArchPlan&) const = default;
};

struct ArchPlanInput {
  const Settings& settings;
  const Registry& registry;
  const SelectedOps& selected;
  const RequirementReport& requirements;
  ToolkitSet toolkits;  // none: CPU ops only
  ArchSet requested;    // resolved
  std::string cpu;      // "x86_64"
};

// Plans the ops that can be built, and skips the others with their reasons. Never fails.
ArchPlan draft_archs(const ArchPlanInput& input);
// Plans one CUDA op: the requested targets that pass the filters, the toolkit and the sources. The op need
// not be selected or meet its requirements. Without a toolkit, the toolkit's limits drop no target.
PlannedOp draft_op(const ArchPlanInput& input, const OpBuilder& builder);

// Returns the draft if it satisfies the request. Errors, exit 3: `op_has_no_arch`, `op_not_compatible` and
// `faulty_source` (ops requested by name), `nothing_to_build`, `no_cuda_op` (archs were requested, and no
// CUDA op can be built), `disjoint_archs` (without --allow-disjoint-archs).
Result<ArchPlan> plan_archs(const ArchPlanInput& input);

// The requested targets that any selected op uses: the union of their filtered sets (for choose_toolkit).
ArchSet kept_targets(const Settings& settings, const Registry& registry, const SelectedOps& selected,
                     const ArchSet& requested);

// The shared set: for each vendor, the intersection of the sets that have targets of this vendor.
ArchSet shared_archs(const std::vector<ArchSet>& op_sets);

}  // namespace dsbuild
