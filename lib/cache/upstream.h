// The interface of a shared cache, which lies above the local one. Results are copied between the local cache
// and the shared one, in both directions. Steps of a build ask the process that runs it (remote/mirror.h),
// which has the only connections.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sys/process.h"

namespace dsbuild {

enum class UpstreamKind {
  result,   // a result by its key, with its files
  records,  // the records of an action by its key, with the texts that they name
};

struct UpstreamItem {
  UpstreamKind what;
  std::string key;
  bool operator==(const UpstreamItem&) const = default;
};

class Upstream {
 public:
  virtual ~Upstream() = default;
  // Copies it into the local cache. Whether the local cache now has more under this name than before.
  virtual bool fetch(UpstreamKind what, const std::string& name) = 0;
  // The same for several at once. Does nothing if that would take no less time than one after the other.
  virtual void fetch_together(UpstreamKind /*what*/, const std::vector<std::string>& /*names*/) {}
  // A build has put this into the local cache. Returns at once.
  virtual void added(UpstreamKind what, const std::string& name) = 0;
  // The local cache had this already. Returns at once.
  virtual void found(UpstreamKind /*what*/, const std::string& /*name*/) {}
};

// The variable names the socket by which a step asks the process that runs its build. That process answers
// with answer_of.
inline constexpr const char* k_upstream_variable = "DSBUILD_UPSTREAM";
// The same, for a build that wants to know which results its steps find in the local cache.
inline constexpr const char* k_upstream_found_variable = "DSBUILD_UPSTREAM_FOUND";
std::string answer_of(Upstream& upstream, const std::string& question);

// The shared cache as a step sees it, by that socket; nullptr: its build has none.
std::shared_ptr<Upstream> upstream_of_build(const Environment& environment);

}  // namespace dsbuild
