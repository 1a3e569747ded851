#include "exec/cached_facts.h"

#include "base/digest.h"
#include "exec/action_key.h"
#include "exec/key.h"

namespace dsbuild {

std::optional<std::string> CachedFacts::find(const std::string& key, const FactBasis& basis) {
  const auto name = key_in_cache(key, basis);
  if (!name) return std::nullopt;
  auto values = store_.find_records(*name);
  if (values.empty() && store_.fetch_records(*name)) values = store_.find_records(*name);
  return values.empty() ? std::nullopt : std::optional(values.front());
}

void CachedFacts::put(const std::string& key, const FactBasis& basis, const std::string& value) {
  if (const auto name = key_in_cache(key, basis)) store_.put_record(*name, value);
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

std::optional<std::string> CachedFacts::key_in_cache(const std::string& key, const FactBasis& basis) {
  Key name = Key().add("version", k_key_version).add("fact", key).add_bytes("text", basis.text);
  for (const Path& path : basis.files) {
    const auto content = content_of(path);
    if (!content) return std::nullopt;
    name.add(path.string(), *content);
  }
  return name.digest();
}

}  // namespace dsbuild
