// The options with requirements on a bundle, and the policy file, whose keys are the same. Private to this
// stage.
#pragma once

#include <vector>

#include "settings/options.h"

namespace dsbuild {

std::vector<Option> options_of_policy();

// Reads the file of --policy. File names in it are relative to its folder. Errors, exit 2: those of reading,
// `bad_yaml`, `bad_policy`.
Result<ConfigEntries> load_policy(const Path& file, const FileReader& files);

// Reads the public keys of the policy. Errors: those of reading and of parse_public_keys; exit 2 `bad_policy`
// if the policy has a requirement on the signature but trusts no key.
Result<void> read_policy_keys(const FileReader& files, BundlePolicy& policy);

}  // namespace dsbuild
