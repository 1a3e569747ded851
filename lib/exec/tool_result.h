// What tools made for an action, in the one form that it has in the cache.
#pragma once

#include <optional>

#include "cache/tiered_cache.h"
#include "exec/record.h"

namespace dsbuild {

struct ToolResult {
  CacheEntry outputs;      // by the ends of their names
  std::vector<Said> said;  // by tools that made them
  std::string said_of;     // a digest of the text whose lines `said` may name; "": they name none
  bool operator==(const ToolResult&) const = default;

  // nullptr: there is none of this name.
  const std::string* find(std::string_view name) const;
};

// CPU time of the tools that made all of them; 0: not known.
uint64_t milliseconds_of(const CacheEntry& outputs);

// Results by key, in the cache of a build; without one, none is found and none is put.
class ResultCache {
 public:
  explicit ResultCache(std::optional<TieredCache> store) : store_(std::move(store)) {}

  // With exactly these outputs, in this order; without names, with any. `lines`: the digest of the text that
  // the tools would have now, where what they said of other lines does not count; "": it always counts.
  std::optional<ToolResult> find(const std::string& key, const std::vector<std::string>& names,
                                 const std::string& lines = {}) const;
  void put(const std::string& key, const ToolResult& result) const;
  void close() { store_.reset(); }

 private:
  std::optional<TieredCache> store_;
};

// The key of a result that is found by its record alone: of its action, and of its bytes.
ResultKey key_of_result(const Record& record, const ToolResult& result);

}  // namespace dsbuild
