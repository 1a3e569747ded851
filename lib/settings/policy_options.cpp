#include "settings/policy_options.h"

#include <array>

#include "settings/setting_values.h"
#include "settings/values.h"

namespace dsbuild {
namespace {

// `plan -v` shows none of them.
SettingValue typed(SettingValue value) {
  value.show = nullptr;
  return value;
}

template <class T>
SettingValue of_policy(Setting<T> BundlePolicy::* place, Result<T> (*parse)(const RawSetting& given)) {
  return {[=](const RawSetting& given, Settings& settings) -> Result<void> {
            DSBUILD_TRY(value, parse(given));
            settings.policy.*place = {std::move(value), given.origin};
            return {};
          },
          {}};
}

SettingValue op_sizes() {
  return {[](const RawSetting& given, Settings& settings) -> Result<void> {
            DSBUILD_TRY(sizes, parse_op_sizes(given));
            settings.max_op_size = {sizes, given.origin};
            return {};
          },
          {}};
}

Result<Version> parse_a_version(const RawSetting& given) {
  if (const auto version = parse_release(trim(given.text))) return *version;
  return fail(Exit::usage, "bad_version", given.origin, "'" + printable(given.text) + "' is not a version",
              "Give one, as in 2.28 or 0.19.8.");
}

// "2027-06-30", which texts in their order are in, too.
bool is_date(const std::string& text) {
  const std::vector<std::string> parts = split(text, "-");
  if (text.size() != 10 || parts.size() != 3 || parts[0].size() != 4 || parts[1].size() != 2) return false;
  const auto year = whole_number<int>(parts[0]), month = whole_number<int>(parts[1]),
             day = whole_number<int>(parts[2]);
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1) return false;
  constexpr std::array k_days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = *year % 4 == 0 && (*year % 100 != 0 || *year % 400 == 0);
  return *day <= k_days[static_cast<size_t>(*month - 1)] + (*month == 2 && is_leap ? 1 : 0);
}

Result<std::string> parse_date(const RawSetting& given) {
  const std::string text = trim(given.text);
  if (is_date(text)) return text;
  return fail(Exit::usage, "bad_date", given.origin, "'" + printable(given.text) + "' is not a day",
              "Give one as in 2027-06-30.");
}

Result<bool> parse_ptx_only(const RawSetting& given) {
  DSBUILD_TRY(index, parse_choice(given, {"allowed", "forbidden"}));
  return index == 1;
}

Result<std::optional<bool>> parse_cxx11_abi(const RawSetting& given) {
  DSBUILD_TRY(is_on, parse_bool(given));
  return std::optional(is_on);
}

Result<std::string> parse_torch_abi(const RawSetting& given) {
  const std::string text = trim(given.text);
  if (text != k_stable_abi) DSBUILD_CHECK(parse_version_range(text, given.origin));
  return text;
}

Result<std::vector<std::string>> parse_list(const RawSetting& given) {
  DSBUILD_TRY(text, parse_non_blank(given));
  std::vector<std::string> words;
  for (const std::string& word : split(text, ","))
    if (const std::string trimmed = trim(word); !trimmed.empty()) words.push_back(trimmed);
  return words;
}

constexpr std::string_view k_expires = " expires ";

Result<std::vector<std::string>> parse_key_files(const RawSetting& given) {
  DSBUILD_TRY(words, parse_list(given));
  for (const std::string& word : words)
    if (const size_t at = word.find(k_expires); at != std::string::npos)
      DSBUILD_CHECK(parse_date({word.substr(at + k_expires.size()), given.origin}));
  return words;
}

std::vector<Option> options_of_its_code() {
  return {
      {.names = "--gpu",
       .topic = Topic::gpus,
       .type = "GPUS",
       .help =
           "The GPUs asked about: H100,10.0 or native or all; with --strict exit 1 where one is not covered",
       .policy = "gpu",
       .value = typed(text(&Settings::gpus))},
      {.names = "--max-size",
       .topic = Topic::sizes,
       .type = "SIZE",
       .help = "Exit 1 where all libraries together are larger: 200M",
       .policy = "max_size",
       .value = typed(size(&Settings::max_size, Zero::is_wrong, ""))},
      {.names = "--max-op-size",
       .topic = Topic::sizes,
       .type = "SIZES",
       .help = "Exit 1 where a library is larger: 50M, or for an op of its own 50M,scale=5M",
       .policy = "max_op_size",
       .value = op_sizes()},
      {.names = "--ptx-only",
       .topic = Topic::policy,
       .type = "allowed|forbidden",
       .help = "Whether GPUs of --gpu may need their driver's compiler, and ops be without machine code",
       .policy = "ptx_only",
       .value = of_policy(&BundlePolicy::forbids_ptx_only, parse_ptx_only)},
  };
}

std::vector<Option> options_of_its_needs() {
  return {
      {.names = "--license",
       .topic = Topic::policy,
       .type = "LICENSES",
       .help = "SPDX licences that its ops may have: Apache-2.0,MIT",
       .policy = "license",
       .value = of_policy(&BundlePolicy::licenses, parse_list)},
      {.names = "--max-glibc",
       .topic = Topic::policy,
       .type = "VERSION",
       .help = "The newest glibc that its libraries may need: 2.28",
       .policy = "max_glibc",
       .value = of_policy(&BundlePolicy::max_glibc, parse_a_version)},
      {.names = "--max-glibcxx",
       .topic = Topic::policy,
       .type = "VERSION",
       .help = "The newest libstdc++ that they may need, by its symbols: 3.4.25",
       .policy = "max_glibcxx",
       .value = of_policy(&BundlePolicy::max_glibcxx, parse_a_version)},
      {.names = "--cxx11-abi",
       .topic = Topic::policy,
       .type = "on|off",
       .help = "The C++ ABI of the torch that its ops are for",
       .policy = "cxx11_abi",
       .value = of_policy(&BundlePolicy::cxx11_abi, parse_cxx11_abi)},
      {.names = "--torch-abi",
       .topic = Topic::policy,
       .type = "RANGE",
       .help = "The torch that its ops are for: 2.11 or >=2.10; stable: any that has torch's stable ABI",
       .policy = "torch_abi",
       .value = of_policy(&BundlePolicy::torch_abi, parse_torch_abi)},
  };
}

std::vector<Option> options_of_its_origin() {
  return {
      {.names = "--trust-key",
       .topic = Topic::policy,
       .type = "FILES",
       .help = "It must be signed by one of these public keys (PEM): ci.pem,\"old.pem expires 2027-06-30\"",
       .policy = "trust_key",
       .value = of_policy(&BundlePolicy::key_files, parse_key_files)},
      {.names = "--revoked-key",
       .topic = Topic::policy,
       .type = "FILES",
       .help = "Public keys that count no longer (PEM)",
       .policy = "revoked_key",
       .value = of_policy(&BundlePolicy::revoked_files, parse_list)},
      {.names = "--builder",
       .topic = Topic::policy,
       .type = "BUILDERS",
       .help = "Who may have built it, by the id in its provenance",
       .policy = "builder",
       .value = of_policy(&BundlePolicy::builders, parse_list)},
      {.names = "--min-version",
       .topic = Topic::policy,
       .type = "VERSION",
       .help = "The oldest version of the pack's sources: an older bundle is refused",
       .policy = "min_version",
       .value = of_policy(&BundlePolicy::min_version, parse_a_version)},
      {.names = "--built-after",
       .topic = Topic::policy,
       .type = "DATE",
       .help = "The first day on which it may have been built: 2026-11-01",
       .policy = "built_after",
       .value = of_policy(&BundlePolicy::built_after, parse_date)},
  };
}

std::string beside(const Path& policy, const std::string& names) {
  std::vector<std::string> files;
  for (const std::string& name : split(names, ","))
    files.push_back((policy.parent_path() / trim(name)).string());
  return join(files, ",");
}

Result<std::vector<PolicyKey>> read_keys(const Setting<std::vector<std::string>>& named,
                                         const FileReader& files) {
  std::vector<PolicyKey> keys;
  for (const std::string& word : named.value) {
    const size_t at = word.find(k_expires);
    const std::string file = trim(word.substr(0, at));
    const std::string expires = at == std::string::npos ? "" : trim(word.substr(at + k_expires.size()));
    DSBUILD_TRY(text, files.read_file(file));
    DSBUILD_TRY(found, parse_public_keys(text, file));
    for (const PublicKey& key : found)
      keys.push_back({key, file, expires});
  }
  return keys;
}

// What is asked of who signs, or of what is signed, says nothing of a bundle that anybody may have written.
Result<void> check_signer(const BundlePolicy& policy) {
  if (!policy.trusted.empty()) return {};
  const std::pair<const char*, const std::string*> asked[] = {{"builder", &policy.builders.origin},
                                                              {"built_after", &policy.built_after.origin},
                                                              {"revoked_key", &policy.revoked_files.origin}};
  for (const auto& [key, origin] : asked)
    if (*origin != Setting<bool>().origin)
      return fail(Exit::usage, "bad_policy", *origin,
                  "'" + std::string(key) + "' is asked of a signature, and no key is trusted",
                  "Name the public keys that count: trust_key in a policy, or --trust-key FILES.");
  return {};
}

}  // namespace

std::vector<Option> options_of_policy() {
  std::vector<Option> all = {
      {.names = "--policy",
       .topic = Topic::policy,
       .type = "FILE",
       .help = "What the bundle must be: a YAML file with these options by their names"}};
  for (const auto& more : {options_of_its_code(), options_of_its_needs(), options_of_its_origin()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

Result<ConfigEntries> load_policy(const Path& file, const FileReader& files) {
  DSBUILD_TRY(entries, read_policy_file(file, files));
  for (const Option& option : options())
    if (const auto entry = entries.find(option.policy); entry != entries.end() && option.type == "FILES")
      entry->second.text = beside(file, entry->second.text);
  return entries;
}

Result<void> read_policy_keys(const FileReader& files, BundlePolicy& policy) {
  DSBUILD_TRY(trusted, read_keys(policy.key_files, files));
  DSBUILD_TRY(revoked, read_keys(policy.revoked_files, files));
  policy.trusted = std::move(trusted);
  policy.revoked = std::move(revoked);
  return check_signer(policy);
}

}  // namespace dsbuild
