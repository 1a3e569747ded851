// Replaces whole nvcc commands by slices (lib/plan/slice_edges.h) if these give the same output.
#pragma once

#include "driver/plan.h"

namespace dsbuild {

// The verdict of a SliceTest without a difference.
inline constexpr const char* k_slices_are_the_same = "the same";

// The toolkit and command whose steps become slices.
struct SlicedTools {
  const Toolkit& toolkit;
  Args nvcc;         // the command's first words: {"/usr/local/cuda/bin/nvcc", "-ccbin", "/usr/bin/g++-12"}
  std::string text;  // the digests of all their parts (lib/toolkit/tool_parts.h)
  Environment environment;  // of the tools
  Roots roots = {};         // the roots in `nvcc` and `text`
};
// `commands`: the tools of the graph that is sliced. `parts`: the parts of all its tools.
SlicedTools sliced_tools(const Toolkit& cuda, const Tools& commands, const ToolParts& parts,
                         const Roots& roots, const System& system);

struct SlicedGraph {
  BuildPlan graph;
  std::vector<SlicedCommand> commands{};  // the whole commands that slices replace
  std::vector<SliceTest> untested{};      // self-tests that the build still has to run
  std::vector<Warning> warnings{};        // `not_sliced`, one for each reason
};

// Slices the CUDA compile edges of a graph (lib/plan/slice_edges.h). Files that cannot be sliced stay whole
// commands. Error: exit 3 `cannot_slice` if the user demands slices.
Result<SlicedGraph> slice(BuildPlan graph, const SlicedTools& tools, const Setting<CudaBackend>& backend,
                          Session& session);

// nvcc's own steps for a command. Asks nvcc once for each set of flags, and stores the answer until the
// toolkit changes.
LearntCommands learn_commands(const Args& nvcc, const SlicedTools& tools, Session& session);

// Why these tools must not be used for slices; "" if they may. If no self-test of these tools with this
// version of dsbuild has passed, adds one to `untested`. `has_lines`: the flags ask for line information,
// which has a self-test of its own.
std::string why_not_sliced(const SlicedTools& tools, bool has_lines, std::vector<SliceTest>& untested,
                           Session& session);

}  // namespace dsbuild
