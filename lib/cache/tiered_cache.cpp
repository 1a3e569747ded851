#include "cache/tiered_cache.h"

#include <algorithm>

#include "base/digest.h"

namespace dsbuild {
std::optional<CacheEntry> TieredCache::find(const std::string& key) const {
  auto entry = find_here(key);
  if (entry && upstream_) upstream_->found(UpstreamKind::result, key);
  return entry || !fetch(UpstreamKind::result, key) ? std::move(entry) : find_here(key);
}

std::optional<CacheEntry> TieredCache::find_here(const std::string& key) const {
  const auto result = actions_.find({key}).front();
  if (!result) return std::nullopt;
  std::vector<std::string> digests;
  for (const CachedFile& file : result->outputs)
    digests.push_back(file.digest);
  CacheEntry entry;
  auto blobs = blobs_.find(digests);
  for (size_t i = 0; i < blobs.size(); ++i) {
    const CachedFile& file = result->outputs[i];
    if (!blobs[i] || blobs[i]->size() != file.bytes) {
      actions_.forget(key);
      return std::nullopt;
    }
    entry.push_back({file.name, std::move(*blobs[i]), file.milliseconds});
  }
  return entry;
}

bool TieredCache::has(const std::string& key) const {
  return actions_.has({key}).front();
}

void TieredCache::put(const std::string& key, const CacheEntry& entry) const {
  ActionResult result;
  for (const StoredFile& file : entry) {
    result.outputs.push_back({file.name, sha256(file.bytes), file.bytes.size(), file.milliseconds});
    if (!blobs_.put(result.outputs.back().digest, file.bytes)) return;
  }
  actions_.put(key, result);
  tell(UpstreamKind::result, key);
}

std::vector<std::string> TieredCache::find_records(const std::string& key) const {
  std::vector<std::string> digests, records;
  if (const auto list = actions_.find({key}).front())
    for (const CachedFile& file : list->outputs)
      digests.push_back(file.digest);
  for (auto& record : blobs_.find(digests))
    if (record) records.push_back(std::move(*record));
  if (!records.empty() && upstream_) upstream_->found(UpstreamKind::records, key);
  return records;
}

void TieredCache::put_record(const std::string& key, const std::string& record) const {
  const CachedFile newest = {k_record, sha256(record), record.size()};
  ActionResult list = {{newest}};
  if (const auto before = actions_.find({key}).front()) {
    if (!before->outputs.empty() && before->outputs.front() == newest && blobs_.has({newest.digest}).front())
      return;
    std::ranges::copy_if(before->outputs, std::back_inserter(list.outputs),
                         [&](const CachedFile& file) { return file != newest; });
  }
  list.outputs.resize(std::min(list.outputs.size(), k_most_records));
  if (!blobs_.put(newest.digest, record)) return;
  actions_.put(key, list);
  tell(UpstreamKind::records, key);
}

std::optional<std::string> TieredCache::find_text(const std::string& digest) const {
  return blobs_.find({digest}).front();
}

void TieredCache::put_text(const std::string& digest, const std::string& text) const {
  if (!blobs_.has({digest}).front()) (void)blobs_.put(digest, text);
}

}  // namespace dsbuild
