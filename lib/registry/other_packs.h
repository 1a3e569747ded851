// Looks in other packs for ops that the user named. Private to this stage.
#pragma once

#include "registry/registry.h"

namespace dsbuild {

// op.yaml of a pack, relative to its folder: "op.yaml" itself, or one for each op.
std::vector<std::string> spec_paths(const FileReader& files, const Path& folder);

// Whether `word` stands for the op: its name in any case, the NAME of its DS_BUILD_<NAME>, a pattern with
// `*`.
bool stands_for(const std::string& word, const std::string& op, const std::string& build_var);

// Fills registry.other_packs and registry.elsewhere. Reads other packs only if a name needs an explanation.
void find_other_packs(const Settings& settings, const FileReader& files, Registry& registry);

}  // namespace dsbuild
