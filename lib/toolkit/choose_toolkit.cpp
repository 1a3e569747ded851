#include <algorithm>

#include "toolkit/family.h"
#include "toolkit/fetchable.h"
#include "toolkit/toolkit_message.h"

namespace dsbuild {
namespace {

using Pointers = std::vector<const Toolkit*>;

ToolkitNeed need_of(const ToolkitDemand& demand) {
  return {demand.vendor ? &family_for(*demand.vendor) : &k_nvcc_family,
          demand.request.is_default ? ArchSet{} : demand.kept, demand.torch_cuda};
}

ArchSet lacking(const Toolkit& toolkit, const ArchSet& needed) {
  return difference(needed, toolkit.targets);
}

// Those that may be used at all: --cuda-home leaves only its own, torch those that go with its CUDA, if any
// do.
Pointers demanded_toolkits(const Settings& settings, const Toolkits& toolkits, const ToolkitNeed& need) {
  Pointers demanded, with_torch;
  for (const Toolkit& toolkit : toolkits.found) {
    if (toolkit.family != need.family) continue;
    if (demands_home(*need.family, settings) && toolkit.origin != need.family->home_option) continue;
    demanded.push_back(&toolkit);
    if (need.goes_with(toolkit)) with_torch.push_back(&toolkit);
  }
  return with_torch.empty() ? demanded : with_torch;
}

// Those that lack least; where nothing may be dropped, that must be nothing.
Pointers best_covering(const Pointers& toolkits, const ArchSet& needed, bool may_drop) {
  size_t least = may_drop ? needed.size() : 0;
  for (const Toolkit* toolkit : toolkits)
    least = std::min(least, lacking(*toolkit, needed).size());
  Pointers best;
  for (const Toolkit* toolkit : toolkits) {
    if (lacking(*toolkit, needed).size() == least) best.push_back(toolkit);
  }
  return best;
}

bool some_target(const Pointers& toolkits, const ArchSet& needed) {
  return std::any_of(toolkits.begin(), toolkits.end(),
                     [&](const Toolkit* toolkit) { return !intersection(needed, toolkit->targets).empty(); });
}

Result<const Toolkit*> pick(const Settings& settings, const Toolkits& toolkits, const ToolkitNeed& need) {
  const ArchSet& needed = need.archs;
  const Pointers demanded = demanded_toolkits(settings, toolkits, need);
  if (demanded.empty()) return tl::unexpected<Error>(no_toolkit_error(settings, toolkits, need));
  const bool can_drop = some_target(demanded, needed);
  const Pointers best = best_covering(demanded, needed, can_drop && settings.drop_unsupported_archs.value);
  if (best.empty()) {
    return tl::unexpected<Error>(lacks_archs_error(settings, toolkits, demanded, need, can_drop));
  }
  const auto with_host = std::find_if(best.begin(), best.end(),
                                      [](const Toolkit* toolkit) { return toolkit->host.has_value(); });
  if (with_host != best.end()) return *with_host;
  return tl::unexpected<Error>(no_host_compiler_error(*best.front(), toolkits.host_compilers));
}

std::string why_not(const Toolkit& toolkit, const ToolkitNeed& need) {
  if (!need.goes_with(toolkit))
    return toolkit_name(toolkit) + " does not go with torch, which is of CUDA " +
           need.torch_cuda.short_text();
  const ArchSet missing = lacking(toolkit, need.archs);
  return toolkit_name(toolkit) +
         (missing.empty() ? " accepts no C++ compiler of this machine (" + toolkit.bounds.text() + ")"
                          : " cannot target " + arch_text(missing));
}

Warning other_toolkit(const std::string& variable, const std::string& why, const Toolkit& chosen) {
  return warning("other_toolkit", variable, why + "; " + toolkit_name(chosen) + " is used",
                 std::string("pass ") + chosen.family->home_option + " to demand a toolkit");
}

// CUDA_HOME and its like are a preference: one line where another toolkit is used.
std::vector<Warning> preference_warnings(const Settings& settings, const Toolkits& toolkits,
                                         const Toolkit& chosen, const ToolkitNeed& need) {
  std::vector<Warning> warnings;
  const CompilerFamily& family = *need.family;
  if (demands_home(family, settings)) return warnings;
  for (const RejectedToolkit& rejected : toolkits.rejected) {
    if (!is_preference(family, rejected.origin)) continue;
    const std::string why =
        rejected.home.string() + " is not a " + family.brand + " toolkit: " + rejected.reason;
    warnings.push_back(other_toolkit(rejected.origin, why, chosen));
  }
  const auto preferred =
      std::find_if(toolkits.found.begin(), toolkits.found.end(), [&](const Toolkit& toolkit) {
        return toolkit.family == &family && is_preference(family, toolkit.origin);
      });
  if (preferred != toolkits.found.end() && &*preferred != &chosen) {
    warnings.push_back(other_toolkit(preferred->origin, why_not(*preferred, need), chosen));
  }
  return warnings;
}

std::vector<Warning> drop_warnings(const Toolkit& chosen, const ArchSet& needed) {
  const ArchSet missing = lacking(chosen, needed);
  if (missing.empty()) return {};
  return {warning(
      "archs_dropped", "--drop-unsupported-archs",
      toolkit_name(chosen) + " cannot target " + arch_text(missing) + "; dsbuild builds without " +
          (missing.size() == 1 ? "it" : "them"),
      "For GPUs that need " + arch_text(missing) + ", build with an older toolkit (--cuda-home DIR).")};
}

Result<ArchSet> resolve(const Settings& settings, const ArchRequest& request, const Toolkit& toolkit,
                        const std::vector<Target>& gpus) {
  auto resolved =
      resolve_arch_request(request, toolkit.vendor(), toolkit.targets, toolkit.version_code(), gpus);
  if (!resolved && !settings.arch.is_default()) resolved.error().where = settings.arch.origin;
  return resolved;
}

}  // namespace

Result<ChosenToolkit> choose_toolkit(const Settings& settings, const Toolkits& toolkits,
                                     const ToolkitDemand& demand, const std::vector<Target>& gpus) {
  const ToolkitNeed need = need_of(demand);
  DSBUILD_TRY(toolkit, pick(settings, toolkits, need));
  DSBUILD_TRY(requested, resolve(settings, demand.request, *toolkit, gpus));
  ChosenToolkit chosen{*toolkit, requested, preference_warnings(settings, toolkits, *toolkit, need)};
  append(chosen.warnings, drop_warnings(*toolkit, need.archs));
  return chosen;
}

ToolkitAdvice advise_toolkit(const Settings& settings, const Toolkits& toolkits, const ToolkitDemand& demand,
                             const std::vector<Target>& gpus, bool needs_toolkit) {
  using Kind = ToolkitAdvice::Kind;
  if (!needs_toolkit) return {Kind::none_needed, ""};
  const ToolkitNeed need = need_of(demand);
  const Result<ChosenToolkit> chosen = choose_toolkit(settings, toolkits, demand, gpus);
  if (chosen && need.goes_with(chosen->toolkit)) return {Kind::have, ""};
  const bool no_gpu = demand.request.native && gpus.empty();
  if (no_gpu || settings.offline.value || demands_home(*need.family, settings)) return {Kind::impossible, ""};
  const auto fetchable = fetchable_for(*need.family, need.archs, need.torch_cuda);
  if (fetchable.empty()) return {Kind::impossible, ""};
  return {Kind::get, fetchable.front()->word};
}

}  // namespace dsbuild
