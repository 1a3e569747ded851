// What the gate lets edges in with: by what was really read, and by what sisters took in the same build.
#include "driver/edge_needs.h"

#include <catch2/catch.hpp>

#include "driver/torch_readers.h"
#include "unit/driver/cuda_world.h"

using namespace dsbuild;

namespace {

constexpr ByteCount k_mib = 1 << 20;

// Its source says nothing of torch: the header that it includes does.
struct TorchWorld : CudaWorld {
  TorchWorld() {
    const Path torch = folder.path() / "site/torch/include/torch/types.h";
    write("site/torch/include/torch/types.h", "#pragma once\n");
    write("pack/src/common.h", "#include \"" + torch.string() + "\"\n");
    write("pack/src/scale.cu", "// export: scale_run\n#include \"common.h\"\n__global__ void scale() {}\n");
    write("pack/scale/op.yaml",
          "name: scale\nsources: [scale.cu, plain.cu]\nexports: [scale_run, plain_run]\n");
    write("pack/src/plain.cu", "// export: plain_run\n__global__ void plain() {}\n");
  }
  Plan plan() {
    Session session(settings, system, events);
    auto planned = make_plan(request(), session);
    REQUIRE(planned);
    return std::move(*planned);
  }
};

const Edge& part_of(const Plan& plan, const std::string& source, const std::string& part) {
  const auto found = std::ranges::find_if(
      plan.graph.edges, [&](const Edge& edge) { return edge.source == source && edge.part == part; });
  REQUIRE(found != plan.graph.edges.end());
  return *found;
}

}  // namespace

TEST_CASE("A source reads torch's headers where its record says so, whatever its own text says") {
  TorchWorld world;
  CHECK(world.plan().history.torch_readers.empty());
  REQUIRE(world.build());
  CHECK(world.plan().history.torch_readers == std::set<std::string>{"pack/scale.cu"});
  CHECK(world.plan().history.torch_sources.empty());  // what is precompiled goes by texts alone
  // A record of another text says nothing of this one.
  world.write("pack/src/scale.cu", "// export: scale_run\n__global__ void scale() {}\n");
  CHECK(world.plan().history.torch_readers.empty());
}

TEST_CASE("Before anything was read, slices of a source that has seen torch's headers need what these take") {
  TorchWorld world;
  const Plan plan = world.plan();
  EdgeNeeds needs(plan, plan.graph);
  const Edge &slice = part_of(plan, "scale.cu", "compute_80"), &front = part_of(plan, "scale.cu", "front"),
             &plain = part_of(plan, "plain.cu", "compute_80");
  CHECK(needs.of({slice.output, {}}).peak_bytes < 1024 * k_mib);
  CHECK(needs.of({slice.output, {14'000'000, true}}).peak_bytes > 5632 * k_mib);
  // What one part has read, the others will read.
  CHECK(needs.of({front.output, {}}).peak_bytes > 2300 * k_mib);
  CHECK(needs.of({slice.output, {}}).look_bytes > 205 * k_mib);
  CHECK(needs.of({plain.output, {}}).peak_bytes < 1024 * k_mib);
  CHECK(needs.of({"none of the graph's", {}}).peak_bytes == 0);
}

TEST_CASE("What a slice has taken is what its sisters need in the same build, with a margin") {
  TorchWorld world;
  const Plan plan = world.plan();
  EdgeNeeds needs(plan, plan.graph);
  const Edge &first = part_of(plan, "scale.cu", "compute_80"),
             &second = part_of(plan, "scale.cu", "compute_90");
  const auto needed = [&] { return needs.of({second.output, {14'000'000, true}}).peak_bytes; };
  const ByteCount guess = needed();
  GateUse use;
  use.peak_bytes = 3000 * k_mib;
  needs.learn("none of the graph's", use);
  CHECK(needed() == guess);
  needs.learn(first.output, use);
  CHECK(needed() > 3000 * k_mib);
  CHECK(needed() < 3600 * k_mib);
  use.peak_bytes = 7000 * k_mib;
  needs.learn(first.output, use);
  CHECK(needed() > 7000 * k_mib);
}

TEST_CASE("A whole nvcc command that compiles several archs at once needs the memory of each") {
  CudaWorld world(false);
  world.settings.nvcc_threads.value = 1;
  const auto needed = [&](int threads) {
    world.settings.nvcc_threads.value = threads;
    Session session(world.settings, world.system, world.events);
    const auto plan = make_plan(world.request(), session);
    REQUIRE(plan);
    EdgeNeeds needs(*plan, plan->graph);
    const Edge& whole = part_of(*plan, "scale.cu", "");
    return needs.of({whole.output, {}}).peak_bytes;
  };
  world.settings.jobs.value = 1;
  CHECK(needed(2) == 2 * needed(1));
  CHECK(needed(64) == 3 * needed(1));  // 8.0, 9.0 and its PTX
}
