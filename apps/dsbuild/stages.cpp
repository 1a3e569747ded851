#include "stages.h"

#include <algorithm>
#include <chrono>

namespace dsbuild {
namespace {

// File systems keep times more coarsely than the clock does.
constexpr std::chrono::seconds k_clock_tolerance{2};

Result<void> check_host(const Host& host) {
  if (host.os == "linux" && (host.machine == "x86_64" || host.machine == "aarch64")) return {};
  return fail(Exit::unmet, "unsupported_host", host.os + " " + host.machine,
              "dsbuild runs on Linux, x86-64 and aarch64; this is " + host.os + " on " + host.machine,
              "Build in a Linux container or virtual machine.");
}

// Without any toolkit, `all` means the CPU ops, unless archs or the accelerator were asked for.
bool only_cpu_ops(const Base& base) {
  const Settings& settings = base.settings;
  if (settings.accelerator.value == AcceleratorKind::cpu) return true;
  return settings.accelerator.value == AcceleratorKind::automatic && base.toolkits.found.empty() &&
         settings.arch.value.is_default && settings.cuda_home.value.empty();
}

bool any_cuda_op(const Registry& registry, const SelectedOps& selected) {
  return std::any_of(selected.ops.begin(), selected.ops.end(), [&](const SelectedOp& op) {
    return op.wanted != Wanted::off && registry.find(op.name)->spec().backend == BackendKind::cuda;
  });
}

Result<void> choose(Stages& stages) {
  if (!stages.selected.needs_toolkit) return {};
  DSBUILD_TRY(chosen, choose_toolkit(stages.base.settings, stages.base.toolkits, stages.selected.demand,
                                     stages.selected.gpus));
  stages.toolkit = std::move(chosen.toolkit);
  stages.archs.requested = std::move(chosen.requested);
  append(stages.warnings, chosen.warnings);
  return {};
}

// The compiler that CXX names; it may be known by another variable or by PATH.
const HostCompiler* named_by(const std::string& cxx, const std::vector<HostCompiler>& found,
                             const System& system) {
  const auto path = system.environment.find("PATH");
  for (const std::string& word : shell_split(cxx)) {
    const auto program =
        find_program(system.files, word, path == system.environment.end() ? "" : path->second);
    if (!program) continue;
    for (const HostCompiler& compiler : found)
      if (system.files.real_path(compiler.path) == system.files.real_path(*program)) return &compiler;
  }
  return nullptr;
}

Result<void> choose_cxx(Stages& stages, const System& system) {
  const std::vector<HostCompiler>& found = stages.base.toolkits.host_compilers;
  if (const auto cxx = system.environment.find("CXX");
      cxx != system.environment.end() && !trim(cxx->second).empty()) {
    const HostCompiler* named = named_by(cxx->second, found, system);
    if (!named)
      return fail(Exit::unmet, "no_compiler", "CXX",
                  "'" + printable(cxx->second) + "' is no C++ compiler that works here",
                  "Set CXX to g++ or clang++, or unset it.");
    stages.cxx = *named;
    return {};
  }
  // CUDAHOSTCXX and NVCC_CCBIN are for nvcc; they count here only where there is nothing else.
  for (const char* name : {"g++", "clang++"})
    if (const HostCompiler* usual = named_by(name, found, system)) {
      stages.cxx = *usual;
      return {};
    }
  if (!found.empty()) {
    stages.cxx = found.front();
    return {};
  }
  return fail(Exit::unmet, "no_compiler", "CXX", "no C++ compiler was found (CXX, g++, clang++)",
              "apt-get install g++, or set CXX to a compiler.");
}

Result<void> digest_sources(Stages& stages) {
  for (const PlannedOp& op : stages.archs.ops) {
    if (op.status != OpStatus::build) continue;
    for (const PlannedSource& source : op.sources) {
      const std::string& path = source.source.path;
      if (stages.source_digests.count(path) > 0) continue;
      DSBUILD_TRY(digest, stages.build_facts->digest(stages.selected.registry.source_root / path));
      stages.source_digests.emplace(path, digest);
    }
  }
  return {};
}

// Ninja goes by times: what is newer than now is newer than any output that it makes.
void warn_of_future_times(Stages& stages, const FileReader& files) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now + k_clock_tolerance).count();
  for (const auto& [path, digest] : stages.source_digests) {
    const auto identity = files.identity(stages.selected.registry.source_root / path);
    if (!identity || identity->mtime_ns <= now_ns) continue;
    stages.warnings.push_back(warning("future_time", path,
                                      "its modification time is in the future, so every build compiles it",
                                      "`touch` it, and check the clock of the machine that wrote it."));
  }
}

