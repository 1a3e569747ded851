#include "plan/hipify.h"

#include "base/build_layout.h"

namespace dsbuild {

bool is_hipified(const BackendOp& op, const SourceSpec& source) {
  return source.hipify && op.builder.spec().backend == BackendKind::hip;
}

// The op's plain name: which other backends it is planned for matters to no path in its objects.
std::string hipify_folder(const BackendOp& op) {
  return std::string(k_hipify_folder) + "/" + op.builder.spec().op_name();
}

std::string hipify_list(const BackendOp& op) {
  return hipify_folder(op) + k_tree_list_end;
}

std::optional<Edge> hipify_edge(const BackendOp& op) {
  Edge edge;
  edge.kind = EdgeKind::hipify;
  edge.op = op.builder.name();
  edge.output = hipify_list(op);
  edge.implicit_inputs = {k_hipify_id_file};
  for (const std::string& dir : op.builder.include_paths(op.context, k_for_nvcc))
    edge.flags.push_back("-I" + source_path(dir));
  for (const PlannedSource& planned : op.planned.sources) {
    const std::string& path = planned.source.path;
    const std::string made = source_path(op, planned.source);
    // A source with `for` is several units of one file, which stand behind one another.
    const bool is_known = !edge.more_outputs.empty() && edge.more_outputs.back() == made;
    if (!is_hipified(op, planned.source) || is_known) continue;
    edge.inputs.push_back(source_path(path));
    edge.more_outputs.push_back(made);
  }
  if (edge.inputs.empty()) return std::nullopt;
  return edge;
}

}  // namespace dsbuild
