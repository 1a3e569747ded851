// Stores facts in the cache of results, under keys of contents. A machine with a copy of the cache starts no
// compiler to identify it. A build needs one fact to ask for the next, so a shared cache would get one
// request after the other. Hints avoid this: under the first fact that a build asks for, the cache has lists
// of the facts that earlier builds asked for after it. dsbuild downloads all of these together.
#pragma once

#include <set>

#include "cache/tiered_cache.h"
#include "sys/digest_memo.h"
#include "sys/fact_store.h"

namespace dsbuild {

class CachedFacts : public SharedFacts {
 public:
  // `digests` must outlive this object.
  CachedFacts(FileSystem& files, const Path& store, DigestMemo& digests)
      : files_(files), store_(files, store), digests_(digests) {}
  // From now on, facts that the local cache lacks are downloaded from `upstream`, and new facts are uploaded.
  void share_with(std::shared_ptr<Upstream> upstream) { store_.share_with(std::move(upstream)); }
  std::optional<std::string> find(const std::string& key, const FactBasis& basis) override;
  void put(const std::string& key, const FactBasis& basis, const std::string& value) override;
  // Stores the names of all facts that were asked for, as a hint. Call it at the end of a build.
  void put_hint();

 private:
  // Downloads the facts of this name; the first call also downloads all that hints name.
  void fetch(const std::string& name);
  std::set<std::string> hinted() const;
  // nullopt: a file cannot be read.
  std::optional<std::string> content_of(const Path& path);
  std::optional<std::string> key_in_cache(const std::string& key, const FactBasis& basis);

  FileSystem& files_;
  TieredCache store_;
  DigestMemo& digests_;
  std::string hint_;             // the name of the hints; "" until the first fact is asked for
  std::set<std::string> asked_;  // names of facts
  bool has_fetched_hints_ = false;
};

}  // namespace dsbuild
