#include <catch2/catch.hpp>

#include "plan_world.h"

using namespace dsbuild;

namespace {

// Of the compile edges, by source.
std::map<std::string, std::string> split_flags(PlanWorld& world) {
  std::map<std::string, std::string> found;
  for (const Edge& edge : world.build(*world.plan("8.0")).edges)
    for (const std::string& flag : edge.flags)
      if (flag.starts_with("--split-compile")) found[edge.source] = flag;
  return found;
}

}  // namespace

TEST_CASE("a source's split_compile goes to nvcc, where it has the option") {
  PlanWorld world;
  world.add_op("adam", "sources: [adam.cu, {path: adam_b.cu, split_compile: 4}]\n");
  CHECK(split_flags(world).empty());
  world.toolkit.options.insert("--split-compile");
  CHECK(split_flags(world) == std::map<std::string, std::string>{{"adam_b.cu", "--split-compile=4"}});
}
