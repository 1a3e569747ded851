#include "ninja/dry_run.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

Edge edge(EdgeKind kind, std::vector<std::string> inputs, std::string output) {
  Edge made;
  made.kind = kind;
  made.op = "adam";
  made.inputs = std::move(inputs);
  made.output = std::move(output);
  return made;
}

BuildPlan plan() {
  BuildPlan plan;
  plan.edges = {edge(EdgeKind::cuda_compile, {"pack/a.cu", "obj/a/source.id"}, "obj/a/a.o"),
                edge(EdgeKind::cuda_compile, {"pack/b.cu", "obj/b/source.id"}, "obj/b/b.o"),
                edge(EdgeKind::link, {"obj/a/a.o", "obj/b/b.o"}, "lib/adam.so"),
                edge(EdgeKind::verify, {"check/adam.json", "lib/adam.so"}, "check/adam.ok")};
  return plan;
}

}  // namespace

// The lines are those of Ninja 1.11 and 1.13 on such a graph.
TEST_CASE("Ninja's explanation of an output is its edge's reason; what follows from it names the input") {
  const PendingEdges pending = parse_dry_run(
      plan(), "@dsbuild 1 0 3 obj/a/a.o\n@dsbuild 2 1 3 lib/adam.so\n@dsbuild 3 2 3 check/adam.ok\n",
      "ninja explain: output obj/a/a.o older than most recent input pack/a.cu (1 vs 2)\n"
      "ninja explain: obj/a/a.o is dirty\nninja explain: lib/adam.so is dirty\n");
  CHECK(pending ==
        PendingEdges{{"obj/a/a.o", "output obj/a/a.o older than most recent input pack/a.cu (1 vs 2)"},
                     {"lib/adam.so", "obj/a/a.o is made anew"},
                     {"check/adam.ok", "lib/adam.so is made anew"}});
}

TEST_CASE("An explanation belongs to the first path in it") {
  const PendingEdges pending =
      parse_dry_run(plan(), "@dsbuild 1 0 2 obj/b/b.o\n@dsbuild 2 1 2 lib/adam.so\n",
                    "ninja explain: output lib/adam.so older than most recent input obj/b/b.o (1 vs 2)\n"
                    "ninja explain: command line changed for obj/b/b.o\n");
  CHECK(pending ==
        PendingEdges{{"obj/b/b.o", "command line changed for obj/b/b.o"},
                     {"lib/adam.so", "output lib/adam.so older than most recent input obj/b/b.o (1 vs 2)"}});
}

TEST_CASE("Where nothing would run there is nothing to explain") {
  CHECK(parse_dry_run(plan(), "ninja: no work to do.\n", "").empty());
}

TEST_CASE("A planned file that is not what is on disk makes its edge run, and all that follows") {
  CHECK(with_rewritten_files(plan(), {}, {"obj/b/source.id"}) ==
        PendingEdges{{"obj/b/b.o", "obj/b/source.id is new or has changed"},
                     {"lib/adam.so", "obj/b/b.o is made anew"},
                     {"check/adam.ok", "lib/adam.so is made anew"}});
  const PendingEdges said = {{"lib/adam.so", "output lib/adam.so doesn't exist"}};
  CHECK(with_rewritten_files(plan(), said, {}) ==
        PendingEdges{{"lib/adam.so", "output lib/adam.so doesn't exist"},
                     {"check/adam.ok", "lib/adam.so is made anew"}});
}
