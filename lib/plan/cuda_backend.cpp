#include <algorithm>
#include <array>

#include "base/build_layout.h"
#include "plan/backend.h"

namespace dsbuild {
namespace {

// What every .cu gets besides the op's own flags. -objtemp and a fixed seed make the object's bytes
// independent of process ids and of the moment (nvcc names its temporaries after the object instead of the
// process). The seed is not the op's, so that ops with the same source can have the same object.
std::vector<std::string> common_flags(const BuildPlanInput& input, const Toolkit& toolkit,
                                      const SourceSpec& source) {
  std::vector<std::string> flags = {"-Xcompiler=-fPIC"};
  if (toolkit.host && toolkit.host->family == "gcc")
    flags.push_back("-Xcompiler=" + std::string(k_names_as_given));
  if (toolkit.has_option("--objdir-as-tempdir")) flags.push_back("--objdir-as-tempdir");
  if (toolkit.has_option("--frandom-seed")) flags.push_back("-frandom-seed=" + source.id());
  if (const std::string& mode = input.settings.compress_mode.value;
      !mode.empty() && toolkit.has_option("--compress-mode"))
    flags.push_back("--compress-mode=" + mode);
  if (source.split_compile > 1 && toolkit.has_option("--split-compile"))
    flags.push_back("--split-compile=" + std::to_string(source.split_compile));
  if (input.settings.nvcc_threads.value > 1)
    flags.push_back("--threads=" + std::to_string(input.settings.nvcc_threads.value));
  if (input.settings.debug.value) flags.insert(flags.end(), {"-lineinfo", "-Xcompiler=-g"});
  return flags;
}

Edge nvcc_edge(const BuildPlanInput& input, const BackendOp& op, const PlannedSource& planned) {
  Edge edge;
  edge.kind = EdgeKind::cuda_compile;
  edge.op = op.builder.name();
  edge.source = planned.source.id();
  edge.flags = op.usage.base_nvcc_flags;
  for (const auto& flags :
       {op.builder.nvcc_args(planned.source, op.context), common_flags(input, *op.toolkit, planned.source),
        include_flags(op, planned.source), fallback_include_flags(op),
        input.settings.nvcc_append_flags.value})
    edge.flags.insert(edge.flags.end(), flags.begin(), flags.end());
  edge.targets = planned.archs;
  edge.inputs = {source_path(planned.source.path)};
  edge.output = object_path(op.builder, planned.source);
  edge.implicit_inputs = {k_nvcc_id_file};
  return edge;
}

// What nvcc finds unasked, for a C++ source. Torch's own build gives its extensions the first alone.
std::vector<std::string> toolkit_include_flags(const BuildPlanInput& input, const BackendOp& op) {
  std::vector<std::string> flags = {"-isystem", input.roots.named(op.toolkit->include_dir().string())};
  if (!op.toolkit->cccl_folder.empty() && !op.usage.python_module)
    flags.insert(flags.end(), {"-isystem", input.roots.named(op.toolkit->cccl_folder.string())});
  return flags;
}

Edge cuda_compile_edge(const BuildPlanInput& input, const BackendOp& op, const PlannedSource& source) {
  if (source.source.is_cuda()) return nvcc_edge(input, op, source);
  Edge edge = cxx_edge(input, op, source.source, toolkit_include_flags(input, op),
                       op.toolkit->host ? &*op.toolkit->host : nullptr);
  edge.implicit_inputs.push_back(k_nvcc_id_file);
  edge.by_host_compiler = true;
  return edge;
}

std::optional<Edge> device_link_edge(const BackendOp& op, const std::vector<Edge>& compiles) {
  if (!makes_device_link(op.builder.spec())) return std::nullopt;
  Edge edge;
  edge.kind = EdgeKind::cuda_link;
  edge.op = op.builder.name();
  for (const Edge& compile : compiles)
    if (compile.kind == EdgeKind::cuda_compile) edge.inputs.push_back(compile.output);
  edge.flags = {"-dlink", "-Xcompiler=-fPIC"};
  if (op.toolkit->has_option("--objdir-as-tempdir")) edge.flags.emplace_back("--objdir-as-tempdir");
  for (const Target& target : op.planned.archs)
    edge.flags.push_back(target.flag());
  edge.implicit_inputs = {k_nvcc_id_file};
  edge.output = std::string(k_objects_folder) + "/" + edge.op + "/" + k_device_images_object;
  return edge;
}

// The driver's own libraries, which a machine that builds need not have: the toolkit has stubs of them.
bool links_the_driver(const OpSpec& op) {
  static constexpr std::array k_driver = {"cuda", "nvidia-ml"};
  return std::ranges::any_of(op.libraries, [](const auto& library) {
    return std::ranges::find(k_driver, std::string_view(library.value)) != k_driver.end();
  });
}

// By the host compiler, never by `nvcc -shared`, which adds an image of its default arch. cudart's own
// symbols stay inside, so that two libraries with two toolkits do not meet in one process. A Python module
// lives in a process that has a CUDA runtime already, and must use that one.
std::vector<std::string> cuda_link_flags(const BuildPlanInput& input, const BackendOp& op) {
  std::vector<std::string> flags = {"-L" + input.roots.named(op.toolkit->library_dir.string())};
  if (links_the_driver(op.builder.spec()) && !op.toolkit->stubs_dir.empty())
    flags.push_back("-L" + input.roots.named(op.toolkit->stubs_dir.string()));
  const std::vector<std::string> runtime =
      op.usage.python_module
          ? std::vector<std::string>{"-lcudart"}
          : std::vector<std::string>{"-lcudart_static", "-Wl,--exclude-libs,libcudart_static.a", "-ldl",
                                     "-lrt", "-lpthread"};
  flags.insert(flags.end(), runtime.begin(), runtime.end());
  return flags;
}

}  // namespace

const Backend k_cuda_backend = {BackendKind::cuda, true, cuda_compile_edge, cuda_link_flags,
                                device_link_edge};

}  // namespace dsbuild
