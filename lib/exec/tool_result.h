// The result of an action's tools, in the form in which the cache has it.
#pragma once

#include <optional>

#include "cache/tiered_cache.h"
#include "exec/record.h"

namespace dsbuild {

struct ToolResult {
  CacheEntry outputs;            // by the suffixes of their names
  std::vector<ToolOutput> said;  // output of the tools
  std::string said_of;           // digest of the text whose lines `said` names; "": it names none
  bool operator==(const ToolResult&) const = default;

  // The bytes of the output with this suffix; nullptr: there is none.
  const std::string* find(std::string_view name) const;
};

// CPU time of the tools that made these outputs; 0: not known.
uint64_t milliseconds_of(const CacheEntry& outputs);

// Results by key, in the cache of a build. Without a cache, `find` finds none and `put` does nothing.
class ResultCache {
 public:
  explicit ResultCache(std::optional<TieredCache> store) : store_(std::move(store)) {}

  // A result with exactly these outputs, in this order; no names: with any outputs. `lines`: the digest of
  // the text that the tools would read now. A result whose messages name lines of a different text counts
  // only for lines == "".
  std::optional<ToolResult> find(const std::string& key, const std::vector<std::string>& names,
                                 const std::string& lines = {}) const;
  void put(const std::string& key, const ToolResult& result) const;
  void close() { store_.reset(); }

 private:
  std::optional<TieredCache> store_;
};

// The key of a result that only its record leads to: made from its action's key and the result's bytes.
ResultKey key_of_result(const Record& record, const ToolResult& result);

}  // namespace dsbuild
