#include <catch2/catch.hpp>

#include "base/build_layout.h"
#include "build_world.h"
#include "driver/timing_analysis.h"

using namespace dsbuild;

namespace {

TimedEdge edge(const std::string& name, Milliseconds ready, Milliseconds begin, Milliseconds end,
               std::vector<size_t> needs = {}) {
  TimedEdge edge;
  edge.title = "compile " + name;
  edge.op = "op";
  edge.kind = "cxx_compile";
  edge.source = name + ".cpp";
  edge.output = name + ".o";
  edge.ready = ready;
  edge.begin = begin;
  edge.end = end;
  edge.needs = std::move(needs);
  edge.made_of = ResultOrigin::tools;
  return edge;
}

// On 3 cores, at most 2 at a time:
//   0         100       200  240
//   a         |─────────|            a 100..200, then nothing of it
//   b ────────|                      b 0..100
//   c   ──────|~~~~~|────────        c 20..240, of it 100..160 waiting for memory
//   d                        ──      d 240..260, uses a and c
Timings example() {
  Timings timings;
  timings.began = "2026-11-25T10:47:02Z";
  timings.total = 300;
  timings.graphs = {{0, 260}};
  timings.cores = 3;
  timings.jobs = 2;
  timings.memory_bound = 1000;
  timings.planned_edges = 7;
  timings.succeeded = true;
  timings.edges = {edge("b", 0, 0, 100), edge("c", 0, 20, 240), edge("a", 0, 100, 200),
                   edge("d", 240, 240, 260, {1, 2})};
  timings.edges[0].turns = {{0, 0, 400}};
  timings.edges[0].peak_bytes = 300;
  timings.edges[1].turns = {{20, 20, 100}, {100, 160, 500}};
  timings.edges[1].peak_bytes = 450;
  timings.edges[2].turns = {{100, 100, 600}};
  timings.edges[2].made_of = ResultOrigin::cache;
  timings.edges[2].is_shared = true;
  timings.edges[1].remote_miss = "nobody has built it (scope main)";
  timings.remote = {{"prefetch", 0, 15}, {"upload", 250, 320}};
  timings.estimates = {{10, 300}, {20, 240}};
  timings.edges[3].kind = "link";
  timings.edges[3].source.clear();
  return timings;
}

const TimedEdge& of_output(const Timings& timings, const std::string& output) {
  for (const TimedEdge& each : timings.edges)
    if (each.output == output) return each;
  FAIL("no edge makes " + output);
  return timings.edges.front();
}

std::string error_of(const std::string& text) {
  const auto timings = parse_timings(text, "build/timings.json");
  REQUIRE_FALSE(timings);
  CHECK(timings.error().code == "bad_build_file");
  CHECK(timings.error().where == "build/timings.json");
  return timings.error().what;
}

}  // namespace

TEST_CASE("timings: what is written is read") {
  const Timings timings = example();
  CHECK(parse_timings(timings_json(timings).dump(), "t").value() == timings);
}

TEST_CASE("timings: what no build writes is refused") {
  CHECK(error_of("{") == "is not valid JSON");
  std::string text = timings_json(example()).dump();
  CHECK(error_of(replace_all(text, "\"schema\":1", "\"schema\":2")).find("another version") !=
        std::string::npos);
  CHECK(error_of(replace_all(text, "\"needs\":[1,2]", "\"needs\":[1,3]")).find("began later") !=
        std::string::npos);
  CHECK(error_of(replace_all(text, "\"end_ms\":240,", "\"end_ms\":10,")).find("ends before it begins") !=
        std::string::npos);
  CHECK(error_of(replace_all(text, "\"admitted_ms\":160", "\"admitted_ms\":99")).find("before it begins") !=
        std::string::npos);
}

TEST_CASE("timings: the critical path is the longest chain by work, without what it waited for memory") {
  const TimingAnalysis analysis = analyse(example());
  CHECK(analysis.chain == std::vector<size_t>{1, 3});  // c worked 160 of its 220, a 100
  CHECK(analysis.chain_time == 180);
  CHECK(analysis.work_time == 100 + 160 + 100 + 20);
  CHECK(analysis.graph_time == 260);
}

