#include "settings/arch_requests.h"

#include <algorithm>

#include "base/text.h"

namespace dsbuild {
namespace {

bool contains(const std::vector<const Vendor*>& all, const Vendor* vendor) {
  return std::ranges::find(all, vendor) != all.end();
}

// --arch and not torch's variable, which is for CUDA alone and selects nothing.
bool is_given(const Setting<ArchRequest>& arch) {
  return !arch.value.is_default && arch.origin != k_arch_variable;
}

bool asks_for(const ArchRequest& own) {
  return !own.targets.empty() || own.all || own.all_major || own.native;
}

}  // namespace

Result<std::vector<const Vendor*>> selected_vendors(const Settings& settings, const std::vector<Target>& gpus,
                                                    const Vendor* of_torch) {
  const std::vector<const Vendor*>& named = settings.devices.value;
  const ArchRequest request = is_given(settings.arch) ? settings.arch.value : ArchRequest{};
  for (const Target& target : request.targets) {
    if (named.empty() || contains(named, target.vendor)) continue;
    return fail(
        Exit::usage, "arch_of_other_backend", settings.arch.origin,
        "'" + target.text() + "' is of " + std::string(target.vendor->backend()) + ", which " +
            settings.devices.origin + " leaves out",
        "Add " + std::string(target.vendor->backend()) + " to it, or leave '" + target.text() + "' out.");
  }
  std::vector<const Vendor*> wanted = named;
  const bool names_gpus = !request.targets.empty() || (request.native && !gpus.empty());
  if (wanted.empty() && of_torch && !names_gpus) return std::vector{of_torch};
  if (wanted.empty()) wanted = vendors_of(request, gpus);
  std::vector<const Vendor*> selected;
  std::ranges::copy_if(vendors(), std::back_inserter(selected),
                       [&](const Vendor* vendor) { return contains(wanted, vendor); });
  return selected;
}

Result<void> check_own_targets(const ArchRequest& request, const Vendor& vendor, const std::string& where) {
  for (const Target& target : request.targets) {
    if (target.vendor == &vendor) continue;
    return fail(Exit::usage, "arch_of_other_backend", where,
                "'" + target.text() + "' is of " + std::string(target.vendor->backend()) + ", and " + where +
                    " of " + std::string(vendor.backend()) + " alone",
                "Name it by --arch, or in " + std::string(target.vendor->list_variable()) + ".");
  }
  return {};
}

Result<Setting<ArchRequest>> request_for(const Settings& settings, const Vendor& vendor) {
  const bool is_of_variable = settings.arch.origin == vendor.list_variable();
  const ArchRequest own = request_of(settings.arch.value, vendor);
  if ((is_given(settings.arch) || is_of_variable) && asks_for(own))
    return Setting<ArchRequest>{own, settings.arch.origin};
  const std::string variable(vendor.list_variable());
  const std::string list = settings.variable(variable);
  if (trim(list).empty()) {
    ArchRequest nothing;
    nothing.is_default = true;
    return Setting<ArchRequest>{nothing};
  }
  DSBUILD_TRY(request, parse_arch_list(list, variable));
  DSBUILD_CHECK(check_own_targets(request, vendor, variable));
  return Setting<ArchRequest>{request, variable};
}

}  // namespace dsbuild
