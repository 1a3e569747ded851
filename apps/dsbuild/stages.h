// The one way through: settings → toolkits → registry → toolkit → requirements → arch plan → build plan.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "command.h"
#include "plan/slice_edges.h"
#include "sys/host.h"

namespace dsbuild {

// What every command starts with.
struct Base {
  Settings settings;
  Host host;
  std::unique_ptr<FactStore> user_facts;  // about programs of this machine, in the cache folder
  std::unique_ptr<DigestMemo> digests;    // of files of this machine, in the cache folder
  Toolkits toolkits;
};
Result<Base> load_base(const CommandContext& context);

// What all edges together may take: --memory, else 85 % of what is available.
ByteCount memory_for(const Settings& settings, const Host& host);
// Edges at a time: --jobs, else cores over nvcc's own threads.
int jobs_for(const Settings& settings, const Host& host);

// What the user asked for, before anything is checked.
struct Selected {
  Registry registry;
  SelectedOps ops;
  bool needs_toolkit = false;  // a selected op is a CUDA op
  Result<Torch> torch;         // looked for only where an op of the pack asks for it
  CpuLevel cpu_level;          // of --cpu-baseline
  ToolkitDemand demand;
  std::vector<ComputeCapability> gpus;  // asked only for --arch native
};
// Errors: those of load_registry, select_ops and check_any_selected.
Result<Selected> load_selected(const CommandContext& context, const Base& base);

struct Stages {
  Base base;
  Selected selected;
  std::optional<Toolkit> toolkit;
  std::optional<Error> toolkit_error;  // why no toolkit will do
  std::optional<HostCompiler> cxx;     // of CPU ops
  std::optional<Error> cxx_error;
  ToolParts tools;
  RequirementReport requirements;
  ArchPlan archs;
  EdgeHistory history;  // of the planned edges
  BuildPlan build;
  std::vector<SlicedCommand> sliced_commands;  // of `build`
  std::unique_ptr<FactStore> build_facts;      // about libraries and sources, in the build folder
  std::map<std::string, std::string> source_digests;
  std::vector<Warning> warnings;  // of all stages

  PlanView view(std::vector<std::string> removes) const;
};

// Whether slices make what a toolkit makes (lib/nvcc/self_test.h) is tested by compiling. Commands that
// only look start no compiler: they recall what the last build found, and without one count on slices.
enum class SelfTest { run, recall };
Result<Stages> plan_stages(SelfTest self_test, const CommandContext& context);

// For commands that only look: as far as the requirements of every op, and what keeps a build from its tools
// is no error. Without a selection, every op is looked at. Where no toolkit will do, `toolkit` is the one
// that comes nearest, or none.
Result<Stages> survey_stages(const CommandContext& context);
// From a survey to what plan_stages gives.
Result<void> complete_plan(Stages& stages, SelfTest self_test, const CommandContext& context);
// What the sources of the planned ops are now. To be asked again behind a build: an edit may have come
// meanwhile, and been compiled.
Result<void> digest_sources(Stages& stages);
// Exit 2 `nothing_to_compare`: there are no slices to compare with what nvcc makes.
Result<void> check_can_compare(const Setting<CudaBackend>& backend, const std::string& asked_by);
ArchPlanInput arch_plan_input(const Stages& stages);

// The GPUs that --gpu names, else the visible ones. Errors: those of parse_gpus.
Result<std::vector<ComputeCapability>> asked_gpus(const CommandContext& context,
                                                  const std::vector<Gpu>& visible);

// 0, or under --strict exit 3 with its message when a selected op was skipped.
int strict_exit(const Stages& stages, const CommandContext& context);

// Ops of the bundle at --out that a build of this plan would take away.
std::vector<std::string> removed_ops(const Stages& stages, const FileReader& files);

}  // namespace dsbuild
