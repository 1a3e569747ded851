// `dsbuild build --shard 3/8`: runs a share of a build's compiles on this machine and uploads the results to
// the shared cache. It suits machines without a remote execution service. A shard links and publishes
// nothing. `--shard merge` is a normal build (build_bundle.h) that finds these results.
//
// Each shard has a build folder of its own, so several shards may run in one working folder at the same time.
// That build folder is empty at first. So the shard looks up every action of its share, and also uploads
// results that a killed shard left in the local cache.
#pragma once

#include "driver/shard_plan.h"
#include "remote/mirror.h"

namespace dsbuild {

struct ShardShare {
  ShardChoice choice;
  std::string plan;                    // digest
  size_t edges = 0, of_edges = 0;      // compiles of this share, and of all shares
  double seconds = 0, of_seconds = 0;  // their expected times
};

struct ShardOutcome {
  ShardShare share;
  int compiles = 0;         // compiles whose tools ran
  int shared_compiles = 0;  // compiles whose results were in the shared cache
  double seconds = 0;
  MirrorUses remote;
  std::vector<Warning> warnings;
};

// Exit 2 `bad_shard` if there is no shared cache that this machine may write to.
Result<void> check_shard(const Settings& settings);

// The settings with which a shard's session is made.
Settings settings_of_shard(Settings settings);
// Errors: those of make_plan, of check_same_plan, and of a run (end_run in run_end.h); `shard_not_uploaded`.
Result<ShardOutcome> build_shard(Request request, Session& session);

// The compiles of a build with --shard merge.
struct MergeCounts {
  std::string plan;  // digest
  size_t edges = 0;  // compiles of the plan
  int shared = 0;    // whose results came from the shared cache
};
// nullopt: the plan is not that of a merge. Errors: `bad_shard_plan`, those of check_same_plan.
Result<std::optional<MergeCounts>> check_merge(const Plan& plan, const FileReader& files);

}  // namespace dsbuild
