// A share of a build's compiles on this machine, into the shared cache: `dsbuild build --shard 3/8`, for
// machines that no service gives work to. Nothing is linked or published; `--shard merge` is a build
// (build_bundle.h) that finds these results.
//
// Its build folder is its own, so shards may run side by side in one folder, and empty at first: each result
// of the share is looked for, made if need be, and brought there, also what a shard that was killed has left
// here.
#pragma once

#include "driver/shard_plan.h"
#include "remote/mirror.h"

namespace dsbuild {

struct ShardShare {
  ShardChoice choice;
  std::string plan;                    // digest
  size_t edges = 0, of_edges = 0;      // compiles of the share, and of all
  double seconds = 0, of_seconds = 0;  // expected of them
};

struct ShardOutcome {
  ShardShare share;
  int compiles = 0;         // whose tools ran
  int shared_compiles = 0;  // whose results were in the shared cache
  double seconds = 0;
  MirrorUses remote;
  std::vector<Warning> warnings;
};

// Exit 2 `bad_shard`: without a shared cache that takes results there are no shards.
Result<void> check_shard(const Settings& settings);

// For the session of a shard.
Settings settings_of_shard(Settings settings);
// Errors: those of make_plan, of check_same_plan, and of a run (end_run in run_end.h); `shard_not_uploaded`.
Result<ShardOutcome> build_shard(Request request, Session& session);

// What became of the compiles of a build with --shard merge.
struct MergeCounts {
  std::string plan;  // digest
  size_t edges = 0;  // compiles of the plan
  int shared = 0;    // whose results came from the shared cache
};
// nullopt: the plan is of no merge. Errors: `bad_shard_plan`, those of check_same_plan.
Result<std::optional<MergeCounts>> check_merge(const Plan& plan, const FileReader& files);

}  // namespace dsbuild
