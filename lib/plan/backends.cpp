#include <algorithm>

#include "base/build_layout.h"
#include "plan/backend.h"
#include "plan/hipify.h"

namespace dsbuild {
namespace {

void add_system_folders(std::vector<std::string>& flags, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    flags.emplace_back("-isystem");
    flags.push_back(folder);
  }
}

}  // namespace

// A new backend is one file and one line here.
const std::vector<Backend>& backends() {
  static const std::vector<Backend> table = {k_cuda_backend, k_cpu_backend, k_hip_backend, k_sycl_backend};
  return table;
}

const Backend* find_backend(BackendKind kind) {
  const auto found =
      std::find_if(backends().begin(), backends().end(), [&](const Backend& b) { return b.kind == kind; });
  return found == backends().end() ? nullptr : &*found;
}

std::string source_path(const BackendOp& op, const SourceSpec& source) {
  return (is_hipified(op, source) ? hipify_folder(op) : k_pack_folder) + ("/" + source.path);
}

std::vector<std::string> include_flags(const BackendOp& op, const SourceSpec& source) {
  const std::string root = is_hipified(op, source) ? hipify_folder(op) : k_pack_folder;
  std::vector<std::string> flags;
  const bool has_device_code = source.has_device_code(op.builder.spec().backend);
  for (const std::string& dir :
       op.builder.include_paths(op.context, has_device_code ? k_for_nvcc : k_for_cxx))
    flags.push_back("-I" + root + (dir == "." ? "" : "/" + dir));
  add_system_folders(flags, has_device_code ? op.usage.device_include_dirs : op.usage.cxx_include_dirs);
  add_system_folders(flags, op.usage.include_dirs);
  return flags;
}

std::vector<std::string> fallback_include_flags(const BackendOp& op) {
  std::vector<std::string> flags;
  add_system_folders(flags, op.usage.fallback_include_dirs);
  return flags;
}

std::string object_path(const OpBuilder& op, const SourceSpec& source) {
  const OpSpec& spec = op.spec();
  const bool is_told_apart =
      spec.backend == BackendKind::cuda || spec.backend == BackendKind::cpu || spec.name != spec.op_name();
  return object_path(is_told_apart ? spec.name : spec.name + "." + kind_row(spec.backend).key, source);
}

Edge cxx_edge(const BuildPlanInput& input, const BackendOp& op, const SourceSpec& source,
              const std::vector<std::string>& more_flags, const HostCompiler* compiler) {
  std::vector<std::string> common = {"-fPIC"};
  if (compiler && compiler->family == "gcc") common.emplace_back(k_names_as_given);
  if (input.settings.debug.value) common.emplace_back("-g");
  Edge edge;
  edge.kind = EdgeKind::cxx_compile;
  edge.op = op.builder.name();
  edge.source = source.id();
  edge.flags = op.usage.base_cxx_flags;
  for (const auto& flags : {op.builder.cxx_args(source, op.context), common, include_flags(op, source),
                            more_flags, fallback_include_flags(op), op.usage.cxx_flags})
    edge.flags.insert(edge.flags.end(), flags.begin(), flags.end());
  edge.inputs = {source_path(op, source)};
  edge.output = object_path(op.builder, source);
  return edge;
}

}  // namespace dsbuild
