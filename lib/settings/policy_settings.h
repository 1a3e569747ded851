// The requirements on a bundle before it is used, except GPUs and sizes: --policy FILE, and options that are
// short forms of its keys (docs/reference/policy.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/version.h"
#include "settings/setting.h"
#include "sys/signing_key.h"

namespace dsbuild {

// A value of --torch-abi: any torch with a stable ABI.
inline constexpr const char* k_stable_abi = "stable";

struct PolicyKey {
  PublicKey key;
  std::string file;     // the file with the key
  std::string expires;  // the last day on which the key is valid, "2027-06-30"; "": it does not expire
  bool operator==(const PolicyKey&) const = default;
};

// A default value is no requirement.
struct BundlePolicy {
  Setting<bool> forbids_ptx_only;
  Setting<std::vector<std::string>> licenses;  // SPDX identifiers
  Setting<Version> max_glibc, max_glibcxx;     // limits for the versions that the libraries need
  Setting<std::optional<bool>> cxx11_abi;
  Setting<std::string> torch_abi;               // a range of versions, or k_stable_abi
  Setting<Version> min_version;                 // of the pack's sources
  Setting<std::string> built_after;             // the first day: "2026-11-01"
  Setting<std::vector<std::string>> builders;   // their ids
  Setting<std::vector<std::string>> key_files;  // "keys/ci.pem", "keys/old.pem expires 2027-06-30"
  Setting<std::vector<std::string>> revoked_files;
  // The keys in key_files and revoked_files.
  std::vector<PolicyKey> trusted, revoked;
  bool operator==(const BundlePolicy&) const = default;
};

}  // namespace dsbuild
