// Chooses the vendors whose GPUs a build is for, and the archs of each. Pure.
#pragma once

#include "arch/vendor.h"
#include "settings/settings.h"

namespace dsbuild {

// In the order of vendors(): those of --backend; else those whose targets --arch names, or whose GPUs are
// visible if it says `native` (`gpus`: the visible ones); else torch's (`of_torch`; nullptr: no op needs
// torch), else NVIDIA. Variables select no vendor. Error: exit 2 `arch_of_other_backend` if --arch names a
// target of a vendor that --backend leaves out.
Result<std::vector<const Vendor*>> selected_vendors(const Settings& settings, const std::vector<Target>& gpus,
                                                    const Vendor* of_torch);

// The requested archs of a selected vendor: its part of --arch; if --arch has none of its targets, torch's
// variable for it (Vendor::list_variable); else its default. Errors: those of parse_arch_list, with the
// variable's name, and `arch_of_other_backend` for a target of a different vendor in it.
Result<Setting<ArchRequest>> request_for(const Settings& settings, const Vendor& vendor);

// Checks that the list in a variable has targets of its vendor alone. Error: `arch_of_other_backend`.
Result<void> check_own_targets(const ArchRequest& request, const Vendor& vendor, const std::string& where);

}  // namespace dsbuild
