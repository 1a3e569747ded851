#include "base/build_layout.h"
#include "base/digest.h"
#include "plan/backend.h"

namespace dsbuild {
namespace {

// What a source includes is ROCm's without a word of CUDA's.
constexpr const char* k_platform = "-D__HIP_PLATFORM_AMD__=1";

// Names of what one source shares between its host's and its device's code have this in them: of the source
// alone, so that an op's bytes depend neither on folders nor on the op's name. Without it clang makes one of
// its whole command, and an object for another output would be another one.
std::string unit_id(const SourceSpec& source) {
  return "-cuid=" + sha256(source.id()).substr(0, 16);
}

Edge clang_edge(const BuildPlanInput& input, const BackendOp& op, const PlannedSource& planned) {
  std::vector<std::string> common = {"-fPIC", k_platform, unit_id(planned.source)};
  // Line numbers for both codes; of no machine's folder.
  if (input.settings.debug.value)
    common.insert(common.end(),
                  {"-gline-tables-only", std::string("-ffile-compilation-dir=") + k_folder_in_objects});
  Edge edge;
  edge.kind = EdgeKind::hip_compile;
  edge.op = op.builder.name();
  edge.source = planned.source.id();
  for (const auto& flags : {std::vector<std::string>{"-x", "hip", "-O3"}, op.usage.base_hip_flags,
                            op.builder.hip_args(planned.source, op.context), common,
                            include_flags(op, planned.source), fallback_include_flags(op)})
    edge.flags.insert(edge.flags.end(), flags.begin(), flags.end());
  edge.targets = planned.archs;
  edge.inputs = {source_path(op, planned.source)};
  edge.output = object_path(op.builder, planned.source);
  edge.implicit_inputs = {k_hip_id_file};
  return edge;
}

// What is no device code reads no header of ROCm's: the machine's compiler makes it.
Edge hip_compile_edge(const BuildPlanInput& input, const BackendOp& op, const PlannedSource& source) {
  if (source.source.has_device_code(BackendKind::hip)) return clang_edge(input, op, source);
  Edge edge = cxx_edge(input, op, source.source, {k_platform}, input.cxx);
  edge.implicit_inputs.push_back(k_cxx_id_file);
  return edge;
}

// HIP's runtime is looked for when a kernel is first launched (kernels/hip/hip_host.cpp): its SONAME is
// another one in each version of ROCm.
std::vector<std::string> hip_link_flags(const BuildPlanInput&, const BackendOp&) {
  return {"-ldl"};
}

}  // namespace

const Backend k_hip_backend = {BackendKind::hip, false, hip_compile_edge, hip_link_flags};

}  // namespace dsbuild