TEST_CASE("timings: why cores idled, span by span") {
  const auto spans = core_spans(example());
  using Row = std::tuple<Milliseconds, Milliseconds, CoreUse, ByteCount, ByteCount>;
  std::vector<Row> rows;
  for (const CoreSpan& span : spans)
    rows.emplace_back(span.begin, span.end, span.cores, span.set_aside, span.peaks);
  CHECK(rows == std::vector<Row>{
                    // b works, c and a could, but c has not begun
                    {0, 20, {.busy = 1, .jobs = 2}, 400, 300},
                    {20, 100, {.busy = 2, .jobs = 1}, 500, 750},
                    // a works, c waits, d is not ready
                    {100, 160, {.busy = 1, .memory = 1, .dependency = 1}, 600, 0},
                    {160, 200, {.busy = 2, .dependency = 1}, 1100, 450},
                    {200, 240, {.busy = 1, .dependency = 2}, 500, 450},
                    {240, 260, {.busy = 1, .finished = 2}, 0, 0},
                });
  const CoreUse use = analyse(example()).cores;
  CHECK(use.busy + use.memory + use.jobs + use.dependency + use.finished == 3 * 260);
  CHECK(use == CoreUse{.busy = 20 + 160 + 60 + 80 + 40 + 20,
                       .memory = 60,
                       .jobs = 40 + 80,
                       .dependency = 60 + 40 + 80,
                       .finished = 40});
}

TEST_CASE("timings: an edge that waits for a core is ready, and does not wait for memory") {
  Timings timings = example();
  timings.edges[1].turns[1].for_core = 40;  // c, of 100..160
  CHECK(parse_timings(timings_json(timings).dump(), "t").value() == timings);
  CHECK(timings.edges[1].waited_for_memory() == 20);
  CHECK(analyse(timings).chain_time == 180);
  const CoreUse use = analyse(timings).cores, before = analyse(example()).cores;
  CHECK(use.memory == before.memory - 40);
  CHECK(use.jobs == before.jobs + 40);
}

TEST_CASE("timings: what a build is bound by") {
  Timings timings = example();
  CHECK(analyse(timings).bound == Bound::jobs);  // 380 of work, 2 at a time, is more than 180
  timings.jobs = 3;
  CHECK(analyse(timings).bound == Bound::chain);
  timings.cores = timings.jobs = 2;
  CHECK(analyse(timings).bound == Bound::cores);
  timings.edges[3].ready = timings.edges[3].begin = 200;
  timings.edges[1].turns[1].admitted = 230;
  CHECK(analyse(timings).bound == Bound::memory);
  CHECK(analyse(Timings{}).chain.empty());
}

TEST_CASE("timings: an edge whose compiler was given threads counts as that many cores") {
  Timings timings = example();
  timings.edges[0].threads = 2;
  CHECK(core_spans(timings).front().cores == CoreUse{.busy = 2, .jobs = 1});
}

TEST_CASE("timings: the slowest first, and how many of each result") {
  const Timings timings = example();
  CHECK(slowest_compiles(timings) == std::vector<size_t>{1, 0, 2});
  CHECK(count_results(timings, "made") == 3);
  CHECK(count_results(timings, "cache") == 0);
  CHECK(count_results(timings, "shared") == 1);
  CHECK(count_results(timings, "fresh") == 3);  // 7 were planned
  CHECK(count_results(timings, "failed") == 0);
}

TEST_CASE("timings: a build writes them, one with nothing to do leaves them") {
  BuildWorld world;
  const Path file = world.settings.build_dir.value / k_timings_file;
  REQUIRE(world.build().value().did_something);
  const std::string text = world.files->read_file(file).value();
  const Timings first = parse_timings(text, "t").value();
  CHECK(first.succeeded);
  CHECK(first.jobs == 2);
  CHECK(first.planned_edges == 6);
  CHECK(first.edges.size() == 6);  // two ops: compile, link, verify
  CHECK(count_results(first, "made") == 6);
  const TimedEdge& link = of_output(first, "lib/one.so");
  const TimedEdge& check = of_output(first, "check/one.ok");
  REQUIRE(link.needs.size() == 1);
  CHECK(first.edges[link.needs[0]].source == "one.cpp");
  CHECK(first.edges[link.needs[0]].peak_bytes > 0);
  CHECK(link.ready == first.edges[link.needs[0]].end);
  REQUIRE_FALSE(check.needs.empty());
  CHECK(first.edges[check.needs.back()].output == "lib/one.so");
  CHECK(analyse(first).chain.size() == 3);

  CHECK(world.build().value().outcome.edges_run == 0);  // its graph may have another order
  CHECK(world.files->read_file(file).value() == text);

  // In another folder all but the checks comes from the cache.
  world.settings.build_dir.value = world.folder.path() / "elsewhere";
  REQUIRE(world.build());
  const Timings again = load_timings(world.settings.build_dir.value, *world.files).value().value();
  for (const TimedEdge& each : again.edges)
    CHECK(result_word(each) == (each.output.starts_with("check/") ? "made" : "cache"));

  world.write_source("one", "#error\n");
  REQUIRE_FALSE(world.build());
  const Timings failed = load_timings(world.settings.build_dir.value, *world.files).value().value();
  CHECK_FALSE(failed.succeeded);
  CHECK(count_results(failed, "failed") == 1);
  CHECK(count_results(failed, "fresh") == 5);
}
