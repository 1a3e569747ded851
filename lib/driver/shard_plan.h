// The division of a plan into shards. It is equal on each machine that has an equal plan. With --shard-plan,
// the first machine writes it to a file, and the others compare their plans with it.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "driver/plan.h"
#include "plan/shard_cut.h"

namespace dsbuild {

struct ShardPlan {
  // The inputs of the division: plan.json (lib/driver/inventory.h), the SHA-256 of each tool's parts, and the
  // list of compile edges. It has no paths and no measured times, since both differ between machines.
  Json made_of;
  std::string digest;  // SHA-256 of made_of
  std::vector<Shard> shards;
};

// Estimates costs by the sizes of sources and by specs, never by times that this machine has measured.
ShardPlan cut_plan(const Plan& plan, size_t shards);

std::string render_shard_plan(const ShardPlan& plan);
// Error: exit 2 `bad_shard_plan`.
Result<ShardPlan> parse_shard_plan(const std::string& json, const std::string& file);

// Error: exit 2 `shard_plan_differs`, which names the difference.
Result<void> check_same_plan(const ShardPlan& here, const ShardPlan& there, const std::string& file);

}  // namespace dsbuild
