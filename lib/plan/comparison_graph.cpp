#include "plan/comparison_graph.h"

#include "base/build_layout.h"

namespace dsbuild {
namespace {

// The whole command with an output of its own; nvcc keeps what it makes on the way.
Edge nvcc_edge(Edge edge) {
  const Path folder =
      k_comparison_folder / Path(edge.output).parent_path().lexically_relative(k_objects_folder);
  edge.part = "nvcc";
  edge.after.clear();
  edge.output = (folder / (Path(edge.output).stem().string() + ".nvcc.o")).string();
  std::erase(edge.flags, "--objdir-as-tempdir");
  edge.flags.insert(edge.flags.end(), {"--keep", "--keep-dir=" + folder.string()});
  return edge;
}

Edge comparison_edge(const SlicedCommand& command, const std::string& nvccs_object) {
  const Edge& whole = command.whole;
  Edge edge;
  edge.kind = EdgeKind::comparison;
  edge.op = whole.op;
  edge.source = whole.source;
  edge.targets = whole.targets;
  edge.output = Path(nvccs_object).replace_extension(".ok").string();
  edge.inputs = {whole.inputs.front(), nvccs_object, whole.output,
                 Path(whole.output).replace_extension(".host.o").string()};
  edge.inputs.insert(edge.inputs.end(), command.step_files.begin(), command.step_files.end());
  return edge;
}

}  // namespace

BuildPlan plan_nvcc_comparison(const BuildPlan& build, const std::vector<SlicedCommand>& commands) {
  BuildPlan plan;
  plan.tools = build.tools;
  plan.shared = build.shared;
  plan.files = build.files;
  plan.links = build.links;
  plan.graph_file = k_comparison_graph_file;
  for (const SlicedCommand& command : commands) {
    if (command.whole.kind != EdgeKind::cuda_compile) continue;
    plan.edges.push_back(nvcc_edge(command.whole));
    plan.edges.push_back(comparison_edge(command, plan.edges.back().output));
  }
  return plan;
}

}  // namespace dsbuild
