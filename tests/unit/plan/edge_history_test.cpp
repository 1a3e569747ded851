#include <catch2/catch.hpp>

#include "plan/forecast.h"

using namespace dsbuild;

namespace {

constexpr ByteCount k_mib = 1 << 20;

// `makes` is its output and the source that it is remembered by.
Edge edge(const std::string& makes, std::vector<std::string> inputs = {}) {
  Edge made;
  made.op = "op";
  made.source = makes;
  made.inputs = inputs.empty() ? std::vector<std::string>{"pack/" + makes} : std::move(inputs);
  made.output = makes;
  return made;
}

struct World {
  BuildPlan plan;
  EdgeHistory history;
  int jobs = 2;
  ByteCount memory = 1000;

  void add(const Edge& made, double seconds, ByteCount peak = 1) {
    plan.edges.push_back(made);
    history.measured[history_key("pack", made)] = {seconds, peak, 0, 7};
  }
  Forecast forecast() const {
    std::set<std::string> all;
    for (const Edge& each : plan.edges)
      all.insert(each.output);
    return of(all);
  }
  Forecast of(const std::set<std::string>& outputs) const {
    return forecast_build({plan, history, "pack", jobs, memory}, outputs);
  }
};

}  // namespace

TEST_CASE(
    "history: a slice that was never measured is expected to take as long as the longest of its sisters and "
    "as "
    "much memory as the largest") {
  EdgeHistory history;
  Edge slice = edge("a.cu");
  slice.kind = EdgeKind::cuda_slice;
  slice.part = "compute_90";
  const EdgeCost guessed = expected_cost(history, "pack", slice);
  history.measured[history_key("pack", "op", "a.cu", "compute_80")] = {30, 3000 * k_mib, 100 * k_mib, 7};
  history.measured[history_key("pack", "op", "a.cu", "compute_75")] = {20, 9000 * k_mib, 100 * k_mib, 7};
  history.measured[history_key("pack", "op", "a.cu", "front")] = {99, 1, 1, 7};
  history.measured[history_key("pack", "op", "b.cu", "compute_80")] = {98, 1, 1, 7};
  const EdgeCost cost = expected_cost(history, "pack", slice);
  CHECK(cost.seconds == Approx(30));
  CHECK(cost.peak_bytes == 9000 * k_mib);
  CHECK_FALSE(is_measured(history, "pack", slice));
  slice.part = "host";
  CHECK(expected_cost(history, "pack", slice).seconds < guessed.seconds + 1);
}

TEST_CASE("forecast: edges run side by side on as many jobs as there are") {
  World world;
  for (const char* name : {"a", "b", "c"})
    world.add(edge(name), 10);
  CHECK(world.forecast().seconds == Approx(20));
  world.jobs = 3;
  CHECK(world.forecast().seconds == Approx(10));
  world.jobs = 1;
  CHECK(world.forecast().seconds == Approx(30));
}

TEST_CASE("forecast: an edge starts when all of its inputs are made") {
  World world;
  world.jobs = 8;
  Edge front = edge("front");
  front.more_outputs = {"stub"};
  world.add(edge("link", {"host", "fatbin"}), 1);
  world.add(front, 10);
  world.add(edge("slice"), 4);
  world.add(edge("host", {"stub"}), 5);
  world.add(edge("fatbin", {"slice"}), 2);
  CHECK(world.forecast().seconds == Approx(16));
  CHECK(world.of({"host", "link"}).seconds == Approx(6));
}

TEST_CASE("forecast: the bound of memory makes edges wait, and the most that runs at once is told") {
  World world;
  world.add(edge("a"), 10, 600);
  world.add(edge("b"), 10, 600);
  CHECK(world.forecast().seconds == Approx(20));
  CHECK(world.forecast().memory_bytes == 600);
  world.memory = 1200;
  CHECK(world.forecast().seconds == Approx(10));
  CHECK(world.forecast().memory_bytes == 1200);
}

TEST_CASE("forecast: it says how many edges were measured, and bytes only where all were") {
  World world;
  world.add(edge("a"), 10);
  CHECK(world.forecast().written_bytes == 7);
  world.plan.edges.push_back(edge("new"));
  CHECK(world.forecast().edges == 2);
  CHECK(world.forecast().measured == 1);
  CHECK(world.forecast().written_bytes == 0);
  CHECK(world.of({}) == Forecast{});
}

TEST_CASE("forecast: a range where edges are guessed, and one figure where all were measured") {
  World world;
  world.jobs = 1;
  world.add(edge("a"), 10);
  CHECK(world.forecast().least_seconds == Approx(10));
  CHECK(world.forecast().most_seconds == Approx(10));
  world.plan.edges.push_back(edge("new"));
  const double guessed = world.forecast().seconds - 10;
  CHECK(guessed > 0);
  CHECK(world.forecast().least_seconds == Approx(10 + guessed / 2));
  CHECK(world.forecast().most_seconds == Approx(10 + guessed * 3));
}

