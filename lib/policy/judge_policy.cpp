#include "policy/policy.h"
#include "policy/spdx_expression.h"

namespace dsbuild {
namespace {

// Nested parentheses are read by as many calls; no licence has many.
constexpr size_t k_longest_license = 2000;

Error not_allowed(const JudgedBundle& bundle, const BundlePolicy& policy, const std::string& what) {
  return make_error(
      Exit::failed, "license_not_allowed", bundle.path.string(),
      what + "; allowed by " + policy.licenses.origin + ": " + join(policy.licenses.value, ", "),
      "Leave the pack out, or allow its licence. A pack names it in pack.yaml: license.");
}

}  // namespace

bool asks(const BundlePolicy& policy) {
  return !policy.licenses.is_default() || !policy.max_glibc.is_default() ||
         !policy.max_glibcxx.is_default() || !policy.cxx11_abi.is_default() ||
         !policy.torch_abi.is_default() || !policy.min_version.is_default() || !policy.trusted.empty();
}

void judge_license(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict) {
  if (policy.licenses.is_default()) return;
  const std::string& license = bundle.manifest.license;
  const std::string pack = "the pack '" + printable(bundle.manifest.pack) + "'";
  if (license.empty()) {
    verdict.failures.push_back(not_allowed(bundle, policy, pack + " names no licence"));
    return;
  }
  const auto allowed =
      license.size() > k_longest_license ? std::nullopt : is_license_allowed(license, policy.licenses.value);
  if (!allowed)
    verdict.failures.push_back(
        not_allowed(bundle, policy, pack + " has a licence that is not an SPDX expression"));
  else if (!*allowed)
    verdict.failures.push_back(not_allowed(bundle, policy, pack + " has the licence " + printable(license)));
}

void judge_age(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict) {
  if (policy.min_version.is_default()) return;
  const std::string &version = bundle.manifest.source_version, &pack = bundle.manifest.pack;
  const std::string least = policy.min_version.value.text();
  const auto number = parse_release(version);
  if (number && *number >= policy.min_version.value) return;
  verdict.failures.push_back(make_error(
      Exit::failed, "older_bundle", bundle.path.string(),
      "it is of " +
          (version.empty() ? "no version of '" + printable(pack) + "'"
                           : "version " + printable(version) + " of '" + printable(pack) + "'") +
          ", and " + policy.min_version.origin + " asks for " + least + " or newer",
      version.empty() ? "pack.yaml names the version of a pack's sources: version, or version_file."
                      : "Use a newer bundle."));
}

Result<void> judge_policy(const BundlePolicy& policy, const JudgedBundle& bundle, const std::string& today,
                          Verdict& verdict) {
  judge_license(policy, bundle, verdict);
  if (!policy.max_glibc.is_default() || !policy.max_glibcxx.is_default()) {
    DSBUILD_TRY(needs, read_needs(bundle));
    judge_needs(policy, bundle.path, needs, verdict);
  }
  DSBUILD_CHECK(judge_torch(policy, bundle, verdict));
  judge_age(policy, bundle, verdict);
  judge_signature(policy, bundle, today, verdict);
  return {};
}

}  // namespace dsbuild
