#include "load/load_op.h"

#include <algorithm>
#include <memory>

#include "load/jit_build.h"
#include "load/prebuilt.h"
#include "toolkit/toolkit.h"

namespace dsbuild {
namespace {

bool has_device_code(const LoadRequest& request, const Registry& registry) {
  const OpBuilder* op = registry.find(request.op);
  return op && vendor_of(op->spec()) != nullptr;
}

// PTX of the highest, so that a list without any still serves the GPUs that come.
ArchSet with_ptx(ArchSet targets) {
  const bool has_any =
      std::any_of(targets.begin(), targets.end(), [](const Target& target) { return target.is_virtual(); });
  if (has_any || targets.empty()) return targets;
  return union_of(targets, native_archs({*targets.rbegin()}));
}

}  // namespace

Result<Setting<ArchRequest>> archs_of(const LoadRequest& request) {
  Setting<ArchRequest> arch = request.request.settings.arch;
  if (!arch.value.is_default) {
    arch.value.targets = with_ptx(arch.value.targets);
    return arch;
  }
  const std::vector<Target>& gpus = request.machine.gpus.archs;
  if (gpus.empty())
    return fail(Exit::unmet, "no_gpu", request.op,
                "no GPU is visible, and it is to be built for those of this machine",
                std::string("Name archs instead: ") + k_arch_variable + "=\"9.0\".");
  arch.value = {};
  arch.origin = "the visible GPUs";
  arch.value.targets = native_archs(gpus);
  return arch;
}

namespace {

// The build of the op alone, for this machine.
Result<Request> jit_request(const LoadRequest& request, std::shared_ptr<const Registry> registry) {
  Request jit = request.request;
  Settings& settings = jit.settings;
  settings.selection = {};
  settings.selection.ops_given = true;
  settings.selection.names = {request.op};
  settings.selection.origin = "load";
  settings.keep_going = {};
  settings.shard = {};
  settings.variables = without_launchers(settings.variables);
  if (has_device_code(request, *registry)) {
    DSBUILD_TRY(arch, archs_of(request));
    settings.arch = std::move(arch);
  }
  jit.registry = std::move(registry);
  return jit;
}

Error jit_off(const LoadRequest& request, const Settings& settings, const JitFolder& folder) {
  const std::string what = request.op + " of the pack " + settings.pack.value + " is not built (" +
                           folder.folder.filename().string() + "), and building it here is off";
  const std::string archs = arch_list(settings.arch.value.targets), out = "dsbuild-out-" + request.op;
  std::vector<std::string> words = {"--pack", settings.pack.value, "--ops", request.op, "--out", out};
  if (!archs.empty()) words.insert(words.end(), {"--arch", archs});
  return make_error(
      Exit::unmet, "jit_off", settings.jit.origin, what,
      "Build it: " + own_command(words) + "\nand set DSBUILD_BUNDLE=" + out + "; or set DSBUILD_JIT=1.");
}

// What was built here before, else a build.
Result<LoadedOp> load_jit(const LoadRequest& request, Session& session) {
  DSBUILD_TRY(folder, jit_folder(request, session.system));
  if (auto built = find_built(request, folder, session.system)) return std::move(*built);
  DSBUILD_TRY(registry, load_registry(request.request.settings, session.system));
  if (!registry.find(request.op)) return tl::unexpected<Error>(unknown_op(request.op, "load", registry));
  DSBUILD_TRY(jit, jit_request(request, std::make_shared<const Registry>(std::move(registry))));
  if (!jit.settings.jit.value) return tl::unexpected<Error>(jit_off(request, jit.settings, folder));
  return build_in_turn(request, std::move(jit), folder, session);
}

}  // namespace

std::string take_pack(const std::string& name, Settings& settings) {
  const size_t slash = name.rfind('/');
  if (slash == std::string::npos) return name;
  settings.pack = {name.substr(0, slash), "load"};
  return name.substr(slash + 1);
}

Result<LoadedOp> load_op(const LoadRequest& request, Session& session) {
  std::vector<std::string> passed_over;
  if (!request.only_build) {
    DSBUILD_TRY(prebuilt, find_prebuilt(request, session, passed_over));
    if (prebuilt) {
      prebuilt->passed_over = passed_over;
      return *prebuilt;
    }
  }
  auto built = load_jit(request, session);
  if (built)
    built->passed_over = passed_over;
  else  // what there was would have been enough
    for (const std::string& reason : passed_over)
      built.error().what += "\n  " + reason;
  return built;
}

}  // namespace dsbuild