TEST_CASE(
    "memory that was never measured is guessed, the more the longer it takes and with torch's headers") {
  EdgeHistory history;
  history.source_bytes = {{"pack/large", 300'000}};
  history.torch_readers = {"pack/torch"};
  history.measured[history_key("pack", edge("known"))] = {1, 5 * k_mib, 0, 0};
  const auto peak = [&](const char* name) { return expected_cost(history, "pack", edge(name)).peak_bytes; };
  CHECK(peak("known") == 5 * k_mib);
  CHECK(peak("large") > 4 * peak("small"));
  CHECK(peak("torch") > 4 * peak("small"));
  CHECK(peak("small") > 100 * k_mib);
  // attention_back.cu's cicc: 471 s for compute_80, 3,624,402,944 bytes at most.
  history.specified[history_key("pack", edge("hours"))] = 10'000;
  history.specified[history_key("pack", edge("minutes"))] = 471;
  CHECK(peak("minutes") > 3'624'402'944);
  CHECK(peak("minutes") < 5'000 * k_mib);
  CHECK(peak("hours") == peak("minutes"));
}

TEST_CASE(
    "a source with torch's stable interface alone has the memory of torch's headers and the time of others") {
  EdgeHistory history;
  history.torch_readers = {"pack/all.cu", "pack/stable.cu"};
  history.interface_readers = {"pack/stable.cu"};
  const auto cost = [&](const char* source, const char* part) {
    Edge asked = edge(source);
    asked.kind = EdgeKind::cuda_slice;
    asked.part = part;
    return expected_cost(history, "pack", asked);
  };
  for (const char* part : {"compute_80", "front", "host"}) {
    CHECK(cost("stable.cu", part).peak_bytes == cost("all.cu", part).peak_bytes);
    CHECK(cost("stable.cu", part).seconds == cost("plain.cu", part).seconds);
    CHECK(cost("stable.cu", part).seconds < cost("all.cu", part).seconds / 10);
  }
}

// Measured with CUDA 13.0, torch 2.11 and gcc 12: cicc 2917 MiB for torch/extension.h and one kernel, 5.5 GiB
// for the largest sources of others; cudafe++ 2049 MiB; the host's compile 1374 MiB, bindings' 1.7 GiB.
TEST_CASE(
    "memory of what reads torch's headers is guessed by the largest that each of the tools was seen to "
    "take") {
  EdgeHistory history;
  history.torch_readers = {"pack/a.cu", "pack/a.cpp"};
  const auto peak = [&](const char* source, EdgeKind kind, const char* part) {
    Edge asked = edge(source);
    asked.kind = kind;
    asked.part = part;
    return expected_cost(history, "pack", asked).peak_bytes;
  };
  CHECK(peak("a.cu", EdgeKind::cuda_slice, "compute_80") == 5632 * k_mib);
  CHECK(peak("a.cu", EdgeKind::cuda_compile, "") == 5632 * k_mib);
  CHECK(peak("a.cu", EdgeKind::cuda_slice, "front") > 2049 * k_mib);
  CHECK(peak("a.cu", EdgeKind::cuda_slice, "host") > 1374 * k_mib);
  CHECK(peak("a.cpp", EdgeKind::cxx_compile, "") > 1741 * k_mib);
  CHECK(peak("a.cu", EdgeKind::cuda_slice, "fatbin") < 200 * k_mib);
  CHECK(peak("plain.cu", EdgeKind::cuda_slice, "compute_80") < 1024 * k_mib);
}

TEST_CASE(
    "memory is guessed by the text that was seen, where nobody knew that the source reads torch's headers") {
  const EdgeHistory nothing_known;
  Edge slice = edge("a.cu");
  slice.kind = EdgeKind::cuda_slice;
  slice.part = "compute_90";
  const auto peak = [&](const SeenText& text) {
    return expected_cost(nothing_known, "pack", slice, text).peak_bytes;
  };
  CHECK(peak({14'170'000, true}) == 5632 * k_mib);
  // cicc's of thrust::sort, of cuda_fp16.h with cooperative_groups.h, of a file without includes.
  CHECK(peak({11'830'000, false}) > 633 * k_mib);
  CHECK(peak({11'830'000, false}) < 2048 * k_mib);
  CHECK(peak({3'860'000, false}) > 213 * k_mib);
  CHECK(peak({1'300'000, false}) > 90 * k_mib);
  EdgeHistory measured;
  measured.measured[history_key("pack", slice)] = {1, 5 * k_mib, 0, 0};
  CHECK(expected_cost(measured, "pack", slice, {14'170'000, true}).peak_bytes == 5 * k_mib);
}

TEST_CASE("memory of a source that was never compiled goes by what the op's others took, within the guess") {
  EdgeHistory history;
  history.torch_readers = {"pack/a.cu", "pack/b.cu", "pack/c.cu"};
  Edge slice = edge("a.cu");
  slice.kind = EdgeKind::cuda_slice;
  slice.part = "compute_90";
  const auto peak = [&] { return expected_cost(history, "pack", slice).peak_bytes; };
  const auto guess = peak();
  const auto measure = [&](const char* source, const char* part, ByteCount bytes) {
    history.measured[history_key("pack", "op", source, part)] = {30, bytes, 1, 7};
  };
  measure("plain.cu", "compute_90", 100 * k_mib);  // without torch's headers
  measure("b.cu", "front", 50 * k_mib);
  measure("b.cu", "host", 50 * k_mib);
  measure("b.cu", "", 50 * k_mib);
  history.measured[history_key("pack", "other", "b.cu", "compute_80")] = {30, 50 * k_mib, 1, 7};
  CHECK(peak() == guess);
  measure("b.cu", "compute_80", 1000 * k_mib);
  measure("c.cu", "compute_80", 2000 * k_mib);
  CHECK(peak() == 3000 * k_mib);
  CHECK(expected_cost(history, "pack", slice).seconds != Approx(30));
  measure("c.cu", "compute_80", 5000 * k_mib);
  CHECK(peak() == guess);
  measure("c.cu", "compute_80", 8000 * k_mib);
  CHECK(peak() == 8000 * k_mib);
  measure("a.cu", "compute_80", 1500 * k_mib);
  CHECK(peak() == 1500 * k_mib);
  // Without torch's headers a small source says nothing of a large one, and a large one is warning enough.
  slice.source = "small.cu";
  CHECK(peak() > 250 * k_mib);
  measure("plain.cu", "compute_90", 900 * k_mib);
  CHECK(peak() == 900 * k_mib);
}
