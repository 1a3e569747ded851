// Plans the graph: each compile, link and verify edge of all ops, as argument vectors. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/build_layout.h"
#include "bundle/verify.h"
#include "exec/roots.h"
#include "plan/arch_plan.h"
#include "plan/edge_kind.h"
#include "plan/edge_order.h"
#include "toolkit/tool_parts.h"

namespace dsbuild {

// Paths are relative to the build folder, in which Ninja runs; `pack/` there is a link to the source root, so
// that no command holds a path of this machine (nvcc itself mishandles `$` and quotes in paths).
struct Edge {
  EdgeKind kind = EdgeKind::cxx_compile;
  std::string op;      // for an edge that several ops share: the precompiled header
  std::string source;  // SourceSpec::id(); "" for link and verify
  std::string part;    // part of the source's compile: for cuda_slice see lib/nvcc/step_file.h; for HIP
                       // "gfx90a", "host code", "images"; "nvcc" for an edge that is only compared
  std::vector<std::string> flags;            // of this op and source, in order, without gencodes
  ArchSet targets;                           // of its device code, in canonical order
  std::vector<std::string> inputs;           // source, or objects
  std::vector<std::string> implicit_inputs;  // further files that make it dirty
  std::string output;
  std::vector<std::string> more_outputs;
  std::string step_file;  // cuda_slice: the planned file with its commands
  bool by_host_compiler =
      false;               // cxx_compile, link: by the toolkit's host compiler instead of the machine's
  bool is_shared = false;  // cxx_compile: a second op compiles its source with only other macros
  std::string after;       // the output of that op's compile, if it runs first; "": none
  // Whether it starts with the preprocessor. Other parts of a source combine outputs of such edges.
  bool reads_source() const { return kind != EdgeKind::hip_bundle && part != "host" && part != "fatbin"; }
  // Whether it is a part of a whole compile (SlicedCommand).
  bool is_part() const {
    return kind == EdgeKind::cuda_slice || kind == EdgeKind::hip_slice || kind == EdgeKind::hip_bundle ||
           (kind == EdgeKind::hip_compile && !part.empty());
  }
  // Whether it is a part that goes from the preprocessor to its targets' code.
  bool is_slice() const {
    return kind == EdgeKind::hip_slice || (kind == EdgeKind::cuda_slice && reads_source() && part != "front");
  }
  bool is_dirty_after(const std::string& path) const;  // is it an implicit input
  bool is_compile() const { return form() == EdgeForm::compile || form() == EdgeForm::slice; }
  bool is_link() const { return form() == EdgeForm::link; }
  EdgeForm form() const { return kind_row(kind).form; }
  bool operator==(const Edge&) const = default;
};

// The first words of each tool's command, once per graph: {"/usr/local/cuda/bin/nvcc", "-ccbin",
// "/usr/bin/g++-12"}. hip: clang with the options by which it finds ROCm's headers and device libraries. cxx:
// the machine's C++ compiler, for CPU ops; host_cxx: the one that the toolkit accepts, for CUDA ops. An op's
// bytes thus do not depend on whether other ops need a toolkit. hipify: Python, and the folder of torch's
// package.
struct Tools {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;  // by name, as build.ninja has them

  const std::vector<std::string>& of(std::string_view name) const;  // empty: no such tool
  bool operator==(const Tools&) const = default;
};

struct PlannedFile {
  std::string path;  // relative to the build folder
  std::string content;
  bool operator==(const PlannedFile&) const = default;
};

struct BuildPlan {
  Tools tools;
  ArchSet shared;
  std::vector<Edge> edges;           // by op: compiles, link, verify; edge_order.h puts them in order
  std::vector<ExpectedOp> expected;  // of the ops to be built
  std::vector<PlannedFile> files;    // check/<op>.json, tools/*.id
  std::vector<std::pair<std::string, Path>> links;  // links in the build folder: {"pack", source root}
  std::vector<Warning> warnings;
  std::string graph_file = k_graph_file;  // in the build folder
  std::vector<std::string> goals;         // outputs to make; empty: those of verify and comparison edges
  bool operator==(const BuildPlan&) const = default;
};

struct BuildPlanInput {
  const Settings& settings;
  const Registry& registry;
  const RequirementReport& requirements;
  const ArchPlan& archs;
  ToolkitSet toolkits;                // none: CPU ops only
  const HostCompiler* cxx = nullptr;  // of CPU ops
  std::string cpu;
  ToolParts tools;  // lib/toolkit/tool_parts.h; paths by their roots
  Path program;     // dsbuild itself, for verify edges
  EdgeHistory history = {};
  int jobs = 1;  // edges at a time
  Roots roots = {};
};

// The roots: folders of toolkits, and of packages that requirements found. HIP's and SYCL's toolkits have no
// root, because their compilers print their folder's real path.
Roots find_roots(const ToolkitSet& toolkits, const RequirementReport& requirements);

// The edges stand in the order of the ops. The caller puts them in order (edge_order.h), after slicing.
BuildPlan plan_build(const BuildPlanInput& input);

// Whether the edge runs external tools, whose time and memory dsbuild stores.
bool runs_tools(const Edge& edge);

// A target's name without colons and pluses, for Ninja's variables and depfiles: "gfx90a_xnack_on".
std::string plain_word(const Target& target);

// The first words of the command that compiles or links it.
const std::vector<std::string>& compiler_of(const BuildPlan& plan, const Edge& edge);
// A compile's compiler and flags, without gencodes, inputs and outputs.
std::vector<std::string> compiler_words(const BuildPlan& plan, const Edge& edge);
// The flags for a compile's depfile. clang knows no -MF for device code alone, so the flag goes to cc1.
std::vector<std::string> depfile_flags(EdgeKind kind, const std::string& output);
// The command of a compile or link, gencodes written out. The tool writes <output>.tmp, so that a killed tool
// never leaves a half-written output. A link's objects are listed in <output>.rsp, one per line.
std::vector<std::string> plain_argv(const BuildPlan& plan, const Edge& edge);
// The words after `dsbuild action` for an edge (lib/kinds/run_action.cpp), which are in its key.
std::vector<std::string> step_words(const BuildPlan& plan, const Edge& edge);
// The whole command of an edge: what Ninja runs, before quoting.
std::vector<std::string> edge_argv(const BuildPlan& plan, const Edge& edge);
// The file that says which tools an edge runs ("tools/nvcc.id"); "-" for none.
std::string tools_file(const Edge& edge);

// Whether an edge belongs to the op, or to several ops including this one.
bool is_for_op(const BuildPlan& plan, const Edge& edge, const std::string& op);

// An edge's output -> why it would run, in words. The other edges are up to date.
using PendingEdges = std::map<std::string, std::string>;
// Adds the edges that use outputs of the pending ones.
PendingEdges with_users(const BuildPlan& plan, PendingEdges pending);

// Outputs of an op, relative to the build folder.
std::string library_path(const std::string& op);  // "lib/fused_adam.so"
std::string object_path(const std::string& op, const SourceSpec& source);

}  // namespace dsbuild
