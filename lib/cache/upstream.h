// A cache that machines share, above the local one. Results come from there into the local
// cache, and go there from it. Steps of a build ask the process that runs it (remote/mirror.h), which has all
// connections.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sys/process.h"

namespace dsbuild {

enum class UpstreamKind {
  result,   // by its key, with its files
  records,  // by the key of an action, with the texts that they name
};

struct UpstreamItem {
  UpstreamKind what;
  std::string key;
  bool operator==(const UpstreamItem&) const = default;
};

class Upstream {
 public:
  virtual ~Upstream() = default;
  // Whether the local cache has more of this name now than before.
  virtual bool fetch(UpstreamKind what, const std::string& name) = 0;
  // The same for several at once, where that takes less time than one after the other; else nothing happens.
  virtual void fetch_together(UpstreamKind /*what*/, const std::vector<std::string>& /*names*/) {}
  // The local cache has got this by a build. Returns at once.
  virtual void added(UpstreamKind what, const std::string& name) = 0;
  // The local cache had this already. Returns at once.
  virtual void found(UpstreamKind /*what*/, const std::string& /*name*/) {}
};

// What a step asks, and how the other side reads it.
inline constexpr const char* k_upstream_variable = "DSBUILD_UPSTREAM";
// The same, for a build that wants to know what its steps find in the local cache.
inline constexpr const char* k_upstream_found_variable = "DSBUILD_UPSTREAM_FOUND";
std::string answer_of(Upstream& upstream, const std::string& question);

// A step's; nullptr where its build has none.
std::shared_ptr<Upstream> upstream_of_build(const Environment& environment);

}  // namespace dsbuild
