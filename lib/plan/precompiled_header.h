// torch/extension.h takes most of the time of an extension's C++ files (24 s a file; 11 s with the header
// precompiled, which takes 39 s once; objects are the same byte for byte. gcc 12, torch 2.11).
#pragma once

#include <string_view>

#include "base/build_layout.h"
#include "plan/build_plan.h"

namespace dsbuild {

inline constexpr const char* k_torch_header = "torch/extension.h";

// Whether a source has `#include <torch/extension.h>`.
bool includes_torch_header(std::string_view source_text);

// Every C++ edge whose source has that include gets it through a small header in pch/, `-include`d whether it
// is precompiled or not: so commands and bytes do not depend on what else is built. Edges that precompile it
// are put first, one for each set of flags that gcc wants equal, where input.settings.precompile says so; its
// `automatic` weighs the files that share the header against the cores: it is only worth waiting for where
// cores would be busy all the while.
void precompile_torch_header(const BuildPlanInput& input, BuildPlan& plan);

// For each of these edges a planned file (k_users_end of base/build_layout.h) that says who needs it, once
// all commands are known: where the store has what most of them make, it is not worth its time.
void name_users_of_precompiled_headers(Precompile setting, BuildPlan& plan);

}  // namespace dsbuild
