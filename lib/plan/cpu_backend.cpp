#include "base/build_layout.h"
#include "plan/backend.h"

namespace dsbuild {
namespace {

Edge cpu_compile_edge(const BuildPlanInput& input, const BackendOp& op, const PlannedSource& source) {
  Edge edge = cxx_edge(input, op, source.source, {}, input.cxx);
  edge.implicit_inputs.push_back(k_cxx_id_file);
  return edge;
}

std::vector<std::string> cpu_link_flags(const BuildPlanInput&, const BackendOp&) {
  return {};
}

}  // namespace

const Backend k_cpu_backend = {BackendKind::cpu, false, cpu_compile_edge, cpu_link_flags};

}  // namespace dsbuild
