// Copies results between the local cache and a shared cache or an archive, without a build: `dsbuild cache
// push|pull|export|import`.
//
// The graph of a plan runs in a folder of its own. Each action takes its result from the local cache and
// starts no tool. So the transfer looks up everything that a build looks up: links, parts of slices, facts.
#pragma once

#include <string>
#include <vector>

#include "driver/plan.h"
#include "driver/session.h"
#include "remote/cache_archive.h"

namespace dsbuild {

struct CacheTransfer {
  size_t edges = 0;                  // of the plan; 0: no plan was made
  std::vector<std::string> missing;  // titles of edges whose results the local cache lacks
  size_t waiting = 0;                // edges that need an output of a missing one
  size_t entries = 0;                // entries that were copied
  size_t lacking = 0;                // entries of an archive that were not copied
  MirrorUses uses;
  bool is_whole() const {
    return missing.empty() && lacking == 0 && uses.off.empty() && uses.read_only.empty();
  }
};

// The settings with which a transfer's session is made: a build folder of its own, and no options that only a
// build uses.
Settings settings_of_transfer(Settings settings);

// Pulls or pushes the results of one plan; Session::remote decides which. Errors: those of make_plan and of
// Ninja; exit 2 `foreign_cache_dir`.
Result<CacheTransfer> transfer_plan(Request request, Session& session);

// Uploads the whole local cache to the session's shared cache.
Result<CacheTransfer> push_all(const Settings& settings, Session& session);
// Reads all items of an archive. The session's shared cache is that archive.
Result<CacheTransfer> pull_all(const std::vector<UpstreamItem>& items, Session& session);

}  // namespace dsbuild
