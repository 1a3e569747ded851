// Who signed a bundle, of what he signed, and when that was built.
#include <algorithm>

#include "policy/policy.h"
#include "provenance/bundle_signature.h"

namespace dsbuild {
namespace {

tl::unexpected<Error> refuse(MessageCode code, const JudgedBundle& bundle, const std::string& what,
                             const std::string& fix) {
  return fail(Exit::failed, code, bundle.path.string(), what, fix);
}

bool is_revoked(const PublicKey& key, const BundlePolicy& policy) {
  return std::ranges::find(policy.revoked, key, &PolicyKey::key) != policy.revoked.end();
}

bool is_expired(const PolicyKey& key, const std::string& today) {
  return !key.expires.empty() && key.expires < today;
}

std::string named(const PolicyKey& key) {
  return "the key " + key.key.id() + " (" + key.file + ")";
}

// The key whose signature counts. When a bundle was signed nobody proves, so an expired key counts for none.
Result<PolicyKey> find_signer(const BundlePolicy& policy, const JudgedBundle& bundle,
                              const SigstoreBundle& signature, const std::string& today) {
  std::string why;
  std::vector<PolicyKey> known = policy.trusted;
  known.insert(known.end(), policy.revoked.begin(), policy.revoked.end());
  for (const PolicyKey& key : known) {
    if (!is_signed_by(key.key, signature.envelope)) continue;
    if (is_revoked(key.key, policy))
      why = "it is signed by " + named(key) + ", which is revoked";
    else if (is_expired(key, today))
      why = "it is signed by " + named(key) + ", which expired on " + key.expires;
    else
      return key;
  }
  const bool is_known = !why.empty();
  if (!is_known)
    why = "no trusted key has signed it; its signature names the key " +
          (signature.key_hint.empty() ? "of nobody" : printable(signature.key_hint));
  return refuse(
      "untrusted_key", bundle, why,
      std::string("Get a signature by a trusted key") +
          (is_known ? "." : ", or trust this key too: trust_key in a policy, or --trust-key FILES.") +
          "\nUsage: dsbuild sign BUNDLE --key FILE");
}

Result<void> check_builder(const BundlePolicy& policy, const JudgedBundle& bundle,
                           const Statement& statement) {
  const std::vector<std::string>& builders = policy.builders.value;
  if (policy.builders.is_default() || std::ranges::find(builders, statement.run.builder) != builders.end())
    return {};
  return refuse("other_builder", bundle,
                "it was built by " + printable(statement.run.builder) + ", and " + policy.builders.origin +
                    " asks for " + join(builders, " or "),
                "Use a bundle that this builder made, or name the other one too.");
}

Result<void> check_day(const BundlePolicy& policy, const JudgedBundle& bundle, const Statement& statement) {
  const std::string day = statement.run.finished.substr(0, policy.built_after.value.size());
  if (policy.built_after.is_default() || day >= policy.built_after.value) return {};
  return refuse("older_bundle", bundle,
                "it was built " + (day.empty() ? "on no day that is known" : "on " + printable(day)) +
                    ", and " + policy.built_after.origin + " asks for " + policy.built_after.value +
                    " or later",
                "Use a newer bundle.");
}

Result<AcceptedSignature> check_signature(const BundlePolicy& policy, const JudgedBundle& bundle,
                                          const std::string& today) {
  DSBUILD_TRY(signature, load_signature(bundle.path, bundle.files));
  DSBUILD_TRY(signer, find_signer(policy, bundle, signature, today));
  DSBUILD_TRY(statement, load_signed_statement(bundle.path, bundle.manifest, bundle.files));
  DSBUILD_CHECK(check_builder(policy, bundle, statement));
  DSBUILD_CHECK(check_day(policy, bundle, statement));
  return AcceptedSignature{signer.key.id(), signer.file, statement.run.builder};
}

}  // namespace

void judge_signature(const BundlePolicy& policy, const JudgedBundle& bundle, const std::string& today,
                     Verdict& verdict) {
  if (policy.trusted.empty()) return;
  auto signature = check_signature(policy, bundle, today);
  if (signature)
    verdict.signature = std::move(*signature);
  else
    verdict.failures.push_back(signature.error());
}

}  // namespace dsbuild
