#include "driver/survey.h"

#include <algorithm>

#include "arch/amd.h"
#include "arch/nvidia.h"
#include "base/digest.h"
#include "driver/kept_ops.h"
#include "registry/op_backends.h"
#include "settings/arch_requests.h"
#include "toolkit/family.h"
#include "toolkit/tool_parts.h"

namespace dsbuild {
namespace {

Result<void> check_host(const Host& host) {
  if (host.os == "linux" && (host.machine == "x86_64" || host.machine == "aarch64")) return {};
  return fail(Exit::unmet, "unsupported_host", host.os + " " + host.machine,
              "dsbuild runs on Linux, x86-64 and aarch64; this is " + host.os + " on " + host.machine,
              "Build in a Linux container or virtual machine.");
}

bool is_of(const Toolkit& toolkit, const Vendor& vendor) {
  return &toolkit.vendor() == &vendor;
}

// Whose GPUs torch is for: AMD's beside a torch for ROCm, where there are ops that extend it; else nullptr.
const Vendor* vendor_of_torch(const Registry& registry, const Result<Torch>& torch) {
  const bool any_extension = std::ranges::any_of(registry.ops, [](const OpBuilder& op) {
    const std::vector<BackendKind>& backends = op.spec().backends;
    return requires_torch(op.spec()) && std::ranges::find(backends, BackendKind::hip) != backends.end();
  });
  return torch && !torch->hip.empty() && any_extension ? &amd() : nullptr;
}

// Without a toolkit for the GPUs that are built for, `all` means the CPU ops, unless archs, a backend, a
// toolkit or the accelerator were asked for.
bool only_cpu_ops(const Settings& settings, const Machine& machine,
                  const std::vector<const Vendor*>& vendors) {
  if (settings.accelerator.value == AcceleratorKind::cpu) return true;
  if (settings.accelerator.value == AcceleratorKind::cuda || !settings.arch.value.is_default ||
      !settings.devices.value.empty())
    return false;
  return std::ranges::none_of(vendors, [&](const Vendor* vendor) {
    return demands_home(family_for(*vendor), settings) ||
           std::ranges::any_of(machine.toolkits.found,
                               [&](const Toolkit& toolkit) { return is_of(toolkit, *vendor); });
  });
}

bool any_op_for(const Vendor& vendor, const Registry& registry, const SelectedOps& selected) {
  return std::any_of(selected.ops.begin(), selected.ops.end(), [&](const SelectedOp& op) {
    return op.wanted != Wanted::off && vendor_of(registry.find(op.name)->spec()) == &vendor;
  });
}

Result<Torch> look_for_torch(const Settings& settings, const Registry& registry, Session& session) {
  if (!asks_for_torch(registry))
    return fail(Exit::unmet, "python", settings.python.value, "no op asks for torch");
  return find_torch({settings.python.value, session.system, session.facts});
}

// What DeepSpeed runs on where it loads the ops: the CPU if its torch knows no GPU.
std::string accelerator_of(const Settings& settings, const Result<Torch>& torch) {
  const AcceleratorKind asked = settings.accelerator.value;
  const bool no_gpu = torch && torch->cuda.empty() && torch->hip.empty();
  return asked == AcceleratorKind::cpu || (asked != AcceleratorKind::cuda && no_gpu) ? "cpu" : "cuda";
}

Result<void> check_accelerator(const Setting<AcceleratorKind>& accelerator, const Registry& registry) {
  if (accelerator.value != AcceleratorKind::xpu || registry.pack != "deepspeed") return {};
  return fail(
      Exit::unmet, "accelerator_not_built", accelerator.origin,
      "DeepSpeed's ops for 'xpu' extend a torch for XPU, which is not supported",
      "Use cuda or cpu, or unset it; dsbuild's own ops are built for Intel's GPUs with --backend sycl.");
}

// The CUDA version that a toolkit has to go with: torch's, where a selected CUDA op is an extension of torch.
Version torch_cuda(const Selected& selected) {
  const bool any = std::any_of(selected.ops.ops.begin(), selected.ops.ops.end(), [&](const SelectedOp& op) {
    const OpSpec& spec = selected.registry.find(op.name)->spec();
    return op.wanted != Wanted::off && spec.backend == BackendKind::cuda && requires_torch(spec);
  });
  return any && selected.torch ? parse_version(selected.torch->cuda).value_or(Version{}) : Version{};
}

Result<Registry> registry_of(const Request& request, const System& system) {
  if (request.registry) return *request.registry;
  return load_registry(request.settings, system);
}

// Before a tool is asked: the pack may name variables that tools get.
Result<void> read_pack(Request& request, Session& session) {
  DSBUILD_TRY(registry, registry_of(request, session.system));
  std::vector<std::string>& passed = session.system.tools.passed;
  passed.insert(passed.end(), registry.pass_environment.begin(), registry.pass_environment.end());
  if (!request.registry) request.registry = std::make_shared<const Registry>(std::move(registry));
  return {};
}

Result<std::vector<ToolkitDemand>> demands_of(const Settings& settings, const Selected& selected,
                                              const std::vector<const Vendor*>& vendors) {
  std::vector<ToolkitDemand> demands;
  ArchSet asked = native_archs(selected.gpus);
  for (const Vendor* vendor : vendors) {
    DSBUILD_TRY(request, request_for(settings, *vendor));
    asked = union_of(asked, request.value.targets);
    demands.push_back({.vendor = vendor,
                       .is_needed = any_op_for(*vendor, selected.registry, selected.ops),
                       .request = request.value,
                       .kept = {},
                       .torch_cuda = vendor == &nvidia() ? torch_cuda(selected) : Version{}});
  }
  const ArchSet kept = kept_targets(settings, selected.registry, selected.ops, asked);
  for (ToolkitDemand& demand : demands)
    demand.kept = targets_of(kept, *demand.vendor);
  return demands;
}

Result<Selected> select(const Request& request, const Machine& machine, Session& session) {
  System& system = session.system;
  const Settings& settings = request.settings;
  Selected selected;
  DSBUILD_TRY(registry, registry_of(request, system));
  DSBUILD_CHECK(check_accelerator(settings.accelerator, registry));
  DSBUILD_CHECK(check_kept_ops(settings, registry, system.files));
  selected.torch = look_for_torch(settings, registry, session);
  selected.registry = offer_ops(std::move(registry), selected.torch ? selected.torch->number() : Version{},
                                accelerator_of(settings, selected.torch));
  if (settings.arch.value.native) selected.gpus = archs_of_gpus(find_gpus(system));
  DSBUILD_TRY(vendors,
              selected_vendors(settings, selected.gpus, vendor_of_torch(selected.registry, selected.torch)));
  selected.only_cpu = only_cpu_ops(settings, machine, vendors);
  DSBUILD_TRY(ops, select_ops(settings, selected.registry, selected.only_cpu));
  selected.ops = std::move(ops);
  split_by_backend(selected.registry, selected.ops, vendors);
  const Setting<std::string>& baseline = settings.cpu_baseline;
  DSBUILD_TRY(level, find_cpu_level(baseline.value, baseline.origin, machine.host.machine,
                                    machine.host.cpu_features));
  selected.cpu_level = std::move(level);
  DSBUILD_TRY(demands, demands_of(settings, selected, vendors));
  selected.demands = std::move(demands);
  return selected;
}

// The compiler that CXX names; it may be known by another variable or by PATH.
const HostCompiler* named_by(const std::string& cxx, const std::vector<HostCompiler>& found,
                             const System& system) {
  for (const std::string& word : shell_split(cxx)) {
    const auto program = find_program(system, word);
    if (!program) continue;
    for (const HostCompiler& compiler : found)
      if (system.files.real_path(compiler.path) == system.files.real_path(*program)) return &compiler;
  }
  return nullptr;
}

tl::unexpected<Error> no_compiler(const char* variable, const std::string& what, const std::string& fix) {
  return fail(Exit::unmet, "no_compiler", variable, what, fix);
}

// The one that a variable names, which is used, or nothing is; nullptr: it names none.
Result<const HostCompiler*> named_in(const char* variable, const Survey& survey, const System& system,
                                     const std::string& fix) {
  const std::string name = trim(survey.settings().variable(variable));
  if (name.empty()) return nullptr;
  if (const HostCompiler* named = named_by(name, survey.machine.toolkits.host_compilers, system))
    return named;
  return no_compiler(variable, "'" + printable(name) + "' is not a C++ compiler that works here", fix);
}

Result<HostCompiler> choose_cxx(const Survey& survey, const System& system) {
  const std::vector<HostCompiler>& found = survey.machine.toolkits.host_compilers;
  DSBUILD_TRY(named, named_in("CXX", survey, system, "Set CXX to g++ or clang++, or unset it."));
  if (named) return *named;
  // CUDAHOSTCXX and NVCC_CCBIN are for nvcc; they count here only where there is nothing else.
  for (const char* name : {"g++", "clang++"})
    if (const HostCompiler* usual = named_by(name, found, system)) return *usual;
  if (!found.empty()) return found.front();
  return no_compiler("CXX", "no C++ compiler was found (CXX, g++, clang++)",
                     "apt-get install g++, or set CXX to a compiler.");
}

Result<ChosenToolkit> choose_for(const ToolkitDemand& demand, const Survey& survey, const System& system) {
  if (demand.vendor == &nvidia())
    for (const char* variable : {"CUDAHOSTCXX", "NVCC_CCBIN"})
      DSBUILD_CHECK(named_in(variable, survey, system, "Set it to the path of g++ or clang++, or unset it."));
  return choose_toolkit(survey.settings(), survey.machine.toolkits, demand, survey.selected.gpus);
}

enum class Demands { needed, all };

struct ChosenTools {
  std::vector<DeviceTools> devices;
  Result<HostCompiler> cxx;
};

ChosenTools choose_known_tools(const Survey& survey, Demands demands, const System& system) {
  ChosenTools tools;
  for (const ToolkitDemand& demand : survey.selected.demands)
    if (demands == Demands::all || demand.is_needed)
      tools.devices.push_back({demand.vendor, choose_for(demand, survey, system), std::nullopt});
  tools.cxx = choose_cxx(survey, system);
  return tools;
}

bool wrappers_are_as_known(const ChosenTools& tools, Session& session) {
  std::vector<Toolkit> toolkits;
  for (const DeviceTools& device : tools.devices)
    if (device.chosen) toolkits.push_back(device.chosen->toolkit);
  return wrappers_answer_as_known(toolkits, tools.cxx ? std::optional(*tools.cxx) : std::nullopt,
                                  session.system, session.facts);
}

// The tools of a build. A wrapper among them may stand for others by now: then all is found and chosen again.
void choose_tools(Survey& survey, Demands demands, Session& session) {
  ChosenTools tools = choose_known_tools(survey, demands, session.system);
  if (!wrappers_are_as_known(tools, session)) {
    survey.machine.toolkits =
        find_toolkits(survey.settings(), session.system, session.facts, session.digests);
    session.facts.save();
    tools = choose_known_tools(survey, demands, session.system);
  }
  survey.devices = std::move(tools.devices);
  survey.cxx = std::move(tools.cxx);
  for (const DeviceTools& device : survey.devices) {
    if (!device.chosen) continue;
    survey.requested = union_of(survey.requested, device.chosen->requested);
    append(survey.warnings, device.chosen->warnings);
  }
}

// Where no toolkit will do: the first that may be used at all, to say how far it goes.
void fall_back(const ToolkitDemand& demand, Survey& survey, std::optional<Toolkit>& nearest) {
  const CompilerFamily& family = family_for(*demand.vendor);
  const bool is_demanded = demands_home(family, survey.settings());
  for (const Toolkit& toolkit : survey.machine.toolkits.found)
    if (!nearest && is_of(toolkit, *demand.vendor) && (!is_demanded || toolkit.origin == family.home_option))
      nearest = toolkit;
  ArchSet requested = demand.request.targets;
  if (nearest) {
    const auto resolved = resolve_arch_request(demand.request, *demand.vendor, nearest->targets,
                                               nearest->version_code(), survey.selected.gpus);
    if (resolved) requested = *resolved;
  }
  survey.requested = union_of(survey.requested, requested);
}

// By its parts. One that does not answer is the error of a plan, not of a probe.
std::string identity_of_cxx(Survey& survey, Session& session) {
  if (!survey.cxx) return "";
  const auto parts = survey.host_parts.of(survey.cxx->path, session.system, session.facts, session.digests);
  return parts ? sha256(parts->text) : "";
}

void check_requirements(Survey& survey, Session& session) {
  const Selected& selected = survey.selected;
  survey.requirements =
      check_requirements({survey.settings(), selected.registry, survey.toolkits(), survey.requested,
                          survey.cxx ? &*survey.cxx : nullptr, survey.machine.host, selected.cpu_level,
                          selected.torch, identity_of_cxx(survey, session)},
                         session.system, session.facts);
  session.facts.save();
}

// What a user names is used, or nothing is: without it, ops would be skipped for want of torch.
Result<void> check_named_python(const Settings& settings, const Selected& selected, Session& session) {
  if (settings.python.is_default() || selected.torch) return {};
  const auto python = find_python({settings.python.value, session.system, session.facts});
  if (python) return {};
  return fail(Exit::unmet, "python", settings.python.origin, python.error().what,
              "Name a Python that runs here, or leave " + settings.python.origin + " out.");
}

Survey begin(Request request, Machine machine, Selected selected) {
  Survey survey;
  survey.request = std::move(request);
  survey.machine = std::move(machine);
  survey.selected = std::move(selected);
  append(survey.warnings, survey.settings().warnings);
  append(survey.warnings, survey.selected.registry.warnings);
  append(survey.warnings, survey.selected.ops.warnings);
  return survey;
}

bool selects_nothing(const Selection& selection) {
  return !selection.ops_given && selection.kept.empty() && selection.build_ops != Switch::on &&
         std::none_of(selection.variables.begin(), selection.variables.end(),
                      [](const auto& variable) { return variable.second == Switch::on; });
}

}  // namespace

const Toolkit* DeviceTools::toolkit() const {
  if (chosen) return &chosen->toolkit;
  return nearest ? &*nearest : nullptr;
}

const DeviceTools* Survey::tools_of(const Vendor& vendor) const {
  for (const DeviceTools& tools : devices)
    if (tools.vendor == &vendor) return &tools;
  return nullptr;
}

ToolkitSet Survey::toolkits() const {
  ToolkitSet all;
  for (const DeviceTools& tools : devices)
    if (tools.toolkit()) all.add(*tools.toolkit());
  return all;
}

ArchPlanInput Survey::arch_plan_input() const {
  return {settings(), selected.registry, selected.ops,        requirements,
          toolkits(), requested,         machine.host.machine};
}

Result<Machine> find_machine(const Settings& settings, Session& session) {
  Machine machine;
  machine.host = read_host(session.system.files);
  DSBUILD_CHECK(check_host(machine.host));
  machine.toolkits = find_toolkits(settings, session.system, session.facts, session.digests);
  session.facts.save();
  return machine;
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

Result<Selected> select_wanted(const Request& request, const Machine& machine, Session& session) {
  DSBUILD_TRY(selected, select(request, machine, session));
  DSBUILD_CHECK(check_any_selected(selected.registry, selected.only_cpu, selected.ops));
  return selected;
}

Result<Survey> survey_wanted(Request request, Session& session) {
  DSBUILD_CHECK(session.check());
  DSBUILD_CHECK(keep_ops_of_bundle(session.system.files, request.settings));
  DSBUILD_CHECK(read_pack(request, session));
  DSBUILD_TRY(machine, find_machine(request.settings, session));
  DSBUILD_CHECK(session.check());
  DSBUILD_TRY(selected, select_wanted(request, machine, session));
  DSBUILD_CHECK(check_named_python(request.settings, selected, session));
  Survey survey = begin(std::move(request), std::move(machine), std::move(selected));
  choose_tools(survey, Demands::needed, session);
  for (const DeviceTools& device : survey.devices)
    if (!device.chosen) return tl::unexpected<Error>(device.chosen.error());
  if (!survey.cxx) return tl::unexpected<Error>(survey.cxx.error());
  DSBUILD_CHECK(session.check());
  check_requirements(survey, session);
  return survey;
}

Result<Survey> survey_all(Request request, Session& session) {
  DSBUILD_CHECK(keep_ops_of_bundle(session.system.files, request.settings));
  Selection& selection = request.settings.selection;
  if (selects_nothing(selection)) {
    selection.ops_given = selection.all = true;
    selection.origin = "no selection, so all ops";
  }
  DSBUILD_CHECK(session.check());
  DSBUILD_CHECK(read_pack(request, session));
  DSBUILD_TRY(machine, find_machine(request.settings, session));
  DSBUILD_TRY(selected, select(request, machine, session));
  Survey survey = begin(std::move(request), std::move(machine), std::move(selected));
  choose_tools(survey, Demands::all, session);
  for (size_t i = 0; i < survey.devices.size(); ++i)
    if (!survey.devices[i].chosen) fall_back(survey.selected.demands[i], survey, survey.devices[i].nearest);
  DSBUILD_CHECK(session.check());
  check_requirements(survey, session);
  return survey;
}

}  // namespace dsbuild
