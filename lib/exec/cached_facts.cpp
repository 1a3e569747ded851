#include "exec/cached_facts.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "base/text.h"
#include "exec/action_key.h"
#include "exec/key.h"

namespace dsbuild {
namespace {

constexpr const char* k_hint_version = "dsbuild-facts 1";
constexpr size_t k_most_hinted = 500;  // a build asks for about 100

}  // namespace

std::optional<std::string> CachedFacts::find(const std::string& key, const FactBasis& basis) {
  const auto name = key_in_cache(key, basis);
  if (!name) return std::nullopt;
  auto values = store_.find_records(*name);
  if (values.empty()) {
    fetch(*name);
    values = store_.find_records(*name);
  }
  return values.empty() ? std::nullopt : std::optional(values.front());
}

void CachedFacts::put(const std::string& key, const FactBasis& basis, const std::string& value) {
  if (const auto name = key_in_cache(key, basis)) store_.put_record(*name, value);
}

void CachedFacts::fetch(const std::string& name) {
  if (!std::exchange(has_fetched_hints_, true)) {
    store_.fetch_records_together({name, hint_});
    std::vector<std::string> names;
    for (const std::string& hinted : hinted())
      if (!store_.has(hinted)) names.push_back(hinted);
    store_.fetch_records_together(names);
  }
  (void)store_.fetch_records(name);  // which was asked for, where that was possible
}

std::set<std::string> CachedFacts::hinted() const {
  std::set<std::string> names;
  for (const std::string& hint : store_.find_records(hint_)) {
    const std::vector<std::string> lines = split_lines(hint);
    if (lines.empty() || lines.front() != k_hint_version) continue;
    for (size_t i = 1; i < lines.size() && names.size() < k_most_hinted; ++i)
      if (is_sha256(lines[i])) names.insert(lines[i]);
  }
  return names;
}

void CachedFacts::put_hint() {
  if (asked_.empty()) return;
  if (std::ranges::includes(hinted(), asked_)) return;
  store_.put_record(hint_, std::string(k_hint_version) + "\n" +
                               join(std::vector<std::string>(asked_.begin(), asked_.end()), "\n") + "\n");
}

std::optional<std::string> CachedFacts::content_of(const Path& path) {
  switch (files_.opening(path)) {
    case Opening::absent:
      return "absent";
    case Opening::file: {
      const auto digest = digests_.digest(path);
      return digest ? std::optional(*digest) : std::nullopt;
    }
    case Opening::directory: {
      const auto names = files_.list(path);
      return names ? std::optional("folder of " + sha256(join(*names, "/"))) : std::nullopt;
    }
    case Opening::other:
    case Opening::unreadable:
      break;
  }
  return std::nullopt;
}

// Notes that it is asked for.
std::optional<std::string> CachedFacts::key_in_cache(const std::string& key, const FactBasis& basis) {
  Key name = Key().add("version", k_key_version).add("fact", key).add_bytes("text", basis.text);
  for (const Path& path : basis.files) {
    const auto content = content_of(path);
    if (!content) return std::nullopt;
    name.add(path.string(), *content);
  }
  const std::string digest = name.digest();
  if (hint_.empty())
    hint_ = Key().add("version", k_key_version).add("facts asked for after", digest).digest();
  asked_.insert(digest);
  return digest;
}

}  // namespace dsbuild
