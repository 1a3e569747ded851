// SYCL by Intel's icpx (docs/guides/sycl.md), in the commands of torch's SyclExtension: each source is
// compiled for the host and to code between, and one device link of an op makes the code of all targets.
#include <algorithm>

#include "base/build_layout.h"
#include "plan/backend.h"

namespace dsbuild {
namespace {

// spir64_gen: code of the devices that -device names; spir64: SPIR-V.
std::string targets_flag(const ArchSet& archs) {
  const bool any_device =
      std::ranges::any_of(archs, [](const Target& target) { return !target.is_virtual(); });
  const bool any_spirv = std::ranges::any_of(archs, [](const Target& target) { return target.is_virtual(); });
  return std::string("-fsycl-targets=") + (any_device ? "spir64_gen" : "") +
         (any_device && any_spirv ? "," : "") + (any_spirv ? "spir64" : "");
}

// For ocloc, as one word of the command.
std::string device_option(const ArchSet& archs) {
  std::vector<std::string> devices;
  for (const Target& target : archs)
    if (!target.is_virtual()) devices.push_back(target.name());
  return devices.empty() ? "" : "-device " + join(devices, ",");
}

// The machine's compiler makes the host's code, with the flags of an ordinary C++ file, so that a library has
// one C++ library; icpx knows no other way to give it any.
Edge icpx_edge(const BuildPlanInput& input, const BackendOp& op, const PlannedSource& planned) {
  Edge edge = cxx_edge(input, op, planned.source, {}, input.cxx);
  const std::vector<std::string> host = std::move(edge.flags);
  std::vector<std::string> common = {"-fPIC"};
  if (input.settings.debug.value) common.emplace_back("-g");
  edge.kind = EdgeKind::sycl_compile;
  edge.flags = {"-fsycl", "-sycl-std=2020", targets_flag(op.planned.archs)};
  for (const auto& flags : {op.builder.sycl_args(planned.source, op.context), common,
                            include_flags(op, planned.source), fallback_include_flags(op)})
    edge.flags.insert(edge.flags.end(), flags.begin(), flags.end());
  edge.flags.insert(edge.flags.end(), {"-fsycl-host-compiler=" + input.cxx->path.string(),
                                       "-fsycl-host-compiler-options=" + shell_join(host), "-x", "c++"});
  edge.implicit_inputs = {k_icpx_id_file, k_cxx_id_file};
  return edge;
}

// What has no device code reads none of SYCL's headers.
Edge sycl_compile_edge(const BuildPlanInput& input, const BackendOp& op, const PlannedSource& source) {
  if (source.source.has_device_code(BackendKind::sycl)) return icpx_edge(input, op, source);
  Edge edge = cxx_edge(input, op, source.source, {}, input.cxx);
  edge.implicit_inputs.push_back(k_cxx_id_file);
  return edge;
}

std::optional<Edge> sycl_link_edge(const BackendOp& op, const std::vector<Edge>& compiles) {
  Edge edge;
  edge.kind = EdgeKind::sycl_link;
  edge.op = op.builder.name();
  for (const Edge& compile : compiles)
    if (compile.kind == EdgeKind::sycl_compile) edge.inputs.push_back(compile.output);
  edge.flags = {"-fsycl", "-fsycl-link", targets_flag(op.planned.archs)};
  if (const std::string devices = device_option(op.planned.archs); !devices.empty())
    edge.flags.insert(edge.flags.end(), {"-Xs", devices});
  edge.implicit_inputs = {k_icpx_id_file};
  const Path folder = Path(compiles.front().output).parent_path().parent_path();
  edge.output = (folder / k_device_images_object).string();
  return edge;
}

// The runtime is that of the process: torch and oneAPI's setvars.sh have it where the loader looks.
std::vector<std::string> sycl_link_flags(const BuildPlanInput&, const BackendOp& op) {
  return {"-L" + op.toolkit->library_dir.string(), "-lsycl"};
}

}  // namespace

const Backend k_sycl_backend = {BackendKind::sycl, false, sycl_compile_edge, sycl_link_flags, sycl_link_edge};

}  // namespace dsbuild
