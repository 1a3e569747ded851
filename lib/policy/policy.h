// Judges a bundle by a policy: licences, versions of libraries that it needs, age, signature. For GPUs and
// sizes there is bundle/gate.h.
#pragma once

#include "bundle/gate.h"
#include "settings/policy_settings.h"
#include "sys/file_system.h"

namespace dsbuild {

struct JudgedBundle {
  const Path& path;
  const Manifest& manifest;  // already verified against the libraries (bundle/verify.h)
  const FileReader& files;
};

// Whether it has a requirement that judge_policy checks.
bool asks(const BundlePolicy& policy);

// Adds each unmet requirement to the verdict's failures. `today`: "2026-11-30".
Result<void> judge_policy(const BundlePolicy& policy, const JudgedBundle& bundle, const std::string& today,
                          Verdict& verdict);

// What a library needs on the machine, read from the library: a manifest may be wrong.
struct LibraryNeeds {
  std::string file;
  ManifestRuntime runtime;
};
// Reads all libraries. Errors, exit 1: `io`, `bad_elf`.
Result<std::vector<LibraryNeeds>> read_needs(const JudgedBundle& bundle);

// The parts of judge_policy. Each adds nothing if the policy has no such requirement.
void judge_license(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict);
void judge_needs(const BundlePolicy& policy, const Path& bundle, const std::vector<LibraryNeeds>& needs,
                 Verdict& verdict);
Result<void> judge_torch(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict);
void judge_age(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict);
void judge_signature(const BundlePolicy& policy, const JudgedBundle& bundle, const std::string& today,
                     Verdict& verdict);

}  // namespace dsbuild
