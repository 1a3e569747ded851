#include "driver/shard_plan.h"

#include <catch2/catch.hpp>

#include "build_world.h"
#include "driver/build_shard.h"

using namespace dsbuild;

namespace {

Plan plan_of(BuildWorld& world) {
  Session session(world.settings, world.system, world.events);
  return make_plan(world.request(), session).value();
}

std::string difference(const ShardPlan& here, const ShardPlan& there) {
  const auto same = check_same_plan(here, there, "cut.json");
  return same ? "" : same.error().code + " " + same.error().what;
}

}  // namespace

TEST_CASE("a cut: what is written is read") {
  BuildWorld world;
  const ShardPlan cut = cut_plan(plan_of(world), 2);
  CHECK(cut.shards[0].outputs == std::vector<std::string>{"obj/one/one.cpp/one.o"});
  CHECK(cut.shards[1].outputs == std::vector<std::string>{"obj/two/two.cpp/two.o"});
  const ShardPlan read = parse_shard_plan(render_shard_plan(cut), "cut.json").value();
  CHECK(read.digest == cut.digest);
  CHECK(read.shards == cut.shards);
  CHECK(difference(cut, read).empty());
}

TEST_CASE("a cut knows nothing of this machine: neither its folders nor what it has measured") {
  BuildWorld world, other;
  other.settings.jobs.value = 7;
  Plan plan = plan_of(other);
  for (const Edge& edge : plan.graph.edges)
    plan.history.measured[history_key("small", edge)].seconds = edge.op == "two" ? 100 : 1;
  std::ranges::reverse(plan.graph.edges);
  const ShardPlan here = cut_plan(plan, 2), there = cut_plan(plan_of(world), 2);
  CHECK(difference(here, there).find("tool cxx") !=
        std::string::npos);  // it lies elsewhere, which is in keys
  CHECK(here.made_of.find("plan")->dump() == there.made_of.find("plan")->dump());
  CHECK(here.made_of.find("compile_edges")->dump() == there.made_of.find("compile_edges")->dump());
  CHECK(here.shards == there.shards);
}

TEST_CASE("plans that differ: the message names what does") {
  BuildWorld world;
  const ShardPlan cut = cut_plan(plan_of(world), 2);
  CHECK(difference(cut, cut_plan(plan_of(world), 3)) ==
        "shard_plan_differs it has 3 shards, and this is one of 2");
  world.write_source("two", "int more;\n");
  CHECK(difference(cut, cut_plan(plan_of(world), 2)).find("two: source two.cpp: SHA-256 ") !=
        std::string::npos);
  world.write_source("two", "");
  world.write("pack/one/op.yaml",
              "name: one\nbackend: cpu\nsources: [one.cpp]\nexports: [one_run]\nflags: {cxx: [-DX=1]}\n");
  CHECK(difference(cut, cut_plan(plan_of(world), 2)).find("one: flags of one.cpp: -DX=1 there, none here") !=
        std::string::npos);
  world.add_op("one");
  world.settings.selection.without = {"two"};
  CHECK(difference(cut, cut_plan(plan_of(world), 2)) ==
        "shard_plan_differs it is of another plan: two: op: not there there, built here");
}

TEST_CASE("what is no cut") {
  for (const char* text : {"", "{}", R"({"schema":2,"plan":"","shards":[]})", R"({"schema":1,"plan":1})"})
    CHECK(parse_shard_plan(text, "cut.json").error().code == "bad_shard_plan");
}

TEST_CASE("what a shard needs is said before anything is planned") {
  BuildWorld world;
  Settings& settings = world.settings;
  CHECK(check_shard(settings));
  settings.shard = {{3, 8}, "--shard"};
  CHECK(check_shard(settings).error().what.find("needs a cache that machines share") != std::string::npos);
  settings.remote.value = "file:///shared";
  CHECK(check_shard(settings));
  settings.remote_upload = {RemoteUpload::never, "DSBUILD_REMOTE_UPLOAD"};
  CHECK(check_shard(settings).error().what.find("DSBUILD_REMOTE_UPLOAD forbids that") != std::string::npos);
  settings.shard.value = {.merges = true};
  CHECK(check_shard(settings));
  settings.local_cache_size.value = 0;
  CHECK(check_shard(settings).error().code == "bad_shard");
}