const Toolkit* pointer(const std::optional<Toolkit>& toolkit) {
  return toolkit ? &*toolkit : nullptr;
}

}  // namespace

Result<Base> load_base(const CommandContext& context) {
  System& system = context.system;
  Base base;
  base.host = read_host(system.files);
  DSBUILD_CHECK(check_host(base.host));
  DSBUILD_TRY(settings,
              load_settings(context.line.arguments, system.environment, system.files, context.data_dir));
  base.settings = std::move(settings);
  base.user_facts = std::make_unique<FactStore>(system.files, base.settings.cache_dir / "facts.json");
  base.toolkits = find_toolkits(base.settings, system, *base.user_facts);
  base.user_facts->save();
  return base;
}

Result<Selected> load_selected(const CommandContext& context, const Base& base) {
  Selected selected;
  DSBUILD_TRY(registry, load_registry(base.settings, context.system.files));
  selected.registry = std::move(registry);
  DSBUILD_TRY(ops, select_ops(base.settings, selected.registry, only_cpu_ops(base)));
  selected.ops = std::move(ops);
  selected.needs_toolkit = any_cuda_op(selected.registry, selected.ops);
  selected.demand.request = base.settings.arch.value;
  if (base.settings.arch.value.native) selected.gpus = find_gpus(context.system);
  ArchSet asked = base.settings.arch.value.targets;
  for (const ComputeCapability& gpu : selected.gpus)
    for (const CodeKind kind : {CodeKind::real, CodeKind::ptx})
      asked.insert({gpu, Suffix::none, kind});
  selected.demand.kept = kept_targets(selected.registry, selected.ops, asked);
  return selected;
}

Result<Stages> plan_stages(const CommandContext& context) {
  Stages stages;
  DSBUILD_TRY(base, load_base(context));
  stages.base = std::move(base);
  const Settings& settings = stages.base.settings;
  append(stages.warnings, settings.warnings);
  DSBUILD_TRY(selected, load_selected(context, stages.base));
  stages.selected = std::move(selected);
  append(stages.warnings, stages.selected.registry.warnings);
  append(stages.warnings, stages.selected.ops.warnings);
  DSBUILD_CHECK(choose(stages));
  DSBUILD_CHECK(choose_cxx(stages, context.system));
  const Toolkit* toolkit = pointer(stages.toolkit);
  stages.requirements =
      check_requirements(settings, stages.selected.registry, toolkit, stages.archs.requested, &*stages.cxx,
                         stages.base.host, context.system, *stages.base.user_facts);
  stages.base.user_facts->save();
  DSBUILD_TRY(archs, plan_archs({settings, stages.selected.registry, stages.selected.ops, stages.requirements,
                                 toolkit, stages.archs.requested, stages.base.host.machine}));
  stages.archs = std::move(archs);
  append(stages.warnings, stages.archs.warnings);
  stages.build_facts =
      std::make_unique<FactStore>(context.system.files, settings.build_dir.value / "facts.json");
  DSBUILD_CHECK(digest_sources(stages));
  warn_of_future_times(stages, context.system.files);
  stages.build =
      plan_build({settings, stages.selected.registry, stages.requirements, stages.archs, toolkit,
                  &*stages.cxx, stages.source_digests, stages.base.host.machine, context.system.program});
  append(stages.warnings, stages.build.warnings);
  return stages;
}

PlanView Stages::view(std::vector<std::string> removes) const {
  return {base.settings,
          archs,
          build,
          selected.registry,
          requirements,
          pointer(toolkit),
          cxx ? &*cxx : nullptr,
          std::move(removes),
          warnings};
}

int strict_exit(const Stages& stages, const CommandContext& context) {
  const Settings& settings = stages.base.settings;
  const std::vector<std::string> skipped = stages.archs.skipped();
  if (!settings.strict.value || skipped.empty()) return 0;
  const Error error{{"skipped_ops", settings.strict.origin,
                     plural(skipped.size(), "op") + " skipped: " + join(skipped, ", "),
                     "Leave out what cannot be built: --ops all,-" + join(skipped, ",-") + "."},
                    Exit::unmet};
  if (!settings.json.value) print_message(render_error(error, style_for(settings, context, true)));
  return static_cast<int>(error.exit);
}

std::vector<std::string> removed_ops(const Stages& stages, const FileReader& files) {
  std::vector<std::string> removed;
  const Result<Manifest> old = load_manifest(stages.base.settings.out.value, files);
  if (!old) return removed;
  for (const ManifestOp& op : old->ops) {
    const PlannedOp* planned = stages.archs.find(op.name);
    if (!planned || planned->status != OpStatus::build) removed.push_back(op.name);
  }
  return removed;
}

}  // namespace dsbuild
