#include <catch2/catch.hpp>

#include "plan_world.h"

using namespace dsbuild;

namespace {

Edge compile(const std::string& source, const ArchSet& targets = {}) {
  Edge edge;
  edge.kind = targets.empty() ? EdgeKind::cxx_compile : EdgeKind::cuda_compile;
  edge.op = "op";
  edge.source = source;
  edge.inputs = {"pack/" + source};
  edge.targets = targets;
  edge.output = "obj/" + source + ".o";
  return edge;
}

std::vector<std::string> order_of(std::vector<Edge> edges, const EdgeHistory& history) {
  put_longest_first(edges, history, "pack");
  std::vector<std::string> order;
  for (const Edge& edge : edges)
    order.push_back(edge.source);
  return order;
}

ArchSet two() {
  return parse_arch_list("8.0;9.0", "").value().targets;
}
ArchSet three() {
  return parse_arch_list("8.0;9.0;10.0", "").value().targets;
}

}  // namespace

TEST_CASE("what took longest stands first; what was never measured is guessed from its size and archs") {
  EdgeHistory history;
  history.measured = {{"pack/op/short.cpp", {1.5}}, {"pack/op/long.cpp", {30}}, {"pack/op/slow.cu", {8}}};
  history.source_bytes = {{"pack/large.cu", 400'000}, {"pack/small.cu", 500}};
  CHECK(order_of({compile("short.cpp"), compile("small.cu", two()), compile("large.cu", two()),
                  compile("long.cpp"), compile("slow.cu", three())},
                 history) ==
        std::vector<std::string>{"large.cu", "long.cpp", "slow.cu", "small.cu", "short.cpp"});
}

TEST_CASE("a small file that includes torch/extension.h takes longer than one of middle size that does not") {
  EdgeHistory history;
  history.source_bytes = {{"pack/middle.cpp", 20'000}, {"pack/small.cpp", 500}};
  history.torch_readers = {"pack/small.cpp"};
  CHECK(order_of({compile("middle.cpp"), compile("small.cpp")}, history) ==
        std::vector<std::string>{"small.cpp", "middle.cpp"});
}

TEST_CASE("a measured time is of one target, so that it serves other arch lists") {
  const double measured = seconds_per_target(compile("a.cu", two()), 20);
  EdgeHistory history;
  history.measured[history_key("pack", "op", "a.cu")].seconds = measured;
  CHECK(expected_seconds(history, "pack", compile("a.cu", three())) == Approx(30));
  CHECK(expected_seconds(history, "pack", compile("a.cu")) == Approx(10));
  CHECK(expected_seconds(history, "other", compile("a.cu")) < 5);
}

TEST_CASE("what others wait for stands before them and before what takes as long as it alone") {
  EdgeHistory history;
  history.measured = {{"pack/op/first.cpp", {5}}, {"pack/op/waits.cpp", {20}}, {"pack/op/alone.cpp", {21}}};
  Edge waits = compile("waits.cpp");
  waits.implicit_inputs = {"obj/first.cpp.o"};
  CHECK(order_of({waits, compile("alone.cpp"), compile("first.cpp")}, history) ==
        std::vector<std::string>{"first.cpp", "alone.cpp", "waits.cpp"});
}

TEST_CASE("equals keep their order, and what is no compile edge stays behind in its own") {
  Edge link = compile("link");
  link.kind = EdgeKind::link;
  Edge verify = compile("verify");
  verify.kind = EdgeKind::verify;
  CHECK(order_of({compile("a"), link, verify, compile("b"), compile("c")}, {}) ==
        std::vector<std::string>{"a", "b", "c", "link", "verify"});
}

TEST_CASE("times change the order of the edges and nothing else of the plan") {
  PlanWorld world;
  world.add_cuda_op("adam");
  world.add_cuda_op("lamb");
  const auto archs = world.plan("7.0;8.0+PTX");
  REQUIRE(archs);
  BuildPlan plain = world.build(*archs);
  world.history.measured[history_key(world.registry.pack, "lamb", "lamb.cu")].seconds = 99;
  BuildPlan timed = world.build(*archs);
  CHECK(plain.edges[0].op == "adam");
  CHECK(timed.edges[0].op == "lamb");
  CHECK(edges_by_output(timed.edges).front()->op == "adam");
  CHECK(std::ranges::equal(edges_by_output(plain.edges), edges_by_output(timed.edges),
                           [](const Edge* a, const Edge* b) { return *a == *b; }));
  plain.edges.clear();
  timed.edges.clear();
  CHECK(plain == timed);
}

TEST_CASE("idle cores go to nvcc, never more than a file has targets") {
  const std::vector<Edge> two_files = {compile("a.cu", two()), compile("b.cu", three()), compile("c.cpp")};
  CHECK(threads_per_nvcc(two_files, 2) == 1);
  CHECK(threads_per_nvcc(two_files, 5) == 2);
  CHECK(threads_per_nvcc(two_files, 16) == 3);
  CHECK(threads_per_nvcc({compile("c.cpp")}, 16) == 1);
}
