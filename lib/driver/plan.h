// The driver's plan: the archs of each op, and the graph of edges that will run.
#pragma once

#include "driver/needed_tools.h"
#include "plan/slice_edges.h"
#include "toolkit/tool_parts.h"

namespace dsbuild {

// A self-test that is still to run: whether slices of this toolkit and host compiler equal nvcc's output.
struct SliceTest {
  Args command;                // the nvcc command, without a source
  std::string fact, identity;  // the name and basis under which the verdict is stored (lib/sys/fact_store.h)
  bool is_of_machine = false;  // one of the compilers is a wrapper, so the verdict is valid only here
  std::string refusal{};  // the difference that the last build found, if any; then the plan does not slice

  FactBasis basis() const { return {identity, {}, is_of_machine}; }
};

using SourceDigests = std::map<std::string, std::string>;  // SHA-256, by path below the source root

struct Plan {
  Survey survey;  // unchanged
  NeededTools needed;
  Roots roots;
  ToolParts tools;  // paths by their roots
  ArchPlan archs;
  SourceDigests source_digests;
  EdgeHistory history;  // of the graph's edges
  BuildPlan graph;
  std::vector<SlicedCommand> sliced_commands;  // of `graph`
  std::vector<SliceTest> untested;             // the build runs them (lib/driver/slice_tests.h)
  std::vector<Warning> warnings;               // of the plan and all earlier stages

  const Settings& settings() const { return survey.request.settings; }
  const Registry& registry() const { return survey.selected.registry; }
  ToolkitSet toolkits() const { return needed.set(); }
  const Toolkit* cuda() const { return needed.cuda(); }   // nullptr if there is no CUDA op
  const HostCompiler& cxx() const { return needed.cxx; }  // for CPU ops
};

// Files in the build folder that tell steps where the cache and the tools' own folders lie. They also tell
// which tools have an assembler that lists the files it read (base/build_layout.h).
std::vector<PlannedFile> places_of_steps(const ToolParts& tools, const Settings& settings,
                                         const FileReader& files);

// Starts no compiler. Plans slices unless an earlier build found that they differ from nvcc's output. Errors:
// a needed tool is missing; those of plan_archs; `cannot_slice`; `nothing_to_compare`.
Result<Plan> make_plan(Survey survey, Session& session);
Result<Plan> make_plan(Request request, Session& session);

// Digests of the planned ops' sources as they are now. A build computes them again at its end, because it may
// have compiled an edit that came during the build.
Result<SourceDigests> digest_sources(const ArchPlan& archs, const Path& source_root, Session& session);

// Exit 2 `nothing_to_compare` if this backend makes no slices that could be compared with nvcc's output.
// `asked_by`: the option for the message.
Result<void> check_can_compare(const Setting<CudaBackend>& backend, const std::string& asked_by);

// The text of compile_commands.json (lib/ninja/compile_commands.h), which each build writes.
std::string compile_commands_of(const Plan& plan);

// Ops of the bundle at --out that a build of this plan would remove.
std::vector<std::string> removed_ops(const Plan& plan, const FileReader& files);

}  // namespace dsbuild
