// Facts in the cache of results: a machine that has a copy of it asks no compiler what it is. They are
// trusted as results are, under a key of contents. One fact leads to the next question, so a distant cache
// would be asked one after the other. Hence hints: under the first fact that a build asks for lie lists of
// those that earlier builds asked for after it. These are fetched together.
#pragma once

#include <set>

#include "cache/tiered_cache.h"
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
  // The facts that were asked for, as a hint for others. For the end of a build.
  void put_hint();

 private:
  // Brings the facts of this name from upstream; the first time all that hints name, too.
  void fetch(const std::string& name);
  std::set<std::string> hinted() const;
  // nullopt: a file cannot be read.
  std::optional<std::string> content_of(const Path& path);
  std::optional<std::string> key_in_cache(const std::string& key, const FactBasis& basis);

  FileSystem& files_;
  TieredCache store_;
  DigestMemo& digests_;
  std::string hint_;             // the name of hints; "": nothing was asked for yet
  std::set<std::string> asked_;  // names of facts
  bool has_fetched_hints_ = false;
};

}  // namespace dsbuild
