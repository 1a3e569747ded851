// What a policy asks of a bundle besides its GPUs and sizes (bundle/gate.h): licences, what its libraries
// need of the machine, how old it is, who signed it.
#pragma once

#include "bundle/gate.h"
#include "settings/policy_settings.h"
#include "sys/file_system.h"

namespace dsbuild {

struct JudgedBundle {
  const Path& path;
  const Manifest& manifest;  // which says what the libraries are (bundle/verify.h)
  const FileReader& files;
};

// Whether it asks for anything that judge_policy looks at.
bool asks(const BundlePolicy& policy);

// Adds what is not as it is asked to be to the verdict's failures. `today`: "2026-11-30".
Result<void> judge_policy(const BundlePolicy& policy, const JudgedBundle& bundle, const std::string& today,
                          Verdict& verdict);

// What a library needs of the machine, by its own bytes: a manifest may say anything.
struct LibraryNeeds {
  std::string file;
  ManifestRuntime runtime;
};
// Of all libraries. Errors, exit 1: `io`, `bad_elf`.
Result<std::vector<LibraryNeeds>> read_needs(const JudgedBundle& bundle);

// The parts of it. The first adds nothing where no licence is named, and so on.
void judge_license(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict);
void judge_needs(const BundlePolicy& policy, const Path& bundle, const std::vector<LibraryNeeds>& needs,
                 Verdict& verdict);
Result<void> judge_torch(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict);
void judge_age(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict);
void judge_signature(const BundlePolicy& policy, const JudgedBundle& bundle, const std::string& today,
                     Verdict& verdict);

}  // namespace dsbuild
