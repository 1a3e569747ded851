// Options that say what a bundle must be, and the file that says it by the same keys. Private to this stage.
#pragma once

#include <vector>

#include "settings/options.h"

namespace dsbuild {

std::vector<Option> options_of_policy();

// The file of --policy. Names of files in it are relative to its folder. Errors, exit 2: those of reading,
// `bad_yaml`, `bad_policy`.
Result<ConfigEntries> load_policy(const Path& file, const FileReader& files);

// Reads the keys of the policy. Errors: those of reading and of parse_public_keys; exit 2 `bad_policy` where
// something is asked of a signature, and no key is trusted.
Result<void> read_policy_keys(const FileReader& files, BundlePolicy& policy);

}  // namespace dsbuild
