#include <catch2/catch.hpp>

#include "ninja/ninja_run.h"
#include "ninja/progress.h"

using namespace dsbuild;

namespace {

BuildPlan two_edges() {
  BuildPlan plan;
  Edge compile;
  compile.kind = EdgeKind::cuda_compile;
  compile.op = "adam";
  compile.source = "adam.cu";
  compile.output = "obj/adam/adam.o";
  Edge link;
  link.kind = EdgeKind::link;
  link.op = "adam";
  link.output = "lib/adam.so";
  plan.edges = {compile, link};
  return plan;
}

struct Recorder {
  BuildPlan plan = two_edges();
  double time = 0;
  std::vector<std::string> seen, ended;
  NinjaOutputParser parser{
      plan,
      [this](const EdgeEvent& event) {
        static const char* const k_words[] = {"started", "ended", "finished", "failed"};
        if (event.kind == EdgeEventKind::ended)
          ended.push_back(event.edge->output);
        else
          seen.push_back(std::string(k_words[static_cast<int>(event.kind)]) + " " + event.edge->output);
      },
      [this] { return time; }};
};

}  // namespace

// The bytes are those of Ninja 1.13 on a terminal, with the time between them.
TEST_CASE("an edge's start and end are seen as Ninja draws them, whatever the pieces the bytes come in") {
  const std::string start = "\r@dsbuild 1 0 2 obj/adam/adam.o\x1b[K";
  const std::string end = "\r@dsbuild 1 1 2 obj/adam/adam.o\x1b[K";
  for (size_t piece = 1; piece < 40; piece += 3) {
    Recorder r;
    for (size_t at = 0; at < start.size(); at += piece)
      r.parser.feed(start.substr(at, piece));
    r.time = 2.5;
    for (size_t at = 0; at < end.size(); at += piece)
      r.parser.feed(end.substr(at, piece));
    r.parser.end();
    CHECK(r.seen == std::vector<std::string>{"started obj/adam/adam.o", "finished obj/adam/adam.o"});
    CHECK(r.parser.take_result().finished.at(0).seconds == Approx(2.5));
  }
}

TEST_CASE("an edge whose output Ninja quotes is seen too") {
  Recorder r;
  r.plan.edges[0].output = "obj/adam/a <b>'s.o";
  NinjaOutputParser parser(
      r.plan, [&](const EdgeEvent& event) { r.seen.push_back(event.edge->output); }, [&] { return r.time; });
  r.time = 1;
  parser.feed("\r@dsbuild 1 0 2 'obj/adam/a <b>'\\''s.o'\x1b[K");
  r.time = 3;
  parser.feed("\r@dsbuild 1 1 2 'obj/adam/a <b>'\\''s.o'\x1b[K");
  parser.end();
  const FinishedEdge ended = parser.take_result().finished.at(0);
  CHECK(ended.edge == &r.plan.edges[0]);
  CHECK(ended.begin == Approx(1));
  CHECK(ended.seconds == Approx(2));
  CHECK_FALSE(r.seen.empty());
}

TEST_CASE("a failure has its command and what its tools said, from Ninja 1.11 and 1.13 alike") {
  for (const char* failed :
       {"\x1b[31mFAILED: \x1b[0mobj/adam/adam.o \n", "\x1b[31mFAILED: [code=2] \x1b[0mobj/adam/adam.o \n"}) {
    Recorder r;
    r.parser.feed("\r@dsbuild 1 0 2 obj/adam/adam.o\x1b[K\r@dsbuild 1 1 2 obj/adam/adam.o\x1b[K\n");
    r.parser.feed(failed);
    r.parser.feed(
        "nvcc -c adam.cu\nadam.cu(3): error: expected a \";\"\n\n1 error detected\nninja: build stopped: "
        "subcommand failed.\n");
    r.parser.end();
    const RunResult result = r.parser.take_result();
    REQUIRE(result.finished.size() == 1);
    CHECK(result.finished[0].failed);
    CHECK(result.finished[0].command == "nvcc -c adam.cu");
    CHECK(result.finished[0].output == "adam.cu(3): error: expected a \";\"\n\n1 error detected\n");
    CHECK(first_error_line(result.finished[0].output) == "adam.cu(3): error: expected a \";\"");
    CHECK(result.trouble.empty());
    CHECK(result.stopped == "subcommand failed.");
  }
}

TEST_CASE("a Ninja that was killed gives no reason") {
  Recorder r;
  r.parser.feed("\r@dsbuild 1 0 2 obj/adam/adam.o\x1b[K");
  r.parser.end();
  CHECK(r.parser.take_result().stopped.empty());
}

TEST_CASE("a warning belongs to the edge that ended before it") {
  Recorder r;
  r.parser.feed(
      "\r@dsbuild 1 0 2 obj/adam/adam.o\x1b[K\r@dsbuild 1 1 2 obj/adam/adam.o\x1b[K\nadam.cu(1): warning: "
      "unused\n");
  r.parser.feed("\r@dsbuild 2 1 2 lib/adam.so\x1b[K\r@dsbuild 2 2 2 lib/adam.so\x1b[K\n");
  r.parser.end();
  const RunResult result = r.parser.take_result();
  REQUIRE(result.finished.size() == 2);
  CHECK(result.finished[0].output == "adam.cu(1): warning: unused\n");
  CHECK(result.finished[1].output.empty());
}

TEST_CASE("Ninja's own complaint is kept") {
  Recorder r;
  r.parser.feed(
      "ninja: error: 'pack/adam.cu', needed by 'obj/adam/adam.o', missing and no known rule to make it\n");
  r.parser.end();
  CHECK(r.parser.take_result().trouble ==
        "ninja: error: 'pack/adam.cu', needed by 'obj/adam/adam.o', missing and no known rule to make it");
}

TEST_CASE("an edge has ended as soon as Ninja says so, before it is known what it printed") {
  Recorder r;
  r.parser.feed("\r@dsbuild 1 0 2 obj/adam/adam.o\x1b[K\r@dsbuild 1 1 2 obj/adam/adam.o\x1b[K");
  CHECK(r.ended == std::vector<std::string>{"obj/adam/adam.o"});
  CHECK(r.seen == std::vector<std::string>{"started obj/adam/adam.o"});
}
