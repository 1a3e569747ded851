// Facts in the cache of results: a machine that has a copy of it asks no compiler what it is. They are
// trusted as results are, under a key of contents.
#pragma once

#include "cache/content_store.h"
#include "sys/digest_memo.h"
#include "sys/fact_store.h"

namespace dsbuild {

class CachedFacts : public SharedFacts {
 public:
  // `digests` outlives this.
  CachedFacts(FileSystem& files, const Path& store, DigestMemo& digests)
      : files_(files), store_(files, store), digests_(digests) {}
  // From now on, what is not here is asked for there, and what is found goes there.
  void share_with(std::shared_ptr<Upstream> upstream) { store_.share_with(std::move(upstream)); }
  std::optional<std::string> find(const std::string& key, const FactBasis& basis) override;
  void put(const std::string& key, const FactBasis& basis, const std::string& value) override;

 private:
  // nullopt: a file cannot be read.
  std::optional<std::string> content_of(const Path& path);
  std::optional<std::string> key_in_cache(const std::string& key, const FactBasis& basis);

  FileSystem& files_;
  ContentStore store_;
  DigestMemo& digests_;
};

}  // namespace dsbuild
