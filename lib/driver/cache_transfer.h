// The local cache filled or emptied into a shared one or an archive without a build: `dsbuild cache
// push|pull|export|import`.
//
// The graph of a plan runs, in a folder of its own, and each action takes its result from the local cache and
// starts no tool. So whatever a build asks for is found: links, parts of slices, facts.
#pragma once

#include <string>
#include <vector>

#include "driver/plan.h"
#include "driver/session.h"
#include "remote/cache_archive.h"

namespace dsbuild {

struct CacheTransfer {
  size_t edges = 0;                  // of the plan; 0: none was made
  std::vector<std::string> missing;  // titles of those whose results the local cache lacks
  size_t waiting = 0;                // edges that need one of those
  size_t entries = 0;                // that came, or went
  size_t lacking = 0;                // entries of an archive that did not come
  MirrorUses uses;
  bool is_whole() const {
    return missing.empty() && lacking == 0 && uses.off.empty() && uses.read_only.empty();
  }
};

// For the session of a transfer: a build folder of its own, and nothing that only a build does.
Settings settings_of_transfer(Settings settings);

// By the session's shared cache (Session::remote), in its direction: pulls, or pushes. Errors: those of
// make_plan and of Ninja; exit 2 `foreign_cache_dir`.
Result<CacheTransfer> transfer_plan(Request request, Session& session);

// All that the local cache has, into the session's shared cache.
Result<CacheTransfer> push_all(const Settings& settings, Session& session);
// All that the archive has, from the session's shared cache, which is over it.
Result<CacheTransfer> pull_all(const std::vector<UpstreamItem>& items, Session& session);

}  // namespace dsbuild
