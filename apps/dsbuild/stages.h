// The one way through: settings → toolkits → registry → toolkit → requirements → arch plan → build plan.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "command.h"
#include "plan/build_plan.h"
#include "sys/host.h"

namespace dsbuild {

// What every command starts with.
struct Base {
  Settings settings;
  Host host;
  std::unique_ptr<FactStore> user_facts;  // about programs of this machine, in the cache folder
  Toolkits toolkits;
};
Result<Base> load_base(const CommandContext& context);

// What the user asked for, before anything is checked.
struct Selected {
  Registry registry;
  SelectedOps ops;
  bool needs_toolkit = false;  // a selected op is a CUDA op
  ToolkitDemand demand;
  std::vector<ComputeCapability> gpus;  // asked only for --arch native
};
Result<Selected> load_selected(const CommandContext& context, const Base& base);

struct Stages {
  Base base;
  Selected selected;
  std::optional<Toolkit> toolkit;
  std::optional<HostCompiler> cxx;  // of CPU ops
  RequirementReport requirements;
  ArchPlan archs;
  BuildPlan build;
  std::unique_ptr<FactStore> build_facts;  // digests, in the build folder
  std::map<std::string, std::string> source_digests;
  std::vector<Warning> warnings;  // of all stages

  PlanView view(std::vector<std::string> removes) const;
};
Result<Stages> plan_stages(const CommandContext& context);

// 0, or under --strict exit 3 with its message when a selected op was skipped.
int strict_exit(const Stages& stages, const CommandContext& context);

// Ops of the bundle at --out that a build of this plan would take away.
std::vector<std::string> removed_ops(const Stages& stages, const FileReader& files);

}  // namespace dsbuild
