// How a plan is cut into shards: the same on each machine that has the same plan. As a file (--shard-plan)
// the first machine writes it, and the others see by it whether they have the same plan.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "driver/plan.h"
#include "plan/shard_cut.h"

namespace dsbuild {

struct ShardPlan {
  // plan.json (lib/driver/inventory.h), SHA-256 of what each tool is, and which compile edges there are. No
  // path of a machine, and nothing of its history.
  Json made_of;
  std::string digest;  // SHA-256 of that
  std::vector<Shard> shards;
};

// By sizes of sources and what specs say, never by what this machine has measured.
ShardPlan cut_plan(const Plan& plan, size_t shards);

std::string render_shard_plan(const ShardPlan& plan);
// Error: exit 2 `bad_shard_plan`.
Result<ShardPlan> parse_shard_plan(const std::string& json, const std::string& file);

// Error: exit 2 `shard_plan_differs`, which names what differs.
Result<void> check_same_plan(const ShardPlan& here, const ShardPlan& there, const std::string& file);

}  // namespace dsbuild
