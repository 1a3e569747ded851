// For whose GPUs is built, and for which of each vendor's. Pure.
#pragma once

#include "arch/vendor.h"
#include "settings/settings.h"

namespace dsbuild {

// In the order of vendors(): those of --backend; else those whose targets --arch names, or whose GPUs it
// means by `native` (`gpus`: the visible ones); else that of torch (`of_torch`: nullptr where none is asked
// for), else NVIDIA. A variable selects none. Error: exit 2 `arch_of_other_backend` where --arch names a
// target of a vendor that --backend leaves out.
Result<std::vector<const Vendor*>> selected_vendors(const Settings& settings, const std::vector<Target>& gpus,
                                                    const Vendor* of_torch);

// The archs that are asked of a selected vendor: its part of --arch; where --arch has none, torch's variable
// for it (Vendor::list_variable); else its default. Errors: those of parse_arch_list, with the
// variable's name, and `arch_of_other_backend` for a target of another vendor in it.
Result<Setting<ArchRequest>> request_for(const Settings& settings, const Vendor& vendor);

// Whether a list of a variable is of its vendor alone.
Result<void> check_own_targets(const ArchRequest& request, const Vendor& vendor, const std::string& where);

}  // namespace dsbuild
