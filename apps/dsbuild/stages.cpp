#include "stages.h"

#include <algorithm>
#include <chrono>

#include "action/action_run.h"
#include "base/build_layout.h"
#include "edge_costs.h"
#include "plan/backend.h"
#include "plan/precompiled_header.h"
#include "slicing.h"
#include "sys/clock.h"
#include "toolkit/tool_parts.h"

namespace dsbuild {
namespace {

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

Result<Torch> look_for_torch(const CommandContext& context, const Base& base, const Registry& registry) {
  if (!asks_for_torch(registry))
    return fail(Exit::unmet, "python", base.settings.python.value, "no op asks for torch");
  return find_torch({base.settings.python.value, context.system, *base.user_facts});
}

// What DeepSpeed runs on where it loads the ops: the CPU if its torch knows no GPU.
std::string accelerator_of(const Settings& settings, const Result<Torch>& torch) {
  const AcceleratorKind asked = settings.accelerator.value;
  const bool no_gpu = torch && torch->cuda.empty() && torch->hip.empty();
  return asked == AcceleratorKind::cpu || (asked == AcceleratorKind::automatic && no_gpu) ? "cpu" : "cuda";
}

// The CUDA version that a toolkit has to go with: torch's, where a selected CUDA op is an extension of torch.
Version torch_cuda(const Selected& selected) {
  const bool any = std::any_of(selected.ops.ops.begin(), selected.ops.ops.end(), [&](const SelectedOp& op) {
    const OpSpec& spec = selected.registry.find(op.name)->spec();
    return op.wanted != Wanted::off && spec.backend == BackendKind::cuda && requires_torch(spec);
  });
  return any && selected.torch ? parse_version(selected.torch->cuda).value_or(Version{}) : Version{};
}

const Toolkit* pointer(const std::optional<Toolkit>& toolkit) {
  return toolkit ? &*toolkit : nullptr;
}

void choose(Stages& stages) {
  const Result<ChosenToolkit> chosen = choose_toolkit(stages.base.settings, stages.base.toolkits,
                                                      stages.selected.demand, stages.selected.gpus);
  if (!chosen) {
    stages.toolkit_error = chosen.error();
    return;
  }
  stages.toolkit = chosen->toolkit;
  stages.archs.requested = chosen->requested;
  append(stages.warnings, chosen->warnings);
}

// Where no toolkit will do: the first that may be used at all, to say how far it goes.
void fall_back(Stages& stages) {
  const std::string& demanded = stages.base.settings.cuda_home.value.string();
  for (const Toolkit& toolkit : stages.base.toolkits.found)
    if (!stages.toolkit && (demanded.empty() || toolkit.origin == "--cuda-home")) stages.toolkit = toolkit;
  const ArchRequest& request = stages.selected.demand.request;
  stages.archs.requested = request.targets;
  if (!stages.toolkit) return;
  const auto resolved = resolve_arch_request(request, stages.toolkit->targets, stages.toolkit->version_code(),
                                             stages.selected.gpus);
  if (resolved) stages.archs.requested = *resolved;
}

// The compiler that CXX names; it may be known by another variable or by PATH.
const HostCompiler* named_by(const std::string& cxx, const std::vector<HostCompiler>& found,
                             const System& system) {
  const std::string path = variable(system.environment, "PATH");
  for (const std::string& word : shell_split(cxx)) {
    const auto program = find_program(system.files, word, path);
    if (!program) continue;
    for (const HostCompiler& compiler : found)
      if (system.files.real_path(compiler.path) == system.files.real_path(*program)) return &compiler;
  }
  return nullptr;
}

Error no_compiler(const std::string& what, const std::string& fix) {
  return make_error(Exit::unmet, "no_compiler", "CXX", what, fix);
}

Result<HostCompiler> choose_cxx(const std::vector<HostCompiler>& found, const System& system) {
  if (const auto cxx = system.environment.find("CXX");
      cxx != system.environment.end() && !trim(cxx->second).empty()) {
    if (const HostCompiler* named = named_by(cxx->second, found, system)) return *named;
    return tl::unexpected<Error>(
        no_compiler("'" + printable(cxx->second) + "' is no C++ compiler that works here",
                    "Set CXX to g++ or clang++, or unset it."));
  }
  // CUDAHOSTCXX and NVCC_CCBIN are for nvcc; they count here only where there is nothing else.
  for (const char* name : {"g++", "clang++"})
    if (const HostCompiler* usual = named_by(name, found, system)) return *usual;
  if (!found.empty()) return found.front();
  return tl::unexpected<Error>(no_compiler("no C++ compiler was found (CXX, g++, clang++)",
                                           "apt-get install g++, or set CXX to a compiler."));
}

void choose_cxx(Stages& stages, const System& system);

// The tools of a build. A script among them may stand for others by now: then all is found and chosen anew.
void choose_tools(Stages& stages, bool needs_toolkit, System& system) {
  Base& base = stages.base;
  const auto choose_all = [&] {
    if (needs_toolkit) choose(stages);
    choose_cxx(stages, system);
  };
  const std::vector<Warning> warnings = stages.warnings;
  choose_all();
  if (scripts_answer_as_known(stages.toolkit, stages.cxx, system, *base.user_facts)) return;
  base.toolkits = find_toolkits(base.settings, system, *base.user_facts, *base.digests);
  base.user_facts->save();
  stages.warnings = warnings;
  stages.toolkit.reset();
  stages.toolkit_error.reset();
  choose_all();
}

void choose_cxx(Stages& stages, const System& system) {
  const Result<HostCompiler> chosen = choose_cxx(stages.base.toolkits.host_compilers, system);
  if (chosen)
    stages.cxx = *chosen;
  else
    stages.cxx_error = chosen.error();
}

Result<void> identify_tools(Stages& stages, System& system) {
  FactStore& facts = *stages.base.user_facts;
  DigestMemo& digests = *stages.base.digests;
  DSBUILD_TRY(cxx, parts_of_host_compiler(stages.cxx->path, system, facts, digests));
  stages.tools.cxx = std::move(cxx);
  if (!stages.toolkit) return {};
  DSBUILD_TRY(nvcc, parts_of_nvcc(*stages.toolkit, system, facts, digests));
  stages.tools.nvcc = std::move(nvcc);
  return {};
}

// Inputs of edges that include torch's header; looked into once for each content.
Result<std::set<std::string>> find_torch_sources(const Stages& stages, const FileReader& files) {
  std::set<std::string> found;
  if (!stages.requirements.torch) return found;
  for (const auto& [path, digest] : stages.source_digests) {
    const std::string key = "includes torch/extension.h " + digest;
    auto answer = stages.build_facts->find(key, "");
    if (!answer) {
      DSBUILD_TRY(text, files.read_file(stages.selected.registry.source_root / path));
      answer = includes_torch_header(text) ? "yes" : "no";
      stages.build_facts->put(key, "", *answer);
    }
    if (*answer == "yes") found.insert(source_path(path));
  }
  return found;
}

// For the steps of the build: where they look.
void name_places(Stages& stages, const FileReader& files) {
  const Settings& settings = stages.base.settings;
  const Path store = settings.store_size.value > 0 ? files.absolute(settings.store.value) : Path();
  std::set<std::string> folders(stages.tools.nvcc.folders.begin(), stages.tools.nvcc.folders.end());
  folders.insert(stages.tools.cxx.folders.begin(), stages.tools.cxx.folders.end());
  stages.build.files.push_back({k_store_file, store.string()});
  stages.build.files.push_back({k_digests_file, files.absolute(settings.cache_dir / "digests").string()});
  stages.build.files.push_back({k_tool_folders_file, join({folders.begin(), folders.end()}, "\n")});
  std::string telling;
  if (stages.tools.nvcc.assembler_tells_files) telling += std::string(k_nvcc_id_file) + "\n";
  if (stages.tools.cxx.assembler_tells_files) telling += std::string(k_cxx_id_file) + "\n";
  stages.build.files.push_back({k_assemblers_file, telling});
}

// Settings, toolkits and the pack, up to the question which ops are wanted.
Result<Stages> begin(const CommandContext& context) {
  Stages stages;
  DSBUILD_TRY(base, load_base(context));
  stages.base = std::move(base);
  append(stages.warnings, stages.base.settings.warnings);
  return stages;
}

void add_selected(Stages& stages, Selected selected) {
  stages.selected = std::move(selected);
  append(stages.warnings, stages.selected.registry.warnings);
  append(stages.warnings, stages.selected.ops.warnings);
}

void check(Stages& stages, System& system) {
  const Selected& selected = stages.selected;
  stages.requirements = check_requirements(
      {stages.base.settings, selected.registry, pointer(stages.toolkit), stages.archs.requested,
       stages.cxx ? &*stages.cxx : nullptr, stages.base.host, selected.cpu_level, selected.torch},
      system, *stages.base.user_facts);
  stages.base.user_facts->save();
}

bool selects_nothing(const Selection& selection) {
  return !selection.ops_given && selection.build_ops != Switch::on &&
         std::none_of(selection.variables.begin(), selection.variables.end(),
                      [](const auto& variable) { return variable.second == Switch::on; });
}

Result<Selected> select(const CommandContext& context, const Base& base) {
  Selected selected;
  DSBUILD_TRY(registry, load_registry(base.settings, context.system));
  selected.torch = look_for_torch(context, base, registry);
  selected.registry = offer_ops(std::move(registry), selected.torch ? selected.torch->number() : Version{},
                                accelerator_of(base.settings, selected.torch));
  DSBUILD_TRY(ops, select_ops(base.settings, selected.registry, only_cpu_ops(base)));
  selected.ops = std::move(ops);
  selected.needs_toolkit = any_cuda_op(selected.registry, selected.ops);
  selected.demand.request = base.settings.arch.value;
  if (base.settings.arch.value.native) selected.gpus = capabilities_of(find_gpus(context.system));
  ArchSet asked = base.settings.arch.value.targets;
  for (const ComputeCapability& gpu : selected.gpus)
    for (const CodeKind kind : {CodeKind::real, CodeKind::ptx})
      asked.insert({gpu, Suffix::none, kind});
  selected.demand.kept = kept_targets(selected.registry, selected.ops, asked);
  const Setting<std::string>& baseline = base.settings.cpu_baseline;
  DSBUILD_TRY(level,
              find_cpu_level(baseline.value, baseline.origin, base.host.machine, base.host.cpu_features));
  selected.cpu_level = std::move(level);
  selected.demand.torch_cuda = torch_cuda(selected);
  return selected;
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
  base.digests = std::make_unique<DigestMemo>(system.files, base.settings.cache_dir / "digests");
  base.toolkits = find_toolkits(base.settings, system, *base.user_facts, *base.digests);
  base.user_facts->save();
  return base;
}

int jobs_for(const Settings& settings, const Host& host) {
  const int jobs =
      settings.jobs.value > 0 ? settings.jobs.value : host.cores / std::max(settings.nvcc_threads.value, 1);
  return std::max(jobs, 1);
}

ByteCount memory_for(const Settings& settings, const Host& host) {
  constexpr ByteCount k_percent = 85;
  return settings.memory.value > 0 ? settings.memory.value : host.memory_bytes / 100 * k_percent;
}

Result<Selected> load_selected(const CommandContext& context, const Base& base) {
  DSBUILD_TRY(selected, select(context, base));
  DSBUILD_CHECK(check_any_selected(selected.registry, only_cpu_ops(base), selected.ops));
  return selected;
}

Result<void> digest_sources(Stages& stages) {
  stages.source_digests.clear();
  for (const PlannedOp& op : stages.archs.ops) {
    if (op.status != OpStatus::build) continue;
    for (const PlannedSource& source : op.sources) {
      const std::string& path = source.source.path;
      if (stages.source_digests.count(path) > 0) continue;
      DSBUILD_TRY(digest, stages.base.digests->digest(stages.selected.registry.source_root / path));
      stages.source_digests.emplace(path, digest);
    }
  }
  return {};
}

ArchPlanInput arch_plan_input(const Stages& stages) {
  return {stages.base.settings,    stages.selected.registry, stages.selected.ops,     stages.requirements,
          pointer(stages.toolkit), stages.archs.requested,   stages.base.host.machine};
}

Result<void> complete_plan(Stages& stages, SelfTest self_test, const CommandContext& context) {
  const Settings& settings = stages.base.settings;
  if (settings.verify_against_nvcc.value)
    DSBUILD_CHECK(check_can_compare(settings.backend, settings.verify_against_nvcc.origin));
  if (!stages.selected.needs_toolkit) {
    stages.toolkit.reset();
    stages.archs.requested.clear();
  } else if (stages.toolkit_error) {
    return tl::unexpected<Error>(*stages.toolkit_error);
  }
  if (stages.cxx_error) return tl::unexpected<Error>(*stages.cxx_error);
  DSBUILD_TRY(archs, plan_archs(arch_plan_input(stages)));
  stages.archs = std::move(archs);
  append(stages.warnings, stages.archs.warnings);
  stages.build_facts =
      std::make_unique<FactStore>(context.system.files, settings.build_dir.value / "facts.json");
  DSBUILD_CHECK(identify_tools(stages, context.system));
  DSBUILD_CHECK(digest_sources(stages));
  stages.base.digests->save();
  DSBUILD_TRY(torch_sources, find_torch_sources(stages, context.system.files));
  stages.history = recall_edge_costs(stages, std::move(torch_sources), context.system.files);
  stages.build = plan_build({settings, stages.selected.registry, stages.requirements, stages.archs,
                             pointer(stages.toolkit), &*stages.cxx, stages.base.host.machine, stages.tools,
                             context.system.program, stages.history, jobs_for(settings, stages.base.host)});
  name_places(stages, context.system.files);
  if (settings.backend.value != CudaBackend::nvcc) DSBUILD_CHECK(slice(stages, self_test, context.system));
  append(stages.warnings, stages.build.warnings);
  return {};
}

Result<Stages> plan_stages(SelfTest self_test, const CommandContext& context) {
  DSBUILD_TRY(stages, begin(context));
  DSBUILD_TRY(selected, load_selected(context, stages.base));
  add_selected(stages, std::move(selected));
  choose_tools(stages, stages.selected.needs_toolkit, context.system);
  if (stages.toolkit_error) return tl::unexpected<Error>(*stages.toolkit_error);
  if (stages.cxx_error) return tl::unexpected<Error>(*stages.cxx_error);
  check(stages, context.system);
  DSBUILD_CHECK(complete_plan(stages, self_test, context));
  return stages;
}

Result<Stages> survey_stages(const CommandContext& context) {
  DSBUILD_TRY(stages, begin(context));
  Selection& selection = stages.base.settings.selection;
  if (selects_nothing(selection)) {
    selection.ops_given = selection.all = true;
    selection.origin = "no selection, so all ops";
  }
  DSBUILD_TRY(selected, select(context, stages.base));
  add_selected(stages, std::move(selected));
  choose_tools(stages, true, context.system);
  if (stages.toolkit_error) fall_back(stages);
  check(stages, context.system);
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
          {},
          warnings};
}

Result<std::vector<ComputeCapability>> asked_gpus(const CommandContext& context,
                                                  const std::vector<Gpu>& visible) {
  const std::vector<ComputeCapability> found = capabilities_of(visible);
  return context.line.gpus ? parse_gpus(*context.line.gpus, "--gpu", found) : found;
}

int strict_exit(const Stages& stages, const CommandContext& context) {
  const Settings& settings = stages.base.settings;
  const std::vector<std::string> skipped = stages.archs.skipped();
  if (!settings.strict.value || skipped.empty()) return 0;
  const Error error = make_error(Exit::unmet, "skipped_ops", settings.strict.origin,
                                 plural(skipped.size(), "op") + " skipped: " + join(skipped, ", "),
                                 "Leave out what cannot be built: --ops all,-" + join(skipped, ",-") + ".");
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

Result<void> check_can_compare(const Setting<CudaBackend>& backend, const std::string& asked_by) {
  if (backend.value != CudaBackend::nvcc) return {};
  return fail(Exit::usage, "nothing_to_compare", asked_by,
              "compares slices with what nvcc makes, and --backend nvcc makes no slices",
              "Leave " + backend.origin + " nvcc out, or leave " + asked_by + " out.");
}

}  // namespace dsbuild
