// Slices in the place of whole nvcc commands (lib/plan/slice_edges.h), where they give what nvcc gives.
#pragma once

#include "driver/plan.h"

namespace dsbuild {

inline constexpr const char* k_slices_are_the_same = "the same";  // the fact of a SliceTest that found that

// Whose steps slices are.
struct SlicedTools {
  const Toolkit& toolkit;
  Args nvcc;                // its leading words: {"/usr/local/cuda/bin/nvcc", "-ccbin", "/usr/bin/g++-12"}
  std::string text;         // all that they are made of (lib/toolkit/tool_parts.h)
  Environment environment;  // in which they run
  Roots roots = {};         // by which nvcc and text name this machine's folders
};
// `commands`: of the graph that is sliced; `parts`: of all its tools.
SlicedTools sliced_tools(const Toolkit& cuda, const Tools& commands, const ToolParts& parts,
                         const Roots& roots, const System& system);

struct SlicedGraph {
  BuildPlan graph;
  std::vector<SlicedCommand> commands{};  // those that slices of `graph` stand for
  std::vector<SliceTest> untested{};      // the slices are counted on, and to be tested
  std::vector<Warning> warnings{};        // `not_sliced`, one for each reason
};

// Slices the CUDA compile edges of a graph, and what C++ waits for besides (lib/plan/slice_edges.h). Files
// that cannot be sliced stay whole commands. Errors: exit 3 `cannot_slice`, where slices are insisted on.
Result<SlicedGraph> slice(BuildPlan graph, const SlicedTools& tools, const Setting<CudaBackend>& backend,
                          Session& session);

// nvcc's own steps, asked once for each set of flags and kept for as long as the toolkit is the same.
LearntCommands learn_commands(const Args& nvcc, const SlicedTools& tools, Session& session);

// Why slices of these tools are not to be counted on, "" where they are, or where nobody has tested it with
// what this dsbuild does: then it is added to `untested`. Line information is tested by itself, where it is
// asked for.
std::string why_not_sliced(const SlicedTools& tools, bool has_lines, std::vector<SliceTest>& untested,
                           Session& session);

}  // namespace dsbuild
