#include "load/load_op.h"

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "build/build_bundle.h"
#include "load/prebuilt.h"
#include "settings/options.h"
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

// The archs of a build for this machine.
Result<Setting<ArchRequest>> archs_of(const LoadRequest& request) {
  Setting<ArchRequest> arch = request.request.settings.arch;
  if (!arch.value.is_default) {
    arch.value.targets = with_ptx(arch.value.targets);
    return arch;
  }
  const std::vector<Target>& gpus = request.machine.gpus.archs;
  if (gpus.empty())
    return fail(Exit::unmet, "no_gpu", k_arch_variable,
                request.op + " is to be built for the GPUs of this machine, and none is visible",
                std::string("Name archs instead: ") + k_arch_variable + "=\"9.0\".");
  arch.value = {};
  arch.origin = "the visible GPUs";
  arch.value.targets = native_archs(gpus);
  return arch;
}

// Of one node: where folders are shared, locks may not be.
std::string node_of(const FileReader& files) {
  const auto read = [&](const char* file) { return trim(files.read_file(file).value_or("")); };
  return read("/proc/sys/kernel/hostname") + read("/etc/machine-id");
}

// By what two builds of one op differ, so that programs that ask for other things do not undo each other's
// work. What is missing here shares a folder, and is made anew there.
bool counts(const std::string& setting) {
  static const std::set<std::string> k_names = {
      "source", "cuda_home",   "compress_mode",      "backend",           "python", "cpu_baseline",
      "debug",  "accelerator", "nvcc_prepend_flags", "nvcc_append_flags", "cflags", "ldflags"};
  return k_names.count(setting) > 0;
}

std::string digest_of(const Settings& settings, const LoadRequest& request, const FileReader& files) {
  std::string text = node_of(files) + "\n" + request.op;
  for (const SettingRow& row : setting_rows(settings))
    if (counts(row.name)) text += "\n" + row.name + "=" + row.value;
  text += "\n" + arch_list(settings.arch.value.targets) + "\n" + files.absolute(settings.pack.value).string();
  return sha256(text).substr(0, 16);
}

Path jit_root(const Settings& settings) {
  const std::string extensions = settings.variable("TORCH_EXTENSIONS_DIR");
  return extensions.empty() ? settings.cache_dir / "jit" : Path(extensions) / "dsbuild";
}

// The build of the op alone, for this machine, in a folder of its own.
Result<Request> jit_request(const LoadRequest& request, bool needs_archs, const FileReader& files) {
  Request jit = request.request;
  Settings& settings = jit.settings;
  settings.selection = {};
  settings.selection.ops_given = true;
  settings.selection.names = {request.op};
  settings.selection.origin = "load";
  settings.keep_going = {};
  if (needs_archs) {
    DSBUILD_TRY(arch, archs_of(request));
    settings.arch = std::move(arch);
  }
  settings.build_dir = {};
  settings.out = {};
  const Path folder = jit_root(settings) / (request.op + "-" + digest_of(settings, request, files));
  settings.build_dir = {folder / "build", "load"};
  settings.out = {folder / "bundle", "load"};
  return jit;
}

Error jit_off(const LoadRequest& request, const Settings& settings,
              const std::vector<std::string>& passed_over) {
  std::string what =
      request.op + " of the pack " + settings.pack.value + " is not built, and building it here is off";
  for (const std::string& reason : passed_over)
    what += "\n  " + reason;
  const std::string archs = arch_list(settings.arch.value.targets);
  return make_error(Exit::unmet, "jit_off", settings.jit.origin, what,
                    "dsbuild --pack " + shell_quote(settings.pack.value) + " --ops " + request.op +
                        (archs.empty() ? "" : " --arch \"" + archs + "\"") + " --out DIR, then " +
                        "DSBUILD_BUNDLE=DIR; or DSBUILD_JIT=1.");
}

Result<LoadedOp> build_for_this_machine(const LoadRequest& request, Session& session,
                                        const std::vector<std::string>& passed_over) {
  FileSystem& files = session.system.files;
  DSBUILD_TRY(registry, load_registry(request.request.settings, session.system));
  if (!registry.find(request.op)) return tl::unexpected<Error>(unknown_op(request.op, "load", registry));
  DSBUILD_TRY(jit, jit_request(request, has_device_code(request, registry), files));
  const Settings settings = jit.settings;
  if (!settings.jit.value) return tl::unexpected<Error>(jit_off(request, settings, passed_over));
  DSBUILD_CHECK(files.make_directories(settings.build_dir.value.parent_path()));
  Session own(settings, session.system, session.events, session.limits);
  DSBUILD_TRY(built, build_bundle(std::move(jit), own));
  LoadedOp loaded;
  loaded.manifest = built.outcome.manifest;
  loaded.op = *loaded.manifest.find(request.op);  // a build publishes what it was asked for by name
  loaded.library = files.absolute(settings.out.value / loaded.op.file);
  loaded.from = "built";
  loaded.edges_run = built.outcome.edges_run;
  loaded.compiles = built.outcome.compiles;
  DSBUILD_CHECK(check_is_safe(loaded.library, files));
  const Interpreter python{settings.python.value, session.system, session.facts};
  const Fit fit = fit_of(loaded.op, loaded.manifest, request.machine,
                         find_load_packages(loaded.op, loaded.manifest, python));
  loaded.coverage = fit.coverage;
  if (!fit.misfit.empty())
    return fail(Exit::unmet, "no_fit", settings.arch.origin,
                "built for " + arch_text(settings.arch.value.targets) + ": " + fit.misfit,
                "Name an arch of this machine's GPUs, or none: then it is built for them.");
  return loaded;
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
  DSBUILD_TRY(built, build_for_this_machine(request, session, passed_over));
  built.passed_over = passed_over;
  return built;
}

}  // namespace dsbuild
