// What will be run, and why: which op gets which archs, and the graph that makes them.
#pragma once

#include "driver/needed_tools.h"
#include "plan/slice_edges.h"
#include "toolkit/tool_parts.h"

namespace dsbuild {

// Slices of a toolkit and its host compiler, of which no build has found yet that they are what nvcc makes.
struct SliceTest {
  Args command;                // of nvcc, without a source
  std::string fact, identity;  // what is found is kept under these (lib/sys/fact_store.h)
  bool is_of_machine = false;  // a wrapper is among them
  std::string refusal{};       // what the last build found to be different: they are not counted on then

  FactBasis basis() const { return {identity, {}, is_of_machine}; }
};

using SourceDigests = std::map<std::string, std::string>;  // SHA-256, by path below the source root

struct Plan {
  Survey survey;  // as it was given
  NeededTools needed;
  Roots roots;
  ToolParts tools;  // paths by their roots
  ArchPlan archs;
  SourceDigests source_digests;
  EdgeHistory history;  // of the graph's edges
  BuildPlan graph;
  std::vector<SlicedCommand> sliced_commands;  // of `graph`
  std::vector<SliceTest> untested;             // by those who build: lib/driver/slice_tests.h
  std::vector<Warning> warnings;               // of this and of all before it

  const Settings& settings() const { return survey.request.settings; }
  const Registry& registry() const { return survey.selected.registry; }
  ToolkitSet toolkits() const { return needed.set(); }
  const Toolkit* cuda() const { return needed.cuda(); }   // of CUDA ops; nullptr: there are none
  const HostCompiler& cxx() const { return needed.cxx; }  // of CPU ops
};

// Files that tell actions where to look: the cache's folders, the tools' own folders, and the tools whose
// assembler says what it read (base/build_layout.h).
std::vector<PlannedFile> places_of_steps(const ToolParts& tools, const Settings& settings,
                                         const FileReader& files);

// Starts no compiler: slices are counted on, where no build has found that they are not what nvcc makes.
// Errors: that a tool of the survey is missing; those of plan_archs; `cannot_slice`; `nothing_to_compare`.
Result<Plan> make_plan(Survey survey, Session& session);
Result<Plan> make_plan(Request request, Session& session);

// The sources of the planned ops as they are now. A build asks again at its end: an edit may have come
// meanwhile, and been compiled.
Result<SourceDigests> digest_sources(const ArchPlan& archs, const Path& source_root, Session& session);

// Exit 2 `nothing_to_compare`: there are no slices to compare with what nvcc makes.
Result<void> check_can_compare(const Setting<CudaBackend>& backend, const std::string& asked_by);

// The plan's compile_commands.json (lib/ninja/compile_commands.h), which each build writes.
std::string compile_commands_of(const Plan& plan);

// Ops of the bundle at --out that a build of this plan would take away.
std::vector<std::string> removed_ops(const Plan& plan, const FileReader& files);

}  // namespace dsbuild
