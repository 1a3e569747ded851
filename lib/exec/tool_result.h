// The result of an action's tools, as the cache stores it.
#pragma once

#include <optional>

#include "cache/tiered_cache.h"
#include "exec/record.h"

namespace dsbuild {

struct ToolResult {
  CacheEntry outputs;                   // the files, each named by its suffix
  std::vector<ToolOutput> tool_output;  // in the order of the tools
  // Digest of the source text to which line numbers in `tool_output` refer; "": there are no line numbers.
  std::string tool_output_source;
  bool operator==(const ToolResult&) const = default;

  // The bytes of the output with this suffix; nullptr: there is none.
  const std::string* find(std::string_view name) const;
};

// CPU time of the tools that made these outputs; 0: unknown.
uint64_t milliseconds_of(const CacheEntry& outputs);

// Results by key, in the cache of a build. Without a cache, `find` finds none and `put` does nothing.
class ResultCache {
 public:
  explicit ResultCache(std::optional<TieredCache> store) : store_(std::move(store)) {}

  // Finds the result of this key. `names`: it must have exactly these outputs, in this order; if empty, it
  // may have any. `lines`: digest of the source text that the tools would read now. Line numbers in the
  // result's messages must refer to that text; if `lines` is empty, they may refer to any text.
  std::optional<ToolResult> find(const std::string& key, const std::vector<std::string>& names,
                                 const std::string& lines = {}) const;
  void put(const std::string& key, const ToolResult& result) const;
  void close() { store_.reset(); }

 private:
  std::optional<TieredCache> store_;
};

// The key of a result in the cache: a digest of the action's key and of the outputs. Only the action's record
// names this key, so a build finds the result only through the record.
ResultKey key_of_result(const Record& record, const ToolResult& result);

}  // namespace dsbuild
